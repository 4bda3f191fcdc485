"""Scans as the commands run them: with a progress bar, and with what Ctrl-C leaves of them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from fastdump._cli import exit_codes
from fastdump._cli.messages import say
from fastdump._cli.unread import is_unread
from fastdump._cli.usage import refusing
from fastdump._dump.dump import chosen, open
from fastdump._progress import working
from fastdump._selection import Selection
from fastdump._stats import new_scan, placed, selected_from, source_of
from fastdump._table.arrow_column import count_by
from fastdump._table.manifest import NOT_FINISHED
from fastdump._table.stats_table import StatsTable
from fastdump._words.quantities import counted


@dataclass(frozen=True)
class Outcome:
    """The result of a scan.

    Attributes
    ----------
    table
        The rows that were finished.
    nbytes
        Number of bytes of tensors that were read.
    seconds
        How long it took, from names to rows.
    interrupted
        Whether Ctrl-C ended it.
    is_written
        Whether the table was read from a file, so that nothing was scanned.
    """

    table: StatsTable
    nbytes: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    is_written: bool = False

    @property
    def exit_code(self) -> int:
        """The exit code of the command if nothing else goes wrong."""
        if self.interrupted:
            return exit_codes.INTERRUPTED
        statuses = count_by(self.table.batch.column("status"))
        unread = is_unread(statuses, self.table.skipped)
        return exit_codes.INCOMPLETE if unread else exit_codes.SUCCESS


def scan_paths(
    paths: tuple[str, ...],
    conditions: Mapping[str, Any],
    *,
    level: str,
    follow_links: bool,
    **options: Any,
) -> Outcome:
    """Scan and return what was finished, even if that is not all; or select from a table's file.

    Options are those of `new_scan`.

    Raises
    ------
    NoDumpError
        If there is not a single row.
    KeyboardInterrupt
        If it was interrupted before the first row.
    """
    start = time.monotonic()
    selection = Selection.of(conditions)
    with working(), refusing():
        source = source_of(paths)
    if isinstance(source, StatsTable):
        return _written(source, selection, **options)
    interrupted = False
    with working(), refusing():
        scan = new_scan(source, selection, level=level, follow_links=follow_links, **options)
        try:
            scan.run(progress=True)
        except KeyboardInterrupt:
            interrupted = True
    with working("sorting rows"), refusing():  # paths may not lie below the base
        table, reached = scan.table(), scan.progress()
    seconds = time.monotonic() - start
    if not len(table) and options.get("shard") is None:
        if interrupted:
            raise KeyboardInterrupt
        raise chosen(open(source, follow_links=follow_links)).no_tensor_error(selection)
    if interrupted:
        found = counted(reached.files_found, "file") + (" found so far" if reached.walking else "")
        say(f"interrupted after {reached.files_done:,} of {found}")
        if n_left := reached.files_found - reached.files_done:
            # A table that is written must not pass for a whole one.
            table = StatsTable(table, skipped=table.skipped | {NOT_FINISHED: n_left})
    _say_notes(table)
    return Outcome(table, reached.bytes_done, seconds, interrupted)


def moved_source(paths: tuple[str, ...], root: Path | None) -> tuple[str, ...] | StatsTable:
    """Return paths, or the table in them if `root` tells where its dump is now.

    Raises
    ------
    click.UsageError
        If `root` is given for a dump.
    """
    if root is None:
        return paths
    with working(), refusing():
        source = source_of(paths)
    return moved(source if isinstance(source, StatsTable) else None, root)


def moved(table: StatsTable | None, root: Path) -> StatsTable:
    """Return the table of a dump that is at `root` now; `table` is None for a dump itself."""
    if table is None:
        raise click.UsageError("--root is for a table; the files of a dump are where it is")
    return table.moved_to(root)


def scan_for_triage(
    paths: tuple[str, ...], conditions: Mapping[str, Any], root: Path | None, **options: Any
) -> Outcome:
    """Scan as `scan_paths` does, for a triage; `root` is where the dump of a table is now."""
    outcome = scan_paths(paths, conditions, level="full", **options)
    table = outcome.table
    if root is not None:
        table = moved(table if outcome.is_written else None, root)
    if table.level == "header":
        raise click.ClickException("the table has no statistics")
    return replace(outcome, table=table)


def _written(
    table: StatsTable,
    selection: Selection,
    *,
    as_rank: int | str | None = None,
    base: str | None = None,
    shard: tuple[int, int] | None = None,
    since: str | None = None,
    trust_directories: bool = False,
    parts: str | None = None,
    settle: float | None = None,
    **_reading: Any,
) -> Outcome:
    given = {"--shard": shard, "--since": since, "-o DIR/": parts, "--settle": settle}
    given["--trust-directories"] = trust_directories or None
    for name, value in given.items():
        if value is not None:
            raise click.UsageError(f"{name} is for dumps; a table is read already")
    with refusing():
        table = placed(table, as_rank=as_rank, base=base)
    _say_notes(table)
    return Outcome(selected_from(table, selection), is_written=True)


def _say_notes(table: StatsTable) -> None:
    for note in table.notes:
        say(f"note: {note}")
