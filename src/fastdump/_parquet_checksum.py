"""A checksum of a whole Parquet file in its own metadata.

Parquet as arro3 writes it has none, and arro3 ends the process on some damaged files.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import IO

KEY = "fastdump.checksum"
"""In the file's key-value metadata."""

PLACEHOLDER = "CRC-32 00000000 of 000000000000 bytes"
"""What is written there before the file is known."""

# Between key and value is the value's length, as a compact Thrift string begins.
_PATTERN = re.compile(
    re.escape(KEY.encode()) + rb".{2}CRC-32 ([0-9a-f]{8}) of ([0-9]{12}) bytes", re.DOTALL
)
_CRC_NBYTES = 8
_CHUNK_BYTES = 1 << 20


def add_checksum(encoded: bytearray) -> None:
    """Put the checksum of a file in the place of the placeholder in it."""
    matches = list(_PATTERN.finditer(encoded))
    if not matches:
        return
    crc_place, nbytes_place = matches[-1].span(1), matches[-1].span(2)
    encoded[slice(*nbytes_place)] = b"%012d" % len(encoded)
    encoded[slice(*crc_place)] = b"%08x" % zlib.crc32(encoded)


def check_checksum(file: IO[bytes], footer_begin: int) -> None:
    """Compare a file with the checksum in its footer, if it has one.

    Raises
    ------
    ValueError
        If the file is not as it was written.
    """
    file.seek(footer_begin)
    matches = list(_PATTERN.finditer(file.read()))
    # A program that rewrites the file may keep metadata of which it knows nothing.
    if not matches or int(matches[-1][2]) != file.seek(0, os.SEEK_END):
        return
    crc_begin = footer_begin + matches[-1].start(1)
    file.seek(0)
    crc = _crc32(file, crc_begin, 0)
    crc = zlib.crc32(b"0" * _CRC_NBYTES, crc)
    file.seek(crc_begin + _CRC_NBYTES)
    crc = _crc32(file, int(matches[-1][2]) - file.tell(), crc)
    if crc != int(matches[-1][1], 16):
        raise ValueError("damaged: its CRC-32 is not that of the file that was written")


def _crc32(file: IO[bytes], nbytes: int, crc: int) -> int:
    """Return the CRC-32 of the next `nbytes` bytes that follow those of `crc`."""
    while nbytes:
        chunk = file.read(min(nbytes, _CHUNK_BYTES))
        crc = zlib.crc32(chunk, crc)
        nbytes -= len(chunk)
    return crc
