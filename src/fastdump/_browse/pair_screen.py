"""The screen of two tensors that were compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static

from fastdump._browse.comparison_screen import sides_text
from fastdump._browse.pair_view import pair_lines
from fastdump._browse.styled import styled_lines
from fastdump._words.places import operator_text, where_text
from fastdump._words.printable import printable
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from fastdump._compare import ComparisonTable

_PICTURE_HEIGHT = 24


class PairScreen(Screen[None]):
    """Metrics, elements and a picture of the difference of two tensors.

    Parameters
    ----------
    table
        A comparison.
    row
        The index of the pair.
    """

    DEFAULT_CSS = """
    #heading { height: auto; background: $panel; padding: 0 1; text-wrap: nowrap;
        text-overflow: ellipsis; }
    #body { padding: 1 1 0 1; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace", "app.pop_screen", "back", key_display="esc"),
    ]

    def __init__(self, table: ComparisonTable, row: int) -> None:
        super().__init__()
        self._record = table[row]

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        record = self._record
        named = operator_text(record.op_type, record.op_name) or record.status
        place = where_text(rank=record.rank, step=record.step, layer=record.layer)
        lines = [
            [Cell(named, "bold")],
            [Cell(f"{record.tensor_name}  {place}  {sides_text(record)}")],
            [Cell(f"a: {printable(record.path_a or 'not there')}", SUBTLE)],
            [Cell(f"b: {printable(record.path_b or 'not there')}", SUBTLE)],
        ]
        yield Static(styled_lines(lines), id="heading", markup=False)
        with VerticalScroll(id="body"):
            yield Static("reading", id="lines", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Read both tensors."""
        self.query_one("#body").focus()
        size = self.app.size
        self._read(max(size.width - 4, 20), min(_PICTURE_HEIGHT, max(size.height - 12, 4)))

    @work(thread=True, exclusive=True)
    def _read(self, width: int, height: int) -> None:
        lines = pair_lines(self._record, width=width, height=height)
        self.app.call_later(self._show, lines)

    def _show(self, lines: list[list[Cell]]) -> None:
        if self.is_attached:
            self.query_one("#lines", Static).update(styled_lines(lines))
