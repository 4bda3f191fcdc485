"""What the bits of an overflow status mean.

Source: the vendor's overflow guide, which explains the status register of AI Core; those of other
units are not documented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CORE_UNITS: Final = frozenset({"AI Core", "AIC", "AIV"})
"""The units whose status is that of an AI Core: a whole one, its cube part, its vector part."""

_MEANINGS: Final = {
    0x8: "the most negative signed integer was negated",
    0x10: "integer overflow in an addition, subtraction, multiplication or multiply-add",
    0x20: "floating-point overflow",
    0x80: "a negative float was converted to an unsigned integer",
    0x100: "overflow in a conversion of float32 or int32 to float16",
    0x400: "overflow in the accumulation of the cube unit",
}


@dataclass(frozen=True, slots=True)
class StatusBit:
    """One bit that is set in a status.

    Attributes
    ----------
    mask
        The bit: 0x20.
    word
        Which status it is in, of units that have several; 0 for the first or only one.
    meaning
        In words; that it is not documented, if it is not.
    is_documented
        Whether the vendor's documents explain it.
    """

    mask: int
    word: int
    meaning: str
    is_documented: bool


def status_bits(unit: str, statuses: Sequence[int]) -> tuple[StatusBit, ...]:
    """Return the bits that are set in the statuses of a unit, lowest first.

    Parameters
    ----------
    unit
        As in `fastdump._op_debug.UnitOverflow`.
    statuses
        One, or the four of a core in version 1 of the new layout. The documents know only one:
        the bits of the others are not documented.
    """
    return tuple(
        _status_bit(unit, word, 1 << place)
        for word, status in enumerate(statuses)
        for place in range(status.bit_length())
        if status >> place & 1
    )


def _status_bit(unit: str, word: int, mask: int) -> StatusBit:
    meaning = _MEANINGS.get(mask) if unit in CORE_UNITS and word == 0 else None
    if meaning is not None:
        return StatusBit(mask, word, meaning, is_documented=True)
    where = f" of status {word}" if word else ""
    return StatusBit(mask, word, f"bit {mask:#x}{where} is not documented", is_documented=False)


def meaning_of(unit: str, bits: Sequence[StatusBit]) -> str:
    """Return what a status means as a whole, in words.

    Bits that are not documented come last, and together.
    """
    known = [bit.meaning for bit in bits if bit.is_documented]
    unknown = [bit for bit in bits if not bit.is_documented]
    if unknown:
        masks = [
            f"{bit.mask:#x}" + (f" of status {bit.word}" if bit.word else "") for bit in unknown
        ]
        noun, verb = ("bit", "is") if len(unknown) == 1 else ("bits", "are")
        of_unit = "" if unit in CORE_UNITS else f" of {unit}"
        known.append(f"{noun} {', '.join(masks)}{of_unit} {verb} not documented")
    return "; ".join(known) or "no overflow"
