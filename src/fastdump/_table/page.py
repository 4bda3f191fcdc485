"""A table of statistics as sections of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fastdump._array.elements import LARGEST_FINITE
from fastdump._figures.figures import Figure
from fastdump._page.page import page_html
from fastdump._page.parts import Drawing, Part, Rows, Section, Verdict, made_text
from fastdump._table.arrow_column import codes_of, integer_array, is_in
from fastdump._table.cells import MAX_COLUMNS, MAX_ROWS, Axis, x_axis
from fastdump._table.health import BAD, INCOMPLETE, SATURATED, health_of, is_float
from fastdump._table.overview import (
    extreme_curves,
    headroom_map,
    health_map,
    share_curves,
    size_curves,
    size_map,
    spread_map,
)
from fastdump._table.row import StatsRow
from fastdump._table.row_text import DEFAULT_COLUMNS, row_table
from fastdump._words import page_catalogue as say
from fastdump._words.answer import Answer, command_text
from fastdump._words.catalogue import FILES, TENSORS
from fastdump._words.enumeration import clauses, in_sentences
from fastdump._words.printable import printable
from fastdump._words.quantities import integers_text, size_text
from fastdump._words.text_table import Cell, Column, TextTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.shown_table import ShownTable

MAX_LISTED = 500
"""How many rows a page has of a table: it stays small, whatever the table's size."""


def table_page(table: ShownTable) -> str:
    """Return a whole page about a table."""
    findings = table.findings()
    # The first of them is the most urgent.
    style = findings[0].style if findings else ""
    answer = Answer(clauses(cell.text for cell in findings), style, remarks=tuple(table.notes))
    summary = Section(say.SUMMARY(), (Verdict(answer, about(table)),))
    return page_html("fastdump stats", [summary, *sections(table)])


def about(table: ShownTable) -> tuple[tuple[str, str], ...]:
    """Return label and text of what a table is about."""
    summary = table.summary()
    said = [
        (say.ABOUT_DUMP(), ", ".join(table.roots) or say.NOT_KNOWN()),
        (say.ABOUT_RANKS(), integers_text(summary["ranks"])),
        (say.ABOUT_STEPS(), integers_text(summary["steps"])),
        (
            say.ABOUT_READING(),
            say.WAS_READ(
                tensors=TENSORS(summary["rows"]),
                files=FILES(summary["files"]),
                nbytes=size_text(summary["bytes"]),
                level=table.level,
            ),
        ),
        (say.ABOUT_MAKING(), made_text()),
    ]
    return tuple((label, text) for label, text in said if text)


def sections(table: ShownTable, origin: StatsRow | None = None) -> tuple[Section, ...]:
    """Return a table as sections: where it is bad, how large values are, its worst rows.

    Parameters
    ----------
    table
        The table.
    origin
        The first bad tensor, if a triage has found it.
    """
    began = None if origin is None else _row_of(table, origin)
    health = health_of(table)
    return (
        Section(say.WHERE_IT_IS_BAD(), tuple(_health(table, health, origin, began))),
        Section(say.HOW_LARGE(), tuple(_sizes(table, health, began))),
        Section(say.TENSORS(), (worst_rows(table),)),
    )


def worst_rows(table: ShownTable) -> Rows:
    """Return the worst rows of a table, each with the command that shows it."""
    shown = table.worst(MAX_LISTED)
    columns = [*DEFAULT_COLUMNS[:2], "layer", *DEFAULT_COLUMNS[2:]]
    is_all = len(shown) == len(table)
    remark = "" if is_all else say.WORST_OF_ROWS(n=len(shown), all=len(table))
    return Rows(
        say.WORST_FIRST(),
        row_table(shown, width=None, columns=columns),
        [_command(row) for row in shown],
        remark,
    )


def _command(row: StatsRow) -> str:
    """Return the command that shows a tensor, "" if it cannot be shown."""
    if row.source != "tensor" or not row.tensor_name:
        return ""
    try:
        return command_text("show", [f"{row.file()}:{row.tensor_name}"])
    except ValueError:  # nothing tells where the file is
        return ""


