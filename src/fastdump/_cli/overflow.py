"""``fastdump overflow``: overflow records, decoded and joined with their operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import fastdump
from fastdump import OverflowReport
from fastdump._cli import exit_codes
from fastdump._cli.language import language_option
from fastdump._cli.options import (
    is_given,
    json_option,
    outputs_option,
    paths_argument,
    reading_options,
    root_option,
    rows_option,
    selection_options,
    verbose_option,
)
from fastdump._cli.output_file import check_output, write_outputs
from fastdump._cli.print_report import print_report
from fastdump._cli.scanning import moved_source
from fastdump._cli.unread import is_unread, say_skipped
from fastdump._cli.usage import refusing
from fastdump._overflow.text import DEFAULT_ROWS
from fastdump._progress import working


@click.command("overflow")
@paths_argument
@root_option
@selection_options
@verbose_option
@rows_option("As -v, with the first N overflows; 0 prints all.", DEFAULT_ROWS)
@json_option
@outputs_option(
    "Write the statistics of the operators' tensors to FILE, as 'fastdump stats' does: .csv, "
    ".json, .arrow or .parquet. May be repeated."
)
@reading_options
@language_option
def command(
    paths: tuple[str, ...],
    root: Path | None,
    conditions: dict[str, Any],
    verbose: bool,
    rows: int | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    **reading: Any,
) -> int:
    """Decode the overflow records in PATH... (files Opdebug.Node_OpDebug...), in order of time.

    Tells which unit overflowed and what each bit of its status means, which operator it was (by
    task, stream, context and thread; of several the nearest in time), and how the inputs and
    outputs of that operator look. Ranks, devices, models, steps and times choose records; all other
    conditions choose operators.

    The answer has at most eight lines; -v goes on with all that there is to say.

    \b
    Examples:
      fastdump overflow dump_dir
      fastdump overflow dump_dir --json
      fastdump overflow dump_dir -o tensors.csv

    Exit codes: 0 no overflow is recorded; 1 one is; 2 wrong usage, or nothing that could be read;
    3 no overflow is recorded, but some record could not be read.
    """  # noqa: D301 (\b is for click: do not wrap)
    for output in outputs:
        check_output(output)
    source = moved_source(paths, root)
    with working(), refusing():
        report = fastdump.overflow(source, progress=True, **conditions, **reading)
    failure = _written(report, outputs)
    is_verbose = verbose or is_given("rows")
    print_report(report, as_json=as_json, verbose=is_verbose, rows=rows)
    say_skipped(report.skipped)
    if failure is not None:
        raise failure
    if report.findings:
        return exit_codes.FINDINGS
    statuses = [record.status for record in report.records]
    if report.table is not None:
        statuses += report.table.summary()["status"]
    unread = is_unread(statuses, report.skipped)
    return exit_codes.INCOMPLETE if unread else exit_codes.SUCCESS


def _written(report: OverflowReport, outputs: tuple[Path, ...]) -> Exception | None:
    """Write the tensors' statistics to files, and return what failed."""
    if report.table is not None:
        return write_outputs(report.table, outputs)
    if not outputs:
        return None
    return click.ClickException(f"{outputs[-1]} was not written: no operator was found")
