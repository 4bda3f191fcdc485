"""The guard against code that takes more instructions: what it subtracts, and when it fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import counted_runs, instruction_counts
from benchmarks.counted_runs import CountedRun
from benchmarks.instruction_counts import Figure, compare, figures_of


def test_figures_leave_out_fixed_costs() -> None:
    runs = [
        CountedRun("float32 basic", 100, 400, 1000 + 100 * 2),
        CountedRun("a tensor", 1, 0, 700),
        CountedRun("float32 basic", 300, 1200, 1000 + 300 * 2),
    ]
    assert figures_of(runs) == {
        "float32 basic": Figure(each=2, byte=0.5),
        "a tensor": Figure(each=700),
    }


@pytest.mark.parametrize(("scalar", "expected"), [(9, {}), (100, {"x: scalar": Figure(1)})])
def test_other_counts_are_figures_if_they_are_many(
    scalar: int, expected: dict[str, Figure]
) -> None:
    none = CountedRun("x", 100, 0, 300, {"scalar": 1})
    figures = figures_of([none, CountedRun("x", 200, 0, 600, {"scalar": 1 + scalar})])
    assert figures == {"x": Figure(3), **expected}


@pytest.mark.parametrize(("now", "holds"), [(1.09, True), (1.11, False), (0.5, True)])
def test_a_jump_of_more_than_a_tenth_fails(
    now: float, holds: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare({"case": 100.0}, {"case": Figure(now * 100)}) is holds
    printed = capsys.readouterr().out
    assert ("Not as good" in printed) is not holds
    assert ("Less than before" in printed) is (now == 0.5)


def test_a_case_without_a_committed_figure_fails() -> None:
    assert not compare({"a": 1.0}, {"a": Figure(1.0), "b": Figure(1.0)})


def test_a_committed_figure_without_a_case_fails() -> None:
    assert not compare({"a": 1.0, "b": 1.0}, {"a": Figure(1.0)})


def test_other_counts_may_vanish(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare({"a": 1.0, "a: scalar": 1.0}, {"a": Figure(1.0)})
    assert "a: scalar: 1 -> next to none" in capsys.readouterr().out


def test_pieces_of_code_count_as_often_as_they_are_entered() -> None:
    log = b"""\
IN: begin_count
0x5500000aa4:  d65f03c0  ret

Trace 0: 0x7fb319736380 [0000000001009331/0000005500000aa4/00000001/00000200] begin_count
IN: loop
0x5500000b00:  1e22c000  fcvt     d0, s0
0x5500000b04:  0e617800  fcvtl    v0.2d, v0.2s
0x5500000b08:  4e0c1c01  ins      v1.s[1], w0
0x5500000b0c:  54ffffe1  b.ne     #0x5500000b00

Trace 0: 0x7fb319736400 [0000000001009331/0000005500000b00/00000001/00000200] loop
Trace 0: 0x7fb319736400 [0000000001009331/0000005500000b00/00000001/00000200] loop
Trace 0: 0x7fb319736380 [0000000001009331/0000005500000cc0/00000001/00000200] end_count
Trace 0: 0x7fb319736400 [0000000001009331/0000005500000b00/00000001/00000200] loop
"""
    lines = iter(log.splitlines(keepends=True))
    assert list(counted_runs._counts_in_log(lines)) == [(8, {"scalar": 4})]


@pytest.mark.parametrize(("compiler", "expected"), [("GCC 12.3.0", 1), ("GCC 13.1.0", 0)])
def test_another_compiler_is_not_judged(
    compiler: str, expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    committed = tmp_path / "figures.json"
    section = {"compiler": "GCC 12.2.0", "flags": {}, "figures": {"case": 1.0}}
    committed.write_text(json.dumps({"qemu": section}))
    build = tmp_path / "build"
    build.mkdir()
    (build / "compile_commands.json").write_text("[]")
    program = build / "tests" / "native" / "counted_runs"
    runs = [CountedRun("case", 1, 0, 2)]
    monkeypatch.setattr(instruction_counts, "_COMMITTED", committed)
    monkeypatch.setattr(instruction_counts, "count_with_qemu", lambda _: (compiler, runs))
    monkeypatch.setattr(sys, "argv", ["instruction_counts", "qemu", str(program)])
    assert instruction_counts.main() == expected
