"""Writes dumps of the same model that the device makes with other switches: overflow, watcher."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
from fastdump.demo._operators import DeviceMemory, DeviceTensor, Operators
from fastdump.demo._recorder import MODEL_NAME
from fastdump.testing import (
    dump_name,
    model_dump_dir,
    op_debug_name,
    op_debug_payload,
    rank_dir,
    write_dump,
    write_op_debug,
)

_TIME: Final = "20260114093042"
_START_US: Final = 1768383042_000000
_STEP_US: Final = 1_000_000
_OPERATOR_US: Final = 400
_STREAM: Final = 3
_MODEL_ID: Final = 1
_ACTIVATIONS_ADDRESS: Final = 0x1250_0000_0000
_STEPS: Final = (0, 1, 2, 3)
_OVERFLOW_STEPS: Final = (1, 3)
_RANKS: Final = (0, 1)
_OVERFLOW_RANK: Final = 1

_FLOAT_OVERFLOW: Final = 0x20
_CONVERSION_OVERFLOW: Final = 0x100
_DEBUG_TASK: Final = 59
_STRAY_NBYTES: Final = 2048

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
        Overflow records, in the order of time.
    operators : tuple of pathlib.Path
        For each of them the dump file of the operator that it names.
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
        The operator whose output was overwritten, and the one after which it was.
    rank, step : int
        Where that happened.
    first_byte, n_bytes : int
        Which bytes of output 0 were overwritten.
    """

    directory: Path
    watched: str
    culprit: str
    rank: int
    step: int
    first_byte: int
    n_bytes: int


class _Recorder:
    """Numbers the operators of a step and says where each is to be written."""

    def __init__(self, directory: Path, rank: int, step: int) -> None:
        root = rank_dir(directory, world_size=len(_RANKS), rank=rank)
        self.place = model_dump_dir(
            root, time=_TIME, device=rank, model=MODEL_NAME, model_id=_MODEL_ID, step=step
        )
        self.now_us = _START_US + step * _STEP_US
        self.task_id = 0

    def next_task(self) -> None:
        self.task_id += 1
        self.now_us += _OPERATOR_US

    def write(
        self,
        op_type: str,
        op_name: str,
        inputs: Sequence[DeviceTensor],
        outputs: Sequence[DeviceTensor],
    ) -> Path:
        name = dump_name(
            op_type, op_name, task_id=self.task_id, stream_id=_STREAM, timestamp=self.now_us
        )
        return write_dump(
            self.place / name,
            inputs=[tensor.spec() for tensor in inputs],
            outputs=[tensor.spec() for tensor in outputs],
            op_name=op_name,
            dump_time=self.now_us,
        )


class _OverflowRecorder(_Recorder):
    """Writes operators that make infinities of finite numbers, each with an overflow record."""

    def __init__(self, directory: Path, rank: int, step: int) -> None:
        super().__init__(directory, rank, step)
        self.written: list[tuple[Path, Path]] = []

    def record(
        self,
        op_type: str,
        op_name: str,
        inputs: Sequence[DeviceTensor],
        outputs: Sequence[DeviceTensor],
    ) -> None:
        self.next_task()
        if not all(map(_is_finite, inputs)) or all(map(_is_finite, outputs)):
            return
        operator = self.write(op_type, op_name, inputs, outputs)
        core = {
            **{"model_id": _MODEL_ID, "stream_id": _STREAM, "task_id": self.task_id},
            **{"pc_start": 0x1008005B0000, "para_base": 0x100800297000},
            **{"kernel_code": 0x1008005B0000, "block_idx": 1},
            "status": _FLOAT_OVERFLOW | _CONVERSION_OVERFLOW,
        }
        name = op_debug_name(task_id=_DEBUG_TASK, stream_id=_STREAM, timestamp=self.now_us + 20)
        record = write_op_debug(
            self.place / name, op_debug_payload(ai_core=core), dump_time=self.now_us + 20
        )
        self.written.append((record, operator))


def _is_finite(tensor: DeviceTensor) -> bool:
    # Masks are made of -Inf: nothing overflowed for that.
    return (
        not np.isposinf(tensor.values.astype(np.float32)).any()
        and not np.isnan(tensor.values.astype(np.float32)).any()
    )


class _WatcherRecorder(_Recorder):
    """Writes the watched operator, and what is at its output's place after each later one."""

    def __init__(self, directory: Path, rank: int, step: int, layer: str, *, is_hit: bool) -> None:
        super().__init__(directory, rank, step)
        self._layer = layer
        self._is_hit = is_hit
        self._watched: tuple[str, DeviceTensor] | None = None
        self.first_byte = 0

    def record(
        self,
        op_type: str,
        op_name: str,
        inputs: Sequence[DeviceTensor],
        outputs: Sequence[DeviceTensor],
    ) -> None:
        self.next_task()
        if op_name == WATCHED_OP:
            (output,) = outputs
            # A copy: the model goes on with the right numbers, and this one is overwritten.
            self._watched = (op_type, replace(output, values=output.values.copy()))
            self.write(op_type, op_name, (), outputs)
        elif self._watched is not None and op_name.startswith(self._layer):
            watched_type, memory = self._watched
            if op_name == CULPRIT_OP and self._is_hit:
                stray = outputs[0].values.reshape(-1).view(np.uint8)[:_STRAY_NBYTES]
                there = memory.values.reshape(-1).view(np.uint8)
                self.first_byte = there.size // 2 // _STRAY_NBYTES * _STRAY_NBYTES
                there[self.first_byte : self.first_byte + stray.size] = stray
            self.write(watched_type, f"{op_name}_To_{WATCHED_OP}", (), (memory,))


def write_overflow_demo(directory: str | os.PathLike[str], *, seed: int = 0) -> OverflowDemo:
    """Write the dump of `write_demo`'s model with the switch for overflows on (``dump_debug``).

    Two ranks run four steps; in two of them an attention score of rank 1 overflows. The device
    writes the operators that overflow, each with a record of what its status was, and no others.

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
    directory = _empty_directory(directory)
    size = DecoderSize.at_scale(1.0)
    weights = DecoderWeights(size, seed)
    written = []
    for step in _STEPS:
        for rank in _RANKS:
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

    Two ranks run two steps. After each operator of a layer's attention the output of the layer
    before it is recorded again; on rank 0, in step 1, one of these operators has written 2,048
    bytes into it.

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
    directory = _empty_directory(directory)
    size = DecoderSize.at_scale(1.0)
    weights = DecoderWeights(size, seed)
    hit = _WatcherRecorder(directory, 0, 1, f"model.layers.{OVERFLOW_LAYER}.", is_hit=True)
    for step in (0, 1):
        for rank in _RANKS:
            is_hit = (rank, step) == (0, 1)
            recorder = (
                hit
                if is_hit
                else _WatcherRecorder(
                    directory, rank, step, f"model.layers.{OVERFLOW_LAYER}.", is_hit=False
                )
            )
            tokens = token_batch(size, seed, rank=rank, step=step, with_outlier=False)
            forward(Operators(DeviceMemory(_ACTIVATIONS_ADDRESS), recorder), weights, tokens)
    return WatcherDemo(directory, WATCHED_OP, CULPRIT_OP, 0, 1, hit.first_byte, _STRAY_NBYTES)


def _empty_directory(directory: str | os.PathLike[str]) -> Path:
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    if any(directory.iterdir()):
        raise FileExistsError(f"{directory} is not empty")
    return directory
