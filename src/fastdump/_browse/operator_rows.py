"""The rows of one operator: those of one file, which stand together in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastdump._table.stats_table import StatsTable

_MOST = 1024
"""Rows that are looked at in each direction."""


def rows_of_operator(table: StatsTable, row: int) -> list[int]:
    """Return the indices of the rows of one file, in order: inputs and outputs of an operator."""
    paths = table.batch.column("path")
    path = paths[row].as_py()
    first = last = row
    while first > max(0, row - _MOST) and paths[first - 1].as_py() == path:
        first -= 1
    while last < min(len(table) - 1, row + _MOST) and paths[last + 1].as_py() == path:
        last += 1
    return list(range(first, last + 1))
