"""The kinds of findings: how severe each is, in which rows it shows, and the thresholds.

Whether a row that shows a kind is a finding depends on what the operator read (`origins`) and on
whether it is meant to be so (`harmless`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fastdump._op_name import without_layer_number
from fastdump._table.severity import saturation_tells
from fastdump._triage.rows import NONE, OUTPUT, Rows, blocks, mixed
from fastdump._words import catalogue as say

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Kind(NamedTuple):
    """A kind of finding; its name is stable. docs/triage.md tells what each means."""

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

SATURATED_TOLERANCE: Final = 1e-5
"""Relative: the vendor's statistics have six digits."""

JUMP_RATIO: Final = 1000.0
"""The factor by which the root mean square has to be above, or below, its usual value."""
INHERITED_RATIO: Final = JUMP_RATIO**0.5
"""A ratio so large that what is made of such values may well be a jump."""
JUMP_MIN_LAYERS: Final = 3
"""The number of layers that it takes to know what is usual."""

HEADROOM_SHARE: Final = 0.5
"""The share of float16's 65504 from which on less than a factor of two is left."""

SMALLEST_NORMAL: Final = 2.0**-14
"""The smallest float16 of full precision."""

MIN_ELEMENTS: Final = 16
"""Smaller tensors (flags, scales, losses) say nothing by being zero, or by their size."""

_MAX_INDEX = 64  # the tensors of an operator from this index on are taken for one
_LOG_RANGE = 4096.0  # more than the logarithms of float64 span


