"""Tables of text with one line a row, fitted to a terminal by eliding the middle of long names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len

_GAP = "  "


class Cell(NamedTuple):
    """One printable text and its rich style."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Column:
    """How one column is laid out.

    Attributes
    ----------
    title
        Printed above the column.
    right
        Whether cells are aligned to the right, as numbers are.
    min_width
        Width to which eliding may narrow the column, but never below its title; None if nothing is
        ever elided.
    drop_order
        The column with the lowest number is the first to be left out on a narrow terminal; None if
        the column always stays.
    """

    title: str
    right: bool = False
    min_width: int | None = None
    drop_order: int | None = None


class TextTable:
    """A table that is fitted to `width` cells, or laid out in full if `width` is None.

    Columns without text in any row are left out.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Iterable[Sequence[Cell]],
        *,
        width: int | None,
    ) -> None:
        self._rows = [tuple(row) for row in rows]
        self._columns = columns
        self._widths = {
            i: max(cell_len(column.title), *(cell_len(row[i].text) for row in self._rows))
            for i, column in enumerate(columns)
            if any(row[i].text for row in self._rows)
        }
        self.dropped: list[str] = []
        """Titles of the columns that did not fit."""
        if width is not None:
            self._fit(width)

    def _fit(self, width: int) -> None:
        natural = dict(self._widths)
        droppable = sorted(
            (order, i) for i in natural if (order := self._columns[i].drop_order) is not None
        )
        while not self._elide(width) and droppable:
            _, i = droppable.pop(0)
            del natural[i]
            self.dropped.append(self._columns[i].title)
            self._widths = dict(natural)

    def _elide(self, width: int) -> bool:
        """Narrow the widest elidable column until all columns fit; return whether they do."""
        widths = self._widths
        excess = sum(widths.values()) + len(_GAP) * (len(widths) - 1) - width
        while excess > 0:
            slack = [
                (widths[i], i)
                for i in widths
                if (least := self._columns[i].min_width) is not None
                and widths[i] > max(least, cell_len(self._columns[i].title))
            ]
            if not slack:
                return False
            widths[max(slack)[1]] -= 1
            excess -= 1
        return True

    def lines(self, *, ellipsis: str = "\u2026") -> Iterator[list[Cell]]:
        """Yield the header, then each row, as styled pieces without trailing blanks."""
        if not self._rows:
            return
        yield self._line([Cell(column.title, "bold") for column in self._columns], ellipsis)
        for row in self._rows:
            yield self._line(row, ellipsis)

    def texts(self) -> Iterator[list[str]]:
        """Yield the titles and then each row's texts, in the columns that are shown."""
        yield [self._columns[i].title for i in self._widths]
        for row in self._rows:
            yield [row[i].text for i in self._widths]

    def _line(self, row: Sequence[Cell], ellipsis: str) -> list[Cell]:
        line = []
        blanks = 0
        for i, width in self._widths.items():
            text = elide_middle(row[i].text, width, ellipsis)
            padding = width - cell_len(text)
            if self._columns[i].right:
                blanks += padding
                padding = 0
            if text:
                line += [Cell(" " * blanks), Cell(text, row[i].style)]
                blanks = 0
            blanks += padding + len(_GAP)
        return line


def plain(line: Iterable[Cell]) -> str:
    """Return a line without its styles."""
    return "".join(cell.text for cell in line)


def elide_middle(text: str, width: int, ellipsis: str = "\u2026") -> str:
    """Return `text` in at most `width` cells; a text that is too long loses its middle.

    The ends of an operator's name, the model and the operation, tell more than its middle.
    """
    if cell_len(text) <= width:
        return text
    room = width - cell_len(ellipsis)
    if room <= 0:
        return ellipsis[:width]
    head = _take(text, (room + 1) // 2)
    tail = _take(text[::-1], room // 2)[::-1]
    return head + ellipsis + tail


def _take(text: str, width: int) -> str:
    """Return the longest beginning of `text` that fits `width` cells."""
    for i, character in enumerate(text):
        width -= cell_len(character)
        if width < 0:
            return text[:i]
    return text
