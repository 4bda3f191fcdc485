"""Which rows of a table are bad, and in which order a person should look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._arrow_column import integer_array, is_null, real_array, text_list
from fastdump._column import INT64_MAX

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

LARGEST_FINITE = {
    "float64": 1.7976931348623157e308,
    "float32": 3.4028234663852886e38,
    "bfloat16": 3.3895313892515355e38,
    "float16": 65504.0,
    "complex128": 1.7976931348623157e308,
    "complex64": 3.4028234663852886e38,
    "complex32": 65504.0,
    "hifloat8": 32768.0,
    "float8_e5m2": 57344.0,
    "float8_e4m3fn": 448.0,
    "float8_e8m0fnu": 1.7014118346046923e38,
    "float6_e3m2fn": 28.0,
    "float6_e2m3fn": 7.5,
    "float4_e2m1fn": 6.0,
    "float4_e1m2": 1.75,
}
"""Largest finite value of each type that can overflow, of either part for a complex type."""

_OVERFLOW, _DAMAGED, _MASK, _NEAR_OVERFLOW, _NO_RANGE, _UNSUPPORTED = range(6)


_COUNTS = ("nan", "pos_inf", "neg_inf")


def bad_rows(batch: RecordBatch) -> NDArray[np.bool_]:
    """Return which rows have a NaN, an Inf or a tensor that is not wholly there."""
    return _damaged(batch) | rows_with_nan_or_pos_inf(batch) | rows_with_neg_inf(batch)


def rows_with_nan_or_pos_inf(batch: RecordBatch) -> NDArray[np.bool_]:
    """Return which rows have a NaN or +Inf: by their counts, or by their moments without those."""
    # -Inf makes the norm infinite too.
    told = _is(batch, "l2norm", np.inf) & ~_tells_neg_inf(batch)
    for name in ("max", "min", "mean"):
        told |= _is(batch, name, np.inf)
    for name in ("max", "min", "mean", "l2norm"):
        told |= _is_nan(batch, name)
    return _is_counted(batch, "nan") | _is_counted(batch, "pos_inf") | (told & uncounted(batch))


def rows_with_neg_inf(batch: RecordBatch) -> NDArray[np.bool_]:
    """Return which rows have a -Inf, like `rows_with_nan_or_pos_inf`."""
    return _is_counted(batch, "neg_inf") | (_tells_neg_inf(batch) & uncounted(batch))


def uncounted(batch: RecordBatch) -> NDArray[np.bool_]:
    """Return in which rows NaN, +Inf or -Inf were not counted.

    There the vendor's moments tell of them, which are not over the finite elements only. Where all
    were counted a moment that is not finite tells of a range too small for it, not of an element.
    """
    missing: NDArray[np.bool_] = np.zeros(batch.num_rows, np.bool_)
    for name in _COUNTS:
        missing |= is_null(batch.column(name))
    return missing


def worst_first(batch: RecordBatch) -> NDArray[np.int64]:
    """Return the indices of the rows in the order of `StatsTable.worst`."""
    severity = np.full(batch.num_rows, _NO_RANGE)
    reach = _reach(batch)
    # From the least to the most severe: a row that is in several classes is in the last one.
    severity[~np.isnan(reach)] = _NEAR_OVERFLOW
    severity[_status_is(batch, "unsupported")] = _UNSUPPORTED
    severity[rows_with_neg_inf(batch)] = _MASK
    severity[_damaged(batch)] = _DAMAGED
    severity[rows_with_nan_or_pos_inf(batch)] = _OVERFLOW

    by_time = severity <= _MASK
    timestamp = integer_array(batch.column("timestamp"), null=INT64_MAX)
    descending = np.where(severity == _NEAR_OVERFLOW, -reach, 0.0)
    # lexsort is stable; its last key is the first to count.
    return np.lexsort((np.where(by_time, timestamp, 0), descending, severity))


def _reach(batch: RecordBatch) -> NDArray[np.float64]:
    """Return the largest magnitude relative to the largest finite value, NaN if there is none."""
    low = np.abs(real_array(batch.column("min")))
    high = np.abs(real_array(batch.column("max")))
    largest = [LARGEST_FINITE.get(name or "", np.nan) for name in text_list(batch.column("dtype"))]
    return np.fmax(low, high) / np.array(largest, np.float64)


def _is_counted(batch: RecordBatch, name: str) -> NDArray[np.bool_]:
    return integer_array(batch.column(name)) > 0


def _is_nan(batch: RecordBatch, name: str) -> NDArray[np.bool_]:
    """Return where a real is NaN and not null."""
    column = batch.column(name)
    nan: NDArray[np.bool_] = np.isnan(real_array(column))
    return nan & ~is_null(column)


def _is(batch: RecordBatch, name: str, value: float) -> NDArray[np.bool_]:
    equal: NDArray[np.bool_] = real_array(batch.column(name)) == value
    return equal


def _tells_neg_inf(batch: RecordBatch) -> NDArray[np.bool_]:
    return _is(batch, "max", -np.inf) | _is(batch, "min", -np.inf) | _is(batch, "mean", -np.inf)


def _damaged(batch: RecordBatch) -> NDArray[np.bool_]:
    return ~(_status_is(batch, "ok") | _status_is(batch, "unsupported"))


def _status_is(batch: RecordBatch, status: str) -> NDArray[np.bool_]:
    return np.array([text == status for text in text_list(batch.column("status"))], np.bool_)
