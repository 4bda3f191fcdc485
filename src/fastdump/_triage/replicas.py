"""What should be the same on all ranks and is not: tensors, steps and operators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fastdump._triage.collectives import operations
from fastdump._triage.evidence import Evidence
from fastdump._triage.kinds import MIN_ELEMENTS
from fastdump._triage.order import is_among
from fastdump._triage.rows import INPUT, NONE, OUTPUT, Rows, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PER_RANK: Final = re.compile(r"running_?(?:mean|var)|moving_?(?:mean|var)|cache", re.I)
"""Parts of the names of operators that keep something of their own on every rank."""


class Different(NamedTuple):
    """A tensor of one rank that differs from that of the others.

    Attributes
    ----------
    row : int
        Its row on that rank; if there are two ranks, on the one that comes later.
    other : int
        Its row on another rank.
    is_collective : bool
        Whether a collective operator gave it to all ranks; otherwise it is a parameter.
    """

    row: int
    other: int
    is_collective: bool


def different_replicas(evidence: Evidence) -> list[Different]:
    """Return tensors that are replicated and yet differ, by time, without those that have NaN.

    Two kinds of tensors are replicated: outputs of collective operators that give all ranks the
    same; and inputs that no operator of the dump makes, if they are equal on all ranks in another
    step, or on all ranks but one.
    """
    rows, executions = evidence.rows, evidence.executions
    if len(rows.lanes) < 2:
        return []
    is_gathered = evidence.collectives.is_same_on_all[rows.op] & (rows.io == OUTPUT)
    usable = (is_gathered | _parameters(evidence)) & evidence.tensors & rows.is_float & rows.known
    usable &= (rows.count >= 1) & ~rows.nan_or_pos_inf & ~rows.neg_inf
    members = np.flatnonzero(usable)
    if len(members) == 0:
        return []
    operation = operations(executions, np.arange(executions.n))[executions.of_row[members]]
    groups = _Groups(rows, members, mixed(operation, rows.io[members], rows.index[members]))
    replicated = groups.tensors_equal_everywhere()
    found = []
    for row, other, is_lone in groups.odd_ones():
        # In a large job, ranks may form several groups, each with its own collective operators.
        is_sure = is_lone or (
            len(rows.lanes) == 2
            if is_gathered[row]
            else (int(rows.op[row]), int(rows.index[row])) in replicated
        )
        if is_sure:
            found.append(Different(row, other, bool(is_gathered[row])))
    return sorted(found, key=lambda different: rows.when[different.row])


def _parameters(evidence: Evidence) -> NDArray[np.bool_]:
    """Return the inputs that no operator makes: weights, and other things that ranks share."""
    rows, content = evidence.rows, evidence.links.content
    is_shared = [_PER_RANK.search(name) is None for _, name in rows.ops]
    found = np.array(is_shared, np.bool_)[rows.op] & (rows.io == INPUT)
    # Constant tensors are equal by accident.
    found &= (rows.count >= MIN_ELEMENTS) & (rows.max != rows.min)
    found[found] = ~is_among(content[found], content[rows.io == OUTPUT])
    return np.asarray(found)


class _Groups:
    """Rows of the same tensor of the same operation, of several lanes."""

    def __init__(self, rows: Rows, members: NDArray[np.int64], tensor: NDArray[np.uint64]) -> None:
        self._rows = rows
        order = np.lexsort((rows.when[members], rows.content[members], tensor))
        self._row = members[order]
        is_new = np.diff(tensor[order], prepend=~tensor[order][:1]) != 0
        content = rows.content[self._row]
        self._is_other = is_new | (np.diff(content, prepend=~content[:1]) != 0)
        self._start = np.flatnonzero(is_new)
        self._size = np.diff(np.append(self._start, len(order)))
        self._n_contents = np.add.reduceat(self._is_other.astype(np.int64), self._start)

    def tensors_equal_everywhere(self) -> set[tuple[int, int]]:
        """Return operator and index of tensors that are equal on all lanes in some step."""
        equal = (self._n_contents == 1) & (self._size == len(self._rows.lanes))
        row = self._row[self._start[equal]]
        return set(zip(self._rows.op[row].tolist(), self._rows.index[row].tolist(), strict=True))

    def odd_ones(self) -> list[tuple[int, int, bool]]:
        """Return a row that differs, one of the others, and whether those are two or more.

        Only groups with exactly two contents, one of them on a single lane, have an odd one.
        """
        when = self._rows.when
        found = []
        two = self._n_contents == 2
        for start, size in zip(self._start[two].tolist(), self._size[two].tolist(), strict=True):
            group = self._row[start : start + size]
            n_first = 1 + int(np.argmax(self._is_other[start + 1 : start + size]))
            if size == 2:
                first, second = sorted(group.tolist(), key=lambda row: int(when[row]))
                found.append((second, first, False))
            elif n_first == 1:
                found.append((int(group[0]), int(group[-1]), True))
            elif n_first == size - 1:
                found.append((int(group[-1]), int(group[0]), True))
        return found


def missing_steps(evidence: Evidence) -> dict[int, list[int]]:
    """Return the steps that each lane lacks and another has, for lanes that lack any."""
    executions, n_lanes = evidence.executions, len(evidence.rows.lanes)
    has_step = executions.step != NONE
    steps = np.unique(executions.step[has_step])
    if n_lanes < 2 or len(steps) == 0:
        return {}
    there = np.zeros((n_lanes, len(steps)), np.bool_)
    place = np.searchsorted(steps, executions.step[has_step])
    there[executions.lane[has_step], place] = True
    # A lane whose paths tell no step cannot be compared.
    lacking = {lane: steps[~there[lane]].tolist() for lane in range(n_lanes) if there[lane].any()}
    return {lane: missing for lane, missing in lacking.items() if missing}


class Lacking(NamedTuple):
    """An operator that a lane lacks in a step, and an execution of it on another lane."""

    lane: int
    step: int
    op: int
    elsewhere: int


def missing_operators(evidence: Evidence, not_compared: dict[int, list[int]]) -> list[Lacking]:
    """Return operators that a lane lacks in a step although others have them, by time.

    The lane has to have them in another step, or to be the only one that lacks them while at least
    two have them. Steps that a lane lacks as a whole are `not_compared`. Where counters shift,
    ranks take branches, and none lacks what others have.
    """
    executions = evidence.executions
    n_lanes, n_ops = len(evidence.rows.lanes), len(evidence.rows.ops)
    if n_lanes < 2 or evidence.rows.counters_shift:
        return []
    pairs, first, pair = np.unique(
        mixed(executions.step, executions.op), return_index=True, return_inverse=True
    )
    there = np.zeros((len(pairs), n_lanes), np.bool_)
    there[pair, executions.lane] = True
    ever = np.zeros((n_ops, n_lanes), np.bool_)
    ever[executions.op, executions.lane] = True
    step, op = executions.step[first], executions.op[first]
    absent = ~there
    for lane, steps in not_compared.items():
        absent[np.isin(step, steps), lane] = False
    is_alone = (absent.sum(axis=1) == 1) & (there.sum(axis=1) >= 2)
    absent &= ever[op] | is_alone[:, None]
    found = [
        Lacking(lane, int(step[place]), int(op[place]), int(first[place]))
        for place, lane in np.argwhere(absent).tolist()
    ]
    return sorted(found, key=lambda lacking: executions.when[lacking.elsewhere])
