"""Columns one behind the other as one: rows are copied once, and what is cleared not at all.

numpy clears large arrays by taking memory that nobody has written to, which takes up none. So a
column with nothing but nulls or zeros, like the counts of NaN in a clean dump, is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from arro3.core import Array, ChunkedArray, DataType, RecordBatch, Schema, list_flatten

from fastdump._table import arrow_column
from fastdump._table.arrow_column import (
    boolean_array,
    buffer_bytes,
    exported,
    is_null,
    n_parts,
    part_ends,
)
from fastdump._table.buffers import StoredColumn, stored_column
from fastdump._table.column import ARROW_TYPE, is_long

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD: Final = np.dtype(np.uint64)
"""Numbers of both kinds, as bits: a zero that has a sign is none."""

_FORMATS: Final = {"bit": "b", "text": "u", "list": "+l"}

_ALIGNMENT: Final = 64
"""In bytes, of arrays that have their memory together; Arrow recommends it."""

_SHARE: Final = 16
"""So many times the rows that wait to be taken are there already."""


def joined(columns: Sequence[Array]) -> Array:
    """Return columns of one type, at least one, as one, which may have to be a long one.

    Some columns of texts or lists may be long ones already.
    """
    if len(columns) == 1 and _is_short_enough(columns[0]):
        return columns[0]
    growing = GrowingColumn(columns[0].type)
    growing.extend(columns)
    return growing.finish()


def joined_rows(batches: Sequence[RecordBatch]) -> RecordBatch:
    """Return the rows of batches with the same columns, at least one, as one batch.

    Its schema is that of the first, but for columns that have to be long ones. Its columns have
    their memory together.
    """
    if len(batches) == 1:
        return batches[0]
    schema = batches[0].schema
    parts = [[batch.column(i) for batch in batches] for i in range(len(schema.names))]
    room = _Room(sum(part.nbytes + _ALIGNMENT for column in parts for part in column))
    columns = [GrowingColumn(type, room) for type in schema.types]
    for column, its_parts in zip(columns, parts, strict=True):
        column.extend(its_parts)
    return _batch(schema, columns)


def _batch(schema: Schema, growing: list[GrowingColumn]) -> RecordBatch:
    """Return columns, the list of which is emptied, with the names and metadata of a schema."""
    cleared, columns = _Cleared(), []
    while growing:
        columns.append(growing.pop(0).finish(cleared))
    named = zip(schema.names, columns, strict=True)
    fields = [schema.field(name).with_type(column.type) for name, column in named]
    return RecordBatch.from_arrays(columns, schema=Schema(fields, metadata=schema.metadata))


def taken(columns: list[Array], rows: NDArray[np.int64]) -> list[Array]:
    """Return some rows of columns; empties the list, so that no two wholes are in memory."""
    # Older arro3 takes no numpy array without elements.
    return [
        columns.pop(0).take(rows) if len(rows) else columns.pop(0).slice(0, 0)
        for _ in range(len(columns))
    ]


class GrowingBatch:
    """Rows of batches with the same columns that come one behind the other.

    Beside the rows so far, only batches that came last are in memory: a sixteenth of the rows, or
    one batch.
    """

    def __init__(self) -> None:
        self._schema: Schema | None = None
        self._columns: list[GrowingColumn] = []
        self._waiting: list[RecordBatch] = []
        self._n_waiting = self._n_rows = self.n_batches = 0

    def append(self, batch: RecordBatch) -> None:
        """Add the rows of a batch."""
        self.wait(batch)
        # One batch that stays the only one is not copied.
        if self.n_batches > 1 and self._n_waiting * _SHARE >= self._n_rows:
            self._take()

    def wait(self, batch: RecordBatch) -> None:
        """Add the rows of a batch that stays in memory anyway."""
        self._waiting.append(batch)
        self._n_waiting += batch.num_rows
        self._n_rows += batch.num_rows
        self.n_batches += 1

    def finish(self) -> RecordBatch:
        """Return all rows of the batches, of which there was at least one; to be called once."""
        if self.n_batches == 1:
            return self._waiting.pop()
        self._take()
        assert self._schema is not None
        return _batch(self._schema, self._columns)

    def _take(self) -> None:
        if not self._waiting:
            return
        if self._schema is None:
            self._schema = self._waiting[0].schema
            self._columns = [GrowingColumn(type) for type in self._schema.types]
        for i, column in enumerate(self._columns):
            column.extend([batch.column(i) for batch in self._waiting])
        self._waiting.clear()
        self._n_waiting = 0


class GrowingColumn:
    """A column that others are appended to, as Arrow has it in memory.

    Parameters
    ----------
    type
        The type of all columns, but that texts and lists may be long or not.
    room
        Where rows go as long as there is room.
    """

    def __init__(self, type: DataType, room: _Room | None = None) -> None:
        self._type, self._kind = type, _kind_of(type)
        self._n = self._n_null = 0
        self._known = _GrowingBits()
        self._bits = _GrowingBits()
        self._ends = _GrowingEnds(room, is_long=is_long(type))
        self._values = _GrowingArray(np.dtype(np.uint8) if self._kind == "text" else _WORD, room)
        self._items = GrowingColumn(ARROW_TYPE["integer"], room) if self._kind == "list" else None
        self._others: list[Array] = []

    def extend(self, columns: Sequence[Array]) -> None:
        """Append the rows of columns; memory grows once."""
        n_rows = sum(map(len, columns))
        if self._kind == "number":
            self._values.expect(n_rows)
        elif self._kind == "text":
            self._values.expect(sum(map(n_parts, columns)))
        elif self._items is not None:
            self._items._values.expect(sum(map(n_parts, columns)))
        self._ends.expect(n_rows)
        for column in columns:
            if len(column):
                self._append(column)

    def finish(self, cleared: _Cleared | None = None) -> Array:
        """Return all rows; to be called once."""
        if self._kind == "other":
            return ChunkedArray(self._others, type=self._type).combine_chunks()
        return stored_column(self._stored(cleared or _Cleared()))

    def _append(self, column: Array) -> None:
        if self._kind == "other":
            self._others.append(column)
            return
        self._append_known(column)
        if self._kind == "number":
            self._append_numbers(column)
        elif self._kind == "bit":
            self._bits.append(boolean_array(column))
        else:
            self._append_parts(column)
        self._n += len(column)

    def _append_known(self, column: Array) -> None:
        n_null = column.null_count
        if n_null and not self._n_null:
            self._known.append(np.ones(self._n, np.bool_))
        self._n_null += n_null
        if self._n_null:
            self._known.append(~is_null(column))

    def _append_numbers(self, column: Array) -> None:
        n = len(column)
        if column.null_count == n:
            self._values.append_zeros(n)
            return
        array, _capsule = exported(column)
        width = _WORD.itemsize
        data = buffer_bytes(array.buffers[1], width * array.offset, width * n)
        self._values.append(data.view(_WORD))

    def _append_parts(self, column: Array) -> None:
        array, _capsule = exported(column)
        ends = part_ends(array, column.type)
        self._ends.append(ends, is_long=is_long(column.type))
        if self._items is not None:
            items: Any = list_flatten(column)
            self._items.extend([items])
        else:
            first, last = int(ends[0]), int(ends[-1])
            self._values.append(buffer_bytes(array.buffers[2], first, last - first))

    def _stored(self, cleared: _Cleared) -> StoredColumn:
        known = self._known.finish(cleared) if self._n_null else None
        buffers: list[Any] = [known]
        child = None
        if self._kind == "bit":
            buffers.append(self._bits.finish(cleared))
        if self._kind in ("text", "list"):
            buffers.append(self._ends.finish(cleared))
        if self._items is not None:
            child = self._items._stored(cleared)
        elif self._kind != "bit":
            buffers.append(self._values.finish(cleared))
        format = _FORMATS.get(self._kind) or ("l" if self._type == ARROW_TYPE["integer"] else "g")
        return (
            format.upper() if self._ends.is_long else format,
            *(self._n, self._n_null, buffers, child),
        )


class _Cleared:
    """Memory that is cleared, and that columns of one table have together."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def array(self, n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        nbytes = n * dtype.itemsize
        if nbytes > len(self._bytes):
            self._bytes = np.zeros(nbytes, np.uint8)
        return self._bytes[:nbytes].view(dtype)


