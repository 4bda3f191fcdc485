"""Selecting from elements narrower than a byte, as numpy selects from an array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from fastdump._elements import Array, ElementType, unpack

# Up to so many elements are unpacked for one that is wanted: their bytes are in the same lines of
# the cache anyway. Beyond that elements are picked one by one, with an index of eight bytes each.
_UNPACKED_FOR_ONE = 8
# Fewer than these are unpacked in any case.
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
    """Return the codes that a basic index selects, one a byte, and look at few others.

    Parameters
    ----------
    data
        All packed bytes.
    element
        How elements lie in them.
    shape
        The shape of all elements, in C order.
    key
        Of which `is_basic` is true.

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
    # An array that nobody looks at lets numpy work out the index: its element i is at address i.
    # With an Ellipsis the selection is a view, never an element of it.
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
    """Return the codes of element `first` and of those that lie strides, in elements, from it."""
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
    """Return the same, looking at no other element."""
    index: Array = np.full((1,) * len(shape), first, np.int64)
    for axis, (dim, stride) in enumerate(zip(shape, strides, strict=True)):
        steps = np.arange(dim, dtype=np.int64) * stride
        index = index + np.expand_dims(steps, [i for i in range(len(shape)) if i != axis])
    per_byte = 8 // element.bits
    slots = index % per_byte
    shifts = (per_byte - 1 - slots if element.high_bits_first else slots) * element.bits
    codes = data[index // per_byte] >> shifts.astype(np.uint8)
    return np.asarray(codes & np.uint8((1 << element.bits) - 1))
