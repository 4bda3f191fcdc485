"""The way of bad values: from their origin, operator by operator, to one tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from fastdump._browse.asked import TensorAsked
from fastdump._browse.columns import aligned
from fastdump._browse.styled import styled, styled_lines
from fastdump._browse.tensor_view import heading
from fastdump._triage.links import certainty_of
from fastdump._triage.ways import Way, Ways, WayStep
from fastdump._words.places import bad_text
from fastdump._words.printable import printable
from fastdump._words.quantities import counted
from fastdump._words.styles import BAD, DOUBTFUL, SUBTLE
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from fastdump._table.row import StatsRow
    from fastdump._table.stats_table import StatsTable

_NUMBERS = ("rank", "step", "layer")
_STYLES = {"op_name": "", "tensor": "", "bad": BAD}
_WIDE = 110
"""From so many cells on there is room for the types of operators."""
_LEAST_NAME = 16


class WayScreen(Screen[None]):
    """The operators from an origin to one tensor; each opens.

    Parameters
    ----------
    table
        A table of statistics.
    row
        The index of the tensor's row.
    ways
        Returns the ways of the table, after some seconds if it is a large one.
    """

    DEFAULT_CSS = """
    #top { height: auto; background: $panel; padding: 0 1; text-wrap: nowrap;
        text-overflow: ellipsis; }
    #why { height: auto; padding: 0 1 1 1; }
    #titles { height: 1; padding: 0 1; }
    OptionList { border: none; height: 1fr; scrollbar-size-vertical: 1; }
    WayScreen OptionList:focus > .option-list--option-highlighted { background: $primary-muted;
        color: $text; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace", "app.pop_screen", "back", key_display="esc"),
    ]

    def __init__(self, table: StatsTable, row: int, ways: Callable[[], Ways]) -> None:
        super().__init__()
        self._table = table
        self._row = row
        self._ways = ways
        self._way: Way | None = None

    def compose(self) -> ComposeResult:
        """Yield the widgets."""
        yield Static(styled_lines(heading(self._table[self._row])[:2]), id="top", markup=False)
        yield Static("looking for its origin", id="why", markup=False)
        yield Static(id="titles", markup=False)
        yield OptionList(markup=False, compact=True)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Look for the origin."""
        self.query_one(OptionList).focus()
        self._find()

    @work(thread=True, exclusive=True)
    def _find(self) -> None:
        way, why = None, ""
        try:
            ways = self._ways()
            way = ways.to(self._row)
            why = "" if way else ways.why_harmless(self._row)
        except Exception as error:  # a file may vanish or change at any time
            why = str(error)
        self.app.call_later(self._show, way, why)

    def _show(self, way: Way | None, why: str) -> None:
        if not self.is_attached:
            return
        said = self.query_one("#why", Static)
        if way is None:
            text = why or "no bad value is known to come here"
            said.update(styled([Cell(printable(text), DOUBTFUL if why else "")]))
            return
        self._way = way
        n_steps = counted(len(way.steps) - 1, "step")
        said.update(
            styled(
                [
                    Cell(f"{way.verdict}: ", BAD),
                    Cell(printable(way.reason)),
                    Cell(f"  {n_steps} from there to here", SUBTLE),
                ]
            )
        )
        titles, lines = self._lines(way)
        self.query_one("#titles", Static).update(titles)
        steps = self.query_one(OptionList)
        steps.clear_options()
        steps.add_options(map(Option, lines))
        steps.highlighted = 0

    def _lines(self, way: Way) -> tuple[Text, list[Text]]:
        """Return the titles of columns, and a line for each operator."""
        records = [self._record(step) for step in way.steps]
        width = self.app.size.width - 4
        gap = "  " if width > _WIDE else " "
        columns = [
            *((name, [_number(getattr(one, name)) for one in records]) for name in _NUMBERS),
            ("op_type", [one.op_type or "" for one in records] if width > _WIDE else []),
            ("op_name", [one.op_name or "no name" for one in records]),
            ("tensor", [one.tensor_name for one in records]),
            ("bad", [bad_text(one.nan, one.pos_inf, one.neg_inf) for one in records]),
            ("link", ["origin", *(certainty_of(step.known_by) for step in way.steps[1:])]),
        ]
        columns = [(title, texts) for title, texts in columns if any(texts)]
        widths = {title: max(map(cell_len, [title, *texts])) for title, texts in columns}
        left = width - sum(widths.values()) - len(gap) * len(widths) + widths["op_name"]
        widths["op_name"] = min(widths["op_name"], max(left, _LEAST_NAME))

        def line(texts: Iterable[str], style_of: Mapping[str, str]) -> Text:
            cells = []
            for (title, cell_width), text in zip(widths.items(), texts, strict=True):
                text = aligned(printable(text), cell_width, right=title in _NUMBERS)
                cells += [Cell(text, style_of.get(title, SUBTLE)), Cell(gap)]
            return styled(cells)

        rows = zip(*(texts for _, texts in columns), strict=True)
        return line(widths, {}), [line(row, _STYLES) for row in rows]

    def _record(self, step: WayStep) -> StatsRow:
        """Return the row that shows an operator's bad values, else one with its names alone."""
        row, operator = _row_of(step), step.operator
        if row is not None:
            return self._table[row]
        names = ("rank", "step", "op_type", "op_name")
        known: dict[str, Any] = {name: getattr(operator, name) for name in names}
        nothing: dict[str, Any] = dict.fromkeys(
            ("layer", "io", "index", "nan", "pos_inf", "neg_inf")
        )
        return replace(self._table[self._row], **known, **nothing)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the tensor of one operator."""
        if self._way is not None:
            row = _row_of(self._way.steps[event.option_index])
            if row is not None:
                self.post_message(TensorAsked(self._table, row))


def _row_of(step: WayStep) -> int | None:
    return step.read if step.made is None else step.made


def _number(number: int | None) -> str:
    return "" if number is None else str(number)
