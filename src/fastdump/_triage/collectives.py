"""Operators that pass values from rank to rank."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._triage.operators import Executions
from fastdump._triage.rows import NONE, Rows, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._triage.infection import Infection

_COLLECTIVES: Final = re.compile(
    r"hcom|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|moedistribute", re.I
)
_RECEIVES: Final = re.compile(r"receive|recv", re.I)
_SENDS: Final = re.compile(r"send", re.I)
_SAME_ON_ALL: Final = re.compile(r"all_?reduce|all_?gather|hcombroadcast", re.I)


class Collectives:
    """Which executions on several lanes are one operation.

    They have type, name and step in common, and are the same in number among these.
    """

    def __init__(self, rows: Rows, executions: Executions) -> None:
        self._rows = rows
        self._executions = executions
        self._is_collective = rows.typed(_COLLECTIVES)
        self._is_receive = rows.typed(_RECEIVES)
        self._is_send = rows.typed(_SENDS)
        self._has_known_outputs = executions.outputs_in(rows.known)
        members = np.flatnonzero(self._is_collective[executions.op])
        self.operation = operations(executions, members)
        self._members: dict[int, list[int]] = defaultdict(list)
        for execution, operation in zip(members.tolist(), self.operation.tolist(), strict=True):
            self._members[operation].append(execution)
        self._operation_of = dict(zip(members.tolist(), self.operation.tolist(), strict=True))

    def is_collective(self, op: int) -> bool:
        """Tell whether an operator (of `Rows.ops`) is a collective one."""
        return bool(self._is_collective[op])

    def is_same_on_all(self, op: int) -> bool:
        """Tell whether all ranks of a group get the same from an operator."""
        return _SAME_ON_ALL.search(self._rows.ops[op][0]) is not None

    def peers(self, execution: int) -> list[int]:
        """Return the same operation's executions on other lanes."""
        operation = self._operation_of.get(execution)
        if operation is None:
            return []
        lane = self._executions.lane
        return [other for other in self._members[operation] if lane[other] != lane[execution]]

    def senders(self, execution: int, infection: Infection) -> list[int]:
        """Return the executions on other lanes from which this one got its bad outputs."""
        if self._is_receive[self._executions.op[execution]]:
            return self._sends_of(execution, infection)
        senders = [peer for peer in self.peers(execution) if self._brings_bad(peer, infection)]
        return senders or self._bad_where_missing(execution, infection)

    def absent(self, reader: int, infection: Infection) -> list[int]:
        """Return bad executions on other lanes of which the lane of `reader` lacks the outputs.

        Only those of its step, and before it: on the other lane, or in time.
        """
        executions = self._executions
        lane, step = executions.lane[reader], executions.step[reader]
        found = []
        for members in self._members.values():
            # What goes into an operation did not come out of it.
            if executions.step[members[0]] != step or reader in members:
                continue
            here = [member for member in members if executions.lane[member] == lane]
            if any(self._has_known_outputs[member] for member in here):
                continue
            found += [
                member
                for member in members
                if infection.makes_bad[member] or infection.reads_bad[member]
                if member not in here and self._is_before(member, reader)
            ]
        return found

    def bad_elsewhere(self, reader: int, infection: Infection) -> list[int]:
        """Return the last bad execution on each other lane, in the step of `reader`, before it."""
        return self._bad_outside({int(self._executions.lane[reader])}, reader, infection)

    def _is_before(self, member: int, reader: int) -> bool:
        """Tell whether the operator of `reader` comes after `member` on the latter's lane."""
        executions = self._executions
        there = (executions.lane == executions.lane[member]) & (
            executions.step == executions.step[member]
        )
        found = np.flatnonzero(there & (executions.op == executions.op[reader]))
        if len(found):
            return bool(executions.when[found[-1]] >= executions.when[member])
        return bool(executions.when[reader] >= executions.when[member])

    def _brings_bad(self, execution: int, infection: Infection) -> bool:
        if infection.reads_bad[execution]:
            return True
        if self._executions.n_inputs[execution] and not infection.reads_unknown[execution]:
            return False
        # What it read is not known: bad if something before it was.
        return bool(infection.presumed_parents[execution] != NONE)

    def _bad_where_missing(self, execution: int, infection: Infection) -> list[int]:
        """Return what was bad before this operation on lanes that lack it in this step.

        Their files may be missing; the last bad execution of each lane stands for it.
        """
        executions = self._executions
        if not self.is_collective(int(executions.op[execution])):
            return []
        lanes = {int(executions.lane[one]) for one in [execution, *self.peers(execution)]}
        return self._bad_outside(lanes, execution, infection)

    def _bad_outside(self, lanes: set[int], execution: int, infection: Infection) -> list[int]:
        executions = self._executions
        before = infection.makes_bad & (executions.step == executions.step[execution])
        before &= executions.when <= executions.last_when[execution]
        before &= ~np.isin(executions.lane, list(lanes))
        found = np.flatnonzero(before)
        return list(
            dict(zip(executions.lane[found].tolist(), found.tolist(), strict=True)).values()
        )

    def _sends_of(self, execution: int, infection: Infection) -> list[int]:
        rows, executions = self._rows, self._executions
        contents = {int(rows.content[row]) for row in infection.bad_outputs(execution)}
        is_sender = self._is_send[executions.op] & infection.reads_bad
        is_sender &= executions.lane != executions.lane[execution]
        is_sender &= executions.step == executions.step[execution]
        return [
            sender
            for sender in np.flatnonzero(is_sender).tolist()
            if any(int(rows.content[row]) in contents for row in infection.bad_inputs(sender))
        ]


def operations(executions: Executions, members: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return for some executions a number that is equal on all lanes for the same operation."""
    lane, step, op = executions.lane[members], executions.step[members], executions.op[members]
    order = np.lexsort((members, op, step, lane))
    return mixed(step, op, _numbers(order, lane, step, op))


def _numbers(order: NDArray[np.int64], *columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of each element among those that are equal in all columns."""
    same = np.ones(len(order), np.bool_)
    same[:1] = False
    for column in columns:
        same[1:] &= np.diff(column[order]) == 0
    place = np.arange(len(order))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = place - np.maximum.accumulate(np.where(same, 0, place))
    return numbers
