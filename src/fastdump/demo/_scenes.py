"""Writes dumps of the demo model that a device makes with its switches for overflow and watcher."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from fastdump.demo._decoder import (
    OVERFLOW_LAYER,
    DecoderSize,
    DecoderWeights,
    forward,
    token_batch,
)
from fastdump.demo._operators import DeviceMemory, DeviceTensor, Execution, Operators
from fastdump.demo._recorder import (
    MODEL_ID,
    N_RANKS,
    START_US,
    STEP_US,
    STREAM,
    empty_directory,
    step_dir,
    write_operator,
)
from fastdump.testing import op_debug_name, op_debug_payload, write_op_debug

_OPERATOR_US: Final = 400
_ACTIVATIONS_ADDRESS: Final = 0x1250_0000_0000
_STEPS: Final = (0, 1, 2, 3)
_OVERFLOW_STEPS: Final = (1, 3)
_OVERFLOW_RANK: Final = 1
_HIT: Final = (0, 1)  # rank and step

_FLOAT_OVERFLOW: Final = 0x20
_CONVERSION_OVERFLOW: Final = 0x100
_DEBUG_TASK: Final = 59
_STRAY_NBYTES: Final = 2048

_WATCHED_LAYER: Final = f"model.layers.{OVERFLOW_LAYER}."
WATCHED_OP: Final = f"model.layers.{OVERFLOW_LAYER - 1}/Add_mlp"
CULPRIT_OP: Final = f"model.layers.{OVERFLOW_LAYER}.self_attn/RotaryMul_k"


@dataclass(frozen=True)
class OverflowDemo:
    """What `write_overflow_demo` wrote.

    Parameters
    ----------
    directory : pathlib.Path
        Root of the dump.
    records : tuple of pathlib.Path
        Overflow records, in order of time.
    operators : tuple of pathlib.Path
        Dump file of the operator that each record names.
    """

    directory: Path
    records: tuple[Path, ...]
    operators: tuple[Path, ...]


@dataclass(frozen=True)
class WatcherDemo:
    """What `write_watcher_demo` wrote.

    Parameters
    ----------
    directory : pathlib.Path
        Root of the dump.
    watched, culprit : str
        The operator whose output was overwritten, and the operator that overwrote it.
    rank, step : int
        Where that happened.
    first_byte, n_bytes : int
        The bytes of output 0 that were overwritten.
    """

    directory: Path
    watched: str
    culprit: str
    rank: int
    step: int
    first_byte: int
    n_bytes: int


class _Recorder:
    """Numbers the operators of a step, and writes those that are recorded."""

    def __init__(self, directory: Path, rank: int, step: int) -> None:
        self.directory = step_dir(directory, rank, step)
        self.now_us = START_US + step * STEP_US
        self.task_id = 0

    def next_task(self) -> None:
        self.task_id += 1
        self.now_us += _OPERATOR_US

    def write(self, executed: Execution) -> Path:
        return write_operator(
            self.directory,
            executed,
            task_id=self.task_id,
            stream_id=STREAM,
            timestamp=self.now_us,
        )


class _OverflowRecorder(_Recorder):
    """Writes operators that turn finite numbers into bad ones, each with an overflow record."""

    def __init__(self, directory: Path, rank: int, step: int) -> None:
        super().__init__(directory, rank, step)
        self.written: list[tuple[Path, Path]] = []

    def record(self, executed: Execution) -> None:
        self.next_task()
        if not all(map(_is_finite, executed.inputs)) or all(map(_is_finite, executed.outputs)):
            return
        operator = self.write(executed)
        core = {
            **{"model_id": MODEL_ID, "stream_id": STREAM, "task_id": self.task_id},
            **{"pc_start": 0x1008005B0000, "para_base": 0x100800297000},
            **{"kernel_code": 0x1008005B0000, "block_idx": 1},
            "status": _FLOAT_OVERFLOW | _CONVERSION_OVERFLOW,
        }
        name = op_debug_name(task_id=_DEBUG_TASK, stream_id=STREAM, timestamp=self.now_us + 20)
        record = write_op_debug(
            self.directory / name, op_debug_payload(ai_core=core), dump_time=self.now_us + 20
        )
        self.written.append((record, operator))


def _is_finite(tensor: DeviceTensor) -> bool:
    # Neither +Inf nor NaN is less than +Inf; -Inf comes from masks and is no overflow.
    return bool((tensor.values.astype(np.float32) < np.inf).all())


class _WatcherRecorder(_Recorder):
    """Writes the watched operator, and its output again after each operator of the layer."""

    def __init__(self, directory: Path, rank: int, step: int) -> None:
        super().__init__(directory, rank, step)
        self._is_hit = (rank, step) == _HIT
        self._watched: Execution | None = None
        self.first_byte = 0

    def record(self, executed: Execution) -> None:
        self.next_task()
        op_name = executed.op_name
        if op_name == WATCHED_OP:
            (output,) = executed.outputs
            # A copy is overwritten, because the model goes on with the right numbers.
            copy = replace(output, values=output.values.copy())
            self._watched = replace(executed, inputs=(), outputs=(copy,))
            self.write(self._watched)
        elif self._watched is not None and op_name.startswith(_WATCHED_LAYER):
            if op_name == CULPRIT_OP and self._is_hit:
                (memory,) = self._watched.outputs
                stray = executed.outputs[0].values.reshape(-1).view(np.uint8)[:_STRAY_NBYTES]
                there = memory.values.reshape(-1).view(np.uint8)
                self.first_byte = there.size // 2 // _STRAY_NBYTES * _STRAY_NBYTES
                there[self.first_byte : self.first_byte + stray.size] = stray
            self.write(replace(self._watched, op_name=f"{op_name}_To_{WATCHED_OP}"))


def write_overflow_demo(directory: str | os.PathLike[str], *, seed: int = 0) -> OverflowDemo:
    """Write the dump of `write_demo`'s model with the switch for overflows on (``dump_debug``).

    Two ranks run four steps; in two of them an attention score of rank 1 overflows. The device
    writes only the operators that overflow, each with a record of its status.

    Parameters
    ----------
    directory : path
        Where to write; made if it is missing.
    seed : int
        Of weights and tokens.

    Raises
    ------
    FileExistsError
        If `directory` is not empty.
    OSError
        If the dump cannot be written.
    """
    directory = empty_directory(directory)
    size = DecoderSize.at_scale(1.0)
    weights = DecoderWeights(size, seed)
    written = []
    for step in _STEPS:
        for rank in range(N_RANKS):
            overflows = rank == _OVERFLOW_RANK and step in _OVERFLOW_STEPS
            recorder = _OverflowRecorder(directory, rank, step)
            tokens = token_batch(size, seed, rank=rank, step=step, with_outlier=overflows)
            with np.errstate(all="ignore"):
                forward(Operators(DeviceMemory(_ACTIVATIONS_ADDRESS), recorder), weights, tokens)
            written += recorder.written
    records, operators = zip(*written, strict=True)
    return OverflowDemo(directory, records, operators)


def write_watcher_demo(directory: str | os.PathLike[str], *, seed: int = 0) -> WatcherDemo:
    """Write the dump of `write_demo`'s model with ``dump_scene=watcher``.

    Two ranks run two steps. The output of the layer before the middle one is recorded again after
    each operator of the middle layer; on rank 0, in step 1, one of these operators has written
    2,048 bytes into it.

    Parameters
    ----------
    directory : path
        Where to write; made if it is missing.
    seed : int
        Of weights and tokens.

    Raises
    ------
    FileExistsError
        If `directory` is not empty.
    OSError
        If the dump cannot be written.
    """
    directory = empty_directory(directory)
    size = DecoderSize.at_scale(1.0)
    weights = DecoderWeights(size, seed)
    first_byte = 0
    for step in (0, 1):
        for rank in range(N_RANKS):
            recorder = _WatcherRecorder(directory, rank, step)
            tokens = token_batch(size, seed, rank=rank, step=step, with_outlier=False)
            forward(Operators(DeviceMemory(_ACTIVATIONS_ADDRESS), recorder), weights, tokens)
            first_byte += recorder.first_byte  # 0 unless something was overwritten
    return WatcherDemo(directory, WATCHED_OP, CULPRIT_OP, *_HIT, first_byte, _STRAY_NBYTES)
