"""A file that the page cache has to get from the disk, beside the fastest readers of the disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

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
_TRIES = 3


@pytest.fixture(scope="module")
def file(directory: Path) -> Iterator[LargeFile]:
    """Return a file of which no two parts are equal: no layer below can make it smaller."""
    with random_file(directory, COLD_NBYTES) as written:
        yield written


def _plain(threads: int) -> str:
    return f"plain read, {threads} thread{'s' if threads > 1 else ''}"


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
        readers[_plain(n)] = threads(n, direct=False)
    for n in _DEPTHS:
        readers[f"O_DIRECT, depth {n}"] = threads(n, direct=True)
    return readers


def _fastest(readers: dict[str, Run], path: Path) -> str:
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(_TRIES):
        for name, read in readers.items():
            drop_from_cache(path)
            start = time.perf_counter()
            read()
            seconds[name].append(time.perf_counter() - start)
    return min(readers, key=lambda name: median(seconds[name]))


def test_cold(
    benchmark: BenchmarkFixture, report: Report, plain_reader: PlainReader, file: LargeFile
) -> None:
    readers = _readers(plain_reader, file.path)
    fastest = _fastest(readers, file.path)

    def stats(io: Engine) -> None:
        fastdump.stats(file.path, io=io)

    timings = side_by_side(
        benchmark,
        COLD_ROUNDS,
        ("auto", lambda: stats("auto")),
        {
            "plain read": readers[_plain(ALL_THREADS)],
            "fastest": readers[fastest],
            "mmap": lambda: stats("mmap"),
            "read": lambda: stats("read"),
        },
        before=lambda: drop_from_cache(file.path),
    )

    times_fastest = timings.quotient("fastest", "auto")
    report.add(
        benchmark,
        Row(
            section="cold",
            what=f"float32; peer: {fastest}",
            size=binary_size(COLD_NBYTES),
            threads=ALL_THREADS,
            gb_per_s=file.nbytes / timings.median("auto") / 1e9,
            plain_read_gb_per_s=file.nbytes / timings.median("plain read") / 1e9,
            ratio=timings.quotient("plain read", "auto"),
            peer_gb_per_s=file.nbytes / timings.median("fastest") / 1e9,
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
