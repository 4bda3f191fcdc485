"""Sentences with named places to fill, and numbers of things; in any language."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from fastdump._words.language import language_in_use, translated
from fastdump._words.printable import printable
from fastdump._words.spacing import Piece, joined

Place: TypeAlias = str | int


class Sentence:
    """A sentence that is whole but for places: ``Sentence("{n} of {size}")(n=3, size=8)``."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, **places: Place) -> Filled:
        """Return the sentence with its places filled: names made safe, numbers with commas."""
        return Filled(self.text, places)


class Counted:
    """A number of things, in the singular or in the plural."""

    __slots__ = ("many", "one")

    def __init__(self, one: str, many: str) -> None:
        self.one = one
        self.many = many

    def __call__(self, n: int) -> Filled:
        """Return ``1 file``, ``1,312 files``."""
        return Filled(self.one if n == 1 else self.many, {"n": n})


class Filled(str):
    """A sentence with its places filled: an English text, which `told` tells in any language."""

    __slots__ = ("_places", "_text")

    _places: Mapping[str, Place]
    _text: str

    def __new__(cls, text: str, places: Mapping[str, Place]) -> Filled:
        shown = {
            name: printable(str(place)) if isinstance(place, str) else f"{place:,}"
            for name, place in places.items()
        }
        filled = super().__new__(cls, text.format_map(shown))
        filled._text, filled._places = text, places
        return filled

    def __getnewargs__(self) -> tuple[str, Mapping[str, Place]]:  # type: ignore[override]
        return self._text, self._places

    def told(self) -> str:
        """Return the sentence in the language in use."""
        return str(self) if language_in_use() == "en" else joined(self._pieces())

    def _pieces(self) -> Iterator[Piece]:
        for text, name, _, _ in string.Formatter().parse(translated(self._text)):
            yield Piece(text)
            if name is not None:
                place = self._places[name]
                is_name = isinstance(place, str) and not isinstance(place, Filled)
                shown = printable(told(place)) if isinstance(place, str) else f"{place:,}"
                yield Piece(shown, is_name)


def told(text: str) -> str:
    """Return a sentence in the language in use, any other text as it is."""
    return text.told() if isinstance(text, Filled) else text
