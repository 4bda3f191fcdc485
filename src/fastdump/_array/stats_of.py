"""Statistics of an array in memory."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump import _core
from fastdump._arguments import Level, check_level, n_threads
from fastdump._array.lost_memory import reading_memory
from fastdump._array.spread import dynamic_range, or_none, standard_deviation
from fastdump.errors import UnsupportedDTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TensorStats:
    """Statistics of one tensor: moments of the finite elements, and counts.

    For complex types, max, min and mean are those of the magnitude, l2norm is the square root of
    the sum of squared magnitudes, and an element is NaN or Inf if either part is.

    Attributes
    ----------
    count : int
        Number of elements.
    max, min : int or float or None
        Over the finite elements, exact; int for integers and bool. None if there is no finite
        element, and at level "health".
    mean : float or None
        Sum of the finite elements divided by their number. None as above.
    l2norm : float or None
        Square root of the sum of the squares of the finite elements. None at level "health".
    nan, pos_inf, neg_inf : int
        Number of elements that are NaN, +Inf, -Inf.
    zero, subnormal, saturated : int or None
        Number of elements that are zero (of either sign), that are subnormal, and that equal plus
        or minus the largest finite value of the type. None below level "full".
    min_abs : float or None
        Smallest magnitude of the finite elements that are not zero; of 64-bit integers rounded to
        float64. None if there is none, and below level "full".
    first_bad : int or None
        Flat index, in C order, of the first NaN or Inf. None if there is none, and below level
        "full".
    level : str
        What was computed: "health", "basic" or "full".
    """

    count: int
    max: int | float | None
    min: int | float | None
    mean: float | None
    l2norm: float | None
    nan: int
    pos_inf: int
    neg_inf: int
    zero: int | None
    subnormal: int | None
    saturated: int | None
    min_abs: float | None
    first_bad: int | None
    level: str

    @property
    def std(self) -> float | None:
        """Standard deviation of the finite elements, None where `mean` is.

        It follows from `mean` and `l2norm`: its relative error is 1.5e-12 times the square of the
        root mean square divided by it, and below 2e-6 of the root mean square it is 0.
        """
        n_finite = self.count - self.nan - self.pos_inf - self.neg_inf
        return or_none(standard_deviation(n_finite, self.mean, self.l2norm, self.min, self.max))

    @property
    def dynamic_range(self) -> float | None:
        """log2 of the largest magnitude divided by `min_abs`, None where that is."""
        return or_none(dynamic_range(self.min, self.max, self.min_abs))


def stats_of(
    array: NDArray[Any], *, level: Level = "basic", threads: int | None = None
) -> TensorStats:
    """Compute statistics of an array.

    Parameters
    ----------
    array
        An array of any shape and strides, of a numpy or ml_dtypes type that dumps can have. It is
        copied if it is not C-contiguous or not in native byte order, or if its elements have fewer
        than eight bits, because numpy takes a byte for each of those.
    level
        "health", "basic" or "full"; see `TensorStats`.
    threads
        Default: the environment variable ``FASTDUMP_THREADS``, or the CPUs this process may use.
        The result does not depend on it.

    Returns
    -------
    TensorStats

    Raises
    ------
    UnsupportedDTypeError
        If there are no statistics for elements of this type.
    ValueError
        If `level` or `threads` has a value that it cannot have.

    Examples
    --------
    >>> fastdump.stats_of(np.array([1.0, np.nan, np.inf], np.float16)).nan  # doctest: +SKIP
    1
    """
    check_level(level)
    array = np.asanyarray(array)
    data = element_bytes(array)
    values = reading_memory(_core.reduce_buffer)(
        data.data, array.dtype.name, array.size, level, n_threads(threads)
    )
    return tensor_stats(values, level)


def element_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the elements of `array` as a dump stores them: in C order, small ones packed.

    The bytes are a view of `array` if it is stored in that way.

    Raises
    ------
    TypeError
        If elements are masked.
    UnsupportedDTypeError
        If there are no statistics for elements of this type.
    """
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError("a masked array has no bytes for what is masked: use array.compressed()")
    bits = _reducible_types().get(array.dtype.name)
    if bits is None:
        raise UnsupportedDTypeError(f"there are no statistics for elements of {array.dtype}")
    contiguous = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(-1)
    data = contiguous.view(np.uint8)
    return data if bits >= 8 else _packed(data, bits)


def tensor_stats(values: dict[str, Any], level: Level) -> TensorStats:
    """Return what the core computed at `level` as a record."""
    at_full = dict.fromkeys(("zero", "subnormal", "saturated", "min_abs", "first_bad"))
    return TensorStats(**{**at_full, **values}, level=level)


@functools.cache
def _reducible_types() -> dict[str, int]:
    """Return the number of bits of an element, by the name of its type."""
    return {name: bits for _, _, name, bits, reducible in _core.data_types() if reducible}


def _packed(codes: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Return elements that take a byte each as a dump stores them."""
    if bits == 1:
        return np.packbits(codes & 1)
    per_byte = 8 // bits
    padded = np.zeros(-(-codes.size // per_byte) * per_byte, np.uint8)
    np.bitwise_and(codes, (1 << bits) - 1, out=padded[: codes.size])
    packed = np.zeros(padded.size // per_byte, np.uint8)
    for i in range(per_byte):  # the first element is in the lowest bits
        packed |= padded[i::per_byte] << (i * bits)
    return packed
