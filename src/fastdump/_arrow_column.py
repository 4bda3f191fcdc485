"""Columns of an Arrow table as numpy arrays and Python lists, nulls included, and back.

arro3 converts a column to numpy only if it has no null, and does not show which elements are
null. The Arrow C data interface does: https://arrow.apache.org/docs/format/CDataInterface.html
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from arro3.core import Array, DataType, list_array

from fastdump._column import ARROW_TYPE, Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _ArrowArray(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    )


# A prototype of our own: setting attributes of ctypes.pythonapi would change it for everyone.
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def is_null(column: Array) -> NDArray[np.bool_]:
    """Return which elements of `column` are null, a new array of shape (rows,)."""
    if column.null_count == 0:
        return np.zeros(len(column), np.bool_)
    # SAFETY: the capsule owns the exported array and is alive until the copy is made.
    _, capsule = column.__arrow_c_array__()
    array = _ArrowArray.from_address(_capsule_pointer(capsule, b"arrow_array"))
    bitmap = array.buffers[0]
    if bitmap is None:  # a column of type null has no buffers and is null throughout
        return np.ones(len(column), np.bool_)
    first = array.offset // 8
    last = (array.offset + array.length + 7) // 8
    packed = np.frombuffer((ctypes.c_uint8 * (last - first)).from_address(bitmap + first), np.uint8)
    start = array.offset % 8
    valid = np.unpackbits(packed, bitorder="little")[start : start + array.length]
    return np.logical_not(valid)


def values(column: Array, dtype: type[np.generic]) -> NDArray[Any]:
    """Return the elements of a fixed-width `column`, a new array of shape (rows,).

    What stands in place of a null is not defined.
    """
    if len(column) == 0:
        return np.empty(0, dtype)
    # SAFETY: as above; the caller names the dtype of the column's type.
    _, capsule = column.__arrow_c_array__()
    array = _ArrowArray.from_address(_capsule_pointer(capsule, b"arrow_array"))
    width = np.dtype(dtype).itemsize
    address = array.buffers[1] + array.offset * width
    buffer = (ctypes.c_uint8 * (array.length * width)).from_address(address)
    return np.frombuffer(buffer, dtype).copy()


def real_array(column: Array) -> NDArray[np.float64]:
    """Return a float64 column, NaN for null."""
    array = values(column, np.float64)
    if column.null_count:
        array[is_null(column)] = np.nan
    return array


def integer_array(column: Array, *, null: int = 0) -> NDArray[np.int64]:
    """Return an int64 column, `null` in place of nulls."""
    array = values(column, np.int64)
    if column.null_count:
        array[is_null(column)] = null
    return array


def boolean_array(column: Array) -> NDArray[np.bool_]:
    """Return a column of booleans, False in place of nulls."""
    is_true: NDArray[np.bool_] = np.array([bool(value) for value in column.to_pylist()], np.bool_)
    return is_true


def text_list(column: Array) -> list[str | None]:
    """Return a text column, None for null."""
    texts: list[str | None] = list(column.to_pylist())
    return texts


def shape_list(column: Array) -> list[tuple[int, ...] | None]:
    """Return a column of shapes as tuples, None for null."""
    return [None if shape is None else tuple(shape) for shape in column.to_pylist()]


def column_of(values: Sequence[object], kind: Kind) -> Array:
    """Return a column of Python objects of `kind`, None for null.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If an object is of another kind, or an integer does not fit 64 bits.
    """
    if kind != "shape":
        return Array(values, ARROW_TYPE[kind])
    shapes = cast(Sequence["Sequence[int] | None"], values)
    offsets = np.zeros(len(shapes) + 1, np.int32)
    np.cumsum([len(shape or ()) for shape in shapes], out=offsets[1:])
    # Array makes empty columns too; of numpy arrays, older arro3 takes only those with elements.
    sizes = Array([size for shape in shapes for size in shape or ()], DataType.int64())
    mask = Array([shape is None for shape in shapes], DataType.bool())
    return list_array(offsets, sizes, type=ARROW_TYPE[kind], mask=mask)
