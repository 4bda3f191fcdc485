"""A small modern decoder-only transformer with weights from a seed, run operator by operator.

The residual stream and the MLP are bfloat16, attention is float16, the head and the loss are
float32. Attention scales the scores by 1/sqrt(d) after the float16 product q k^T, not before it,
which is harmless for ordinary tokens. One token of the vocabulary has a massive activation, as some
tokens of trained decoders have. In one layer, a head attends to it so sharply that q k^T exceeds
float16's 65504 wherever this token meets itself. Batches with the token therefore overflow there
first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fastdump.demo._operators import BFLOAT16, Array, DeviceMemory, DeviceTensor, Operators

N_HEADS = 4
N_LAYERS = 4
N_SEQUENCES = 2  # in a batch
OVERFLOW_LAYER = N_LAYERS // 2
OVERFLOW_OP = f"model.layers.{OVERFLOW_LAYER}.self_attn/BatchMatMul_qk"

_OUTLIER_CHANNEL = 5
_OUTLIER_SIGMAS = 4.0  # the channel's share of a token's norm, in norms of its other channels
_OUTLIER_SCORE = 2.5 * 65504  # far beyond the range: roundings on the way move it a little

_WEIGHTS_ADDRESS = 0x1240_0000_0000
_ROTARY_BASE = 10000.0

# The graph engine fuses chains of elementwise operators and names the result after all of them.
_ROTARY_TABLE_NODES = (
    "Cast_position_ids",
    "Cast_inv_freq",
    "Mul_freqs",
    "ConcatV2_emb",
    "Cos",
    "Sin",
    "Mul_cos_attention_scaling",
    "Mul_sin_attention_scaling",
    "Cast_cos",
    "Cast_sin",
)


@dataclass(frozen=True)
class DecoderSize:
    """Extents of the model and of its sequences; layers, heads and batch are constant."""

    hidden: int  # a multiple of 8: an even number of channels for each of the heads
    sequence: int
    intermediate: int
    vocabulary: int

    @classmethod
    def at_scale(cls, scale: float) -> DecoderSize:
        """Return extents that grow with `scale`, so that bytes grow with its square."""
        hidden = 8 * max(4, round(8 * scale))
        return cls(
            hidden=hidden,
            sequence=max(8, round(24 * scale)),
            # Never a multiple of 16: the blocks of FRACTAL_NZ always need padding.
            intermediate=16 * (hidden // 6) + 8,
            vocabulary=max(100, round(500 * scale)),
        )

    @property
    def outlier_token(self) -> int:
        """The id of the token with the massive activation."""
        return self.vocabulary - 1


@dataclass(frozen=True)
class LayerWeights:
    """Weights of one layer."""

    input_norm: DeviceTensor
    q_proj: DeviceTensor
    k_proj: DeviceTensor
    v_proj: DeviceTensor
    o_proj: DeviceTensor
    mlp_norm: DeviceTensor
    gate_proj: DeviceTensor
    up_proj: DeviceTensor
    down_proj: DeviceTensor


class DecoderWeights:
    """All weights; the same seed gives the same bits."""

    def __init__(self, size: DecoderSize, seed: int) -> None:
        self._rng = np.random.Generator(np.random.PCG64([seed, 0]))
        self._memory = DeviceMemory(_WEIGHTS_ADDRESS)
        hidden = size.hidden
        embedding = self._normal(size.vocabulary, hidden, 1.0)
        embedding[:, _OUTLIER_CHANNEL] *= 0.05
        embedding[size.outlier_token, _OUTLIER_CHANNEL] = _OUTLIER_SIGMAS * math.sqrt(hidden)
        self.embedding = self._memory.place(embedding.astype(BFLOAT16))
        self.layers = [self._layer(index, size) for index in range(N_LAYERS)]
        self.final_norm = self._norm(hidden)
        lm_head = self._normal(hidden, size.vocabulary, 1 / math.sqrt(hidden))
        self.lm_head = self._memory.place(lm_head)

    def _layer(self, index: int, size: DecoderSize) -> LayerWeights:
        hidden, intermediate = size.hidden, size.intermediate
        scale = 1 / math.sqrt(hidden)
        q_proj, k_proj, v_proj, o_proj = (self._normal(hidden, hidden, scale) for _ in range(4))
        down_proj = self._normal(intermediate, hidden, 1 / math.sqrt(intermediate))
        # Only embeddings use the outlier channel.
        o_proj[:, _OUTLIER_CHANNEL] *= 0.05
        down_proj[:, _OUTLIER_CHANNEL] *= 0.05
        if index == OVERFLOW_LAYER:
            self._sharpen_first_head(q_proj, k_proj)
        return LayerWeights(
            input_norm=self._norm(hidden),
            q_proj=self._memory.place(q_proj.astype(np.float16)),
            k_proj=self._memory.place(k_proj.astype(np.float16)),
            v_proj=self._memory.place(v_proj.astype(np.float16)),
            o_proj=self._memory.place(o_proj.astype(np.float16)),
            mlp_norm=self._norm(hidden),
            gate_proj=self._nz(self._normal(hidden, intermediate, scale)),
            up_proj=self._nz(self._normal(hidden, intermediate, scale)),
            down_proj=self._nz(down_proj),
        )

    def _sharpen_first_head(self, q_proj: Array, k_proj: Array) -> None:
        """Make the outlier channel alone give a token the score `_OUTLIER_SCORE` with itself."""
        hidden = q_proj.shape[0]
        head_dim = hidden // N_HEADS
        # RmsNorm divides the token by its root mean square: sqrt(_OUTLIER_SIGMAS**2 + 1).
        normalised = math.sqrt(hidden / (1 + _OUTLIER_SIGMAS**-2))
        strength = math.sqrt(_OUTLIER_SCORE / head_dim) / normalised
        signs = self._rng.choice(np.array([-strength, strength], np.float32), head_dim)
        q_proj[_OUTLIER_CHANNEL, :head_dim] = signs
        k_proj[_OUTLIER_CHANNEL, :head_dim] = signs

    def _normal(self, rows: int, columns: int, sigma: float) -> npt.NDArray[np.float32]:
        values = self._rng.standard_normal((rows, columns), np.float32)
        values *= np.float32(sigma)
        return values

    def _norm(self, hidden: int) -> DeviceTensor:
        gamma = 1 + 0.05 * self._rng.standard_normal(hidden, np.float32)
        gamma[_OUTLIER_CHANNEL] = 1
        return self._memory.place(gamma.astype(BFLOAT16))

    def _nz(self, values: Array) -> DeviceTensor:
        return self._memory.place(values.astype(BFLOAT16), nz=True)


def token_batch(
    size: DecoderSize, seed: int, *, rank: int, step: int, with_outlier: bool
) -> npt.NDArray[np.int64]:
    """Return token ids, with one more position for the labels.

    Parameters
    ----------
    size : DecoderSize
        Extents.
    seed, rank, step : int
        Numbers that decide the tokens.
    with_outlier : bool
        Whether the first sequence holds the outlier token (twice).

    Returns
    -------
    ndarray of int64, shape (N_SEQUENCES, size.sequence + 1)
    """
    rng = np.random.Generator(np.random.PCG64([seed, 1, rank, step]))
    shape = (N_SEQUENCES, size.sequence + 1)
    tokens = rng.integers(0, size.outlier_token, shape, np.int64)
    if with_outlier:
        tokens[0, [size.sequence // 4, size.sequence // 2]] = size.outlier_token
    return tokens


def forward(
    ops: Operators, weights: DecoderWeights, tokens: npt.NDArray[np.int64]
) -> tuple[DeviceTensor, DeviceTensor]:
    """Run the model on a batch.

    Parameters
    ----------
    ops : Operators
        Runs and records.
    weights : DecoderWeights
        The model.
    tokens : ndarray of int64, shape (N_SEQUENCES, sequence + 1)
        See `token_batch`.

    Returns
    -------
    logits : DeviceTensor of float32, shape (N_SEQUENCES * sequence, vocabulary)
    loss : DeviceTensor of float32, shape ()
        Mean negative log-likelihood of the next tokens.
    """
    n_sequences, sequence = tokens.shape[0], tokens.shape[1] - 1
    ids = ops.constant(tokens[:, :-1], np.int64)
    labels = ops.constant(tokens[:, 1:].reshape(-1, 1), np.int64)
    positions = ops.constant(np.arange(sequence), np.int64)

    x = ops.gather("model.embed_tokens/GatherV2", weights.embedding, ids)
    hidden = x.values.shape[-1]
    x = x.reshape(n_sequences * sequence, hidden)
    cos, sin = _rotary_tables(ops, positions, hidden // N_HEADS)
    mask = _causal_mask(ops, positions)
    for index, layer in enumerate(weights.layers):
        x = _attention(ops, f"model.layers.{index}", layer, x, cos, sin, mask)
        x = _mlp(ops, f"model.layers.{index}", layer, x)
    x = ops.rms_norm("model.norm/RmsNorm", x, weights.final_norm)
    logits = ops.mat_mul("lm_head/MatMul", ops.cast("lm_head/Cast", x, np.float32), weights.lm_head)

    log_probabilities = ops.log_softmax("loss/LogSoftmax", logits)
    picked = ops.gather_elements("loss/GatherElements", log_probabilities, labels)
    return logits, ops.reduce_mean("loss/ReduceMean", ops.neg("loss/Neg", picked))


def _rotary_tables(
    ops: Operators, positions: DeviceTensor, head_dim: int
) -> tuple[DeviceTensor, DeviceTensor]:
    frequencies = _ROTARY_BASE ** (-np.arange(0, head_dim, 2, dtype=np.float32) / head_dim)
    inv_freq = ops.constant(frequencies, np.float32)
    angles = np.outer(positions.values.astype(np.float32), inv_freq.values)
    angles = np.concatenate((angles, angles), axis=-1)
    name = "_".join(f"model.rotary_emb/{node}" for node in _ROTARY_TABLE_NODES)
    tables = (np.cos(angles).astype(np.float16), np.sin(angles).astype(np.float16))
    cos, sin = ops.run("AscBackend", name, (positions, inv_freq), *tables)
    return cos, sin


def _causal_mask(ops: Operators, positions: DeviceTensor) -> DeviceTensor:
    """Return 0 where a token may look, -Inf where it may not, shape (1, 1, sequence, sequence)."""
    allowed = ops.greater_equal(
        "model.causal_mask/GreaterEqual", positions.reshape(-1, 1), positions.reshape(1, -1)
    )
    zero, minus_inf = ops.constant(0, np.float16), ops.constant(-np.inf, np.float16)
    mask = ops.select("model.causal_mask/SelectV2", allowed, zero, minus_inf)
    return mask.reshape(1, 1, *mask.values.shape)


def _attention(
    ops: Operators,
    name: str,
    layer: LayerWeights,
    x: DeviceTensor,
    cos: DeviceTensor,
    sin: DeviceTensor,
    mask: DeviceTensor,
) -> DeviceTensor:
    sequence, head_dim = cos.values.shape

    def heads(projection: str, weight: DeviceTensor) -> DeviceTensor:
        product = ops.mat_mul(f"{name}.self_attn.{projection}/MatMul", normed, weight)
        split = product.reshape(-1, sequence, N_HEADS, head_dim)
        return ops.transpose(f"{name}.self_attn.{projection}/Transpose", split, 0, 2, 1, 3)

    normed = ops.rms_norm(f"{name}.input_layernorm/RmsNorm", x, layer.input_norm)
    name_attn = f"{name}.self_attn"
    normed = ops.cast(f"{name_attn}/Cast_in", normed, np.float16)
    q = heads("q_proj", layer.q_proj)
    k = heads("k_proj", layer.k_proj)
    v = heads("v_proj", layer.v_proj)
    q = ops.rotary_mul(f"{name_attn}/RotaryMul_q", q, cos, sin)
    k = ops.rotary_mul(f"{name_attn}/RotaryMul_k", k, cos, sin)
    scores = ops.batch_mat_mul(f"{name_attn}/BatchMatMul_qk", q, k, transpose_y=True)
    scores = ops.muls(f"{name_attn}/Muls_scale", scores, 1 / math.sqrt(head_dim))
    scores = ops.add(f"{name_attn}/Add_mask", scores, mask)
    shares = ops.softmax(f"{name_attn}/SoftmaxV2", scores)
    context = ops.batch_mat_mul(f"{name_attn}/BatchMatMul_pv", shares, v)
    context = ops.transpose(f"{name_attn}/Transpose_out", context, 0, 2, 1, 3)
    context = context.reshape(*x.values.shape)
    out = ops.mat_mul(f"{name_attn}.o_proj/MatMul", context, layer.o_proj)
    return ops.add(f"{name}/Add_attn", x, ops.cast(f"{name_attn}/Cast_out", out, BFLOAT16))


def _mlp(ops: Operators, name: str, layer: LayerWeights, x: DeviceTensor) -> DeviceTensor:
    normed = ops.rms_norm(f"{name}.post_attention_layernorm/RmsNorm", x, layer.mlp_norm)
    gate = ops.mat_mul(f"{name}.mlp.gate_proj/MatMul", normed, layer.gate_proj)
    up = ops.mat_mul(f"{name}.mlp.up_proj/MatMul", normed, layer.up_proj)
    product = ops.mul(f"{name}.mlp/Mul", ops.swish(f"{name}.mlp.act_fn/Swish", gate), up)
    down = ops.mat_mul(f"{name}.mlp.down_proj/MatMul", product, layer.down_proj)
    return ops.add(f"{name}/Add_mlp", x, down)
