"""Tables of text with one line a row, fitted to a terminal with as little loss as possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len

from fastdump._words.elision import elide_end
from fastdump._words.fitted_names import FittedNames
from fastdump._words.wrapping import line_spans

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
        ever elided. Names get more if their numbers and operations need it.
    drop_order
        The column with the lowest number is the first to be left out on a narrow terminal; None if
        the column stays as long as possible.
    names
        Whether the texts are names with words, which are fitted as `FittedNames` does.
    """

    title: str
    right: bool = False
    min_width: int | None = None
    drop_order: int | None = None
    names: bool = False


class TextTable:
    """A table that is fitted to `width` cells, or laid out in full if `width` is None.

    Columns without text in any row are left out. On a narrow terminal, what is the same in many
    rows is told once, above the table: first beginnings of names, then columns with one text. If
    that is not enough, texts are elided and columns dropped.
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
        self._width = width
        self._widths = {
            i: max(cell_len(column.title), *(cell_len(row[i].text) for row in self._rows))
            for i, column in enumerate(columns)
            if any(row[i].text for row in self._rows)
        }
        self._names: dict[int, FittedNames] = {}
        self._told: list[int] = []
        self.dropped: list[str] = []
        """Titles of the columns that did not fit."""
        if width is not None and not self._fits(width):
            self._fit(width)

    def _fits(self, width: int) -> bool:
        return self._excess(width) <= 0

    def _excess(self, width: int) -> int:
        return sum(self._widths.values()) + len(_GAP) * (len(self._widths) - 1) - width

    def _fit(self, width: int) -> None:
        for i in self._widths:
            if self._columns[i].names:
                self._names[i] = FittedNames(row[i].text for row in self._rows)
                self._widths[i] = max(self._names[i].width(), cell_len(self._columns[i].title))
        self._tell(width)
        natural = dict(self._widths)
        droppable = self._droppable()
        while not self._elide(width) and droppable and len(natural) > 1:
            i = droppable.pop(0)
            del natural[i]
            self.dropped.append(self._columns[i].title)
            self._widths = dict(natural)
        if not self._fits(width) and len(self._widths) == 1:
            self._widths = dict.fromkeys(self._widths, width)

    def _tell(self, width: int) -> None:
        """Leave out columns with one text, as far as that is needed, to be told above the table."""
        # Names that take more than half of the terminal are elided before others make room.
        most = {i: max(names.least, width // 2) for i, names in self._names.items()}
        n_elided = sum(max(self._widths[i] - most[i], 0) for i in most)
        for i in list(self._widths):
            if len(self._rows) < 2 or len(self._widths) < 2 or self._excess(width) <= n_elided:
                return
            if len({row[i].text for row in self._rows}) == 1:
                self._told.append(i)
                n_elided -= max(self._widths.pop(i) - most.get(i, width), 0)

    def _droppable(self) -> list[int]:
        """Return the columns in the order in which they go: names and the first at the very end."""

        def urgency(i: int) -> tuple[int, int]:
            order = self._columns[i].drop_order
            if order is not None:
                return 0, order
            return (2 if self._columns[i].names else 1), -i

        return sorted(self._widths, key=urgency)

    def _elide(self, width: int) -> bool:
        """Narrow the widest elidable column until all columns fit; return whether they do."""
        widths = self._widths
        least = {i: self._least(i) for i in widths}
        for _ in range(self._excess(width)):
            slack = [(widths[i], i) for i in widths if widths[i] > least[i]]
            if not slack:
                return False
            widths[max(slack)[1]] -= 1
        return True

    def _least(self, i: int) -> int:
        """Return the width below which a column is not narrowed."""
        column = self._columns[i]
        if column.min_width is None:
            return self._widths[i]
        least = max(column.min_width, cell_len(column.title))
        return max(least, self._names[i].least) if i in self._names else least

    def lines(self, *, ellipsis: str = "\u2026") -> Iterator[list[Cell]]:
        """Yield what is told once, the header, then each row, as styled pieces.

        No line has trailing blanks.
        """
        if not self._rows:
            return
        yield from self._told_lines(ellipsis)
        yield self._line([Cell(column.title, "bold") for column in self._columns], {}, ellipsis)
        fitted = {
            i: names.fitted(self._widths[i], ellipsis)
            for i, names in self._names.items()
            if i in self._widths
        }
        for row in self._rows:
            yield self._line(row, fitted, ellipsis)

    def _told_lines(self, ellipsis: str) -> Iterator[list[Cell]]:
        """Yield what is the same in all rows, and what leading ellipses stand for."""
        told = []
        if self._told:
            facts = (f"{self._columns[i].title} {self._rows[0][i].text}" for i in self._told)
            told.append(f"in all rows: {', '.join(facts)}")
        for i, names in self._names.items():
            if names.prefix and i in self._widths:
                told.append(f"{ellipsis} in {self._columns[i].title}: {names.prefix}")
        width = self._width or 0
        for text in told:
            for begin, end in line_spans(text, width, width):
                yield [Cell(text[begin:end], "dim")]

    def shown(self) -> tuple[list[Column], list[list[Cell]]]:
        """Return the columns that are shown, and the cells of each row in them, all whole."""
        columns = [self._columns[i] for i in self._widths]
        return columns, [[row[i] for i in self._widths] for row in self._rows]

    def _line(
        self, row: Sequence[Cell], fitted: Mapping[int, Mapping[str, str]], ellipsis: str
    ) -> list[Cell]:
        line = []
        blanks = 0
        for i, width in self._widths.items():
            text = row[i].text
            text = fitted[i].get(text, "") if i in fitted else elide_end(text, width, ellipsis)
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
