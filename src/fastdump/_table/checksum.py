"""The checksum of a whole file in its own metadata, for Parquet and Arrow IPC files.

arro3 ends the process on some damaged files, and neither format has a checksum itself.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import IO

KEY = "fastdump.checksum"
"""The key in the file's metadata."""

PLACEHOLDER = "fastdump CRC-32 00000000 of 000000000000 bytes"
"""The value while the file is not complete."""

_VALUE = re.compile(rb"fastdump CRC-32 ([0-9a-f]{8}) of ([0-9]{12}) bytes")
_CRC_NBYTES = 8
_CHUNK_BYTES = 1 << 20


def add_checksum(encoded: bytearray) -> None:
    """Replace the last placeholder in a file, if there is one, by the checksum of the file."""
    matches = list(_VALUE.finditer(encoded))
    if not matches:
        return
    crc_place, nbytes_place = matches[-1].span(1), matches[-1].span(2)
    encoded[slice(*nbytes_place)] = b"%012d" % len(encoded)
    encoded[slice(*crc_place)] = b"%08x" % zlib.crc32(encoded)


def has_right_checksum(file: IO[bytes], footer_begin: int) -> bool:
    """Verify the checksum in the footer of a file; return whether the footer has one.

    A program that rewrites a file may keep metadata that it does not know, so a checksum that names
    another size of the file is ignored.

    Raises
    ------
    ValueError
        If the file is not as it was written.
    """
    file.seek(footer_begin)
    footer = file.read()
    matches = list(_VALUE.finditer(footer))
    if not matches and KEY.encode() in footer:
        raise ValueError("damaged: its checksum is not one")
    if not matches or int(matches[-1][2]) != file.seek(0, os.SEEK_END):
        return False
    crc_begin = footer_begin + matches[-1].start(1)
    file.seek(0)
    crc = _crc32(file, crc_begin, 0)
    crc = zlib.crc32(b"0" * _CRC_NBYTES, crc)
    file.seek(crc_begin + _CRC_NBYTES)
    crc = _crc32(file, int(matches[-1][2]) - file.tell(), crc)
    if crc != int(matches[-1][1], 16):
        raise ValueError("damaged: its CRC-32 is not that of the file that was written")
    return True


def _crc32(file: IO[bytes], nbytes: int, crc: int) -> int:
    """Return the CRC-32 of the next `nbytes` bytes, continuing from `crc`."""
    while nbytes:
        chunk = file.read(min(nbytes, _CHUNK_BYTES))
        if not chunk:
            raise ValueError("cut while it was read")
        crc = zlib.crc32(chunk, crc)
        nbytes -= len(chunk)
    return crc
