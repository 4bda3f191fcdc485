"""Triage of a dump of many small files, beside computing its statistics; and of a sick one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from arro3.core import Array, DataType, Field
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import N_TRIAGE_FILES, ROUNDS
from benchmarks.side_by_side import side_by_side
from fastdump.demo import DemoDump, write_demo

_MOST = 2.0  # times the time of the statistics


@pytest.fixture(scope="module")
def demo(directory: Path) -> Iterator[DemoDump]:
    root = directory / "triage"
    try:
        yield write_demo(root, n_files=N_TRIAGE_FILES)
    finally:
        shutil.rmtree(root)


def test_triage(benchmark: BenchmarkFixture, report: Report, demo: DemoDump) -> None:
    """Scan, find the origin, and follow it in the files; the peer scans at its default level."""
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", lambda: fastdump.triage(demo.directory)),
        {"statistics": lambda: fastdump.stats(demo.directory)},
    )
    (origin,) = fastdump.triage(demo.directory).origins
    assert origin.operator.op_name == demo.overflow.op_name

    triage_s, stats_s = timings.median("fastdump"), timings.median("statistics")
    times = timings.quotient("fastdump", "statistics")
    report.add(
        benchmark,
        Row(
            section="triage",
            what=f"{demo.n_files:,} files in {triage_s:.2f} s, statistics in {stats_s:.2f} s",
            size=f"{demo.n_bytes / demo.n_files / 1024:.0f} KiB each",
            other=f"{times:.1f} x stats",
            required=[Requirement(f"at most {_MOST:.1f}", round(times, 1) <= _MOST)],
        ),
    )


@pytest.mark.parametrize("tensor", ["all", "output", "input"])
def test_triage_of_an_infection(
    benchmark: BenchmarkFixture, report: Report, demo: DemoDump, tensor: str
) -> None:
    """From step 1 on everything is NaN: a table, for of its files nothing more would be read."""
    table = _infected(fastdump.stats(demo.directory, level="full"))
    if tensor != "all":
        table = table.filter(io=tensor)
    timings = side_by_side(benchmark, ROUNDS, ("fastdump", lambda: fastdump.triage(table)), {})
    found = fastdump.triage(table).findings[0]
    if tensor != "input":
        assert sum(rank.operators for rank in found.infected) > 0.8 * demo.n_files

    triage_s = timings.median("fastdump")
    report.add(
        benchmark,
        Row(
            section="triage",
            what=f"of {table.summary()['files']:,} files, nearly all NaN, {tensor} dumped",
            size=f"{len(table):,} rows",
            other=f"{triage_s:.2f} s",
        ),
    )


def _infected(table: fastdump.StatsTable) -> fastdump.StatsTable:
    """Return a table in which all elements of all floats are NaN from step 1 on."""
    is_float = np.array([str(name).lstrip("b").startswith("float") for name in table["dtype"]])
    is_bad = is_float & (np.ma.filled(table["step"], 0) >= 1)
    nan = np.where(is_bad, np.ma.filled(table["count"], 0), 0)
    arrow = table.arrow
    place = arrow.column_names.index("nan")
    column = Array.from_numpy(nan.astype(np.int64))
    changed = arrow.to_batches()[0].set_column(place, Field("nan", DataType.int64()), column)
    return fastdump.StatsTable(changed, level="full")
