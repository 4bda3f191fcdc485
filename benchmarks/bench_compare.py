"""Two files in the page cache compared, by element type and number of threads."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import LargeFile, elements, large_file
from benchmarks.element_types import n_elements, storage_dtype
from benchmarks.numpy_comparison import ATOL, RTOL, InChunks, at_once, check_same
from benchmarks.plain_read import PlainReader
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import (
    ALL_THREADS,
    BLOCK_NBYTES,
    FILE_NBYTES,
    MIB,
    ROUNDS,
    THREADS,
    binary_size,
)
from benchmarks.side_by_side import side_by_side

_LEAST_RATIO = 0.50

# Element types of a and b, and whether all threads have to reach the ratio.
_TYPES = {
    "float16": ("float16", "float16", True),
    "bfloat16": ("bfloat16", "bfloat16", True),
    "float32": ("float32", "float32", True),
    "float64": ("float64", "float64", False),
    "int8": ("int8", "int8", False),
    "bfloat16 and float32": ("bfloat16", "float32", False),
    "float16, 1 in 1000 NaN or Inf": ("float16", "float16", False),
    "float16, bit-equal": ("float16", "float16", False),
    "float16, with divergence": ("float16", "float16", False),
}

Pair = tuple[LargeFile, LargeFile]


def _near(dtype: str, other: str) -> npt.NDArray[np.uint8]:
    """Return elements of another type beside `elements(dtype)`, a thousandth off."""
    values = elements(dtype).view(storage_dtype(dtype)).astype(np.float32)
    noise = np.random.default_rng(1).standard_normal(values.size, np.float32)
    near = (values * (1 + noise / 1000)).astype(storage_dtype(other))
    return np.resize(near.view(np.uint8), BLOCK_NBYTES)


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest, directory: Path) -> Iterator[Pair]:
    """Return two files of the elements that the parameter names, b the reference."""
    name: str = request.param
    type_a, type_b, _ = _TYPES[name]
    reference = elements(type_b)
    if "bit-equal" in name:
        block = reference
    elif "NaN" in name:
        block = elements(type_a, one_in=1000)
    else:
        block = _near(type_b, type_a)
    # As many elements in both, the larger side of the usual size.
    n = min(n_elements(dtype, FILE_NBYTES) for dtype in (type_a, type_b))
    sizes = [n // n_elements(dtype, MIB) * MIB for dtype in (type_a, type_b)]
    folders = [directory / side for side in "ab"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    with (
        large_file(folders[0], type_a, block, sizes[0], piece_nbytes=8 * MIB) as a,
        large_file(folders[1], type_b, reference, sizes[1], piece_nbytes=8 * MIB) as b,
    ):
        yield a, b


@pytest.mark.parametrize(
    ("pair", "name", "threads"),
    [
        pytest.param(name, name, threads, id=f"{name.replace(' ', '-')}-{threads}")
        for name in _TYPES
        for threads in THREADS
    ],
    indirect=["pair"],
)
def test_compare(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    pair: Pair,
    name: str,
    threads: int,
) -> None:
    a, b = pair
    n = n_elements(a.dtype, a.nbytes - a.payload_offset)
    n_numpy = min(n_elements(file.dtype, BLOCK_NBYTES) for file in pair)
    in_chunks = InChunks(a, b, n_numpy)

    def compare() -> dict[str, Any]:
        (row,) = fastdump.compare(
            a.path, b.path, rtol=RTOL, atol=ATOL, kl="divergence" in name, threads=threads
        )
        return dataclasses.asdict(row)

    def read_both() -> None:
        for file, nbytes in zip(pair, buffer_nbytes, strict=True):
            plain_reader.read_file(file.path, threads, nbytes)

    found = compare()
    assert (found["status"], found["bit_equal"]) == ("ok", "bit-equal" in name)
    check_same(found, in_chunks())
    check_same(found, at_once(a, b, n_numpy))
    buffer_nbytes = [plain_reader.fastest_buffer(file.path, threads) for file in pair]
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", compare),
        {
            "plain read": read_both,
            "numpy": in_chunks,
            "simple numpy": lambda: at_once(a, b, n_numpy),
        },
    )

    nbytes = a.nbytes + b.nbytes
    ratio = timings.quotient("plain read", "fastdump")
    required = []
    if _TYPES[name][2] and threads == ALL_THREADS:
        required = [Requirement(f"ratio {_LEAST_RATIO:.2f}", round(ratio, 2) >= _LEAST_RATIO)]
    share = n / n_numpy
    report.add(
        benchmark,
        Row(
            section="compare",
            what=name,
            size=f"2 x {binary_size(FILE_NBYTES)}" if a.dtype == b.dtype else "",
            threads=threads,
            gb_per_s=nbytes / timings.median("fastdump") / 1e9,
            plain_read_gb_per_s=nbytes / timings.median("plain read") / 1e9,
            ratio=ratio,
            peer_gb_per_s=nbytes / share / timings.median("numpy") / 1e9,
            times_peer=share * timings.quotient("numpy", "fastdump"),
            times_simple_numpy=share * timings.quotient("simple numpy", "fastdump"),
            required=required,
        ),
    )
