"""Indexing of elements narrower than a byte, as numpy indexes an array."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from fastdump._array.elements import Array, ElementType, unpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Up to this many elements are unpacked for each wanted one, because their bytes share cache lines
# anyway. Beyond that, elements are picked one by one, with an index of eight bytes each.
_UNPACKED_FOR_ONE = 8
# A span of up to this many elements is unpacked in any case.
_UNPACKED_AT_LEAST = 4096


def is_basic(key: Any) -> bool:
    """Tell whether `key` is one of numpy's basic indices, which always select a view."""
    keys = key if isinstance(key, tuple) else (key,)
    return all(
        one is None
        or one is Ellipsis
        or isinstance(one, (slice, np.integer))
        or (isinstance(one, int) and not isinstance(one, bool))
        for one in keys
    )


def select(
    data: NDArray[np.uint8], element: ElementType, shape: tuple[int, ...], key: Any
) -> Array | np.uint8:
    """Return the codes that a basic index selects, one a byte, and read few others.

    Parameters
    ----------
    data
        All packed bytes.
    element
        How elements are stored in `data`.
    shape
        The shape of all elements, in C order.
    key
        An index for which `is_basic` is true.

    Returns
    -------
    numpy.ndarray or numpy.uint8
        An array or a scalar, as numpy returns.

    Raises
    ------
    IndexError
        As numpy does.
    """
    keys = key if isinstance(key, tuple) else (key,)
    has_ellipsis = any(one is Ellipsis for one in keys)
    # numpy applies the index to a stand-in of one byte, whose element i has address i. With an
    # Ellipsis, the selection is a view, never a scalar.
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    stand_in = as_strided(np.empty(1, np.uint8), shape, strides, writeable=False)
    selected = stand_in[keys if has_ellipsis else (*keys, Ellipsis)]
    if selected.size == 0:
        return np.empty(selected.shape, np.uint8)
    first = _address(selected) - _address(stand_in)
    codes = _codes_at(data, element, first, selected.shape, selected.strides)
    return codes if selected.ndim or has_ellipsis else np.uint8(codes[()])


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _codes_at(
    data: NDArray[np.uint8],
    element: ElementType,
    first: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> Array:
    """Return the codes at `first` and at multiples of `strides`, in elements, from there."""
    size = math.prod(shape)
    steps = [(dim - 1) * stride for dim, stride in zip(shape, strides, strict=True)]
    span = sum(map(abs, steps)) + 1
    if span > max(_UNPACKED_FOR_ONE * size, _UNPACKED_AT_LEAST):
        return _picked(data, element, first, shape, strides)
    lowest = first + sum(min(step, 0) for step in steps)
    begin = lowest * element.bits // 8
    before = lowest - begin * 8 // element.bits
    unpacked = unpack(element, data[begin:], before + span, threads=1)
    codes = np.ndarray(shape, np.uint8, unpacked, first - lowest + before, strides)
    return codes if span == size else codes.copy()


def _picked(
    data: NDArray[np.uint8],
    element: ElementType,
    first: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> Array:
    """Return what `_codes_at` does, and read no other element."""
    steps = [np.arange(dim) * stride for dim, stride in zip(shape, strides, strict=True)]
    index: Array = sum(np.ix_(*steps), start=np.asarray(first))
    per_byte = 8 // element.bits
    slots = index % per_byte
    shifts = (per_byte - 1 - slots if element.high_bits_first else slots) * element.bits
    codes = data[index // per_byte] >> shifts.astype(np.uint8)
    return np.asarray(codes & np.uint8((1 << element.bits) - 1))
