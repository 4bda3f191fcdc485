"""Comparisons of recorded models: the right pairs, no false divergence, the right suspect."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import fastdump
from fastdump import ComparisonTable

# Three seeds of each: `make models`.
SEEDS = range(3) if os.environ.get("FASTDUMP_ALL_SEEDS") == "1" else range(1)
_COUNTER = re.compile(r"_?\d+$")


def kind(op_name: str | None) -> str:
    """Return the module's path and the operator, without the counter."""
    return _COUNTER.sub("", op_name or "")


def wrong_pairs(table: ComparisonTable) -> list[tuple[str | None, str | None]]:
    return [
        (row.op_name, row.op_name_b)
        for row in table
        if row.paired_by not in (None, "replaced") and kind(row.op_name) != kind(row.op_name_b)
    ]


def named(table: ComparisonTable) -> set[str]:
    """Return the operators that the first finding names."""
    first = table.findings[0]
    suspects = [name.split(" ", 1)[1] for name in (first.suspect_a, first.suspect_b) if name]
    return {kind(name) for name in (first.op_name, *suspects)}


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize(
    ("a", "b"),
    [("float32", "bfloat16"), ("float32", "float16"), ("bfloat16", "float16")],
)
def test_reference_precisions_agree(
    reference_models: Path, a: str, b: str, statistics: bool
) -> None:
    for x, y in ((a, b), (b, a)):
        runs = [reference_models / f"llama-{dtype}" for dtype in (x, y)]
        sides = [fastdump.stats(run) for run in runs] if statistics else runs
        table = fastdump.compare(*sides)
        assert table.clean
        coarser = "bfloat16" if "bfloat16" in (x, y) else "float16"
        assert table.sentence.startswith(f"the runs agree within what {coarser} explains: ")
        assert not wrong_pairs(table)
        # Everything has a partner but the casts of the coarser run.
        assert table[table.unpaired & ~table.unpaired_casts].summary()["rows"] == 0
        assert table.unpaired_casts.sum() == (92 if "float32" in (x, y) else 0)


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize(
    ("fault", "cause", "operators"),
    [
        ("weight", "parameter", {"model.layers.1.self_attn.o_proj/mm"}),
        ("eps", "here", {"model.layers.0.post_attention_layernorm/add"}),
        (
            "activation",
            "replaced",
            {"model.layers.1.mlp.act_fn/silu", "model.layers.1.mlp.act_fn/gelu"},
        ),
    ],
)
def test_reference_faults(
    reference_models: Path, fault: str, cause: str, operators: set[str], statistics: bool
) -> None:
    for clean in ("llama-bfloat16", "llama-float32"):
        runs = [reference_models / clean, reference_models / f"llama-bfloat16-{fault}"]
        for order in (runs, runs[::-1]):
            sides = [fastdump.stats(run) for run in order] if statistics else order
            table = fastdump.compare(*sides)
            assert table.findings[0].cause == cause
            assert named(table) == operators
            assert not wrong_pairs(table)


def test_reference_parameter_is_called_one(reference_models: Path) -> None:
    table = fastdump.compare(
        reference_models / "llama-bfloat16", reference_models / "llama-bfloat16-weight"
    )
    assert "it reads a parameter that differs" in table.sentence
    assert "1 of 1,024 elements differ" in table.sentence
    assert table.findings[0].tensor == "input.1"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    pytest.importorskip("torch")
    return Recorded(tmp_path_factory.mktemp("models"))


class Recorded:
    """Recorded runs, each made once."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def run(self, model: str, dtype: str, **options: object) -> Path:
        from recorded_models import record

        name = "-".join([model, dtype, *(f"{key}_{value}" for key, value in options.items())])
        root = self._root / name
        if not root.exists():
            record(root, model=model, dtype=dtype, **options)  # type: ignore[arg-type]
        return root


MODELS = ("llama", "bert", "moe", "cnn", "vit")
FAULTS = (
    *("weight", "bias", "epsilon", "activation", "mask", "scale", "residual"),
    *("swapped", "swapped_weights"),
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_precisions_agree(recorded: Recorded, model: str, train: bool, seed: int) -> None:
    runs = {
        dtype: recorded.run(model, dtype, train=train, seed=seed)
        for dtype in ("float32", "bfloat16", "float16")
    }
    for a, b in (("float32", "bfloat16"), ("float16", "float32"), ("bfloat16", "float16")):
        table = fastdump.compare(runs[a], runs[b])
        assert table.clean, table.sentence
        assert not wrong_pairs(table)
        # Backward adds gradients in another order where there are casts.
        n_alone = int((table.unpaired & ~table.unpaired_casts).sum())
        assert n_alone <= 0.04 * len(table)
        assert train or not n_alone


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("model", MODELS)
def test_planted_faults_are_named(recorded: Recorded, model: str, fault: str, seed: int) -> None:
    pytest.importorskip("torch")
    from recorded_models import planted

    expected = planted(model, fault)
    if expected is None:
        pytest.skip(f"{model} has nothing for {fault}")
    for a, b in (("float32", "float32"), ("bfloat16", "bfloat16"), ("float32", "bfloat16")):
        clean = recorded.run(model, a, seed=seed, train=False)
        faulty = recorded.run(model, b, seed=seed, train=False, fault=fault)
        table = fastdump.compare(clean, faulty)
        assert table.findings, (a, b)
        assert named(table) & {*expected.operators, *expected.instead}, table.sentence


@pytest.mark.parametrize("model", ["llama", "bert", "moe", "vit"])
def test_a_cast_too_early_is_told(recorded: Recorded, model: str) -> None:
    clean = recorded.run(model, "float32", seed=0, train=False)
    faulty = recorded.run(model, "float32", seed=0, train=False, fault="cast")
    remarks = "; ".join(fastdump.compare(clean, faulty).answer().remarks)
    assert "in another type" in remarks
    assert "float32 in a, bfloat16 in b" in remarks
