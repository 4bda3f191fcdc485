"""Pairs of tensors of which only statistics are known: what these can tell, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._arrow_column import integer_array, is_null, real_array, text_list
from fastdump._compare.metrics import Metrics

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

    from fastdump._compare.side import Side

NOTE = "statistics only: no element was compared"
ROUNDING = 1e-5
"""How far statistics that the device wrote may be off: they have six digits."""

_MOMENTS = ("max", "min", "mean", "l2norm")


def compare_statistics(
    a: Side, b: Side, rows_a: NDArray[np.int64], rows_b: NDArray[np.int64]
) -> tuple[Metrics, NDArray[np.bool_], NDArray[np.bool_]]:
    """Compare statistics of tensors.

    Returns
    -------
    metrics : Metrics
        Of each pair what statistics tell.
    bad_differ : ndarray of bool
        Where the numbers of NaN and Inf are known and differ.
    is_rounded : ndarray of bool
        Where a side was written by the device's software.
    """
    metrics = Metrics(len(rows_a))
    batches = [side.table[rows].arrow.to_batches()[0] for side, rows in ((a, rows_a), (b, rows_b))]
    for batch, side in zip(batches, "ab", strict=True):
        for name in _MOMENTS:
            metrics.reals[f"{name}_{side}"][:] = real_array(batch.column(name))
    metrics.reals["statistics_difference"][:] = _difference(*batches)
    bad_differ = _count_bad(metrics, *batches)
    _set_statuses(metrics, *batches)
    is_rounded = np.zeros(len(metrics), np.bool_)
    for batch in batches:
        is_rounded |= np.array([text == "csv" for text in text_list(batch.column("source"))], bool)
    return metrics, bad_differ, is_rounded


def _difference(a: RecordBatch, b: RecordBatch) -> NDArray[np.float64]:
    """Return the largest relative difference of the moments, NaN if none is known."""
    reals_a, reals_b = ({name: real_array(s.column(name)) for name in _MOMENTS} for s in (a, b))
    scale = np.fmax(np.abs(reals_b["max"]), np.abs(reals_b["min"]))
    largest = np.full(a.num_rows, np.nan)
    for name in _MOMENTS:
        x, y = reals_a[name], reals_b[name]
        reference = np.abs(y) if name == "l2norm" else scale
        known = ~is_null(a.column(name)) & ~is_null(b.column(name))
        with np.errstate(all="ignore"):
            error = np.abs(x - y) / reference
        # Zeros, infinities and the device's NaN: the same or not at all.
        is_same = (x == y) | (np.isnan(x) & np.isnan(y))
        error = np.where(is_same, 0.0, np.where(np.isnan(error), np.inf, error))
        largest = np.fmax(largest, np.where(known, error, np.nan))
    return largest


def _count_bad(metrics: Metrics, a: RecordBatch, b: RecordBatch) -> NDArray[np.bool_]:
    """Set what the numbers of NaN and Inf tell; return where they differ."""
    bad, known = [], []
    for batch in (a, b):
        names = ("nan", "pos_inf", "neg_inf")
        bad.append(np.sum([integer_array(batch.column(name)) for name in names], axis=0))
        known.append(~np.any([is_null(batch.column(name)) for name in names], axis=0))
    both_known = known[0] & known[1]
    none_a, none_b = (both_known & (n == 0) for n in bad)
    # Which elements they are is not known, unless one side has none.
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
    metrics.note[:] = [NOTE] * len(metrics)
    for side, batch in (("b", b), ("a", a)):
        statuses, notes = text_list(batch.column("status")), text_list(batch.column("note"))
        for i, status in enumerate(statuses):
            if status != "ok":
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
