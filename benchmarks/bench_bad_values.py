"""Data with NaN and Inf, beside clean data of the same type; both lie in the page cache."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import LargeFile, elements, large_file, random_codes
from benchmarks.element_types import n_elements
from benchmarks.plain_read import PlainReader
from benchmarks.report import Report, Row, at_least
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

pytestmark = pytest.mark.scan

_LEAST, _AIM = 0.70, 0.90
_LEAST_OF_CODES = 0.70  # of a plain read
_TYPES = ("float32", "float16", "bfloat16")
_BYTES = ("float8_e4m3fn", "float8_e5m2", "hifloat8", "float8_e8m0fnu")
_WORDS = {
    1000: "1 in 1000 NaN or Inf",
    10: "1 in 10 NaN or Inf",
    1: "all NaN or Inf",
}


def _file(directory: Path, dtype: str, one_in: int) -> Iterator[LargeFile]:
    folder = directory / f"one_in_{one_in}"
    folder.mkdir(exist_ok=True)
    block = elements(dtype, one_in=one_in)
    with large_file(folder, dtype, block, FILE_NBYTES, piece_nbytes=8 * MIB) as written:
        yield written


@pytest.fixture(scope="module")
def clean(request: pytest.FixtureRequest, directory: Path) -> Iterator[LargeFile]:
    yield from _file(directory, request.param, 0)


@pytest.fixture(scope="module")
def bad(request: pytest.FixtureRequest, directory: Path) -> Iterator[LargeFile]:
    yield from _file(directory, *request.param)


@pytest.mark.parametrize(
    ("clean", "bad", "one_in", "threads"),
    [
        pytest.param(dtype, (dtype, one_in), one_in, threads, id=f"{dtype}-{one_in}-{threads}")
        for dtype in _TYPES
        for one_in in _WORDS
        for threads in THREADS
    ],
    indirect=["clean", "bad"],
)
def test_bad_values(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    clean: LargeFile,
    bad: LargeFile,
    one_in: int,
    threads: int,
) -> None:
    (row,) = fastdump.stats(bad.path)
    n_block = n_elements(bad.dtype, BLOCK_NBYTES)
    n_bad = -(-n_block // one_in) * (FILE_NBYTES // BLOCK_NBYTES)
    assert (row.nan or 0) + (row.pos_inf or 0) + (row.neg_inf or 0) == n_bad
    buffer_nbytes = plain_reader.fastest_buffer(bad.path, threads)
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", lambda: fastdump.stats(bad.path, threads=threads)),
        {
            "plain read": lambda: plain_reader.read_file(bad.path, threads, buffer_nbytes),
            "clean": lambda: fastdump.stats(clean.path, threads=threads),
        },
    )

    times_clean = timings.quotient("clean", "fastdump")
    is_required = threads == ALL_THREADS and one_in <= 10
    report.add(
        benchmark,
        Row(
            section="bad values",
            what=f"{bad.dtype}, {_WORDS[one_in]}",
            size=binary_size(FILE_NBYTES),
            threads=threads,
            gb_per_s=bad.nbytes / timings.median("fastdump") / 1e9,
            plain_read_gb_per_s=bad.nbytes / timings.median("plain read") / 1e9,
            ratio=timings.quotient("plain read", "fastdump"),
            peer_gb_per_s=clean.nbytes / timings.median("clean") / 1e9,
            times_peer=times_clean,
            required=[at_least(_LEAST, times_clean, "{} x peer")] if is_required else (),
            aim=[at_least(_AIM, times_clean, "{} x peer")] if is_required else (),
        ),
    )


@pytest.fixture(scope="module")
def codes(request: pytest.FixtureRequest, directory: Path) -> Iterator[LargeFile]:
    block = random_codes()
    with large_file(directory, request.param, block, FILE_NBYTES, piece_nbytes=8 * MIB) as file:
        yield file


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("codes", _BYTES, indirect=True)
def test_random_codes(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    codes: LargeFile,
    threads: int,
) -> None:
    buffer_nbytes = plain_reader.fastest_buffer(codes.path, threads)
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", lambda: fastdump.stats(codes.path, threads=threads)),
        {"plain read": lambda: plain_reader.read_file(codes.path, threads, buffer_nbytes)},
    )
    ratio = timings.quotient("plain read", "fastdump")
    report.add(
        benchmark,
        Row(
            section="bad values",
            what=f"{codes.dtype}, random codes",
            size=binary_size(FILE_NBYTES),
            threads=threads,
            gb_per_s=codes.nbytes / timings.median("fastdump") / 1e9,
            plain_read_gb_per_s=codes.nbytes / timings.median("plain read") / 1e9,
            ratio=ratio,
            required=[at_least(_LEAST_OF_CODES, ratio)] if threads == 1 else (),
            aim=[at_least(_AIM, ratio)] if threads == 1 else (),
        ),
    )
