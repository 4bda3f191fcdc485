"""How far elements are spread: what follows from their statistics alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_LEAST_VARIANCE = 4e-12
"""A variance that is a smaller share of the mean square may be the rounding of mean and norm."""


def standard_deviation(
    n_finite: ArrayLike,
    mean: ArrayLike | None,
    l2norm: ArrayLike | None,
    low: ArrayLike | None,
    high: ArrayLike | None,
) -> NDArray[np.float64]:
    """Return the standard deviation of finite elements, NaN where something is NaN or None.

    It has a relative error of 1.5e-12 times the square of root mean square / standard deviation,
    and is 0 below 2e-6 times the root mean square.

    Parameters
    ----------
    n_finite
        How many there are.
    mean, l2norm
        Their mean, with an error of 1e-12 times their root mean square at most, and their norm.
    low, high
        The least and the largest.
    """
    n, centre, norm, least, most = map(_float64, (n_finite, mean, l2norm, low, high))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        root_mean_square = norm / np.sqrt(n)
        # Not of the squares of mean and norm, which may leave the range of float64.
        ratio = np.abs(centre) / root_mean_square
        share = (1 - ratio) * (1 + ratio)
        deviation = root_mean_square * np.sqrt(np.where(share > _LEAST_VARIANCE, share, 0))
        is_constant = (least == most) | (root_mean_square == 0)
    unknown = np.isnan(centre) | np.isnan(norm) | (n == 0)
    return np.where(unknown, np.nan, np.where(is_constant, 0.0, deviation))


def dynamic_range(
    low: ArrayLike | None, high: ArrayLike | None, min_abs: ArrayLike | None
) -> NDArray[np.float64]:
    """Return log2 of the largest magnitude divided by the smallest that is not 0.

    It is NaN where something is NaN or None.

    Parameters
    ----------
    low, high
        The least and the largest finite element.
    min_abs
        The smallest magnitude of the finite elements that is not 0.
    """
    largest = np.maximum(np.abs(_float64(low)), np.abs(_float64(high)))
    with np.errstate(invalid="ignore", divide="ignore"):
        # A quotient may leave the range of float64, a difference of logarithms does not.
        return np.asarray(np.log2(largest) - np.log2(_float64(min_abs)))


def _float64(numbers: ArrayLike | None) -> NDArray[np.float64]:
    return np.asarray(np.nan if numbers is None else numbers, np.float64)


def or_none(number: NDArray[np.float64]) -> float | None:
    """Return the only number, None for NaN."""
    value = float(number)
    return None if math.isnan(value) else value
