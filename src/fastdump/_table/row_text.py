"""Rows of statistics as lines of text, with the columns that a person looks at first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from fastdump._array.elements import LARGEST_FINITE
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


def row_table(
    rows: Iterable[StatsRow], *, width: int | None, columns: Sequence[str] | None = None
) -> TextTable:
    """Lay out `rows` in `width` cells, or in full if `width` is None.

    `columns` are names of `COLUMNS`; by default those that a person looks at first.
    """
    chosen = [_COLUMNS[name] for name in (DEFAULT_COLUMNS if columns is None else columns)]
    cells = ([make(row) for _, make in chosen] for row in rows)
    return TextTable([column for column, _ in chosen], cells, width=width)


_Made: TypeAlias = tuple[Column, Callable[[StatsRow], Cell]]


def _number(name: str, drop_order: int | None = None) -> _Made:
    return Column(name, right=True, drop_order=drop_order), lambda row: number_cell(
        getattr(row, name)
    )


def _text(name: str, drop_order: int | None = None) -> _Made:
    return Column(name, drop_order=drop_order), lambda row: Cell(
        printable(getattr(row, name) or "")
    )


def _shape(name: str) -> _Made:
    return Column(name, min_width=7, drop_order=5), lambda row: Cell(
        shape_text(getattr(row, name)), SUBTLE
    )


def _moment(name: str, drop_order: int | None = None) -> _Made:
    def cell(row: StatsRow) -> Cell:
        value = getattr(row, name)
        return Cell(value_text(value, integer=is_integer(row.dtype)), moment_style(value))

    return Column(name, right=True, drop_order=drop_order), cell


def _inf_cell(row: StatsRow) -> Cell:
    """Return ``+3 -1``, ``0`` for none, ``+0`` if only the number of +Inf is known."""
    known = [(s, n) for s, n in (("+", row.pos_inf), ("-", row.neg_inf)) if n is not None]
    if len(known) == 2:
        known = [(s, n) for s, n in known if n] or [("", 0)]
    text = " ".join(f"{s}{n:,}" for s, n in known)
    return Cell(text, inf_style(row.pos_inf or 0, row.neg_inf or 0))


def _headroom_cell(row: StatsRow) -> Cell:
    """Return ``25x``: how many times larger values may become."""
    largest = LARGEST_FINITE.get(row.dtype or "")
    reach = max((abs(value) for value in (row.min, row.max) if value is not None), default=None)
    if largest is None or not reach:
        return Cell("")
    digits = f"{largest / reach:.3g}"
    number = float(digits)
    return Cell(f"{number:,.0f}x" if 100 <= number < 1e9 else f"{digits}x")


def _dynamic_range_cell(row: StatsRow) -> Cell:
    return Cell("" if row.dynamic_range is None else f"{row.dynamic_range:.1f}")


_COLUMNS: dict[str, _Made] = {
    "rank": _number("rank"),
    "time": _text("time"),
    "device": _number("device"),
    "model": _text("model"),
    "model_id": _number("model_id"),
    "step": _number("step"),
    "op_type": _text("op_type", 7),
    # A file without a tensor often has no name of an operator either.
    "op_name": (
        Column("op_name", min_width=18, names=True),
        lambda row: Cell(printable(row.op_name or row.path)),
    ),
    "layer": _number("layer"),
    "task_id": _number("task_id"),
    "stream_id": _number("stream_id"),
    "timestamp": (Column("timestamp", right=True), lambda row: Cell(str(row.timestamp or ""))),
    "tensor": (Column("tensor"), lambda row: Cell(row.tensor_name)),
    "dtype": _text("dtype", 6),
    "format": _text("format"),
    "shape": _shape("shape"),
    "origin_shape": _shape("origin_shape"),
    "nbytes": _number("nbytes"),
    "count": _number("count"),
    "headroom": (Column("headroom", right=True), _headroom_cell),
    "max": _moment("max", 8),
    "min": _moment("min", 4),
    "mean": _moment("mean", 3),
    "l2norm": _moment("l2norm"),
    "std": _moment("std"),
    "nan": (
        Column("nan", right=True, drop_order=10),
        lambda row: number_cell(row.nan, nan_style(row.nan or 0)),
    ),
    "inf": (Column("inf", right=True, drop_order=9), _inf_cell),
    "zero": _number("zero", 1),
    "subnormal": _number("subnormal", 0),
    "saturated": (
        Column("saturated", right=True, drop_order=2),
        lambda row: number_cell(row.saturated, DOUBTFUL if row.saturated else ""),
    ),
    "min_abs": _moment("min_abs"),
    "dynamic_range": (Column("dynamic_range", right=True), _dynamic_range_cell),
    "first_bad": _number("first_bad", 2),
    "status": (
        Column("status", min_width=12),
        lambda row: status_cell(row.status, row.note),
    ),
    "path": (Column("path", min_width=18, names=True), lambda row: Cell(printable(row.path))),
}

COLUMNS = tuple(_COLUMNS)
"""Columns that a table of rows can show."""

DEFAULT_COLUMNS = (
    *("rank", "step", "op_type", "op_name", "tensor", "dtype", "shape", "max", "min", "mean"),
    *("nan", "inf"),
    *("zero", "subnormal", "saturated", "first_bad"),  # of level full
    "status",
)
"""Those that a person looks at first."""
