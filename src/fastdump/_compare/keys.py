"""Columns of two tables as integer keys that are equal where the columns are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

_DENSE = 4
"""A flag for each number that there could be takes less time than sorting, up to so many a row."""


class Keys(NamedTuple):
    """An integer for each row of either table."""

    a: Integers
    b: Integers


class Masks(NamedTuple):
    """A boolean for each row of either table."""

    a: Flags
    b: Flags

    def both(self) -> bool:
        """Tell whether some row is chosen on both sides."""
        return bool(self.a.any() and self.b.any())


def ranks(numbers: Integers) -> tuple[Integers, int]:
    """Return for each number how many distinct ones are less, and how many there are in all."""
    if not len(numbers):
        return numbers, 0
    least, largest = int(numbers.min()), int(numbers.max())
    if largest - least < _DENSE * len(numbers):
        from_least = numbers - least
        is_there = np.zeros(largest - least + 1, np.bool_)
        is_there[from_least] = True
        if is_there.all():
            return from_least, len(is_there)
        rank = np.cumsum(is_there) - 1
        return rank[from_least], int(rank[-1]) + 1
    distinct, found = np.unique(numbers, return_inverse=True)
    return found.astype(np.int64, copy=False), len(distinct)


def combined(*columns: Keys) -> Keys:
    """Return keys that are equal where all columns are, in the order of these; numbers from 0."""
    n_a = len(columns[0].a)
    key = np.zeros(n_a + len(columns[0].b), np.int64)
    n_keys = 1
    for column in columns:
        inner, n_inner = ranks(np.concatenate(column))
        if n_keys * n_inner > np.iinfo(np.int64).max:
            key, n_keys = ranks(key)
        key *= n_inner
        key += inner
        n_keys *= n_inner
    key, _ = ranks(key)
    return Keys(key[:n_a], key[n_a:])


def first_rows(rank: Integers, n: int) -> Integers:
    """Return the first row of each of the numbers from 0 to before `n`, all of which are there."""
    first = np.empty(n, np.int64)
    # Of several values for one place the last remains.
    first[rank[::-1]] = np.arange(len(rank))[::-1]
    return first


def by_appearance(numbers: Integers) -> Integers:
    """Return integers that are equal where numbers are: 0 for the first, and so on."""
    rank, n = ranks(numbers)
    first = first_rows(rank, n)
    number = np.empty(n, np.int64)
    number[np.argsort(first)] = np.arange(n)
    return number[rank]


def key_of(*columns: Integers) -> Integers:
    """Return integers that are equal where all of some columns of one table are.

    They are in the order of the first rows: what the first column has first comes first, and of
    that what the second column has first.
    """
    none = np.empty(0, np.int64)
    return combined(*(Keys(by_appearance(column), none) for column in columns)).a


def bits_of(reals: NDArray[np.float64]) -> Integers:
    """Return integers that are equal where numbers are; NaN is equal to itself."""
    # Zero has two representations, NaN many.
    return np.where(np.isnan(reals), np.nan, reals + 0.0).view(np.int64)


def occurrences(key: Integers) -> Integers:
    """Return for each row how many earlier rows have the same key."""
    if ranks(key)[1] == len(key):
        return np.zeros(len(key), np.int64)
    order = np.argsort(key, kind="stable")
    in_order = key[order]
    is_first = np.ones(len(key), np.bool_)
    is_first[1:] = in_order[1:] != in_order[:-1]
    starts = np.maximum.accumulate(np.where(is_first, np.arange(len(key)), 0))
    found = np.empty(len(key), np.int64)
    found[order] = np.arange(len(key)) - starts
    return found


def joined(keys: Keys) -> Keys:
    """Return the positions of rows with equal keys; of several, the first joins the first."""
    numbered = combined(keys, Keys(occurrences(keys.a), occurrences(keys.b)))
    place = np.full(max(numbered.a.max(initial=-1), numbered.b.max(initial=-1)) + 1, -1)
    place[numbered.b] = np.arange(len(numbered.b))
    b = place[numbered.a]
    a = np.flatnonzero(b >= 0)
    return Keys(a, b[a])
