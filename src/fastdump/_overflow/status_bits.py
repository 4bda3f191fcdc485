"""What the bits of an overflow status mean.

The vendor's overflow guide explains the status register of AI Core; those of other units are not
documented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fastdump._words import catalogue as say
from fastdump._words.enumeration import clauses, enumerated

_CORE_UNITS: Final = frozenset({"AI Core", "AIC", "AIV"})
"""The units whose status is that of an AI Core: a whole one, its cube part, its vector part."""

_MEANINGS: Final = {
    0x8: say.NEGATED(),
    0x10: say.INTEGER_OVERFLOW(),
    0x20: say.FLOAT_OVERFLOW(),
    0x80: say.NEGATIVE_TO_UNSIGNED(),
    0x100: say.OVERFLOW_TO_FLOAT16(),
    0x400: say.CUBE_OVERFLOW(),
}


@dataclass(frozen=True, slots=True)
class StatusBit:
    """One bit that is set in a status.

    Attributes
    ----------
    mask
        The bit: 0x20.
    word
        Number of the status that it is in; 0 for the first or only one.
    meaning
        What it means in words, or that it is not documented.
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
        As in `UnitOverflow`.
    statuses
        One, or the four of a core in version 1 of the new layout. Only the bits of the first are
        documented.
    """
    return tuple(
        _status_bit(unit, word, 1 << place)
        for word, status in enumerate(statuses)
        for place in range(status.bit_length())
        if status >> place & 1
    )


def _status_bit(unit: str, word: int, mask: int) -> StatusBit:
    meaning = _MEANINGS.get(mask) if unit in _CORE_UNITS and word == 0 else None
    if meaning is not None:
        return StatusBit(mask, word, meaning, is_documented=True)
    meaning = say.BIT_UNKNOWN(bit=_place(mask, word))
    return StatusBit(mask, word, meaning, is_documented=False)


def _place(mask: int, word: int) -> str:
    bit = f"{mask:#x}"
    return say.BIT_OF_STATUS(bit=bit, number=word) if word else bit


def meaning_of(unit: str, bits: Sequence[StatusBit]) -> str:
    """Return what a status means as a whole, in words; bits that are not documented come last."""
    known = [bit.meaning for bit in bits if bit.is_documented]
    unknown = [_place(bit.mask, bit.word) for bit in bits if not bit.is_documented]
    bits_named = enumerated(unknown)
    if unknown and unit in _CORE_UNITS:
        one, several = say.BIT_UNKNOWN, say.BITS_UNKNOWN
        known.append(one(bit=bits_named) if len(unknown) == 1 else several(bits=bits_named))
    elif unknown:
        one, several = say.BIT_OF_UNIT_UNKNOWN, say.BITS_OF_UNIT_UNKNOWN
        known.append(
            one(bit=bits_named, unit=unit)
            if len(unknown) == 1
            else several(bits=bits_named, unit=unit)
        )
    return clauses(known) or say.NO_BIT()
