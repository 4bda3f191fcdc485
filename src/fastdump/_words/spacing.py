"""Blanks in Chinese: one between Chinese and Latin letters or digits, none beside punctuation."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple


class Piece(NamedTuple):
    """A piece of a sentence, and whether it is a name, which stays apart from other text."""

    text: str
    is_name: bool = False


def joined(pieces: Iterable[Piece]) -> str:
    """Return pieces as one text, with the blanks that Chinese has between them."""
    told, was_name = "", False
    for piece in pieces:
        left, right = told.rstrip(" "), piece.text.lstrip(" ")
        if not left or not right:
            told += piece.text
        else:
            has_blank = (left, right) != (told, piece.text)
            is_apart = was_name or piece.is_name
            blank = " " if _is_blank(left[-1], right[0], has_blank, is_apart) else ""
            told = f"{left}{blank}{right}"
        was_name = piece.is_name
    return told


def _is_blank(left: str, right: str, has_blank: bool, is_apart: bool) -> bool:
    if _is_punctuation(left) or _is_punctuation(right):
        return False
    if _is_wide(left) and _is_wide(right):
        return has_blank and is_apart
    if _is_wide(left) or _is_wide(right):
        return has_blank or (right if _is_wide(left) else left).isalnum()
    return has_blank


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"


def _is_punctuation(character: str) -> bool:
    return _is_wide(character) and not character.isalnum()
