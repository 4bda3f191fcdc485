"""What is compiled just now, on the terminal of pip, which shows nothing of a build but a spinner.

The words stand behind the cursor and leave it where it was, so that they and pip's own words do
not meet. Nothing is written unless pip's own output goes to a terminal, and briefly.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

# A line of ninja, or of make, with the target that is compiled.
STEP = re.compile(r"\[\s*(\d+/\d+|\d+%)\] Building .*?(\w+)\.dir/")
# Save the cursor; no wrapping at the right margin ... clear what follows; the cursor again.
BEGIN, END = "\x1b7\x1b[?7l", "\x1b[K\x1b[?7h\x1b8"


@contextmanager
def shown(words: str) -> Iterator[None]:
    """Show on pip's terminal, if it has one, words and how far the build in this process is."""
    terminal = terminal_of_pip()
    if terminal is None:
        yield
        return
    output = os.dup(1)
    reader, writer = os.pipe()
    os.dup2(writer, 1)
    os.close(writer)
    thread = threading.Thread(target=forward, args=(reader, output, terminal, words))
    thread.start()
    try:
        yield
    finally:
        os.dup2(output, 1)  # closes the last writer of the pipe
        thread.join()
        os.close(output)
        terminal.write(BEGIN + END)
        terminal.close()


def terminal_of_pip() -> TextIO | None:
    """Return the terminal on which the parent process shows a spinner, None if there is none."""
    parent = Path("/proc") / str(os.getppid())
    try:
        arguments = parent.joinpath("cmdline").read_bytes().decode(errors="replace").split("\0")
        is_pip = any(re.search(r"\bpip[\d.]*$", argument) for argument in arguments)
        is_verbose = any(re.match(r"-v|--verbose$", argument) for argument in arguments)
        if not is_pip or is_verbose or os.environ.keys() & {"PIP_VERBOSE", "CI"}:
            return None
        terminal = parent.joinpath("fd", "1").open("w", encoding="utf-8")
    except OSError:
        return None  # no /proc, or not ours
    if terminal.isatty():
        return terminal
    terminal.close()
    return None


def forward(reader: int, output: int, terminal: TextIO, words: str) -> None:
    """Write what comes to the output as it is, and its steps to the terminal."""
    with open(reader, "rb") as lines:
        for line in lines:
            os.write(output, line)
            if step := STEP.match(line.decode(errors="replace")):
                terminal.write(f"{BEGIN}  {step[1]} {step[2]}, {words}{END}")
                terminal.flush()
