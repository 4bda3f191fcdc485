"""Texts in fewer cells than they need."""

from __future__ import annotations

import re

from rich.cells import cell_len

# A text ends best between the items of a list, else after these; a shape also after an x.
_ITEM = re.compile(r"[,;] ")
_BREAK = re.compile(r"[\s,;:/._-]|(?<=\d)x(?=\d)")


def elide_end(text: str, width: int, ellipsis: str = "\u2026") -> str:
    """Return `text` in at most `width` cells; one that is too long loses words at its end.

    If not even the first word fits, the text loses its middle.
    """
    if cell_len(text) <= width:
        return text
    head = beginning(text, width - cell_len(ellipsis))
    for separator in (_ITEM, _BREAK):
        ends = [match.end() for match in separator.finditer(text, 0, len(head))]
        # Of a sentence, a comma near its beginning would leave too little.
        if ends and (separator is _BREAK or ends[-1] > len(head) // 2):
            return head[: ends[-1]] + ellipsis
    return elide_middle(text, width, ellipsis)


def elide_middle(text: str, width: int, ellipsis: str = "\u2026") -> str:
    """Return `text` in at most `width` cells; a text that is too long loses its middle."""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(ellipsis)
    if room <= 0:
        return ellipsis[:width]
    head = beginning(text, (room + 1) // 2)
    tail = beginning(text[::-1], room // 2)[::-1]
    return head + ellipsis + tail


def beginning(text: str, width: int) -> str:
    """Return the longest beginning of `text` that fits `width` cells."""
    for i, character in enumerate(text):
        width -= cell_len(character)
        if width < 0:
            return text[:i]
    return text
