"""Comparisons as lines of text: the columns that a person looks at first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from fastdump._compare.limits import ComparisonSummary
from fastdump._compare.operators import DivergentOperator
from fastdump._compare.schema import ComparisonRow
from fastdump._table.table_text import dropped_text
from fastdump._words import catalogue as say
from fastdump._words.enumeration import enumerated
from fastdump._words.printable import printable
from fastdump._words.quantities import shape_text
from fastdump._words.sentence import told
from fastdump._words.styles import BAD, DOUBTFUL, GOOD, SUBTLE, number_cell
from fastdump._words.text_table import Cell, Column, TextTable

DEFAULT_ROWS = 20

_VERDICT_STYLES = {
    "diverges": BAD,
    "explained": GOOD,
    "equal": GOOD,
    "close": GOOD,
    "similar": GOOD,
}
_CAUSE_STYLES = {"inherited": "", "unknown": DOUBTFUL, "input": DOUBTFUL}

_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type", drop_order=5),
    Column("op_name", min_width=18, names=True),
    Column("tensor"),
    Column("dtype", drop_order=4),
    Column("shape", min_width=7, drop_order=3),
    Column("cosine", right=True, drop_order=10),
    Column("max_abs_error", right=True, drop_order=6),
    Column("distance", right=True, drop_order=9),
    Column("kl", right=True, drop_order=2),
    Column("difference", right=True, drop_order=8),
    Column("mismatched", right=True, drop_order=7),
    Column("bad a/b", right=True, drop_order=11),
    Column("paired_by", drop_order=1),
    Column("verdict"),
    Column("status", min_width=12),
)

_LAYER = 2
"""Where the layer stands among the columns of a page."""

_OPERATOR_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type", drop_order=1),
    Column("op_name", min_width=18, names=True),
    Column("tensor"),
    Column("input error", right=True, drop_order=2),
    Column("output error", right=True, drop_order=3),
    Column("added", right=True),
    Column("cause"),
)


def pair_table(rows: Iterable[ComparisonRow], *, width: int | None) -> TextTable:
    """Lay out pairs in `width` cells, or in full if `width` is None."""
    return TextTable(_COLUMNS, map(_pair_cells, rows), width=width)


def page_table(rows: Iterable[ComparisonRow]) -> TextTable:
    """Lay out pairs in full, and with the layer, by which a page filters them."""
    columns = (*_COLUMNS[:_LAYER], Column("layer", right=True), *_COLUMNS[_LAYER:])
    return TextTable(columns, map(_page_cells, rows), width=None)


def _page_cells(row: ComparisonRow) -> list[Cell]:
    cells = _pair_cells(row)
    return [*cells[:_LAYER], number_cell(row.layer), *cells[_LAYER:]]


def operator_table(operators: Iterable[DivergentOperator], *, width: int | None) -> TextTable:
    """Lay out operators."""
    return TextTable(_OPERATOR_COLUMNS, map(_operator_cells, operators), width=width)


def report_lines(
    summary: ComparisonSummary,
    notes: Iterable[str],
    lists: Iterable[tuple[str, int, TextTable]],
    *,
    rows: int | None,
    ellipsis: str,
) -> Iterator[list[Cell]]:
    """Yield the lines of a comparison.

    Parameters
    ----------
    summary, notes
        The answer in numbers, and what limits it.
    lists
        For each list its title, its number of rows, and the rows that are shown.
    rows
        At most this many rows are shown; None shows all.
    ellipsis
        What replaces the middle of names that are too long.
    """
    verdicts = summary["verdict"]
    yield [Cell(told(_pairs_text(summary)))]
    statuses = [f"{n:,} {name}" for name, n in summary["status"].items() if name != "ok"]
    numbers = [*(f"{n:,} {verdict}" for verdict, n in verdicts.items()), *statuses]
    yield [Cell(printable("; ".join(numbers)), SUBTLE)]
    for note in notes:
        yield [Cell(printable(told(note)), DOUBTFUL)]
    for title, n_rows, table in lists:
        if n_rows:
            heading: str = say.TITLE(title=title)
            if rows is not None and rows < n_rows:
                heading = say.TITLE_SHOWN_OF(title=title, shown=rows, n=n_rows)
            yield []
            yield [Cell(told(heading))]
            yield from table.lines(ellipsis=ellipsis)
            if table.dropped:
                yield [Cell(dropped_text(table), SUBTLE)]


def facts(summary: ComparisonSummary) -> str:
    """Return the numbers of a table in one line."""
    verdicts = ", ".join(f"{n:,} {printable(v)}" for v, n in summary["verdict"].items())
    text = f"ComparisonTable: {_pairs_text(summary)}"
    return f"{text}; {verdicts}" if verdicts else text


def _pairs_text(summary: ComparisonSummary) -> str:
    """Return ``12 pairs (10 by name, 2 by order)``."""
    pairs = say.PAIRS(summary["pairs"])
    found = enumerated(say.N_BY(n=n, how=how) for how, n in summary["paired_by"].items())
    return say.PAIRED_BY(pairs=pairs, found=found) if found else pairs


def _pair_cells(row: ComparisonRow) -> list[Cell]:
    share = row.mismatched / row.count if row.mismatched is not None and row.count else None
    return [
        number_cell(row.rank),
        number_cell(row.step),
        Cell(printable(row.op_type or "")),
        Cell(printable(row.op_name or row.op_name_b or row.path_a or row.path_b or "")),
        Cell(row.tensor_name),
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
        number_cell(op.rank),
        number_cell(op.step),
        Cell(printable(op.op_type or "")),
        Cell(printable(op.op_name or op.path_a or "")),
        Cell(op.tensor),
        Cell(_real(op.input_error)),
        Cell(_real(op.output_error)),
        Cell(_real(op.added_error)),
        Cell(op.cause, _CAUSE_STYLES.get(op.cause, BAD)),
    ]


def _of_both(a: str, b: str) -> str:
    return a if a == b or not b else f"{a}/{b}" if a else b


def _real(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.5g}"


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
