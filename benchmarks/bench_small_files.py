"""A dump of many small files, beside opening, reading and closing them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import write_small_files
from benchmarks.engine_rows import Engine, add_engine_rows
from benchmarks.plain_read import FileList, PlainReader
from benchmarks.private_memory import TELLS_PRIVATE_MEMORY, memory_of_stats
from benchmarks.report import Report, Requirement, Row, at_most_times
from benchmarks.scale import (
    ALL_THREADS,
    N_SMALL_FILES,
    N_TINY_FILES,
    ROUNDS,
    THREADS,
    TINY_ROUNDS,
)
from benchmarks.side_by_side import side_by_side

pytestmark = pytest.mark.scan

_MOST_TIMES, _AIM_TIMES = 1.6, 1.2
_MOST_ROW_NBYTES = 1 << 10


@dataclass(frozen=True)
class SmallFiles:
    """A dump of equal files, and these in the order of the walk."""

    root: Path
    files: FileList
    n_files: int
    n_tensors: int
    size: str
    rounds: int


def _written(
    root: Path, n_files: int, nbytes: int, n_tensors: Literal[1, 2], rounds: int
) -> Iterator[SmallFiles]:
    root.mkdir()
    try:
        paths = write_small_files(root, n_files, nbytes, n_tensors=n_tensors)
        files = FileList(paths, n_files * paths[0].stat().st_size)
        yield SmallFiles(root, files, n_files, n_tensors, f"{nbytes >> 10} KiB each", rounds)
    finally:
        shutil.rmtree(root)


@pytest.fixture(scope="module")
def small(directory: Path) -> Iterator[SmallFiles]:
    yield from _written(directory / "small", N_SMALL_FILES, 16 << 10, 2, ROUNDS)


@pytest.fixture(scope="module")
def tiny(directory: Path) -> Iterator[SmallFiles]:
    with tempfile.TemporaryDirectory(dir=_in_memory() or directory) as parent:
        yield from _written(Path(parent) / "tiny", N_TINY_FILES, 1 << 10, 1, TINY_ROUNDS)


def _in_memory() -> Path | None:
    """Return a directory in memory, if there is one with room.

    A disk can take half an hour to delete a million files, and reading them warm says the same.
    """
    shared = Path("/dev/shm")
    if "FASTDUMP_BENCH_DIR" in os.environ or not os.access(shared, os.W_OK):
        return None
    has_room = shutil.disk_usage(shared).free > 2 * 4096 * N_TINY_FILES
    return shared if has_room else None


def _measure(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    dump: SmallFiles,
    threads: int,
) -> None:
    table = fastdump.stats(dump.root)
    assert len(table) == dump.n_tensors * dump.n_files
    assert not table.bad.any()
    del table
    timings = side_by_side(
        benchmark,
        dump.rounds,
        ("fastdump", lambda: fastdump.stats(dump.root, threads=threads)),
        {"plain read": lambda: plain_reader.read_small_files(dump.files, threads)},
    )

    ratio = timings.quotient("plain read", "fastdump")
    is_required = threads == ALL_THREADS
    files_per_s = dump.n_files / timings.median("fastdump")
    report.add(
        benchmark,
        Row(
            section="small files",
            what=f"{dump.n_files:,} files, {files_per_s:,.0f} files/s, {1 / ratio:.2f} x the time",
            size=dump.size,
            threads=threads,
            gb_per_s=dump.files.nbytes / timings.median("fastdump") / 1e9,
            plain_read_gb_per_s=dump.files.nbytes / timings.median("plain read") / 1e9,
            ratio=ratio,
            required=[at_most_times(_MOST_TIMES, ratio)] if is_required else (),
            aim=[at_most_times(_AIM_TIMES, ratio)] if is_required else (),
        ),
    )


@pytest.mark.parametrize("threads", THREADS)
def test_small_files(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    small: SmallFiles,
    threads: int,
) -> None:
    _measure(benchmark, report, plain_reader, small, threads)


def test_engines(
    benchmark: BenchmarkFixture, report: Report, plain_reader: PlainReader, small: SmallFiles
) -> None:
    def stats(engine: Engine) -> None:
        fastdump.stats(small.root, engine=engine)

    timings = side_by_side(
        benchmark,
        small.rounds,
        ("auto", lambda: stats("auto")),
        {
            "plain read": lambda: plain_reader.read_small_files(small.files, ALL_THREADS),
            "mmap": lambda: stats("mmap"),
            "read": lambda: stats("read"),
        },
    )
    add_engine_rows(
        benchmark,
        report,
        timings,
        what=f"{small.n_files:,} files",
        size=small.size,
        threads=ALL_THREADS,
        nbytes=small.files.nbytes,
    )


# One thread takes twice as long and shows nothing that the files of 16 KiB do not.
def test_tiny_files(
    benchmark: BenchmarkFixture, report: Report, plain_reader: PlainReader, tiny: SmallFiles
) -> None:
    _measure(benchmark, report, plain_reader, tiny, ALL_THREADS)


@pytest.mark.skipif(not TELLS_PRIVATE_MEMORY, reason="only Linux tells private memory")
def test_memory_of_rows(benchmark: BenchmarkFixture, report: Report, tiny: SmallFiles) -> None:
    memory = benchmark.pedantic(memory_of_stats, args=(tiny.root, "auto", ALL_THREADS))
    assert memory.n_rows == tiny.n_files

    nbytes_a_row = memory.nbytes / memory.n_rows
    times_table = memory.nbytes / memory.table_nbytes
    report.add(
        benchmark,
        Row(
            section="memory",
            what=f"{tiny.n_files:,} files, table and all",
            size=tiny.size,
            threads=ALL_THREADS,
            other=f"{nbytes_a_row:.0f} B a row, {times_table:.2f} x its table",
            required=[Requirement("below 1 KiB a row", nbytes_a_row < _MOST_ROW_NBYTES)],
            aim=[Requirement("at most 1.2 x", round(times_table, 1) <= 1.2)],
        ),
    )
