"""``fastdump watcher``: which operator overwrote the memory of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

import fastdump
from fastdump._cli import exit_codes
from fastdump._cli.language import language_option
from fastdump._cli.messages import say
from fastdump._cli.options import (
    follow_links_option,
    is_given,
    json_option,
    paths_argument,
    root_option,
    rows_option,
    selection_options,
    verbose_option,
)
from fastdump._cli.print_report import print_report
from fastdump._cli.scanning import moved_source
from fastdump._cli.unread import is_unread, say_skipped
from fastdump._cli.usage import refusing
from fastdump._progress import working
from fastdump._watcher import Check
from fastdump._watcher.text import DEFAULT_ROWS


@click.command("watcher")
@paths_argument
@root_option
@click.option(
    "--check",
    type=click.Choice(["auto", "watcher", "addresses"]),
    default="auto",
    show_default=True,
    help="watcher: recordings of dump_scene=watcher; addresses: inputs against the outputs that "
    "last lay at their addresses; auto: the first if there are recordings, else the second.",
)
@selection_options
@verbose_option
@rows_option(
    "As -v, with N changes, and N tensors that could not be compared; 0 prints all.", DEFAULT_ROWS
)
@json_option
@follow_links_option
@language_option
def command(
    paths: tuple[str, ...],
    root: Path | None,
    check: str,
    conditions: dict[str, Any],
    verbose: bool,
    rows: int | None,
    as_json: bool,
    follow_links: bool,
) -> int:
    """Find outputs in PATH... that changed after they were written, and after which operator.

    In a dump with dump_scene=watcher the outputs of watched operators are recorded again after
    others, as {executed}_To_{watched}; each is compared with the watched operator's own file. In
    other dumps each input is compared with the output that was last written at exactly its device
    address. Ranks, devices, models, steps and times choose files; all other conditions choose the
    outputs that are reported.

    The answer has at most eight lines; -v goes on with all that there is to say.

    \b
    Examples:
      fastdump watcher dump_dir
      fastdump watcher dump_dir --check addresses --json

    Exit codes: 0 nothing changed; 1 something did; 2 wrong usage, nothing that could be read, or
    nothing to compare; 3 nothing changed, but something could not be read or compared.
    """  # noqa: D301 (\b is for click: do not wrap)
    source = moved_source(paths, root)
    # A table may not tell where its dump is.
    with working(), refusing():
        report = fastdump.watcher(
            source,
            check=cast("Check", check),
            progress=True,
            follow_links=follow_links,
            **conditions,
        )
    is_verbose = verbose or is_given("rows")
    print_report(report, as_json=as_json, verbose=is_verbose, rows=rows)
    say_skipped(report.skipped)
    if report.findings:
        return exit_codes.FINDINGS
    if not report.clean and not report.unchecked:
        # As in `compare`: nothing looked at must not pass for nothing found.
        say("error: nothing was compared")
        return exit_codes.NOTHING_READ
    unread = bool(report.unchecked) or is_unread((), report.skipped)
    return exit_codes.INCOMPLETE if unread else exit_codes.SUCCESS
