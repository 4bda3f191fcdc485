"""Converts Arrow columns, nulls included, to numpy arrays and Python lists, and back.

arro3 converts a column to numpy only if it has no null, and does not tell which elements are null.
The Arrow C data interface does: https://arrow.apache.org/docs/format/CDataInterface.html
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from arro3.core import (
    Array,
    DataType,
    Field,
    RecordBatch,
    list_array,
)

from fastdump import _core
from fastdump._table.column import ARROW_TYPE, ColumnType, is_long

if TYPE_CHECKING:
    from numpy.typing import NDArray

NULL_CODE = -1
"""The code of a null in `codes_of`."""

MAX_SHORT_PARTS = 2**31 - 1
"""How many bytes of text, or items of lists, 32-bit offsets reach; longer columns have 64 bits."""

_LONG_TYPE: dict[ColumnType | None, DataType] = {
    "text": DataType.large_utf8(),
    "shape": DataType.large_list(Field("item", DataType.int64())),
}

_Column = TypeVar("_Column", Array, RecordBatch)


class ArrowArray(ctypes.Structure):
    """The struct of the C data interface."""

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


# A separate prototype, because setting attributes of ctypes.pythonapi would change it for everyone.
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def exported(column: Array) -> tuple[ArrowArray, object]:
    """Return the struct of a column, and the capsule that keeps what it points to alive."""
    _, capsule = column.__arrow_c_array__()
    return ArrowArray.from_address(_capsule_pointer(capsule, b"arrow_array")), capsule


def buffer_bytes(
    address: int, first: int, nbytes: int, *, capsule: object = None
) -> NDArray[np.uint8]:
    """Return a part of a buffer; valid while the capsule of its column is alive.

    A capsule that is given stays alive as long as what is returned.
    """
    # SAFETY: the caller knows the size of the buffer from the column's type and length.
    if nbytes == 0:
        return np.empty(0, np.uint8)
    memory: Any = (ctypes.c_uint8 * nbytes).from_address(address + first)
    memory.capsule = capsule
    return np.frombuffer(memory, np.uint8)


def is_null(column: Array) -> NDArray[np.bool_]:
    """Return which elements of `column` are null, a new array of shape (rows,)."""
    if column.null_count == 0:
        return np.zeros(len(column), np.bool_)
    array, _capsule = exported(column)
    bitmap = array.buffers[0]
    if bitmap is None:  # a column of type null has no buffers
        return np.ones(len(column), np.bool_)
    return ~_bits(array, bitmap)


def _bits(array: ArrowArray, bitmap: int) -> NDArray[np.bool_]:
    """Return the bits that a buffer of an exported column has for its rows, a new array."""
    first = array.offset // 8
    last = (array.offset + array.length + 7) // 8
    packed = buffer_bytes(bitmap, first, last - first)
    start = array.offset % 8
    bits = np.unpackbits(packed, bitorder="little")[start : start + array.length]
    return bits.astype(np.bool_)


def values(column: Array, dtype: type[np.generic]) -> NDArray[Any]:
    """Return the elements of a fixed-width `column`, a new array of shape (rows,).

    Elements in the place of nulls are undefined.
    """
    if len(column) == 0:
        return np.empty(0, dtype)
    array, _capsule = exported(column)
    width = np.dtype(dtype).itemsize
    data = buffer_bytes(array.buffers[1], array.offset * width, array.length * width)
    return data.view(dtype).copy()


def shared_values(column: Array, dtype: type[np.generic]) -> NDArray[Any]:
    """Return what `values` does in the memory of the column, which may have other owners."""
    if len(column) == 0:
        return np.empty(0, dtype)
    array, capsule = exported(column)
    width = np.dtype(dtype).itemsize
    first, nbytes = array.offset * width, array.length * width
    return buffer_bytes(array.buffers[1], first, nbytes, capsule=capsule).view(dtype)


def is_same_memory(a: Array, b: Array) -> bool:
    """Tell whether two columns are the same rows in the same memory, and so equal."""
    if len(a) != len(b) or a.type != b.type:
        return False
    (one, _one_alive), (other, _other_alive) = exported(a), exported(b)
    if one.offset != other.offset:
        return False
    return all(one.buffers[i] == other.buffers[i] for i in range(one.n_buffers))


def as_slice(rows: NDArray[np.integer[Any]]) -> slice | NDArray[np.integer[Any]]:
    """Return rows as a slice if each is the next one, or none is there: slices copy faster."""
    if not len(rows):
        return slice(0, 0)
    if (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


def rows_of(column: _Column, rows: NDArray[np.integer[Any]]) -> _Column:
    """Return some rows of a column or a batch, without a copy if each is the next one, or none is.

    Older arro3, such as the last for Python 3.10, takes no array without elements.
    """
    found = as_slice(rows)
    return column.slice(found.start, len(rows)) if isinstance(found, slice) else column.take(rows)


def shared_integers(column: Array, *, null: int = 0) -> NDArray[np.int64]:
    """Return what `integer_array` does, not to be changed: no copy where there is no null."""
    return _shared(column, np.int64, null)


def shared_reals(column: Array) -> NDArray[np.float64]:
    """Return what `real_array` does, not to be changed: no copy where there is no null."""
    return _shared(column, np.float64, np.nan)


def _shared(column: Array, dtype: type[np.generic], null: float) -> NDArray[Any]:
    if column.null_count == 0:
        array = shared_values(column, dtype)
    elif column.null_count == len(column):
        array = np.broadcast_to(np.array(null, dtype), len(column))  # one number in memory
    else:
        array = values(column, dtype)
        array[is_null(column)] = null
    array.flags.writeable = False
    return array


def real_array(column: Array) -> NDArray[np.float64]:
    """Return a float64 column, NaN for null."""
    array = values(column, np.float64)
    if column.null_count:
        array[is_null(column)] = np.nan
    return array


def integer_array(column: Array, *, null: int = 0) -> NDArray[np.int64]:
    """Return an int64 column, `null` in the place of nulls."""
    array = values(column, np.int64)
    if column.null_count:
        array[is_null(column)] = null
    return array


def boolean_array(column: Array) -> NDArray[np.bool_]:
    """Return a column of booleans, False in the place of nulls."""
    if len(column) == 0:
        return np.zeros(0, np.bool_)
    array, _capsule = exported(column)
    return _bits(array, array.buffers[1]) & ~is_null(column)


def text_list(column: Array) -> list[str | None]:
    """Return a text column, None for null; equal texts are one object."""
    found: list[str | None] = text_objects(column).tolist()
    return found


def text_objects(column: Array) -> NDArray[np.object_]:
    """Return what `text_list` does as an array."""
    codes, texts = codes_of(column)
    # The last element is the one that NULL_CODE selects.
    return np.array([*texts, None], object)[codes]


def shape_list(column: Array) -> list[tuple[int, ...] | None]:
    """Return a column of shapes as tuples, None for null."""
    return [None if shape is None else tuple(shape) for shape in column.to_pylist()]


def codes_of(column: Array) -> tuple[NDArray[np.int64], list[str]]:
    """Return a text column as indices into its distinct texts, `NULL_CODE` for null.

    Most text columns have few distinct texts, and working on those is far faster than making a
    Python string for each row.
    """
    codes, rows = _coded(column)
    return codes.astype(np.int64), list(rows_of(column, rows).to_pylist())


def text_codes(column: Array) -> NDArray[np.int64]:
    """Return the indices of `codes_of` alone: of a column like paths, all texts are distinct."""
    return short_text_codes(column).astype(np.int64)


def short_text_codes(column: Array) -> NDArray[np.int32]:
    """Return what `text_codes` does, in half the memory."""
    return _coded(column)[0]


def n_distinct(column: Array) -> int:
    """Return how many distinct texts a text column has, null not counted."""
    return len(_coded(column)[1])


def _coded(column: Array) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the index of each text among the distinct ones, and the first row of each of these."""
    codes = np.empty(len(column), np.int32)
    if not len(column):
        return codes, np.empty(0, np.int64)
    if not (DataType.is_string(column.type) or DataType.is_large_string(column.type)):
        column = column.cast(_LONG_TYPE["text"])
    array, _capsule = exported(column)
    ends = part_ends(array, column.type)
    texts = buffer_bytes(array.buffers[2] or 0, int(ends[0]), int(ends[-1] - ends[0]))
    nulls = is_null(column) if column.null_count else np.empty(0, np.bool_)
    rows = _core.text_codes(ends.data, texts.data, nulls.data, codes.data)
    return codes, np.frombuffer(rows, np.int64)


