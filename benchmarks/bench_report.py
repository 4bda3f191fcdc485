"""`fastdump.report`: the page of many rows, how large it is, and how long it takes to open.

Opening is from the address to drawn figures, in headless Chromium, if that and playwright are here.
"""

from __future__ import annotations

import os
import shutil
import statistics
import time
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.many_rows import part_of_rank
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import ROUNDS, TINY_ROUNDS
from fastdump._dump_page import dump_page

pytest.importorskip("bokeh")

_MOST_NBYTES = 5 * 2**20
_MOST_TO_OPEN_S = 2.0


@pytest.mark.parametrize(
    ("n_rows", "n_ranks"), [(10_000, 8), (100_000, 8), (1_000_000, 8), (1_024_000, 1024)]
)
def test_report(
    benchmark: BenchmarkFixture, report: Report, tmp_path: Path, n_rows: int, n_ranks: int
) -> None:
    """The time is that of the page alone: the table and its triage are there."""
    table = fastdump.concat([part_of_rank(rank, n_rows // n_ranks) for rank in range(n_ranks)])
    triage = fastdump.triage(table)
    html = benchmark.pedantic(lambda: dump_page(table, triage), rounds=TINY_ROUNDS, warmup_rounds=1)
    page = tmp_path / "page.html"
    page.write_text(html)
    required = [Requirement("at most 5 MiB", page.stat().st_size <= _MOST_NBYTES)]
    opening = ""
    if opened := _seconds_to_open(page):
        opening = f", opens in {opened:.2f} s"
        required.append(Requirement("opens in 2 s", opened <= _MOST_TO_OPEN_S))
    assert benchmark.stats is not None
    seconds = statistics.median(benchmark.stats.stats.data)
    report.add(
        benchmark,
        Row(
            section="report",
            what=f"of {n_ranks:,} ranks, {page.stat().st_size / 1e6:.2f} MB{opening}",
            size=f"{n_rows:,} rows",
            other=f"{seconds:.2f} s",
            required=required,
        ),
    )


def _seconds_to_open(page: Path) -> float | None:
    """Return how long it takes until a page and its figures are drawn, None without a browser."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    seconds = []
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        for _ in range(ROUNDS):
            tab = browser.new_page()
            start = time.perf_counter()
            tab.goto(page.as_uri())
            tab.wait_for_selector("html[data-figures=drawn]", state="attached")
            seconds.append(time.perf_counter() - start)
            tab.close()
    return statistics.median(seconds)
