"""Rows that are bad in one way, and the executions that read or made them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from fastdump._triage.evidence import Evidence
from fastdump._triage.rows import INPUT, NONE, OUTPUT

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Infection:
    """Rows that are bad in one way, and what that says of executions.

    Parameters
    ----------
    evidence
        The table.
    bad
        Which rows are bad, shape (rows,).

    Attributes
    ----------
    bad : ndarray of bool, shape (rows,)
        Inputs and outputs only, of memory to which something was written.
    explained : ndarray of bool, shape (rows,)
        Bad inputs that may be a bad output of an earlier operator.
    reads_bad, makes_bad : ndarray of bool, shape (executions,)
        Executions with a bad input, with a bad output.
    reads_unknown : ndarray of bool, shape (executions,)
        Executions with an input that is neither bad nor wholly known.
    """

    def __init__(self, evidence: Evidence, bad: NDArray[np.bool_]) -> None:
        executions = evidence.executions
        self.evidence = evidence
        self.bad = bad & evidence.written
        self.explained = evidence.links.explained(self.bad)
        self._inputs = self._by_execution(INPUT)
        self._outputs = self._by_execution(OUTPUT)
        self.reads_bad = executions.inputs_in(self.bad)
        self.makes_bad = executions.outputs_in(self.bad)
        self.reads_unknown = executions.inputs_in(~evidence.rows.known & ~self.bad)

    def bad_inputs(self, execution: int) -> list[int]:
        """Return the bad inputs of an execution."""
        return self._inputs.get(execution, [])

    def bad_outputs(self, execution: int) -> list[int]:
        """Return the bad outputs of an execution."""
        return self._outputs.get(execution, [])

    def unexplained_inputs(self, execution: int) -> list[int]:
        """Return the bad inputs of an execution that no bad output explains."""
        return [row for row in self.bad_inputs(execution) if not self.explained[row]]

    def _by_execution(self, io: int) -> dict[int, list[int]]:
        rows = self.evidence.rows
        found = np.flatnonzero(self.bad & (rows.io == io))
        found = found[np.argsort(rows.index[found], kind="stable")]
        of_row = self.evidence.executions.of_row[found].tolist()
        by_execution: dict[int, list[int]] = {}
        for execution, row in zip(of_row, found.tolist(), strict=True):
            by_execution.setdefault(execution, []).append(row)
        return by_execution

    @functools.cached_property
    def presumed_parents(self) -> NDArray[np.int64]:
        """For each execution the last one before it in its lane with a bad output, or NONE.

        It most likely made what was read.
        """
        executions = self.evidence.executions
        parents = np.full(executions.n, NONE)
        makers = np.flatnonzero(self.makes_bad)
        if len(makers) == 0:
            return parents
        place = np.searchsorted(makers, np.arange(executions.n)) - 1
        last = makers[np.maximum(place, 0)]
        in_lane = (place >= 0) & (executions.lane[last] == executions.lane)
        parents[in_lane] = last[in_lane]
        return parents
