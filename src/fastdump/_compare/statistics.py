"""Comparison of tensors of which only statistics are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.coded import coded_text
from fastdump._compare.mask_constants import largest_near
from fastdump._compare.metrics import Metrics
from fastdump._table.arrow_column import integer_array, is_in, is_null, real_array, rows_of

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

    from fastdump._compare.side import Side

NOTE = "statistics only: no element was compared"
ROUNDING = 1e-5
"""Possible relative error of statistics that the device wrote: they have six digits."""

_MOMENTS = ("max", "min", "mean", "l2norm")
_BAD = ("nan", "pos_inf", "neg_inf")
_COLUMNS = (*_MOMENTS, *_BAD, "count", "dtype", "status", "note", "source")


def statistics_of(side: Side, rows: NDArray[np.int64]) -> RecordBatch:
    """Return the columns that are compared, of some rows."""
    batch = side.batch.select(list(_COLUMNS))
    return rows_of(batch, rows)


def compare_statistics(
    a: RecordBatch, b: RecordBatch
) -> tuple[Metrics, NDArray[np.bool_], NDArray[np.bool_]]:
    """Compare statistics of tensors, row by row.

    Returns
    -------
    metrics : Metrics
        What statistics tell about each pair.
    bad_differ : ndarray of bool
        Pairs in which the numbers of NaN and Inf are known and differ.
    is_rounded : ndarray of bool
        Pairs of which the device's software wrote a side.
    """
    metrics = Metrics(a.num_rows)
    for batch, side in ((a, "a"), (b, "b")):
        for name in _MOMENTS:
            metrics.reals[f"{name}_{side}"][:] = real_array(batch.column(name))
    metrics.reals["statistics_difference"][:] = _difference(a, b)
    bad_differ = _count_bad(metrics, a, b)
    _set_statuses(metrics, a, b)
    is_rounded = is_in(a.column("source"), ("csv",)) | is_in(b.column("source"), ("csv",))
    return metrics, bad_differ, is_rounded


def _difference(a: RecordBatch, b: RecordBatch) -> NDArray[np.float64]:
    """Return the largest relative difference of the moments, NaN if none is known."""
    reals_a, reals_b = ({name: real_array(s.column(name)) for name in _MOMENTS} for s in (a, b))
    ends_a, ends_b = (largest_near(reals["min"], reals["max"]) for reals in (reals_a, reals_b))
    # Masked tensors are compared as multiples of their mask constants.
    is_masked = ~np.isnan(ends_a) & ~np.isnan(ends_b) & (ends_a != ends_b)
    for reals, ends in ((reals_a, ends_a), (reals_b, ends_b)):
        for name in _MOMENTS:
            reals[name] = reals[name] / np.where(is_masked, ends, 1.0)
    scale = np.fmax(np.abs(reals_b["max"]), np.abs(reals_b["min"]))
    largest = np.full(a.num_rows, np.nan)
    for name in _MOMENTS:
        x, y = reals_a[name], reals_b[name]
        reference = np.abs(y) if name == "l2norm" else scale
        known = ~is_null(a.column(name)) & ~is_null(b.column(name))
        with np.errstate(all="ignore"):
            error = np.abs(x - y) / reference
        # Zeros, infinities and the device's NaN are either the same or infinitely far apart.
        is_same = (x == y) | (np.isnan(x) & np.isnan(y))
        error = np.where(is_same, 0.0, np.where(np.isnan(error), np.inf, error))
        largest = np.fmax(largest, np.where(known, error, np.nan))
    return largest


def _count_bad(metrics: Metrics, a: RecordBatch, b: RecordBatch) -> NDArray[np.bool_]:
    """Set the metrics that the numbers of NaN and Inf tell; return where these numbers differ."""
    bad, known = [], []
    for batch in (a, b):
        bad.append(np.sum([integer_array(batch.column(name)) for name in _BAD], axis=0))
        known.append(~np.any([is_null(batch.column(name)) for name in _BAD], axis=0))
    both_known = known[0] & known[1]
    none_a, none_b = (both_known & (n == 0) for n in bad)
    # Which elements are bad is not known, unless one side has none.
    for name, number, none_here, none_there in (
        ("only_a_bad", bad[0], none_a, none_b),
        ("only_b_bad", bad[1], none_b, none_a),
    ):
        numbers, is_known = metrics.integers[name]
        is_known[:] = none_here | none_there
        numbers[:] = np.where(none_here, 0, number)
    metrics.integers["both_bad"][1][:] = none_a | none_b
    differ: NDArray[np.bool_] = both_known & (bad[0] != bad[1])
    return differ


def _set_statuses(metrics: Metrics, a: RecordBatch, b: RecordBatch) -> None:
    metrics.note[:] = NOTE
    for side, batch in (("b", b), ("a", a)):
        statuses, notes = (coded_text(batch.column(name)) for name in ("status", "note"))
        for i in np.flatnonzero(statuses.where(lambda status: status != "ok")).tolist():
            status = statuses[i]
            metrics.status[i] = status or ""
            metrics.note[i] = f"{side}: {notes[i] or status}; {NOTE}"
    counts = [integer_array(batch.column("count")) for batch in (a, b)]
    known = ~is_null(a.column("count")) & ~is_null(b.column("count"))
    numbers, is_known = metrics.integers["count"]
    is_known[:] = known & (counts[0] == counts[1])
    numbers[:] = counts[0]
    for i in np.flatnonzero(known & (counts[0] != counts[1])).tolist():
        metrics.status[i] = "size_mismatch"
        metrics.note[i] = f"{counts[0][i]} elements in a, {counts[1][i]} in b; {NOTE}"
