"""Where two runs part: planted errors are found, named and ranked."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from comparisons import W, X, chain, write_op

import fastdump
from fastdump import ComparisonTable


def compared(tmp_path: Path, **options: object) -> ComparisonTable:
    return fastdump.compare(tmp_path / "a", tmp_path / "b", **options)  # type: ignore[arg-type]


def causes(table: ComparisonTable) -> dict[str | None, str]:
    return {op.op_name: op.cause for op in table.findings}


def test_runs_that_agree(tmp_path: Path) -> None:
    chain(tmp_path / "a")
    chain(tmp_path / "b", wrong={2: 1e-7})
    table = compared(tmp_path)
    assert table.first_divergence is None
    assert list(table.findings) == table.by_added_error() == []
    assert table.sentence == "the runs agree within tolerance: 18 pairs"
    assert not table.diverges.any()


def test_the_first_divergence_and_what_follows(tmp_path: Path) -> None:
    chain(tmp_path / "a", wrong={2: 0.5})
    chain(tmp_path / "b")
    table = compared(tmp_path)
    assert causes(table) == {
        "layers.2/Mul": "here",
        "layers.3/Mul": "inherited",
        "layers.4/Mul": "inherited",
        "layers.5/Mul": "inherited",
    }
    first = table.first_divergence
    assert first is not None
    assert (first.op_type, first.op_name, first.tensor) == ("Mul", "layers.2/Mul", "output.0")
    assert (first.rank, first.step) == (0, 0)
    y = X.astype(np.float64) * 1.25**3
    expected = math.sqrt(0.5**2 * X.size / (y**2).sum())
    assert first.output_error == pytest.approx(expected, rel=1e-5)
    assert (first.input_error, first.added_error) == (0, first.output_error)
    assert table[first.row].path_a == first.path_a
    assert table.sentence.startswith(
        "rank 0, step 0: the runs part in layer 2, Mul; operator: Mul layers.2/Mul, output.0; "
        "what: distance "
    )
    assert table.sentence.endswith(
        "; 24 of 24 elements differ; why: by itself: its inputs agree; reach: 3 other operators "
        "diverging later, none by itself"
    )


def test_operators_are_ranked_by_the_error_that_they_add(tmp_path: Path) -> None:
    chain(tmp_path / "a", wrong={1: 0.1, 4: 3.0})
    chain(tmp_path / "b")
    table = compared(tmp_path)
    assert next(iter(causes(table))) == "layers.1/Mul"
    ranked = table.by_added_error()
    assert [op.op_name for op in ranked[:2]] == ["layers.4/Mul", "layers.1/Mul"]
    assert ranked[0].cause == "inherited"
    for op in ranked:
        assert op.added_error == pytest.approx((op.output_error or 0) - (op.input_error or 0))
    added = [op.added_error or 0 for op in ranked]
    assert added == sorted(added, reverse=True)
    assert abs(added[2]) < 1e-6  # others only pass it on


def test_two_faults_of_their_own(tmp_path: Path) -> None:
    for side, error in (("a", 1.0), ("b", 0.0)):
        for i in range(3):
            y = X + np.float32(error * (i != 1))
            write_op(tmp_path / side, f"Add x{i}", at=i, inputs=[X], outputs=[y])
    table = compared(tmp_path)
    assert causes(table) == {"x0": "here", "x2": "here"}
    assert "1 other operator diverging later, 1 not by inheritance" in table.sentence


def test_inputs_that_were_not_dumped(tmp_path: Path) -> None:
    chain(tmp_path / "a", wrong={2: 0.5}, inputs=False)
    chain(tmp_path / "b", inputs=False)
    table = compared(tmp_path)
    assert list(causes(table)) == [f"layers.{i}/Mul" for i in range(2, 6)]
    assert set(causes(table).values()) == {"unknown"}
    first = table.first_divergence
    assert first is not None
    assert first.input_error is None
    assert first.added_error == first.output_error
    assert "not all of its inputs were compared" in table.sentence


def test_an_input_that_has_no_partner_leaves_it_open(tmp_path: Path) -> None:
    write_op(tmp_path / "a", "Add x", at=1, inputs=[X, W], outputs=[X + 1])
    write_op(tmp_path / "b", "Add x", at=1, inputs=[X], outputs=[X])
    assert causes(compared(tmp_path)) == {"x": "unknown"}


def test_data_that_differ_from_the_start(tmp_path: Path) -> None:
    chain(tmp_path / "a", start=X + 1)
    chain(tmp_path / "b")
    table = compared(tmp_path)
    assert set(causes(table).values()) == {"inherited"}
    first = table.first_divergence
    assert first is not None
    assert first.op_name == "layers.0/Mul"
    assert "its inputs diverge already" in table.sentence
    write_op(tmp_path / "c" / "a", "Print x", at=0, inputs=[X])
    write_op(tmp_path / "c" / "b", "Print x", at=0, inputs=[X + 1])
    table = compared(tmp_path / "c")
    assert causes(table) == {"x": "input"}
    assert "an input diverges" in table.sentence


def test_files_for_inputs_and_outputs_of_a_collective_are_joined(tmp_path: Path) -> None:
    for side, error in (("a", 1.0), ("b", 0.0)):
        for i in range(2):
            write_op(tmp_path / side, "HcomAllReduce h", at=10 * i, inputs=[X])
            y = X + np.float32(error * i)
            write_op(tmp_path / side, "HcomAllReduce h", at=10 * i + 1, outputs=[y])
    table = compared(tmp_path)
    (op,) = table.findings
    assert (op.cause, op.timestamp) == ("here", 1_700_000_000_000_011)
    assert op.input_error == 0


def test_time_orders_ranks(tmp_path: Path) -> None:
    chain(tmp_path / "b", rank=0, shift=50)
    chain(tmp_path / "b", rank=1)
    chain(tmp_path / "a", rank=0, shift=50, wrong={0: 1.0})
    chain(tmp_path / "a", rank=1, wrong={4: 1.0})
    first = compared(tmp_path).first_divergence
    assert first is not None
    assert (first.rank, first.op_name) == (1, "layers.4/Mul")


def test_nan_in_one_is_an_infinite_error(tmp_path: Path) -> None:
    y = X.copy()
    y[1, 1] = np.nan
    for side, out in (("a", y), ("b", X)):
        write_op(tmp_path / side, "Div x", at=0, inputs=[X], outputs=[out])
        write_op(tmp_path / side, "Add y", at=1, inputs=[out], outputs=[out])
        write_op(
            tmp_path / side, "Add z", at=2, inputs=[X], outputs=[out * (2 if side == "a" else 1)]
        )
    table = compared(tmp_path)
    by_name = {op.op_name: op for op in table.findings}
    assert by_name["x"].added_error == math.inf
    assert by_name["y"].added_error == 0  # of its inputs too
    assert table.sentence.startswith("rank 0, step 0: the runs part in x; operator: Div x, ")
    assert "elements are NaN or Inf in one run only" in table.sentence
    assert table.worst(3).diverges.all()


def test_converted_files_have_operators_too(tmp_path: Path) -> None:
    chain(tmp_path / "a", wrong={2: 0.5})
    chain(tmp_path / "dump")
    fastdump.convert(tmp_path / "dump", tmp_path / "b")
    expected = causes(compared(tmp_path))
    assert expected["layers.2/Mul"] == "here"
    swapped = fastdump.compare(tmp_path / "b", tmp_path / "a")
    assert list(causes(swapped).values()) == list(expected.values())


def test_the_demo_dump_with_a_wrong_operator(tmp_path: Path) -> None:
    from fastdump.demo import write_demo

    for side in "ab":
        write_demo(tmp_path / side)
    name = "model.layers.1.self_attn.o_proj/MatMul"
    op = fastdump.open(tmp_path / "a").select(rank=1, step=0, op_name=name)[0]
    tensor = op.outputs[0]
    with Path(op.path).open("r+b") as file:
        wrong = (tensor.copy().astype(np.float32) * 1.1).astype(np.float16)
        file.seek(tensor.offset)
        file.write(wrong.tobytes())
    table = compared(tmp_path)
    (found,) = table.findings
    assert (found.rank, found.step, found.op_name) == (1, 0, name)
    assert found.cause == "here"
    assert found.added_error == pytest.approx(0.1, rel=0.01)


def test_errors_of_integers_are_shares(tmp_path: Path) -> None:
    """How far indices are apart says nothing: a wild one must not outrank a wrong operator."""
    index = np.arange(100)
    other = index.copy()
    other[3] = 10**6
    for side, delta, chosen in (("a", 0.5, other), ("b", 0.0, index)):
        y = X + np.float32(delta)
        write_op(tmp_path / side, "Mul x", at=1, inputs=[X], outputs=[y])
        write_op(tmp_path / side, "ArgMax i", at=2, inputs=[y], outputs=[chosen])
    table = compared(tmp_path)
    first, second = table.by_added_error()
    assert (first.op_name, second.op_name) == ("x", "i")
    assert second.output_error == pytest.approx(0.01)


def test_the_wrong_operator_of_a_demo_run(tmp_path: Path) -> None:
    from fastdump.demo import write_demo

    name = "model.layers.1.mlp.act_fn/Swish"
    write_demo(tmp_path / "b")
    write_demo(tmp_path / "a", wrong=name)
    table = compared(tmp_path)
    here = [op for op in table.findings if op.cause == "here"]
    assert {op.op_name for op in here} == {name}
    assert len(here) == 4  # on both ranks, in both steps
    assert table.first_divergence == here[0]
    assert [op.op_name for op in table.by_added_error()[:4]] == [name] * 4
    assert here[0].added_error == pytest.approx(1 / 16, rel=0.01)
    with pytest.raises(ValueError, match="no operator of the demo model is called 'nobody'"):
        write_demo(tmp_path / "c", wrong="nobody")
