"""``fastdump triage``: which operator made the first bad value, and what followed from it."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from fastdump import StatsTable, TriageReport
from fastdump import triage as triage_table
from fastdump._cli import exit_codes
from fastdump._cli.console import stdout_console, stdout_width
from fastdump._cli.json_document import print_json
from fastdump._cli.options import filter_options, json_option, paths_argument, scan_options
from fastdump._cli.scanning import scan_paths
from fastdump._table_files import written_table
from fastdump._triage.analysis import analyse
from fastdump._triage.text import DEFAULT_ROWS, report_lines


@click.command("triage")
@paths_argument
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the files of a table lie, if they are at hand.",
)
@filter_options
@click.option("--all", "show_all", is_flag=True, help="List also what is bad on purpose: masks.")
@click.option(
    "-n",
    "--rows",
    type=click.IntRange(min=0),
    default=DEFAULT_ROWS,
    show_default=True,
    metavar="N",
    help="Print N lines of the chain, of its table and of the other findings; 0 prints all.",
)
@json_option
@scan_options
def command(
    paths: tuple[str, ...],
    root: Path | None,
    op_type: tuple[str, ...],
    op_name: tuple[str, ...],
    step: tuple[int, ...],
    rank: tuple[int, ...],
    tensor: tuple[str, ...],
    show_all: bool,
    rows: int,
    as_json: bool,
    threads: int | None,
    io: str,
    follow_links: bool,
) -> int:
    """Find which operator in PATH... made the first bad value, and what followed from it.

    PATH is a dump, or a table that 'fastdump stats --level full -o' has written: then links between
    operators are known by their statistics only, unless --root tells where the files are.

    First comes one sentence: where, which operator, which file, what its inputs and output look
    like. Then the chain to the last operator that was infected, each with how its link is known:
    by content (exact), by device address, by equal statistics, through a collective operator, by
    name, or by order (a guess). Then their statistics, other findings, and what is suppressed
    because it is bad on purpose, like the -Inf of attention masks.

    \b
    Examples:
      fastdump triage dump_dir
      fastdump triage dump_dir --step 3-5 --json
      fastdump stats dump_dir --level full -o stats.parquet; fastdump triage stats.parquet

    Exit codes: 0 nothing was found; 1 there is a finding; 2 wrong usage, or nothing that could be
    read; 3 nothing was found, but some files could not be read.
    """  # noqa: D301 (\b is for click: do not wrap)
    table = written_table(paths[0]) if len(paths) == 1 else None
    if table is not None:
        report, code = _of_table(table, root, op_type, op_name, step, rank, tensor)
    elif root is not None:
        raise click.UsageError("--root is for a table; the files of a dump are where it is")
    else:
        outcome = scan_paths(
            paths,
            level="full",
            threads=threads,
            io=io,
            follow_links=follow_links,
            op_type=op_type,
            op_name=op_name,
            step=step,
            rank=rank,
            tensor=tensor,
        )
        report, code = analyse(outcome.table, paths), outcome.exit_code
    if as_json:
        print_json(report.to_dict())
    else:
        _print(report, rows, show_all=show_all)
    if code != exit_codes.INTERRUPTED and not report.clean:
        return exit_codes.FINDINGS
    return code


def _of_table(
    table: StatsTable,
    root: Path | None,
    op_type: tuple[str, ...],
    op_name: tuple[str, ...],
    step: tuple[int, ...],
    rank: tuple[int, ...],
    tensor: tuple[str, ...],
) -> tuple[TriageReport, int]:
    if table.level == "header":
        raise click.ClickException("the table has no statistics")
    report = triage_table(
        table,
        root=root,
        op_type=op_type or None,
        op_name=op_name or None,
        step=step or None,
        rank=rank or None,
        tensor=tensor or None,
    )
    unread = {"malformed", "unreadable"} & table.summary()["status"].keys()
    return report, exit_codes.INCOMPLETE if unread else exit_codes.SUCCESS


def _print(report: TriageReport, rows: int, *, show_all: bool) -> None:
    console = stdout_console()
    unicode = console.encoding.lower().startswith("utf")
    lines = report_lines(
        report,
        width=stdout_width(console),
        rows=rows or None,
        ellipsis="\u2026" if unicode else "~",
        show_suppressed=show_all,
    )
    for line in lines:
        console.print(Text.assemble(*line))
