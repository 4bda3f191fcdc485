"""Checks of an Arrow IPC file without which arro3 ends the process on a damaged one.

arro3 trusts what a file says of the places and sizes of its buffers. The file's layout:
https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format. What it says is in flatbuffers,
of which the few fields are read here that matter: https://flatbuffers.dev/internals.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple

from arro3.core import DataType, Schema

_BLOCK = "<qi4xq"  # offset, metadata_nbytes, body_nbytes
_RECORD_BATCH = 3  # Message.header_type
_CONTINUATION = b"\xff\xff\xff\xff"
_LZ4 = 0  # BodyCompression.codec
_LZ4_RATIO = 255  # at most
_PADDING = 64
_MAX_FIELDS = 1000
# Text has offsets of 32 bits.
_MAX_BUFFER_BYTES = 1 << 31


def check_footer(footer: bytes, nbytes: int) -> None:
    """Check what `footer` says of a file of `nbytes` bytes, before arro3 opens that.

    Raises
    ------
    ValueError
        If a name cannot be handed on as a C string, or a record batch is not within the file.
    """
    with _damage_as_value_error():
        root = _Table.root(footer)
        schema = root.table(1)
        fields = [] if schema is None else schema.tables(1)
        items = [item for field in fields for item in field.tables(5)]
        for name in (field.text(0) for field in (*fields, *items)):
            if b"\0" in name:
                raise ValueError(f"damaged: a column has the name {name!r:.80}")
        if root.structs(2, _BLOCK):
            raise ValueError("dictionary-encoded columns are not read from this format")
        for block in root.structs(3, _BLOCK):
            if min(block) < 0 or sum(block) > nbytes:
                raise ValueError(f"damaged: a record batch at {block[0]} is not in {nbytes} bytes")


def check_batches(file: IO[bytes], footer: bytes, schema: Schema) -> None:
    """Check the record batches, of which a checked `footer` says where they lie.

    Raises
    ------
    ValueError
        If a buffer cannot be where it is said to be, or has not the size that the types in `schema`
        ask for.
    """
    with _damage_as_value_error():
        for offset, metadata_nbytes, body_nbytes in _Table.root(footer).structs(3, _BLOCK):
            file.seek(offset)
            message = file.read(metadata_nbytes)
            prefix_nbytes = 8 if message.startswith(_CONTINUATION) else 4
            body = _Body(file, offset + metadata_nbytes, body_nbytes)
            _BatchCheck(_Table.root(message[prefix_nbytes:]), body).run(schema)


@contextmanager
def _damage_as_value_error() -> Iterator[None]:
    try:
        yield
    except struct.error as error:
        raise ValueError("damaged: metadata point outside of themselves") from error


class _Table:
    """A table of a flatbuffer, which has its fields by number."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position
        self._vtable = position - self._read("<i", position)
        self._vtable_nbytes = self._read("<H", self._vtable)

    @classmethod
    def root(cls, data: bytes) -> _Table:
        """Return the table that a flatbuffer begins with."""
        return cls(data, *struct.unpack_from("<I", data))

    def _read(self, format: str, position: int) -> int:
        if position < 0:  # which struct takes for one from the end
            raise struct.error
        value: int = struct.unpack_from(format, self._data, position)[0]
        return value

    def _field(self, number: int) -> int | None:
        slot = 4 + 2 * number
        offset = self._read("<H", self._vtable + slot) if slot < self._vtable_nbytes else 0
        return self._position + offset if offset else None

    def integer(self, number: int, format: str) -> int:
        """Return an integer field, 0 if it is absent."""
        position = self._field(number)
        return 0 if position is None else self._read(format, position)

    def table(self, number: int) -> _Table | None:
        """Return a table field, None if it is absent."""
        position = self._field(number)
        if position is None:
            return None
        return _Table(self._data, position + self._read("<I", position))

    def tables(self, number: int) -> list[_Table]:
        """Return a vector of tables, empty if it is absent."""
        begin, n_tables = self._vector(number, 4)
        if n_tables > _MAX_FIELDS:  # all may be the same one, so the size of the file is no limit
            raise ValueError(f"{n_tables} columns are too many for a table")
        places = (begin + 4 * i for i in range(n_tables))
        return [_Table(self._data, place + self._read("<I", place)) for place in places]

    def text(self, number: int) -> bytes:
        """Return a string field, empty if it is absent."""
        begin, nbytes = self._vector(number, 1)
        return self._data[begin : begin + nbytes]

    def structs(self, number: int, format: str) -> list[tuple[int, ...]]:
        """Return a vector of structs, empty if it is absent."""
        size = struct.calcsize(format)
        begin, n_structs = self._vector(number, size)
        return list(struct.iter_unpack(format, self._data[begin : begin + n_structs * size]))

    def _vector(self, number: int, size: int) -> tuple[int, int]:
        """Return where the elements of a vector begin, and their number."""
        position = self._field(number)
        if position is None:
            return 0, 0
        position += self._read("<I", position)
        begin, n_elements = position + 4, self._read("<I", position)
        if begin + n_elements * size > len(self._data):
            raise struct.error
        return begin, n_elements


