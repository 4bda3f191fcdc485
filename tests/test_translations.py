"""Pages in other languages: made from the page as it is now, with the same commands and output."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GUIDES = [page.name for page in sorted((ROOT / "docs" / "zh").glob("*.md"))]
TRANSLATED = {"README.zh.md": "README.md"} | {
    f"docs/zh/{name}": f"docs/{name}" for name in GUIDES if name != "glossary.md"
}

if not (ROOT / "README.zh.md").is_file():
    pytest.skip("the pages are not here", allow_module_level=True)


@pytest.mark.parametrize(("page", "original"), TRANSLATED.items())
def test_a_translation_is_of_the_page_as_it_is(page: str, original: str) -> None:
    now = hashlib.sha256((ROOT / original).read_bytes()).hexdigest()
    made_of = re.search(r"<!-- .*?([0-9a-f]{64}) -->", (ROOT / page).read_text())
    assert made_of is not None
    assert made_of[1] == now, f"{original} changed: bring {page} up to date, then write {now} in it"


@pytest.mark.parametrize(("page", "original"), TRANSLATED.items())
def test_a_translation_has_the_same_commands_and_headings(page: str, original: str) -> None:
    for pattern in (
        r"(?s:```.*?```)",  # output and Python
        r"^    \S.*$",  # commands
        r"^#+ ",  # headings
        r"^\|[^|]*\| (.*?) \|",  # commands of the table: code stays, words between may not
    ):
        texts = ((ROOT / name).read_text() for name in (page, original))
        found, expected = (re.findall(pattern, text, re.MULTILINE) for text in texts)
        if pattern.startswith(r"^\|"):
            found, expected = (
                [re.findall("`.*?`", text) for text in of] for of in (found, expected)
            )
        assert found == expected


@pytest.mark.parametrize(("page", "original"), TRANSLATED.items())
def test_a_translation_has_the_same_pictures(page: str, original: str) -> None:
    assert targets(page, pictures=True) == targets(original, pictures=True)


@pytest.mark.parametrize("page", TRANSLATED)
def test_links_lead_somewhere(page: str) -> None:
    for led, anchor in targets(page):
        assert led.exists(), led
        assert not anchor or anchor in anchors(led.read_text()), f"{led}#{anchor}"


def targets(page: str, *, pictures: bool = False) -> list[tuple[Path, str]]:
    """Return the files that a page shows or leads to, with anchors; `#anchor` is in the page."""
    file = ROOT / page
    mark = "!" if pictures else "(?<!!)"
    found = re.findall(mark + r"\[[^]]*\]\(([^)#]*)#?([^)]*)\)", file.read_text())
    return [((file.parent / to).resolve() if to else file, anchor) for to, anchor in found]


def anchors(text: str) -> set[str]:
    """Return what links may name in a page: headings in English, and names that are given."""
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    slugs = (re.sub(r"[^\w -]", "", heading, flags=re.ASCII).lower() for heading in headings)
    return {slug.replace(" ", "-") for slug in slugs} | set(re.findall('<a id="(.*?)">', text))


def test_terms_have_a_source() -> None:
    lines = (ROOT / "docs" / "zh" / "glossary.md").read_text().splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("|")][2:]
    assert len(rows) > 15
    for row in rows:
        assert len(row) == 4
        assert "《" in row[3] or "fastdump 自己的用词" in row[3], row
