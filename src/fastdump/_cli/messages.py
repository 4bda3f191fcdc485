"""Messages on standard error, which never end a command."""

from __future__ import annotations

import sys
from contextlib import suppress

from fastdump._words.printable import printable


def say(message: str) -> None:
    """Print a line on standard error, as far as there is one.

    A terminal that has gone away must not keep results from being written.
    """
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(f"fastdump: {printable(message)}", file=sys.stderr)
