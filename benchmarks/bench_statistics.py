"""Statistics of one file in the page cache, by element type, level and number of threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import LargeFile, elements, large_file
from benchmarks.numpy_statistics import at_once, check_same, in_chunks
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
from benchmarks.side_by_side import Run, side_by_side

# Types, and the share of the speed of a plain read that all threads should reach.
_RATIO: dict[str, float | None] = {
    "float32": 0.70,
    "float16": 0.70,
    "bfloat16": 0.70,
    "float64": 0.70,
    "int8": 0.70,
    "uint8": 0.70,
    "int16": 0.70,
    "int32": 0.70,
    "int64": 0.70,
    "bool": 0.70,
    "float8_e4m3fn": 0.35,
    "float8_e5m2": 0.35,
    "float8_e8m0fnu": 0.35,
    "hifloat8": 0.35,
    "int4": None,
    "float16_bad": None,
}
_TIMES_NUMPY = {"float32": 20, "float16": 50, "bfloat16": 50}
_LABELS = {"float16_bad": "float16, 1 in 1000 NaN or Inf"}
_BAD = "_bad"


@pytest.fixture(scope="module")
def file(request: pytest.FixtureRequest, directory: Path) -> Iterator[LargeFile]:
    """Return a file of the elements that the parameter names; there is only one at a time."""
    name: str = request.param
    dtype = name.removesuffix(_BAD)
    block = elements(dtype, one_in=1000 if name.endswith(_BAD) else 0)
    with large_file(directory, dtype, block, FILE_NBYTES, piece_nbytes=8 * MIB) as written:
        yield written


@pytest.mark.parametrize(
    ("file", "name", "level", "threads"),
    [
        pytest.param(name, name, level, threads, id=f"{name}-{level}-{threads}")
        for name in _RATIO
        for level in ("basic", "health", "full")
        for threads in THREADS
        if level == "basic" or name in _TIMES_NUMPY
    ],
    indirect=["file"],
)
def test_statistics(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    file: LargeFile,
    name: str,
    level: Literal["health", "basic", "full"],
    threads: int,
) -> None:
    buffer_nbytes = plain_reader.fastest_buffer(file.path, threads)
    peers: dict[str, Run] = {
        "plain read": lambda: plain_reader.read_file(file.path, threads, buffer_nbytes)
    }
    if level == "basic":
        (row,) = fastdump.stats(file.path)
        check_same(row, in_chunks(file, BLOCK_NBYTES))
        check_same(row, at_once(file, BLOCK_NBYTES))
        peers["numpy"] = lambda: in_chunks(file, BLOCK_NBYTES)
        peers["simple numpy"] = lambda: at_once(file, BLOCK_NBYTES)
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", lambda: fastdump.stats(file.path, level=level, threads=threads)),
        peers,
    )

    ratio = timings.quotient("plain read", "fastdump")
    share = file.nbytes / BLOCK_NBYTES
    times_numpy = times_simple_numpy = numpy_gb_per_s = None
    if level == "basic":
        times_numpy = share * timings.quotient("numpy", "fastdump")
        times_simple_numpy = share * timings.quotient("simple numpy", "fastdump")
        numpy_gb_per_s = BLOCK_NBYTES / timings.median("numpy") / 1e9
    required = []
    least_ratio, least_times = _RATIO[name], _TIMES_NUMPY.get(name)
    if level == "basic" and threads == ALL_THREADS:
        if least_ratio is not None:
            required.append(Requirement(f"ratio {least_ratio:.2f}", round(ratio, 2) >= least_ratio))
        if least_times is not None and times_numpy is not None:
            required.append(Requirement(f"{least_times} x numpy", times_numpy >= least_times))
    report.add(
        benchmark,
        Row(
            section="statistics",
            what=f"{_LABELS.get(name, name)}, {level}",
            size=binary_size(FILE_NBYTES),
            threads=threads,
            gb_per_s=file.nbytes / timings.median("fastdump") / 1e9,
            plain_read_gb_per_s=file.nbytes / timings.median("plain read") / 1e9,
            ratio=ratio,
            numpy_gb_per_s=numpy_gb_per_s,
            times_numpy=times_numpy,
            times_simple_numpy=times_simple_numpy,
            required=required,
        ),
    )
