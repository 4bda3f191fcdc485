"""Rows of a table in groups, and in the cells of two groupings; for figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastdump._table.arrow_column import codes_of, integer_array
from fastdump._words import page_catalogue as say
from fastdump._words.printable import printable

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

MAX_ROWS = 64
MAX_COLUMNS = 128
_MAX_TYPES = 40
NONE = -1
"""Stands for null; what counts layers, ranks or steps is never negative."""


_LABELS = {
    "layer": say.LAYER,
    "rank": say.RANK,
    "step": say.STEP,
    "op_type": say.OP_TYPE,
    "execution": say.EXECUTION,
}


@dataclass(frozen=True, eq=False)
class Axis:
    """What rows of a table are grouped by.

    Attributes
    ----------
    label
        Name of the column: "layer", "rank", "step", "op_type".
    names
        The groups, in order: one value each, or a range of them, such as "0-15".
    group
        The group of each row of the table, NONE for a row in none, shape (rows,).
    """

    label: str
    names: tuple[str, ...]
    group: NDArray[np.int64]

    @classmethod
    def of(cls, batch: RecordBatch, label: str, most: int) -> Axis:
        """Return that of a column of a table, of at most `most` groups."""
        if label == "op_type":
            return cls._of_types(batch, most)
        numbers = integer_array(batch.column(label), null=NONE)
        distinct, code = np.unique(numbers, return_inverse=True)
        known = distinct != NONE
        code = np.where(numbers == NONE, NONE, code - int(not known.all()))
        distinct = distinct[known]
        size = max(1, -(-len(distinct) // most))
        starts = range(0, len(distinct), size)
        ends = (distinct[start : start + size][[0, -1]].tolist() for start in starts)
        names = (str(first) if first == last else f"{first}-{last}" for first, last in ends)
        return cls(label, tuple(names), np.where(code == NONE, NONE, code // size))

    @classmethod
    def _of_types(cls, batch: RecordBatch, most: int) -> Axis:
        codes, names = codes_of(batch.column("op_type"))
        number = np.bincount(codes[codes != NONE], minlength=len(names))
        frequent = np.sort(np.argsort(-number, kind="stable")[:most])
        group_of = np.full(len(names) + 1, NONE)
        group_of[frequent] = np.arange(len(frequent))
        return cls("op_type", tuple(printable(names[i]) for i in frequent), group_of[codes])

    def or_all(self, n_rows: int) -> Axis:
        """Return the axis, or one group of all rows if there is none."""
        if self.names:
            return self
        return Axis(self.label, (say.ALL(),), np.zeros(n_rows, np.int64))

    @property
    def shown(self) -> str:
        """The label, as it is told."""
        return _LABELS[self.label]()

    @property
    def word(self) -> str:
        """What the groups are, in a sentence."""
        return say.TYPE_OF_OPERATOR() if self.label == "op_type" else self.shown

    def group_of_row(self, row: int) -> int | None:
        """Return the group of a row of the table, None if it is in none."""
        group = int(self.group[row])
        return None if group == NONE else group


def x_axis(batch: RecordBatch) -> Axis:
    """Return layers, or types of operators where names tell no layers."""
    layers = Axis.of(batch, "layer", MAX_COLUMNS)
    return layers if len(layers.names) > 1 else Axis.of(batch, "op_type", _MAX_TYPES)


def ringed(y: Axis, x: Axis, row: int | None) -> tuple[int, int] | None:
    """Return the cell of a row of the table, None if it is in none."""
    if row is None:
        return None
    at_row, at_column = y.group_of_row(row), x.group_of_row(row)
    return None if at_row is None or at_column is None else (at_row, at_column)


class Cells:
    """The rows of a table in the cells of two axes."""

    def __init__(self, y: Axis, x: Axis) -> None:
        self.shape = (len(y.names), len(x.names))
        inside = (y.group != NONE) & (x.group != NONE)
        self._rows = np.flatnonzero(inside)
        self._cell = y.group[inside] * self.shape[1] + x.group[inside]

    def largest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest of one number a row in each cell; NaN where there is none."""
        known = ~np.isnan(values[self._rows])
        found = np.full(self.shape[0] * self.shape[1], -np.inf)
        np.maximum.at(found, self._cell[known], values[self._rows[known]])
        found[np.isneginf(found)] = np.nan
        return found.reshape(self.shape)

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of one number a row in each cell, 0 where there is none."""
        n_cells = self.shape[0] * self.shape[1]
        found = np.bincount(self._cell, values[self._rows], n_cells).astype(np.float64)
        return found.reshape(self.shape)

    def chosen(
        self, chosen: NDArray[np.bool_]
    ) -> Iterator[tuple[tuple[int, int], NDArray[np.int64]]]:
        """Yield each cell with a chosen row, and these rows, in order."""
        keep = chosen[self._rows]
        order = np.argsort(self._cell[keep], kind="stable")
        cells, rows = self._cell[keep][order], self._rows[keep][order]
        distinct, first = np.unique(cells, return_index=True)
        parts = np.split(rows, first[1:]) if len(first) else []
        for cell, of_cell in zip(distinct.tolist(), parts, strict=True):
            yield divmod(cell, self.shape[1]), of_cell
