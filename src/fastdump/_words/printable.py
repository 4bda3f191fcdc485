"""Text from files, made safe to show."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Escape every character of `text` that a terminal would act on or not show.

    Control characters, bidirectional overrides, zero-width characters and line separators become
    ``\x1b``, ``\u202e``, ``\u2028``.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
