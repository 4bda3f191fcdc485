"""What an Arrow IPC file says of its record batches, without decoding one.

Arrow's libraries allocate what a compressed batch claims, and end the process if that fails. The
messages are FlatBuffers: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
"""

from __future__ import annotations

import struct
from typing import IO

_CONTINUATION = 0xFFFFFFFF
_BLOCK_NBYTES = 24
_MAX_METADATA_NBYTES = 16 << 20

# Fields by their place in Arrow's tables.
_FOOTER_DICTIONARIES, _FOOTER_BATCHES = 2, 3
_MESSAGE_HEADER = 2
_BATCH_COMPRESSION = 3


def check_batches(file: IO[bytes], footer_begin: int) -> None:
    """Check that the batches of a file take no more memory than the file is large.

    Parameters
    ----------
    file
        The file.
    footer_begin
        Where its footer begins.

    Raises
    ------
    ValueError
        If a batch is compressed, if a column is encoded in a dictionary, or if the metadata are
        damaged. `write_arrow` writes no such file.
    """
    try:
        footer = _Flat.root(_read(file, footer_begin, _MAX_METADATA_NBYTES))
        if footer.vector(_FOOTER_DICTIONARIES)[1]:
            raise ValueError("has a dictionary, which fastdump does not write")
        first, n = footer.vector(_FOOTER_BATCHES)
        for i in range(n):
            _check_batch(file, *footer.block(first + i * _BLOCK_NBYTES))
    except struct.error as error:
        raise ValueError(f"damaged metadata: {error}") from error


def _check_batch(file: IO[bytes], offset: int, nbytes: int) -> None:
    message = _read(file, offset, min(nbytes, _MAX_METADATA_NBYTES))
    prefix = 8 if struct.unpack_from("<I", message)[0] == _CONTINUATION else 4
    batch = _Flat.root(message[prefix:]).child(_MESSAGE_HEADER)
    if batch is None:
        raise ValueError("damaged metadata: a message without a batch")
    if batch.place(_BATCH_COMPRESSION):
        raise ValueError("is compressed, which fastdump does not do")


def _read(file: IO[bytes], offset: int, nbytes: int) -> bytes:
    if offset < 0 or nbytes < 0:
        raise ValueError("damaged metadata: a negative place")
    file.seek(offset)
    return file.read(nbytes)


class _Flat:
    """A table of FlatBuffers; struct.error for a place beyond its bytes."""

    def __init__(self, data: bytes, begin: int) -> None:
        self._data = data
        self._begin = begin
        self._fields = begin - self._int("<i", begin)
        self._fields_nbytes = self._int("<H", self._fields)

    @classmethod
    def root(cls, data: bytes) -> _Flat:
        return cls(data, struct.unpack_from("<I", data)[0])

    def _int(self, format: str, at: int) -> int:
        if at < 0:
            raise ValueError("damaged metadata: a negative place")
        number: int = struct.unpack_from(format, self._data, at)[0]
        return number

    def place(self, field: int) -> int:
        """Return where the value of a field is; 0 if the table does not have it."""
        at = 4 + 2 * field
        if at + 2 > self._fields_nbytes:
            return 0
        offset = self._int("<H", self._fields + at)
        return self._begin + offset if offset else 0

    def child(self, field: int) -> _Flat | None:
        """Return the table in a field."""
        at = self.place(field)
        return _Flat(self._data, at + self._int("<I", at)) if at else None

    def vector(self, field: int) -> tuple[int, int]:
        """Return where the elements of a vector begin, and how many they are."""
        at = self.place(field)
        if not at:
            return 0, 0
        begin = at + self._int("<I", at)
        return begin + 4, self._int("<I", begin)

    def block(self, at: int) -> tuple[int, int]:
        """Return where a message lies in the file, and how many bytes its metadata have."""
        return self._int("<q", at), self._int("<i", at + 8)
