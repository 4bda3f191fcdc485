"""Sentences with named places to fill, and numbers of things."""

from __future__ import annotations

from fastdump._words.printable import printable


class Sentence:
    """A sentence that is whole but for places: ``Sentence("{n} of {size}")(n=3, size=8)``."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, **places: str | int) -> str:
        """Return the sentence with its places filled: names made safe, numbers with commas."""
        return self.text.format_map({name: _shown(place) for name, place in places.items()})


class Counted:
    """A number of things, in the singular or in the plural."""

    __slots__ = ("many", "one")

    def __init__(self, one: str, many: str) -> None:
        self.one = one
        self.many = many

    def __call__(self, n: int) -> str:
        """Return ``1 file``, ``1,312 files``."""
        return (self.one if n == 1 else self.many).format(n=_shown(n))


def _shown(place: str | int) -> str:
    return printable(place) if isinstance(place, str) else f"{place:,}"
