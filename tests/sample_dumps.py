"""Dumps that tests of several rooms share: the demo dumps, and one of unusual files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from other_writers import NanoTensor, nano_file

import fastdump
from fastdump import testing
from fastdump.demo import write_demo, write_overflow_demo, write_watcher_demo

TIME = 1_700_000_000_000_000

CONDITIONS = (
    *("rank", "time", "device", "model", "model_id", "step"),
    *("op_type", "op_name", "io", "index", "dtype", "status"),
)
"""The names of all conditions on tensors."""


@dataclass(frozen=True)
class Demos:
    """The demo dumps of each kind: all tensors, overflows, and watched outputs."""

    model: Path
    overflow: Path
    watcher: Path


def write_demos(root: Path) -> Demos:
    write_demo(root / "model")
    write_overflow_demo(root / "overflow")
    write_watcher_demo(root / "watcher")
    return Demos(root / "model", root / "overflow", root / "watcher")


def dump_name(op_name: str, at: int, op_type: str = "Add", **parts: Any) -> str:
    """Return the name of a dump file of task 7 and stream 3, `at` microseconds after the start."""
    names = {"task_id": 7, "stream_id": 3, "timestamp": TIME + at, **parts}
    return testing.dump_name(op_type, op_name, **names)


def write_unusual(root: Path) -> Path:
    """Write files that are read in different ways, some of them damaged; return the directory."""
    place = testing.model_dump_dir(
        root, time="20260114093042", device=0, model="net", model_id=1, step=0
    )
    half = np.array([[1, np.nan, np.inf], [-np.inf, 3, 20000]], np.float16)
    real = np.linspace(-4, 4, 24, dtype=np.float32).reshape(2, 3, 4)

    def write(op_name: str, at: int, **tensors: Any) -> Path:
        return testing.write_dump(place / dump_name(op_name, at), op_name=op_name, **tensors)

    write(
        "net/types",
        1,
        inputs=[half, real.astype(ml_dtypes.bfloat16), np.array(5, np.int64)],
        outputs=[
            np.zeros((0, 4), np.float32),
            np.arange(-8, 7).astype(ml_dtypes.int4),
            np.array([0.5, np.nan], ml_dtypes.float8_e4m3fn),
            testing.TensorSpec(b"abcdef", dtype="STRING"),
        ],
        buffers=[testing.BufferSpec(b"buffer")],
        spaces=[testing.BufferSpec(b"space of work")],
    )
    for value in (1, 2, 3):
        write("net/appended", 2, inputs=[half * value], outputs=[real * value], append=True)
    testing.write_ffts_slices(
        place,
        "Add",
        "net/slices",
        threads=3,
        inputs=[real],
        outputs=[real * 2],
        axis=1,
        task_id=7,
        stream_id=3,
        timestamp=TIME + 3,
        context_id=11,
    )
    testing.write_statistics_csv(
        place / f"{dump_name('net/statistics', 10)}.csv", inputs=[real], outputs=[real]
    )
    cut = write("net/cut", 11, inputs=[real], outputs=[real])
    cut.write_bytes(cut.read_bytes()[:-50])
    (place / dump_name("net/rubbish", 12)).write_bytes(b"rubbish")
    (place / dump_name("net/empty", 13)).write_bytes(b"")
    write("net/sizes", 14, outputs=[testing.TensorSpec(real, size=real.nbytes - 8)])
    testing.write_nano(place / dump_name("net/nano", 15), inputs=[real], outputs=[real + 1])
    values = real.tobytes()
    absent = NanoTensor(values, 0, real.shape, address=0)
    (place / dump_name("net/absent", 20)).write_bytes(nano_file([absent])[: -len(values)])
    testing.write_version_1(place / dump_name("net/old", 16), inputs=[real], outputs=[half])
    np.save(
        place / testing.converted_name(dump_name("net/array", 17), "output", 0),
        np.asfortranarray(real[0]),
    )
    exceptions = testing.exception_dump_dir(root, device=0)
    testing.write_dump(
        exceptions / testing.exception_name(stream_id=3, task_id=7, timestamp=20260114093042007),
        inputs=[testing.TensorSpec(b"x" * 24), testing.TensorSpec(real, input_type=2)],
        spaces=[testing.BufferSpec(b"work")],
    )
    # In the name of a file bytes need not be text, and an escape may be meant.
    testing.write_dump(place / f"Add.net_\udcff.7.3.{TIME + 18}", outputs=[half])
    testing.write_dump(place / rf"Add.net_\xfe.7.3.{TIME + 19}", outputs=[half * 2])
    return root


def keys(tensors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return what identifies each row, or each tensor of rows, of one dump."""
    return [(row.path, row.io, row.index, row.offset) for row in tensors]


def same(a: Any, b: Any) -> bool:
    """Tell whether two numbers are equal, or both NaN, or both None."""
    return a == b or (a != a and b != b)


def assert_same_rows(a: fastdump.StatsTable, b: fastdump.StatsTable) -> None:
    """Check that two tables have the same values in the same rows."""
    assert a.columns == b.columns
    assert keys(list(a)) == keys(list(b))
    for name in a.columns:
        np.testing.assert_array_equal(
            np.ma.filled(a[name], -1) if a[name].dtype != object else a[name],
            np.ma.filled(b[name], -1) if b[name].dtype != object else b[name],
            err_msg=name,
        )
