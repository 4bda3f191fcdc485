"""The rows of a comparison of the ways of reading: auto, and the two that it chooses from."""

from __future__ import annotations

from typing import Literal, get_args

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.report import Report, Row, at_least
from benchmarks.side_by_side import Timings

Engine = Literal["auto", "mmap", "read"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

_LEAST, _AIM = 0.90, 0.97


def add_engine_rows(
    benchmark: BenchmarkFixture,
    report: Report,
    timings: Timings,
    *,
    what: str,
    size: str,
    threads: int,
    nbytes: int,
) -> None:
    """Add a row for each engine to the report; `auto` has the better of the others as its peer."""
    better = min(("mmap", "read"), key=timings.median)
    times_better = timings.quotient(better, "auto")
    for engine in ENGINES:
        is_auto = engine == "auto"
        report.add(
            benchmark,
            Row(
                section="engines",
                what=f"{what}, engine={engine}",
                size=size,
                threads=threads,
                gb_per_s=nbytes / timings.median(engine) / 1e9,
                plain_read_gb_per_s=nbytes / timings.median("plain read") / 1e9,
                ratio=timings.quotient("plain read", engine),
                peer_gb_per_s=nbytes / timings.median(better) / 1e9 if is_auto else None,
                times_peer=times_better if is_auto else None,
                required=[at_least(_LEAST, times_better, "{} x peer")] if is_auto else (),
                aim=[at_least(_AIM, times_better, "{} x peer")] if is_auto else (),
            ),
        )
