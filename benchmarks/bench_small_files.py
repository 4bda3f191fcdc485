"""A dump of many small files, beside opening, reading and closing them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import write_small_files
from benchmarks.plain_read import PlainReader, SmallFiles
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import ALL_THREADS, N_SMALL_FILES, ROUNDS, THREADS
from benchmarks.side_by_side import side_by_side

_NBYTES = 16 << 10
_RATIO = 0.40  # 2.5 times the time


@pytest.fixture(scope="module")
def dump(directory: Path) -> Iterator[tuple[Path, SmallFiles]]:
    """Return a dump, and its files in the order of the walk."""
    root = directory / "small"
    root.mkdir()
    try:
        paths = write_small_files(root, N_SMALL_FILES, _NBYTES)
        yield root, SmallFiles(paths, len(paths) * paths[0].stat().st_size)
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize("threads", THREADS)
def test_small_files(
    benchmark: BenchmarkFixture,
    report: Report,
    plain_reader: PlainReader,
    dump: tuple[Path, SmallFiles],
    threads: int,
) -> None:
    root, files = dump
    table = fastdump.stats(root)
    assert len(table) == 2 * N_SMALL_FILES
    assert not table.bad.any()
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", lambda: fastdump.stats(root, threads=threads)),
        {"plain read": lambda: plain_reader.read_files(files, threads)},
    )

    ratio = timings.quotient("plain read", "fastdump")
    required = [Requirement(f"ratio {_RATIO:.2f}", round(ratio, 2) >= _RATIO)]
    files_per_s = N_SMALL_FILES / timings.median("fastdump")
    report.add(
        benchmark,
        Row(
            section="small files",
            what=f"{N_SMALL_FILES:,} files, {files_per_s:,.0f} files/s",
            size="16 KiB each",
            threads=threads,
            gb_per_s=files.nbytes / timings.median("fastdump") / 1e9,
            plain_read_gb_per_s=files.nbytes / timings.median("plain read") / 1e9,
            ratio=ratio,
            required=required if threads == ALL_THREADS else (),
        ),
    )
