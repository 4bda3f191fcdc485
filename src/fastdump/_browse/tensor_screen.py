"""The screen of one tensor, and of the other tensors of its operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from fastdump._browse.asked import OriginAsked
from fastdump._browse.operator_rows import rows_of_operator
from fastdump._browse.styled import styled, styled_lines
from fastdump._browse.tensor_view import Asked, Shown, heading, read_tensor
from fastdump._words.places import bad_text
from fastdump._words.quantities import shape_text
from fastdump._words.styles import BAD, SUBTLE
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from fastdump._table.row import StatsRow
    from fastdump._table.stats_table import StatsTable

_PICTURE_HEIGHT = 24
"""Most lines of a picture: a larger one is read no better."""


class TensorScreen(Screen[None]):
    """Header, statistics, bad places, elements, a histogram and a picture of one tensor.

    Parameters
    ----------
    table
        A table of statistics.
    row
        The index of the tensor's row.
    """

    DEFAULT_CSS = """
    #heading { height: auto; background: $panel; padding: 0 1; text-wrap: nowrap;
        text-overflow: ellipsis; }
    #tensors { height: auto; max-height: 8; padding: 0 1; text-wrap: nowrap; }
    #body { padding: 0 1; scrollbar-size-vertical: 1; }
    #index { height: 1; display: none; }
    #index.asked { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,p", "tensor(-1)", "before", key_display="\u2190"),
        Binding("right,n", "tensor(1)", "after", key_display="\u2192"),
        Binding("slash", "index", "slice", key_display="/"),
        Binding("left_square_bracket", "matrix(-1)", show=False),
        Binding("right_square_bracket", "matrix(1)", "matrix", key_display="[ ]"),
        Binding("o", "origin", "origin"),
        Binding("escape,backspace", "back", "back", key_display="esc"),
    ]

    def __init__(self, table: StatsTable, row: int) -> None:
        super().__init__()
        self._table = table
        self._rows = rows_of_operator(table, row)
        self._place = self._rows.index(row)
        self._index: str | None = None
        self._matrix: int | None = None
        self._shown = Shown([])

    @property
    def row(self) -> int:
        """The index of the row whose tensor is shown."""
        return self._rows[self._place]

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        yield Static(id="heading", markup=False)
        yield Static(id="tensors", markup=False)
        with VerticalScroll(id="body"):
            yield Static(id="lines", markup=False)
        yield Input(placeholder="elements, as in Python: 0, :8, ..., -1", id="index", compact=True)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Read the tensor."""
        self.query_one("#body").focus()
        self._show()

    def _show(self) -> None:
        record = self._table[self.row]
        self.query_one("#heading", Static).update(styled_lines(heading(record)))
        others = [_tensor_line(self._table[row], row == self.row) for row in self._around()]
        self.query_one("#tensors", Static).update(styled_lines(others))
        self.query_one("#lines", Static).update(styled([Cell("reading", SUBTLE)]))
        self._read(
            self.row,
            Asked(
                width=max(self.app.size.width - 4, 20),
                height=min(_PICTURE_HEIGHT, max(self.app.size.height - 12, 4)),
                index=self._index,
                matrix=self._matrix,
            ),
        )

    def _around(self) -> list[int]:
        """Return the rows of the operator that are listed: those around the one that is shown."""
        first = max(0, min(self._place - 3, len(self._rows) - 8))
        return self._rows[first : first + 8]

    @work(thread=True, exclusive=True)
    def _read(self, row: int, asked: Asked) -> None:
        shown = read_tensor(self._table, row, asked)
        self.app.call_later(self._show_lines, row, shown)

    def _show_lines(self, row: int, shown: Shown) -> None:
        if row == self.row and self.is_attached:
            self._shown = shown
            self.query_one("#lines", Static).update(styled_lines(shown.lines))

    # Keys

    def action_tensor(self, by: int) -> None:
        """Go to another tensor of the operator."""
        place = max(0, min(self._place + by, len(self._rows) - 1))
        if place != self._place:
            self._place, self._index, self._matrix = place, None, None
            self._show()

    def action_matrix(self, by: int) -> None:
        """Draw another matrix of the tensor."""
        if self._shown.n_matrices > 1:
            self._matrix = (self._shown.matrix + by) % self._shown.n_matrices
            self._show()

    def action_origin(self) -> None:
        """Follow the tensor back to where its bad values began."""
        self.post_message(OriginAsked(self._table, self.row))

    def action_index(self) -> None:
        """Ask which elements are to be shown."""
        asked = self.query_one("#index", Input)
        asked.add_class("asked")
        asked.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Show the elements that were asked for."""
        self._index = event.value.strip() or None
        self._end_index()
        self._show()

    def _end_index(self) -> None:
        self.query_one("#index").remove_class("asked")
        self.query_one("#body").focus()

    def action_back(self) -> None:
        """Leave the question for an index, or the screen."""
        if self.query_one("#index", Input).has_focus:
            self._end_index()
        else:
            self.app.pop_screen()


def _tensor_line(row: StatsRow, is_shown: bool) -> list[Cell]:
    facts = f"{row.dtype or ''} {shape_text(row.shape)}"
    return [
        Cell("\u25b8 " if is_shown else "  "),
        Cell(f"{row.tensor_name:<10}", "bold" if is_shown else SUBTLE),
        Cell(f"{facts:<28}", "" if is_shown else SUBTLE),
        Cell(bad_text(row.nan, row.pos_inf, row.neg_inf), BAD),
    ]
