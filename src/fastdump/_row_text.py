"""Rows of a table as lines of text: the columns that a person looks at first."""

from __future__ import annotations

from collections.abc import Iterable

from fastdump._printable import printable
from fastdump._quantities import is_integer, shape_text, value_text
from fastdump._schema import StatsRow
from fastdump._styles import DOUBTFUL, SUBTLE, inf_style, moment_style, nan_style, status_cell
from fastdump._text_table import Cell, Column, TextTable


def row_table(rows: Iterable[StatsRow], *, width: int | None) -> TextTable:
    """Lay out `rows` in `width` cells, or in full if `width` is None."""
    return TextTable(_COLUMNS, map(_cells, rows), width=width)


_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type", min_width=8, drop_order=7),
    Column("op_name", min_width=18),
    Column("tensor"),
    Column("dtype", drop_order=6),
    Column("shape", min_width=7, drop_order=5),
    Column("max", right=True, drop_order=8),
    Column("min", right=True, drop_order=4),
    Column("mean", right=True, drop_order=3),
    Column("nan", right=True),
    Column("inf", right=True),
    # Of level full.
    Column("zero", right=True, drop_order=1),
    Column("subnormal", right=True, drop_order=0),
    Column("saturated", right=True, drop_order=2),
    Column("first_bad", right=True, drop_order=2),
    Column("status", min_width=12),
)


def _cells(row: StatsRow) -> list[Cell]:
    integer = is_integer(row.dtype)
    return [
        Cell(_count_text(row.rank)),
        Cell(_count_text(row.step)),
        Cell(printable(row.op_type or "")),
        # A file that gives no tensor often gives no name either.
        Cell(printable(row.op_name or row.path)),
        Cell("" if row.io is None else f"{row.io}.{row.index}"),
        Cell(printable(row.dtype or "")),
        Cell(shape_text(row.shape), SUBTLE),
        *(
            Cell(value_text(value, integer=integer), moment_style(value))
            for value in (row.max, row.min, row.mean)
        ),
        Cell(_count_text(row.nan), nan_style(row.nan or 0)),
        _inf_cell(row),
        Cell(_count_text(row.zero)),
        Cell(_count_text(row.subnormal)),
        Cell(_count_text(row.saturated), DOUBTFUL if row.saturated else ""),
        Cell(_count_text(row.first_bad)),
        status_cell(row.status, row.note),
    ]


def _count_text(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _inf_cell(row: StatsRow) -> Cell:
    """Return ``+3 -1``, ``0`` for none, ``+0`` if it is not known whether there are others."""
    known = [(s, n) for s, n in (("+", row.pos_inf), ("-", row.neg_inf)) if n is not None]
    if len(known) == 2:
        known = [(s, n) for s, n in known if n] or [("", 0)]
    text = " ".join(f"{s}{n:,}" for s, n in known)
    return Cell(text, inf_style(row.pos_inf or 0, row.neg_inf or 0))
