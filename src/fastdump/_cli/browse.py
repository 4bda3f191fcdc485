"""``fastdump browse``: a dump on the whole screen of a terminal."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from fastdump import MissingDependencyError
from fastdump._cli import exit_codes
from fastdump._cli.completion import complete_path
from fastdump._cli.options import reading_options, selection_options
from fastdump._cli.usage import refusing
from fastdump._selection import Selection


@click.command("browse")
@click.argument("a", metavar="DUMP|TABLE", shell_complete=complete_path)
@click.argument("b", metavar="[OTHER]", required=False, shell_complete=complete_path)
@selection_options
@reading_options
def command(a: str, b: str | None, conditions: dict[str, Any], **reading: Any) -> int:
    """Look through a DUMP, or a TABLE of 'fastdump stats', on the whole screen of a terminal.

    Ranks, steps, layers and operators are a tree, tensors are a table beside it. Keys sort and
    filter it, open a tensor, and lead from a bad value to its origin; '?' lists them. With OTHER,
    a second dump or table, 'c' compares the two. No mouse is needed.

    textual draws the screen: pip install 'fastdump[browse]'.

    \b
    Examples:
      fastdump browse dump_dir
      fastdump browse stats.parquet
      fastdump browse run1 run2
    """  # noqa: D301 (\b is for click: do not wrap)
    _check_terminal()
    try:
        from fastdump._browse.app import BrowseApp
    except ImportError as error:
        raise MissingDependencyError(
            f"browse needs textual ({error}): pip install 'fastdump[browse]'"
        ) from error
    app = BrowseApp(a, b, selection=Selection.of(conditions), **reading)
    app.run()
    if app.failure is not None:
        with refusing():
            raise app.failure
    if app.unexpected is not None:
        raise app.unexpected
    return exit_codes.INTERNAL_ERROR if app.return_code else exit_codes.SUCCESS


def _check_terminal() -> None:
    """Raise an error unless a whole screen can be drawn, and keys can be read."""
    streams = {"input": sys.stdin, "output": sys.stdout, "error": sys.stderr}
    missing = [name for name, stream in streams.items() if stream is None or not stream.isatty()]
    instead = "'fastdump stats' and 'fastdump triage' print lines instead"
    if missing:
        raise click.ClickException(
            f"browse needs a terminal, and standard {missing[0]} is none: {instead}"
        )
    if os.environ.get("TERM", "") in ("", "dumb", "unknown"):
        term = os.environ.get("TERM", "")
        raise click.ClickException(
            f"browse needs a terminal with a cursor, and TERM is {term!r}: {instead}"
        )
