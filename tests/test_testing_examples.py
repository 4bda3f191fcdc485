"""Every example of the writer's documentation runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

from fastdump import testing

MODULES = [f"fastdump.testing.{module.name}" for module in pkgutil.iter_modules(testing.__path__)]
PAGE = Path(__file__).parent.parent / "docs" / "writing-dumps.md"


@pytest.mark.parametrize("name", ["fastdump.testing", *MODULES])
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not installed")
def test_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    assert len(blocks) >= 9
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    written = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert len(written) == 16, sorted(written)
