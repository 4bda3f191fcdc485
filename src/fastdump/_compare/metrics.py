"""Metrics of pairs as columns, filled row by row or in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._arguments import INT64_MAX
from fastdump._compare.schema import COLUMN, METRICS
from fastdump._table.arrow_column import column_of
from fastdump._table.buffers import column_with_nulls

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray


class Metrics:
    """The metrics, status and note of some pairs; null at first.

    Attributes
    ----------
    reals : dict of str to ndarray of float64, shape (pairs,)
        NaN is null.
    integers : dict of str to a pair of arrays, shape (pairs,)
        Numbers, and which of them are known. bit_equal is 0 or 1.
    status, note : ndarray of object, shape (pairs,)
        A text for each pair; a note may be None.
    """

    def __init__(self, n: int) -> None:
        self.reals: dict[str, NDArray[np.float64]] = {}
        self.integers: dict[str, tuple[NDArray[np.int64], NDArray[np.bool_]]] = {}
        for name in METRICS:
            if COLUMN[name].type == "real":
                self.reals[name] = np.full(n, np.nan)
            else:
                self.integers[name] = (np.zeros(n, np.int64), np.zeros(n, np.bool_))
        self.status: NDArray[np.object_] = np.full(n, "ok", object)
        self.note: NDArray[np.object_] = np.full(n, None, object)

    def __len__(self) -> int:
        return len(self.status)

    def set_row(self, row: int, values: Mapping[str, Any]) -> None:
        """Set metrics of one pair."""
        for name, value in values.items():
            if name in self.reals:
                self.reals[name][row] = np.nan if value is None else value
            else:
                numbers, known = self.integers[name]
                known[row] = value is not None
                numbers[row] = min(int(value or 0), INT64_MAX)

    def set_status(self, rows: NDArray[np.int64], status: str, note: str | Sequence[str]) -> None:
        """Set the status of some pairs, and one note or one for each."""
        self.status[rows] = status
        self.note[rows] = note

    def set_part(self, rows: slice, part: Metrics) -> None:
        """Set metrics, status and note of some pairs, one after another."""
        for name, reals in part.reals.items():
            self.reals[name][rows] = reals
        for name, (numbers, known) in part.integers.items():
            self.integers[name][0][rows], self.integers[name][1][rows] = numbers, known
        self.status[rows], self.note[rows] = part.status, part.note

    def columns(self, pairs: NDArray[np.int64]) -> dict[str, Array]:
        """Return the metrics of some pairs as columns, null where the number of a pair is -1.

        Columns take the place of the arrays: of many pairs, there is no room for both.
        """
        are_all = len(pairs) == len(self) and bool((pairs == np.arange(len(pairs))).all())

        def taken(values: NDArray[Any], null: float) -> NDArray[Any]:
            return values if are_all else np.append(values, values.dtype.type(null))[pairs]

        columns = {}
        for name in list(self.reals):
            reals = taken(self.reals.pop(name), np.nan)
            columns[name] = column_with_nulls(reals, ~np.isnan(reals))
        for name in list(self.integers):
            numbers, known = self.integers.pop(name)
            values = numbers.astype(np.bool_) if name == "bit_equal" else numbers
            columns[name] = column_with_nulls(taken(values, 0), taken(known, 0))
        return columns


def text_column(texts: NDArray[np.object_], pairs: NDArray[np.int64]) -> Array:
    """Return a text of each pair as a column, null where the number of a pair is -1."""
    with_null: NDArray[np.object_] = np.append(texts, np.array([None], object))
    return column_of(with_null[pairs].tolist(), "text")
