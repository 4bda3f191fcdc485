"""What every part of triage looks at: a table, seen as executions of operators, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fastdump._column import INT64_MAX
from fastdump._stats import PathLike
from fastdump._triage.collectives import Collectives
from fastdump._triage.dump_files import DumpFiles
from fastdump._triage.links import Links
from fastdump._triage.operators import Executions
from fastdump._triage.report import OperatorRun
from fastdump._triage.rows import INPUT, NONE, OUTPUT, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table import StatsTable


class Evidence:
    """A table and what follows from it without a judgement.

    Parameters
    ----------
    table
        Of any level but "header".
    roots
        What the paths in it are relative to; none if its files are not at hand.

    Attributes
    ----------
    tensors : ndarray of bool, shape (rows,)
        Inputs and outputs, each once.
    """

    def __init__(self, table: StatsTable, roots: Sequence[PathLike]) -> None:
        self.table = table
        self.rows = Rows(table)
        batch = table.arrow.to_batches()[0]
        self._paths = batch.column("path")
        self._places = [batch.column(name) for name in ("time", "model", "model_id")]
        self.executions = Executions(self.rows)
        self.files = DumpFiles(table, roots)
        self.links = Links(self.rows, self.executions, self.files)
        self.collectives = Collectives(self.rows, self.executions)
        is_tensor = (self.rows.io == INPUT) | (self.rows.io == OUTPUT)
        self.tensors: NDArray[np.bool_] = is_tensor & (self.executions.of_row != NONE)

    def run(self, execution: int) -> OperatorRun:
        """Return an execution as a record."""
        executions = self.executions
        step, timestamp = int(executions.step[execution]), int(executions.timestamp[execution])
        rank, device = self.rows.lanes[int(executions.lane[execution])]
        op_type, op_name = self.rows.ops[int(executions.op[execution])]
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
