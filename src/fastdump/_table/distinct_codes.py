"""The distinct ones of many small numbers, without sorting or hashing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

_DENSE: Final = 16
"""A flag for every number that there could be takes less time, up to so many a row."""


def distinct_codes(codes: Integers, n: int) -> tuple[Integers, Integers]:
    """Return what ``np.unique(codes, return_inverse=True)`` does, for numbers from 0 to n - 1."""
    if n > _DENSE * len(codes):
        found, place = np.unique(codes, return_inverse=True)
        return found, place
    is_there = np.zeros(n, np.bool_)
    is_there[codes] = True
    distinct = np.flatnonzero(is_there)
    place_of = np.empty(n, np.int64)
    place_of[distinct] = np.arange(len(distinct))
    return distinct, place_of[codes]


def n_distinct_codes(codes: Integers, n: int) -> int:
    """Return how many distinct numbers there are, of those from 0 to n - 1."""
    is_there = np.zeros(n, np.bool_)
    is_there[codes] = True
    return int(np.count_nonzero(is_there))


def runs_of(*columns: Integers) -> Integers:
    """Return where rows begin that differ from the row before in one of the columns."""
    is_new = np.ones(len(columns[0]), np.bool_)
    if len(is_new):
        is_new[1:] = columns[0][1:] != columns[0][:-1]
    for column in columns[1:]:
        is_new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(is_new)
