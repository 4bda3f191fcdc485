"""`Shown`: what is printed as lines of text, and in notebooks as HTML."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from fastdump._words.answer import Answer
from fastdump._words.html import styled
from fastdump._words.text_table import Cell, plain


class Shown:
    """Something that is shown in lines of styled text."""

    __slots__ = ()

    def lines(self, *, width: int | None = None, ellipsis: str = "...") -> Iterator[list[Cell]]:
        """Yield what happened, why and how far it went, in at most eight lines of styled text.

        Parameters
        ----------
        width
            Width of the terminal, in cells; None leaves all whole.
        ellipsis
            What replaces what is left out.
        """
        yield from answer_about(self).lines(width=width, ellipsis=ellipsis)

    def __str__(self) -> str:
        return "\n".join(map(plain, self.lines()))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return styled(self.lines())


@functools.singledispatch
def answer_about(thing: object) -> Answer:
    """Return the answer that one finding is alone; each room registers how, for its findings."""
    raise TypeError(type(thing))
