"""Tensors as arrays: how soon the first element is there, and how fast packed ones are unpacked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import elements, large_file, write_sparse_files
from benchmarks.hifloat8 import hifloat8_values
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import ALL_THREADS, GIB, MIB, QUICK, ROUNDS, binary_size
from benchmarks.side_by_side import side_by_side
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor

_MOST_MS = 1
_CODES_NBYTES = 32 * MIB if QUICK else 256 * MIB


def _only_tensor(path: Path) -> Tensor:
    file = DumpFile(path)
    (description,) = file.header()["tensors"]
    return Tensor(file, description)


def test_first_element(benchmark: BenchmarkFixture, report: Report, directory: Path) -> None:
    root = directory / "first"
    root.mkdir()
    nbytes = 4 * GIB
    write_sparse_files(root, nbytes, 1)
    (path,) = root.iterdir()
    offset = _only_tensor(path).offset
    timings = side_by_side(
        benchmark,
        10 * ROUNDS,
        ("fastdump", lambda: _only_tensor(path)[0]),
        {"numpy": lambda: np.memmap(path, np.float32, "r", offset)[0]},
    )

    milliseconds = 1000 * timings.median("fastdump")
    report.add(
        benchmark,
        Row(
            section="arrays",
            what="header and first element; "
            f"np.memmap of a known place: {1000 * timings.median('numpy'):.3f} ms",
            size=binary_size(nbytes),
            other=f"{milliseconds:.3f} ms",
            required=[Requirement(f"below {_MOST_MS} ms", milliseconds < _MOST_MS)],
        ),
    )


def _nibbles(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    codes = np.empty((data.size, 2), np.uint8)
    np.bitwise_and(data, 0x0F, out=codes[:, 0])
    np.right_shift(data, 4, out=codes[:, 1])
    return codes


_NUMPY: dict[str, Callable[[npt.NDArray[np.uint8]], object]] = {
    "int4": _nibbles,
    "hifloat8": lambda data: np.take(hifloat8_values(), data),
}


@pytest.mark.parametrize("dtype", _NUMPY)
def test_materialise(
    benchmark: BenchmarkFixture, report: Report, directory: Path, dtype: str
) -> None:
    with large_file(directory, dtype, elements(dtype), _CODES_NBYTES, MIB) as file:
        tensor = _only_tensor(file.path)
        stored = np.memmap(file.path, np.uint8, "r", file.payload_offset)
        timings = side_by_side(
            benchmark,
            ROUNDS,
            ("fastdump", lambda: np.asarray(tensor)),
            {"numpy": lambda: _NUMPY[dtype](stored)},
        )
        nbytes = tensor.nbytes

    report.add(
        benchmark,
        Row(
            section="arrays",
            what=f"{dtype} as {tensor.dtype}, bytes of the array",
            size=binary_size(nbytes),
            threads=ALL_THREADS,
            gb_per_s=nbytes / timings.median("fastdump") / 1e9,
            peer_gb_per_s=nbytes / timings.median("numpy") / 1e9,
            times_peer=timings.quotient("numpy", "fastdump"),
        ),
    )


def _summed_guarded(tensor: Tensor) -> float:
    with tensor.guarded() as elements:
        return float(elements.sum())


# What a file that is cut cannot end the process by; of a tensor whose arrays are views, and of one
# whose arrays are copies.
_SAFE: dict[str, Callable[[Tensor, Tensor], object]] = {
    "sum of a copy": lambda _, safe: np.asarray(safe).sum(),
    "sum of a guarded view": lambda view, _: _summed_guarded(view),
    "a slice, copied": lambda _, safe: safe[:1024],
}


@pytest.mark.parametrize("what", _SAFE)
def test_safe(benchmark: BenchmarkFixture, report: Report, directory: Path, what: str) -> None:
    nbytes = _CODES_NBYTES
    is_slice = "slice" in what
    with large_file(directory, "float32", elements("float32"), nbytes, MIB) as file:
        view, safe = (fastdump.open(file.path, safe=safe)[0].outputs[0] for safe in (False, True))
        timings = side_by_side(
            benchmark,
            10 * ROUNDS,
            ("safe", lambda: _SAFE[what](view, safe)),
            {"view": lambda: view[:1024] if is_slice else np.asarray(view).sum()},
        )
    milliseconds = 1000 * timings.median("safe")
    report.add(
        benchmark,
        Row(
            section="arrays",
            what=f"{what}: {milliseconds:.3f} ms",
            size=binary_size(4096 if is_slice else nbytes),
            other=f"{timings.quotient('safe', 'view'):.2f} x a view",
        ),
    )
