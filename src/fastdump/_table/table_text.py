"""A table of statistics as text and HTML: facts, some rows and which they are; and its findings."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from fastdump._table.arrow_column import count_by, is_in
from fastdump._words import catalogue as say
from fastdump._words.html import fragment
from fastdump._words.quantities import skipped_text
from fastdump._words.styles import BAD, DOUBTFUL, GOOD, SUBTLE, status_style
from fastdump._words.text_table import Cell, TextTable, plain

if TYPE_CHECKING:
    from arro3.core import RecordBatch

    from fastdump._table.severity import BadValues

_MAX_ROWS = 10
"""A table with this many rows is shown whole, in order."""

_WORST_ROWS = 8

LayOut: TypeAlias = Callable[[int | None, int | None], TextTable]
"""Takes a number of rows and a width, both or None: lays out the n worst rows (None: all, in order)
in that many cells (None: in full)."""


def shown_text(facts: list[str], n_rows: int, lay_out: LayOut) -> str:
    """Return the repr of a table, fitted to the terminal and in ASCII except for names."""
    width = shutil.get_terminal_size((100, 24)).columns
    table = lay_out(_n_worst(n_rows), width)
    # ASCII: a repr is printed under every encoding.
    lines = [*facts, *map(plain, table.lines(ellipsis="..."))]
    remarks = [_rows_text(n_rows), dropped_text(table)]
    return "\n".join([*lines, *(f"[{remark}]" for remark in remarks if remark)])


def shown_html(facts: list[str], n_rows: int, lay_out: LayOut) -> str:
    """Return the HTML that a notebook shows for a table, with all columns; texts are escaped."""
    remark = _rows_text(n_rows)
    return fragment([*facts, *([remark] if remark else [])], lay_out(_n_worst(n_rows), None))


def dropped_text(table: TextTable) -> str:
    """Return the names of the columns that did not fit, '' if all did."""
    return f"left out for want of width: {', '.join(table.dropped)}" if table.dropped else ""


def _n_worst(n_rows: int) -> int | None:
    return None if n_rows <= _MAX_ROWS else _WORST_ROWS


def _rows_text(n_rows: int) -> str:
    """Return which rows are shown, '' if all are."""
    return "" if n_rows <= _MAX_ROWS else f"the {_WORST_ROWS} worst of {n_rows:,} rows"


def findings_of(batch: RecordBatch, bad: BadValues, skipped: Mapping[str, int]) -> list[Cell]:
    """Return what is wrong with a table of statistics, and how much of it: a text for each kind.

    Parameters
    ----------
    batch, bad
        The rows, and which of them are bad.
    skipped
        How many files were skipped, by reason.
    """
    n_bad = int(bad.nan_or_pos_inf.sum())
    n_masks = int(bad.neg_inf.sum())
    source, status = batch.column("source"), batch.column("status")
    # The vendor's statistics have only what was asked for.
    is_reported = is_in(source, ("csv",)) & is_in(status, ("ok",))
    n_uncounted = int((is_reported & bad.uncounted & ~bad.any).sum())
    findings = []
    if n_bad:
        findings.append(Cell(say.WITH_NAN(tensors=say.TENSORS(n_bad)), BAD))
    if n_masks:
        findings.append(Cell(say.WITH_NEG_INF(tensors=say.TENSORS(n_masks)), DOUBTFUL))
    if not n_bad and not n_masks and n_uncounted < batch.num_rows:
        findings.append(Cell(say.NO_NAN(), GOOD))
    if n_uncounted:
        text = say.WITHOUT_COUNT(tensors=say.TENSORS(n_uncounted))
        findings.append(Cell(text, SUBTLE))
    for name, number in count_by(status).items():
        if name != "ok":
            findings.append(Cell(f"{number:,} {name}", status_style(name)))
    if skipped:
        findings.append(Cell(say.SKIPPED(files=skipped_text(skipped)), SUBTLE))
    return findings