class _Body(NamedTuple):
    """Where the buffers of a record batch lie."""

    file: IO[bytes]
    begin: int
    nbytes: int


class _BatchCheck:
    """The check of one record batch, column by column."""

    def __init__(self, message: _Table, body: _Body) -> None:
        batch = message.table(2)
        if batch is None or message.integer(1, "<B") != _RECORD_BATCH:
            raise ValueError("damaged: there is no record batch where one should be")
        self._body = body
        self._n_rows = batch.integer(0, "<q")
        compression = batch.table(3)
        self._codec = None if compression is None else compression.integer(0, "<b")
        # Consumed in the order of the columns, those of items after those of their lists.
        self._nodes = iter(batch.structs(1, "<qq"))
        self._buffers = iter(batch.structs(2, "<qq"))
        self._n_view_buffers = iter(batch.structs(4, "<q"))

    def run(self, schema: Schema) -> None:
        try:
            for data_type in schema.types:
                self._check_column(data_type, self._n_rows)
        except StopIteration:
            raise ValueError("damaged: fewer buffers than the columns need") from None
        if any(True for _ in itertools.chain(self._nodes, self._buffers, self._n_view_buffers)):
            raise ValueError("damaged: more buffers than the columns need")

    def _check_column(self, data_type: DataType, expected_length: int | None) -> None:
        length, n_null = next(self._nodes)
        if not 0 <= n_null <= length or expected_length not in (None, length):
            raise ValueError(f"damaged: a column of {length} rows, {n_null} of them null")
        if DataType.is_null(data_type):
            return
        self._check_buffer((length + 7) // 8 if n_null else 0)
        item = data_type.value_type
        if item is not None:
            self._check_buffer((length + 1) * 4 if length else 0)
            # Only the length says how many items without a type there are, and they take no bytes.
            self._check_column(item, 0 if DataType.is_null(item) else None)
        elif DataType.is_string_view(data_type):
            self._check_buffer(length * 16)
            [n_buffers] = next(self._n_view_buffers)
            for _ in range(n_buffers):
                self._check_buffer(0)
        elif DataType.is_boolean(data_type):
            self._check_buffer((length + 7) // 8)
        elif data_type.bit_width is None:  # text
            self._check_buffer((length + 1) * 4 if length else 0)
            self._check_buffer(0)
        else:
            self._check_buffer(length * data_type.bit_width // 8)

    def _check_buffer(self, least_nbytes: int) -> None:
        offset, nbytes = next(self._buffers)
        if min(offset, nbytes) < 0 or offset + nbytes > self._body.nbytes:
            raise ValueError(
                f"damaged: a buffer at {offset} is not within {self._body.nbytes} bytes"
            )
        if self._codec is not None and nbytes:
            nbytes = self._decompressed_nbytes(offset, nbytes, least_nbytes)
        if nbytes < least_nbytes:
            raise ValueError(f"damaged: a buffer of {nbytes} bytes, {least_nbytes} are needed")

    def _decompressed_nbytes(self, offset: int, nbytes: int, least_nbytes: int) -> int:
        # The size comes before the data; -1 if they are not compressed after all.
        self._body.file.seek(self._body.begin + offset)
        [size] = struct.unpack("<q", self._body.file.read(min(nbytes, 8)))
        if size == -1:
            return nbytes - 8
        limit = _LZ4_RATIO * nbytes if self._codec == _LZ4 else _MAX_BUFFER_BYTES
        if size > max(limit, least_nbytes) + _PADDING:
            raise ValueError(f"damaged: {nbytes} bytes cannot be {size} when decompressed")
        return int(size)
