"""The answers that reports lead with: at most eight lines, which fit a terminal and keep names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len
from sample_dumps import Demos

import fastdump
from fastdump import Report, testing
from fastdump._cli import main
from fastdump._words.answer import MAX_LINES, Answer
from fastdump._words.text_table import plain

WIDTHS = (60, 80, 120, 200)

NAMES = (
    "model.layers.31.self_attn.q_proj/MatMul",
    "model.layers.60.mlp.experts.255.down_proj/GroupedMatmul_swiglu",
    "visual.blocks.12.attn.qkv_proj_with_rotary_embedding/FlashAttentionScore",
    "unet.up_blocks.3.attentions.2.transformer_blocks.0.attn2.to_out.0/MatMulV2",
    "\u6a21\u578b.\u5c42.7.\u81ea\u6ce8\u610f\u529b.\u67e5\u8be2\u6295\u5f71/\u77e9\u9635\u4e58",
)
"""Names as real models have them."""


def lines_of(report: Report | Answer, width: int | None) -> list[str]:
    return [plain(line) for line in report.lines(width=width)]


def is_command(line: str) -> bool:
    return line.startswith("  next ")


def write_op(
    root: Path, op_type: str, name: str, *, at: int, step: int = 0, **tensors: Any
) -> None:
    file = testing.dump_name(op_type, name, task_id=at, stream_id=1, timestamp=10**15 + at)
    directory = root / "rank_1" / "20260101000000" / "1" / "net" / "1" / str(step)
    testing.write_dump(directory / file, op_name=name, **tensors)


def write_overflow(root: Path, name: str) -> None:
    """Write an operator of a name that overflows, between others of the same model."""
    ones = np.ones((4, 8), np.float16)
    bad = ones.copy()
    bad[2, 3] = np.inf
    write_op(root, "Add", "embed/Add", at=1, outputs=[ones])
    write_op(root, "MatMulV2", name, at=2, inputs=[ones], outputs=[bad])
    write_op(root, "Relu", f"{name}_next", at=3, inputs=[bad], outputs=[bad])


# What is said


@pytest.mark.parametrize("width", [None, *WIDTHS])
@pytest.mark.parametrize("kind", ["model", "overflow", "watcher", "compare"])
def test_an_answer_fits_eight_lines_of_any_terminal(
    demos: Demos, kind: str, width: int | None
) -> None:
    report: Report
    if kind == "model":
        report = fastdump.triage(demos.model)
    elif kind == "overflow":
        report = fastdump.overflow(demos.overflow)
    elif kind == "watcher":
        report = fastdump.watcher(demos.watcher)
    else:
        report = fastdump.compare(demos.model, demos.overflow)
    lines = lines_of(report, width)
    assert 1 <= len(lines) <= MAX_LINES
    if width is not None:
        assert [line for line in lines if cell_len(line) > width and not is_command(line)] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_layer_and_operation_stay_at_any_width(name: str, width: int, tmp_path: Path) -> None:
    write_overflow(tmp_path, name)
    lines = lines_of(fastdump.triage(tmp_path), width)
    headline, operator, *_ = lines
    assert operator.startswith("  operator  MatMulV2 ")
    for line in lines:
        assert cell_len(line) <= width or is_command(line)
    layer, *others = re.findall(r"(?<=[.])\d+(?=[./])", name)
    assert f".{layer}." in operator
    assert name.rpartition("/")[2] in operator
    assert layer in headline
    if width >= 80:  # narrower, there is not room for all
        assert name.rpartition("/")[2] in headline
        assert [number for number in others if f"{number}." not in operator] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_gets_whole_names(name: str, tmp_path: Path) -> None:
    write_overflow(tmp_path, name)
    assert f"MatMulV2 {name}, output.0" in str(fastdump.triage(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_the_next_command_names_that_operator_alone(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_overflow(tmp_path, name)
    (command,) = filter(is_command, lines_of(fastdump.triage(tmp_path), 80))
    _, program, verb, path, pattern, *options = shlex.split(command)
    assert (program, verb, Path(path).resolve()) == ("fastdump", "show", tmp_path.resolve())
    assert options == ["--rank", "1", "--step", "0"]
    names = set(fastdump.stats(tmp_path, op_name=pattern)["op_name"])
    assert names == {name}
    assert main([verb, path, pattern, *options]) == 0
    assert name in capsys.readouterr().out


def test_repeats_of_one_operator_are_one_line(tmp_path: Path) -> None:
    ones = np.ones((4, 8), np.float16)
    bad = np.full_like(ones, np.inf)
    for step in range(3):
        write_op(tmp_path, "Exp", "l.1/Exp", at=step, step=step, inputs=[ones], outputs=[bad])
    assert "  again     2 more times: rank 1, steps 1-2" in lines_of(fastdump.triage(tmp_path), 80)


def test_how_far_values_jump_is_told(tmp_path: Path) -> None:
    values = np.linspace(1, 2, 32, dtype=np.float32).reshape(4, 8)
    for step in range(3):
        output = values * (4096 if step == 2 else 1)
        write_op(
            tmp_path, "MatMulV2", "l.1/up", at=step, step=step, inputs=[values], outputs=[output]
        )
    headline, _, what, *_ = lines_of(fastdump.triage(tmp_path), 80)
    assert headline == "rank 1, step 2: l.1/up makes values of an unusual size"
    assert what == "  what      values are 4,096 times larger than before"


def test_scattered_elements_of_two_kinds(tmp_path: Path) -> None:
    """Without a rectangle, the share of bad elements is told once."""
    ones = np.ones((6, 8), np.float16)
    bad = ones.copy()
    bad[0, 1], bad[2, 4], bad[5, 0] = np.nan, np.inf, np.nan
    write_op(tmp_path, "MatMulV2", "l.1/up", at=1, inputs=[ones], outputs=[bad])
    headline, _, what, *_ = lines_of(fastdump.triage(tmp_path), None)
    assert headline == "rank 1, step 0: NaN/+Inf first appears in l.1/up"
    expected = "  what      3 of 48 float16 elements are bad (2 NaN, 1 +Inf): scattered: "
    assert what == f"{expected}3 of 6 along axis 0, 3 of 8 along axis 1"


def test_an_interrupted_triage_says_so_in_its_headline(demos: Demos) -> None:
    table = fastdump.stats(demos.model, level="full", rank=1)
    part = fastdump.StatsTable(table, skipped={"not finished when interrupted": 7})
    headline, *_ = str(fastdump.triage(part)).splitlines()
    assert headline.startswith("interrupted, so far rank 1, step 1: ")
    assert fastdump.triage(part).summary["not_read"] == 7
    assert not str(fastdump.triage(table)).startswith("interrupted")


def test_files_that_are_not_at_hand_are_not_to_be_shown(demos: Demos, tmp_path: Path) -> None:
    table = fastdump.stats(demos.model, level="full").moved_to(tmp_path / "gone")
    assert not any(map(is_command, lines_of(fastdump.triage(table), 80)))


# How it is laid out


def test_labels_are_aligned() -> None:
    answer = Answer("what", facts=(("a", "first"), ("longer", "second")), command="do this")
    assert lines_of(answer, None) == [
        "what",
        "  a       first",
        "  longer  second",
        "  next    do this",
    ]


def test_a_command_is_never_cut() -> None:
    command = f"fastdump show {'x' * 100}"
    assert lines_of(Answer("what", command=command), 60)[1] == f"  next  {command}"


def test_words_are_not_cut() -> None:
    headline = "one two three four five six seven eight nine ten"
    for width in range(20, 48):
        (line,) = lines_of(Answer(headline), width)
        assert cell_len(line) <= width
        assert set(line.split()) <= {*headline.split(), "..."}


def test_remarks_fill_the_lines_that_are_left() -> None:
    facts = tuple((str(i), "x") for i in range(5))
    remarks = tuple(f"remark {i}" for i in range(20))
    lines = lines_of(Answer("what", facts=facts, remarks=remarks), 40)
    assert len(lines) == MAX_LINES
    shown = sum(line.count("remark ") for line in lines)
    n_left = len(remarks) - shown
    assert lines[-1].endswith(f"; {n_left} more remarks (-v)")
    assert all(cell_len(line) <= 40 for line in lines)
    full = lines_of(Answer("what", facts=(*facts, *facts[:2]), remarks=remarks), 40)
    assert len(full) == MAX_LINES
    assert "remark" not in "".join(full)


def test_control_characters_do_not_reach_the_terminal() -> None:
    evil = "a\x1b[31m\nb"
    answer = Answer(evil, facts=((evil[:1], evil),), remarks=(evil,))
    assert "\x1b" not in "".join(lines_of(answer, 80))
    assert len(lines_of(answer, 80)) == 3
