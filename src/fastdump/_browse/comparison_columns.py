"""Columns of a comparison on the screen, and the health of its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fastdump._browse.columns import ViewColumn
from fastdump._browse.health import BAD, CLEAN, INCOMPLETE, MASKED, UNKNOWN
from fastdump._compare.schema import ComparisonRow
from fastdump._table.arrow_column import is_in
from fastdump._words.printable import printable
from fastdump._words.quantities import value_text
from fastdump._words.styles import BAD as BAD_STYLE
from fastdump._words.styles import SUBTLE, number_cell
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._compare import ComparisonTable

VERDICTS = ("not compared", "agrees", "explained by rounding", "no whole pair", "diverges")
"""What the marks of healths mean for pairs."""


def health_of_pairs(table: ComparisonTable) -> NDArray[np.int8]:
    """Return how each pair is, shape (rows,): BAD where it diverges."""
    batch = table.batch
    health = np.full(len(table), UNKNOWN, np.int8)
    health[~is_in(batch.column("status"), ("ok", "unsupported", "not_compared"))] = INCOMPLETE
    health[is_in(batch.column("verdict"), ("equal", "close", "similar"))] = CLEAN
    health[is_in(batch.column("verdict"), ("explained",))] = MASKED
    health[table.diverges] = BAD
    return health


def _metric(name: str) -> Callable[[ComparisonRow], Cell]:
    return lambda row: Cell(value_text(getattr(row, name), integer=False))


def _number(name: str) -> Callable[[ComparisonRow], Cell]:
    return lambda row: number_cell(getattr(row, name))


def _text(name: str) -> Callable[[ComparisonRow], Cell]:
    return lambda row: Cell(printable(getattr(row, name) or ""))


def _name(row: ComparisonRow) -> Cell:
    return Cell(printable(row.op_name or row.op_name_b or row.path_a or row.path_b or ""))


def _bad(row: ComparisonRow) -> Cell:
    if row.only_a_bad is None or row.only_b_bad is None:
        return Cell("")
    style = BAD_STYLE if row.only_a_bad or row.only_b_bad else SUBTLE
    return Cell(f"{row.only_a_bad:,}/{row.only_b_bad:,}", style)


def _verdict(row: ComparisonRow) -> Cell:
    if row.verdict is None or row.status != "ok":
        return Cell(row.status, SUBTLE)
    return Cell(row.verdict, BAD_STYLE if row.verdict == "diverges" else "")


COMPARISON_COLUMNS = (
    ViewColumn("rank", _number("rank"), 4, right=True, drop_order=7, sort="rank"),
    ViewColumn("step", _number("step"), 4, right=True, drop_order=8, sort="step"),
    ViewColumn("layer", _number("layer"), 5, right=True, drop_order=4, sort="layer"),
    ViewColumn("op_type", _text("op_type"), 14, drop_order=3, sort="op_type"),
    ViewColumn("op_name", _name, 16, grows=True, sort="op_name"),
    ViewColumn("tensor", lambda row: Cell(row.tensor_name), 8),
    ViewColumn(
        "cosine",
        _metric("cosine_similarity"),
        9,
        right=True,
        drop_order=9,
        sort="cosine_similarity",
    ),
    ViewColumn(
        "max error", _metric("max_abs_error"), 10, right=True, drop_order=6, sort="max_abs_error"
    ),
    ViewColumn(
        "distance",
        _metric("relative_euclidean_distance"),
        10,
        right=True,
        sort="relative_euclidean_distance",
    ),
    ViewColumn(
        "mismatched", _number("mismatched"), 10, right=True, drop_order=5, sort="mismatched"
    ),
    ViewColumn("bad a/b", _bad, 9, right=True, drop_order=2),
    ViewColumn("paired_by", _text("paired_by"), 10, drop_order=1, sort="paired_by"),
    ViewColumn("verdict", _verdict, 9, sort="verdict"),
)
"""Columns of a comparison."""
