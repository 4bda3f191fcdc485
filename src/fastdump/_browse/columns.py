"""Columns of a table on the screen: what a row says in each, and how wide each is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from fastdump import _core
from fastdump._table.arrow_column import integer_array
from fastdump._table.row import StatsRow
from fastdump._words.fitted_names import FittedNames
from fastdump._words.printable import printable
from fastdump._words.quantities import is_integer, shape_text, value_text
from fastdump._words.styles import (
    SUBTLE,
    inf_style,
    moment_style,
    nan_style,
    number_cell,
    status_style,
)
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from arro3.core import Array, RecordBatch

_WHOLE = ("rank", "step", "layer")
_WIDE = 90
"""From so many cells on there is room for two blanks between columns."""
_AMPLE = 32
"""Cells that a growing column gets before columns appear that are dropped early."""
_EARLY = 7
"""Columns with a lower `ViewColumn.drop_order` are dropped early."""
_MOMENT_WIDTH = 11


@dataclass(frozen=True)
class ViewColumn:
    """One column on the screen.

    Attributes
    ----------
    title
        Printed above it.
    cell
        Makes the text of a row.
    width
        Number of cells. Names that are longer lose words, numbers and the last word at last.
    right
        Whether texts are aligned to the right, as numbers are.
    grows
        Whether it takes the cells that are left.
    drop_order
        The column with the lowest number is the first to be left out; None if it always stays.
    sort
        The column of the table that sorts it; "" if nothing does.
    """

    title: str
    cell: Callable[[Any], Cell]
    width: int
    right: bool = False
    grows: bool = False
    drop_order: int | None = None
    sort: str = ""


def gap_of(width: int) -> int:
    """Return the number of blanks between columns where there are so many cells."""
    return 2 if width >= _WIDE else 1


def fitted(
    columns: Sequence[ViewColumn], width: int, hidden: frozenset[str] = frozenset()
) -> list[tuple[ViewColumn, int]]:
    """Return the columns that fit, each with its width.

    Parameters
    ----------
    columns
        All columns, from left to right.
    width
        Number of cells that there are.
    hidden
        Titles of columns that would say the same in each row.
    """
    gap = gap_of(width)
    shown = [column for column in columns if column.title not in hidden]
    droppable = ((one.drop_order, one) for one in shown if one.drop_order is not None)
    for order, column in sorted(droppable, key=lambda pair: pair[0]):
        ample = sum(_AMPLE - one.width for one in shown if one.grows) if order < _EARLY else 0
        if _width(shown, gap) + ample <= width:
            break
        shown.remove(column)
    left = max(0, width - _width(shown, gap))
    growing = [column for column in shown if column.grows]
    widths = []
    for column in shown:
        more = left // len(growing) if column in growing else 0
        widths.append((column, column.width + more))
    return widths


def _width(columns: Sequence[ViewColumn], gap: int) -> int:
    return sum(column.width + gap for column in columns) - gap


def aligned(text: str, width: int, *, right: bool) -> str:
    """Return a text in exactly so many cells; a name that is too long loses words."""
    if cell_len(text) > width:
        text = _fitted_name(text, width)
    blanks = " " * (width - cell_len(text))
    return blanks + text if right else text + blanks


@functools.lru_cache(maxsize=4096)
def _fitted_name(name: str, width: int) -> str:
    """Return a name from the number of its layer on, or without its first word, if that fits."""
    # Each name by itself: nobody has looked for what those of many millions of rows share.
    found = _core.layer_number(name)
    begin = name.find(".") + 1 if found is None else len(_before(name, found[1]))
    if 0 < begin < len(name):
        rest = name[begin:]
        fitted = FittedNames([rest]).fitted(width - 1)[rest]
        return fitted if fitted.startswith("\u2026") else f"\u2026{fitted}"
    return FittedNames([name]).fitted(width)[name]


def _before(text: str, nbytes: int) -> str:
    return text.encode("utf-8", "surrogatepass")[:nbytes].decode("utf-8", "surrogatepass")


def _moment(name: str) -> Callable[[StatsRow], Cell]:
    def cell(row: StatsRow) -> Cell:
        value: float | None = getattr(row, name)
        text = value_text(value, integer=is_integer(row.dtype))
        if len(text) > _MOMENT_WIDTH:
            text = value_text(value, integer=False, digits=4)
        return Cell(text, moment_style(value))

    return cell


def short_count(number: int) -> str:
    """Return a count in at most five cells: ``999``, ``2.2k``, ``1.3M``."""
    if number < 1000:
        return str(number)
    value = float(number)
    for unit in "kMGT":
        value /= 1000
        # 999.5 and more would be printed as 1000.
        if value < 999.5:
            return f"{value:.1f}{unit}" if value < 99.95 else f"{value:.0f}{unit}"
    return f"{number:.0e}"


def with_widths(columns: Sequence[ViewColumn], batch: RecordBatch) -> list[ViewColumn]:
    """Return columns in which all ranks, steps and layers of a table have room."""
    return [
        replace(column, width=max(column.width, _n_digits(batch.column(column.title))))
        if column.title in _WHOLE
        else column
        for column in columns
    ]


def _n_digits(column: Array) -> int:
    numbers = integer_array(column)
    return len(str(int(numbers.max()))) if len(numbers) else 0


def _number(name: str) -> Callable[[StatsRow], Cell]:
    return lambda row: number_cell(getattr(row, name))


def _inf(row: StatsRow) -> Cell:
    counts = (("+", row.pos_inf), ("-", row.neg_inf))
    text = " ".join(f"{sign}{short_count(number)}" for sign, number in counts if number)
    none = "" if row.pos_inf is None and row.neg_inf is None else "0"
    return Cell(text or none, inf_style(row.pos_inf or 0, row.neg_inf or 0))


def _text(name: str, style: str = "") -> Callable[[StatsRow], Cell]:
    return lambda row: Cell(printable(getattr(row, name) or ""), style)


def _name(row: StatsRow) -> Cell:
    # A file without a tensor often has no name of an operator either.
    return Cell(printable(row.op_name or row.path))


STATS_COLUMNS = (
    ViewColumn("rank", _number("rank"), 4, right=True, drop_order=10, sort="rank"),
    ViewColumn("step", _number("step"), 4, right=True, drop_order=11, sort="step"),
    ViewColumn("layer", _number("layer"), 5, right=True, drop_order=9, sort="layer"),
    ViewColumn("op_type", _text("op_type"), 14, drop_order=7, sort="op_type"),
    ViewColumn("op_name", _name, 16, grows=True, sort="op_name"),
    ViewColumn("tensor", lambda row: Cell(row.tensor_name), 8),
    ViewColumn("dtype", _text("dtype", SUBTLE), 8, drop_order=5, sort="dtype"),
    ViewColumn("shape", lambda row: Cell(shape_text(row.shape), SUBTLE), 14, drop_order=4),
    ViewColumn("max", _moment("max"), _MOMENT_WIDTH, right=True, drop_order=8, sort="max"),
    ViewColumn("min", _moment("min"), _MOMENT_WIDTH, right=True, drop_order=6, sort="min"),
    ViewColumn("mean", _moment("mean"), _MOMENT_WIDTH, right=True, drop_order=3, sort="mean"),
    ViewColumn("l2norm", _moment("l2norm"), _MOMENT_WIDTH, right=True, drop_order=2, sort="l2norm"),
    ViewColumn(
        "nan",
        lambda row: Cell("" if row.nan is None else short_count(row.nan), nan_style(row.nan or 0)),
        5,
        right=True,
        sort="nan",
    ),
    ViewColumn("inf", _inf, 11, right=True, sort="pos_inf"),
    ViewColumn(
        "status",
        lambda row: Cell(row.status, status_style(row.status)),
        9,
        drop_order=1,
        sort="status",
    ),
)
"""Columns of a table of statistics."""

SAME_IN_ALL = ("rank", "step", "layer", "op_type")
"""Columns that are left out where all rows say the same: the tree says it already."""