class _Room:
    """Memory of several arrays, which the system gives in large pages if it has these."""

    def __init__(self, nbytes: int) -> None:
        self._bytes = np.empty(nbytes, np.uint8)
        self._begin = 0

    def array(self, n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an array whose values are undefined; elsewhere if there is no room."""
        begin, end = self._begin, self._begin + n * dtype.itemsize
        if end > len(self._bytes):
            return np.empty(n, dtype)
        self._begin = -(-end // _ALIGNMENT) * _ALIGNMENT
        return self._bytes[begin:end].view(dtype)


class _GrowingArray:
    """Numbers, which have no memory as long as all of them are 0."""

    def __init__(self, dtype: np.dtype[Any], room: _Room | None = None) -> None:
        self._room = room
        self._array = np.empty(0, dtype)
        self._n = self._n_expected = 0

    def expect(self, n: int) -> None:
        """Prepare for so many numbers more."""
        self._n_expected = max(self._n_expected, self._n + n)

    def append(self, values: NDArray[Any]) -> None:
        if len(self._array) or values[:1].any() or values.any():
            self.more(len(values))[:] = values
        else:
            self.append_zeros(len(values))

    def append_zeros(self, n: int) -> None:
        if len(self._array):
            self.more(n)[:] = 0
        else:
            self._n += n

    def more(self, n: int) -> NDArray[Any]:
        """Return the place of so many numbers more, to be written at once."""
        end = self._n + n
        if end > len(self._array):
            self._grow(max(end, self._n_expected))
        place = self._array[self._n : end]
        self._n = end
        return place

    def widened(self, dtype: np.dtype[Any]) -> None:
        self._array = self._array.astype(dtype)

    def finish(self, cleared: _Cleared) -> NDArray[Any]:
        if not len(self._array):
            return cleared.array(self._n, self._array.dtype)
        return self._array[: self._n]

    def _grow(self, n: int) -> None:
        before, dtype = self._array, self._array.dtype
        if self._room is not None:
            self._array = self._room.array(n, dtype)
            self._array[: self._n] = before if len(before) else 0
        elif len(before):
            # The system moves large arrays without copying them. No view of this one is left.
            del before
            self._array.resize(n, refcheck=False)
        else:
            self._array = np.zeros(n, dtype) if self._n else np.empty(n, dtype)


class _GrowingEnds:
    """Where rows of texts or lists end, in 32 bits as long as these are enough."""

    def __init__(self, room: _Room | None, *, is_long: bool) -> None:
        self._array = _GrowingArray(np.dtype(np.int64 if is_long else np.int32), room)
        self._array.append_zeros(1)
        self._end = 0
        self.is_long = is_long

    def expect(self, n_rows: int) -> None:
        self._array.expect(n_rows)

    def append(self, ends: NDArray[np.signedinteger[Any]], *, is_long: bool) -> None:
        """Append rows by where each of them ends, and where the first begins."""
        shift = self._end - int(ends[0])
        self._end = int(ends[-1]) + shift
        if not self.is_long and (is_long or self._end > arrow_column.MAX_SHORT_PARTS):
            self.is_long = True
            self._array.widened(np.dtype(np.int64))
        if self._end:
            place = self._array.more(len(ends) - 1)
            if shift:
                np.add(ends[1:], place.dtype.type(shift), out=place)
            else:
                place[:] = ends[1:]
        else:
            self._array.append_zeros(len(ends) - 1)

    def finish(self, cleared: _Cleared) -> NDArray[Any]:
        return self._array.finish(cleared)


class _GrowingBits:
    """Bits, least significant first."""

    def __init__(self) -> None:
        self._bytes = _GrowingArray(np.dtype(np.uint8))
        self._rest = np.empty(0, np.bool_)

    def append(self, bits: NDArray[np.bool_]) -> None:
        bits = np.concatenate([self._rest, bits]) if len(self._rest) else bits
        n_whole = len(bits) // 8 * 8
        self._bytes.append(np.packbits(bits[:n_whole], bitorder="little"))
        self._rest = bits[n_whole:].copy()

    def finish(self, cleared: _Cleared) -> NDArray[Any]:
        self._bytes.append(np.packbits(self._rest, bitorder="little"))
        return self._bytes.finish(cleared)


def _is_short_enough(column: Array) -> bool:
    has_parts = not is_long(column.type) and _kind_of(column.type) in ("text", "list")
    return not has_parts or n_parts(column) <= arrow_column.MAX_SHORT_PARTS


def _kind_of(type: DataType) -> str:
    if type in (ARROW_TYPE["integer"], ARROW_TYPE["real"]):
        return "number"
    if DataType.is_boolean(type):
        return "bit"
    if DataType.is_string(type) or DataType.is_large_string(type):
        return "text"
    is_list = DataType.is_list(type) or DataType.is_large_list(type)
    return "list" if is_list and type.value_type == ARROW_TYPE["integer"] else "other"