def _health(
    table: ShownTable, health: NDArray[np.int8], origin: StatsRow | None, began: int | None
) -> Iterator[Part]:
    x = x_axis(table.batch)
    for label in ("rank", "step"):
        y = Axis.of(table.batch, label, MAX_ROWS).or_all(len(table))
        if x.names and (len(y.names) > 1 or label == "rank"):
            title = say.HEALTH_BY(y=y.word, x=x.word)
            ring = [say.RING_ORIGIN()] if began is not None else []
            text = in_sentences(say.MOST_URGENT_STATE(), *ring, say.CLICK_TENSORS())
            yield Drawing(health_map(table, health, y, x, title, began), text)
    step = _first_bad_step(table, health) if origin is None else origin.step
    spread = spread_map(table, health, step, began)
    if spread is not None:
        ring = [say.RING_ORIGIN()] if began is not None else []
        yield Drawing(spread, in_sentences(say.EXECUTIONS(), *ring))


def _sizes(table: ShownTable, health: NDArray[np.int8], began: int | None) -> Iterator[Part]:
    ranks = Axis.of(table.batch, "rank", MAX_ROWS).or_all(len(table))
    layers, steps = (Axis.of(table.batch, label, MAX_COLUMNS) for label in ("layer", "step"))
    drawn: list[tuple[Figure | None, str]] = [
        (
            size_curves(table, layers, ranks),
            say.OF_OUTPUTS_OF_LAYER(),
        ),
        (size_curves(table, steps, ranks), say.OF_OUTPUTS_OF_STEP()),
        (
            size_map(table, steps, layers, began),
            say.OF_OUTPUTS_IN_STEP(),
        ),
        (extreme_curves(table, health, layers, ranks), say.OF_ALL_TENSORS()),
        (extreme_curves(table, health, steps, ranks), say.OF_ALL_TENSORS()),
        (share_curves(table, layers), say.WHAT_UNDERFLOW_LEAVES()),
        (share_curves(table, steps), say.WHAT_UNDERFLOW_LEAVES()),
        (
            headroom_map(table, ranks, x_axis(table.batch), began),
            say.WHAT_HEADROOM_IS(),
        ),
    ]
    for figure, text in drawn:
        if figure is not None:
            yield Drawing(figure, text)
    yield Rows(say.ELEMENT_TYPES(), types_table(table, health))


def types_table(table: ShownTable, health: NDArray[np.int8]) -> TextTable:
    """Return for each floating type how much of its range its tensors use."""
    dtype, dtypes = codes_of(table.batch.column("dtype"))
    floats = is_float(table)
    # As floats, sums of hostile counts do not wrap around.
    count = integer_array(table.batch.column("count")).astype(np.float64)
    all_headroom = table.headroom
    dynamic_range = table.dynamic_range
    lines = []
    for code, name in enumerate(dtypes):
        rows = np.flatnonzero(floats & (dtype == code))
        if not len(rows):
            continue
        n = float(count[rows].sum())
        headroom = all_headroom[rows]
        known = headroom[np.isfinite(headroom)]
        widest = np.nanmax(dynamic_range[rows], initial=-np.inf)
        shares = [""] * 3
        if table.level == "full" and n:
            numbers = (
                float(integer_array(table.batch.column(column))[rows].astype(np.float64).sum())
                for column in ("zero", "subnormal", "saturated")
            )
            shares = [f"{number / n:.3%}" for number in numbers]
        lines.append(
            [
                Cell(printable(name)),
                Cell(f"{len(rows):,}"),
                Cell(f"{LARGEST_FINITE[name]:.5g}" if name in LARGEST_FINITE else ""),
                Cell(f"{known.min():.3g}x" if len(known) else ""),
                Cell(f"{widest:.1f}" if np.isfinite(widest) else ""),
                *map(Cell, shares),
                *(Cell(f"{int((health[rows] == state).sum()):,}") for state in (BAD, SATURATED)),
            ]
        )
    return TextTable(_TYPE_COLUMNS, lines, width=None)


_TYPE_COLUMNS = (
    Column("dtype"),
    Column("tensors", right=True),
    Column("largest finite", right=True),
    Column("least headroom", right=True),
    Column("widest dynamic range", right=True),
    Column("zero", right=True),
    Column("subnormal", right=True),
    Column("saturated", right=True),
    Column("with NaN or +Inf", right=True),
    Column("at the limit", right=True),
)


def _first_bad_step(table: ShownTable, health: NDArray[np.int8]) -> int | None:
    """Return the step of the first bad row, None if there is none."""
    rows = np.flatnonzero(np.isin(health, (BAD, SATURATED, INCOMPLETE)))
    return table[int(rows[0])].step if len(rows) else None


def _row_of(table: ShownTable, origin: StatsRow) -> int | None:
    """Return the number of a row of the table, None if it is not there."""
    found = np.flatnonzero(is_in(table.batch.column("path"), (origin.path,)))
    of_tensor = (i for i in found.tolist() if table[i] == origin)
    return next(of_tensor, None)
