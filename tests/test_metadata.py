"""What a package index shows of fastdump."""

from __future__ import annotations

import re
from importlib.metadata import metadata, version
from pathlib import Path

import fastdump

ROOT = Path(__file__).parent.parent


def test_the_description_is_the_readme_without_links_that_lead_nowhere() -> None:
    text = metadata("fastdump")["Description"]
    assert text.startswith("# fastdump\n")
    assert "fastdump triage dump/" in text
    targets = re.findall(r"\]\(([^)]*)\)", text)
    assert [target for target in targets if not target.startswith("https://")] == []
    readme = (ROOT / "README.md").read_text()
    words = re.sub(r"!\[[^]]*\]\([^)]*\)\n+|\]\([^)]*\)|[\[\]]", "", readme)
    assert re.sub(r"[\[\]]", "", text) == words


def test_versions_agree() -> None:
    assert version("fastdump") == fastdump.__version__
    changes = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes[0] in ("Unreleased", fastdump.__version__)
