"""Columns one behind the other as one column: each row is copied once.

A column with nothing but nulls or zeros, like the counts of NaN in a clean dump, takes no memory.
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
    rows_of,
    shared_values,
)
from fastdump._table.buffers import StoredColumn, stored_column
from fastdump._table.column import ARROW_TYPE, is_long
from fastdump._table.growing_arrays import Cleared, GrowingArray, GrowingBits, GrowingEnds, Room

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD: Final = np.uint64
"""Numbers of both kinds, as bits: a zero that has a sign is none."""

_FORMATS: Final = {"bit": "b", "text": "u", "list": "+l"}

_SHARE: Final = 16
"""Rows are taken as soon as those that wait are this part of all."""


def joined(columns: Sequence[Array]) -> Array:
    """Return columns of one type, at least one, as one, which may have to be a long one.

    Some columns of texts or lists may be long ones already.
    """
    if len(columns) == 1 and _is_short_enough(columns[0]):
        return columns[0]
    growing = GrowingColumn(columns[0].type)
    growing.extend(columns)
    return growing.finish()


def joined_rows(batches: Sequence[RecordBatch], threads: int) -> RecordBatch:
    """Return the rows of batches with the same columns, at least one, as one batch.

    Its schema is that of the first, but for columns that have to be long ones. Its columns have
    their memory together. Up to so many threads copy.
    """
    if len(batches) == 1:
        return batches[0]
    schema = batches[0].schema
    parts = [[batch.column(i) for batch in batches] for i in range(len(schema.names))]
    room = Room(part.nbytes for column in parts for part in column)
    columns = [GrowingColumn(type, room) for type in schema.types]
    for column, its_parts in zip(columns, parts, strict=True):
        column.extend(its_parts)
    room.fill(threads)
    return _batch(schema, columns)


def _batch(schema: Schema, growing: list[GrowingColumn]) -> RecordBatch:
    """Return columns, the list of which is emptied, with the names and metadata of a schema."""
    cleared, columns = Cleared(), []
    while growing:
        columns.append(growing.pop(0).finish(cleared))
    named = zip(schema.names, columns, strict=True)
    fields = [schema.field(name).with_type(column.type) for name, column in named]
    return RecordBatch.from_arrays(columns, schema=Schema(fields, metadata=schema.metadata))


def taken(columns: list[Array], rows: NDArray[np.int64]) -> list[Array]:
    """Return some rows of columns; empties the list, so that no two wholes are in memory."""
    return [rows_of(columns.pop(0), rows) for _ in range(len(columns))]


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

    def __init__(self, type: DataType, room: Room | None = None) -> None:
        self._type, self._kind = type, _kind_of(type)
        self._n = self._n_null = 0
        self._known = GrowingBits()
        self._bits = GrowingBits()
        self._ends = GrowingEnds(room, is_long=is_long(type))
        self._values = GrowingArray(np.dtype(np.uint8 if self._kind == "text" else _WORD), room)
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
            if len(column) or self._kind == "other":
                self._append(column)

    def finish(self, cleared: Cleared | None = None) -> Array:
        """Return all rows; to be called once."""
        if self._kind == "other":
            return ChunkedArray(self._others, type=self._type).combine_chunks()
        return stored_column(self._stored(cleared or Cleared()))

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
        if column.null_count == len(column):
            self._values.append_zeros(len(column))
        else:
            self._values.append(shared_values(column, _WORD))

    def _append_parts(self, column: Array) -> None:
        array, capsule = exported(column)
        ends = part_ends(array, column.type, capsule=capsule)
        self._ends.append(ends, is_long=is_long(column.type))
        if self._items is not None:
            items: Any = list_flatten(column)
            self._items.extend([items])
        else:
            first, last = int(ends[0]), int(ends[-1])
            data = buffer_bytes(array.buffers[2], first, last - first, capsule=capsule)
            self._values.append(data)

    def _stored(self, cleared: Cleared) -> StoredColumn:
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
