"""Styled lines of prose, wrapped to a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from fastdump._words.text_table import Cell, plain
from fastdump._words.wrapping import line_spans

_NARROWEST = 20


def wrapped(
    cells: Sequence[Cell], width: int | None, *, indent: int | None = None
) -> Iterator[list[Cell]]:
    """Yield a styled line in as many lines of at most `width` cells as it takes.

    Parameters
    ----------
    cells
        The line.
    width
        Width of the terminal, in cells; None leaves the line as it is.
    indent
        Blanks before each line but the first. Default: as wide as a first cell that ends with a
        blank, which is a label, or two more than the line itself is indented.
    """
    text = plain(cells)
    if width is None or cell_len(text) <= width:
        yield list(cells)
        return
    width = max(width, _NARROWEST)
    hanging = _indent(cells, text) if indent is None else indent
    if hanging > width // 3:
        hanging = 0
    for i, (begin, end) in enumerate(line_spans(text, width, width - hanging)):
        margin = [Cell(" " * hanging)] if i and hanging else []
        yield margin + _part(cells, begin, end)


def _indent(cells: Sequence[Cell], text: str) -> int:
    label = cells[0].text
    if len(cells) > 1 and label.endswith(" ") and label.strip():
        return cell_len(label)
    n_blanks = len(text) - len(text.lstrip(" "))
    return n_blanks + 2 if n_blanks else 0


def _part(cells: Sequence[Cell], begin: int, end: int) -> list[Cell]:
    """Return the characters from `begin` to before `end`, each in its style."""
    part = []
    at = 0
    for cell in cells:
        piece = cell.text[max(begin - at, 0) : max(end - at, 0)]
        if piece:
            part.append(Cell(piece, cell.style))
        at += len(cell.text)
    return part
