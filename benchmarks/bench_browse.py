"""`fastdump browse`: a table of many rows, from the table to the screen, and from page to page."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.many_rows import part_of_rank
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import N_BROWSED_ROWS
from fastdump import StatsTable
from fastdump._selection import Selection

pytest.importorskip("textual")

from fastdump._browse import app as browse_app
from fastdump._browse.app import BrowseApp
from fastdump._browse.table_view import TableView

_MOST_TO_OPEN_S = 0.5
_MOST_A_PAGE_S = 0.1
_N_RANKS = 8
_N_PAGES = 50


@pytest.fixture(scope="module")
def table() -> StatsTable:
    n_rows = N_BROWSED_ROWS // _N_RANKS
    return fastdump.concat([part_of_rank(rank, n_rows) for rank in range(_N_RANKS)])


def test_browse(
    benchmark: BenchmarkFixture,
    report: Report,
    table: StatsTable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time to open is that of the program too, but not that of its imports."""

    def tables_of(*_: object, **__: object) -> Iterator[tuple[StatsTable, bool]]:
        yield table, True

    monkeypatch.setattr(browse_app, "tables_of", tables_of)
    opened: list[float] = []
    pages: list[float] = []

    async def look() -> None:
        start = time.perf_counter()
        app = BrowseApp("table", selection=Selection())
        async with app.run_test(size=(80, 24)) as pilot:
            while app.screen.query_one(TableView).row is None:
                await asyncio.sleep(0)
            await pilot.pause()
            opened.append(time.perf_counter() - start)
            await app.workers.wait_for_complete()
            await pilot.pause()
            view = app.screen.query_one(TableView)
            places = random.Random(1)
            for _ in range(_N_PAGES):
                start = time.perf_counter()
                view.move_to(places.randrange(len(table)))
                await pilot.pause()
                pages.append(time.perf_counter() - start)

    benchmark.pedantic(lambda: asyncio.run(look()), rounds=3)
    open_s, page_s = min(opened), sorted(pages)[len(pages) // 2]
    report.add(
        benchmark,
        Row(
            section="browse",
            what=f"open in {open_s:.2f} s, a page anywhere in {1000 * page_s:.0f} ms",
            size=f"{len(table):,} rows",
            other="",
            required=[
                Requirement(f"at most {_MOST_TO_OPEN_S:.1f} s", open_s <= _MOST_TO_OPEN_S),
                Requirement(f"at most {1000 * _MOST_A_PAGE_S:.0f} ms", page_s <= _MOST_A_PAGE_S),
            ],
        ),
    )