def saturated(rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows have values at plus, and at minus, the largest finite value."""
    at_max, at_min = _near_largest(rows, 1 - SATURATED_TOLERANCE)
    tells = saturation_tells(rows.dtype, rows.dtypes, rows.n_saturated, rows.count)
    return at_max & tells, at_min & tells


def _near_largest(rows: Rows, share: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows have values from this share of the largest on, and of its negative."""
    high, low = np.empty(rows.n, np.bool_), np.empty(rows.n, np.bool_)
    for some in blocks(rows.n):
        limit = share * rows.largest(some)
        high[some], low[some] = rows.max[some] >= limit, rows.min[some] <= -limit
    return high, low


def all_zero(rows: Rows) -> NDArray[np.bool_]:
    """Return which rows are zeros only, of floating-point types."""
    zero = (rows.max == 0) & (rows.min == 0) & (rows.count >= MIN_ELEMENTS)
    return np.asarray(zero & rows.is_float & ~rows.nan_or_pos_inf & ~rows.neg_inf)


def near_overflow(rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which float16 rows come near plus, and minus, the largest value."""
    is_float16 = rows.of_dtype(("float16", "complex32"))
    high, low = _near_largest(rows, HEADROOM_SHARE)
    return high & is_float16, low & is_float16


def magnitude(rows: Rows) -> NDArray[np.float64]:
    """Return the root mean square of the finite elements, NaN if it says nothing.

    Without a norm it is the largest magnitude.
    """
    magnitudes = np.empty(rows.n)
    for some in blocks(rows.n):
        finite, norm = rows.n_finite(some), rows.l2norm[some]
        with np.errstate(invalid="ignore", divide="ignore"):
            rms = norm / np.sqrt(finite)
        largest = np.maximum(np.abs(rows.max[some]), np.abs(rows.min[some]))
        found = np.where(np.isnan(norm), largest, rms)
        usable = rows.is_float[some] & (finite >= MIN_ELEMENTS) & np.isfinite(found) & (found > 0)
        magnitudes[some] = np.where(usable, found, np.nan)
    return magnitudes


class Jump(NamedTuple):
    """How much larger (or, below 1, smaller) values are than what is usual, and what that is."""

    ratio: float
    usual: str


USUAL: Final = (say.ON_OTHER_RANKS(), say.BEFORE(), say.IN_OTHER_LAYERS())
"""What norms are compared with; a finding names the first that shows a jump."""


def jumps(rows: Rows, ignored: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return how many times larger values are than usual, and an index in `USUAL`.

    The ratio is 1 where it is not known. Rows that are `ignored` do not jump, and nothing is
    compared with them.
    """
    sizes = magnitude(rows)
    sizes[ignored] = np.nan
    layers = _without_layer_numbers(rows.ops)
    # Without their counters, names do not tell the operators of a layer apart.
    of_layers = np.full_like(layers, NONE) if rows.counters_shift else layers
    # Most tensors are of about the same size in all steps, on all ranks and in all layers.
    vary = _varies(sizes, np.arange(len(rows.ops)), rows)
    vary_in_layers = _varies(sizes, of_layers, rows)
    some = np.flatnonzero(vary | vary_in_layers)
    in_layers = np.where(vary_in_layers[some], sizes[some], np.nan)
    sizes = np.where(vary[some], sizes[some], np.nan)
    op, io, index = rows.op[some], rows.io[some], rows.index[some]
    step, lane = rows.step[some], rows.lane[some]
    tensor = mixed(op, rows.signature[some], io, index)
    ratios = np.stack(
        (
            _relative_to_usual(sizes, mixed(tensor, step), min_others=1),
            _relative_to_earlier(sizes, tensor, lane, rows.when[some]),
            _relative_to_usual(
                in_layers, mixed(lane, step, layers[op], io, index), min_others=JUMP_MIN_LAYERS - 1
            ),
        )
    )
    # All jumps count alike.
    size = np.minimum(np.abs(np.log(ratios)), math.log(JUMP_RATIO))
    ratio, usual = np.ones(rows.n), np.zeros(rows.n, np.int8)
    largest = np.argmax(size, axis=0)
    usual[some] = largest
    ratio[some] = np.take_along_axis(ratios, largest[None], axis=0)[0]
    return ratio, usual


def jumped(ratio: NDArray[np.float64], least: float = JUMP_RATIO) -> NDArray[np.bool_]:
    """Return which ratios are at least this large, or small."""
    return (ratio >= least) | (ratio <= 1 / least)


def _varies(
    sizes: NDArray[np.float64], code_of_op: NDArray[np.int64], rows: Rows
) -> NDArray[np.bool_]:
    """Return which sizes are of tensors that may have a jump, of operators whose code is known."""
    n_slots = 2 * _MAX_INDEX

    def slots(some: slice) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        code = code_of_op[rows.op[some]]
        valid = ~np.isnan(sizes[some]) & (code != NONE)
        index = np.clip(rows.index[some], 0, _MAX_INDEX - 1)
        return code * n_slots + 2 * index + (rows.io[some] == OUTPUT), valid

    n_groups = n_slots * (int(code_of_op.max(initial=0)) + 1)
    low, high = np.full(n_groups, np.inf), np.zeros(n_groups)
    for some in blocks(rows.n):
        slot, valid = slots(some)
        np.minimum.at(low, slot[valid], sizes[some][valid])
        np.maximum.at(high, slot[valid], sizes[some][valid])
    with np.errstate(invalid="ignore", over="ignore"):
        is_wide = high / low >= INHERITED_RATIO
    varies = np.zeros(rows.n, np.bool_)
    for some in blocks(rows.n):
        slot, valid = slots(some)
        varies[some][valid] = is_wide[slot[valid]]
    return varies


def _relative_to_earlier(
    sizes: NDArray[np.float64],
    tensor: NDArray[np.uint64],
    lane: NDArray[np.int32],
    when: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return each size divided by the largest before it, or by the smallest if it is smaller.

    A smaller size also has to be smaller than all in its lane: after a jump, sizes are usual again.
    """
    up = _relative_to_extreme(sizes, tensor, when, np.maximum)
    down = _relative_to_extreme(sizes, tensor, when, np.minimum)
    in_lane = _relative_to_extreme(sizes, mixed(tensor, lane), when, np.minimum)
    down = np.minimum(np.maximum(down, in_lane), 1.0)
    return np.where(up > 1, up, down)


def _relative_to_extreme(
    sizes: NDArray[np.float64],
    group: NDArray[np.uint64],
    when: NDArray[np.int64],
    extreme: np.ufunc,
) -> NDArray[np.float64]:
    """Return each size divided by the extreme one before it in its group, 1 for the first."""
    ratio = np.ones(len(sizes))
    order = np.flatnonzero(~np.isnan(sizes))
    if len(order) == 0:
        return ratio
    order = order[np.lexsort((when[order], group[order]))]
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
    """Return each size divided by the lower quartile of its group, but at least 1.

    The median will not do: values that jumped in one place may stay large in many later ones.
    """
    ratio = np.ones(len(sizes))
    valid = np.flatnonzero(~np.isnan(sizes))
    if len(valid) == 0:
        return ratio
    _, code, size = np.unique(group[valid], return_inverse=True, return_counts=True)
    start = np.cumsum(size) - size
    by_size = valid[np.lexsort((sizes[valid], code))]
    usual = sizes[by_size[start + (size - 1) // 4]][code]
    enough = size[code] > min_others
    ratio[valid[enough]] = np.maximum(sizes[valid] / usual, 1.0)[enough]
    return ratio


def _without_layer_numbers(ops: list[tuple[str, str]]) -> NDArray[np.int64]:
    """Return a number for each operator: equal in all layers, NONE if it is in no layer."""
    seen: dict[tuple[str, str], int] = {}
    codes = []
    for op_type, name in ops:
        plain = without_layer_number(name)
        codes.append(NONE if plain is None else seen.setdefault((op_type, plain), len(seen)))
    return np.array(codes, np.int64)
