"""Tensors in private formats brought to host order, beside numpy and a plain copy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import require_room
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import ALL_THREADS, LAYOUT_NBYTES, ROUNDS, THREADS, binary_size
from benchmarks.side_by_side import side_by_side
from fastdump import testing

Array = npt.NDArray[Any]

_LEAST_RATIO = 0.30
_LEAST_TIMES = 5
_LEAST_OF_STORED = 0.70


@dataclass(frozen=True)
class Case:
    """A stored shape, and how numpy gets at the host array."""

    what: str
    format: str
    dtype: str
    shape: tuple[int, ...]  # the stored one; the first dimension grows to the size that is wanted
    padding: int  # channels, or rows and columns, that the host array has fewer than are stored
    order: str | None
    host_shape: Callable[[tuple[int, ...], int], tuple[int, ...]]
    transposed: Callable[[Array], Array]  # a view of what is stored, blocks not yet joined
    is_required: bool = False


def _nchw(shape: tuple[int, ...], padding: int) -> tuple[int, ...]:
    n, c1, h, w, c0 = shape
    return (n, c1 * c0 - padding, h, w)


def _nhwc(shape: tuple[int, ...], padding: int) -> tuple[int, ...]:
    n, c1, h, w, c0 = shape
    return (n, h, w, c1 * c0 - padding)


def _weights(shape: tuple[int, ...], padding: int) -> tuple[int, ...]:
    x, n1, n0, c0 = shape
    return (n1 * n0, x // 9 * c0 - padding, 3, 3)


def _matrices(shape: tuple[int, ...], padding: int) -> tuple[int, ...]:
    n, w1, h1, h0, w0 = shape
    return (n, h1 * h0 - padding, w1 * w0 - padding)


def _nchw_view(stored: Array) -> Array:
    return stored.transpose(0, 1, 4, 2, 3)


def _nhwc_view(stored: Array) -> Array:
    return stored.transpose(0, 2, 3, 1, 4)


def _weights_view(stored: Array) -> Array:
    x, n1, n0, c0 = stored.shape
    return stored.reshape(x // 9, 3, 3, n1, n0, c0).transpose(3, 4, 0, 5, 1, 2)


def _matrices_view(stored: Array) -> Array:
    return stored.transpose(0, 2, 3, 1, 4)


_CASES = [
    Case("FRACTAL_NZ", "FRACTAL_NZ", "float16", (1, 512, 512, 16, 16), 8, None, _matrices,
         _matrices_view, is_required=True),
    Case("FRACTAL_NZ, odd columns", "FRACTAL_NZ", "float16", (1, 125, 125, 16, 16), 5, None,
         _matrices, _matrices_view),
    Case("NC1HWC0 to NCHW", "NC1HWC0", "float16", (1, 32, 56, 56, 16), 12, "NCHW", _nchw,
         _nchw_view, is_required=True),
    Case("NC1HWC0 to NCHW, 7 x 7", "NC1HWC0", "float16", (1, 128, 7, 7, 16), 12, "NCHW", _nchw,
         _nchw_view),
    Case("NC1HWC0 to NHWC", "NC1HWC0", "float16", (1, 32, 56, 56, 16), 12, "NHWC", _nhwc,
         _nhwc_view),
    Case("NC1HWC0 to NCHW, float32", "NC1HWC0", "float32", (1, 32, 56, 56, 16), 12, "NCHW", _nchw,
         _nchw_view),
    Case("NC1HWC0 to NCHW, int8", "NC1HWC0", "int8", (1, 16, 56, 56, 32), 12, "NCHW", _nchw,
         _nchw_view),
    Case("FRACTAL_Z to NCHW, 3 x 3", "FRACTAL_Z", "float16", (288, 1, 16, 16), 12, "NCHW",
         _weights, _weights_view),
]  # fmt: skip


def _grown(case: Case) -> tuple[int, ...]:
    # Of weights, the dimension of the outputs; of all others, the batch.
    axis = 1 if case.format == "FRACTAL_Z" else 0
    nbytes = math.prod(case.shape) * np.dtype(case.dtype).itemsize
    return tuple(
        n * max(1, LAYOUT_NBYTES // nbytes) if i == axis else n for i, n in enumerate(case.shape)
    )


@pytest.mark.parametrize(
    ("case", "threads"),
    [
        pytest.param(case, threads, id=f"{case.what.replace(' ', '-')}-{threads}")
        for case in _CASES
        for threads in THREADS
    ],
)
def test_layout(benchmark: BenchmarkFixture, report: Report, case: Case, threads: int) -> None:
    shape = _grown(case)
    host_shape = case.host_shape(shape, case.padding)
    crop = tuple(slice(n) for n in host_shape)
    nbytes = math.prod(shape) * np.dtype(case.dtype).itemsize
    # Bytes of no NaN, which is not equal to itself.
    stored = (np.arange(nbytes, dtype=np.uint32) % 0x3D).astype(np.uint8).view(case.dtype)
    stored = stored.reshape(shape)
    transposed = case.transposed(stored)
    padded_shape = case.host_shape(shape, 0)
    padded = np.zeros(padded_shape, case.dtype)
    host = np.zeros(host_shape, case.dtype)
    copy = np.zeros(host_shape, case.dtype)

    def to_logical() -> None:
        fastdump.to_logical(
            stored,
            format=case.format,
            origin_shape=host_shape,
            origin_format=case.order,
            out=host,
            threads=threads,
        )

    def with_numpy() -> None:
        np.copyto(padded.reshape(transposed.shape), transposed)

    def simply() -> Array:
        return np.ascontiguousarray(transposed.reshape(padded_shape)[crop])

    to_logical()
    assert np.array_equal(host, simply())
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", to_logical),
        {
            "copy": lambda: np.copyto(copy, host),
            "numpy": with_numpy,
            "simple numpy": simply,
        },
    )

    ratio = timings.quotient("copy", "fastdump")
    times_simple = timings.quotient("simple numpy", "fastdump")
    required = []
    if case.is_required and threads == ALL_THREADS:
        required = [
            Requirement(f"ratio {_LEAST_RATIO:.2f}", round(ratio, 2) >= _LEAST_RATIO),
            Requirement(f"{_LEAST_TIMES} x simple numpy", times_simple >= _LEAST_TIMES),
        ]
    report.add(
        benchmark,
        Row(
            section="layouts",
            what=case.what,
            size=binary_size(LAYOUT_NBYTES),
            threads=threads,
            gb_per_s=host.nbytes / timings.median("fastdump") / 1e9,
            plain_read_gb_per_s=host.nbytes / timings.median("copy") / 1e9,
            ratio=ratio,
            peer_gb_per_s=host.nbytes / timings.median("numpy") / 1e9,
            times_peer=timings.quotient("numpy", "fastdump"),
            times_simple_numpy=times_simple,
            required=required,
        ),
    )


_STATISTICS_OF = (
    "FRACTAL_NZ",
    "FRACTAL_NZ, odd columns",
    "NC1HWC0 to NCHW",
    "FRACTAL_Z to NCHW, 3 x 3",
)


@pytest.fixture(scope="module")
def stored_file(request: pytest.FixtureRequest, directory: Path) -> Iterator[Path]:
    """Return a file with a tensor in the private format of the case that the parameter names."""
    (case,) = (case for case in _CASES if case.what == request.param)
    shape = _grown(case)
    require_room(directory, LAYOUT_NBYTES)
    values = np.random.default_rng(0).standard_normal(math.prod(shape), np.float32)
    origin_shape = case.host_shape(shape, case.padding)
    spec = testing.TensorSpec(
        values.astype(case.dtype).reshape(shape), format=case.format, origin_shape=origin_shape
    )
    path = directory / testing.dump_name("Op", "private", task_id=1, stream_id=1, timestamp=1)
    testing.write_dump(path, outputs=[spec])
    yield path
    path.unlink()


@pytest.mark.parametrize(
    ("stored_file", "what", "threads"),
    [
        pytest.param(what, what, threads, id=f"{what.replace(' ', '-')}-{threads}")
        for what in _STATISTICS_OF
        for threads in THREADS
    ],
    indirect=["stored_file"],
)
def test_logical_statistics(
    benchmark: BenchmarkFixture, report: Report, stored_file: Path, what: str, threads: int
) -> None:
    (row,) = fastdump.stats(stored_file, logical=True)
    assert (row.status, row.count) == ("ok", math.prod(row.origin_shape or ()))
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", lambda: fastdump.stats(stored_file, logical=True, threads=threads)),
        {"stored": lambda: fastdump.stats(stored_file, threads=threads)},
    )

    times_stored = timings.quotient("stored", "fastdump")
    nbytes = stored_file.stat().st_size
    report.add(
        benchmark,
        Row(
            section="logical statistics",
            what=what,
            size=binary_size(LAYOUT_NBYTES),
            threads=threads,
            gb_per_s=nbytes / timings.median("fastdump") / 1e9,
            peer_gb_per_s=nbytes / timings.median("stored") / 1e9,
            times_peer=times_stored,
            required=[
                Requirement(
                    f"{_LEAST_OF_STORED:.2f} x peer", round(times_stored, 2) >= _LEAST_OF_STORED
                )
            ],
        ),
    )
