"""``fastdump overflow``: overflow records, decoded and joined with their operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.text import Text

import fastdump
from fastdump import FastdumpError, OverflowFinding, OverflowReport
from fastdump._cli import exit_codes
from fastdump._cli.console import stdout_console, stdout_width
from fastdump._cli.json_document import print_json
from fastdump._cli.options import (
    follow_links_option,
    json_option,
    paths_argument,
    threads_option,
)
from fastdump._cli.output_file import check_output, write_outputs
from fastdump._overflow.words import oddity_text
from fastdump._printable import printable
from fastdump._quantities import counted
from fastdump._row_text import row_table
from fastdump._styles import BAD, DOUBTFUL, GOOD, SUBTLE
from fastdump._text_table import Cell, Column, TextTable

_DEFAULT_ROWS = 20


@click.command("overflow")
@paths_argument
@click.option(
    "-n",
    "--rows",
    type=click.IntRange(min=0),
    default=_DEFAULT_ROWS,
    show_default=True,
    metavar="N",
    help="Print the first N overflows; 0 prints all.",
)
@json_option
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the statistics of the operators' tensors to FILE, as 'fastdump stats' does: .csv, "
    ".json, .arrow or .parquet. May be repeated.",
)
@threads_option
@follow_links_option
def command(
    paths: tuple[str, ...],
    rows: int,
    as_json: bool,
    outputs: tuple[Path, ...],
    threads: int | None,
    follow_links: bool,
) -> int:
    """Decode the overflow records in PATH... (files Opdebug.Node_OpDebug...), in order of time.

    Tells which unit overflowed and what each bit of its status means, which operator it was (by
    task, stream, context and thread; of several the nearest in time), and how the inputs and
    outputs of that operator look.

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
    try:
        report = fastdump.overflow(paths, threads=threads, follow_links=follow_links)
    except ValueError as error:
        if isinstance(error, FastdumpError):
            raise
        # FASTDUMP_THREADS: options were checked by click.
        raise click.ClickException(str(error)) from error
    failure = _written(report, outputs)
    if as_json:
        print_json(report.to_dict())
    else:
        _print(report, rows or None)
    if failure is not None:
        raise failure
    if report.findings:
        return exit_codes.FINDINGS
    is_whole = all(record.units for record in report.records)
    return exit_codes.SUCCESS if is_whole else exit_codes.INCOMPLETE


def _written(report: OverflowReport, outputs: tuple[Path, ...]) -> Exception | None:
    """Write the tensors' statistics to files, and return what failed."""
    if report.table is not None:
        return write_outputs(report.table, outputs)
    if not outputs:
        return None
    return click.ClickException(f"{outputs[-1]} was not written: no operator was found")


def _print(report: OverflowReport, rows: int | None) -> None:
    console = stdout_console()
    width = stdout_width(console)
    findings = report.findings
    console.print(report.sentence, style=BAD if findings else GOOD)
    shown = findings[:rows]
    if shown:
        console.print()
        TextTable(_COLUMNS, map(_cells, shown), width=width).print_to(console)
    if findings and (operator := findings[0].unit.operator) is not None:
        console.print()
        console.print(f"the first: {printable(', '.join(operator.paths))}", style=SUBTLE)
        row_table(operator.tensors, width=width).print_to(console)
    lines = list(_notes(report, shown))
    if lines:
        console.print()
    for line in lines:
        console.print(line)
    if len(shown) < len(findings):
        console.print(
            f"\n{len(shown):,} of {len(findings):,} overflows; -n 0 prints all", style=SUBTLE
        )


def _notes(report: OverflowReport, shown: Sequence[OverflowFinding]) -> Iterator[Text]:
    """Yield what is odd about records and joins."""
    for record, unit in shown:
        if unit.join_note:
            how = unit.join or ""
            style = DOUBTFUL if how in ("none", "ambiguous") else SUBTLE
            join = "not joined" if how == "none" else f"joined, {how}"
            yield Text(f"{printable(record.path)}: {join}: {printable(unit.join_note)}", style)
    for record in report.records:
        if record.status != "ok":
            text = f"{printable(record.path)}: {record.status}: {printable(record.note)}"
            yield Text(text, DOUBTFUL if record.status == "not_valid" else BAD)
    n_silent = sum(
        record.status == "ok" and not any(unit.overflowed for unit in record.units)
        for record in report.records
    )
    if n_silent:
        yield Text(f"{counted(n_silent, 'record')} in which no unit overflowed", SUBTLE)


_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("unit"),
    Column("task", right=True, drop_order=1),
    Column("stream", right=True, drop_order=0),
    Column("op_type", min_width=8, drop_order=3),
    Column("op_name", min_width=18),
    Column("status", right=True),
    Column("meaning", min_width=16),
    Column("inputs", min_width=10, drop_order=2),
    Column("outputs", min_width=10, drop_order=4),
)


def _cells(finding: OverflowFinding) -> list[Cell]:
    record, unit = finding
    operator = unit.operator
    return [
        Cell("" if record.rank is None else str(record.rank)),
        Cell("" if record.step is None else str(record.step)),
        Cell(unit.unit),
        Cell(str(unit.fields["task_id"])),
        Cell(str(unit.fields["stream_id"])),
        Cell(printable((operator and operator.op_type) or "")),
        Cell(printable(operator.op_name or "")) if operator else Cell("not joined", DOUBTFUL),
        Cell(" ".join(hex(status) for status in unit.statuses), BAD),
        Cell(unit.meaning),
        _side_cell(finding, "input"),
        _side_cell(finding, "output"),
    ]


def _side_cell(finding: OverflowFinding, io: str) -> Cell:
    """Return ``finite``, or the oddities of the tensors."""
    operator = finding.unit.operator
    rows = [row for row in operator.tensors if row.io == io] if operator is not None else []
    if not rows:
        return Cell("")
    odd = [f"{row.io}.{row.index} {text}" for row in rows if (text := oddity_text(row))]
    return Cell("; ".join(odd), BAD) if odd else Cell("finite", SUBTLE)
