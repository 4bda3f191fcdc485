"""What looks bad on purpose is suppressed, and what does not look bad is no finding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from small_dumps import SmallDump

import fastdump
from fastdump import testing

HALF_MAX = 65504.0


def noise(*shape: int, seed: int = 0, scale: float = 1.0, dtype: Any = np.float16) -> Any:
    rng = np.random.default_rng([seed, *shape])
    return (rng.standard_normal(shape) * scale).astype(dtype)


def suppressed_of(report: fastdump.TriageReport) -> dict[tuple[str, str | None], int]:
    return {(one.pattern, one.op_type): one.tensors for one in report.suppressed}


# Masks


@pytest.mark.parametrize("value", [-np.inf, -HALF_MAX])
@pytest.mark.parametrize(
    "maker", ["SelectV2 mask", "MaskedFill fill", "Fill fill", "Tril tril", "Add attn/mask_add"]
)
def test_masks_are_suppressed(value: float, maker: str, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    causal = np.tril(np.ones((8, 8), np.bool_))
    mask = np.where(causal, 0.0, value).astype(np.float16)
    scores = noise(8, 8)
    masked = np.maximum(scores.astype(np.float64) + mask, value).astype(np.float16)
    shares = np.where(causal, 0.25, 0.0).astype(np.float16)
    dump.op(maker, [causal], [mask])
    dump.op("Add attn/Add", [scores, mask], [masked])
    dump.op("SoftmaxV2 attn/Softmax", [masked], [shares])
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence
    found = suppressed_of(report)
    assert found["mask", maker.split()[0]] >= 1
    assert ("mask", "SoftmaxV2") in found


def test_two_values_make_a_mask_whatever_the_operator(tmp_path: Path) -> None:
    """(1 - allowed) * smallest, as models write it."""
    dump = SmallDump(tmp_path)
    forbidden = np.triu(np.ones((8, 8), np.float16), 1)
    dump.op("Muls attn/Muls", [forbidden], [forbidden * np.float16(-HALF_MAX)])
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence
    assert suppressed_of(report) == {("mask", "Muls"): 1}


@pytest.mark.parametrize(("name", "clean"), [("attn/mask_bias", True), ("attn/bias", False)])
def test_an_operator_may_be_called_mask(name: str, clean: bool, tmp_path: Path) -> None:
    """Relative positions and a mask in one."""
    dump = SmallDump(tmp_path)
    bias = noise(8, 8) + np.where(np.tril(np.ones((8, 8), np.bool_)), 0, -np.inf).astype(np.float16)
    dump.op(f"Add {name}", [noise(8, 8), noise(8, 8, seed=1)], [bias])
    assert fastdump.triage(tmp_path).clean == clean


def test_more_values_make_no_mask(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    product = noise(8, 8)
    product[2, 3] = -HALF_MAX
    dump.op("Muls attn/Muls", [noise(8, 8)], [product])
    assert [found.kind for found in fastdump.triage(tmp_path).findings] == ["saturated"]


def test_a_mask_may_come_from_outside(tmp_path: Path) -> None:
    """A constant mask is an input that no operator makes."""
    dump = SmallDump(tmp_path)
    mask = np.where(np.tril(np.ones((8, 8), np.bool_)), 0.0, -np.inf).astype(np.float32)
    dump.op("Add attn/Add", [noise(8, 8, dtype=np.float32), mask], [noise(8, 8) + mask])
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence


def test_minus_infinity_of_a_matmul_is_no_mask(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    product = noise(8, 8)
    product[2, 3] = -np.inf
    dump.op("MatMulV2 q", [noise(8, 4), noise(4, 8)], [product])
    (origin,) = fastdump.triage(tmp_path).origins
    assert (origin.verdict, origin.operator.op_name) == ("origin", "q")


def test_top_k_filters_make_masks(tmp_path: Path) -> None:
    """Sampling: all but the best logits become -Inf, and their softmax 0."""
    dump = SmallDump(tmp_path)
    logits = noise(2, 100, dtype=np.float32)
    kept = np.where(logits > 1.5, logits, -np.inf).astype(np.float32)
    dump.op("MaskedFill sample/top_k", [logits, logits > 1.5], [kept])
    dump.op("SoftmaxV2 sample/Softmax", [kept], [np.where(logits > 1.5, 0.1, 0).astype(np.float32)])
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence


# Memory that was not written to


@pytest.mark.parametrize("op_type", ["EmptyLike", "Empty", "aclnnEmptyTensor"])
def test_uninitialised_memory_is_suppressed(op_type: str, tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    garbage = noise(8, 8)
    garbage[3] = np.nan
    dump.op(f"{op_type} buffer", [], [garbage])
    dump.op("ZerosLike clear", [garbage], [np.zeros((8, 8), np.float16)])
    dump.op("Add a", [noise(8, 8), noise(8, 8, seed=1)], [noise(8, 8, seed=2)])
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence
    assert suppressed_of(report)["uninitialised", op_type] == 1


def test_what_computes_with_uninitialised_memory_is_told(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    garbage = noise(8, 8)
    garbage[3] = np.nan
    dump.op("EmptyLike buffer", [], [garbage])
    dump.op("Add use", [noise(8, 8), garbage], [noise(8, 8) + garbage])
    (origin,) = fastdump.triage(tmp_path).origins
    assert (origin.operator.op_name, origin.verdict) == ("use", "origin")
    assert origin.cause is not None
    assert "allocated and not written to" in origin.cause


@pytest.mark.parametrize("op_type", ["EmptyLike", "Empty", "NewEmpty", "EmptyStrided"])
def test_memory_that_was_not_written_is_of_any_size(op_type: str, tmp_path: Path) -> None:
    """It holds what was there before, other values in every step; then it is written to."""
    dump = SmallDump(tmp_path)
    largest = float(np.finfo(np.float16).max)
    for step, (scale, value) in enumerate([(1.0, 0.5), (1e-4, largest), (5e3, -largest)]):
        garbage = noise(8, 8, seed=step, dtype=np.float16) * np.float16(scale)
        garbage[2, 2] = value
        kept = (noise(8, 8, seed=step) > 0).astype(np.float16)
        x = noise(8, 8, dtype=np.float16)
        dump.op(f"{op_type} layers.0.drop/empty_like", [x], [garbage], step=step)
        dump.op("Bernoulli layers.0.drop/bernoulli_", [garbage], [kept], step=step)
        dump.op("Mul layers.0.drop/mul", [x, kept], [x * kept], step=step)
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence


def test_memory_that_holds_a_mask_again_does_not_make_it_a_finding(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x, largest = noise(8, 8, dtype=np.float16), np.finfo(np.float16).max
    hidden = np.tri(8, dtype=np.bool_)
    mask = np.where(hidden, 0, -largest).astype(np.float16)
    masked = np.where(hidden, x, -largest).astype(np.float16)
    dump.op("Where mask", [hidden], [mask])
    dump.op("Add scores", [x, mask], [masked])
    dump.op("Softmax shares", [masked], [np.abs(x)])
    dump.op("EmptyLike drop", [x], [masked])
    dump.op("Bernoulli drop", [masked], [(x > 0).astype(np.float16)])
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence


def test_what_was_written_before_the_memory_was_used_again_is_told(tmp_path: Path) -> None:
    """The same NaN, first made by an operator and then found in memory that it has left."""
    dump = SmallDump(tmp_path)
    x, bad = noise(8, 8), noise(8, 8)
    bad[3] = np.nan
    dump.op("MatMulV2 made", [x, x], [bad])
    dump.op("Relu read", [bad], [np.maximum(bad, 0)])
    dump.op("EmptyLike buffer", [], [bad])
    dump.op("ZerosLike clear", [bad], [np.zeros((8, 8), np.float32)])
    (found,) = fastdump.triage(tmp_path).findings
    assert found.origin is not None
    assert (found.kind, found.origin.operator.op_name) == ("nan", "made")
    assert [run.operator.op_name for run in found.chain] == ["read"]


# Padding


def test_padding_of_a_private_format_is_suppressed(tmp_path: Path) -> None:
    host = noise(20, 24)
    spec = testing.device_tensor(host, "FRACTAL_NZ")
    stored = np.array(spec.data, copy=True)
    flat = stored.reshape(-1)
    # Rows 20 to 31 of 32 are padding: the last elements of every block.
    is_padding = testing.to_device(np.ones_like(host), "FRACTAL_NZ").reshape(-1) == 0
    assert is_padding.sum() == 32 * 32 - 20 * 24
    flat[is_padding] = np.nan
    padded = testing.TensorSpec(
        stored, dtype="float16", format="FRACTAL_NZ", origin_shape=host.shape
    )
    dump = SmallDump(tmp_path)
    dump.op("MatMulV2 a", [noise(20, 8), noise(8, 24)], [padded])
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence
    assert suppressed_of(report) == {("padding", "MatMulV2"): 1}


# What nothing follows from


def test_nan_that_nothing_is_made_of_is_told_apart(tmp_path: Path) -> None:
    """A weight whose bad rows are never read."""
    dump = SmallDump(tmp_path)
    table = noise(50, 8)
    table[49] = np.nan
    ids = np.arange(10)
    dump.op("GatherV2 embed", [table, ids], [table[ids]])
    dump.op("Add a", [table[ids], noise(10, 8)], [noise(10, 8, seed=1)])
    report = fastdump.triage(tmp_path)
    assert report.clean, report.sentence
    assert suppressed_of(report) == {("absorbed", "GatherV2"): 1}


# Clean models of other kinds


def assert_clean(root: Path) -> None:
    for source in (root, fastdump.stats(root), fastdump.stats(root, level="full")):
        report = fastdump.triage(source)
        assert report.clean, report.sentence


def test_integers_and_booleans_are_clean(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(3):
        for name in ("int8", "int16", "int32", "int64", "uint8", "uint32", "bool"):
            dtype = np.dtype(name)
            extremes = np.zeros(40, dtype)
            if name != "bool":
                extremes[:2] = np.iinfo(dtype).min, np.iinfo(dtype).max
            dump.op(f"MatMul {name}", [extremes], [np.zeros((4, 10), dtype)], step=step)
            dump.op(f"Cast to_{name}", [np.ones(40, dtype)], [extremes], step=step)
    assert_clean(tmp_path)


def test_zeros_are_clean_where_they_are_meant(tmp_path: Path) -> None:
    """Dropout, ReLU of negative values, gradients of what was not used, biases, caches."""
    dump = SmallDump(tmp_path)
    zeros = np.zeros((8, 16), np.float16)
    x = noise(8, 16)
    for step in range(3):
        dump.op("DropOutDoMask drop", [x, np.zeros(16, np.uint8)], [zeros], step=step)
        dump.op("ReLU relu", [-abs(x)], [zeros], step=step)
        dump.op("MatMulV2 lora_b", [x, np.zeros((16, 16), np.float16)], [zeros], step=step)
        dump.op("Add bias", [x, np.zeros(16, np.float16)], [x], step=step)
        dump.op("Sub one_minus", [x, x], [zeros], step=step)
        dump.op("ZerosLike cache", [x], [zeros], step=step)
        dump.op("EmbeddingDenseGrad unused", [x], [zeros], step=step)
    assert_clean(tmp_path)


def test_large_values_of_wide_types_are_clean(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(3):
        large = noise(8, 16, seed=step, scale=1e30, dtype=ml_dtypes.bfloat16)
        dump.op("MatMulV2 a", [large, noise(16, 16)], [large], step=step)
        dump.op("Cast b", [large], [large.astype(np.float32)], step=step)
        dump.op("ReduceSum c", [large], [large.astype(np.float64)], step=step)
    assert_clean(tmp_path)


def test_data_may_come_to_the_limit(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    x = noise(8, 16)
    x[3, 4] = HALF_MAX
    dump.op("Data x", [], [x])
    dump.op("Cast y", [x], [x.astype(np.float32)])
    assert_clean(tmp_path)


def test_quantised_values_at_their_limit_are_clean(tmp_path: Path) -> None:
    """A scale is chosen so that the largest element comes to the limit of the type."""
    dump = SmallDump(tmp_path)
    for step in range(3):
        x = noise(64, 64, seed=step, dtype=np.float32)
        quantised = (x / np.abs(x).max() * 448).astype(ml_dtypes.float8_e4m3fn)
        assert float(quantised.astype(np.float32).max()) >= 400
        dump.op("DynamicQuant q", [x], [quantised], step=step)
        dump.op("MatMulV2 m", [quantised, quantised], [x], step=step)
    assert_clean(tmp_path)


def test_the_largest_values_of_4_bits_are_clean(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    for step in range(3):
        x = noise(64, 64, seed=step, dtype=np.float32)
        blocks = x.reshape(-1, 32)
        scaled = blocks / np.abs(blocks).max(axis=1, keepdims=True) * 6
        packed = scaled.astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
        packed = packed[:, ::2] | packed[:, 1::2] << 4
        spec = testing.TensorSpec(packed.tobytes(), dtype="float4_e2m1fn", shape=(64, 64))
        dump.op("DynamicMxQuant q", [x], [spec], step=step)
    table = fastdump.stats(tmp_path, level="full").filter(dtype="float4_e2m1fn")
    assert (table["saturated"] > 0.05 * table["count"]).all()
    assert_clean(tmp_path)


def test_an_optimizer_that_warms_up_is_clean(tmp_path: Path) -> None:
    """Moments begin at zero and grow, updates grow with the learning rate, losses shrink."""
    dump = SmallDump(tmp_path)
    weight = noise(16, 16, dtype=np.float32)
    mean, square = np.zeros((2, 16, 16), np.float32)
    for step in range(8):
        grad = noise(16, 16, seed=step, scale=1e-3 / (step + 1), dtype=np.float32)
        mean, square = 0.9 * mean + 0.1 * grad, 0.999 * square + 0.001 * grad * grad
        rate = np.float32(1e-7 * (step + 1))
        update = rate * mean / (np.sqrt(square) + 1e-8)
        dump.op("Muls grad", [grad], [grad], step=step)
        dump.op("ApplyAdam m", [mean, square, grad, rate], [mean, square, update], step=step)
        weight = weight - update
        dump.op("Assign w", [weight], [weight], step=step)
        dump.op("ReduceMean loss", [grad], [np.float32(2.0**-step)], step=step)
    assert_clean(tmp_path)


def test_layers_of_different_sizes_are_clean(tmp_path: Path) -> None:
    """Values grow from layer to layer, a hundred times from the first to the last."""
    dump = SmallDump(tmp_path)
    for step in range(2):
        for layer in range(12):
            x = noise(8, 16, seed=layer + step, scale=1.5**layer, dtype=np.float32)
            dump.op(f"Add model.layers.{layer}/Add", [x], [x], step=step)
    assert_clean(tmp_path)


def test_ranks_with_different_data_and_shards_are_clean(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=4)
    for step in range(2):
        total = noise(8, 16, seed=step, dtype=np.float32)
        for rank in range(4):
            data = noise(8, 16, seed=10 * step + rank)
            shard = noise(16, 4, seed=100 + rank)
            replicated = noise(16, 16, seed=50)
            dump.op("MatMulV2 sharded", [data, shard], [data @ shard], rank=rank, step=step)
            dump.op("MatMulV2 same", [data, replicated], [data @ replicated], rank=rank, step=step)
            dump.op("HcomAllReduce all", [data], [total], rank=rank, step=step)
            dump.op("HcomReduceScatter part", [data], [total[rank]], rank=rank, step=step)
    assert_clean(tmp_path)


def test_types_without_statistics_are_clean(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    text = testing.TensorSpec(b"text" * 8, dtype="string", shape=(4,))
    dump.op("ReadFile a", [], [text])
    dump.op("Decode b", [text], [noise(4, 4)])
    assert fastdump.triage(tmp_path).clean
