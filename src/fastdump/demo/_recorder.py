"""Writes the operators of one rank as dump files, in the layout of torchair's graph mode."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from fastdump.demo._operators import DeviceTensor
from fastdump.testing import dump_header, dump_name, model_dump_dir, rank_dir, write_dump

N_RANKS = 2
MODEL_NAME = "demo_decoder"

_MODEL_ID = 1
_START = datetime.datetime(2026, 1, 14, 9, 30, 42, tzinfo=datetime.timezone.utc)
_START_US = int(_START.timestamp()) * 1_000_000
_STEP_US = 1_000_000
_RANK_SKEW_US = 137  # one rank starts this much later than the one before it
_COLLECTIVE_US = 900
_COMPUTE_STREAM = 3
_COLLECTIVE_STREAM = 5


class StepRecorder:
    """Writes a forward pass to the directory of every step that ran it.

    Steps that evaluate the same tokens have the same tensors; they are written together, operator
    by operator, so that no more than one operator's tensors need to be kept.

    Parameters
    ----------
    directory : pathlib.Path
        Where the dump is to be.
    rank : int
        Whose pass this is.
    steps : sequence of int
        The steps; none to write nothing and to learn only `files_per_step` and `bytes_per_step`.

    Attributes
    ----------
    now_us : int
        When the last operator began, in microseconds since step 0 began on rank 0; in later steps
        everything happens as much later.
    files_per_step, bytes_per_step : int
        What each of the steps holds up to now.
    paths : dict of str to pathlib.Path
        File of each operator in the last of the steps, by op_name in order of execution; of the two
        files of a collective operator the second.
    long_named : list of pathlib.Path
        Files that got a name of digits.
    """

    def __init__(self, directory: Path, rank: int, steps: Sequence[int]) -> None:
        root = rank_dir(directory, world_size=N_RANKS, rank=rank)
        time = _START.strftime("%Y%m%d%H%M%S")
        self._places = [
            (
                model_dump_dir(
                    root, time=time, device=rank, model=MODEL_NAME, model_id=_MODEL_ID, step=step
                ),
                _START_US + step * _STEP_US,
            )
            for step in steps
        ]
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

    def record(
        self,
        op_type: str,
        op_name: str,
        inputs: Sequence[DeviceTensor],
        outputs: Sequence[DeviceTensor],
    ) -> None:
        """Write one operator."""
        # The two files of a collective operator belong to one task.
        task_id = self._task_ids.setdefault(op_name, len(self._task_ids) + 1)
        # Durations that look uneven; nothing depends on them.
        self.now_us += 350 + 7919 * task_id % 211
        input_specs = [tensor.spec() for tensor in inputs]
        output_specs = [tensor.spec() for tensor in outputs]
        for directory, start_us in self._places:
            timestamp = start_us + self.now_us
            name = dump_name(
                op_type,
                op_name,
                task_id=task_id,
                stream_id=_COLLECTIVE_STREAM if op_type.startswith("Hcom") else _COMPUTE_STREAM,
                timestamp=timestamp,
            )
            path = write_dump(
                directory / name,
                inputs=input_specs,
                outputs=output_specs,
                op_name=op_name,
                dump_time=timestamp,
            )
            self.paths[op_name] = path
            if path.name != name:
                self.long_named.append(path)
        header = dump_header(
            inputs=input_specs, outputs=output_specs, op_name=op_name, dump_time=_START_US
        )
        self.files_per_step += 1
        self.bytes_per_step += len(header)
        self.bytes_per_step += sum(tensor.payload.nbytes for tensor in (*inputs, *outputs))


def synchronise(recorders: Sequence[StepRecorder]) -> None:
    """Let a collective operator end on all ranks some time after the last one has joined it."""
    end_us = max(recorder.now_us for recorder in recorders) + _COLLECTIVE_US
    for recorder in recorders:
        recorder.now_us = end_us
