"""The bad rows of a table, and the order in which people should look at rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._arguments import INT64_MAX
from fastdump._array.elements import LARGEST_FINITE
from fastdump._table.arrow_column import codes_of, integer_array, is_in, is_null, real_array

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

_OVERFLOW, _DAMAGED, _MASK, _NEAR_OVERFLOW, _NO_RANGE, _UNSUPPORTED = range(6)


_COUNTS = ("nan", "pos_inf", "neg_inf")


def bad_rows(batch: RecordBatch) -> NDArray[np.bool_]:
    """Return which rows have a NaN or an Inf, or a tensor that is not complete."""
    return _damaged(batch) | rows_with_nan_or_pos_inf(batch) | rows_with_neg_inf(batch)


def rows_with_nan_or_pos_inf(batch: RecordBatch) -> NDArray[np.bool_]:
    """Return which rows have a NaN or +Inf.

    Counts decide; if a count is missing, moments do.
    """
    # -Inf makes the norm infinite too.
    told = _is(batch, "l2norm", np.inf) & ~_tells_neg_inf(batch)
    for name in ("max", "min", "mean"):
        told |= _is(batch, name, np.inf)
    for name in ("max", "min", "mean", "l2norm"):
        told |= _is_nan(batch, name)
    return _is_counted(batch, "nan") | _is_counted(batch, "pos_inf") | (told & uncounted(batch))


def rows_with_neg_inf(batch: RecordBatch) -> NDArray[np.bool_]:
    """Return which rows have a -Inf; counts or moments decide as in `rows_with_nan_or_pos_inf`."""
    return _is_counted(batch, "neg_inf") | (_tells_neg_inf(batch) & uncounted(batch))


def uncounted(batch: RecordBatch) -> NDArray[np.bool_]:
    """Return in which rows NaN, +Inf or -Inf were not counted.

    In these rows, the vendor's moments tell of bad elements, because they are over all elements. If
    all three were counted, a moment that is not finite has merely left the range of its type.
    """
    missing: NDArray[np.bool_] = np.zeros(batch.num_rows, np.bool_)
    for name in _COUNTS:
        missing |= is_null(batch.column(name))
    return missing


def worst_first(batch: RecordBatch) -> NDArray[np.int64]:
    """Return the indices of the rows in the order of `StatsTable.worst`."""
    severity = np.full(batch.num_rows, _NO_RANGE)
    reach = _reach(batch)
    # Classes are assigned from the least to the most severe, so that the most severe remains.
    severity[~np.isnan(reach)] = _NEAR_OVERFLOW
    severity[is_in(batch.column("status"), ("unsupported",))] = _UNSUPPORTED
    severity[rows_with_neg_inf(batch)] = _MASK
    severity[_damaged(batch)] = _DAMAGED
    severity[rows_with_nan_or_pos_inf(batch)] = _OVERFLOW

    by_time = severity <= _MASK
    timestamp = integer_array(batch.column("timestamp"), null=INT64_MAX)
    descending = np.where(severity == _NEAR_OVERFLOW, -reach, 0.0)
    # lexsort is stable, and its last key is the primary one.
    return np.lexsort((np.where(by_time, timestamp, 0), descending, severity))


def _reach(batch: RecordBatch) -> NDArray[np.float64]:
    """Return the largest magnitude relative to the type's largest finite value; NaN if unknown."""
    low = np.abs(real_array(batch.column("min")))
    high = np.abs(real_array(batch.column("max")))
    codes, dtypes = codes_of(batch.column("dtype"))
    largest = [*(LARGEST_FINITE.get(name, np.nan) for name in dtypes), np.nan]
    return np.fmax(low, high) / np.array(largest, np.float64)[codes]


def _is_counted(batch: RecordBatch, name: str) -> NDArray[np.bool_]:
    return integer_array(batch.column(name)) > 0


def _is_nan(batch: RecordBatch, name: str) -> NDArray[np.bool_]:
    """Return where a column of reals is NaN and not null."""
    column = batch.column(name)
    nan: NDArray[np.bool_] = np.isnan(real_array(column))
    return nan & ~is_null(column)


def _is(batch: RecordBatch, name: str, value: float) -> NDArray[np.bool_]:
    equal: NDArray[np.bool_] = real_array(batch.column(name)) == value
    return equal


def _tells_neg_inf(batch: RecordBatch) -> NDArray[np.bool_]:
    return _is(batch, "max", -np.inf) | _is(batch, "min", -np.inf) | _is(batch, "mean", -np.inf)


def _damaged(batch: RecordBatch) -> NDArray[np.bool_]:
    return ~is_in(batch.column("status"), ("ok", "unsupported"))
