"""``fastdump watcher``: which operator overwrote the memory of another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import cast

import click
from rich.text import Text

import fastdump
from fastdump import WatcherReport
from fastdump._cli import exit_codes
from fastdump._cli.console import stdout_console, stdout_width
from fastdump._cli.json_document import print_json
from fastdump._cli.options import follow_links_option, json_option, paths_argument
from fastdump._printable import printable
from fastdump._quantities import shape_text
from fastdump._styles import BAD, DOUBTFUL, GOOD, SUBTLE
from fastdump._text_table import Cell, Column, TextTable
from fastdump._watcher import Check, WatcherComparison
from fastdump._watcher.words import suspect_text

_DEFAULT_ROWS = 20


@click.command("watcher")
@paths_argument
@click.option(
    "--check",
    type=click.Choice(["auto", "watcher", "addresses"]),
    default="auto",
    show_default=True,
    help="watcher: recordings of dump_scene=watcher; addresses: inputs against the outputs that "
    "last lay at their addresses; auto: the first if there are recordings, else the second.",
)
@click.option(
    "-n",
    "--rows",
    type=click.IntRange(min=0),
    default=_DEFAULT_ROWS,
    show_default=True,
    metavar="N",
    help="Print N changes, and N tensors that could not be compared; 0 prints all.",
)
@json_option
@follow_links_option
def command(
    paths: tuple[str, ...], check: str, rows: int, as_json: bool, follow_links: bool
) -> int:
    """Find outputs in PATH... that changed after they were written, and after which operator.

    In a dump with dump_scene=watcher the outputs of watched operators are recorded again after
    others, as {executed}_To_{watched}; each is compared with the watched operator's own file. In
    other dumps each input is compared with the output that was last written at exactly its device
    address.

    \b
    Examples:
      fastdump watcher dump_dir
      fastdump watcher dump_dir --check addresses --json

    Exit codes: 0 nothing changed; 1 something did; 2 wrong usage, nothing that could be read, or
    nothing to compare; 3 nothing changed, but something could not be compared.
    """  # noqa: D301 (\b is for click: do not wrap)
    report = fastdump.watcher(
        paths, check=cast("Check", check), progress=True, follow_links=follow_links
    )
    if as_json:
        print_json(report.to_dict())
    else:
        _print(report, rows or None)
    if report.findings:
        return exit_codes.FINDINGS
    if report.unchecked:
        return exit_codes.INCOMPLETE
    if not report.counts.get("same"):
        # As of `compare`: nothing was looked at, which must not pass for nothing found.
        print("fastdump: error: nothing was compared", file=sys.stderr)
        return exit_codes.NOTHING_READ
    return exit_codes.SUCCESS


def _print(report: WatcherReport, rows: int | None) -> None:
    console = stdout_console()
    width = stdout_width(console)
    findings = report.findings
    is_clean = not findings and bool(report.counts.get("same"))
    console.print(report.sentence, style=BAD if findings else GOOD if is_clean else DOUBTFUL)
    console.print()
    for note in report.notes:
        console.print(printable(note), style=SUBTLE)
    console.print(_counts_text(report))
    if findings:
        console.print()
        TextTable(_COLUMNS, map(_cells, findings[:rows]), width=width).print_to(console)
    suspects = [(f, s) for f in findings[:rows] for s in f.suspects]
    if suspects:
        console.print()
    for finding, suspect in suspects:
        line = f"{finding.op_name} output.{finding.output}: {suspect_text(suspect)}"
        console.print(printable(line))
    unchecked = report.unchecked
    if unchecked:
        console.print()
    for comparison in unchecked[:rows]:
        console.print(_unchecked_text(comparison))
    for what, number in (("changes", len(findings)), ("tensors not compared", len(unchecked))):
        if rows is not None and number > rows:
            console.print(f"\n{rows:,} of {number:,} {what}; -n 0 prints all", style=SUBTLE)


def _counts_text(report: WatcherReport) -> Text:
    def parts() -> Iterator[Text]:
        for status, number in sorted(report.counts.items(), key=lambda item: _ORDER[item[0]]):
            yield Text(f"{number:,} {_WORDS.get(status, status)}", _STYLES.get(status, DOUBTFUL))

    return Text(", ").join(parts())


_STYLES = {"same": GOOD, "changed": BAD, "before": SUBTLE, "in_place": SUBTLE, "no_writer": SUBTLE}
_WORDS = {
    "before": "recorded before the watched operator ran",
    "in_place": "written where they are read",
    "no_writer": "without a writer",
    "no_own_file": "without a file of the watched operator",
}
_ORDER = {
    status: i
    for i, status in enumerate(
        (
            *("same", "changed", "truncated", "absent", "size_mismatch", "missing", "no_own_file"),
            *("malformed", "unreadable", "before", "in_place", "no_writer"),
        )
    )
}

_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_name", min_width=16),
    Column("tensor"),
    Column("dtype", drop_order=1),
    Column("shape", min_width=7, drop_order=2),
    Column("seen by", min_width=16),
    Column("as", drop_order=0),
    Column("same until", min_width=10, drop_order=3),
    Column("bytes", right=True),
    Column("where", min_width=16),
)


def _cells(finding: WatcherComparison) -> list[Cell]:
    change = finding.change
    words = where = ""
    if change is not None:
        words = f"{change.n_bytes:,}"
        where = change.words or f"bytes {change.first_byte:,} to {change.last_byte:,}"
    return [
        Cell("" if finding.rank is None else str(finding.rank)),
        Cell("" if finding.step is None else str(finding.step)),
        Cell(printable(finding.op_name or "")),
        Cell(f"output.{finding.output}"),
        Cell(printable(finding.dtype or "")),
        Cell(shape_text(finding.shape), SUBTLE),
        Cell(printable(finding.seen_by), BAD),
        Cell(finding.seen_as),
        Cell(printable(finding.same_until or "")),
        Cell(words, BAD),
        Cell(where),
    ]


def _unchecked_text(comparison: WatcherComparison) -> Text:
    style = BAD if comparison.status in ("malformed", "unreadable") else DOUBTFUL
    note = f": {comparison.note}" if comparison.note else ""
    what = f" {comparison.seen_as}" if comparison.seen_as else ""
    return Text(printable(f"{comparison.seen_path}:{what} {comparison.status}{note}"), style)
