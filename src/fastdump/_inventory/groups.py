"""Counts of rows that belong together: of a step of a rank, of a dtype, or of the whole dump."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastdump._inventory.rows import NONE, Rows, distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

# Flags for all pairs that there could be take less time than sorting, up to so many a row.
_DENSE = 16

# Times have sixteen digits; names of exception dumps have a local time in their place.
_FIRST_TIME, _END_OF_TIMES = 10**15, 10**16


@dataclass(frozen=True)
class Group:
    """Counts of some rows.

    Attributes
    ----------
    files, ops, tensors
        How many there are of each.
    reported
        Tensors of which the dump has the device's statistics instead of their bytes.
    bytes
        Of the other tensors.
    first_timestamp, last_timestamp
        In microseconds; None if no row has one.
    """

    files: int
    ops: int
    tensors: int
    reported: int
    bytes: int
    first_timestamp: int | None
    last_timestamp: int | None

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a byte nor a statistic of any tensor."""
        return self.bytes == 0 and self.reported == 0

    def document(self) -> dict[str, int | None]:
        """Return the counts for JSON."""
        return asdict(self)


def groups(rows: Rows, number: Integers, n: int) -> list[Group]:
    """Return the counts of `n` groups; `number` is the group of each row, `NONE` for no group."""
    chosen = number != NONE
    is_reported = chosen & rows.is_tensor & rows.is_reported
    is_stored = chosen & rows.is_tensor & ~rows.is_reported
    has_op = chosen & (rows.op != NONE)
    is_timed = chosen & (rows.timestamp >= _FIRST_TIME) & (rows.timestamp < _END_OF_TIMES)
    first, last = np.full(n, _END_OF_TIMES), np.full(n, NONE)
    np.minimum.at(first, number[is_timed], rows.timestamp[is_timed])
    np.maximum.at(last, number[is_timed], rows.timestamp[is_timed])
    columns = (
        _n_distinct(number[chosen], rows.path[chosen], n).tolist(),
        _n_distinct(number[has_op], rows.op[has_op], n).tolist(),
        _n_of(number[chosen & rows.is_tensor], n).tolist(),
        _n_of(number[is_reported], n).tolist(),
        _sums(number[is_stored], rows.nbytes[is_stored], n),
        (None if time == _END_OF_TIMES else time for time in first.tolist()),
        (None if time == NONE else time for time in last.tolist()),
    )
    return [Group(*counts) for counts in zip(*columns, strict=True)]


def _n_of(number: Integers, n: int) -> Integers:
    return np.bincount(number, minlength=n)


def _n_distinct(number: Integers, values: Integers, n: int) -> Integers:
    """Return for each group how many different values its rows have."""
    n_values = int(values.max(initial=0)) + 1
    pairs = number * n_values + values
    if n * n_values <= _DENSE * len(pairs):
        is_there = np.zeros((n, n_values), np.bool_)
        is_there.ravel()[pairs] = True
        found: Integers = np.count_nonzero(is_there, axis=1)
        return found
    # Rows of a file follow each other.
    is_new = np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]
    return _n_of(distinct(pairs[is_new]) // n_values, n)


def _sums(number: Integers, values: Integers, n: int) -> list[int]:
    """Return the sum of each group, exactly: what damaged headers claim may be beyond 64 bits."""
    halves = []
    for half in (values >> 32, values & 0xFFFFFFFF):
        sums = np.zeros(n, np.int64)
        np.add.at(sums, number, half)
        halves.append(sums.tolist())
    return [(high << 32) + low for high, low in zip(*halves, strict=True)]
