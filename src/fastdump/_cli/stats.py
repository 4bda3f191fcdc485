"""``fastdump stats``: statistics of every tensor, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from fastdump._cli.console import (
    ellipsis_of,
    print_hints,
    print_lines,
    speed_text,
    stdout_console,
    stdout_width,
)
from fastdump._cli.json_document import print_table
from fastdump._cli.options import (
    OutputDirectory,
    growing_options,
    json_option,
    json_rows_option,
    outputs_option,
    paths_argument,
    placing_options,
    reading_options,
    selection_options,
)
from fastdump._cli.output_file import check_output, write_outputs
from fastdump._cli.pager import paged
from fastdump._cli.scanning import Outcome, scan_paths
from fastdump._table.row_text import COLUMNS, DEFAULT_COLUMNS, row_table
from fastdump._table.schema import COLUMN
from fastdump._table.stats_table import StatsTable
from fastdump._table.table_text import dropped_text
from fastdump._words.answer import command_text
from fastdump._words.quantities import counted, size_text
from fastdump._words.text_table import Cell

_DEFAULT_ROWS = 20
_ORDERS = (
    *("worst", "headroom"),
    *(name for name, column in COLUMN.items() if column.type != "shape"),
)
# What a table of headers lacks is a statistic.
_LARGEST_FIRST = frozenset(name for name, column in COLUMN.items() if column.level != "header")


@click.command("stats")
@paths_argument
@click.option(
    "--level",
    type=click.Choice(["health", "basic", "full"]),
    default="basic",
    show_default=True,
    help="health counts NaN and Inf; basic adds max, min, mean and l2norm; full adds zero, "
    "subnormal and saturated elements and the first bad one.",
)
@click.option(
    "--logical",
    is_flag=True,
    help="Leave out the padding of private formats, where it can be told from the data.",
)
@selection_options
@click.option(
    "--bad", "only_bad", is_flag=True, help="Only tensors with NaN or Inf, and broken ones."
)
@click.option(
    "--sort",
    "order",
    type=click.Choice(_ORDERS),
    default="worst",
    show_default=True,
    metavar="COLUMN",
    help="Print rows in this order: worst first, by headroom (those nearest to overflow first), by "
    "any other statistic (the largest first), or by another column.",
)
@click.option(
    "--columns",
    callback=lambda _context, _parameter, text: _columns(text),
    metavar="NAMES",
    help=f"Print these columns, separated by commas: {', '.join(COLUMNS)}.",
)
@json_rows_option("Print the first N rows", _DEFAULT_ROWS)
@json_option
@outputs_option(
    "Write all rows to FILE: .csv, .json, .arrow or .parquet. May be repeated. DIR/, or a "
    "directory that is there, gets parts as the scan goes; one that was ended goes on from them.",
    directories=True,
)
@placing_options
@click.option(
    "--shard",
    metavar="I/N",
    callback=lambda _context, _parameter, text: _shard(text),
    help="Read part I, from 0 on, of N; 'fastdump merge' joins the tables of all parts.",
)
@growing_options
@reading_options
def command(
    paths: tuple[str, ...],
    level: str,
    logical: bool,
    conditions: dict[str, Any],
    only_bad: bool,
    order: str,
    columns: tuple[str, ...] | None,
    rows: int | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    **reading: Any,
) -> int:
    """Compute statistics of every tensor in PATH..., files or directories of any depth.

    Every moment (max, min, mean, l2norm) is over the finite elements; NaN and Inf are counted. Of
    statistics that the device wrote instead of tensors (CSV), all is what it reported.
    The worst rows are printed: those with NaN or +Inf in the order of execution, then broken
    files, then -Inf alone (often a mask), then the values nearest to the limit of their type.
    PATH may also be a file that -o has written, of which rows are selected and printed; several
    of them, and a directory of .parquet files, count as one table.

    \b
    Examples:
      fastdump stats dump_dir
      fastdump stats dump_dir --op-type 'MatMul*' --step 3-5 --io output
      fastdump stats dump_dir --sort headroom -n 10
      fastdump stats dump_dir --op-name '*layers.3*Norm' --sort step --columns step,tensor,l2norm
      fastdump stats dump_dir --bad --rows 0 -o stats.parquet -o stats.csv
      fastdump stats dump_dir --json --rows 1
      fastdump stats dump_dir --shard 3/16 -o parts/3.parquet
    """  # noqa: D301 (\b is for click: do not wrap)
    directories = [output for output in outputs if isinstance(output, OutputDirectory)]
    outputs = tuple(output for output in outputs if not isinstance(output, OutputDirectory))
    if len(directories) > 1:
        raise click.UsageError("-o: the parts of a scan go to one directory")
    for output in outputs:
        check_output(output)
    parts = str(directories[0]) if directories else None
    outcome = scan_paths(paths, conditions, level=level, logical=logical, parts=parts, **reading)
    table = outcome.table.filter(bad=True) if only_bad else outcome.table
    failure = write_outputs(table, outputs)
    if as_json:
        print_table(table if rows is None else _first(table, order, rows))
    else:
        shown = _first(table, order, _DEFAULT_ROWS if rows is None else rows)
        with paged():
            _print(table, shown, order, columns, outcome, paths)
    if failure is not None:
        raise failure
    return outcome.exit_code


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    i, slash, n = text.partition("/")
    if not (slash and i.isdecimal() and n.isdecimal() and int(i) < int(n) < 2**31):
        raise click.BadParameter(f"{text!r}, expected I/N with I from 0 to N - 1: 0/4 to 3/4")
    return int(i), int(n)


def _columns(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in COLUMNS:
            raise click.BadParameter(f"there is no column {name!r}; columns: {', '.join(COLUMNS)}")
    return names


def _first(table: StatsTable, order: str, rows: int) -> StatsTable:
    """Return the first rows, all if `rows` is 0, in the order that was asked for."""
    if order == "worst":
        return table.worst(rows or None)
    if order == "headroom":
        # NaN, where nothing can overflow, comes last.
        return table[np.argsort(table.headroom, kind="stable")[: rows or None]]
    return table.sort(order, descending=order in _LARGEST_FIRST)[: rows or None]


def _print(
    table: StatsTable,
    shown: StatsTable,
    order: str,
    columns: tuple[str, ...] | None,
    outcome: Outcome,
    paths: tuple[str, ...],
) -> None:
    console = stdout_console()
    # Whatever rows --bad selects, the first lines are about all that was read.
    findings = [c for cell in outcome.table.findings() for c in (Cell("; "), cell)][1:]
    print_lines(console, [[Cell(_what_was_read(outcome))], findings])
    names = _shown_columns(order) if columns is None else columns
    text_table = row_table(shown, width=stdout_width(console), columns=names)
    if len(shown):
        console.print()
    print_lines(console, text_table.lines(ellipsis=ellipsis_of(console)))
    hints = []
    which = f"{len(shown):,} worst" if order == "worst" else f"first {len(shown):,}, by {order},"
    if len(shown) < len(table):
        hints.append(f"{which} of {len(table):,} rows; -n 0 prints all, -o FILE writes them")
    if text_table.dropped:
        hints.append(dropped_text(text_table))
    if table.bad.any():
        hints.append(command_text("triage", paths))
    print_hints(hints)


def _shown_columns(order: str) -> Sequence[str]:
    """Return the columns that are shown by default: those of all rows, and the sorted one."""
    if order in DEFAULT_COLUMNS or order not in COLUMNS:
        return DEFAULT_COLUMNS
    before = DEFAULT_COLUMNS.index("max")
    return (*DEFAULT_COLUMNS[:before], order, *DEFAULT_COLUMNS[before:])


def _what_was_read(outcome: Outcome) -> str:
    summary = outcome.table.summary()
    n_tensors = summary["rows"] - outcome.table.batch.column("io").null_count
    facts = f"{counted(summary['files'], 'file')}, {counted(n_tensors, 'tensor')}"
    if outcome.is_written:
        return f"{facts}, {size_text(summary['bytes'])}, level {outcome.table.level}, as written"
    return f"{facts}, {speed_text(outcome.nbytes, outcome.seconds)}"
