"""A file that the page cache has to get from the disk, beside the fastest readers of the disk."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import LargeFile, random_file
from benchmarks.engine_rows import Engine, add_engine_rows
from benchmarks.page_cache import drop_from_cache
from benchmarks.plain_read import PlainReader
from benchmarks.report import Report, Row, at_least
from benchmarks.scale import ALL_THREADS, COLD_NBYTES, COLD_ROUNDS, MIB, THREADS, binary_size
from benchmarks.side_by_side import Run, side_by_side

pytestmark = [
    pytest.mark.scan,
    pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="drops the page cache as Linux does"),
]

_LEAST = 0.90
_DEPTHS = (2, 8, 32)
_PLAIN = "plain read"  # of all threads, as the column has it


@pytest.fixture(scope="module")
def file(directory: Path) -> Iterator[LargeFile]:
    """Return a file of which no two parts are equal: no layer below can make it smaller."""
    with random_file(directory, COLD_NBYTES) as written:
        yield written


def _readers(plain_reader: PlainReader, path: Path) -> dict[str, Run]:
    """Return readers that may be the fastest, by name."""

    def dd(*arguments: str) -> Run:
        command = ["dd", f"if={path}", "of=/dev/null", "status=none", *arguments]
        return lambda: subprocess.run(command, check=True)

    def threads(n: int, *, direct: bool) -> Run:
        return lambda: plain_reader.read_file(path, n, MIB, direct=direct)

    readers = {}
    if shutil.which("dd"):
        readers["dd bs=1M"] = dd("bs=1M")
        readers["dd bs=16M iflag=direct"] = dd("bs=16M", "iflag=direct")
    for n in THREADS:
        name = _PLAIN if n == ALL_THREADS else f"plain read, {n} thread"
        readers[name] = threads(n, direct=False)
    for n in _DEPTHS:
        readers[f"O_DIRECT, depth {n}"] = threads(n, direct=True)
    return readers


def test_cold(
    benchmark: BenchmarkFixture, report: Report, plain_reader: PlainReader, file: LargeFile
) -> None:
    readers = _readers(plain_reader, file.path)

    def stats(engine: Engine) -> None:
        fastdump.stats(file.path, engine=engine)

    timings = side_by_side(
        benchmark,
        COLD_ROUNDS,
        ("auto", lambda: stats("auto")),
        {**readers, "mmap": lambda: stats("mmap"), "read": lambda: stats("read")},
        before=lambda: drop_from_cache(file.path),
    )

    fastest = min(readers, key=timings.median)
    times_fastest = timings.quotient(fastest, "auto")
    report.add(
        benchmark,
        Row(
            section="cold",
            what=f"float32; peer: {fastest}",
            size=binary_size(COLD_NBYTES),
            threads=ALL_THREADS,
            gb_per_s=file.nbytes / timings.median("auto") / 1e9,
            plain_read_gb_per_s=file.nbytes / timings.median(_PLAIN) / 1e9,
            ratio=timings.quotient(_PLAIN, "auto"),
            peer_gb_per_s=file.nbytes / timings.median(fastest) / 1e9,
            times_peer=times_fastest,
            required=[at_least(_LEAST, times_fastest, "{} x peer")],
        ),
    )
    add_engine_rows(
        benchmark,
        report,
        timings,
        what="cold page cache",
        size=binary_size(COLD_NBYTES),
        threads=ALL_THREADS,
        nbytes=file.nbytes,
    )
