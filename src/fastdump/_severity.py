"""Which rows of a table are bad, and in which order a person should look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._arrow_column import integer_array, real_array, text_list
from fastdump._schema import INT64_MAX

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


def bad_rows(batch: RecordBatch) -> NDArray[np.bool_]:
    """Return which rows have a NaN, an Inf or a tensor that is not wholly there."""
    bad = _damaged(batch)
    for name in ("nan", "pos_inf", "neg_inf"):
        bad |= integer_array(batch.column(name)) > 0
    return bad


def worst_first(batch: RecordBatch) -> NDArray[np.int64]:
    """Return the indices of the rows in the order of `StatsTable.worst`."""
    severity = np.full(batch.num_rows, _NO_RANGE)
    reach = _reach(batch)
    # From the least to the most severe: a row that is in several classes is in the last one.
    severity[~np.isnan(reach)] = _NEAR_OVERFLOW
    severity[_status_is(batch, "unsupported")] = _UNSUPPORTED
    severity[integer_array(batch.column("neg_inf")) > 0] = _MASK
    severity[_damaged(batch)] = _DAMAGED
    for name in ("nan", "pos_inf"):
        severity[integer_array(batch.column(name)) > 0] = _OVERFLOW

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


def _damaged(batch: RecordBatch) -> NDArray[np.bool_]:
    return ~(_status_is(batch, "ok") | _status_is(batch, "unsupported"))


def _status_is(batch: RecordBatch, status: str) -> NDArray[np.bool_]:
    return np.array([text == status for text in text_list(batch.column("status"))], np.bool_)
