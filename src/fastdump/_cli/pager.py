"""A pager for what is longer than the screen, as git has one."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

import click
from rich.cells import cell_len

_VARIABLE = "FASTDUMP_PAGER"
# Colours are shown, long lines not folded, and the last page stays on the screen.
_LESS = "-FRSX"


class _Page(io.TextIOWrapper):
    """What is printed for a terminal, before it gets there."""

    def isatty(self) -> bool:
        return True


@contextmanager
def paged() -> Iterator[None]:
    """Show what is printed in a pager if standard output is a terminal and too small for it."""
    command = _pager()
    if command is None:
        yield
        return
    page = _Page(io.BytesIO(), encoding=sys.stdout.encoding, errors="backslashreplace")
    try:
        with redirect_stdout(page):
            yield
    finally:
        page.seek(0)
        _show(page.read(), command)


def _pager() -> str | None:
    """Return the command of the pager, None if there is none or none is wanted."""
    context = click.get_current_context(silent=True)
    is_refused = context is not None and context.find_root().params.get("no_pager", False)
    if is_refused or isinstance(sys.stdout, _Page) or os.environ.get("TERM") == "dumb":
        return None
    # Without keys, there is nothing to turn pages with.
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        return None
    command = os.environ.get(_VARIABLE, os.environ.get("PAGER") or "less")
    try:
        program, *_ = shlex.split(command)
    except ValueError:  # empty, or with an open quotation mark
        return None
    return command if program != "cat" and shutil.which(program) else None


def _show(text: str, command: str) -> None:
    if not _is_longer_than_screen(text):
        sys.stdout.write(text)
        return
    before = dict(os.environ)
    os.environ["PAGER"] = command
    os.environ.setdefault("LESS", _LESS)
    try:
        click.echo_via_pager(text.removesuffix("\n"))
    finally:
        os.environ.clear()
        os.environ.update(before)


def _is_longer_than_screen(text: str) -> bool:
    screen = shutil.get_terminal_size()
    lines = text.splitlines()
    # The prompt of the shell needs a line, too.
    if len(lines) >= screen.lines:
        return True
    widths = (cell_len(click.unstyle(line)) for line in lines)
    return sum(max(-(-width // screen.columns), 1) for width in widths) >= screen.lines
