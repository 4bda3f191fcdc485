"""Recorded runs of small models, clean or with one planted fault, and what a person says of it.

Only tests that have torch may import this.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch_models import FAULTY_LAYER, Build, build_model
from torch_recorder import Recorder, unchanged

MODELS = ("llama", "bert", "moe", "cnn", "vit")
DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Planted:
    """What a person would say of a fault.

    Attributes
    ----------
    what
        "parameter": the operators read a parameter that is wrong. "operator": their inputs are as
        in the clean run and their outputs are not. "replaced": they stand in the place of
        `instead`. "missing": `operators` are those of the clean run that the faulty run lacks.
        "order": they run in the place of `instead`. "made": they make the first bad value.
    operators
        Modules and kinds, without counters; one of them is to be named.
    instead
        Likewise, of the clean run.
    """

    what: str
    operators: tuple[str, ...]
    instead: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Names:
    """What the parts of a model are called in the layer with the fault.

    Parameters come with the operator that reads them. `first` is the first operator of the layer
    that reads a parameter, `begins` the first of all, in each type.
    """

    parameter: str
    reader: str
    epsilon: str
    mlp: str
    activation: tuple[str, str]
    residual: str
    first: str
    begins: tuple[str, ...]
    wide: tuple[str, str]
    scores: tuple[str, ...] = ()
    bias: tuple[str, str] | None = None
    masks: tuple[str, ...] = ()
    cast: tuple[str, ...] = ()


_LAYER = f"layers.{FAULTY_LAYER}"
_OTHER = f"layers.{FAULTY_LAYER + 1}"
_TEXT, _WORDS = f"model.{_LAYER}", f"bert.{_LAYER}"
_ATTENTION_CASTS = ("_to_copy", "_softmax")


def _decoder(mlp: str) -> _Names:
    return _Names(
        parameter=f"{_TEXT}.self_attn.o_proj.weight",
        reader=f"{_TEXT}.self_attn.o_proj/mm",
        epsilon=f"{_TEXT}.post_attention_layernorm/add",
        mlp=f"{_TEXT}.{mlp}",
        activation=("silu", "gelu"),
        residual=f"{_TEXT}/add",
        scores=(f"{_TEXT}.self_attn/mul", f"{_TEXT}.self_attn/bmm"),
        masks=("model/add", "model/le"),
        cast=tuple(f"{_TEXT}.self_attn/{kind}" for kind in _ATTENTION_CASTS),
        first="input_layernorm/mul",
        begins=("input_layernorm/pow", "input_layernorm/_to_copy"),
        wide=(f"{_TEXT}.{mlp}.up_proj.weight", f"{_TEXT}.{mlp}.up_proj/mm"),
    )


NAMES = {
    "llama": _decoder("mlp"),
    "moe": _decoder("mlp.experts.0"),
    "bert": _Names(
        parameter=f"{_WORDS}.attention.o_proj.weight",
        reader=f"{_WORDS}.attention.o_proj/addmm",
        bias=(f"{_WORDS}.mlp.up_proj.bias", f"{_WORDS}.mlp.up_proj/addmm"),
        epsilon=f"{_WORDS}.attention_norm/native_layer_norm",
        mlp=f"{_WORDS}.mlp",
        activation=("gelu", "silu"),
        residual=f"{_WORDS}/add",
        scores=(f"{_WORDS}.attention/mul", f"{_WORDS}.attention/bmm"),
        masks=("bert/add", "bert/lt"),
        cast=tuple(f"{_WORDS}.attention/{kind}" for kind in _ATTENTION_CASTS),
        first="attention.q_proj/addmm",
        begins=("attention.q_proj/addmm",),
        wide=(f"{_WORDS}.mlp.up_proj.weight", f"{_WORDS}.mlp.up_proj/addmm"),
    ),
    "vit": _Names(
        parameter=f"{_LAYER}.attention.o_proj.weight",
        reader=f"{_LAYER}.attention.o_proj/addmm",
        bias=(f"{_LAYER}.mlp.up_proj.bias", f"{_LAYER}.mlp.up_proj/addmm"),
        epsilon=f"{_LAYER}.norm2/native_layer_norm",
        mlp=f"{_LAYER}.mlp",
        activation=("gelu", "silu"),
        residual=f"{_LAYER}/add",
        scores=(f"{_LAYER}.attention/mul", f"{_LAYER}.attention/bmm"),
        cast=tuple(f"{_LAYER}.attention/{kind}" for kind in _ATTENTION_CASTS),
        first="norm1/native_layer_norm",
        begins=("norm1/native_layer_norm",),
        wide=(f"{_LAYER}.mlp.up_proj.weight", f"{_LAYER}.mlp.up_proj/addmm"),
    ),
    "cnn": _Names(
        parameter=f"{_LAYER}.conv2.weight",
        reader=f"{_LAYER}.conv2/convolution",
        bias=(f"{_LAYER}.bn2.bias", f"{_LAYER}.bn2/native_batch_norm"),
        epsilon=f"{_LAYER}.bn1/native_batch_norm",
        mlp=_LAYER,
        activation=("relu", "gelu"),
        residual=f"{_LAYER}/add",
        cast=("/_to_copy", "/mean"),
        first="conv1/convolution",
        begins=("conv1/convolution",),
        wide=(f"{_LAYER}.conv1.weight", f"{_LAYER}.conv1/convolution"),
    ),
}

FAULTS = (
    *("weight", "bias", "epsilon", "activation", "mask", "scale", "residual", "swapped"),
    *("swapped_weights", "cast", "nan", "overflow", "jump"),
)
"""What can be planted; not every model has what it takes, see `planted`.

