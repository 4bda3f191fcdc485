"""The kinds of findings: how severe each is, and in which rows it shows.

The thresholds are constants of this module. Each mask tells in which rows a kind *shows*; whether
that is a finding depends on what the operator was given (`origins`) and on whether it is meant to
be so (`harmless`).
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fastdump._triage.rows import NONE, OUTPUT, Rows, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Kind(NamedTuple):
    """A kind of finding; the name is stable. docs/triage.md tells what each means."""

    name: str
    severity: str
    """"error": values are lost; "warning": they are suspicious."""


INF: Final = Kind("inf", "error")
NAN: Final = Kind("nan", "error")
SATURATED: Final = Kind("saturated", "error")
ZEROS: Final = Kind("zeros", "warning")
NORM_JUMP: Final = Kind("norm_jump", "warning")
HEADROOM: Final = Kind("headroom", "warning")
REPLICAS_DIFFER: Final = Kind("replicas_differ", "warning")
MISSING_STEP: Final = Kind("missing_step", "warning")
MISSING_OPERATOR: Final = Kind("missing_operator", "warning")

SATURATED_SHARE: Final = 0.05
"""Of floats of 8 bits, what share of a tensor has to be at the limit.

Quantisation scales a tensor, or each of its blocks, so that the largest element is there. Of the
few values of still narrower types the largest is as good as any.
"""
SATURATED_TOLERANCE: Final = 1e-5
"""Relative: the vendor's statistics have six digits."""

JUMP_RATIO: Final = 1000.0
"""By how much the root mean square has to exceed, or fall short of, what it usually is."""
JUMP_MIN_LAYERS: Final = 3
"""How many layers it takes to know what is usual."""

HEADROOM_SHARE: Final = 0.5
"""Of float16's 65504: less than a factor of two is left."""

MIN_ELEMENTS: Final = 16
"""Smaller tensors (flags, scales, losses) say nothing by being zero, or by their size."""

_NARROW = ("float8", "hifloat8")
_NARROWEST = ("float6", "float4")
_FLOAT16_MAX = 65504.0
_MAX_INDEX = 64  # tensors of an operator beyond it are looked at together
_INHERITED_RATIO = JUMP_RATIO**0.5
_LOG_RANGE = 4096.0  # more than the logarithms of float64 span
_LAYER = re.compile(r"((?:^|[._/-])(?:layers?|blocks?|h|stages?|cells?|encoder|decoder)[._/-]?)\d+")


