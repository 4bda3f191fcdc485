"""What the commands do of many small files, beside the core's scan of the same files."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.dump_files import write_chains, write_small_files
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import N_COMMAND_FILES, N_COMPARED_FILES, ROUNDS, THREADS
from benchmarks.side_by_side import side_by_side
from fastdump._cli import main
from fastdump._scan import TableScan
from fastdump._selection import Selection


@pytest.fixture(scope="module")
def dump(directory: Path) -> Iterator[Path]:
    root = directory / "commands"
    root.mkdir()
    try:
        write_chains(root, N_COMMAND_FILES)
        yield root
    finally:
        shutil.rmtree(root)


def _core_scan(root: Path, level: str) -> None:
    """Let the core scan, and lay out its rows as a table."""
    scan = TableScan([bytes(root)], Selection(), level=level)
    scan.run()
    scan._scan.table()


# The most that is allowed, and what is aimed at, in times of the core's scan.
@pytest.mark.parametrize(
    ("command", "level", "most", "aim"),
    [
        (["stats"], "basic", 1.3, 1.1),
        (["ls"], "header", 1.3, 1.1),
        (["triage"], "full", 1.5, 1.1),
        (["config", "explain"], "header", 1.5, 1.1),
        (["watcher"], "basic", 2.0, 1.1),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_command(
    benchmark: BenchmarkFixture,
    report: Report,
    capsys: pytest.CaptureFixture[str],
    dump: Path,
    command: list[str],
    level: str,
    most: float,
    aim: float,
) -> None:
    assert main([*command, str(dump)]) == 0
    cpu_s: dict[str, list[float]] = {"command": [], "scan": []}

    def timed(name: str, run: Callable[[], object]) -> Callable[[], None]:
        def call() -> None:
            start = time.process_time()
            run()
            cpu_s[name].append(time.process_time() - start)

        return call

    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("command", timed("command", lambda: main([*command, str(dump)]))),
        {"scan": timed("scan", lambda: _core_scan(dump, level))},
    )
    capsys.readouterr()
    times = timings.quotient("command", "scan")
    cpu_times = sorted(cpu_s["command"])[ROUNDS // 2] / sorted(cpu_s["scan"])[ROUNDS // 2]
    report.add(
        benchmark,
        Row(
            section="commands",
            what=f"{' '.join(command)}, {N_COMMAND_FILES:,} files",
            size="0.3 to 1.9 KiB each",
            other=f"{times:.2f} x the scan, {cpu_times:.2f} x its CPU time",
            required=[Requirement(f"at most {most:.1f}", round(times, 1) <= most)],
            aim=[Requirement(f"at most {aim:.1f}", round(times, 1) <= aim)],
        ),
    )


@pytest.fixture(scope="module")
def larger_files(directory: Path) -> Iterator[Path]:
    root = directory / "larger_files"
    root.mkdir()
    try:
        write_small_files(root, N_COMPARED_FILES, 16 << 10)
        yield root
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize(
    ("files", "size"), [("dump", "0.3 to 1.9 KiB each"), ("larger_files", "16 KiB each")]
)
@pytest.mark.parametrize("threads", THREADS)
def test_compare(
    benchmark: BenchmarkFixture,
    report: Report,
    request: pytest.FixtureRequest,
    directory: Path,
    files: str,
    size: str,
    threads: int,
) -> None:
    """Of a dump and a copy of it, beside the statistics of both."""
    one: Path = request.getfixturevalue(files)
    other = directory / f"{files}_b"
    shutil.copytree(one, other)
    try:
        n_pairs = len(fastdump.compare(one, other))
        timings = side_by_side(
            benchmark,
            ROUNDS,
            ("compare", lambda: fastdump.compare(one, other, threads=threads)),
            {"statistics": lambda: [fastdump.stats(a, threads=threads) for a in (one, other)]},
        )
    finally:
        shutil.rmtree(other)
    times = timings.quotient("compare", "statistics")
    report.add(
        benchmark,
        Row(
            section="commands",
            what=f"compare, {n_pairs:,} pairs",
            size=size,
            threads=threads,
            other=f"{times:.2f} x stats of both",
            aim=[Requirement("at most 1.5", round(times, 1) <= 1.5)],
        ),
    )
