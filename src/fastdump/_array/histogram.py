"""A small histogram of an array's finite values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_SAMPLE = 1 << 20
"""Maximum number of elements that are read; more would not change the picture."""


class Histogram(NamedTuple):
    """The numbers of values in intervals of equal width.

    Attributes
    ----------
    counts : numpy.ndarray
        int64, shape (bins,); a single count if the values are too close for intervals.
    edges : numpy.ndarray
        float64, shape (bins + 1,); the last interval includes its upper edge.
    n_sampled : int
        Number of elements that were read, evenly spaced, including NaN and Inf.
    """

    counts: NDArray[np.int64]
    edges: NDArray[np.float64]
    n_sampled: int


def histogram(array: NDArray[Any], *, bins: int) -> Histogram | None:
    """Return the histogram of the finite elements, of magnitudes if they are complex.

    Parameters
    ----------
    array : numpy.ndarray
        An array of any shape and of a real or complex type of numpy or ml_dtypes.
    bins : int
        Number of intervals.

    Returns
    -------
    Histogram or None
        None if no element that was read is finite.
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
    # Halves are subtracted, because the distance of float64's extremes exceeds float64.
    width = (high / 2 - low / 2) / bins * 2
    if width <= np.spacing(max(abs(low), abs(high))):
        # Such close or equal values leave no room between edges.
        return Histogram(np.array([finite.size]), np.array([low, high]), sample.size)
    counts, edges = np.histogram(finite / 2, bins=bins)
    return Histogram(counts, edges * 2, sample.size)
