"""What the benchmarks share, and the table at the end of the run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.machine import describe_machine
from benchmarks.other_tier import OtherTier, names_of_others
from benchmarks.plain_read import NoCompilerError, PlainReader
from benchmarks.report import Report
from benchmarks.scale import QUICK

_REPORT = pytest.StashKey[Report]()
_MACHINE = pytest.StashKey[dict[str, str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "scan: what `make bench-full` measures")
    # Its own table shows the times of one side only.
    config.option.benchmark_quiet = True
    directory = Path(os.environ.get("FASTDUMP_BENCH_DIR") or tempfile.gettempdir())
    config.stash[_REPORT] = Report()
    config.stash[_MACHINE] = describe_machine(directory)


def pytest_benchmark_update_machine_info(
    config: pytest.Config, machine_info: dict[str, Any]
) -> None:
    machine_info["fastdump"] = config.stash[_MACHINE]


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    report = config.stash[_REPORT]
    if not report.rows:
        return
    terminalreporter.section("fastdump benchmarks")
    if QUICK:
        terminalreporter.write_line("A quick run: sizes are too small and rounds too few to judge.")
        terminalreporter.write_line("")
    for key, value in config.stash[_MACHINE].items():
        terminalreporter.write_line(f"{key:<10} {value}")
    terminalreporter.write_line("")
    for line in report.lines():
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Report:
    """Collects the rows of the table."""
    return pytestconfig.stash[_REPORT]


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a directory for the files that are read; it is removed in the end."""
    parent = os.environ.get("FASTDUMP_BENCH_DIR")
    if parent:
        path = Path(tempfile.mkdtemp(prefix="fastdump-bench-", dir=parent))
    else:
        path = tmp_path_factory.mktemp("bench")
    try:
        yield path
    finally:
        shutil.rmtree(path)


@pytest.fixture(scope="session")
def other_tiers() -> Iterator[dict[str, OtherTier]]:
    """Return a process for each tier that this CPU has besides the one in use."""
    tiers = {name: OtherTier(name) for name in names_of_others()}
    yield tiers
    for tier in tiers.values():
        tier.close()


@pytest.fixture(scope="session")
def plain_reader(tmp_path_factory: pytest.TempPathFactory) -> PlainReader:
    """Reads without doing anything else."""
    try:
        return PlainReader(tmp_path_factory.mktemp("plain_read"))
    except NoCompilerError as error:
        pytest.skip(str(error))
