"""Dumps of a few operators, written by hand one after another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastdump import testing


class SmallDump:
    """Writes operators in the order of the calls, on any rank and in any step.

    Parameters
    ----------
    root
        Where to.
    n_ranks
        Of the job; one rank has no directory of its own.
    """

    def __init__(self, root: Path, n_ranks: int = 1) -> None:
        self.root = root
        self._n_ranks = n_ranks
        self._n_written = 0

    def op(
        self,
        name: str,
        inputs: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        *,
        rank: int = 0,
        step: int = 0,
        csv: bool = False,
    ) -> Path:
        """Write one operator, "TYPE NAME"; the task is the same in all steps."""
        op_type, _, op_name = name.partition(" ")
        root = self.root
        if self._n_ranks > 1:
            root = testing.rank_dir(root, world_size=self._n_ranks, rank=rank)
        directory = testing.model_dump_dir(
            root, time="20260114093042", device=rank, model="net", model_id=1, step=step
        )
        self._n_written += 1
        timestamp = 1_700_000_000_000_000 + self._n_written
        file_name = testing.dump_name(op_type, op_name, task_id=7, stream_id=1, timestamp=timestamp)
        if csv:
            path = directory / f"{file_name}.csv"
            return testing.write_statistics_csv(path, inputs=inputs, outputs=outputs)
        return testing.write_dump(
            directory / file_name, inputs=inputs, outputs=outputs, op_name=op_name
        )
