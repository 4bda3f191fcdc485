"""One side of a comparison: a dump, whose tensors are opened, or a table of statistics."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastdump._arguments import PathLike, is_regular_file, paths_text
from fastdump._dump.dump import Dump
from fastdump._stats import What, headers_of, source_of
from fastdump._table.stats_table import StatsTable

if TYPE_CHECKING:
    from arro3.core import RecordBatch


@dataclass(frozen=True)
class Side:
    """One of the two things that are compared.

    Attributes
    ----------
    name
        Its name in messages.
    table
        Its tensors; for a dump, from headers alone.
    is_dump
        Whether there are tensors to open, and not only statistics.
    is_file
        Whether it is a single file of a dump.
    """

    name: str
    table: StatsTable
    is_dump: bool
    is_file: bool = False

    @property
    def batch(self) -> RecordBatch:
        """The rows of `table`."""
        return self.table.batch


def side_of(what: What, **reading: Any) -> Side:
    """Return what the caller gave as a side of a comparison; `reading` as of `headers_of`.

    The workers of an executor, if there is one, read the headers of paths.

    Raises
    ------
    NoDumpError
        If there is not a single tensor in it.
    DumpFormatError
        If a written table is damaged.
    OSError
        If it cannot be read.
    """
    found = source_of(what)
    if isinstance(found, StatsTable):
        is_object = isinstance(what, StatsTable)
        return Side("StatsTable" if is_object else str(what), found, is_dump=False)
    table = headers_of(found, **reading)
    # Where the device's software wrote statistics in place of tensors, these are compared.
    is_dump = bool((table["source"] != "csv").any())
    if not is_dump:
        del table  # it may be large, and is of no more use
        table = headers_of(found, level="basic", **reading)
    is_file = len(table.roots) == 1 and is_regular_file(table.roots[0])
    return Side(_name(found), table, is_dump, is_file)


def _name(found: Dump | Iterable[PathLike]) -> str:
    if isinstance(found, Dump):
        return ", ".join(found.roots)
    paths = list(found)
    return os.fsdecode(paths[0]) if len(paths) == 1 else paths_text(paths)


def check_alike(a: Side, b: Side) -> None:
    """Raise ValueError if one is a dump and the other a table."""
    if a.is_dump == b.is_dump:
        return
    dump, table = (a, b) if a.is_dump else (b, a)
    raise ValueError(
        f"{dump.name!r} is a dump and {table.name!r} has statistics only: compute those of the "
        f"dump first (fastdump stats {dump.name} -o stats.parquet) and compare the two tables"
    )
