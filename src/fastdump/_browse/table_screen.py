"""What screens with a table share: a filter as one types, an order, the next bad row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from fastdump._browse.columns import ViewColumn, with_widths
from fastdump._browse.health import INCOMPLETE
from fastdump._browse.order_screen import Order, OrderScreen
from fastdump._browse.row_filter import HELP, filtered_rows
from fastdump._browse.row_order import sorted_rows
from fastdump._browse.styled import styled, styled_lines
from fastdump._browse.table_view import TableView
from fastdump._words.printable import printable
from fastdump._words.quantities import counted
from fastdump._words.styles import BAD, SUBTLE
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.column import Column
    from fastdump._table.column_table import ColumnTable

BY_TIME = Order("", False)


class TableScreen(Screen[None]):
    """A line on top, a table, a line for a filter, some lines about one row.

    Parameters
    ----------
    what
        What is looked at, as the user named it.
    """

    DEFAULT_CSS = """
    #top, #about { background: $panel; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    #top { height: 1; }
    #about { height: 3; }
    #filter { height: 1; display: none; }
    #filter.asked { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", key_display="/"),
        Binding("s", "order", "sort"),
        Binding("b", "only_bad", "bad"),
        Binding("n", "next_bad", "next bad"),
        Binding("escape,backspace", "back", show=False),
    ]

    columns: ClassVar[Sequence[ViewColumn]]
    """What is shown of a row."""
    schema: ClassVar[Mapping[str, Column]]
    """The columns of the table."""
    noun: ClassVar[str]
    """What a row is."""
    names: ClassVar[Mapping[str, str]] = {}
    patterns: ClassVar[Collection[str]] = ()
    """As of `filtered_rows`."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = printable(what)
        self.health: NDArray[np.int8] = np.empty(0, np.int8)
        self._shown: ColumnTable[Any] | None = None
        self._progress = ""
        self._filter = ""
        self._only_bad = False
        self._order = BY_TIME

    def body(self) -> ComposeResult:
        """Yield the widgets between the lines."""
        yield TableView(self.columns, id="rows")

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        yield Static(id="top", markup=False)
        yield from self.body()
        yield Input(placeholder=HELP, id="filter", compact=True, select_on_focus=False)
        yield Static(id="about", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    @property
    def view(self) -> TableView:
        """The table's widget."""
        return self.query_one(TableView)

    # What a screen says of its own rows

    def candidates(self) -> NDArray[np.int64]:
        """Return the indices of the rows to choose from, in the order of the table."""
        return np.arange(len(self.health))

    def same_in_all(self) -> Iterable[str]:
        """Return the titles of columns that say the same in all of these rows."""
        return ()

    def orders(self) -> list[Order]:
        """Return the orders to choose from."""
        return [BY_TIME, *(Order(column.sort, False) for column in self.columns if column.sort)]

    def ordered(self, rows: NDArray[np.int64], order: Order) -> NDArray[np.int64]:
        """Return rows in one of `orders`."""
        if order == BY_TIME or self._shown is None:
            return rows
        column = self._shown.batch.column(order.column)
        kind = self.schema[order.column].type
        return sorted_rows(column, kind, rows, descending=order.descending)

    def described(self, row: int) -> list[list[Cell]]:
        """Return some lines about one row."""
        raise NotImplementedError

    def leave(self) -> None:
        """Go back, when there is nothing else to take back."""
        self.app.pop_screen()

    # What is shown

    def show(self, table: ColumnTable[Any], health: NDArray[np.int8], row: int | None) -> None:
        """Show a table, with the cursor on a row of it."""
        self._shown, self.health = table, health
        self.show_rows(row)

    def show_progress(self, progress: str) -> None:
        """Say how far the work has come."""
        self._progress = progress
        self._show_top()

    def show_rows(self, row: int | None = None) -> None:
        """Show the rows that are asked for, with the cursor on one of them."""
        if self._shown is None:
            return
        rows = self.candidates()
        if self._only_bad:
            rows = rows[self.health[rows] >= INCOMPLETE]
        if self._filter:
            try:
                batch = self._shown.batch
                keep = filtered_rows(batch, self._filter, self.names, self.patterns)
            except ValueError as error:
                self._show_top(str(error))
                return
            rows = rows[keep[rows]]
        rows = self.ordered(rows, self._order)
        self.view.show(
            self._shown,
            self.health,
            rows,
            columns=with_widths(self.columns, self._shown.batch),
            hidden=self.same_in_all(),
            row=row,
        )
        self._show_top()

    def _show_top(self, error: str = "") -> None:
        line = [Cell(self.what, "bold")]
        if self._shown is not None:
            n_bad = int((self.health[self.view.rows] >= INCOMPLETE).sum())
            line.append(Cell(f"  {counted(len(self.view.rows), self.noun)}"))
            line.append(Cell(f", {n_bad:,} bad" if n_bad else ", none bad", BAD if n_bad else ""))
        said = [
            "only bad" if self._only_bad else "",
            f"/{printable(self._filter)}" if self._filter else "",
            self._order.words,
            printable(self._progress),
        ]
        line += [Cell(f"  {text}", SUBTLE) for text in said if text]
        if error:
            line = [Cell(printable(error), BAD)]
        self.query_one("#top", Static).update(styled(line))

    def on_table_view_moved(self, event: TableView.Moved) -> None:
        """Say more of the row with the cursor than its line has room for."""
        lines = [[Cell(f"no {self.noun} here", SUBTLE)]]
        if event.row is not None:
            lines = self.described(event.row)
        self.query_one("#about", Static).update(styled_lines(lines))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter as one types."""
        self._filter = event.value.strip()
        self.show_rows()

    def on_input_submitted(self) -> None:
        """Go on with the rows that are left."""
        self._end_filter()

    def _end_filter(self) -> None:
        self.query_one("#filter").remove_class("asked")
        self.view.focus()

    # Keys

    def action_filter(self) -> None:
        """Ask for a filter."""
        asked = self.query_one("#filter", Input)
        asked.add_class("asked")
        asked.focus()

    def action_back(self) -> None:
        """Take back the filter, then what else was chosen; then leave."""
        asked = self.query_one("#filter", Input)
        if asked.has_focus or self._filter:
            asked.value = ""
            self._end_filter()
        elif self._only_bad:
            self.action_only_bad()
        else:
            self.leave()

    def action_only_bad(self) -> None:
        """Show only bad rows, or all."""
        self._only_bad = not self._only_bad
        self.show_rows(self.view.row)

    def action_next_bad(self) -> None:
        """Go to the next row of the worst kind there is."""
        health = self.health[self.view.rows]
        worst = max(int(health.max(initial=0)), INCOMPLETE)
        found = np.flatnonzero(health == worst)
        if not len(found):
            self.notify("nothing bad among these rows", markup=False)
            return
        after = found[found > self.view.cursor] if self.view.has_focus else found
        self.view.focus()
        self.view.move_to(int(after[0] if len(after) else found[0]))

    def action_order(self) -> None:
        """Ask for an order."""

        def chosen(order: Order | None) -> None:
            if order is not None:
                self._order = order
                self.show_rows()

        self.app.push_screen(OrderScreen(self.orders(), self._order), chosen)
