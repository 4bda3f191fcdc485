"""What is bad where: rows, and the executions that read or made them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from fastdump._triage.rows import INPUT, NONE, OUTPUT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._triage.links import Links
    from fastdump._triage.operators import Executions
    from fastdump._triage.rows import Rows


class Infection:
    """Rows that are bad in one way, and what that says of executions.

    Parameters
    ----------
    rows, executions, links
        Of the whole table.
    bad
        Which rows are bad, shape (rows,).

    Attributes
    ----------
    bad : ndarray of bool, shape (rows,)
        Inputs and outputs only.
    explained : ndarray of bool, shape (rows,)
        Bad inputs that may be a bad output of an earlier operator.
    reads_bad, makes_bad : ndarray of bool, shape (executions,)
        Executions with a bad input, with a bad output.
    reads_unknown : ndarray of bool, shape (executions,)
        Executions with an input of which not all is known.
    """

    def __init__(
        self, rows: Rows, executions: Executions, links: Links, bad: NDArray[np.bool_]
    ) -> None:
        self.rows = rows
        self.executions = executions
        self.links = links
        self.bad = bad & (executions.of_row != NONE)
        self.explained = links.explained(self.bad)
        self._inputs = self._by_execution(INPUT)
        self._outputs = self._by_execution(OUTPUT)
        self.reads_bad = executions.inputs_in(self.bad)
        self.makes_bad = executions.outputs_in(self.bad)
        self.reads_unknown = executions.inputs_in(~rows.known & ~self.bad)

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
        found = np.flatnonzero(self.bad & (self.rows.io == io))
        found = found[np.argsort(self.rows.index[found], kind="stable")]
        of_row = self.executions.of_row[found].tolist()
        by_execution: dict[int, list[int]] = {}
        for execution, row in zip(of_row, found.tolist(), strict=True):
            by_execution.setdefault(execution, []).append(row)
        return by_execution

    @functools.cached_property
    def presumed_parents(self) -> NDArray[np.int64]:
        """For each execution the one that most likely made what it read, or NONE.

        The last before it in its lane with a bad output.
        """
        executions = self.executions
        parents = np.full(executions.n, NONE)
        makers = np.flatnonzero(self.makes_bad)
        if len(makers) == 0:
            return parents
        place = np.searchsorted(makers, np.arange(executions.n)) - 1
        last = makers[np.maximum(place, 0)]
        in_lane = (place >= 0) & (executions.lane[last] == executions.lane)
        parents[in_lane] = last[in_lane]
        return parents
