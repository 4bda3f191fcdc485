"""Columns as plain bytes, the buffers of the Arrow columnar format, and back.

Tables are pickled as such buffers, and arrays with nulls become columns through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from arro3.core import Array, RecordBatch, list_flatten

from fastdump import _core
from fastdump._table.arrow_column import (
    boolean_array,
    buffer_bytes,
    exported,
    is_null,
    part_ends,
    values,
)
from fastdump._table.column import Column, is_long

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Buffer

StoredColumn: TypeAlias = "tuple[str, int, int, Sequence[Buffer | None], StoredColumn | None]"
"""Arrow's format of the column, number of rows, number of nulls, buffers, and items of lists."""

_FORMATS = {"b": "b", "i": "l", "f": "g"}
"""Arrow's formats of booleans, 64-bit integers and 64-bit floats, by numpy's kind of type."""

_NUMBERS: dict[str, type[np.generic]] = {"integer": np.int64, "real": np.float64}


def to_buffers(batch: RecordBatch, columns: list[Column]) -> list[tuple[str, bool, StoredColumn]]:
    """Return the columns of a batch with their names, and whether they may have nulls."""
    return [
        (column.name, column.nullable, _stored(batch.column(column.name), column.type))
        for column in columns
    ]


def of_buffers(n_rows: int, columns: list[tuple[str, bool, StoredColumn]]) -> RecordBatch:
    """Return the batch that `to_buffers` took apart."""
    return RecordBatch.from_arrow(_core.Table.of_buffers(n_rows, columns))


def column_with_nulls(values: NDArray[Any], known: NDArray[np.bool_]) -> Array:
    """Return a column of int64, float64 or bool that is null where the value is not known.

    The column has the memory of `values`, which nobody may change from then on.
    """
    return stored_column(_fixed_width(np.ascontiguousarray(values), known))


def text_column(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> Array:
    """Return a column of texts without nulls, fewer than 2 GiB of them, by where each begins."""
    n_rows = len(offsets) - 1
    return stored_column(("u", n_rows, 0, [None, offsets.astype(np.int32).data, data.data], None))


def stored_column(stored: StoredColumn) -> Array:
    """Return the column that has these buffers, whose memory it shares."""
    table = _core.Table.of_buffers(stored[1], [("", True, stored)])
    return RecordBatch.from_arrow(table).column(0)


def _fixed_width(values: NDArray[Any], known: NDArray[np.bool_]) -> StoredColumn:
    """Return a column of numbers or booleans, null where the value is not known."""
    data = _bits(values) if values.dtype == np.bool_ else values.data
    n_null = int(np.count_nonzero(~known))
    validity = _bits(known) if n_null else None
    return _FORMATS[values.dtype.kind], len(values), n_null, [validity, data], None


def _bits(booleans: NDArray[np.bool_]) -> memoryview:
    return np.packbits(booleans, bitorder="little").data


def _as_bytes(stored: StoredColumn) -> StoredColumn:
    format, n_rows, n_null, buffers, child = stored
    return format, n_rows, n_null, [b if b is None else bytes(b) for b in buffers], child


def _stored(column: Array, type: str) -> StoredColumn:
    known = ~is_null(column)
    if type in _NUMBERS:
        return _as_bytes(_fixed_width(values(column, _NUMBERS[type]), known))
    if type == "boolean":
        return _as_bytes(_fixed_width(boolean_array(column), known))
    n_rows, n_null = len(column), column.null_count
    validity = _bits(known).tobytes() if n_null else None
    offsets, data = _variable(column, is_text=type == "text")
    if type == "text":
        format = "U" if is_long(column.type) else "u"
        return format, n_rows, n_null, [validity, offsets, data], None
    items: Any = list_flatten(column)
    format = "+L" if is_long(column.type) else "+l"
    return format, n_rows, n_null, [validity, offsets], _stored(items, "integer")


def _variable(column: Array, *, is_text: bool) -> tuple[bytes, bytes]:
    """Return the offsets of a column of texts or lists, from 0 on, and the bytes of texts."""
    if len(column) == 0:
        return np.zeros(1, np.int64 if is_long(column.type) else np.int32).tobytes(), b""
    array, _capsule = exported(column)
    ends = part_ends(array, column.type)
    first, last = int(ends[0]), int(ends[-1])
    data = buffer_bytes(array.buffers[2], first, last - first).tobytes() if is_text else b""
    return (ends - first).tobytes(), data
