"""What is compared: a dump, of which tensors are opened, or a table of statistics."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fastdump._progress import INTERVAL_S
from fastdump._stats import PathLike, new_scan, no_dump_error, table_of
from fastdump._table import StatsTable
from fastdump._table_files import written_table


@dataclass(frozen=True)
class Side:
    """One of two things that are compared.

    Attributes
    ----------
    name
        What it is called.
    table
        Its tensors; of a dump from headers alone.
    is_dump
        Whether there are tensors to open, or statistics alone.
    is_file
        Whether it is a single file of a dump.
    root
        What paths in `table` are relative to; of a file its own path.
    """

    name: str
    table: StatsTable
    is_dump: bool
    is_file: bool
    root: str


def side_of(what: PathLike | StatsTable, *, threads: int | None, follow_links: bool) -> Side:
    """Return what is at a path, or is a table already.

    Raises
    ------
    NoDumpError
        If there is not a single tensor in it.
    DumpFormatError
        If a written table is damaged.
    OSError
        If it cannot be read.
    """
    if isinstance(what, StatsTable):
        return Side("StatsTable", what, is_dump=False, is_file=False, root="")
    path = Path(os.fsdecode(what))
    table = written_table(path)
    if table is not None:
        return Side(str(path), table, is_dump=False, is_file=False, root="")
    table = _scanned(what, "header", threads=threads, follow_links=follow_links)
    is_file = not path.is_dir()
    # The paths of a directory are relative to it; that of a file would be its name.
    root = os.path.dirname(path) if is_file else str(path)  # noqa: PTH120
    # What the device's software computed in the place of tensors.
    is_dump = bool((table["source"] != "csv").any())
    if not is_dump:
        table = _scanned(what, "basic", threads=threads, follow_links=follow_links)
    return Side(str(path), table, is_dump=is_dump, is_file=is_file, root=root)


def _scanned(what: PathLike, level: str, *, threads: int | None, follow_links: bool) -> StatsTable:
    scan = new_scan([what], level=level, threads=threads, follow_links=follow_links)
    scan.run(None, INTERVAL_S)
    table = table_of(scan, level)
    if len(table) == 0:
        raise no_dump_error([what], table.skipped, selected=False)
    return table


def check_alike(a: Side, b: Side) -> None:
    """Raise ValueError if one is a dump and the other a table."""
    if a.is_dump == b.is_dump:
        return
    dump, table = (a, b) if a.is_dump else (b, a)
    raise ValueError(
        f"{dump.name!r} is a dump and {table.name!r} has statistics only: compute those of the "
        f"dump first (fastdump stats {dump.name} -o stats.parquet) and compare the two tables"
    )
