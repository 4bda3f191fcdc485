"""Columns of two tables as integer keys that are equal where the columns are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]


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


def codes(a: Sequence[Hashable], b: Sequence[Hashable]) -> Keys:
    """Return integers that are equal where values are."""
    numbers: dict[Hashable, int] = {}
    coded = (
        np.fromiter(
            (numbers.setdefault(value, len(numbers)) for value in side), np.int64, len(side)
        )
        for side in (a, b)
    )
    return Keys(*coded)


def combined(*columns: Keys) -> Keys:
    """Return keys that are equal where all columns are."""
    n_a = len(columns[0].a)
    key = np.zeros(n_a + len(columns[0].b), np.int64)
    for column in columns:
        both = np.concatenate(column)
        # Renumbered at each step, so that the product cannot overflow.
        _, inner = np.unique(both, return_inverse=True)
        _, key = np.unique(key * (len(both) + 1) + inner, return_inverse=True)
    return Keys(key[:n_a].astype(np.int64), key[n_a:].astype(np.int64))


def key_of(*columns: Sequence[Hashable]) -> Integers:
    """Return integers that are equal where all of some columns of one table are."""
    return combined(*(codes(column, ()) for column in columns)).a


def occurrences(key: Integers) -> Integers:
    """Return for each row how many earlier rows have the same key."""
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
    _, a, b = np.intersect1d(numbered.a, numbered.b, assume_unique=True, return_indices=True)
    return Keys(a.astype(np.int64), b.astype(np.int64))
