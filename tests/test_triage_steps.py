"""What steps have in common, and what differs from step to step without being wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_dumps import SmallDump

import fastdump


def noise(*shape: int, seed: int = 0, scale: float = 1.0, dtype: Any = np.float32) -> Any:
    rng = np.random.default_rng([seed, *shape])
    return (rng.standard_normal(shape) * scale).astype(dtype)


def first_of(report: fastdump.TriageReport) -> tuple[str, str, str | None, int | None]:
    """Return kind and verdict of the first finding, and its operator and step."""
    origin = report.findings[0].origin
    assert origin is not None
    return report.findings[0].kind, origin.verdict, origin.operator.op_name, origin.operator.step


# Counters that run through a step


def counted_step(
    dump: SmallDump, step: int, operators: Sequence[tuple[str, Any, Any]], rank: int = 0
) -> None:
    """Write operators whose names end in a counter; each has one input and one output."""
    for number, (name, read, made) in enumerate(operators, 1):
        dump.op(f"{name}_{number}", [read], [made], step=step, rank=rank)


def branching(step: int, *, scale: float = 1.0) -> list[tuple[str, Any, Any]]:
    """Return the operators of a step, one of which only even steps have.

    Those of one name are of different sizes, so that one counter more compares a small one with a
    large one. What the sum of the third layer makes is `scale` times as large.
    """
    x = noise(16, 16, seed=step)
    operators = [("Cast layers.0/to_copy", x, x)] if step % 2 == 0 else []
    for layer in range(4):
        for n, size in enumerate([1.0, 5e3, 1e-4]):
            made = noise(16, 16, seed=10 * layer + n, scale=size)
            operators.append((f"Mul layers.{layer}/mul", x, made))
        made = noise(16, 16, seed=step + layer, scale=scale if layer == 2 else 1.0)
        operators.append((f"Add layers.{layer}/add", x, made))
    return operators


def test_a_counter_does_not_make_operators_the_same(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(4):
        counted_step(dump, step, branching(step))
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence


@pytest.mark.parametrize("scale", [2000.0, 1 / 2000])
def test_a_jump_is_found_whatever_the_counter(scale: float, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(4):
        counted_step(dump, step, branching(step, scale=scale if step == 3 else 1.0))
    report = fastdump.triage(tmp_path)
    # The counter is that of this step.
    assert first_of(report) == ("norm_jump", "origin", "layers.2/add_12", 3)
    assert len(report.findings) == 1


def test_other_shapes_are_of_another_operator(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step, n in enumerate([16, 16, 8, 16]):
        x = noise(n, 16, seed=step, scale=5000.0 if n == 8 else 1.0)
        dump.op("MatMulV2 experts.0/mm", [noise(n, 16, seed=step), noise(16, 16)], [x], step=step)
    assert fastdump.triage(tmp_path).clean


def test_no_operator_is_missing_where_steps_branch(tmp_path: Path) -> None:
    """In odd steps, something else makes what the last operator reads."""
    dump = SmallDump(tmp_path)
    for step in range(4):
        x, y = noise(16, 16, seed=step), noise(16, 16, seed=step + 10)
        bad = y.copy()
        bad[2, 3:] = np.nan
        if step % 2 == 0:
            counted_step(dump, step, [("Mul a/mul", x, y), ("Exp b/exp", y, y + 1)])
        else:
            read, made = (bad, bad + 1) if step == 3 else (y, y + 1)
            counted_step(dump, step, [("Div a/div", x, x + 1), ("Exp b/exp", read, made)])
    assert first_of(fastdump.triage(tmp_path)) == ("nan", "data", "b/exp_2", 3)


def test_no_rank_lacks_an_operator_where_ranks_branch(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=2)
    for step in range(4):
        for rank in range(2):
            counted_step(dump, step, branching(step + rank), rank=rank)
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence


# What varies by nature


@pytest.mark.parametrize(
    "operator",
    [
        "Sum /sum_201",
        "Sum _sum_201",
        "SiluBackward layers.0/silu_backward",
        "BiasAddGrad net/BiasAddGrad",
        "MatMul Gradients/Default/net/MatMul",
        "ApplyAdamW net/update",
        "Mul net/optimizer/Mul",
        "OneHot layers.0/one_hot",
    ],
)
def test_gradients_and_counts_are_of_any_size(operator: str, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(3):
        x = noise(16, 16, seed=step)
        dump.op("MatMulV2 layers.0/mm", [x, x], [x], step=step)
        made = noise(16, 16, seed=step, scale=[1e-9, 1e-2, 1e2][step])
        dump.op(operator, [x], [made], step=step)
        dump.op("Relu layers.1/relu", [x], [np.maximum(x, 0)], step=step)
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence


@pytest.mark.parametrize(
    "operator", ["Lambda layers.0/fn", "Hadamard layers.0/rotate", "Mul layers.0.gradual/mul"]
)
def test_a_word_that_only_looks_alike_is_not_a_gradient(operator: str, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(3):
        x = noise(16, 16, seed=step)
        dump.op(operator, [x], [x * np.float32(5000 if step == 2 else 1)], step=step)
    assert [one.kind for one in fastdump.triage(tmp_path).findings] == ["norm_jump"]


def test_scores_are_larger_where_a_finite_mask_was_added(tmp_path: Path) -> None:
    """A batch without padding has nothing to mask."""
    dump = SmallDump(tmp_path)
    for step in range(4):
        x = noise(16, 16, seed=step)
        mask = np.zeros((16, 16), np.float32)
        mask[:, 16 - 3 * step :] = -10_000.0 if step else 0.0
        dump.op("Mul layers.0/mask_mul", [x], [mask], step=step)
        dump.op("Add layers.0/add", [x, mask], [x + mask], step=step)
        dump.op("Softmax layers.0/softmax", [x + mask], [np.abs(x)], step=step)
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence
