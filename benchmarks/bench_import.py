"""What fastdump adds to the start of a program that uses numpy, and its command line to click's."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import IMPORT_ROUNDS
from benchmarks.side_by_side import side_by_side

_MOST_MS = 50
_MOST_TIMES_CLICK = 1.3


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


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_command_line(benchmark: BenchmarkFixture, report: Report, option: str) -> None:
    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    program = f"import sys; from fastdump._cli import main; sys.exit(main(['{option}']))"
    timings = side_by_side(
        benchmark,
        IMPORT_ROUNDS,
        ("fastdump", lambda: run("-c", program)),
        {"click": lambda: run("-c", "import click")},
    )

    ratio = timings.quotient("fastdump", "click")
    milliseconds = 1000 * timings.median("fastdump")
    report.add(
        benchmark,
        Row(
            section="import",
            what=f"fastdump {option}",
            size="",
            other=f"{milliseconds:.0f} ms, {ratio:.2f} times import click",
            required=[Requirement(f"at most {_MOST_TIMES_CLICK}", ratio <= _MOST_TIMES_CLICK)],
        ),
    )