def saturated(rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows have values at plus, and at minus, the largest finite value."""
    limit = rows.largest * (1 - SATURATED_TOLERANCE)
    at_max, at_min = rows.max >= limit, rows.min <= -limit
    is_narrow = _of_types(rows, _NARROW)
    if is_narrow.any():
        share = rows.full_column("saturated")
        many = np.zeros(rows.n, np.bool_)
        if share is not None:
            many = share >= SATURATED_SHARE * np.maximum(rows.count, 1)
        at_max &= many | ~is_narrow
        at_min &= many | ~is_narrow
    has_limit = ~_of_types(rows, _NARROWEST)
    return at_max & has_limit, at_min & has_limit


def all_zero(rows: Rows) -> NDArray[np.bool_]:
    """Return which rows are zeros only, of floating-point types."""
    zero = (rows.max == 0) & (rows.min == 0) & (rows.count >= MIN_ELEMENTS)
    return np.asarray(zero & rows.is_float & ~rows.nan_or_pos_inf & ~rows.neg_inf)


def near_overflow(rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which float16 rows come near plus, and minus, the largest value."""
    is_float16 = _of_types(rows, ("float16", "complex32"))
    limit = HEADROOM_SHARE * _FLOAT16_MAX
    return (rows.max >= limit) & is_float16, (rows.min <= -limit) & is_float16


def magnitude(rows: Rows) -> NDArray[np.float64]:
    """Return the root of the mean square of the finite elements, NaN if it says nothing.

    Of statistics without a norm, the largest magnitude.
    """
    finite = (rows.count - rows.n_bad).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        rms = rows.l2norm / np.sqrt(finite)
    largest = np.maximum(np.abs(rows.max), np.abs(rows.min))
    found = np.where(np.isnan(rows.l2norm), largest, rms)
    usable = rows.is_float & (finite >= MIN_ELEMENTS) & np.isfinite(found) & (found > 0)
    return np.where(usable, found, np.nan)


class Jump(NamedTuple):
    """How much larger (or, below 1, smaller) values are than what is usual, and what that is."""

    ratio: float
    usual: str


USUAL: Final = ("on other ranks", "before", "in other layers")
"""What norms are compared with; the first that shows a jump is told."""


def jumps(rows: Rows, ignored: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return how much larger values are than usual, 1 where that is not known, by index in `USUAL`.

    Rows that are `ignored` do not jump, and nothing is compared with them.
    """
    sizes = magnitude(rows)
    sizes[ignored] = np.nan
    layers = _without_layer_number(rows.ops)[rows.op]
    in_layers = np.where(layers == NONE, np.nan, sizes)
    # Most tensors are of about the same size in all steps, on all ranks and in all layers.
    sizes[~_varies(sizes, rows.op, rows)] = np.nan
    in_layers[~_varies(in_layers, layers, rows)] = np.nan
    tensor = mixed(rows.op, rows.io, rows.index)
    layer = mixed(rows.lane, rows.step, layers, rows.io, rows.index)
    ratios = np.stack(
        (
            _relative_to_usual(sizes, mixed(tensor, rows.step), min_others=1),
            _relative_to_earlier(sizes, tensor, rows),
            _relative_to_usual(in_layers, layer, min_others=JUMP_MIN_LAYERS - 1),
        )
    )
    # Beyond a jump all count alike.
    size = np.minimum(np.abs(np.log(ratios)), math.log(JUMP_RATIO))
    usual = np.argmax(size, axis=0)
    return np.take_along_axis(ratios, usual[None], axis=0)[0], usual


def jumped(ratio: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which ratios are jumps."""
    return (ratio >= JUMP_RATIO) | (ratio <= 1 / JUMP_RATIO)


def has_inherited_jump(ratio: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which ratios are so large that what is made of them may well be a jump."""
    return (ratio >= _INHERITED_RATIO) | (ratio <= 1 / _INHERITED_RATIO)


def _varies(sizes: NDArray[np.float64], code: NDArray[np.int64], rows: Rows) -> NDArray[np.bool_]:
    """Return which sizes are of groups that may hold a jump; `code` is that of an operator."""
    valid = ~np.isnan(sizes)
    n_slots = 2 * _MAX_INDEX
    slot = code * n_slots + 2 * np.clip(rows.index, 0, _MAX_INDEX - 1) + (rows.io == OUTPUT)
    slot = np.where(valid, slot, 0)
    n_groups = int(slot.max(initial=0)) + 1
    low, high = np.full(n_groups, np.inf), np.zeros(n_groups)
    np.minimum.at(low, slot[valid], sizes[valid])
    np.maximum.at(high, slot[valid], sizes[valid])
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(valid & (high / low >= _INHERITED_RATIO)[slot])


def _relative_to_earlier(
    sizes: NDArray[np.float64], tensor: NDArray[np.uint64], rows: Rows
) -> NDArray[np.float64]:
    """Return each size by the largest before it, or by the smallest if it is smaller.

    Smaller it has to be than all in its own lane too: what comes after a jump is usual again.
    """
    up = _relative_to_extreme(sizes, tensor, rows, np.maximum)
    down = _relative_to_extreme(sizes, tensor, rows, np.minimum)
    in_lane = _relative_to_extreme(sizes, mixed(tensor, rows.lane), rows, np.minimum)
    down = np.minimum(np.maximum(down, in_lane), 1.0)
    return np.where(up > 1, up, down)


def _relative_to_extreme(
    sizes: NDArray[np.float64], group: NDArray[np.uint64], rows: Rows, extreme: np.ufunc
) -> NDArray[np.float64]:
    """Return each size by the extreme one of those before it in its group, 1 for the first."""
    ratio = np.ones(len(sizes))
    order = np.flatnonzero(~np.isnan(sizes))
    if len(order) == 0:
        return ratio
    order = order[np.lexsort((rows.when[order], group[order]))]
    logs = np.log(sizes[order])
    is_first = np.concatenate(([True], np.diff(group[order]) != 0))
    # Shifted from group to group by more than sizes can differ, the extreme starts anew in each.
    shift = np.cumsum(is_first) * (_LOG_RANGE if extreme is np.maximum else -_LOG_RANGE)
    before = np.concatenate(([0.0], extreme.accumulate(logs + shift)[:-1])) - shift
    ratio[order] = np.exp(np.where(is_first, 0.0, logs - before))
    return ratio


def _relative_to_usual(
    sizes: NDArray[np.float64], group: NDArray[np.uint64], *, min_others: int
) -> NDArray[np.float64]:
    """Return each size by the lower quartile of its group if it is larger, else 1.

    The quartile, for what jumped in one place may stay large in many that come after it.
    """
    ratio = np.ones(len(sizes))
    valid = np.flatnonzero(~np.isnan(sizes))
    if len(valid) == 0:
        return ratio
    _, code, size = np.unique(group[valid], return_inverse=True, return_counts=True)
    code = code.reshape(-1)
    start = np.cumsum(size) - size
    by_size = valid[np.lexsort((sizes[valid], code))]
    usual = sizes[by_size[start + (size - 1) // 4]][code]
    enough = size[code] > min_others
    ratio[valid[enough]] = np.maximum(sizes[valid] / usual, 1.0)[enough]
    return ratio


def _without_layer_number(ops: list[tuple[str, str]]) -> NDArray[np.int64]:
    """Return a number for each operator: equal in all layers, NONE outside of layers.

    Only of a name that says "layer" or the like: names that a compiler gives ("MatMul_17") differ
    in their numbers too, and have nothing in common.
    """
    seen: dict[tuple[str, str], int] = {}
    codes = []
    for op_type, name in ops:
        plain, n_numbers = _LAYER.subn(r"\1#", name, count=1)
        codes.append(seen.setdefault((op_type, plain), len(seen)) if n_numbers else NONE)
    return np.array(codes, np.int64)


def _of_types(rows: Rows, names: tuple[str, ...]) -> NDArray[np.bool_]:
    of_type = np.array([*(name.startswith(names) for name in rows.dtypes), False], np.bool_)
    return of_type[rows.dtype]
