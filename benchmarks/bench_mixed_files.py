"""A dump of files from small to large, beside threads that share the reading of each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import write_mixed_files
from benchmarks.plain_read import FileList, PlainReader
from benchmarks.report import Report, Row, at_least
from benchmarks.scale import (
    ALL_THREADS,
    LARGEST_MIXED_NBYTES,
    MIB,
    N_MIXED_FILES,
    ROUNDS,
    THREADS,
    binary_size,
)
from benchmarks.side_by_side import side_by_side

pytestmark = pytest.mark.scan

_LEAST, _AIM = 0.85, 0.95


@pytest.fixture(scope="module")
def dump(directory: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Return a dump and its files; the largest is the last."""
    root = directory / "mixed"
    root.mkdir()
    try:
        paths = write_mixed_files(root, N_MIXED_FILES, MIB, LARGEST_MIXED_NBYTES)
        yield root, sorted(paths, key=lambda path: path.stat().st_size)
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize("threads", THREADS)
def test_mixed_files(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    dump: tuple[Path, list[Path]],
    threads: int,
) -> None:
    root, paths = dump
    files = FileList(paths, sum(path.stat().st_size for path in paths))
    buffer_nbytes = plain_reader.fastest_buffer(paths[-1], threads)
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", lambda: fastdump.stats(root, threads=threads)),
        {"plain read": lambda: plain_reader.read_large_files(files, threads, buffer_nbytes)},
    )

    ratio = timings.quotient("plain read", "fastdump")
    is_required = threads == ALL_THREADS
    report.add(
        benchmark,
        Row(
            section="mixed files",
            what=f"{len(paths)} files of {binary_size(MIB)} to {binary_size(LARGEST_MIXED_NBYTES)}",
            size=f"{files.nbytes / (1 << 30):.1f} GiB",
            threads=threads,
            gb_per_s=files.nbytes / timings.median("fastdump") / 1e9,
            plain_read_gb_per_s=files.nbytes / timings.median("plain read") / 1e9,
            ratio=ratio,
            required=[at_least(_LEAST, ratio)] if is_required else (),
            aim=[at_least(_AIM, ratio)] if is_required else (),
        ),
    )
