"""An inventory as lines of text: the total, steps of ranks, dtypes, and oddities."""

from __future__ import annotations

from collections.abc import Iterator

from fastdump._inventory.groups import Group
from fastdump._inventory.inventory import Inventory
from fastdump._inventory.oddities import APPENDED, NOTED
from fastdump._words.places import where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import (
    counted,
    duration_text,
    integers_text,
    numbered,
    size_text,
    skipped_text,
    time_text,
)
from fastdump._words.styles import DOUBTFUL, GOOD, SUBTLE, number_cell, status_style
from fastdump._words.text_table import Cell, Column, TextTable

_MAX_STEP_LINES = 40
"""With more lines than this, one line a rank is clearer."""


def inventory_lines(
    inventory: Inventory, *, width: int | None, ellipsis: str, rows: int | None = None
) -> Iterator[list[Cell]]:
    """Yield the lines of an inventory.

    Parameters
    ----------
    inventory
        The inventory.
    width, ellipsis
        As in `Report.lines`.
    rows
        How many steps and dtypes are shown, 0 for all; None shows all dtypes, and all steps unless
        a line for each rank is clearer.
    """
    yield from _total(inventory)
    by_rank = rows is None and len(inventory.steps) > _MAX_STEP_LINES
    steps = _by_rank(inventory) if by_rank else _by_step(inventory)
    step_columns = _columns("steps" if by_rank else "step")
    for columns, cells in ((step_columns, steps), (_DTYPE_COLUMNS, _dtypes(inventory))):
        if cells:
            yield []
            shown = cells[: rows or None]
            yield from TextTable(columns, shown, width=width).lines(ellipsis=ellipsis)
            if len(shown) < len(cells):
                yield [Cell(f"{len(shown):,} of {len(cells):,}; -n 0 prints all", SUBTLE)]
    yield []
    odd = list(_odd(inventory))
    yield from ([cell] for cell in odd or [Cell("nothing odd", GOOD)])


def _total(inventory: Inventory) -> Iterator[list[Cell]]:
    total = inventory.total
    parts = [
        counted(total.files, "file"),
        counted(total.ops, "operator"),
        counted(total.tensors, "tensor"),
        size_text(total.bytes),
    ]
    if total.reported:
        parts[2] += f" ({total.reported:,} as statistics)"
    ranks = [rank for rank in inventory.ranks if rank is not None]
    steps = {step for _, step in inventory.steps if step is not None}
    if ranks:
        parts.append(counted(len(ranks), "rank"))
    if steps:
        parts.append(counted(len(steps), "step"))
    yield [Cell(", ".join(parts))]
    first, last = total.first_timestamp, total.last_timestamp
    if first is not None and last is not None:
        span = duration_text((last - first) / 1e6)
        yield [Cell(f"{time_text(first)}, the last operator {span} later", SUBTLE)]


def _columns(step: str) -> list[Column]:
    return [
        Column("rank", right=True),
        Column(step, min_width=7) if step == "steps" else Column(step, right=True),
        Column("files", right=True),
        Column("operators", right=True),
        Column("tensors", right=True),
        Column("bytes", right=True),
        Column("start", drop_order=0),
        Column("span", right=True, drop_order=1),
    ]


def _by_rank(inventory: Inventory) -> list[list[Cell]]:
    return [
        [number_cell(rank), Cell(integers_text(inventory.steps_of(rank))), *_counts(group)]
        for rank, group in inventory.ranks.items()
    ]


def _by_step(inventory: Inventory) -> list[list[Cell]]:
    return [
        [number_cell(rank), number_cell(step), *_counts(group)]
        for (rank, step), group in inventory.steps.items()
    ]


def _counts(group: Group) -> list[Cell]:
    first, last = group.first_timestamp, group.last_timestamp
    return [
        Cell(f"{group.files:,}"),
        Cell(f"{group.ops:,}"),
        Cell(f"{group.tensors:,}"),
        Cell(size_text(group.bytes), DOUBTFUL if group.is_empty else ""),
        Cell("" if first is None else time_text(first), SUBTLE),
        Cell("" if first is None or last is None else duration_text((last - first) / 1e6), SUBTLE),
    ]


_DTYPE_COLUMNS = [Column("dtype"), Column("tensors", right=True), Column("bytes", right=True)]


def _dtypes(inventory: Inventory) -> list[list[Cell]]:
    return [
        [
            Cell("(none)", SUBTLE) if dtype is None else Cell(printable(dtype)),
            Cell(f"{group.tensors:,}"),
            Cell(size_text(group.bytes)),
        ]
        for dtype, group in inventory.dtypes.items()
    ]


def _odd(inventory: Inventory) -> Iterator[Cell]:
    for kind in inventory.odd:
        yield from _oddity(kind, inventory)
    if inventory.missing_ranks:
        yield Cell(f"nothing of {numbered('rank', inventory.missing_ranks)}", DOUBTFUL)
    for rank, steps in inventory.missing.items():
        yield Cell(f"rank {rank} lacks {numbered('step', steps)}", DOUBTFUL)
    for rank_or_none, step in inventory.empty:
        where = where_text(rank=rank_or_none, step=step).replace(",", "")
        yield Cell(f"{where or 'all of it'} holds no data", DOUBTFUL)
    if inventory.skipped:
        yield Cell(f"skipped: {skipped_text(inventory.skipped)}", SUBTLE)


def _oddity(kind: str, inventory: Inventory) -> Iterator[Cell]:
    oddity = inventory.odd[kind]
    n_files = oddity.files
    style = {NOTED: SUBTLE, APPENDED: DOUBTFUL}.get(kind) or status_style(kind)
    yield Cell(f"{kind}: {counted(n_files, 'file')}", style)
    for path, note in oddity.examples.items():
        yield Cell(f"  {printable(path)}" + (f": {printable(note)}" if note else ""))
    if n_files > len(oddity.examples):
        yield Cell(f"  ... and {n_files - len(oddity.examples):,} more", SUBTLE)
