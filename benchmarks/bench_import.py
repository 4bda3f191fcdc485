"""What fastdump adds to the start of a program that uses numpy."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import IMPORT_ROUNDS
from benchmarks.side_by_side import side_by_side

_MOST_MS = 50


# `import fastdump` puts off its own imports until they are needed, so the second is the honest one.
@pytest.mark.parametrize("what", ["import fastdump", "from fastdump import stats"])
def test_import(benchmark: BenchmarkFixture, report: Report, what: str) -> None:
    def run(*statements: str) -> None:
        subprocess.run([sys.executable, "-c", "; ".join(statements)], check=True)

    timings = side_by_side(
        benchmark,
        IMPORT_ROUNDS,
        ("fastdump", lambda: run("import numpy", what)),
        {"numpy": lambda: run("import numpy")},
    )

    milliseconds = 1000 * timings.difference("fastdump", "numpy")
    required = [Requirement(f"at most {_MOST_MS} ms", milliseconds <= _MOST_MS)]
    report.add(
        benchmark,
        Row(
            section="import",
            what=what,
            size="",
            other=f"{milliseconds:.1f} ms",
            required=required,
        ),
    )
