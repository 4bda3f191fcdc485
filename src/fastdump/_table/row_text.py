"""Rows of statistics as lines of text, with the columns that a person looks at first."""

from __future__ import annotations

from collections.abc import Iterable

from fastdump._table.row import StatsRow
from fastdump._words.printable import printable
from fastdump._words.quantities import is_integer, shape_text, value_text
from fastdump._words.styles import (
    DOUBTFUL,
    SUBTLE,
    inf_style,
    moment_style,
    nan_style,
    number_cell,
    status_cell,
)
from fastdump._words.text_table import Cell, Column, TextTable


def row_table(rows: Iterable[StatsRow], *, width: int | None) -> TextTable:
    """Lay out `rows` in `width` cells, or in full if `width` is None."""
    return TextTable(_COLUMNS, map(_cells, rows), width=width)


_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type", drop_order=7),
    Column("op_name", min_width=18, names=True),
    Column("tensor"),
    Column("dtype", drop_order=6),
    Column("shape", min_width=7, drop_order=5),
    Column("max", right=True, drop_order=8),
    Column("min", right=True, drop_order=4),
    Column("mean", right=True, drop_order=3),
    Column("nan", right=True, drop_order=10),
    Column("inf", right=True, drop_order=9),
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
        number_cell(row.rank),
        number_cell(row.step),
        Cell(printable(row.op_type or "")),
        # A file without a tensor often has no name of an operator either.
        Cell(printable(row.op_name or row.path)),
        Cell(row.tensor_name),
        Cell(printable(row.dtype or "")),
        Cell(shape_text(row.shape), SUBTLE),
        *(
            Cell(value_text(value, integer=integer), moment_style(value))
            for value in (row.max, row.min, row.mean)
        ),
        number_cell(row.nan, nan_style(row.nan or 0)),
        _inf_cell(row),
        number_cell(row.zero),
        number_cell(row.subnormal),
        number_cell(row.saturated, DOUBTFUL if row.saturated else ""),
        number_cell(row.first_bad),
        status_cell(row.status, row.note),
    ]


def _inf_cell(row: StatsRow) -> Cell:
    """Return ``+3 -1``, ``0`` for none, ``+0`` if only the number of +Inf is known."""
    known = [(s, n) for s, n in (("+", row.pos_inf), ("-", row.neg_inf)) if n is not None]
    if len(known) == 2:
        known = [(s, n) for s, n in known if n] or [("", 0)]
    text = " ".join(f"{s}{n:,}" for s, n in known)
    return Cell(text, inf_style(row.pos_inf or 0, row.neg_inf or 0))
