"""Rows put in order, numbered by their keys, and counted among those with equal ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def in_order(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return what `numpy.lexsort` does; rows that are in order already take less time."""
    n = len(columns[0])
    undecided, is_sorted = np.ones(max(n - 1, 0), np.bool_), True
    for column in reversed(columns):
        is_sorted = not (undecided & (column[1:] < column[:-1])).any()
        if not is_sorted:
            break
        undecided &= column[1:] == column[:-1]
    return np.arange(n) if is_sorted else np.lexsort(columns)


def numbered(keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row of each distinct key, and for each row the number of its key.

    Numbers are in the order of appearance.
    """
    # Rows with one key mostly follow each other.
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(keys)))
    in_size = np.sort(keys[starts])
    if not (in_size[1:] == in_size[:-1]).any():
        return starts, run
    _, first, number = np.unique(keys[starts], return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return starts[first[order]], place[number][run]


def positions(order: NDArray[np.int64], *columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of each row among those that are equal in all columns.

    `order` sorts the rows by these columns, and equal ones as they are to be counted.
    """
    is_first = np.zeros(len(order), np.bool_)
    is_first[:1] = True
    for column in columns:
        is_first[1:] |= np.diff(column[order]) != 0
    place = np.arange(len(order))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return numbers


def is_among(numbers: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are among others, as `numpy.isin` does, which hashes: this takes less.

    Sorting of integers is fast, and searching in what fits into the cache is, too.
    """
    in_size = np.sort(others)
    if not len(in_size):
        return np.zeros(len(numbers), np.bool_)
    place = np.minimum(np.searchsorted(in_size, numbers), len(in_size) - 1)
    return np.asarray(in_size[place] == numbers)
