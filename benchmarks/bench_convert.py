"""Conversion of a dump to npy files, beside a copy of it by ``cp -r``."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import require_room, write_equal_files, write_small_files
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import (
    ALL_THREADS,
    CONVERT_NBYTES,
    N_CONVERT_FILES,
    N_SMALL_CONVERT_FILES,
    ROUNDS,
    THREADS,
    binary_size,
)
from benchmarks.side_by_side import side_by_side

_RATIO = 0.50  # twice the time


@pytest.fixture(scope="module")
def dump(directory: Path) -> Iterator[Path]:
    root = directory / "dump"
    require_room(directory, 2 * CONVERT_NBYTES)
    try:
        write_equal_files(root, N_CONVERT_FILES, CONVERT_NBYTES)
        yield root
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize("threads", THREADS)
def test_convert(
    benchmark: BenchmarkFixture, report: Report, directory: Path, dump: Path, threads: int
) -> None:
    out = directory / "out"

    def clear() -> None:
        shutil.rmtree(out, ignore_errors=True)
        # Otherwise the disk is at work for one side while the other is timed.
        os.sync()

    def convert() -> None:
        converted = fastdump.convert(dump, out, threads=threads)
        assert (converted.written, converted.findings) == (N_CONVERT_FILES, ())

    def copy() -> None:
        subprocess.run(["cp", "-r", dump, out], check=True)

    try:
        timings = side_by_side(
            benchmark, ROUNDS, ("fastdump", convert), {"cp -r": copy}, before=clear
        )
    finally:
        clear()
    ratio = timings.quotient("cp -r", "fastdump")
    required = [Requirement(f"ratio {_RATIO:.2f}", round(ratio, 2) >= _RATIO)]
    cp_gb_per_s = CONVERT_NBYTES / timings.median("cp -r") / 1e9
    report.add(
        benchmark,
        Row(
            section="convert",
            what=f"{N_CONVERT_FILES:,} files, cp -r {cp_gb_per_s:.2f} GB/s",
            size=binary_size(CONVERT_NBYTES),
            threads=threads,
            gb_per_s=CONVERT_NBYTES / timings.median("fastdump") / 1e9,
            ratio=ratio,
            required=required if threads == ALL_THREADS else (),
        ),
    )


def test_convert_small_files(benchmark: BenchmarkFixture, report: Report, directory: Path) -> None:
    root, out = directory / "small", directory / "out"
    nbytes = 4 << 10

    def clear() -> None:
        shutil.rmtree(out, ignore_errors=True)

    def convert() -> None:
        assert fastdump.convert(root, out).written == N_SMALL_CONVERT_FILES

    def copy() -> None:
        subprocess.run(["cp", "-r", root, out], check=True)

    try:
        root.mkdir()
        write_small_files(root, N_SMALL_CONVERT_FILES, nbytes, n_tensors=1)
        timings = side_by_side(
            benchmark, ROUNDS, ("fastdump", convert), {"cp -r": copy}, before=clear
        )
    finally:
        clear()
        shutil.rmtree(root, ignore_errors=True)
    files_per_s = N_SMALL_CONVERT_FILES / timings.median("fastdump")
    report.add(
        benchmark,
        Row(
            section="convert",
            what=f"{N_SMALL_CONVERT_FILES:,} files, {files_per_s:,.0f} files/s",
            size="4 KiB each",
            threads=ALL_THREADS,
            gb_per_s=N_SMALL_CONVERT_FILES * nbytes / timings.median("fastdump") / 1e9,
            ratio=timings.quotient("cp -r", "fastdump"),
        ),
    )
