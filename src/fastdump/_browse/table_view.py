"""A widget with one line a row, which makes lines only of what is visible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from fastdump._browse.columns import ViewColumn, aligned, fitted, gap_of
from fastdump._browse.health import MARKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.column_table import ColumnTable

_HEADER = 1
_MARK = 2
"""Cells of a row's mark, with the blank behind it."""


class TableView(ScrollView, can_focus=True):
    """Rows of a table, chosen and ordered by an array of indices.

    A row becomes Python objects when it is painted, so a table of many millions of rows costs no
    more than a small one.

    Parameters
    ----------
    columns
        What is shown of a row.
    """

    DEFAULT_CSS = """
    TableView { scrollbar-size-vertical: 1; overflow-x: hidden; }
    TableView > .table--header { text-style: bold; color: $text-muted; }
    TableView > .table--cursor { background: $surface-lighten-1; }
    TableView:focus > .table--cursor { background: $primary-muted; color: $text; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--header", "table--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "end(0)", show=False),
        Binding("end", "end(1)", show=False),
        Binding("enter", "choose", "open"),
    ]

    cursor = reactive(0)

    class Moved(Message):
        """The cursor stands on another row; `row` is its index in the table, None if none is."""

        def __init__(self, row: int | None) -> None:
            self.row = row
            super().__init__()

    class Chosen(Message):
        """A row was chosen; `row` is its index in the table."""

        def __init__(self, row: int) -> None:
            self.row = row
            super().__init__()

    def __init__(self, columns: Sequence[ViewColumn], **options: Any) -> None:
        super().__init__(**options)
        self._columns = columns
        self._fitted_to = 0
        self._table: ColumnTable[Any] | None = None
        self._health: NDArray[np.int8] = np.empty(0, np.int8)
        self._rows: NDArray[np.int64] = np.empty(0, np.int64)
        self._hidden: frozenset[str] = frozenset()
        self._fitted: list[tuple[ViewColumn, int]] = []
        self._gap = ""
        # The records of the rows that were painted last, from the first of them on.
        self._first_record = 0
        self._records: list[Any] = []

    def show(
        self,
        table: ColumnTable[Any],
        health: NDArray[np.int8],
        rows: NDArray[np.int64],
        *,
        columns: Sequence[ViewColumn] = (),
        hidden: Iterable[str] = (),
        row: int | None = None,
    ) -> None:
        """Show some rows of a table.

        Parameters
        ----------
        table, health
            The table, and the health of its rows, shape (rows,).
        rows
            Indices of the rows, in the order in which they are shown.
        columns
            What is shown of a row. Default: as before.
        hidden
            Titles of columns that are left out.
        row
            The index of the row that gets the cursor. Default: the first one.
        """
        self._table, self._health, self._rows = table, health, rows
        self._columns = columns or self._columns
        self._hidden = frozenset(hidden)
        self._records = []
        found = [] if row is None else np.flatnonzero(rows == row).tolist()
        self._fitted_to = 0
        self.set_reactive(TableView.cursor, 0)
        self.virtual_size = Size(self.size.width, len(rows) + _HEADER)
        self.scroll_to(y=0, animate=False)
        self.cursor = found[0] if found else 0
        # How far it can scroll is known after the next layout only.
        self.call_after_refresh(self._scroll_to_cursor)
        self.refresh()
        self.post_message(self.Moved(self.row))

    @property
    def row(self) -> int | None:
        """The index, in the table, of the row with the cursor; None if no row is shown."""
        return int(self._rows[self.cursor]) if len(self._rows) else None

    @property
    def rows(self) -> NDArray[np.int64]:
        """The indices of the rows that are shown, in order."""
        return self._rows

    def move_to(self, place: int) -> None:
        """Put the cursor on a line, counted from 0; the nearest if there is none so far."""
        self.cursor = max(0, min(place, len(self._rows) - 1))

    def watch_cursor(self) -> None:
        """Make the cursor visible, and tell where it is."""
        if self._table is not None:
            self._scroll_to_cursor()
            self.refresh()
            self.post_message(self.Moved(self.row))

    def on_resize(self) -> None:
        """Keep the cursor visible."""
        self.virtual_size = Size(self.size.width, len(self._rows) + _HEADER)
        self._scroll_to_cursor()

    def _fit(self, width: int) -> None:
        """Lay the columns out for lines of so many cells, unless that is done."""
        if self._fitted_to == width:
            return
        self._fitted_to, width = width, width - _MARK
        self._gap = " " * gap_of(width)
        self._fitted = fitted(self._columns, max(width, 1), self._hidden)

    @property
    def _n_visible(self) -> int:
        return max(1, self.size.height - _HEADER)

    def _scroll_to_cursor(self) -> None:
        first = round(self.scroll_target_y)
        if self.cursor < first:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= first + self._n_visible:
            self.scroll_to(y=self.cursor - self._n_visible + 1, animate=False)

    def action_move(self, by: int) -> None:
        """Move the cursor by some lines."""
        self.move_to(self.cursor + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by some screens."""
        self.move_to(self.cursor + by * self._n_visible)

    def action_end(self, last: int) -> None:
        """Move the cursor to the first or the last line."""
        self.move_to(len(self._rows) - 1 if last else 0)

    def action_choose(self) -> None:
        """Tell that the row with the cursor was chosen."""
        if self.row is not None:
            self.post_message(self.Chosen(self.row))

    def on_click(self, event: Any) -> None:
        """Move the cursor to the line that was clicked; a second click chooses it."""
        place = event.y - _HEADER + round(self.scroll_y)
        if event.y >= _HEADER and place < len(self._rows):
            if place == self.cursor:
                self.action_choose()
            self.move_to(place)

    # Lines

    def render_line(self, y: int) -> Strip:
        """Return one line of what is visible."""
        width = self.scrollable_content_region.width
        self._fit(width)
        if y < _HEADER:
            return self._header().extend_cell_length(width, self.rich_style).crop(0, width)
        place = round(self.scroll_y) + y - _HEADER
        if self._table is None or place >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        style = self.rich_style
        if place == self.cursor:
            style = self.get_component_rich_style("table--cursor")
        record, row = self._record(place), int(self._rows[place])
        mark = MARKS[self._health[row]]
        segments = [Segment(f"{mark.text} ", style + _style(mark.style))]
        for column, cells in self._fitted:
            text, cell_style = column.cell(record)
            text = aligned(text, cells, right=column.right)
            segments.append(Segment(text, style + _style(cell_style)))
            segments.append(Segment(self._gap, style))
        return Strip(segments).extend_cell_length(width, style).crop(0, width)

    def _header(self) -> Strip:
        style = self.get_component_rich_style("table--header")
        segments = [Segment(" " * _MARK, style)]
        for column, cells in self._fitted:
            text = aligned(column.title, cells, right=column.right)
            segments.append(Segment(text + self._gap, style))
        return Strip(segments)

    def _record(self, place: int) -> Any:
        """Return the record of a line; those around it are made with it."""
        at = place - self._first_record
        if not 0 <= at < len(self._records):
            self._first_record = round(self.scroll_y)
            if not self._first_record <= place < self._first_record + self._n_visible:
                self._first_record = place
            last = self._first_record + self._n_visible
            assert self._table is not None
            self._records = list(self._table[self._rows[self._first_record : last]])
            at = place - self._first_record
        return self._records[at]


_STYLES: dict[str, Style] = {}


def _style(text: str) -> Style:
    """Return a rich style, which is parsed once."""
    if text not in _STYLES:
        _STYLES[text] = Style.parse(text)
    return _STYLES[text]
