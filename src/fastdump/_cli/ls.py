"""``fastdump ls``: what a dump holds, from headers only."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.console import Console
from rich.text import Text

from fastdump._cli.console import stdout_console, stdout_width
from fastdump._cli.inventory import APPENDED, NOTED, Group, Inventory
from fastdump._cli.json_document import print_json
from fastdump._cli.options import filter_options, json_option, paths_argument, scan_options
from fastdump._cli.scanning import scan_paths
from fastdump._printable import printable
from fastdump._quantities import (
    counted,
    duration_text,
    ranges_text,
    size_text,
    skipped_text,
    time_text,
)
from fastdump._styles import DOUBTFUL, GOOD, SUBTLE, status_style
from fastdump._text_table import Cell, Column, TextTable

# More lines than this say less than one line a rank.
_MAX_STEP_LINES = 40


@click.command("ls")
@paths_argument
@filter_options
@json_option
@scan_options
def command(
    paths: tuple[str, ...],
    op_type: tuple[str, ...],
    op_name: tuple[str, ...],
    step: tuple[int, ...],
    rank: tuple[int, ...],
    tensor: tuple[str, ...],
    as_json: bool,
    threads: int | None,
    io: str,
    follow_links: bool,
) -> int:
    """List what PATH... holds without reading any tensor.

    Prints files, operators, tensors, bytes and times of each rank and step, the dtypes, and then
    what is odd: truncated, absent, malformed and unsupported tensors, sizes that disagree,
    trailing bytes, dumps that were appended to others, steps that are empty or that one rank lacks,
    ranks of which there is nothing, and files that were skipped.

    \b
    Examples:
      fastdump ls dump_dir
      fastdump ls dump_dir --rank 0 --json
    """  # noqa: D301 (\b is for click: do not wrap)
    outcome = scan_paths(
        paths,
        level="header",
        threads=threads,
        io=io,
        follow_links=follow_links,
        op_type=op_type,
        op_name=op_name,
        step=step,
        rank=rank,
        tensor=tensor,
    )
    inventory = Inventory(outcome.table, all_ranks=not rank)
    if as_json:
        print_json(inventory.document())
    else:
        _print(inventory)
    return outcome.exit_code


def _print(inventory: Inventory) -> None:
    console = stdout_console()
    width = stdout_width(console)
    _print_total(console, inventory)
    console.print()
    _steps_table(inventory, width).print_to(console)
    if inventory.dtypes:
        console.print()
        _dtypes_table(inventory, width).print_to(console)
    console.print()
    _print_odd(console, inventory)


def _print_total(console: Console, inventory: Inventory) -> None:
    total = inventory.total
    parts = [
        counted(len(total.paths), "file"),
        counted(len(total.ops), "operator"),
        counted(total.tensors, "tensor"),
        size_text(total.nbytes),
    ]
    if total.reported:
        parts[2] += f" ({total.reported:,} as statistics)"
    ranks = [rank for rank in inventory.ranks if rank is not None]
    steps = {step for _, step in inventory.steps if step is not None}
    if ranks:
        parts.append(counted(len(ranks), "rank"))
    if steps:
        parts.append(counted(len(steps), "step"))
    console.print(", ".join(parts))
    first, last = total.first_timestamp, total.last_timestamp
    if first is not None and last is not None:
        console.print(
            f"{time_text(first)}, the last operator {duration_text((last - first) / 1e6)} later",
            style=SUBTLE,
        )


def _steps_table(inventory: Inventory, width: int | None) -> TextTable:
    """Return a row for each step of each rank, or for each rank if these are too many."""
    by_rank = len(inventory.steps) > _MAX_STEP_LINES
    columns = [
        Column("rank", right=True),
        Column("steps", min_width=7) if by_rank else Column("step", right=True),
        Column("files", right=True),
        Column("operators", right=True),
        Column("tensors", right=True),
        Column("bytes", right=True),
        Column("start", drop_order=0),
        Column("span", right=True, drop_order=1),
    ]
    if by_rank:
        rows = [
            [_number(rank), Cell(ranges_text(inventory.steps_of(rank))), *_counts(group)]
            for rank, group in inventory.ranks.items()
        ]
    else:
        rows = [
            [_number(rank), _number(step), *_counts(group)]
            for (rank, step), group in inventory.steps.items()
        ]
    return TextTable(columns, rows, width=width)


def _number(number: int | None) -> Cell:
    return Cell("" if number is None else str(number))


def _counts(group: Group) -> list[Cell]:
    first, last = group.first_timestamp, group.last_timestamp
    return [
        Cell(f"{len(group.paths):,}"),
        Cell(f"{len(group.ops):,}"),
        Cell(f"{group.tensors:,}"),
        Cell(size_text(group.nbytes), DOUBTFUL if group.is_empty else ""),
        Cell("" if first is None else time_text(first), SUBTLE),
        Cell("" if first is None or last is None else duration_text((last - first) / 1e6), SUBTLE),
    ]


def _dtypes_table(inventory: Inventory, width: int | None) -> TextTable:
    columns = [Column("dtype"), Column("tensors", right=True), Column("bytes", right=True)]
    rows = [
        [
            Cell("(none)", SUBTLE) if dtype is None else Cell(printable(dtype)),
            Cell(f"{group.tensors:,}"),
            Cell(size_text(group.nbytes)),
        ]
        for dtype, group in inventory.dtypes.items()
    ]
    return TextTable(columns, rows, width=width)


def _print_odd(console: Console, inventory: Inventory) -> None:
    lines = [line for kind in inventory.odd for line in _oddity_lines(kind, inventory)]
    if ranks := inventory.missing_ranks:
        lines.append(Text(f"nothing of rank {ranges_text(ranks)}", DOUBTFUL))
    for rank, steps in inventory.missing.items():
        lines.append(Text(f"rank {rank} lacks steps {ranges_text(steps)}", DOUBTFUL))
    for where in inventory.empty:
        parts = [
            f"{name} {number}"
            for name, number in zip(("rank", "step"), where, strict=True)
            if number is not None
        ]
        lines.append(Text(f"{' '.join(parts) or 'all of it'} holds no data", DOUBTFUL))
    if inventory.skipped:
        lines.append(Text(f"skipped: {skipped_text(inventory.skipped)}", SUBTLE))
    for line in lines or [Text("nothing odd", GOOD)]:
        console.print(line)


def _oddity_lines(kind: str, inventory: Inventory) -> Iterator[Text]:
    oddity = inventory.odd[kind]
    files = len(oddity.paths)
    style = {NOTED: SUBTLE, APPENDED: DOUBTFUL}.get(kind) or status_style(kind)
    yield Text(f"{kind}: {counted(files, 'file')}", style)
    for path, note in oddity.examples.items():
        yield Text(f"  {printable(path)}" + (f": {printable(note)}" if note else ""))
    if files > len(oddity.examples):
        yield Text(f"  ... and {files - len(oddity.examples):,} more", SUBTLE)
