"""Where lines of prose end: at blanks, and within long names and paths at their separators."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from fastdump._words.elision import beginning

_SEPARATORS = (re.compile(r"[/.,;:=]"), re.compile(r"[/.,;:=_-]"))
"""Where a text without a blank may be broken; the first if the line does not get too short."""
# Chinese has few blanks: a line may end after any character, unless one of these would begin the
# next line; but what fits into a line stays whole.
_CLOSING = frozenset("\uff0c\u3002\uff1b\uff1a\u3001\uff09\u300b\u201d\uff01\uff1f")


def line_spans(text: str, first: int, rest: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the lines of a text; blanks at which it is broken are left out.

    Parameters
    ----------
    text
        The text.
    first, rest
        How many cells the first line has, and how many each other; at least 2, as a character may
        need them.
    """
    at, room = 0, first
    while cell_len(text[at:]) > room:
        end = _end_of_line(text, at, at + len(beginning(text[at:], room)), rest)
        yield at, at + len(text[at:end].rstrip(" "))
        at, room = end + len(text[end:]) - len(text[end:].lstrip(" ")), rest
    yield at, len(text)


def _end_of_line(text: str, at: int, most: int, rest: int) -> int:
    """Return where a line from `at` to `most` at the latest ends best; the next one has `rest`."""
    wide = _last_after_wide(text, at, most)
    # Two blanks stand between facts, of which each is a name and a value.
    for separator, least in (("  ", (at + most) // 2), (" ", at)):
        blank = text.rfind(separator, at, most + len(separator))
        if blank > least and text[at:blank].strip():
            word = text[blank:].lstrip(" ").partition(" ")[0]
            if wide < blank or cell_len(word) <= rest:
                return blank
    if wide > at:
        return wide
    for pattern, least in zip(_SEPARATORS, ((at + most) // 2, at), strict=True):
        ends = [match.end() for match in pattern.finditer(text, least, most)]
        if ends:
            return ends[-1]
    return most


def _last_after_wide(text: str, at: int, most: int) -> int:
    """Return the last place after a wide character where a line may end, `at` if there is none."""
    ends = (
        end
        for end in range(most, (at + most) // 2, -1)
        if cell_len(text[end - 1]) == 2 and text[end : end + 1] not in _CLOSING
    )
    return next(ends, at)
