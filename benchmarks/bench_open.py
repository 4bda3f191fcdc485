"""Opening a dump by its names, beside `find` listing the same files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import write_names
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import N_FILES_A_DIRECTORY, N_NAMES, ROUNDS
from benchmarks.side_by_side import side_by_side

_MOST = 3.0  # times the time of find


@pytest.mark.parametrize("n_files_a_directory", [N_FILES_A_DIRECTORY, N_NAMES])
def test_open(
    benchmark: BenchmarkFixture, report: Report, directory: Path, n_files_a_directory: int
) -> None:
    find = shutil.which("find")
    if find is None:
        pytest.skip("there is no find")
    root = directory / "names"
    try:
        write_names(root, N_NAMES, n_files_a_directory)
        assert len(fastdump.open(root)) == N_NAMES
        timings = side_by_side(
            benchmark,
            ROUNDS,
            ("fastdump", lambda: fastdump.open(root)),
            {
                "find": lambda: subprocess.run(
                    [find, root, "-type", "f"], check=True, stdout=subprocess.DEVNULL
                )
            },
        )
    finally:
        shutil.rmtree(root)

    ours, theirs = (1000 * timings.median(name) for name in ("fastdump", "find"))
    times_find = timings.quotient("fastdump", "find")
    report.add(
        benchmark,
        Row(
            section="open",
            what=f"{N_NAMES:,} files in {ours:.0f} ms, find in {theirs:.0f} ms",
            size=f"{n_files_a_directory:,} a folder",
            other=f"{times_find:.1f} x find",
            required=[Requirement(f"at most {_MOST:.1f}", round(times_find, 1) <= _MOST)],
        ),
    )
