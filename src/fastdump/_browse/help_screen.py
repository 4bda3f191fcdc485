"""What the keys do."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from fastdump._browse.health import MARKS, WORDS
from fastdump._browse.styled import styled_lines
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell

_KEYS = (
    ("arrows, page up, page down", "move; left and right close and open places"),
    ("Tab", "from the tree to the table and back"),
    ("Enter", "open a place; a tensor"),
    ("Esc, Backspace", "back"),
    ("/", "filter the table as you type; in a tensor: choose elements"),
    ("s", "sort the table; the same column again turns it round"),
    ("b", "only what is bad"),
    ("n", "the next bad row"),
    ("o", "from a bad value along the chain to its origin"),
    ("c", "compare with the second dump"),
    ("[ ]", "in a tensor: draw another matrix"),
    ("q", "quit"),
)


class HelpScreen(ModalScreen[None]):
    """A list of keys and marks."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    VerticalScroll { width: 76; height: auto; max-height: 100%; border: round $primary;
        background: $surface; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace,q,enter,question_mark", "app.pop_screen", show=False)
    ]

    def compose(self) -> ComposeResult:
        """Yield the list."""
        lines = [[Cell(f"{keys:<27}", "bold"), Cell(does)] for keys, does in _KEYS]
        marks = [
            [Cell(f"{mark.text:<27}", mark.style), Cell(words, SUBTLE)]
            for mark, words in zip(MARKS, WORDS, strict=True)
        ]
        with VerticalScroll():
            yield Static(styled_lines([*lines, [], *marks]), markup=False)
