"""The executions on other ranks from which bad values came."""

from __future__ import annotations

import numpy as np

from fastdump._triage.infection import Infection
from fastdump._triage.rows import NONE


class Senders:
    """Finds bad executions on other lanes, through collective operators."""

    def __init__(self, infection: Infection) -> None:
        evidence = infection.evidence
        self._infection = infection
        self._rows = evidence.rows
        self._executions = evidence.executions
        self._collectives = evidence.collectives
        self._has_known_outputs = evidence.executions.outputs_in(evidence.rows.known)

    def of(self, execution: int) -> list[int]:
        """Return the executions on other lanes from which this one got its bad outputs."""
        if self._collectives.is_receive[execution]:
            return self._sends_of(execution)
        senders = [peer for peer in self._collectives.peers(execution) if self._brings_bad(peer)]
        return senders or self._bad_where_missing(execution)

    def absent(self, reader: int) -> list[int]:
        """Return bad collective executions on other lanes whose outputs the reader's lane lacks.

        They are of the reader's step, and before it: on the other lane, or in time.
        """
        executions = self._executions
        lane, step = executions.lane[reader], executions.step[reader]
        found = []
        for members in self._collectives.all_members():
            # The inputs of an operation did not come out of it.
            if executions.step[members[0]] != step or reader in members:
                continue
            here = [member for member in members if executions.lane[member] == lane]
            if any(self._has_known_outputs[member] for member in here):
                continue
            found += [
                member
                for member in members
                if self._infection.makes_bad[member] or self._infection.reads_bad[member]
                if member not in here and self._is_before(member, reader)
            ]
        return found

    def bad_elsewhere(self, reader: int) -> list[int]:
        """Return the last bad execution on each other lane, in the step of `reader`, before it."""
        return self._bad_outside({int(self._executions.lane[reader])}, reader)

    def _is_before(self, member: int, reader: int) -> bool:
        """Tell whether the operator of `reader` comes after `member` on the latter's lane."""
        executions = self._executions
        there = (executions.lane == executions.lane[member]) & (
            executions.step == executions.step[member]
        )
        found = np.flatnonzero(there & (executions.op == executions.op[reader]))
        last = found[-1] if len(found) else reader
        return bool(executions.when[last] >= executions.when[member])

    def _brings_bad(self, execution: int) -> bool:
        if self._infection.reads_bad[execution]:
            return True
        if self._executions.n_inputs[execution] and not self._infection.reads_unknown[execution]:
            return False
        # Unknown inputs are taken for bad if something before them was.
        return bool(self._infection.presumed_parents[execution] != NONE)

    def _bad_where_missing(self, execution: int) -> list[int]:
        """Return the last bad execution before this operation on each lane that lacks it.

        It stands for the operation, whose files may be missing there.
        """
        executions = self._executions
        if not self._collectives.is_collective[executions.op[execution]]:
            return []
        members = [execution, *self._collectives.peers(execution)]
        lanes = {int(executions.lane[member]) for member in members}
        return self._bad_outside(lanes, execution)

    def _bad_outside(self, lanes: set[int], execution: int) -> list[int]:
        executions = self._executions
        before = self._infection.makes_bad & (executions.step == executions.step[execution])
        before &= executions.when <= executions.last_when[execution]
        before &= ~np.isin(executions.lane, list(lanes))
        found = np.flatnonzero(before)
        return list(
            dict(zip(executions.lane[found].tolist(), found.tolist(), strict=True)).values()
        )

    def _sends_of(self, execution: int) -> list[int]:
        rows, executions = self._rows, self._executions
        contents = {int(rows.content[row]) for row in self._infection.bad_outputs(execution)}
        is_sender = self._collectives.is_send & self._infection.reads_bad
        is_sender &= executions.lane != executions.lane[execution]
        is_sender &= executions.step == executions.step[execution]
        return [
            sender
            for sender in np.flatnonzero(is_sender).tolist()
            if any(int(rows.content[row]) in contents for row in self._infection.bad_inputs(sender))
        ]
