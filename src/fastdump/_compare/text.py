"""Comparisons as lines of text: the columns that a person looks at first."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fastdump._printable import printable
from fastdump._quantities import counted, shape_text
from fastdump._styles import BAD, DOUBTFUL, GOOD, SUBTLE
from fastdump._text_table import Cell, Column, TextTable, plain

if TYPE_CHECKING:
    from fastdump._compare.operators import DivergentOperator
    from fastdump._compare.schema import ComparisonRow
    from fastdump._compare.table import ComparisonTable

_WORST_ROWS = 8

_VERDICT_STYLES = {"diverges": BAD, "equal": GOOD, "close": GOOD, "similar": GOOD}
_CAUSE_STYLES = {"here": BAD, "unknown": DOUBTFUL, "input": DOUBTFUL, "inherited": ""}

_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type", min_width=8, drop_order=5),
    Column("op_name", min_width=18),
    Column("tensor"),
    Column("dtype", drop_order=4),
    Column("shape", min_width=7, drop_order=3),
    Column("cosine", right=True),
    Column("max_abs_error", right=True, drop_order=6),
    Column("distance", right=True),
    Column("kl", right=True, drop_order=2),
    Column("difference", right=True),
    Column("mismatched", right=True, drop_order=7),
    Column("bad a/b", right=True),
    Column("paired_by", drop_order=1),
    Column("verdict"),
    Column("status", min_width=12),
)

_OPERATOR_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type", min_width=8, drop_order=1),
    Column("op_name", min_width=18),
    Column("tensor"),
    Column("input error", right=True),
    Column("output error", right=True),
    Column("added", right=True),
    Column("cause"),
)


def pair_table(rows: Iterable[ComparisonRow], *, width: int | None) -> TextTable:
    """Lay out pairs in `width` cells, or in full if `width` is None."""
    return TextTable(_COLUMNS, map(_pair_cells, rows), width=width)


def operator_table(operators: Iterable[DivergentOperator], *, width: int | None) -> TextTable:
    """Lay out operators."""
    return TextTable(_OPERATOR_COLUMNS, map(_operator_cells, operators), width=width)


def plain_text(table: ComparisonTable) -> str:
    """Return ``repr(table)``: fitted to the terminal, without control characters."""
    width = shutil.get_terminal_size((100, 24)).columns
    lines = pair_table(table.worst(_WORST_ROWS), width=width).lines(ellipsis="...")
    return "\n".join([facts(table), printable(table.sentence), *map(plain, lines)])


def facts(table: ComparisonTable) -> str:
    """Return what there is in numbers."""
    summary = table.summary()
    verdicts = ", ".join(f"{n:,} {printable(v)}" for v, n in summary["verdict"].items())
    found = ", ".join(f"{n:,} by {printable(how)}" for how, n in summary["paired_by"].items())
    text = f"ComparisonTable: {counted(summary['pairs'], 'pair')}"
    text += f" ({found})" if found else ""
    return f"{text}; {verdicts}" if verdicts else text


def _pair_cells(row: ComparisonRow) -> list[Cell]:
    share = row.mismatched / row.count if row.mismatched is not None and row.count else None
    return [
        Cell(_number(row.rank)),
        Cell(_number(row.step)),
        Cell(printable(row.op_type or "")),
        Cell(printable(row.op_name or row.op_name_b or row.path_a or row.path_b or "")),
        Cell("" if row.io is None else f"{row.io}.{row.index}"),
        Cell(_of_both(printable(row.dtype_a or ""), printable(row.dtype_b or ""))),
        Cell(_of_both(shape_text(row.shape_a), shape_text(row.shape_b)), SUBTLE),
        Cell(_real(row.cosine_similarity)),
        Cell(_real(row.max_abs_error)),
        Cell(_real(row.relative_euclidean_distance)),
        Cell(_real(row.kl_divergence)),
        Cell(_real(row.statistics_difference)),
        Cell("" if share is None else f"{share:.3%}"),
        _bad_cell(row),
        Cell(row.paired_by or "", SUBTLE),
        Cell(row.verdict or "", _VERDICT_STYLES.get(row.verdict or "", "")),
        _status_cell(row),
    ]


def _operator_cells(op: DivergentOperator) -> list[Cell]:
    return [
        Cell(_number(op.rank)),
        Cell(_number(op.step)),
        Cell(printable(op.op_type or "")),
        Cell(printable(op.op_name or op.path_a or "")),
        Cell(op.tensor),
        Cell(_real(op.input_error)),
        Cell(_real(op.output_error)),
        Cell(_real(op.added_error)),
        Cell(op.cause, _CAUSE_STYLES[op.cause]),
    ]


def _of_both(a: str, b: str) -> str:
    return a if a == b or not b else f"{a}/{b}" if a else b


def _number(number: int | None) -> str:
    return "" if number is None else str(number)


def _real(value: float | None) -> str:
    if value is None or math.isnan(value):
        return ""
    return f"{value:.5g}"


def _bad_cell(row: ComparisonRow) -> Cell:
    known = [n for n in (row.only_a_bad, row.only_b_bad) if n is not None]
    if not any(known):
        return Cell("0" if len(known) == 2 else "", SUBTLE)
    text = "/".join("?" if n is None else f"{n:,}" for n in (row.only_a_bad, row.only_b_bad))
    return Cell(text, BAD)


def _status_cell(row: ComparisonRow) -> Cell:
    style = SUBTLE if row.status == "ok" else DOUBTFUL
    status = printable(row.status)
    return Cell(f"{status}: {printable(row.note)}" if row.note else status, style)
