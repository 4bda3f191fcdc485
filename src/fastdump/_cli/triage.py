"""``fastdump triage``: which operator made the first bad value, and what followed from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fastdump._cli import exit_codes
from fastdump._cli.language import language_option
from fastdump._cli.options import (
    growing_options,
    is_given,
    json_option,
    paths_argument,
    placing_options,
    reading_options,
    root_option,
    rows_option,
    selection_options,
    verbose_option,
)
from fastdump._cli.print_report import print_report
from fastdump._cli.scanning import scan_for_triage
from fastdump._cli.unread import say_skipped
from fastdump._progress import working
from fastdump._triage.story import tell
from fastdump._triage.text import DEFAULT_ROWS


@click.command("triage")
@paths_argument
@root_option
@selection_options
@verbose_option
@click.option(
    "--all", "show_all", is_flag=True, help="As -v, and list what is bad on purpose: masks."
)
@rows_option(
    "As -v, with N lines of the chain, of its table and of the other findings; 0 prints all.",
    DEFAULT_ROWS,
)
@json_option
@placing_options
@growing_options
@reading_options
@language_option
def command(
    paths: tuple[str, ...],
    root: Path | None,
    conditions: dict[str, Any],
    verbose: bool,
    show_all: bool,
    rows: int | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Find which operator in PATH... made the first bad value, and what followed from it.

    PATH is a dump, or a table that 'fastdump stats --level full -o' has written; several tables,
    and a directory of .parquet files, count as one.

    The answer has at most eight lines: who, what, why, how far, and what to type next. With -v
    follow the chain to the last operator that was infected, each with how its link is known: by
    content (exact), by device address, by equal statistics, through a collective operator, by name,
    or by order (a guess); then their statistics, other findings, and what is suppressed because it
    is bad on purpose, like the -Inf of attention masks.

    \b
    Examples:
      fastdump triage dump_dir
      fastdump triage dump_dir -v
      fastdump triage dump_dir --step 3-5 --json
      fastdump stats dump_dir --level full -o stats.parquet; fastdump triage stats.parquet

    Exit codes: 0 nothing was found; 1 there is a finding; 2 wrong usage, or nothing that could be
    read; 3 nothing was found, but something could not be read whole.
    """  # noqa: D301 (\b is for click: do not wrap)
    outcome = scan_for_triage(paths, conditions, root, **reading)
    with working("following bad values"):
        report = tell(outcome.table)
    is_verbose = verbose or show_all or is_given("rows")
    print_report(report, as_json=as_json, verbose=is_verbose, rows=rows, show_suppressed=show_all)
    say_skipped(outcome.table.skipped)
    if not outcome.interrupted and not report.clean:
        return exit_codes.FINDINGS
    return outcome.exit_code
