"""Dumps that grow, and scans that are ended, beside whole scans that nobody disturbs."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import write_small_files
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import (
    N_COMMAND_FILES,
    N_FILES_A_DIRECTORY,
    N_TINY_FILES,
    ROUNDS,
    TINY_ROUNDS,
)
from benchmarks.side_by_side import side_by_side
from fastdump._follow.arrivals import Arrivals
from fastdump._follow.clock import SystemClock
from fastdump._follow.follower import Follower, Pace
from fastdump._follow.rows import GrowingRows
from fastdump._selection import Selection
from fastdump._since import Asked

_SIZE = "1 KiB each"


class _Killed(BaseException):
    pass


@dataclass(frozen=True)
class Growing:
    """A dump, what it was before its last step, and where to write."""

    root: Path
    before: fastdump.StatsTable
    n_new: int
    scratch: Path

    def fresh(self) -> Path:
        """Return a directory without parts."""
        parts = self.scratch / "parts"
        shutil.rmtree(parts, ignore_errors=True)
        return parts

    def kill_at_half(self) -> None:
        def stop(progress: Any) -> None:
            if progress.files_done > N_COMMAND_FILES / 2:
                raise _Killed

        parts = self.fresh()
        try:
            fastdump.stats(self.root, parts=parts, progress=stop)
        except _Killed:
            fastdump.stats(self.root, parts=parts)


@pytest.fixture(scope="module")
def growing(directory: Path) -> Iterator[Growing]:
    with _dump_of(directory, N_COMMAND_FILES) as dump:
        yield dump


@pytest.fixture(scope="module")
def large(directory: Path) -> Iterator[Growing]:
    """What a step costs depends on how much was there before."""
    with _dump_of(directory, N_TINY_FILES) as dump:
        yield dump


@contextmanager
def _dump_of(directory: Path, n_files: int) -> Iterator[Growing]:
    root, scratch = directory / f"growing_{n_files}", directory / f"growing_{n_files}_scratch"
    try:
        root.mkdir()
        scratch.mkdir()
        paths = write_small_files(root, n_files, 1024)
        # Directories into which files have just come are not trusted.
        hour_ago = time.time() - 3600
        for directory_path in (root, *(path for path in root.rglob("*") if path.is_dir())):
            os.utime(directory_path, (hour_ago, hour_ago))
        new = paths[-2 * N_FILES_A_DIRECTORY :]
        for path in new:
            path.rename(scratch / f"{path.parent.name} {path.name}")
        before = fastdump.stats(root)
        for path in new:
            (scratch / f"{path.parent.name} {path.name}").rename(path)
        yield Growing(root, before, len(new), scratch)
    finally:
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(scratch, ignore_errors=True)


@pytest.mark.parametrize("trust", [False, True], ids=["ask", "trust"])
@pytest.mark.parametrize("earlier", ["in memory", "in a file"])
def test_since(
    benchmark: BenchmarkFixture, report: Report, large: Growing, earlier: str, trust: bool
) -> None:
    since: Any = large.before
    if earlier == "in a file":
        since = large.scratch / "before.parquet"
        large.before.write(since)
    timings = side_by_side(
        benchmark,
        TINY_ROUNDS,
        ("since", lambda: fastdump.stats(large.root, since=since, trust_directories=trust)),
        {"whole": lambda: fastdump.stats(large.root)},
    )
    times = timings.quotient("since", "whole")
    report.add(
        benchmark,
        Row(
            section="growing",
            what=f"{large.n_new:,} new of {N_TINY_FILES:,} files, table {earlier}"
            + (", trust_directories" if trust else ""),
            size=_SIZE,
            other=f"{times:.3f} x a whole scan",
            required=[Requirement("at most 0.05", round(times, 2) <= 0.05)],
            aim=[Requirement("at most 0.01", round(times, 2) <= 0.01)],
        ),
    )


def test_resume(benchmark: BenchmarkFixture, report: Report, growing: Growing) -> None:
    """Killed at half, and begun again: both together, beside one that was not killed."""
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("killed", growing.kill_at_half),
        {"whole": lambda: fastdump.stats(growing.root, parts=growing.fresh())},
    )
    times = timings.quotient("killed", "whole")
    report.add(
        benchmark,
        Row(
            section="growing",
            what=f"killed at half and resumed, {N_COMMAND_FILES:,} files",
            size=_SIZE,
            other=f"{times:.2f} x one that was not killed",
            required=[Requirement("at most 1.15", round(times, 2) <= 1.15)],
        ),
    )


def test_parts(benchmark: BenchmarkFixture, report: Report, growing: Growing) -> None:
    one = growing.scratch / "one.parquet"
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("parts", lambda: fastdump.stats(growing.root, parts=growing.fresh())),
        {"one": lambda: fastdump.stats(growing.root).write(one)},
    )
    n_parts = len(list((growing.scratch / "parts").glob("part-*")))
    times = timings.quotient("parts", "one")
    report.add(
        benchmark,
        Row(
            section="growing",
            what=f"{n_parts} parts beside one file, {N_COMMAND_FILES:,} files",
            size=_SIZE,
            other=f"{times:.2f} x one file",
        ),
    )


@pytest.mark.parametrize("n_new", [0, 1000])
def test_follow(benchmark: BenchmarkFixture, report: Report, growing: Growing, n_new: int) -> None:
    """A round in which so many files have come, beside a whole scan."""
    clock = SystemClock()
    rows = GrowingRows([os.fsencode(growing.root)], Asked(Selection(), "full"), follow_links=False)
    follower = Follower(rows, Arrivals(0.0, clock), clock, Pace(0.0, None))
    paths = sorted(path for path in growing.root.rglob("*") if path.is_file())[:n_new]
    numbers = itertools.count()

    def come() -> None:
        number = next(numbers)
        for i, path in enumerate(paths):
            # What has another name is new.
            paths[i] = path.rename(path.with_name(f"Add.come{number}.1.2.{10**15 + i}"))

    def follow() -> None:
        come()
        for _ in follower.round():
            pass

    follow()
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("round", follow),
        {"whole": lambda: fastdump.stats(growing.root, level="full")},
    )
    times = timings.quotient("round", "whole")
    report.add(
        benchmark,
        Row(
            section="growing",
            what=f"a round of follow, {n_new:,} new of {N_COMMAND_FILES:,} files",
            size=_SIZE,
            other=f"{times:.3f} x a whole scan",
        ),
    )
