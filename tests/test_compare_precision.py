"""Errors that rounding explains, and those that it does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from comparisons import Array, write_op
from hypothesis import given, settings
from hypothesis import strategies as st

import fastdump
from fastdump import ComparisonTable
from fastdump._compare.error_growth import Operand, largest_error, unit_roundoff

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def operand(exact: Array, rounded: Array, dtypes: tuple[str, str]) -> Operand:
    """Return what a comparison knows of a tensor; `rounded` is the reference."""
    a, b = exact.astype(np.float64), rounded.astype(np.float64)
    norm = float(np.linalg.norm(b))
    error = float(np.linalg.norm(a - b)) / norm if norm else 0.0
    return Operand(error, norm, float(np.abs(b).max()), float(b.std()), b.size, dtypes)


def silu(x: Array) -> Array:
    return np.asarray(x / (1 + np.exp(-x)))


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def layer_norm(x: Array) -> Array:
    return np.asarray((x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5))


OPERATORS: dict[str, tuple[Callable[..., Array], int]] = {
    "Add": (lambda x, y: x + y, 2),
    "Sub": (lambda x, y: x - y, 2),
    "Mul": (lambda x, y: x * y, 2),
    "Mm": (lambda x, y: x @ y.T, 2),
    "Sum": (lambda x: x.sum(-1), 1),
    "Mean": (lambda x: x.mean(-1), 1),
    "Silu": (silu, 1),
    "Softmax": (softmax, 1),
    "LayerNorm": (layer_norm, 1),
    "Var": (lambda x: x.var(-1), 1),
    "Cat": (lambda x, y: np.concatenate([x, y]), 2),
    "Rsqrt": (lambda x: 1 / np.sqrt(np.abs(x) + 0.1), 1),
}


@pytest.mark.parametrize("op_type", OPERATORS)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), offset=st.sampled_from([0.0, 0.5, 20.0]))
def test_a_run_in_bfloat16_is_explained(op_type: str, seed: int, offset: float) -> None:
    """What rounding inputs and output to bfloat16 does is within the bound."""
    compute, n = OPERATORS[op_type]
    rng = np.random.default_rng(seed)
    exact = [rng.normal(offset, 1, (6, 16)) for _ in range(n)]
    rounded = [x.astype(BFLOAT16).astype(np.float64) for x in exact]
    output = compute(*exact), compute(*rounded).astype(BFLOAT16)
    dtypes = ("float32", "bfloat16")
    inputs = [operand(x, y, dtypes) for x, y in zip(exact, rounded, strict=True)]
    found = operand(*output, dtypes)
    assert found.error <= largest_error(op_type, inputs, found)


@pytest.mark.parametrize(
    "op_type", [name for name in OPERATORS if name not in ("LayerNorm", "Var")]
)
def test_nothing_is_explained_without_a_reason(op_type: str) -> None:
    """Of equal inputs in float32, an output that is off by one in a thousand is not explained."""
    compute, n = OPERATORS[op_type]
    rng = np.random.default_rng(3)
    inputs = [rng.normal(0, 1, (6, 16)) for _ in range(n)]
    dtypes = ("float32", "float32")
    output = operand(compute(*inputs) * 1.001, compute(*inputs), dtypes)
    assert output.error > largest_error(op_type, [operand(x, x, dtypes) for x in inputs], output)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("float16", np.float16),
        ("bfloat16", ml_dtypes.bfloat16),
        ("float8_e4m3fn", ml_dtypes.float8_e4m3fn),
        ("float8_e5m2", ml_dtypes.float8_e5m2),
        ("float32", np.float32),
    ],
)
def test_unit_roundoff(name: str, dtype: Any) -> None:
    """Half of the distance from 1 to the next number, by an independent implementation."""
    assert unit_roundoff(name) == float(ml_dtypes.finfo(dtype).eps) / 2
    assert unit_roundoff("int32") == unit_roundoff(None) == 0


def write_layer(
    root: Path, dtype: Any, *, scale: float = 1.0, weight: float = 0.0, steps: int = 1
) -> None:
    """Write a matrix product, a product with a scale and a function of it, in one precision."""
    rng = np.random.default_rng(7)
    x, w = rng.normal(0, 1, (8, 32)), rng.normal(0, 1, (32, 32))
    for step in range(steps):
        x_, w_ = x.astype(dtype), w.astype(dtype)
        w_[3, 4] += np.asarray(weight, dtype)
        y = (x_.astype(np.float64) @ w_.astype(np.float64)).astype(dtype)
        z = (y.astype(np.float64) * scale).astype(dtype)
        write_op(root, "Add m/first", at=1, step=step, inputs=[x_], outputs=[x_])
        write_op(root, "MatMul m/mm", at=2, step=step, inputs=[x_, w_], outputs=[y])
        write_op(root, "Mul m/scale", at=3, step=step, inputs=[y], outputs=[z])
        write_op(
            root,
            "Silu m/silu",
            at=4,
            step=step,
            inputs=[z],
            outputs=[silu(z.astype(float)).astype(dtype)],
        )


def compared(tmp_path: Path, *, statistics: bool = False, **options: Any) -> ComparisonTable:
    sides: list[Any] = [tmp_path / "a", tmp_path / "b"]
    if statistics:
        sides = [fastdump.stats(side) for side in sides]
    return fastdump.compare(*sides, **options)


# Narrow tolerances of float8 would hide nothing: its errors are beyond all of them.
@pytest.mark.parametrize("dtype", [ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn])
def test_precisions(tmp_path: Path, dtype: Any) -> None:
    write_layer(tmp_path / "a", np.float32)
    write_layer(tmp_path / "b", dtype)
    table = compared(tmp_path)
    assert table.clean
    name = np.dtype(dtype).name
    assert set(table["verdict"]) <= {"close", "explained"}
    assert table.sentence.startswith(f"the runs agree within what {name} explains: ")
    row = next(row for row in table if row.verdict == "explained")
    assert row.relative_euclidean_distance is not None
    assert row.expected_error is not None
    assert row.relative_euclidean_distance <= row.expected_error
    # A tolerance that was asked for is one.
    strict = compared(tmp_path, max_relative_distance=1e-6)
    assert not strict.clean
    assert "explained" not in strict["verdict"]


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16])
def test_what_precision_does_not_explain(tmp_path: Path, dtype: Any, statistics: bool) -> None:
    write_layer(tmp_path / "a", np.float32)
    write_layer(tmp_path / "b", dtype, scale=1.25)
    first = compared(tmp_path, statistics=statistics).findings[0]
    assert (first.op_name, first.tensor, first.cause) == ("m/scale", "output.0", "here")


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_a_parameter_that_differs(tmp_path: Path, dtype: Any, statistics: bool) -> None:
    write_layer(tmp_path / "a", np.float32)
    write_layer(tmp_path / "b", dtype, weight=40.0)
    table = compared(tmp_path, statistics=statistics)
    first = table.findings[0]
    assert (first.op_name, first.tensor, first.cause) == ("m/mm", "input.1", "parameter")
    assert "it reads a parameter that differs" in table.sentence


def test_a_sum_in_another_order_is_explained(tmp_path: Path) -> None:
    """(x + y) + z and (x + z) + y have summands that differ, and one sum."""
    rng = np.random.default_rng(10)
    x, y, z = (rng.normal(0, 1, (4, 64)).astype(np.float32) for _ in range(3))
    for side, (second, last) in (("a", (y, z)), ("b", (z, y))):
        write_op(tmp_path / side, "Add m/sum", at=1, inputs=[x + second, last], outputs=[x + y + z])
    table = compared(tmp_path)
    assert table.clean
    assert table.filter(io="input")["verdict"].tolist() == ["explained", "explained"]


@pytest.mark.parametrize("op_type", ["Where", "Add"])
def test_an_operator_that_hides_bad_elements_explains_none(tmp_path: Path, op_type: str) -> None:
    rng = np.random.default_rng(11)
    x, y = (rng.normal(0, 1, (4, 64)).astype(np.float32) for _ in range(2))
    bad = x.copy()
    bad[1] = np.nan
    for side, read in (("a", bad), ("b", x)):
        write_op(tmp_path / side, f"{op_type} m/op", at=1, inputs=[read, y], outputs=[y])
    first = compared(tmp_path).findings[0]
    assert (first.op_name, first.tensor) == ("m/op", "input.0")


def test_one_summand_that_differs_is_no_other_order(tmp_path: Path) -> None:
    """A bias that is lost in the tolerance of the sum is another bias all the same."""
    rng = np.random.default_rng(12)
    x = rng.normal(0, 1e9, (4, 64)).astype(np.float32)
    for side, bias in (("a", 0.25), ("b", 0.5)):
        y = np.full(64, bias, np.float32)
        write_op(tmp_path / side, "Add m/bias", at=1, inputs=[x, y], outputs=[x + y])
    first = compared(tmp_path).findings[0]
    assert (first.op_name, first.tensor) == ("m/bias", "input.1")


def test_nothing_is_explained_after_what_is_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, (4, 64)).astype(np.float32)
    rounded = x.astype(BFLOAT16)
    for factor, one, two in ((1, "equal", "explained"), (3, "diverges", "diverges")):
        for side, read in (("a", x), ("b", rounded)):
            made = x * (factor if side == "b" else 1)
            write_op(tmp_path / side, "Relu m/one", at=1, inputs=[x], outputs=[made])
            write_op(tmp_path / side, "Abs m/two", at=2, inputs=[read], outputs=[read.astype("f4")])
        found = {row.op_name: row.verdict for row in compared(tmp_path).filter(io="output")}
        assert found == {"m/one": one, "m/two": two}


def test_an_operator_that_one_run_lacks(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x, branch = (rng.normal(0, 1, (4, 8)).astype(np.float32) for _ in range(2))
    for side in "ab":
        write_op(tmp_path / side, "Silu m/silu", at=1, inputs=[x], outputs=[branch])
        if side == "a":
            write_op(
                tmp_path / side, "Add m/residual", at=2, inputs=[x, branch], outputs=[x + branch]
            )
        read = x + branch if side == "a" else branch
        write_op(tmp_path / side, "Exp m/exp", at=3, inputs=[read], outputs=[np.exp(read)])
    table = compared(tmp_path)
    first = table.findings[0]
    assert (first.op_name, first.cause) == ("m/exp", "unpaired")
    assert (first.suspect_a, first.suspect_b) == ("Add m/residual", None)
    assert "it reads what Add m/residual made, which only a has there" in table.sentence


def test_an_operator_that_reads_another_output(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    x, y = (rng.normal(0, 1, (4, 8)).astype(np.float32) for _ in range(2))
    for side in "ab":
        write_op(tmp_path / side, "Silu m/one", at=1, outputs=[x])
        write_op(tmp_path / side, "Silu m/two", at=2, outputs=[y])
        read = x if side == "a" else y
        write_op(tmp_path / side, "Exp m/exp", at=3, inputs=[read], outputs=[np.exp(read)])
    table = compared(tmp_path)
    first = table.findings[0]
    assert (first.cause, first.suspect_a, first.suspect_b) == (
        "rewired",
        "Silu m/one",
        "Silu m/two",
    )
    assert "it reads the output of Silu m/one in a, of Silu m/two in b" in table.sentence


def write_mask(root: Path, dtype: Any, n_masked: int = 3) -> None:
    """Write scores to which the smallest finite value was added in some places."""
    rng = np.random.default_rng(5)
    scores = rng.normal(0, 1, (2, 3, 8)).astype(dtype)
    scores[..., 8 - n_masked :] = ml_dtypes.finfo(dtype).min
    write_op(root, "Add m/scores", at=1, outputs=[scores])


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize("dtypes", [("float32", "float16"), ("bfloat16", "float16")])
def test_mask_constants(tmp_path: Path, dtypes: tuple[str, str], statistics: bool) -> None:
    for side, dtype in zip("ab", dtypes, strict=True):
        write_mask(tmp_path / side, np.dtype(dtype))
    assert compared(tmp_path, statistics=statistics).clean
    # Another mask is another mask.
    for side, dtype in zip("ab", dtypes, strict=True):
        write_mask(tmp_path / side, np.dtype(dtype), n_masked=4)
        table = compared(tmp_path, statistics=statistics)
        assert [op.op_name for op in table.findings] == (["m/scores"] if side == "a" else [])
        write_mask(tmp_path / side, np.dtype(dtype), n_masked=4 if side == "a" else 3)
    table = compared(tmp_path, statistics=statistics)
    assert [op.op_name for op in table.findings] == ["m/scores"]


def test_mask_constants_are_left_out(tmp_path: Path) -> None:
    write_mask(tmp_path / "a", np.float32)
    write_mask(tmp_path / "b", np.float16)
    (row,) = compared(tmp_path)
    assert row.count == 30
    assert row.note == "18 elements left out: the mask constant of both types"
    assert row.max_abs_error_index is not None
    assert row.max_abs_error_index % 8 < 5
    a, b = (row.tensor_a()[...].reshape(-1), row.tensor_b()[...].reshape(-1))
    worst = row.max_abs_error_index
    assert row.max_abs_error == abs(float(a[worst]) - float(b[worst]))


def test_memory_that_was_not_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    y = rng.normal(0, 1, (4, 6)).astype(np.float32)
    for side in "ab":
        old = rng.normal(0, 1, (4, 6)).astype(np.float32)
        write_op(tmp_path / side, "EmptyLike m/empty", at=1, inputs=[y], outputs=[old])
        write_op(tmp_path / side, "Fill m/fill", at=2, inputs=[old], outputs=[y])
    table = compared(tmp_path)
    assert table.clean
    assert table["verdict"].tolist() == ["equal", None, None, "equal"]
    # What makes something of it is found.
    for side in "ab":
        write_op(tmp_path / side, "Mul m/mul", at=3, outputs=[y * (2 if side == "a" else 3)])
    assert [op.op_name for op in compared(tmp_path).findings] == ["m/mul"]


def test_operators_in_another_type(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(0, 1, (4, 6)).astype(np.float32)
    for side in "ab":
        for i in range(12):
            dtype = BFLOAT16 if (side, i) == ("b", 2) else np.dtype(np.float32)
            write_op(
                tmp_path / side, f"Silu m/silu{i}x", at=i, inputs=[x], outputs=[x.astype(dtype)]
            )
    remarks = compared(tmp_path).answer().remarks
    said = "1 operator computing in another type, first float32 in a, bfloat16 in b"
    assert said in remarks
