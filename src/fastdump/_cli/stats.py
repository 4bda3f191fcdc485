"""``fastdump stats``: statistics of every tensor, worst first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from fastdump import StatsRow, StatsTable
from fastdump._cli.console import stdout_console, stdout_width
from fastdump._cli.json_document import print_table
from fastdump._cli.options import filter_options, json_option, paths_argument, scan_options
from fastdump._cli.output_file import check_output, write_outputs
from fastdump._cli.scanning import Outcome, scan_paths
from fastdump._printable import printable
from fastdump._quantities import counted, duration_text, size_text, skipped_text
from fastdump._row_text import row_table
from fastdump._severity import rows_with_nan_or_pos_inf, rows_with_neg_inf, uncounted
from fastdump._styles import BAD, DOUBTFUL, GOOD, SUBTLE, status_style

_DEFAULT_ROWS = 20


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
@filter_options
@click.option(
    "--bad", "only_bad", is_flag=True, help="Only tensors with NaN or Inf, and broken ones."
)
@click.option(
    "-n",
    "--rows",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"Print the N worst rows; 0 prints all. Default: {_DEFAULT_ROWS}, with --json all.",
)
@json_option
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all rows to FILE: .csv, .json, .arrow or .parquet. May be repeated.",
)
@scan_options
def command(
    paths: tuple[str, ...],
    level: str,
    logical: bool,
    op_type: tuple[str, ...],
    op_name: tuple[str, ...],
    step: tuple[int, ...],
    rank: tuple[int, ...],
    tensor: tuple[str, ...],
    only_bad: bool,
    rows: int | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    threads: int | None,
    io: str,
    follow_links: bool,
) -> int:
    """Compute statistics of every tensor in PATH..., files or directories of any depth.

    Every moment (max, min, mean, l2norm) is over the finite elements; NaN and Inf are counted. Of
    statistics that the device wrote instead of tensors (CSV), all is what it reported.
    The worst rows are printed: those with NaN or +Inf in the order of execution, then broken
    files, then -Inf alone (often a mask), then the values nearest to the limit of their type.

    \b
    Examples:
      fastdump stats dump_dir
      fastdump stats dump_dir --op-type 'MatMul*' --step 3-5 --tensor output
      fastdump stats dump_dir --bad --rows 0 -o stats.parquet -o stats.csv
      fastdump stats dump_dir --json --rows 1
    """  # noqa: D301 (\b is for click: do not wrap)
    for output in outputs:
        check_output(output)
    outcome = scan_paths(
        paths,
        level=level,
        logical=logical,
        threads=threads,
        io=io,
        follow_links=follow_links,
        op_type=op_type,
        op_name=op_name,
        step=step,
        rank=rank,
        tensor=tensor,
    )
    table = outcome.table.filter(bad=True) if only_bad else outcome.table
    failure = write_outputs(table, outputs)
    if as_json:
        print_table(table if rows is None else table.worst(rows or None))
    else:
        _print(table, outcome, _DEFAULT_ROWS if rows is None else rows, paths)
    if failure is not None:
        raise failure
    return outcome.exit_code


def _print(table: StatsTable, outcome: Outcome, rows: int, paths: tuple[str, ...]) -> None:
    console = stdout_console()
    _print_summary(console, outcome)
    shown = table.worst(rows or None)
    text_table = row_table(shown, width=stdout_width(console))
    if len(shown):
        console.print()
    text_table.print_to(console)
    hints = []
    if len(shown) < len(table):
        hints.append(
            f"{len(shown):,} worst of {len(table):,} rows; -n 0 prints all, -o FILE writes them"
        )
    if text_table.dropped:
        hints.append(f"left out for want of width: {', '.join(text_table.dropped)}")
    if table.bad.any():
        hints.append(f"fastdump show {shlex.quote(_file_of(shown[0], paths))}")
    if hints:
        console.print()
    for hint in hints:
        console.print(printable(hint), style=SUBTLE)


def _file_of(row: StatsRow, paths: tuple[str, ...]) -> str:
    """Return a path that opens the file of a row; those of several roots begin with theirs."""
    if len(paths) > 1:
        return row.path
    (root,) = paths
    return str(Path(root, row.path)) if Path(root).is_dir() else root


def _print_summary(console: Console, outcome: Outcome) -> None:
    """Say what was read and how it is, whatever --bad then shows of it."""
    table = outcome.table
    summary = table.summary()
    n_tensors = sum(io is not None for io in table["io"])
    speed = size_text(outcome.nbytes / max(outcome.seconds, 1e-9))
    console.print(
        f"{counted(summary['files'], 'file')}, {counted(n_tensors, 'tensor')}, "
        f"{size_text(outcome.nbytes)} in {duration_text(outcome.seconds)} ({speed}/s)"
    )
    console.print(Text("; ").join(_findings(table, summary["status"])))


def _findings(table: StatsTable, by_status: dict[str, int]) -> Iterator[Text]:
    batch = table.arrow.to_batches()[0]
    n_bad = int(rows_with_nan_or_pos_inf(batch).sum())
    n_masks = int(rows_with_neg_inf(batch).sum())
    # Of the vendor's statistics only those that were chosen are there.
    is_reported = (table["source"] == "csv") & (table["status"] == "ok")
    n_uncounted = int((is_reported & uncounted(batch) & ~table.bad).sum())
    if n_bad:
        yield Text(f"{counted(n_bad, 'tensor')} with NaN or +Inf", BAD)
    if n_masks:
        yield Text(f"{counted(n_masks, 'tensor')} with -Inf", DOUBTFUL)
    if not n_bad and not n_masks and n_uncounted < len(table):
        yield Text("no NaN, no Inf", GOOD)
    if n_uncounted:
        yield Text(f"{counted(n_uncounted, 'tensor')} without a count of NaN or Inf", SUBTLE)
    for status, number in by_status.items():
        if status != "ok":
            yield Text(f"{number:,} {status}", status_style(status))
    if table.skipped:
        yield Text(f"skipped: {skipped_text(table.skipped)}", SUBTLE)
