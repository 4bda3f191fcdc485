"""Indices of arrays as they are typed: ``0, :8, ..., ::2``."""

from __future__ import annotations

from types import EllipsisType
from typing import TypeAlias

Part: TypeAlias = "int | slice | EllipsisType"


def parse_index(text: str) -> tuple[Part, ...]:
    """Return the index that numpy understands.

    Parameters
    ----------
    text
        Integers, slices and at most one ``...``, separated by commas; brackets around it are
        allowed.

    Raises
    ------
    ValueError
        If it is something else.
    """
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return tuple(_parse_part(part.strip()) for part in text.split(",") if part.strip())


def _parse_part(text: str) -> Part:
    if text == "...":
        return ...
    numbers = [int(number) if number.strip() else None for number in text.split(":")]
    if len(numbers) == 1 and numbers[0] is not None:
        return numbers[0]
    if not 2 <= len(numbers) <= 3:
        raise ValueError(f"{text!r} is neither an integer nor a slice")
    return slice(*numbers)
