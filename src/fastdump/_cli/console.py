"""Standard output: styled lines, fitted to a terminal or plain."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

from fastdump._words.printable import printable
from fastdump._words.prose import wrapped
from fastdump._words.quantities import duration_text, size_text
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell, plain


class _StdoutConsole(Console):
    def on_broken_pipe(self) -> None:
        # Rich would exit with 1; `main` returns the right code.
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def stdout_console() -> Console:
    """Return a console for results, in colour on a terminal.

    NO_COLOR and TERM=dumb take colour away, CLICOLOR_FORCE and FORCE_COLOR give it to pipes, too.
    Names come from files, so nothing is interpreted: no markup, no emoji codes, no highlighting.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name may hold characters that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    is_forced = os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0")
    return _StdoutConsole(
        file=sys.stdout,
        force_terminal=True if is_forced else None,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
    )


def stdout_width(console: Console) -> int | None:
    """Return the width of the terminal in cells, None if stdout is not a terminal."""
    # Not console.is_terminal: FORCE_COLOR makes that true for a pipe, which has no width.
    return console.width if sys.stdout.isatty() else None


def ellipsis_of(console: Console) -> str:
    """Return what replaces words of names that are too long, in the console's encoding."""
    return "\u2026" if console.encoding.lower().startswith("utf") else "~"


def print_lines(console: Console, lines: Iterable[list[Cell]]) -> None:
    """Print lines of styled text; on a terminal, one that is too long is wrapped.

    A command stays on one line, however long, so that it can be copied.
    """
    width = stdout_width(console)
    for part in (part for line in lines for part in wrapped(line, _width_of(line, width))):
        if console.color_system is None:
            # For the tens of thousands of rows that a pipe may get, rich would take seconds.
            console.file.write(plain(part) + "\n")
        else:
            console.print(Text.assemble(*part))


def _width_of(line: list[Cell], width: int | None) -> int | None:
    is_command = bool(line) and line[-1].text.lstrip().startswith("fastdump ")
    return None if is_command else width


def print_fitted(
    lines: Callable[..., Iterable[list[Cell]]], *arguments: Any, **options: Any
) -> None:
    """Print what a function yields for the width and the encoding of standard output."""
    console = stdout_console()
    width, ellipsis = stdout_width(console), ellipsis_of(console)
    print_lines(console, lines(*arguments, width=width, ellipsis=ellipsis, **options))


def print_hints(hints: Iterable[str]) -> None:
    """Print hints below an empty line; nothing if there is none."""
    lines = [[Cell(printable(hint), SUBTLE)] for hint in hints]
    print_lines(stdout_console(), [[], *lines] if lines else [])


def speed_text(nbytes: int, seconds: float) -> str:
    """Return ``18.2 MB in 3.1 s (5.9 MB/s)``."""
    speed = size_text(nbytes / max(seconds, 1e-9))
    return f"{size_text(nbytes)} in {duration_text(seconds)} ({speed}/s)"