weight, bias
    One element of a parameter is larger by 3.
epsilon
    That of a norm is 0.5.
activation
    GELU in place of SiLU or ReLU, SiLU in place of GELU.
mask
    Lets one token more be seen.
scale
    Scores of the attention are divided by the size of a head, not by its square root.
residual
    A branch is not added to what it branched from.
swapped, swapped_weights
    Layers run in another order; or in the right one with the weights of one another.
cast
    To the narrow type before a softmax or a mean, not after it.
nan
    One element of a weight.
overflow
    Weights are so large that products of them are infinite.
jump
    In the last step only, an operator makes values that are 5,000 times too large.
"""


def planted(model: str, fault: str) -> Planted | None:
    """Return what a person says of a fault; None if the model cannot have it."""
    names = NAMES[model]
    mlp, layer = names.mlp, names.residual.rpartition("/")[0]
    found = {
        "weight": Planted("parameter", (names.reader,)),
        "bias": Planted("parameter", names.bias[1:]) if names.bias else None,
        "epsilon": Planted("operator", (names.epsilon,)),
        "activation": Planted(
            "replaced", (f"{mlp}/{names.activation[1]}",), (f"{mlp}/{names.activation[0]}",)
        ),
        "mask": Planted("operator", names.masks) if names.masks else None,
        "scale": Planted("operator", names.scores[:1]) if names.scores else None,
        "residual": Planted("missing", (names.residual,)),
        "swapped": Planted(
            "order",
            tuple(f"{layer.replace(_LAYER, _OTHER)}.{first}" for first in names.begins),
            tuple(f"{layer}.{first}" for first in names.begins),
        ),
        "swapped_weights": Planted("parameter", (f"{layer}.{names.first}",)),
        "cast": Planted("operator", names.cast),
        "nan": Planted("parameter", names.wide[1:]),
        "overflow": Planted("made", names.scores[1:] or names.wide[1:]),
        "jump": Planted("made", (names.reader,)),
    }
    return found[fault]


def _spoil(name: str, model: nn.Module, fault: str | None, dtype: torch.dtype) -> None:
    """Put a fault into parameters, which are float32 as yet."""
    names = NAMES[name]
    if fault == "weight":
        model.get_parameter(names.parameter).view(-1)[5] += 3
    elif fault == "bias" and names.bias:
        model.get_parameter(names.bias[0])[5] += 3
    elif fault == "nan":
        model.get_parameter(names.wide[0]).view(-1)[5] = torch.nan
    elif fault == "overflow" and names.scores:
        layer = names.scores[0].rpartition("/")[0]
        for projection in ("q_proj", "k_proj"):
            weight = model.get_parameter(f"{layer}.{projection}.weight")
            weight *= 5000 if dtype == torch.float16 else 1e20
    elif fault == "overflow":
        weight = model.get_parameter(names.wide[0])
        for factor in (1e5,) if dtype == torch.float16 else (1e20, 3e19):
            weight *= factor
    elif fault == "swapped_weights":
        layers = names.residual.rpartition("/")[0].rpartition(".")[0]
        one, other = (
            model.get_submodule(f"{layers}.{i}") for i in (FAULTY_LAYER, FAULTY_LAYER + 1)
        )
        kept = {key: value.clone() for key, value in one.state_dict().items()}
        one.load_state_dict(other.state_dict())
        other.load_state_dict(kept)


def record(
    root: Path,
    *,
    model: str = "llama",
    dtype: str = "float32",
    seed: int = 0,
    steps: int = 2,
    train: bool = False,
    accumulate: bool = False,
    optimizer: bool = False,
    fault: str | None = None,
) -> Path:
    """Record steps of a model, each of other data, and return `root`.

    Parameters
    ----------
    root
        Where to write ``{time}/0/model/1/{step}``.
    model, dtype
        One of `MODELS`, one of `DTYPES`.
    seed
        Of weights, data and dropout. The same seed gives the same weights, before they are
        converted, and the same data, in every type and with every fault.
    train
        Forward and backward, with dropout; else forward only, without.
    accumulate
        Gradients add up from step to step.
    optimizer
        AdamW changes the weights after each step of training.
    fault
        One of `FAULTS`, if `planted` has it for this model.
    """
    if fault is not None and planted(model, fault) is None:
        raise ValueError(f"{model} cannot have the fault {fault}")
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(seed)
        network = build_model(model, Build(fault))
        with torch.no_grad():
            _spoil(model, network, fault, getattr(torch, dtype))
        network = network.to(getattr(torch, dtype)).train(train)
        adam = torch.optim.AdamW(network.parameters(), lr=1e-3, foreach=False)

        def change(step: int, name: str, output: Tensor) -> None:
            if fault == "jump" and step == steps - 1 and name == NAMES[model].reader:
                with torch.no_grad():
                    output.mul_(5000)

        for step in range(steps):
            torch.manual_seed(1000 * seed + step + 1)
            if train and not accumulate:
                network.zero_grad()
            with (
                Recorder(root, network, step, change if fault else unchanged),
                torch.set_grad_enabled(train),
            ):
                data = network.example()
                result = network(*data)
                if train:
                    network.loss(result, *data).backward()
                if train and optimizer:
                    adam.step()
    return root
