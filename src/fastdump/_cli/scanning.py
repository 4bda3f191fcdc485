"""One scan as the commands run it: with a progress bar, and with what is left of it by Ctrl-C."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import click

from fastdump import StatsTable
from fastdump._cli import exit_codes
from fastdump._progress import INTERVAL_S, ProgressBar
from fastdump._quantities import counted
from fastdump._stats import new_scan, no_dump_error, table_of

_NOT_FINISHED = "not finished when interrupted"


@dataclass(frozen=True)
class Outcome:
    """What a scan gave.

    Attributes
    ----------
    table
        The rows that were finished.
    nbytes
        Bytes of tensors that were read.
    seconds
        How long that took.
    interrupted
        Whether it was ended by Ctrl-C.
    """

    table: StatsTable
    nbytes: int
    seconds: float
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """What the command ends with if nothing else goes wrong."""
        if self.interrupted:
            return exit_codes.INTERRUPTED
        unread = {"malformed", "unreadable"} & self.table.summary()["status"].keys()
        return exit_codes.INCOMPLETE if unread else exit_codes.SUCCESS


def scan_paths(
    paths: tuple[str, ...],
    *,
    level: str,
    threads: int | None,
    io: str,
    follow_links: bool,
    logical: bool = False,
    op_type: tuple[str, ...] = (),
    op_name: tuple[str, ...] = (),
    step: tuple[int, ...] = (),
    rank: tuple[int, ...] = (),
    tensor: tuple[str, ...] = (),
) -> Outcome:
    """Scan and return what was finished, even if that is not all; empty filters select all.

    Raises
    ------
    NoDumpError
        There is not a single row.
    KeyboardInterrupt
        The same, because it was interrupted before the first row.
    """
    interrupted = False
    start = time.monotonic()
    try:
        scan = new_scan(
            paths,
            level=level,
            logical=logical,
            threads=threads,
            io=io,
            follow_links=follow_links,
            op_type=op_type or None,
            op_name=op_name or None,
            step=step or None,
            rank=rank or None,
            tensor=tensor or None,
        )
        try:
            with ProgressBar() as bar:
                scan.run(bar, INTERVAL_S)
        except KeyboardInterrupt:
            interrupted = True
    except ValueError as error:
        # FASTDUMP_THREADS or FASTDUMP_SIMD: options were checked by click.
        raise click.ClickException(str(error)) from error
    seconds = time.monotonic() - start
    table = table_of(scan, level)
    reached = scan.progress()
    if interrupted and len(table):
        n_left = reached.files_found - reached.files_done
        found = (
            f"{counted(reached.files_found, 'file')}{' found so far' if reached.walking else ''}"
        )
        print(f"fastdump: interrupted after {reached.files_done:,} of {found}", file=sys.stderr)
        if n_left:
            # A table that is written must not pass for a whole one.
            table = StatsTable(table, skipped=table.skipped | {_NOT_FINISHED: n_left})
    elif interrupted:
        raise KeyboardInterrupt
    elif not len(table):
        selected = bool(op_type or op_name or step or rank or tensor)
        raise no_dump_error(paths, table.skipped, selected=selected)
    return Outcome(table, reached.bytes_done, seconds, interrupted)
