"""The ways of reading, on files that the page cache holds in small and in large units.

A kernel that knows larger units than pages chooses them by the size of the writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import LargeFile, elements, large_file
from benchmarks.engine_rows import Engine, add_engine_rows
from benchmarks.plain_read import PlainReader
from benchmarks.report import Report
from benchmarks.scale import FILE_NBYTES, MIB, ROUNDS, THREADS, binary_size
from benchmarks.side_by_side import side_by_side

pytestmark = pytest.mark.scan

_PIECES = {"4 KiB": 4 << 10, "8 MiB": 8 * MIB}


@pytest.fixture(scope="module")
def file(request: pytest.FixtureRequest, directory: Path) -> Iterator[LargeFile]:
    """Return a file that was written in pieces of the size that the parameter tells."""
    block = elements("float32")
    with large_file(directory, "float32", block, FILE_NBYTES, _PIECES[request.param]) as written:
        yield written


@pytest.mark.parametrize(
    ("file", "piece", "threads"),
    [
        pytest.param(piece, piece, threads, id=f"{piece.replace(' ', '')}-{threads}")
        for piece in _PIECES
        for threads in THREADS
    ],
    indirect=["file"],
)
def test_engines(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    file: LargeFile,
    piece: str,
    threads: int,
) -> None:
    buffer_nbytes = plain_reader.fastest_buffer(file.path, threads)

    def stats(engine: Engine) -> None:
        fastdump.stats(file.path, engine=engine, threads=threads)

    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("auto", lambda: stats("auto")),
        {
            "plain read": lambda: plain_reader.read_file(file.path, threads, buffer_nbytes),
            "mmap": lambda: stats("mmap"),
            "read": lambda: stats("read"),
        },
    )

    add_engine_rows(
        benchmark,
        report,
        timings,
        what=f"written in pieces of {piece}",
        size=binary_size(FILE_NBYTES),
        threads=threads,
        nbytes=file.nbytes,
    )
