"""The makers of inputs in other steps and on other ranks."""

from __future__ import annotations

from collections import Counter

import numpy as np

from fastdump._triage.executions import Executions
from fastdump._triage.links import Links
from fastdump._triage.rows import INPUT, Rows, mixed

_MAX_RUNS = 16


class OtherRuns:
    """The operators that make what operators read, from all executions in which they are known."""

    def __init__(self, rows: Rows, executions: Executions, links: Links) -> None:
        self._rows = rows
        self._executions = executions
        self._links = links
        # A constant says nothing: many tensors have the same content.
        varies = ~(rows.max == rows.min)
        inputs = np.flatnonzero((rows.io == INPUT) & varies & rows.known & ~rows.nan_or_pos_inf)
        slots = mixed(rows.op[inputs], rows.index[inputs])
        order = np.argsort(slots, kind="stable")
        self._inputs, self._slots = inputs[order], slots[order]
        self._makers: dict[int, set[int]] = {}

    def maker_of(self, row: int) -> tuple[int, int] | None:
        """Return operator and index of the output that an input is in other executions.

        None if it is not known in any, or if there is no majority.
        """
        rows, of_row = self._rows, self._executions.of_row
        slot = mixed(rows.op[row : row + 1], rows.index[row : row + 1])[0]
        begin = np.searchsorted(self._slots, slot, "left")
        others = self._inputs[begin : np.searchsorted(self._slots, slot, "right")]
        others = others[of_row[others] != of_row[row]]
        if len(others) > _MAX_RUNS:
            nearest = np.argsort(np.abs(others - row), kind="stable")
            others = others[nearest[:_MAX_RUNS]]
        votes = Counter(
            (int(rows.op[output]), int(rows.index[output]))
            for other in others.tolist()
            if (output := self._links.maker(other)) is not None
        )
        if not votes:
            return None
        (found, n_votes), *rest = votes.most_common(2)
        return None if rest and rest[0][1] == n_votes else found

    def makers_of(self, op: int) -> set[int]:
        """Return the operators that made the inputs of an operator in some of its executions."""
        if op not in self._makers:
            rows = self._rows
            executions = np.flatnonzero(self._executions.op == op)[:_MAX_RUNS]
            outputs = [
                self._links.maker(row)
                for execution in executions.tolist()
                for row in self._executions.inputs_of(execution).tolist()
                if rows.max[row] != rows.min[row]
            ]
            self._makers[op] = {int(rows.op[row]) for row in outputs if row is not None}
        return self._makers[op]
