"""Triage of small PyTorch models: nothing is said of clean runs, and planted faults are found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import fastdump

pytest.importorskip("torch")

import torch_models
from recorded_models import DTYPES, MODELS, planted, record
from torch_recorder import without_counter

# Three seeds of each, and with them the types: `make models`.
ALL = os.environ.get("FASTDUMP_ALL_SEEDS") == "1"
SEEDS = tuple(enumerate(DTYPES)) if ALL else ((0, "float32"),)

RUNS: dict[str, dict[str, Any]] = {
    "inference": {},
    "training": {"train": True},
    "accumulation": {"train": True, "accumulate": True},
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("seed", "dtype"), SEEDS)
@pytest.mark.parametrize("model", MODELS)
def test_nothing_is_said_of_a_clean_run(
    model: str, seed: int, dtype: str, run: str, tmp_path: Path
) -> None:
    # In float16, AdamW's epsilon is 0, and so it divides by 0.
    optimizer = run == "accumulation" and dtype != "float16"
    options = {"seed": seed, "dtype": dtype, "optimizer": optimizer, **RUNS[run]}
    record(tmp_path, model=model, steps=3, **options)
    report = fastdump.triage(tmp_path)
    assert report.summary["steps"] == [0, 1, 2]
    assert report.clean, report.sentence


@pytest.mark.parametrize("seed", range(3 if ALL else 1))
def test_nothing_is_said_of_experts_that_some_steps_lack(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_models.Experts, "N_EXPERTS", 16)
    record(tmp_path, model="moe", seed=seed, steps=4, train=True, accumulate=True)
    number = [sum(row.step == step for row in fastdump.stats(tmp_path)) for step in range(1, 4)]
    assert len(set(number)) > 1
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence


@pytest.mark.parametrize(
    ("fault", "kind", "verdict", "train"),
    [
        ("nan", "nan", "data", False),
        ("overflow", "inf or nan", "origin", False),
        ("jump", "norm_jump", "origin", True),
    ],
)
@pytest.mark.parametrize(("seed", "dtype"), SEEDS)
@pytest.mark.parametrize("model", MODELS)
def test_a_fault_is_named(
    model: str,
    seed: int,
    dtype: str,
    fault: str,
    kind: str,
    verdict: str,
    train: bool,
    tmp_path: Path,
) -> None:
    what = planted(model, fault)
    assert what is not None
    record(tmp_path, model=model, seed=seed, dtype=dtype, steps=3, train=train, fault=fault)
    found = fastdump.triage(tmp_path).findings[0]
    assert found.origin is not None
    # What overflows on both sides may have been subtracted.
    assert found.kind in kind.split(" or ")
    assert found.origin.verdict == verdict
    assert without_counter(found.origin.operator.op_name or "") in what.operators
    assert found.origin.operator.step == (2 if fault == "jump" else 0)
