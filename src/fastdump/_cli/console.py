"""Where results and messages are written."""

from __future__ import annotations

import errno
import io
import os
import sys

from rich.console import Console


class _StdoutConsole(Console):
    def on_broken_pipe(self) -> None:
        # Rich would exit with 1; `main` knows what to do.
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def stdout_console() -> Console:
    """Return a console for results; colour only on a terminal, and not if NO_COLOR is set.

    Nothing is interpreted: no markup, no emoji codes, no highlighting. Names come from files.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name may hold characters that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    return _StdoutConsole(
        file=sys.stdout, markup=False, emoji=False, highlight=False, soft_wrap=True
    )


def stdout_width(console: Console) -> int | None:
    """Return the width of the terminal in cells, None if stdout is not a terminal."""
    # Not console.is_terminal: FORCE_COLOR makes that true for a pipe, which has no width.
    return console.width if sys.stdout.isatty() else None
