"""Executions whose names carry a counter that runs through the step, aligned as two sequences.

Eager runs number operators one after another. A cast that only one side has shifts every later
number, and the same name then stands for another operator. Module path, kind and shapes tell more;
what the other side lacks is left out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._compare.content import paired_by_content
from fastdump._compare.keys import occurrences, ranks
from fastdump._compare.names import without_counter
from fastdump._compare.operator_kinds import passes_values_on
from fastdump._compare.order import in_order, in_order_by_anchors

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MIN_EXECUTIONS = 4
_FIRST = 100
"""How many names are looked at before all are."""
_MIN_COUNTED = 0.9
_MIN_ASCENDING = 0.95
_START = -1
"""The neighbour of what ran before everything that is paired."""


class Execution(NamedTuple):
    """One execution of an operator.

    Attributes
    ----------
    op_type, op_name
        The operator.
    tensors
        Of each tensor: "input" or "output", its index, and its logical shape.
    rows
        Its rows in the table, one for each tensor.
    """

    op_type: str | None
    op_name: str | None
    tensors: tuple[tuple[str | None, int, tuple[int, ...] | None], ...]
    rows: Sequence[int]


def where_counters_run(where: NDArray[np.int64], counter: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places where nearly all names end with a number, and these increase.

    Parameters
    ----------
    where, counter : ndarray of int64, shape (executions,)
        In the order of execution: the rank and step as one number, and the number that the name
        ends with, -1 if there is none.
    """
    group, n_groups = ranks(where)
    in_groups = np.argsort(group, kind="stable")
    group, counter = group[in_groups], counter[in_groups]
    # A few names tell of most places that counters do not run there.
    run = _counters_run(group, counter, n_groups)
    first = occurrences(group) < _FIRST
    run &= _counters_run(group[first], counter[first], n_groups)
    return np.unique(where)[run]


def _counters_run(
    group: NDArray[np.int64], counter: NDArray[np.int64], n_groups: int
) -> NDArray[np.bool_]:
    n = np.bincount(group, minlength=n_groups)
    counted = counter >= 0
    of_counted, counter = group[counted], counter[counted]
    n_counted = np.bincount(of_counted, minlength=n_groups)
    ascends = (of_counted[1:] == of_counted[:-1]) & (counter[1:] > counter[:-1])
    n_ascending = np.bincount(of_counted[1:][ascends], minlength=n_groups)
    is_counted = (n >= _MIN_EXECUTIONS) & (n_counted >= _MIN_COUNTED * n)
    return np.asarray(is_counted & (n_ascending >= _MIN_ASCENDING * (n_counted - 1)))


def in_sequence(
    a: Sequence[Execution],
    b: Sequence[Execution],
    alike: Callable[[Execution, Execution], bool],
) -> list[tuple[int, int]]:
    """Return positions of executions that belong together, each in at most one pair.

    Parameters
    ----------
    a, b
        Executions in the order in which they ran.
    alike
        Tells whether two of them read what is alike. It is asked only about operators of which one
        side has more than the other.

    Notes
    -----
    First come operators that compute, as many as possible in one order; where one side has more of
    a kind, those that read what is alike. Then come those that are
    left between the same two neighbours, with whatever shapes, and those of which both sides have
    equally many left in a module, wherever it ran: layers may have changed places. Casts and copies
    come last, between the same neighbours.
    """
    sides = _Sequences(a, b)
    sides.align(with_shapes=True)
    if 2 * len(sides.pairs) < min(map(len, sides.computing())):
        # The two runs have batches of different sizes.
        sides.align(with_shapes=False)
    sides.prefer_alike(alike)
    sides.fill_gaps(sides.computing(), with_shapes=False)
    sides.pair_moved()
    sides.fill_gaps(sides.passing(), with_shapes=True)
    return sorted(sides.pairs.items())


