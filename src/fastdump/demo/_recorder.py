"""Writes the operators of one rank as dump files, in the layout of torchair's graph mode."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fastdump.demo._operators import Execution
from fastdump.testing import dump_header, dump_name, model_dump_dir, rank_dir, write_dump

N_RANKS = 2
MODEL_ID = 1
STREAM = 3
START_US = 1768383042_000000  # 2026-01-14 09:30:42 UTC
STEP_US = 1_000_000

_TIME = "20260114093042"
_RANK_SKEW_US = 137  # one rank starts this much later than the one before it
_COLLECTIVE_US = 900
_COLLECTIVE_STREAM = 5


def empty_directory(path: str | os.PathLike[str]) -> Path:
    """Make a directory if it is missing; raise FileExistsError if it is not empty."""
    directory = Path(path)
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise FileExistsError(f"{directory} is not empty")
    return directory


def step_dir(directory: Path, rank: int, step: int) -> Path:
    """Return the directory of one step on one rank."""
    root = rank_dir(directory, world_size=N_RANKS, rank=rank)
    return model_dump_dir(
        root, time=_TIME, device=rank, model="demo_decoder", model_id=MODEL_ID, step=step
    )


def write_operator(
    directory: Path, executed: Execution, *, task_id: int, stream_id: int, timestamp: int
) -> Path:
    """Write the dump file of one operator; return its path."""
    op_type, op_name = executed.op_type, executed.op_name
    name = dump_name(op_type, op_name, task_id=task_id, stream_id=stream_id, timestamp=timestamp)
    return write_dump(
        directory / name,
        inputs=[tensor.spec() for tensor in executed.inputs],
        outputs=[tensor.spec() for tensor in executed.outputs],
        op_name=op_name,
        dump_time=timestamp,
    )


class StepRecorder:
    """Writes a forward pass to the directory of each step that ran it.

    Steps that evaluate the same tokens have the same tensors. They are written together, operator
    by operator, so that the tensors of only one operator need to be kept.

    Parameters
    ----------
    directory : pathlib.Path
        Root of the dump.
    rank : int
        The rank that runs the pass.
    steps : sequence of int
        The steps. Without any, nothing is written, and only files and bytes are counted.

    Attributes
    ----------
    now_us : int
        When the last operator began, in microseconds since the step began on rank 0.
    n_steps : int
        The number of steps.
    files_per_step, bytes_per_step : int
        Files and bytes that each step has up to now.
    paths : dict of str to pathlib.Path
        File of each operator in the last step, by op_name in order of execution; for a collective
        operator, which has two files, the second.
    long_named : list of pathlib.Path
        Files that got a name of digits.
    """

    def __init__(self, directory: Path, rank: int, steps: Sequence[int]) -> None:
        self._places = [
            (step_dir(directory, rank, step), START_US + step * STEP_US) for step in steps
        ]
        self.n_steps = len(steps)
        self.now_us = rank * _RANK_SKEW_US
        self._task_ids: dict[str, int] = {}
        self.files_per_step = 0
        self.bytes_per_step = 0
        self.paths: dict[str, Path] = {}
        self.long_named: list[Path] = []

    @property
    def op_names(self) -> list[str]:
        """The operators that were recorded, in order of execution."""
        return list(self._task_ids)

    def record(self, executed: Execution) -> None:
        """Write one operator."""
        op_name = executed.op_name
        # The two files of a collective operator belong to one task.
        task_id = self._task_ids.setdefault(op_name, len(self._task_ids) + 1)
        # Durations that look uneven; nothing depends on them.
        self.now_us += 350 + 7919 * task_id % 211
        for directory, start_us in self._places:
            path = write_operator(
                directory,
                executed,
                task_id=task_id,
                stream_id=_COLLECTIVE_STREAM if executed.op_type.startswith("Hcom") else STREAM,
                timestamp=start_us + self.now_us,
            )
            self.paths[op_name] = path
            if path.name.isdecimal():
                self.long_named.append(path)
        header = dump_header(
            inputs=[tensor.spec() for tensor in executed.inputs],
            outputs=[tensor.spec() for tensor in executed.outputs],
            op_name=op_name,
            dump_time=START_US,
        )
        tensors = (*executed.inputs, *executed.outputs)
        self.files_per_step += 1
        self.bytes_per_step += len(header) + sum(tensor.payload.nbytes for tensor in tensors)


def synchronise(recorders: Sequence[StepRecorder]) -> None:
    """End a collective operator on all ranks, some time after the last of them has joined it."""
    end_us = max(recorder.now_us for recorder in recorders) + _COLLECTIVE_US
    for recorder in recorders:
        recorder.now_us = end_us
