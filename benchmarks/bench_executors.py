"""Many small files read by two workers of an engine, beside one call with two threads."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.dump_files import write_chains
from benchmarks.executor_process import ENGINES, N_WORKERS, ExecutorProcess, is_installed
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import N_COMMAND_FILES, QUICK
from benchmarks.side_by_side import side_by_side

# A quick run looks whether the engines work; starting ray takes longer than all that.
_ENGINES = [engine for engine in ENGINES if not (QUICK and engine == "ray")]
_CALLS = [
    *((engine, "stats") for engine in _ENGINES),
    ("process pool", "compare"),
    ("process pool", "convert"),
]
_ROUNDS = 3 if QUICK else 5


@pytest.fixture(scope="module")
def dump(directory: Path) -> Iterator[Path]:
    root = directory / "executors"
    root.mkdir()
    try:
        write_chains(root, N_COMMAND_FILES)
        yield root
    finally:
        shutil.rmtree(root)


@pytest.mark.parametrize(("engine", "function"), _CALLS)
def test_executor(
    benchmark: BenchmarkFixture,
    report: Report,
    directory: Path,
    dump: Path,
    engine: str,
    function: str,
) -> None:
    """Starting the workers is not counted, and neither is their first import of fastdump."""
    if not is_installed(engine):
        pytest.skip(f"{engine} is not installed")
    second: dict[str, list[Path]] = {"compare": [dump], "convert": [directory / "converted"]}
    paths = [dump, *second.get(function, [])]
    options = {"overwrite": True} if function == "convert" else {}
    with ExecutorProcess(engine) as process:
        timings = side_by_side(
            benchmark,
            _ROUNDS,
            (engine, lambda: process.call(function, *paths, by_workers=True, **options)),
            {"threads": lambda: process.call(function, *paths, by_workers=False, **options)},
        )
    shutil.rmtree(directory / "converted", ignore_errors=True)
    times = timings.quotient(engine, "threads")
    report.add(
        benchmark,
        Row(
            section="executors",
            what=f"{function}, {N_COMMAND_FILES:,} files, {engine}",
            size="0.3 to 1.9 KiB each",
            threads=N_WORKERS,
            other=f"{times:.2f} x one call with {N_WORKERS} threads",
            required=[Requirement("at most 1.3", round(times, 1) <= 1.3)],
            aim=[Requirement("at most 1.1", round(times, 1) <= 1.1)],
        ),
    )
