"""The longest common subsequence of two sequences, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

_MAX_BITS = 1 << 30


def in_order(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return as many positions of equal items as possible, increasing on both sides.

    In sequences that are too long for that, equal items are paired one after another, if both sides
    have equally many.
    """
    n_same = 0
    while n_same < min(len(a), len(b)) and a[n_same] == b[n_same]:
        n_same += 1
    pairs = [(i, i) for i in range(n_same)]
    rest_a, rest_b = a[n_same:], b[n_same:]
    find = _longest if len(rest_a) * len(rest_b) <= _MAX_BITS else _by_count
    return pairs + [(i + n_same, j + n_same) for i, j in find(rest_a, rest_b)]


def _longest(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return a longest common subsequence.

    Bit-parallel, a row of the table an integer: Hyyro, "Bit-parallel LCS-length computation
    revisited", 2004. A bit of row i is 0 where the length grows by one in that column.
    """
    if not a or not b:
        return []
    places: dict[Hashable, int] = {}
    for j, item in enumerate(b):
        places[item] = places.get(item, 0) | 1 << j
    ones = (1 << len(b)) - 1
    row = ones
    rows = []
    for item in a:
        matches = row & places.get(item, 0)
        row = ((row + matches) | (row - matches)) & ones
        rows.append(row)
    pairs = []
    i, j = len(a), len(b)
    while i and j:
        if rows[i - 1] >> (j - 1) & 1:
            j -= 1
            continue
        i -= 1
        if not i or rows[i - 1] >> (j - 1) & 1:
            j -= 1
            pairs.append((i, j))
    return pairs[::-1]


def _by_count(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    n_a, n_b = Counter(a), Counter(b)
    places: dict[Hashable, list[int]] = {}
    for j, item in enumerate(b):
        places.setdefault(item, []).append(j)
    waiting = {item: iter(found) for item, found in places.items() if n_a[item] == n_b[item]}
    return ((i, next(waiting[item])) for i, item in enumerate(a) if item in waiting)
