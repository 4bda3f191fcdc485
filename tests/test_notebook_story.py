"""The notebook of docs/ runs, and shows what it shows there; ``make notebook`` writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from html_pages import Page

pytest.importorskip("nbclient", reason="pip install nbclient ipykernel: they run the notebook")
pytest.importorskip("ipykernel")
pytest.importorskip("bokeh")
pytest.importorskip("matplotlib")

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from story_notebook import NOTEBOOK, run

if not NOTEBOOK.is_file():
    pytest.skip("the source tree is not here", allow_module_level=True)

WRITTEN = nbformat.read(NOTEBOOK, as_version=4)
# The last digits depend on the CPU that wrote the sample dump, and how numpy writes numbers of an
# array on its version.
_DECIMAL = re.compile(r"(?<![\w.])-?\d[\d,]*\.\d*(?:e[+-]?\d+)?(?![\w.]*\d)")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def shown(notebook: NotebookNode) -> Iterator[tuple[str, str, str]]:
    """Yield what code cells show: the cell, the kind, and the text; of images the kind alone."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            for kind, text in sorted(output.get("data", {}).items()):
                if kind == "text/html":
                    page = Page(text)
                    assert (page.scripts, page.fetched, page.handlers) == (0, [], [])
                    text = page.text
                yield cell.id, kind, "" if kind.startswith("image/") else " ".join(text.split())
            if output.output_type == "stream" and output.name == "stdout":
                yield cell.id, "stdout", " ".join(output.text.split())


def decimals(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _DECIMAL.findall(text)]


def without_decimals(text: str) -> str:
    return _DECIMAL.sub("DECIMAL", text).replace("[ ", "[").replace(" ]", "]")


def test_cells_show_what_is_written() -> None:
    now, then = list(shown(run(WRITTEN))), list(shown(WRITTEN))
    assert [(cell, kind) for cell, kind, _ in now] == [(cell, kind) for cell, kind, _ in then]
    for (cell, kind, actual), (_, _, expected) in zip(now, then, strict=True):
        where = f"cell {cell}, {kind}: make notebook writes it anew"
        assert without_decimals(actual) == without_decimals(expected), where
        assert decimals(actual) == pytest.approx(decimals(expected), rel=0.02), where


def test_an_error_is_an_error() -> None:
    broken = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        run(broken)


def test_the_file_has_nothing_of_the_run_that_wrote_it() -> None:
    text = NOTEBOOK.read_text()
    assert text.isascii()
    without_images = re.sub(r'"image/png": ".*"', "", text)
    assert re.search(r"/(tmp|var|home|root|Users)\b", without_images) is None
    assert len(text) < 200_000
    nbformat.validate(WRITTEN)
    assert all(cell.metadata == {} for cell in WRITTEN.cells)
    assert len({cell.id for cell in WRITTEN.cells}) == len(WRITTEN.cells)
    counts = [cell.execution_count for cell in WRITTEN.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))


def test_links_lead_somewhere() -> None:
    texts = [cell.source for cell in WRITTEN.cells if cell.cell_type == "markdown"]
    links = [link for text in texts for link in _LINK.findall(text)]
    assert links
    assert [link for link in links if not (NOTEBOOK.parent / link).is_file()] == []
