"""Triage of models that another recorder ran: what a person would say of each."""

from __future__ import annotations

from pathlib import Path

import pytest

import fastdump


@pytest.mark.parametrize(
    "name",
    [
        *("llama-float32", "llama-bfloat16", "llama-float16", "llama-train"),
        # Wrong, but nothing of it shows in one run.
        *("llama-bfloat16-weight", "llama-bfloat16-eps", "llama-bfloat16-activation"),
    ],
)
def test_there_is_nothing_to_say_of_a_clean_run(name: str, reference_models: Path) -> None:
    dump = fastdump.open(reference_models / name)
    steps = sorted({operator.step for operator in dump if operator.step is not None})
    assert len(steps) > 1
    report = fastdump.triage(dump)
    assert report.clean, report.sentence
    assert not report.notes
    for step in steps:
        alone = fastdump.triage(dump, step=step)
        assert alone.clean, alone.sentence


def test_an_overflow_of_scores(reference_models: Path) -> None:
    report = fastdump.triage(reference_models / "llama-float16-overflow")
    (found,) = report.findings
    assert found.origin is not None
    assert (found.kind, found.origin.verdict) == ("inf", "origin")
    assert found.origin.operator.op_name == "model.layers.1.self_attn/bmm_104"
    assert "overflow: finite inputs up to" in found.sentence
    assert [run.step for run in found.also] == [1]


def test_a_weight_with_nan(reference_models: Path) -> None:
    report = fastdump.triage(reference_models / "llama-float16-nan-weight")
    (found,) = report.findings
    assert found.origin is not None
    assert (found.kind, found.origin.verdict) == ("nan", "data")
    assert found.origin.operator.op_name == "model.layers.2.mlp.up_proj/mm_171"
    assert (found.origin.tensor.io, found.origin.tensor.index) == ("input", 1)
    assert found.origin.tensor.nan == 1
