"""The screen of a comparison: one line for each pair of tensors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from textual.binding import Binding, BindingType

from fastdump._browse.asked import PairAsked
from fastdump._browse.comparison_columns import COMPARISON_COLUMNS, VERDICTS, health_of_pairs
from fastdump._browse.health import BAD, MARKS
from fastdump._browse.table_screen import TableScreen
from fastdump._browse.table_view import TableView
from fastdump._compare.schema import COLUMN
from fastdump._words.places import operator_text, where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import shape_text
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from fastdump._compare import ComparisonTable
    from fastdump._compare.schema import ComparisonRow


class ComparisonScreen(TableScreen):
    """Pairs of tensors of two dumps, in the order of execution."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("c", "back", "back")]
    columns = COMPARISON_COLUMNS
    schema = COLUMN
    noun = "pair"
    names: ClassVar = {"dtype": "dtype_a"}
    patterns = ("verdict", "status", "paired_by")

    def __init__(self, a: str, b: str) -> None:
        super().__init__(f"{Path(a).name or a} with {Path(b).name or b}")
        self._table: ComparisonTable | None = None
        self._progress = "comparing"

    def on_mount(self) -> None:
        """Begin with the keys in the table."""
        self.view.focus()
        self._show_top()

    def show_comparison(self, table: ComparisonTable) -> None:
        """Show a comparison, with the cursor where the two part."""
        self._table, self._progress = table, ""
        health = health_of_pairs(table)
        parted = np.flatnonzero(health == BAD)
        self.show(table, health, int(parted[0]) if len(parted) else None)

    def described(self, row: int) -> list[list[Cell]]:
        """Return the operator, both tensors and the verdict of a pair."""
        if self._table is None:
            return []
        record, health = self._table[row], self.health[row]
        mark = MARKS[health]
        named = operator_text(record.op_type, record.op_name) or "no name in the first dump"
        place = where_text(rank=record.rank, step=record.step, layer=record.layer)
        note = f"  {printable(record.note)}" if record.note else ""
        return [
            [Cell(named, "bold")],
            [
                Cell(f"{record.tensor_name}  {place}  "),
                Cell(f"{mark.text} {VERDICTS[health]}", mark.style),
                Cell(note, SUBTLE),
            ],
            [Cell(sides_text(record), SUBTLE)],
        ]

    def on_table_view_chosen(self, event: TableView.Chosen) -> None:
        """Open a pair."""
        if self._table is not None:
            self.post_message(PairAsked(self._table, event.row))


def sides_text(record: ComparisonRow) -> str:
    """Return the types and shapes of both tensors of a pair."""
    a = f"{record.dtype_a or ''} {shape_text(record.shape_a)}".strip() or "not there"
    b = f"{record.dtype_b or ''} {shape_text(record.shape_b)}".strip() or "not there"
    return printable(a if a == b else f"a: {a}   b: {b}")
