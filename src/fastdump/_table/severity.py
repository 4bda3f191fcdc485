"""The bad rows of a table, and the order in which people should look at rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._arguments import INT64_MAX
from fastdump._array.elements import LARGEST_FINITE
from fastdump._table.arrow_column import codes_of, integer_array, is_in, is_null, real_array

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

_OVERFLOW, _DAMAGED, _MASK, _NEAR_OVERFLOW, _NO_RANGE, _UNSUPPORTED = range(6)


SATURATED_SHARE: Final = 0.05
"""The share of a tensor of 8-bit floats that has to be at the limit to tell of saturation.

Quantisation scales a tensor, or each of its blocks, so that the largest element is at the limit.
Types with fewer bits have so few values that the largest one says nothing.
"""

_NARROW = ("float8", "hifloat8")
_NARROWEST = ("float6", "float4")
_COUNTS = ("nan", "pos_inf", "neg_inf")
_MOMENTS = ("max", "min", "mean", "l2norm")


@dataclass(frozen=True, eq=False)
class BadValues:
    """Which rows of a table have bad values, or lack some: arrays of bool, shape (rows,).

    Attributes
    ----------
    nan_or_pos_inf, neg_inf
        Rows with a NaN or +Inf, and with -Inf. Counts decide; if a count is missing, moments do.
    incomplete
        Rows whose status is neither "ok" nor "unsupported".
    uncounted
        Rows in which NaN, +Inf or -Inf were not counted. There, the vendor's moments tell of bad
        elements, because they are over all elements. If all three were counted, a moment that is
        not finite has merely left the range of its type.
    """

    nan_or_pos_inf: NDArray[np.bool_]
    neg_inf: NDArray[np.bool_]
    incomplete: NDArray[np.bool_]
    uncounted: NDArray[np.bool_]

    @classmethod
    def of(cls, batch: RecordBatch) -> BadValues:
        """Return those of the rows of a table of statistics."""
        columns = {name: batch.column(name) for name in (*_COUNTS, *_MOMENTS)}
        uncounted: NDArray[np.bool_] = np.zeros(batch.num_rows, np.bool_)
        for name in _COUNTS:
            uncounted |= is_null(columns[name])
        nan, pos_inf, neg_inf = (integer_array(columns[name]) > 0 for name in _COUNTS)
        if uncounted.any():
            moments = {name: real_array(columns[name]) for name in _MOMENTS}
            tells_neg_inf = np.zeros_like(uncounted)
            for name in ("max", "min", "mean"):
                tells_neg_inf |= moments[name] == -np.inf
            # -Inf makes the norm infinite too.
            told = (moments["l2norm"] == np.inf) & ~tells_neg_inf
            for name in ("max", "min", "mean"):
                told |= moments[name] == np.inf
            for name in _MOMENTS:
                told |= np.isnan(moments[name]) & ~is_null(columns[name])
            nan |= told & uncounted
            neg_inf |= tells_neg_inf & uncounted
        incomplete = ~is_in(batch.column("status"), ("ok", "unsupported"))
        return cls(nan | pos_inf, neg_inf, incomplete, uncounted)

    @property
    def any(self) -> NDArray[np.bool_]:
        """Which rows have a NaN or an Inf, or a tensor that is not complete, a new array."""
        return self.nan_or_pos_inf | self.neg_inf | self.incomplete


def worst_first(batch: RecordBatch, bad: BadValues) -> NDArray[np.int64]:
    """Return the indices of the rows in the order of `StatsTable.worst`."""
    severity = np.full(batch.num_rows, _NO_RANGE)
    reach = _reach(batch)
    # Classes are assigned from the least to the most severe, so that the most severe remains.
    severity[~np.isnan(reach)] = _NEAR_OVERFLOW
    severity[is_in(batch.column("status"), ("unsupported",))] = _UNSUPPORTED
    severity[bad.neg_inf] = _MASK
    severity[bad.incomplete] = _DAMAGED
    severity[bad.nan_or_pos_inf] = _OVERFLOW

    by_time = severity <= _MASK
    timestamp = integer_array(batch.column("timestamp"), null=INT64_MAX)
    descending = np.where(severity == _NEAR_OVERFLOW, -reach, 0.0)
    # lexsort is stable, and its last key is the primary one.
    return np.lexsort((np.where(by_time, timestamp, 0), descending, severity))


def saturation_tells(
    dtype: NDArray[np.int64],
    dtypes: Sequence[str],
    n_saturated: NDArray[np.int64],
    count: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return in which rows elements at the largest value of their type tell of saturation.

    Parameters
    ----------
    dtype, dtypes
        Index of each row's type, -1 for none, and the names of the types.
    n_saturated, count
        Number of elements at the largest value, and of all, in each row.
    """
    narrow, narrowest = (
        np.array([*(name.startswith(names) for name in dtypes), False], np.bool_)[dtype]
        for names in (_NARROW, _NARROWEST)
    )
    many = n_saturated >= SATURATED_SHARE * np.maximum(count, 1)
    return np.asarray((many | ~narrow) & ~narrowest)


def headroom_of(batch: RecordBatch) -> NDArray[np.float64]:
    """Return `StatsTable.headroom` of the rows."""
    with np.errstate(divide="ignore"):
        return 1 / _reach(batch)


def _reach(batch: RecordBatch) -> NDArray[np.float64]:
    """Return the largest magnitude relative to the type's largest finite value; NaN if unknown."""
    low = np.abs(real_array(batch.column("min")))
    high = np.abs(real_array(batch.column("max")))
    codes, dtypes = codes_of(batch.column("dtype"))
    largest = [*(LARGEST_FINITE.get(name, np.nan) for name in dtypes), np.nan]
    return np.fmax(low, high) / np.array(largest, np.float64)[codes]
