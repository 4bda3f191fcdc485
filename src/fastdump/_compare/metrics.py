"""Columns of metrics that are filled row by row or in part, and become a table's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._column import INT64_MAX
from fastdump._compare.schema import METRICS

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Metrics:
    """The metrics, status and note of some pairs; null at first.

    Attributes
    ----------
    reals : dict of str to ndarray of float64, shape (pairs,)
        NaN is null.
    integers : dict of str to a pair of arrays, shape (pairs,)
        Numbers, and which of them are known. bit_equal is 0 or 1.
    status, note : list
        A text or None for each pair.
    """

    def __init__(self, n: int) -> None:
        self.reals: dict[str, NDArray[np.float64]] = {}
        self.integers: dict[str, tuple[NDArray[np.int64], NDArray[np.bool_]]] = {}
        for column in METRICS:
            if column.kind == "real":
                self.reals[column.name] = np.full(n, np.nan)
            else:
                self.integers[column.name] = (np.zeros(n, np.int64), np.zeros(n, np.bool_))
        self.status: list[str] = ["ok"] * n
        self.note: list[str | None] = [None] * n

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
        for i, row in enumerate(rows.tolist()):
            self.status[row] = status
            self.note[row] = note if isinstance(note, str) else note[i]

    def columns(self) -> dict[str, list[Any]]:
        """Return all as lists, None for null."""
        columns: dict[str, list[Any]] = {}
        for name, reals in self.reals.items():
            values = reals.astype(object)
            values[np.isnan(reals)] = None
            columns[name] = values.tolist()
        for name, (numbers, known) in self.integers.items():
            values = (numbers.astype(np.bool_) if name == "bit_equal" else numbers).astype(object)
            values[~known] = None
            columns[name] = values.tolist()
        return {**columns, "status": self.status, "note": self.note}
