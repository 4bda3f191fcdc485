"""Whether tensors of a pair agree, by its metrics and the tolerance of its types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.statistics import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._compare.metrics import Metrics
    from fastdump._compare.tolerances import Tolerance


def of_elements(
    metrics: Metrics, tolerances: list[Tolerance], tolerance: NDArray[np.int64]
) -> list[str | None]:
    """Return "equal", "close", "diverges", or None where nothing was compared."""
    limits = {
        name: np.array([getattr(limit, name) for limit in tolerances])[tolerance]
        for name in ("max_mismatched", "min_cosine_similarity", "max_relative_distance")
    }
    count, known = metrics.integers["count"]
    share = metrics.integers["mismatched"][0] / np.maximum(count, 1)
    # Comparisons with NaN, for null, are false.
    diverges = (
        (metrics.integers["only_a_bad"][0] > 0)
        | (metrics.integers["only_b_bad"][0] > 0)
        | (share > limits["max_mismatched"])
        | (metrics.reals["cosine_similarity"] < limits["min_cosine_similarity"])
        | (metrics.reals["relative_euclidean_distance"] > limits["max_relative_distance"])
    )
    equal, _ = metrics.integers["bit_equal"]
    # Of a tensor that is not there at all no element differs.
    known = known & (
        (count > 0) | np.array([status == "ok" for status in metrics.status], np.bool_)
    )
    verdict = np.where(equal > 0, "equal", np.where(diverges, "diverges", "close"))
    return [
        text if is_known else None for text, is_known in zip(verdict.tolist(), known, strict=True)
    ]


def of_statistics(
    metrics: Metrics,
    bad_differ: NDArray[np.bool_],
    is_rounded: NDArray[np.bool_],
    tolerances: list[Tolerance],
    tolerance: NDArray[np.int64],
) -> list[str | None]:
    """Return "similar", "diverges", or None where there was no statistic to compare."""
    limit = np.array([limit.max_relative_distance for limit in tolerances])[tolerance]
    difference = metrics.reals["statistics_difference"]
    slack = np.where(is_rounded, ROUNDING, 0)
    diverges = bad_differ | (difference > limit + slack)
    is_known = ~np.isnan(difference) | metrics.integers["both_bad"][1] | bad_differ
    is_known &= np.array([status != "size_mismatch" for status in metrics.status], np.bool_)
    verdict = np.where(diverges, "diverges", "similar")
    return [text if known else None for text, known in zip(verdict.tolist(), is_known, strict=True)]
