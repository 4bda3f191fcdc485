"""What all parts of triage read: a table as arrays, executions and links, made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._arguments import INT64_MAX
from fastdump._triage.collectives import Collectives
from fastdump._triage.executions import Executions
from fastdump._triage.files import DumpFiles
from fastdump._triage.harmless import EMPTY_TYPES
from fastdump._triage.links import Links
from fastdump._triage.other_runs import OtherRuns
from fastdump._triage.records import OperatorRun
from fastdump._triage.rows import INPUT, NONE, OUTPUT, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.stats_table import StatsTable


class Evidence:
    """A table, and what follows from it without any judgement.

    Parameters
    ----------
    table
        A table of any level but "header".

    Attributes
    ----------
    tensors : ndarray of bool, shape (rows,)
        Inputs and outputs, each once.
    uninitialised : ndarray of bool, shape (rows,)
        Memory to which nothing was written: outputs of operators that allocate it, and the inputs
        that read it. What it holds says nothing.
    written : ndarray of bool, shape (rows,)
        The other tensors.
    dumps_inputs, dumps_outputs : ndarray of bool, shape (lanes,)
        Whether any input, or output, of a lane was dumped.
    """

    def __init__(self, table: StatsTable) -> None:
        self.table = table
        self.rows = rows = Rows(table)
        self.executions = executions = Executions(rows)
        self.links = Links(rows, executions)
        self.collectives = Collectives(rows, executions)
        self.other_runs = OtherRuns(rows, executions, self.links)
        self.files = DumpFiles(table)
        is_tensor = (rows.io == INPUT) | (rows.io == OUTPUT)
        self.tensors: NDArray[np.bool_] = is_tensor & (executions.of_row != NONE)
        self.uninitialised = self._uninitialised()
        self.written = self.tensors & ~self.uninitialised
        n_lanes = len(rows.lanes)
        self.dumps_inputs = np.bincount(executions.lane, executions.n_inputs, n_lanes) > 0
        self.dumps_outputs = np.bincount(executions.lane, executions.n_outputs, n_lanes) > 0
        self._paths = table.batch.column("path")
        self._places = [table.batch.column(name) for name in ("time", "model", "model_id")]

    def _uninitialised(self) -> NDArray[np.bool_]:
        rows = self.rows
        allocated = rows.typed(EMPTY_TYPES)[rows.op] & (rows.io == OUTPUT) & self.tensors
        # Zeros, and tensors of which too little is known, are equal to many others.
        tells = ~((rows.max == 0) & (rows.min == 0)) & ~np.isnan(rows.l2norm)
        tells |= rows.nan_or_pos_inf | rows.neg_inf
        return np.asarray(allocated | self.links.read_from(allocated & tells))

    def run(self, execution: int) -> OperatorRun:
        """Return an execution as a record."""
        executions = self.executions
        step, timestamp = int(executions.step[execution]), int(executions.timestamp[execution])
        rank, device = self.rows.lanes[int(executions.lane[execution])]
        op_type, op_name = self.rows.named_ops[int(executions.named[execution])]
        # A whole record of each row would take ten times as long.
        rows = executions.rows_of(execution).tolist()
        paths = [self._paths[row].as_py() for row in rows]
        # Rows that a watcher dump repeats belong to no execution.
        time, model, model_id = (
            column[rows[0]].as_py() if rows else None for column in self._places
        )
        return OperatorRun(
            rank=rank,
            time=time,
            device=device,
            model=model,
            model_id=model_id,
            step=None if step == NONE else step,
            op_type=op_type or None,
            op_name=op_name or None,
            timestamp=None if timestamp == INT64_MAX else timestamp,
            paths=tuple(dict.fromkeys(paths)),
        )

    def run_of_row(self, row: int) -> OperatorRun:
        """Return the execution of a row as a record."""
        return self.run(int(self.executions.of_row[row]))
