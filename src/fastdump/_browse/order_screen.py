"""The question by which column rows are sorted."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import OptionList


class Order(NamedTuple):
    """An order of rows: a column and a direction; "" is the order of execution."""

    column: str
    descending: bool

    @property
    def words(self) -> str:
        """What the first line of the screen says of it, '' for the order of execution."""
        if self.column in ("", "worst"):
            return self.column and "worst first"
        return f"by {self.column}, {'largest' if self.descending else 'smallest'} first"


_LARGEST_FIRST = frozenset({"max", "l2norm", "mean", "nan", "pos_inf"})


class OrderScreen(ModalScreen["Order | None"]):
    """A list of orders; the present one again turns it round.

    Parameters
    ----------
    orders
        What there is to choose from.
    present
        The order at present.
    """

    DEFAULT_CSS = """
    OrderScreen { align: center middle; }
    OptionList { width: 40; height: auto; max-height: 20; border: round $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,backspace,q,s", "leave", "back", show=False)
    ]

    def __init__(self, orders: list[Order], present: Order) -> None:
        super().__init__()
        self._orders = [self._turned(order, present) for order in orders]

    def _turned(self, order: Order, present: Order) -> Order:
        if order.column == present.column:
            return order._replace(descending=not present.descending)
        return order._replace(descending=order.column in _LARGEST_FIRST)

    def compose(self) -> ComposeResult:
        """Yield the list."""
        texts = [order.words or "in the order of execution" for order in self._orders]
        yield OptionList(*texts, markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the order that was chosen."""
        self.dismiss(self._orders[event.option_index])

    def action_leave(self) -> None:
        """Return no order."""
        self.dismiss(None)