class _Sequences:
    """Two sequences of executions, and which of `a` is paired with which of `b`."""

    def __init__(self, a: Sequence[Execution], b: Sequence[Execution]) -> None:
        self._a, self._b = a, b
        self._passes = tuple([passes_values_on(op.op_type) for op in side] for side in (a, b))
        self.pairs: dict[int, int] = {}

    def computing(self) -> tuple[list[int], list[int]]:
        """Return the positions of operators that compute."""
        a, b = ([i for i, passes in enumerate(side) if not passes] for side in self._passes)
        return a, b

    def passing(self) -> tuple[list[int], list[int]]:
        """Return the positions of operators that only pass values on."""
        a, b = ([i for i, passes in enumerate(side) if passes] for side in self._passes)
        return a, b

    def align(self, *, with_shapes: bool) -> None:
        """Pair operators that compute, as many as keep their order."""
        among_a, among_b = self.computing()
        tokens = self._tokens(among_a, among_b, with_shapes=with_shapes)
        self.pairs = {among_a[i]: among_b[j] for i, j in in_order_by_anchors(*tokens)}

    def prefer_alike(self, alike: Callable[[Execution, Execution], bool]) -> None:
        """Pair operators that read what is alike, where one side has more of a kind."""
        tokens_a, tokens_b = (
            [
                None if passes else _token(op, with_shapes=True)
                for op, passes in zip(*of, strict=True)
            ]
            for of in zip((self._a, self._b), self._passes, strict=True)
        )
        self.pairs = paired_by_content(
            self.pairs, (tokens_a, tokens_b), lambda i, j: alike(self._a[i], self._b[j])
        )

    def fill_gaps(self, among: tuple[list[int], list[int]], *, with_shapes: bool) -> None:
        """Pair some of the executions that are left between the same two neighbours."""
        gaps_a = _gaps(self.pairs, among[0])
        gaps_b = _gaps({j: i for i, j in self.pairs.items()}, among[1])
        for neighbour, left_a in gaps_a.items():
            left_b = gaps_b.get(self.pairs.get(neighbour, _START), [])
            tokens = self._tokens(left_a, left_b, with_shapes=with_shapes)
            self.pairs |= {left_a[i]: left_b[j] for i, j in in_order(*tokens)}

    def pair_moved(self) -> None:
        """Pair operators of which both sides have equally many left, wherever their module ran."""
        partners = set(self.pairs.values())
        among_a, among_b = self.computing()
        left_a = [i for i in among_a if i not in self.pairs and _has_module(self._a[i])]
        left_b = [j for j in among_b if j not in partners and _has_module(self._b[j])]
        tokens_a, tokens_b = self._tokens(left_a, left_b, with_shapes=True)
        n_a, n_b = Counter(tokens_a), Counter(tokens_b)
        waiting: dict[Hashable, list[int]] = {}
        for j, token in zip(left_b, tokens_b, strict=True):
            waiting.setdefault(token, []).append(j)
        seen: Counter[Hashable] = Counter()
        for i, token in zip(left_a, tokens_a, strict=True):
            if n_a[token] == n_b[token]:
                self.pairs[i] = waiting[token][seen[token]]
                seen[token] += 1

    def _tokens(
        self, among_a: Sequence[int], among_b: Sequence[int], *, with_shapes: bool
    ) -> tuple[list[Hashable], list[Hashable]]:
        a = [_token(self._a[i], with_shapes=with_shapes) for i in among_a]
        b = [_token(self._b[j], with_shapes=with_shapes) for j in among_b]
        return a, b


def _has_module(op: Execution) -> bool:
    return bool((op.op_name or "").rpartition("/")[0])


def _token(op: Execution, *, with_shapes: bool) -> Hashable:
    tensors = op.tensors if with_shapes else tuple(tensor[:2] for tensor in op.tensors)
    return without_counter(op.op_name), op.op_type, tensors


def _gaps(paired: Mapping[int, int], among: Sequence[int]) -> dict[int, list[int]]:
    """Return the positions that are not paired, by the last paired one before them."""
    positions = sorted(paired)
    gaps: dict[int, list[int]] = {}
    for i in among:
        if i not in paired:
            place = bisect_left(positions, i)
            gaps.setdefault(positions[place - 1] if place else _START, []).append(i)
    return gaps
