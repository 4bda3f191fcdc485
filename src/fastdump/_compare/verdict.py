"""Verdicts: whether the tensors of a pair agree, by its metrics and its tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.metrics import Metrics
from fastdump._compare.statistics import ROUNDING
from fastdump._compare.tolerances import Tolerance

if TYPE_CHECKING:
    from numpy.typing import NDArray


def of_elements(
    metrics: Metrics, tolerances: list[Tolerance], tolerance: NDArray[np.int64]
) -> NDArray[np.object_]:
    """Return "equal", "close", "diverges", or None where nothing was compared."""
    limits = {
        name: np.array([getattr(limit, name) for limit in tolerances])[tolerance]
        for name in ("max_mismatched", "min_cosine_similarity", "max_relative_distance")
    }
    count, known = metrics.integers["count"]
    share = metrics.integers["mismatched"][0] / np.maximum(count, 1)
    # NaN stands for null, and comparisons with it are false.
    diverges = (
        (metrics.integers["only_a_bad"][0] > 0)
        | (metrics.integers["only_b_bad"][0] > 0)
        | (share > limits["max_mismatched"])
        | (metrics.reals["cosine_similarity"] < limits["min_cosine_similarity"])
        | (metrics.reals["relative_euclidean_distance"] > limits["max_relative_distance"])
    )
    equal, _ = metrics.integers["bit_equal"]
    # A tensor that is not there at all has no element that could differ.
    known = known & ((count > 0) | (metrics.status == "ok"))
    return _words(known, (equal > 0, "equal"), (diverges, "diverges"), otherwise="close")


def of_statistics(
    metrics: Metrics,
    bad_differ: NDArray[np.bool_],
    is_rounded: NDArray[np.bool_],
    tolerances: list[Tolerance],
    tolerance: NDArray[np.int64],
) -> NDArray[np.object_]:
    """Return "similar", "diverges", or None where there was no statistic to compare."""
    limit = np.array([limit.max_relative_distance for limit in tolerances])[tolerance]
    difference = metrics.reals["statistics_difference"]
    slack = np.where(is_rounded, ROUNDING, 0)
    diverges = bad_differ | (difference > limit + slack)
    known = ~np.isnan(difference) | metrics.integers["both_bad"][1] | bad_differ
    known &= metrics.status != "size_mismatch"
    return _words(known, (diverges, "diverges"), otherwise="similar")


def _words(
    known: NDArray[np.bool_], *cases: tuple[NDArray[np.bool_], str], otherwise: str
) -> NDArray[np.object_]:
    """Return for each row the word of the first case that holds, None where nothing is known."""
    words = np.full(len(known), otherwise, object)
    for holds, word in reversed(cases):
        words[holds] = word
    words[~known] = None
    return words
