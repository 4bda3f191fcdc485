"""The first screen: the tree of places, beside it the rows of one of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Tree

from fastdump._browse.asked import OriginAsked, TensorAsked
from fastdump._browse.columns import SAME_IN_ALL, STATS_COLUMNS
from fastdump._browse.health import MARKS, WORDS
from fastdump._browse.order_screen import Order
from fastdump._browse.place_tree import PlaceTree
from fastdump._browse.places import Place, Places
from fastdump._browse.table_screen import TableScreen
from fastdump._browse.table_view import TableView
from fastdump._browse.tensor_view import heading
from fastdump._table.schema import COLUMN
from fastdump._table.severity import worst_first
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.stats_table import StatsTable

_WORST = Order("worst", False)


class RowsScreen(TableScreen):
    """Places and rows of a table of statistics."""

    DEFAULT_CSS = """
    #places { width: 28%; max-width: 44; border-right: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "origin", "origin"),
        Binding("c", "app.compare", "compare"),
    ]
    columns = STATS_COLUMNS
    schema = COLUMN
    noun = "tensor"

    def __init__(self, what: str) -> None:
        super().__init__(Path(what).name or what)
        self._table: StatsTable | None = None
        self._places: Places | None = None
        self._place: Place | None = None

    def body(self) -> ComposeResult:
        """Yield the tree and the table."""
        with Horizontal():
            yield PlaceTree(id="places")
            yield from super().body()

    def on_mount(self) -> None:
        """Begin with the keys in the tree."""
        self.query_one(PlaceTree).focus()

    @property
    def table(self) -> StatsTable | None:
        """The table, None before there is one."""
        return self._table

    def show_table(
        self, table: StatsTable, health: NDArray[np.int8], places: Places | None
    ) -> None:
        """Show a table in place of the one before, which knew less; stay where one is.

        Parameters
        ----------
        table, health
            The table, and the health of its rows, shape (rows,).
        places
            Its places, None if they follow.
        """
        is_same = self._table is not None and len(self._table) == len(table)
        row = self.view.row if is_same else None
        self._table, self._places = table, places
        if places is not None:
            self._place = self.query_one(PlaceTree).show(places, self.what)
        self.show(table, health, row)

    # What a screen says of its own rows

    def candidates(self) -> NDArray[np.int64]:
        """Return the rows of the place with the cursor."""
        if self._places is None or self._place is None or self._place.depth == 0:
            return super().candidates()
        return self._places.rows(self._place)

    def same_in_all(self) -> Iterable[str]:
        """Return the columns that the place tells already."""
        if self._places is None or self._place is None:
            return ()
        return self._places.same_in_all(self._place).intersection(SAME_IN_ALL)

    def orders(self) -> list[Order]:
        """Return orders by columns, and that of urgency."""
        by_time, *others = super().orders()
        return [by_time, _WORST, *others]

    def ordered(self, rows: NDArray[np.int64], order: Order) -> NDArray[np.int64]:
        """Return rows in one of `orders`."""
        if order.column != _WORST.column or self._table is None:
            return super().ordered(rows, order)
        rank = np.empty(len(self._table), np.int64)
        rank[worst_first(self._table.batch, self._table.bad_values)] = np.arange(len(rank))
        return rows[np.argsort(rank[rows], kind="stable")]

    def described(self, row: int) -> list[list[Cell]]:
        """Return the operator, the tensor and the file of a row."""
        if self._table is None:
            return []
        first, second, *others = heading(self._table[row])
        mark = MARKS[self.health[row]]
        return [
            first,
            [*second, Cell(f"  {mark.text} {WORDS[self.health[row]]}", mark.style)],
            others[-1],
        ]

    def leave(self) -> None:
        """Go back to the tree."""
        self.query_one(PlaceTree).focus()

    # What happens

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Place]) -> None:
        """Show the rows of a place."""
        if event.node.data is not None and event.node.data != self._place:
            self._place = event.node.data
            self.show_rows()

    def on_tree_node_selected(self, event: Tree.NodeSelected[Place]) -> None:
        """Go from an operator to its rows."""
        if not event.node.allow_expand:
            self.view.focus()

    def on_table_view_chosen(self, event: TableView.Chosen) -> None:
        """Open a tensor."""
        if self._table is not None:
            self.post_message(TensorAsked(self._table, event.row))

    def action_origin(self) -> None:
        """Follow the row with the cursor back to where its bad values began."""
        if self._table is not None and self.view.row is not None:
            self.post_message(OriginAsked(self._table, self.view.row))
