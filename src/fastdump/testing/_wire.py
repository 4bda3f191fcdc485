"""Protocol buffer wire encoding, as much as the header of a dump needs.

As proto3 prescribes, a scalar field that holds its default (zero, the empty string) is not written.
"""

from __future__ import annotations

from collections.abc import Iterable

_VARINT = 0
_LENGTH_DELIMITED = 2


def varint(value: int) -> bytes:
    """Encode an integer as a varint; a negative one as its 64-bit two's complement.

    Raises
    ------
    ValueError
        If `value` does not fit 64 bits, neither signed nor unsigned.
    """
    if not -(1 << 63) <= value < 1 << 64:
        raise ValueError(f"{value} does not fit a 64-bit field")
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def varint_field(number: int, value: int) -> bytes:
    """Encode a field of an integer or enum type."""
    return varint(number << 3 | _VARINT) + varint(value) if value else b""


def message_field(number: int, message: bytes) -> bytes:
    """Encode a submessage; an empty one is written too: it may be one of a repeated field."""
    return varint(number << 3 | _LENGTH_DELIMITED) + varint(len(message)) + message


def bytes_field(number: int, data: memoryview) -> bytes:
    """Encode a field of raw bytes."""
    return message_field(number, bytes(data)) if data.nbytes else b""


def string_field(number: int, text: str) -> bytes:
    """Encode a string; lone surrogates become the bytes that they stand for (`os.fsdecode`)."""
    return message_field(number, text.encode("utf-8", "surrogateescape")) if text else b""


def packed_field(number: int, values: Iterable[int]) -> bytes:
    """Encode a repeated integer field, packed."""
    packed = b"".join(map(varint, values))
    return message_field(number, packed) if packed else b""
