"""A small histogram of an array's finite values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_SAMPLE = 1 << 20
"""Elements that are looked at; a histogram for the eye gains nothing from more."""


class Histogram(NamedTuple):
    """How often values lie in each of some intervals of equal width.

    Attributes
    ----------
    counts : numpy.ndarray
        int64, shape (bins,); a single one if the values differ by too little to be told apart.
    edges : numpy.ndarray
        float64, shape (bins + 1,); the last interval includes its upper edge.
    n_sampled : int
        Elements that were looked at, evenly spaced, NaN and Inf among them.
    """

    counts: NDArray[np.int64]
    edges: NDArray[np.float64]
    n_sampled: int


def histogram(array: NDArray[Any], *, bins: int) -> Histogram | None:
    """Return the histogram of the finite elements, of magnitudes if they are complex.

    Parameters
    ----------
    array : numpy.ndarray
        Of any shape and of a real or complex type of numpy or ml_dtypes.
    bins : int
        Number of intervals.

    Returns
    -------
    Histogram or None
        None if no element that was looked at is finite.
    """
    step = -(-array.size // _MAX_SAMPLE) or 1
    sample = array.reshape(-1)[::step]
    if np.issubdtype(sample.dtype, np.complexfloating):
        sample = np.abs(sample)
    values = sample.astype(np.float64)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    low, high = finite.min(), finite.max()
    # In halves: the distance of the extremes of float64 is more than float64 holds.
    width = (high / 2 - low / 2) / bins * 2
    if width <= np.spacing(max(abs(low), abs(high))):
        # Values so close to each other, or all the same, leave no room between edges.
        return Histogram(np.array([finite.size]), np.array([low, high]), sample.size)
    counts, edges = np.histogram(finite / 2, bins=bins)
    return Histogram(counts, edges * 2, sample.size)
