"""Records of fixed fields: little-endian, without padding."""

from __future__ import annotations

import struct


def pack_fields(kinds: str, *numbers: int) -> bytes:
    """Return `numbers` as fields of the given `kinds` (letters of `struct`).

    Raises
    ------
    ValueError
        If a number does not fit its field.
    """
    try:
        return struct.pack("<" + kinds, *numbers)
    except struct.error as error:
        raise ValueError(f"a number does not fit its field: {error}") from error
