"""One tensor to look at: how large its elements are, and where in it they are bad."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import ml_dtypes
import numpy as np

from fastdump._figures.figures import Bars, State, StateMap
from fastdump._words import page_catalogue as say
from fastdump.errors import UnsupportedDTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_ELEMENTS = 1 << 22
"""Of a larger tensor so many elements are looked at, evenly spread."""

_MAX_CONVERTED = 1 << 26  # bytes of elements that have to be converted all at once
_MAX_ROWS, _MAX_COLUMNS = 24, 64
_MAX_CLASSES = 48
_CLASSES_PER_GAP = 16
"""Inf and NaN stand apart, or what is written below them would overlap."""

STATES = (
    State("negative", "#0072B2"),
    State("zero", "#F2F2F2"),
    State("positive", "#E69F00"),
    State("not finite", "#000000", "x"),
)
_NEGATIVE, _ZERO, _POSITIVE, _BAD = range(len(STATES))


class Pictured(Protocol):
    """What pictures need of a tensor."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def dtype_name(self) -> str | None: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def stored_nbytes(self) -> int: ...
    def guarded(self) -> AbstractContextManager[NDArray[Any]]: ...


def magnitudes(tensor: Pictured) -> Bars:
    """Return how many elements there are of each power of two, and of zeros, Inf and NaN.

    Raises
    ------
    UnsupportedDTypeError
        If elements are not of a floating type, or have to be converted and are too many for that.
    FileChangedError, DumpFormatError, ClosedDumpError, OSError
        If the file cannot be read.
    """
    elements = _sample(tensor)
    values = np.abs(elements.astype(np.float64))
    finite = values[np.isfinite(values) & (values > 0)]
    exponents = np.frexp(finite)[1] - 1
    low, high = _range(tensor.dtype, exponents)
    size = max(1, -(-(high - low + 1) // _MAX_CLASSES))
    n_classes = (high - low) // size + 1
    numbers = np.bincount((exponents - low) // size, minlength=n_classes)
    special = (values == 0, np.isinf(values), np.isnan(values))
    zeros, infinite, nan = (int(np.count_nonzero(which)) for which in special)
    powers = (f"2^{low + i * size}" for i in range(n_classes))
    # Few bad elements among many are seen in their number alone.
    gap = [""] * -(-n_classes // _CLASSES_PER_GAP)
    names = [_counted("0", zeros), *powers]
    names += [*gap, _counted("Inf", infinite), *gap, _counted("NaN", nan)]
    heights = np.zeros(len(names))
    heights[: n_classes + 1] = [zeros, *numbers.tolist()]
    at_inf, at_nan = n_classes + 1 + len(gap), len(names) - 1
    heights[[at_inf, at_nan]] = infinite, nan
    number = say.NUMBER_OF_ELEMENTS()
    if len(values) < tensor.size:
        number = say.NUMBER_OF_ELEMENTS_OF(n=len(values), size=tensor.size)
    return Bars(
        say.MAGNITUDES_OF(tensor=tensor.name, dtype=tensor.dtype_name or ""),
        say.POWER_OF_TWO(),
        number,
        names,
        {tensor.name: heights},
        tuple(_limits(tensor.dtype, low, size, n_classes)),
        always=(0, at_inf, at_nan),
    )


def _range_of(dtype: np.dtype[Any]) -> Any:
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def _counted(name: str, number: int) -> str:
    return f"{name}: {number:,}" if number else name


def _range(dtype: np.dtype[Any], exponents: NDArray[np.integer[Any]]) -> tuple[int, int]:
    """Return the least and the largest power of two to show: all that a type with few has."""
    present = exponents.tolist() if len(exponents) < 2 else [exponents.min(), exponents.max()]
    info = _range_of(dtype)
    if info.maxexp - info.minexp <= _MAX_CLASSES:
        least = math.frexp(float(info.smallest_subnormal))[1] - 1
        present += [least, math.frexp(float(info.max))[1] - 1]
    return (int(min(present)), int(max(present))) if present else (0, 0)


def _limits(dtype: np.dtype[Any], low: int, size: int, n_classes: int) -> list[tuple[str, float]]:
    """Return where in the bars the normal numbers of a type begin and its numbers end."""
    info = _range_of(dtype)
    limits = ((say.LEAST_NORMAL(), info.smallest_normal), (say.LARGEST(), info.max))
    found: list[tuple[str, float]] = []
    for name, value in limits:
        # The first bar is that of zeros, and a bar is as wide as 1.
        place = (math.log2(float(value)) - low) / size + 0.5
        if 0 < place < n_classes + 1:
            found.append((name, place))
    return found


def thumbnail(tensor: Pictured) -> StateMap:
    """Return a small map of the signs of the elements, and of what is not finite.

    It shows the first matrix of the last two dimensions. A cell stands for a block of it: not
    finite if any element is not, otherwise of the sign of the block's mean. Of a matrix with more
    than `MAX_ELEMENTS`, only some rows and columns are looked at, evenly spread. Errors are those
    of `magnitudes`.
    """
    _check_floating(tensor)
    with tensor.guarded() as elements:
        matrix = np.atleast_2d(elements[(0,) * max(elements.ndim - 2, 0)])
        stride = max(1, math.isqrt(-(-matrix.size // MAX_ELEMENTS)))
        values = np.array(matrix[::stride, ::stride]).astype(np.float64)
    n_rows, n_columns = values.shape
    starts = [
        np.arange(0, n, max(1, -(-n // most)))
        for n, most in ((n_rows, _MAX_ROWS), (n_columns, _MAX_COLUMNS))
    ]
    if not values.size:
        codes = np.empty((0, 0), np.int8)
    else:
        codes = np.full((len(starts[0]), len(starts[1])), _ZERO, np.int8)
        totals = _of_blocks(np.where(np.isfinite(values), values, 0.0), starts)
        codes[totals > 0] = _POSITIVE
        codes[totals < 0] = _NEGATIVE
        codes[_of_blocks(~np.isfinite(values), starts) > 0] = _BAD
    return StateMap(
        f"Signs of {tensor.name}",
        "last dimension",
        "last but one",
        [str(i * stride) for i in starts[1].tolist()],
        [str(i * stride) for i in starts[0].tolist()],
        STATES,
        codes,
        {},
    )


def _of_blocks(values: NDArray[Any], starts: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Return the sums of blocks of a matrix that begin at these rows and columns."""
    with np.errstate(over="ignore", invalid="ignore"):
        rows = np.add.reduceat(values.astype(np.float64), starts[0], axis=0)
        return np.asarray(np.add.reduceat(rows, starts[1], axis=1))


def _sample(tensor: Pictured) -> NDArray[Any]:
    """Return elements of a tensor as a new array of one dimension, at most `MAX_ELEMENTS`."""
    _check_floating(tensor)
    with tensor.guarded() as elements:
        flat = elements.reshape(-1)
        return np.array(flat[:: max(1, -(-flat.size // MAX_ELEMENTS))])


def _check_floating(tensor: Pictured) -> None:
    name = tensor.dtype_name or "bytes"
    if not name.startswith(("float", "bfloat", "hifloat")):
        raise UnsupportedDTypeError(f"{tensor.name} is of {name}, which has no magnitudes to show")
    if tensor.nbytes > _MAX_CONVERTED and tensor.stored_nbytes != tensor.nbytes:
        raise UnsupportedDTypeError(f"{tensor.name} is too large to be converted for a picture")
