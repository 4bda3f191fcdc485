"""Dumps of a small transformer in which one thing is wrong, and what that is.

The model is computed with numpy, operator by operator, on several ranks and in several steps; each
operator is written as a dump file. Every dump has legitimate masks, buffers whose memory is used
again, and a collective operator with its inputs and outputs in two files.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fastdump import testing

Array = npt.NDArray[Any]

N_LAYERS, N_TOKENS, HIDDEN = 4, 12, 16
_MAX = 65504.0
_SLOTS = 5  # buffers of one size, used in turns
_UNKNOWN_TASK = 65535


@dataclass(frozen=True)
class Planted:
    """What is wrong with a dump: the first finding that triage should have.

    `reader` is the operator that reads what `op_name` made, where that is not in the dump itself.
    """

    kind: str
    op_type: str
    op_name: str
    rank: int
    step: int
    verdict: str = "origin"


@dataclass(eq=False)
class Tensor:
    """Values, and where they are on the device."""

    values: Array
    address: int

    def spec(self) -> testing.TensorSpec:
        return testing.TensorSpec(self.values, origin_shape=self.values.shape, address=self.address)


@dataclass
class Options:
    """How a dump is made.

    Attributes
    ----------
    mode
        What is dumped: "all", "output" or "input", as in acl.json.
    tick_us
        Times are rounded to multiples of it, so that several operators have the same.
    task_ids
        Whether file names tell them.
    saturating
        Whether the device turns Inf into the largest value and NaN into 0.
    mask_value
        Of what is not to be attended to.
    n_ranks, n_steps
        How many.
    csv
        Write statistics, as the device's software does, instead of tensors.
    """

    mode: str = "all"
    tick_us: int = 1
    task_ids: bool = True
    saturating: bool = False
    mask_value: float = -np.inf
    n_ranks: int = 2
    n_steps: int = 3
    csv: bool = False


Change = Callable[[int, int, str, Array], Array]
"""From rank, step, name and values to the values that there are instead."""


def unchanged(rank: int, step: int, name: str, values: Array) -> Array:
    return values


@dataclass
class Fault:
    """What is done to a model so that something goes wrong.

    Attributes
    ----------
    planted
        What triage should find; None for nothing.
    weights
        Changes a weight, an input or a constant.
    outputs
        Changes what an operator computes.
    stored
        Changes what an operator made after it was dumped and before it is read.
    options
        What the fault needs to show.
    """

    planted: Planted | None
    weights: Change = unchanged
    outputs: Change = unchanged
    stored: Change = unchanged
    options: dict[str, Any] = field(default_factory=dict)


def at(rank: int, step: int, name: str, change: Callable[[Array], Array]) -> Change:
    """Return a change of one thing in one place; rank or step -1 are all of them."""

    def changed(in_rank: int, in_step: int, of_name: str, values: Array) -> Array:
        if of_name == name and rank in (-1, in_rank) and step in (-1, in_step):
            return change(values.copy())
        return values

    return changed


class Rank:
    """Runs and writes the operators of one rank in one step."""

    def __init__(self, directory: Path, rank: int, step: int, options: Options, fault: Fault):
        self.rank, self.step = rank, step
        self._options = options
        self._fault = fault
        self._directory = testing.model_dump_dir(
            testing.rank_dir(directory, world_size=options.n_ranks, rank=rank),
            time="20260114093042",
            device=rank,
            model="net",
            model_id=1,
            step=step,
        )
        self._now_us = 1_700_000_000_000_000 + step * 1_000_000 + rank * 37
        self._tasks: dict[str, int] = {}
        self._buffers = itertools.count()
        self._weights: dict[str, Tensor] = {}

    def weight(self, name: str, values: Array) -> Tensor:
        """Return something that is there before the step; the same name is the same memory."""
        if name not in self._weights:
            changed = self._fault.weights(self.rank, self.step, name, values)
            address = 0x1240_0000_0000 + 0x10000 * len(self._weights)
            self._weights[name] = Tensor(changed, address)
        return self._weights[name]

    def run(self, op_type: str, name: str, inputs: Sequence[Tensor], *results: Array) -> Any:
        """Write an operator and return its outputs."""
        outputs = []
        for result in results:
            values = self._fault.outputs(self.rank, self.step, name, np.asarray(result))
            if self._options.saturating and values.dtype.kind == "f":
                values = np.nan_to_num(values, nan=0.0, posinf=None, neginf=None)
            outputs.append(self._place(values))
        self._write(op_type, name, inputs, outputs)
        for output in outputs:
            output.values = self._fault.stored(self.rank, self.step, name, output.values)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def collect(self, name: str, read: Tensor) -> None:
        """Write the first file of a collective operator: its inputs."""
        self._write("HcomAllReduce", name, [read], [])

    def collected(self, name: str, values: Array) -> Tensor:
        """Write the second file of a collective operator, outputs, and return them."""
        self._now_us += 500
        output: Tensor = self.run("HcomAllReduce", name, [], values)
        return output

    def _place(self, values: Array) -> Tensor:
        slot = next(self._buffers) % _SLOTS
        return Tensor(values, 0x1250_0000_0000 + 0x100000 * slot + 0x1000000 * values.nbytes)

    def _write(
        self, op_type: str, name: str, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> None:
        options = self._options
        self._now_us += 41
        task = self._tasks.setdefault(name, len(self._tasks) + 1)
        timestamp = self._now_us // options.tick_us * options.tick_us
        inputs = inputs if options.mode in ("all", "input") else []
        outputs = outputs if options.mode in ("all", "output") else []
        if not inputs and not outputs:
            return
        file_name = testing.dump_name(
            op_type,
            name,
            task_id=task if options.task_ids else _UNKNOWN_TASK,
            stream_id=3,
            timestamp=timestamp,
        )
        specs = [tensor.spec() for tensor in inputs], [tensor.spec() for tensor in outputs]
        if options.csv:
            testing.write_statistics_csv(
                self._directory / f"{file_name}.csv", inputs=specs[0], outputs=specs[1]
            )
        else:
            testing.write_dump(
                self._directory / file_name, inputs=specs[0], outputs=specs[1], op_name=name
            )


def write_model(directory: Path, fault: Fault, **options: Any) -> None:
    """Write the dump of all ranks and steps."""
    chosen = Options(**{**fault.options, **options})
    for step in range(chosen.n_steps):
        ranks = [Rank(directory, rank, step, chosen, fault) for rank in range(chosen.n_ranks)]
        with np.errstate(all="ignore"):
            grads = [forward(rank, chosen) for rank in ranks]
            for rank, grad in zip(ranks, grads, strict=True):
                rank.collect("grads/AllReduce", grad)
            total = np.sum([grad.values for grad in grads], axis=0, dtype=np.float32)
            for rank in ranks:
                reduced = rank.collected("grads/AllReduce", total)
                mean = rank.run(
                    "Muls", "grads/Muls", [reduced], reduced.values / np.float32(chosen.n_ranks)
                )
                rank.run("ClipByValue", "grads/Clip", [mean], np.clip(mean.values, -1, 1))


def forward(rank: Rank, options: Options) -> Tensor:
    """Run the model and return what is to be reduced over all ranks."""
    rng = np.random.default_rng([7, rank.step, rank.rank])
    shared = np.random.default_rng(7)
    half = np.float16

    def weight(name: str, *shape: int, scale: float = 0.25) -> Tensor:
        values = shared.standard_normal(shape).astype(half) * half(scale)
        return rank.weight(name, values)

    features = rank.weight("features", rng.standard_normal((N_TOKENS, HIDDEN), np.float32))
    allowed = np.tril(np.ones((N_TOKENS, N_TOKENS), np.bool_))
    causal = rank.weight("causal", allowed)
    zero = rank.weight("zero", np.asarray(0, half))
    masked = rank.weight("masked", np.asarray(options.mask_value, half))
    mask = rank.run(
        "SelectV2", "model/Mask", [causal, zero, masked],
        np.where(causal.values, zero.values, masked.values),
    )  # fmt: skip
    x = rank.run("Cast", "model/Cast", [features], features.values.astype(half))
    for layer in range(N_LAYERS):
        x = _layer(rank, f"model.layers.{layer}", x, mask, weight)
    normed = _norm(rank, "model.norm/RmsNorm", x, weight("norm", HIDDEN, scale=1.0))
    logits = _mat_mul(rank, "lm_head/MatMul", normed, weight("head", HIDDEN, 24))
    losses = _softmax(rank, "loss/SoftmaxV2", logits)
    wide = rank.run("Cast", "loss/Cast", [losses], losses.values.astype(np.float32))
    mean: Tensor = rank.run("ReduceMeanD", "loss/ReduceMean", [wide], wide.values.mean(axis=0))
    return mean


def _layer(rank: Rank, name: str, x: Tensor, mask: Tensor, weight: Callable[..., Tensor]) -> Tensor:
    attn = f"{name}.self_attn"
    normed = _norm(
        rank, f"{name}.input_norm/RmsNorm", x, weight(f"{name}.gamma", HIDDEN, scale=1.0)
    )
    q = _mat_mul(rank, f"{attn}.q/MatMul", normed, weight(f"{name}.q", HIDDEN, HIDDEN))
    k = _mat_mul(rank, f"{attn}.k/MatMul", normed, weight(f"{name}.k", HIDDEN, HIDDEN))
    v = _mat_mul(rank, f"{attn}.v/MatMul", normed, weight(f"{name}.v", HIDDEN, HIDDEN))
    scores = rank.run("BatchMatMulV2", f"{attn}/BatchMatMul_qk", [q, k], _f16(q, k, True))
    scores = rank.run("Muls", f"{attn}/Muls", [scores], scores.values * np.float16(0.25))
    scores = rank.run("Add", f"{attn}/Add_mask", [scores, mask], scores.values + mask.values)
    shares = _softmax(rank, f"{attn}/SoftmaxV2", scores)
    context = rank.run("BatchMatMulV2", f"{attn}/BatchMatMul_pv", [shares, v], _f16(shares, v))
    out = _mat_mul(rank, f"{attn}.o/MatMul", context, weight(f"{name}.o", HIDDEN, HIDDEN))
    added: Tensor = rank.run("Add", f"{name}/Add", [x, out], x.values + out.values)
    return added


def _f16(x: Tensor, y: Tensor, transposed: bool = False) -> Array:
    right = y.values.T if transposed else y.values
    return (x.values.astype(np.float32) @ right.astype(np.float32)).astype(np.float16)


def _mat_mul(rank: Rank, name: str, x: Tensor, weight: Tensor) -> Tensor:
    product: Tensor = rank.run("MatMulV2", name, [x, weight], _f16(x, weight))
    return product


def _softmax(rank: Rank, name: str, x: Tensor) -> Tensor:
    values = x.values.astype(np.float32)
    exp = np.exp(values - values.max(axis=-1, keepdims=True))
    shares: Tensor = rank.run(
        "SoftmaxV2", name, [x], (exp / exp.sum(axis=-1, keepdims=True)).astype(np.float16)
    )
    return shares


def _norm(rank: Rank, name: str, x: Tensor, gamma: Tensor) -> Tensor:
    values = x.values.astype(np.float32)
    # No epsilon: a row of zeros is divided by zero.
    rstd = 1 / np.sqrt(np.mean(values * values, axis=-1, keepdims=True))
    normed, _ = rank.run(
        "RmsNorm", name, [x, gamma], (values * rstd * gamma.values).astype(np.float16), rstd
    )
    result: Tensor = normed
    return result


def _with(index: Any, value: float) -> Callable[[Array], Array]:
    def change(values: Array) -> Array:
        values[index] = value
        return values

    return change


_QK = "model.layers.1.self_attn/BatchMatMul_qk"
_O = "model.layers.2.self_attn.o/MatMul"
_LARGE_Q = at(1, 1, "model.layers.1.q", lambda values: values * np.float16(100))
_LARGE_K = at(1, 1, "model.layers.1.k", lambda values: values * np.float16(100))


def _large(rank: int, step: int, name: str, values: Array) -> Array:
    return _LARGE_K(rank, step, name, _LARGE_Q(rank, step, name, values))


FAULTS = {
    "overflow": Fault(Planted("inf", "BatchMatMulV2", _QK, 1, 1), weights=_large),
    "zero_division": Fault(
        Planted("nan", "RmsNorm", "model.layers.0.input_norm/RmsNorm", 0, 1),
        weights=at(0, 1, "features", _with(3, 0.0)),
    ),
    "bad_data": Fault(
        Planted("nan", "Cast", "model/Cast", 1, 2, verdict="data"),
        weights=at(1, 2, "features", _with((2, 5), np.nan)),
    ),
    "bad_weight": Fault(
        Planted("inf", "MatMulV2", "model.layers.2.self_attn.v/MatMul", 0, 1, verdict="data"),
        weights=at(0, 1, "model.layers.2.v", _with((0, 1), np.inf)),
    ),
    "wrong_mask": Fault(
        Planted("nan", "SoftmaxV2", "model.layers.0.self_attn/SoftmaxV2", 0, 1),
        weights=at(0, 1, "causal", _with(0, False)),
    ),
    "saturation": Fault(
        Planted("saturated", "BatchMatMulV2", _QK, 1, 1),
        weights=_large,
        options={"saturating": True, "mask_value": -_MAX},
    ),
    "zeros": Fault(
        Planted("zeros", "MatMulV2", _O, 0, 2), outputs=at(0, 2, _O, lambda values: values * 0)
    ),
    "norm_jump": Fault(
        Planted("norm_jump", "MatMulV2", _O, 1, 2),
        outputs=at(1, 2, _O, lambda values: values * np.float16(5000)),
    ),
    "kernel_nan": Fault(
        Planted("nan", "MatMulV2", _O, 1, 0), outputs=at(1, 0, _O, _with((4, slice(None)), np.nan))
    ),
    "overwritten": Fault(
        Planted("nan", "Add", "model.layers.2/Add", 0, 2, verdict="overwritten"),
        stored=at(0, 2, _O, _with((slice(4, 8), slice(None)), np.nan)),
    ),
    "negative_overflow": Fault(
        Planted("inf", "BatchMatMulV2", _QK, 0, 1),
        outputs=at(0, 1, _QK, _with((2, 3), -np.inf)),
    ),
}
"""By name."""

CLEAN = Fault(None)


def without_files(directory: Path, copy: Path, share: float, seed: int) -> list[Path]:
    """Copy a dump without some of its files; return which these are, relative to it."""
    shutil.copytree(directory, copy, copy_function=os.link)
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    rng = np.random.default_rng(seed)
    gone = [path for path in files if rng.random() < share]
    for path in gone:
        path.unlink()
    return [path.relative_to(copy) for path in gone]


def with_cut_files(directory: Path, copy: Path, share: float, seed: int) -> list[Path]:
    """Copy a dump and cut some of its files; return which these are, relative to it."""
    shutil.copytree(directory, copy, copy_function=os.link)
    files = sorted(path for path in copy.rglob("*") if path.is_file())
    rng = np.random.default_rng(seed)
    cut = [path for path in files if rng.random() < share]
    for path in cut:
        data = path.read_bytes()
        path.unlink()  # the copy is a link
        path.write_bytes(data[: int(len(data) * rng.uniform(0.1, 0.99))])
    return [path.relative_to(copy) for path in cut]