def n_parts(column: Array) -> int:
    """Return how many bytes the texts of a column have in all, or how many items its lists have."""
    if len(column) == 0:
        return 0
    array, _capsule = exported(column)
    ends = part_ends(array, column.type)
    return int(ends[-1]) - int(ends[0])


def shortened(column: Array, type: ColumnType) -> Array:
    """Return a column of texts or shapes, of any layout, in our own; long if it has to be."""
    if not is_long(column.type) and (DataType.is_string(column.type) or type != "text"):
        return column.cast(ARROW_TYPE[type])
    long = column.cast(_LONG_TYPE[type])
    return long.cast(ARROW_TYPE[type]) if n_parts(long) <= MAX_SHORT_PARTS else long


def part_ends(
    array: ArrowArray, type: DataType, *, capsule: object = None
) -> NDArray[np.signedinteger[Any]]:
    """Return the offsets of an exported column of texts or lists; valid as in `buffer_bytes`."""
    dtype = np.dtype(np.int64 if is_long(type) else np.int32)
    size = dtype.itemsize
    first, nbytes = size * array.offset, size * (array.length + 1)
    data = buffer_bytes(array.buffers[1], first, nbytes, capsule=capsule)
    ends: NDArray[np.signedinteger[Any]] = data.view(dtype)
    return ends


