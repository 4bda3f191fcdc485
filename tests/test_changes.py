"""CONTRIBUTING.md says which files a change touches: they exist, and they are few."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEADING = "## What a change touches"

if not (ROOT / "CONTRIBUTING.md").is_file():
    pytest.skip("the source tree is not here", allow_module_level=True)


def files_by_change() -> dict[str, list[str]]:
    """Return the paths that the table names, by what is changed."""
    text = (ROOT / "CONTRIBUTING.md").read_text().split(HEADING)[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", text, re.MULTILINE)
    return {change: re.findall(r"`([^`]+)`", files) for change, files in rows if files != "files"}


FILES = files_by_change()


def test_there_are_ten_changes() -> None:
    assert len(FILES) == 10


@pytest.mark.parametrize("change", FILES)
def test_a_change_touches_few_files_that_exist(change: str) -> None:
    paths = FILES[change]
    assert 1 <= len(paths) <= 5
    assert [path for path in paths if not (ROOT / path).exists()] == []
