"""The longest common subsequence of two sequences, in bounded memory."""

from __future__ import annotations

from bisect import bisect_left
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


def in_order_by_anchors(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return positions of equal items, increasing on both sides, in time that grows with length.

    Items that either side has once are paired first, as many as keep their order; what lies between
    two of them is paired by `in_order`. That may be fewer pairs than possible. Where one side lacks
    some of several equal items, it is the first ones: sums end alike, in whatever order they began.
    """
    once_a, once_b = (_positions_of_single(side) for side in (a, b))
    anchors = _increasing([(i, once_b[item]) for item, i in once_a.items() if item in once_b])
    pairs, begin_a, begin_b = [], 0, 0
    for i, j in (*anchors, (len(a), len(b))):
        from_the_end = in_order(a[begin_a:i][::-1], b[begin_b:j][::-1])
        pairs += [(i - 1 - k, j - 1 - m) for k, m in reversed(from_the_end)]
        if i < len(a):
            pairs.append((i, j))
        begin_a, begin_b = i + 1, j + 1
    return pairs


def _positions_of_single(items: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return the position of each item that occurs once, in order."""
    n = Counter(items)
    return {item: i for i, item in enumerate(items) if n[item] == 1}


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return as many of the pairs, which increase in the first number, as increase in both."""
    ends: list[int] = []  # of the best sequence of each length, the last second number
    last: list[int] = []  # and which pair that is
    before: list[int] = []
    for k, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [k]
    found = []
    k = last[-1] if last else -1
    while k >= 0:
        found.append(pairs[k])
        k = before[k]
    return found[::-1]


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
