"""Messages on standard error, which never end a command."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress

from fastdump._words.printable import printable

_WHOLE = (r"(?<=: )(?:fastdump|pip|python) .*", r"'[^']*'", r'"[^"]*"', r"\S+")
"""What stays on one line: commands, at the end or quoted, what else is quoted, and any word."""
_NARROWEST = 20


def say(message: str, *whole: str) -> None:
    """Print a message on standard error, as far as there is one; wrapped if that is a terminal.

    A terminal that has gone away must not keep results from being written. `whole` are parts that
    stay on one line, as paths do that may have blanks.
    """
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            text = f"fastdump: {printable(message)}"
            if sys.stderr.isatty():
                width = os.get_terminal_size(sys.stderr.fileno()).columns
                if width >= _NARROWEST:  # 0 is unknown
                    text = _wrapped(text, width, [*map(printable, whole)])
            print(text, file=sys.stderr)


def _wrapped(text: str, width: int, whole: list[str]) -> str:
    """Return a text in lines of at most `width` cells, but for what stays on one line."""
    from rich.cells import cell_len  # takes a tenth of the time of --help

    line, lines, end = "", [], 0
    for match in re.finditer("|".join([*map(re.escape, whole), *_WHOLE]), text):
        blanks, piece = text[end : match.start()], match[0]
        end = match.end()
        if blanks and cell_len(line + blanks + piece) > width:
            lines.append(line)
            line, blanks = "  ", ""
        line += blanks + piece
    return "\n".join([*lines, line])