def is_in(column: Array, texts: Collection[str]) -> NDArray[np.bool_]:
    """Return in which rows a text column has one of some texts."""
    codes, names = codes_of(column)
    # The last element is the one that NULL_CODE selects.
    return np.array([*(name in texts for name in names), False], np.bool_)[codes]


def count_by(column: Array) -> dict[str, int]:
    """Return how many rows of a text column have each text, in the order of appearance."""
    codes, names = codes_of(column)
    numbers = np.bincount(codes[codes != NULL_CODE], minlength=len(names)).tolist()
    return {name: n for name, n in zip(names, numbers, strict=True) if n}


def column_of(values: Sequence[object], type: ColumnType) -> Array:
    """Return a column of Python objects, None for null.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If an object has another type, or an integer does not fit 64 bits.
    """
    if type != "shape":
        return Array(values, ARROW_TYPE[type])
    shapes = cast(Sequence["Sequence[int] | None"], values)
    offsets = np.zeros(len(shapes) + 1, np.int32)
    np.cumsum([len(shape or ()) for shape in shapes], out=offsets[1:])
    # Not a numpy array: older arro3 takes none without elements.
    sizes = Array([size for shape in shapes for size in shape or ()], DataType.int64())
    mask = Array([shape is None for shape in shapes], DataType.bool())
    return list_array(offsets, sizes, type=ARROW_TYPE[type], mask=mask)


def coded_column(codes: NDArray[np.int64], values: Sequence[object], type: ColumnType) -> Array:
    """Return the column that has ``values[code]`` in each row, null for `NULL_CODE`."""
    if len(codes) == 0:
        return column_of([], type)
    distinct = column_of([*values, None], type)
    return distinct.take(np.where(codes == NULL_CODE, len(values), codes))
