"""Small models of the usual families, in each of which one thing can be built wrong.

Only tests that have torch may import this. The second of the layers, or blocks, is the one with the
fault.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

HIDDEN, HEADS, VOCABULARY, CLASSES = 32, 4, 64, 10
HEAD_SIZE = HIDDEN // HEADS
FAULTY_LAYER = 1


@dataclass(frozen=True)
class Build:
    """What is built wrong, by the names of `recorded_models.FAULTS`, and where this is."""

    fault: str | None = None
    layer: int = -1

    def has(self, fault: str) -> bool:
        return self.fault == fault and self.layer in (-1, FAULTY_LAYER)

    def at(self, layer: int) -> Build:
        return Build(self.fault, layer)

    @property
    def epsilon(self) -> float:
        return 0.5 if self.has("epsilon") else 1e-6


def narrower(dtype: torch.dtype) -> torch.dtype:
    return torch.bfloat16 if dtype == torch.float32 else dtype


class RMSNorm(nn.Module):
    """Computes in float32, whatever the type of its input."""

    def __init__(self, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(HIDDEN))
        self.epsilon = epsilon

    def forward(self, hidden: Tensor) -> Tensor:
        wide = hidden.to(torch.float32)
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.epsilon)
        return self.weight * (wide * scale).to(hidden.dtype)


def layer_norm(epsilon: float) -> nn.LayerNorm:
    norm = nn.LayerNorm(HIDDEN, eps=epsilon)
    nn.init.normal_(norm.weight, 1, 0.1)
    nn.init.normal_(norm.bias, 0, 0.1)
    return norm


class Rotary(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer(
            "frequencies", 10_000 ** -(torch.arange(0, HEAD_SIZE, 2) / HEAD_SIZE), persistent=False
        )

    def forward(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        positions = torch.arange(hidden.shape[1])
        angles = positions[:, None].to(torch.float32) * self.frequencies.to(torch.float32)
        both = torch.cat((angles, angles), -1)
        return both.cos().to(hidden.dtype), both.sin().to(hidden.dtype)


def rotated(heads: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
    first, second = heads.chunk(2, -1)
    return heads * rotary[0] + torch.cat((-second, first), -1) * rotary[1]


class Attention(nn.Module):
    def __init__(self, build: Build, n_shared: int = HEADS, bias: bool = False, drop: float = 0):
        super().__init__()
        self.build, self.n_shared = build, n_shared
        self.q_proj = nn.Linear(HIDDEN, HIDDEN, bias=bias)
        self.k_proj = nn.Linear(HIDDEN, n_shared * HEAD_SIZE, bias=bias)
        self.v_proj = nn.Linear(HIDDEN, n_shared * HEAD_SIZE, bias=bias)
        self.o_proj = nn.Linear(HIDDEN, HIDDEN, bias=bias)
        self.drop = nn.Dropout(drop) if drop else None

    def _heads(self, projected: Tensor, number: int) -> Tensor:
        batch, tokens, _ = projected.shape
        heads = projected.view(batch, tokens, number, HEAD_SIZE).transpose(1, 2)
        if number == HEADS:
            return heads
        repeated = heads[:, :, None].expand(batch, number, HEADS // number, tokens, HEAD_SIZE)
        return repeated.reshape(batch, HEADS, tokens, HEAD_SIZE)

    def forward(
        self,
        hidden: Tensor,
        mask: Tensor | None = None,
        rotary: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        query = self._heads(self.q_proj(hidden), HEADS)
        key = self._heads(self.k_proj(hidden), self.n_shared)
        value = self._heads(self.v_proj(hidden), self.n_shared)
        if rotary is not None:
            query, key = rotated(query, rotary), rotated(key, rotary)
        scale = 1 / HEAD_SIZE if self.build.has("scale") else HEAD_SIZE**-0.5
        scores = torch.matmul(query, key.transpose(2, 3)) * scale
        if mask is not None:
            scores = scores + mask
        wide = narrower(hidden.dtype) if self.build.has("cast") else torch.float32
        shares = functional.softmax(scores.to(wide), dim=-1).to(hidden.dtype)
        if self.drop is not None:
            shares = self.drop(shares)
        mixed = torch.matmul(shares, value).transpose(1, 2).reshape(hidden.shape)
        return self.o_proj(mixed)


class GatedMlp(nn.Module):
    def __init__(self, build: Build, width: int = 3 * HIDDEN) -> None:
        super().__init__()
        self.build = build
        self.gate_proj = nn.Linear(HIDDEN, width, bias=False)
        self.up_proj = nn.Linear(HIDDEN, width, bias=False)
        self.down_proj = nn.Linear(width, HIDDEN, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        gate = self.gate_proj(hidden)
        gate = functional.gelu(gate) if self.build.has("activation") else functional.silu(gate)
        return self.down_proj(gate * self.up_proj(hidden))


class Mlp(nn.Module):
    def __init__(self, build: Build) -> None:
        super().__init__()
        self.build = build
        self.up_proj = nn.Linear(HIDDEN, 4 * HIDDEN)
        self.down_proj = nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, hidden: Tensor) -> Tensor:
        wide = self.up_proj(hidden)
        wide = functional.silu(wide) if self.build.has("activation") else functional.gelu(wide)
        return self.down_proj(wide)


class Experts(nn.Module):
    """Each token goes to two of four networks, and is divided between them."""

    N_EXPERTS, N_CHOSEN = 4, 2

    def __init__(self, build: Build) -> None:
        super().__init__()
        self.gate = nn.Linear(HIDDEN, self.N_EXPERTS, bias=False)
        self.experts = nn.ModuleList(GatedMlp(build, HIDDEN) for _ in range(self.N_EXPERTS))
        self.unevenness: Tensor | None = None

    def forward(self, hidden: Tensor) -> Tensor:
        tokens = hidden.reshape(-1, HIDDEN)
        shares = functional.softmax(self.gate(tokens).to(torch.float32), dim=-1)
        weights, chosen = shares.topk(self.N_CHOSEN, dim=-1)
        weights = (weights / weights.sum(-1, keepdim=True)).to(hidden.dtype)
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows, places = torch.where(chosen == number)
            if rows.numel():
                part = expert(tokens[rows]) * weights[rows, places, None]
                out.index_add_(0, rows, part)
        self.unevenness = self._unevenness(shares, weights, chosen)
        return out.reshape(hidden.shape)

    def _unevenness(self, shares: Tensor, weights: Tensor, chosen: Tensor) -> Tensor:
        counts = functional.one_hot(chosen.flatten(), self.N_EXPERTS).sum(0)
        sums = torch.zeros(self.N_EXPERTS, dtype=torch.float32)
        sums = sums.index_add(0, chosen.flatten(), weights.flatten().to(torch.float32))
        means = sums / counts.clamp(min=1)
        load = counts.to(torch.float32) / counts.sum()
        return (load * shares.mean(0)).sum() * self.N_EXPERTS + means.var()


class DecoderLayer(nn.Module):
    def __init__(self, build: Build, is_sparse: bool) -> None:
        super().__init__()
        self.build = build
        self.input_layernorm = RMSNorm(1e-6)
        self.self_attn = Attention(build, HEADS // 2)
        self.post_attention_layernorm = RMSNorm(build.epsilon)
        self.mlp = Experts(build) if is_sparse else GatedMlp(build)

    def forward(self, hidden: Tensor, mask: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
        hidden = hidden + self.self_attn(self.input_layernorm(hidden), mask, rotary)
        branch = self.mlp(self.post_attention_layernorm(hidden))
        return branch if self.build.has("residual") else hidden + branch


def in_order(layers: nn.ModuleList, build: Build) -> list[nn.Module]:
    ordered = list(layers)
    if build.has("swapped"):
        ordered[1], ordered[2] = ordered[2], ordered[1]
    return ordered


class Decoder(nn.Module):
    """Reads tokens, as Llama; with experts, as Mixtral."""

    def __init__(self, build: Build, is_sparse: bool = False) -> None:
        super().__init__()
        self.build = build
        self.embed_tokens = nn.Embedding(VOCABULARY, HIDDEN)
        self.rotary_emb = Rotary()
        self.layers = nn.ModuleList(DecoderLayer(build.at(i), is_sparse) for i in range(3))
        self.norm = RMSNorm(1e-6)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        hidden = self.embed_tokens(tokens)
        rotary = self.rotary_emb(hidden)
        position = torch.arange(tokens.shape[1])
        reach = position[:, None] + 1 if self.build.has("mask") else position[:, None]
        seen = (position <= reach) & (position < lengths[:, None])[:, None, None]
        lowest = torch.finfo(hidden.dtype).min
        mask = torch.zeros((), dtype=hidden.dtype).where(seen, lowest)
        for layer in in_order(self.layers, self.build):
            hidden = layer(hidden, mask, rotary)
        return self.norm(hidden)


class LanguageModel(nn.Module):
    def __init__(self, build: Build, is_sparse: bool = False) -> None:
        super().__init__()
        self.model = Decoder(build, is_sparse)
        self.lm_head = nn.Linear(HIDDEN, VOCABULARY, bias=False)

    def example(self) -> tuple[Tensor, ...]:
        return torch.randint(0, VOCABULARY, (2, 12)), torch.tensor([12, 7])

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        return self.lm_head(self.model(tokens, lengths))

    def loss(self, logits: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
        loss = functional.cross_entropy(
            logits[:, :-1].reshape(-1, VOCABULARY).to(torch.float32), tokens[:, 1:].reshape(-1)
        )
        for layer in self.model.layers:
            if isinstance(layer.mlp, Experts):
                loss = loss + 0.01 * layer.mlp.unevenness
        return loss


class EncoderLayer(nn.Module):
    """Norms follow the sums, as in BERT."""

    def __init__(self, build: Build, drop: float) -> None:
        super().__init__()
        self.build = build
        self.attention = Attention(build, bias=True, drop=drop)
        self.attention_norm = layer_norm(build.epsilon)
        self.mlp = Mlp(build)
        self.mlp_norm = layer_norm(1e-6)
        self.dropout = nn.Dropout(drop)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        branch = self.dropout(self.attention(hidden, mask))
        hidden = self.attention_norm(hidden + branch)
        branch = self.dropout(self.mlp(hidden))
        return self.mlp_norm(branch if self.build.has("residual") else hidden + branch)


class Encoder(nn.Module):
    def __init__(self, build: Build, drop: float = 0.1) -> None:
        super().__init__()
        self.build = build
        self.word_embeddings = nn.Embedding(VOCABULARY, HIDDEN)
        self.position_embeddings = nn.Embedding(16, HIDDEN)
        self.norm = layer_norm(1e-6)
        self.dropout = nn.Dropout(drop)
        self.layers = nn.ModuleList(EncoderLayer(build.at(i), drop) for i in range(3))

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        position = torch.arange(tokens.shape[1])
        hidden = self.word_embeddings(tokens) + self.position_embeddings(position)
        hidden = self.dropout(self.norm(hidden))
        seen = lengths + 1 if self.build.has("mask") else lengths
        is_word = (position < seen[:, None])[:, None, None].to(hidden.dtype)
        mask = (1 - is_word) * torch.finfo(hidden.dtype).min
        for layer in in_order(self.layers, self.build):
            hidden = layer(hidden, mask)
        return hidden


class Classifier(nn.Module):
    """BERT with a classifier of its first token."""

    def __init__(self, build: Build) -> None:
        super().__init__()
        self.bert = Encoder(build)
        self.pooler = nn.Linear(HIDDEN, HIDDEN)
        self.classifier = nn.Linear(HIDDEN, CLASSES)

    def example(self) -> tuple[Tensor, ...]:
        return torch.randint(0, VOCABULARY, (2, 12)), torch.tensor([12, 7])

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        first = self.bert(tokens, lengths)[:, 0]
        return self.classifier(torch.tanh(self.pooler(first)))

    def loss(self, logits: Tensor, tokens: Tensor, lengths: Tensor) -> Tensor:
        return functional.cross_entropy(logits.to(torch.float32), tokens[:, 0] % CLASSES)


class ConvolutionBlock(nn.Module):
    def __init__(self, build: Build) -> None:
        super().__init__()
        self.build = build
        self.conv1 = nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16, eps=build.epsilon)
        self.conv2 = nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(16)
        for norm in (self.bn1, self.bn2):
            nn.init.normal_(norm.weight, 1, 0.1)
            nn.init.normal_(norm.bias, 0, 0.1)

    def forward(self, image: Tensor) -> Tensor:
        branch = self.bn1(self.conv1(image))
        is_other = self.build.has("activation")
        branch = functional.gelu(branch) if is_other else functional.relu(branch)
        branch = self.bn2(self.conv2(branch))
        if not self.build.has("residual"):
            branch = image + branch
        return functional.relu(branch)


class ConvolutionalNetwork(nn.Module):
    def __init__(self, build: Build) -> None:
        super().__init__()
        self.build = build
        self.stem = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.layers = nn.ModuleList(ConvolutionBlock(build.at(i)) for i in range(3))
        self.head = nn.Linear(16, CLASSES)

    def example(self) -> tuple[Tensor, ...]:
        dtype = self.head.weight.dtype
        return torch.randn(4, 3, 16, 16).to(dtype), torch.randint(0, CLASSES, (4,))

    def forward(self, image: Tensor, label: Tensor) -> Tensor:
        hidden = functional.max_pool2d(functional.relu(self.stem(image)), 2)
        for layer in in_order(self.layers, self.build):
            hidden = layer(hidden)
        wide = narrower(hidden.dtype) if self.build.has("cast") else torch.float32
        return self.head(hidden.to(wide).mean((2, 3)).to(hidden.dtype))

    def loss(self, logits: Tensor, image: Tensor, label: Tensor) -> Tensor:
        return functional.cross_entropy(logits.to(torch.float32), label)


class VisionLayer(nn.Module):
    """Norms precede the branches."""

    def __init__(self, build: Build, drop: float = 0.1) -> None:
        super().__init__()
        self.build = build
        self.norm1 = layer_norm(1e-6)
        self.attention = Attention(build, bias=True)
        self.norm2 = layer_norm(build.epsilon)
        self.mlp = Mlp(build)
        self.dropout = nn.Dropout(drop)

    def forward(self, hidden: Tensor) -> Tensor:
        hidden = hidden + self.dropout(self.attention(self.norm1(hidden)))
        branch = self.dropout(self.mlp(self.norm2(hidden)))
        return branch if self.build.has("residual") else hidden + branch


class VisionTransformer(nn.Module):
    def __init__(self, build: Build) -> None:
        super().__init__()
        self.build = build
        self.patches = nn.Conv2d(3, HIDDEN, 4, stride=4)
        self.first = nn.Parameter(torch.randn(1, 1, HIDDEN))
        self.positions = nn.Parameter(0.1 * torch.randn(1, 17, HIDDEN))
        self.layers = nn.ModuleList(VisionLayer(build.at(i)) for i in range(3))
        self.norm = layer_norm(1e-6)
        self.head = nn.Linear(HIDDEN, CLASSES)

    def example(self) -> tuple[Tensor, ...]:
        dtype = self.head.weight.dtype
        return torch.randn(2, 3, 16, 16).to(dtype), torch.randint(0, CLASSES, (2,))

    def forward(self, image: Tensor, label: Tensor) -> Tensor:
        patches = self.patches(image).flatten(2).transpose(1, 2)
        first = self.first.expand(patches.shape[0], -1, -1)
        hidden = torch.cat((first, patches), 1) + self.positions
        for layer in in_order(self.layers, self.build):
            hidden = layer(hidden)
        return self.head(self.norm(hidden)[:, 0])

    def loss(self, logits: Tensor, image: Tensor, label: Tensor) -> Tensor:
        return functional.cross_entropy(logits.to(torch.float32), label)


def build_model(name: str, build: Build) -> nn.Module:
    if name == "llama":
        return LanguageModel(build)
    if name == "moe":
        return LanguageModel(build, is_sparse=True)
    return {"bert": Classifier, "cnn": ConvolutionalNetwork, "vit": VisionTransformer}[name](build)
