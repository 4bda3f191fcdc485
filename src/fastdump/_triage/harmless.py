"""Patterns that look bad and are meant to be so, and the types of operators that tell them.

A part of its name, in upper or lower case, tells what a type does: "SelectV2", "MaskedFill" and
"aclnnInplaceMaskedFillTensor" all make masks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._triage.rows import Rows, blocks
from fastdump._words import catalogue as say

if TYPE_CHECKING:
    from numpy.typing import NDArray

MASK: Final = "mask"
UNINITIALISED: Final = "uninitialised"
PADDING: Final = "padding"
ABSORBED: Final = "absorbed"

PATTERNS: Final = {
    MASK: say.IS_MASK(),
    UNINITIALISED: say.IS_UNINITIALISED(),
    PADDING: say.IS_PADDING(),
    ABSORBED: say.IS_ABSORBED(),
}

EMPTY_TYPES: Final = re.compile(r"empty", re.I)
"""Types that allocate memory and do not write to it."""

SOURCE_TYPES: Final = re.compile(
    r"^(?:data|refdata|const|constant|variable(?:v2)?|placeholder)$", re.I
)
"""Types that bring data in."""

_ARITHMETIC = (
    r"matmul|conv(?!ert)|fullyconnection|gemm|norm|softmax|attention|swish|gelu|silu|glu"
    r"|div|sqrt|reciprocal"
)
COMPUTING_TYPES: Final = re.compile(
    rf"{_ARITHMETIC}|square|reduce|(?:^|aclnn|inplace)(?:exp|expm1|log|log1p|pow)(?![a-z])", re.I
)
"""Types that overflow, and make no masks."""

NEVER_ZERO_TYPES: Final = re.compile(rf"{_ARITHMETIC}|allreduce|allgather", re.I)
"""Types whose output is not all zeros unless an input is. A difference may well be: 1 - mask."""

_MASK_TYPES: Final = re.compile(
    r"select|where|mask|fill|full(?!y)|triu|tril|topk|topp|(?<!reduce)scatter|const|onehot", re.I
)


_VARYING_TYPES: Final = re.compile(
    r"backward|grad|adam(?!ard)|momentum|rmsprop|ftrl|lamb(?!da)|sgd|accumulate"
    r"|one_?hot|bin_?count|hist|non_?zero|unique|top_?k|gating|routing",
    re.I,
)
_VARYING_NAMES: Final = re.compile(r"^[/_]|gradients?(?![a-z])|backward|optimizer", re.I)
"""A name that begins with the separator has no module: what runs outside of the forward pass."""

_MASKED_REACH: Final = 1000.0
"""How many times farther down than up the values reach to which a finite mask was added."""


def varies_by_nature(rows: Rows) -> NDArray[np.bool_]:
    """Return which of `rows.ops` make values of any size: gradients, their sums, counts, routing.

    A gradient may be zero but for rounding in one step, and not in the next.
    """
    named = [_VARYING_NAMES.search(name) is not None for _, name in rows.named_ops]
    # Names that only counters tell apart are alike in all else.
    by_name = np.zeros(len(rows.ops), np.bool_)
    by_name[rows.op] = np.array(named, np.bool_)[rows.named]
    return np.asarray(rows.typed(_VARYING_TYPES) | by_name)


def is_masked(rows: Rows) -> NDArray[np.bool_]:
    """Return which rows look as if a mask of a large negative number was added to some elements.

    Their size tells how many these are.
    """
    reach = _MASKED_REACH * np.maximum(np.abs(rows.max), 1)
    return np.asarray(rows.is_float & (rows.min <= -reach))


def makes_masks(rows: Rows) -> NDArray[np.bool_]:
    """Return which of `rows.ops` put constants where a condition says so, or are called mask."""
    named = np.array(["mask" in name.lower() for _, name in rows.ops], np.bool_)
    return np.asarray(rows.typed(_MASK_TYPES) | (named & ~rows.typed(COMPUTING_TYPES)))


def is_two_valued(rows: Rows) -> NDArray[np.bool_]:
    """Return which rows have at most two finite values, as masks have to which nothing was added.

    If all elements are `a` or `b`, the mean tells how many are `b`, and these numbers the norm.
    """
    found = np.empty(rows.n, np.bool_)
    for some in blocks(rows.n):
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            low, high, finite = rows.min[some], rows.max[some], rows.n_finite(some)
            scale = np.maximum(np.abs(low), np.abs(high))
            n_high = np.where(high > low, (rows.mean[some] - low) / (high - low) * finite, 0)
            tolerance = np.where(rows.is_reported[some], 2e-5, 1e-6) * finite
            whole = np.abs(n_high - np.round(n_high)) <= tolerance
            expected = n_high * (high / scale) ** 2 + (finite - n_high) * (low / scale) ** 2
            two = np.abs(expected - (rows.l2norm[some] / scale) ** 2) <= tolerance
            found[some] = (two & whole & (finite > 2)) | (low == high)
    return found
