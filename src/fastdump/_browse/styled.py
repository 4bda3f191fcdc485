"""Styled cells as what textual shows; nothing in them is read as markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from fastdump._words.text_table import Cell


def styled(line: Iterable[Cell]) -> Text:
    """Return one line."""
    return Text.assemble(*line)


def styled_lines(lines: Iterable[Iterable[Cell]]) -> Text:
    """Return lines as one text, one below the other."""
    return Text("\n").join(Text.assemble(*line) for line in lines)
