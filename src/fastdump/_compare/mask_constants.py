"""Mask constants: the smallest, or largest, finite value of a type, one for each precision.

A model that masks with ``torch.finfo(dtype).min`` has -3.4e38 in one run and -65504 in another.
Both mean that an element does not count, and so their distance means nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._compare.metrics import Metrics

LARGEST: Final = (65504.0, 3.3895313892515355e38, 3.4028234663852886e38, 1.7976931348623157e308)
"""Largest finite values of float16, bfloat16, float32 and float64, in that order."""

_NEAR: Final = 0.99
"""A score that was added moves the constant by less than this leaves."""


class Unmasked(NamedTuple):
    """The elements of two arrays that are no mask constants on both sides.

    Attributes
    ----------
    a, b : ndarray, shape (n,)
        Their values.
    positions : ndarray of int64, shape (n,)
        Their flat indices.
    n_masked
        How many elements are left out.
    """

    a: NDArray[Any]
    b: NDArray[Any]
    positions: NDArray[np.int64]
    n_masked: int


def largest_near(
    smallest: NDArray[np.float64], largest: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the largest finite value of a type that extremes of tensors are next to, or NaN.

    Parameters
    ----------
    smallest, largest : ndarray of float64, shape (n,)
        The extremes of each tensor; NaN is null.
    """
    magnitude = np.fmax(np.abs(smallest), np.abs(largest))
    found = np.full(len(magnitude), np.nan)
    # That of float32 is near that of bfloat16: the smallest that is not exceeded counts.
    for value in reversed(LARGEST):
        # Statistics that the device wrote have six digits.
        found[(magnitude >= _NEAR * value) & (magnitude <= value * (1 + 1e-6))] = value
    return found


def may_be_masked_apart(metrics: Metrics) -> NDArray[np.int64]:
    """Return the pairs whose sides reach the ends of two different types."""
    ends = [
        largest_near(metrics.reals[f"min_{side}"], metrics.reals[f"max_{side}"]) for side in "ab"
    ]
    with np.errstate(invalid="ignore"):
        differ = (ends[0] != ends[1]) & ~np.isnan(ends[0]) & ~np.isnan(ends[1])
    return np.flatnonzero(differ)


def unmasked(a: NDArray[Any], b: NDArray[Any]) -> Unmasked:
    """Return the elements of two arrays of real numbers, but those that mask on both sides."""
    flat_a, flat_b = a.reshape(-1), b.reshape(-1)
    wide_a, wide_b = flat_a.astype(np.float64), flat_b.astype(np.float64)
    is_masked = _ends(wide_a) & _ends(wide_b) & (np.sign(wide_a) == np.sign(wide_b))
    positions = np.flatnonzero(~is_masked)
    return Unmasked(flat_a[positions], flat_b[positions], positions, int(is_masked.sum()))


def _ends(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values are at an end of the type whose end the largest of them is near to."""
    magnitude = np.abs(values)
    finite = magnitude[np.isfinite(magnitude)]
    reach = finite.max(initial=0.0)
    [end] = largest_near(np.array([np.nan]), np.array([reach]))
    found: NDArray[np.bool_] = magnitude >= _NEAR * end
    return found
