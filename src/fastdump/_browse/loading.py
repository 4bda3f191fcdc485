"""Paths become tables: headers first, so that there is something to see, then statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from fastdump._compare import ComparisonTable
from fastdump._compare.progress import CompareProgress
from fastdump._compare.run import Comparing
from fastdump._compare.tolerances import Tolerances
from fastdump._dump.dump import chosen, open
from fastdump._selection import Selection
from fastdump._stats import new_scan, selected_from, source_of
from fastdump._table.stats_table import StatsTable


class Stopped(Exception):
    """The program ends, and so does what it reads."""


class Reached(Protocol):
    """How far a scan has come."""

    @property
    def files_found(self) -> int: ...
    @property
    def files_done(self) -> int: ...
    @property
    def walking(self) -> bool: ...


def tables_of(
    path: str,
    selection: Selection,
    on_progress: Callable[[Reached], object],
    **reading: Any,
) -> Iterator[tuple[StatsTable, bool]]:
    """Yield tables of a dump as more is known of it, and whether each is the last one.

    Parameters
    ----------
    path
        A dump, or a table in a file.
    selection
        Which tensors.
    on_progress
        Called about ten times a second; an exception that it raises ends the scan.
    **reading
        Options of `new_scan`.

    Raises
    ------
    NoDumpError
        If there is not a single row.
    """
    source = source_of(path)
    if isinstance(source, StatsTable):
        yield selected_from(source, selection), True
        return
    for level in ("header", "full"):
        scan = new_scan(source, selection, level=level, **reading)
        scan.run(on_progress)
        table = scan.table()
        if not len(table):
            dump = open(source, follow_links=reading.get("follow_links", False))
            raise chosen(dump).no_tensor_error(selection)
        yield table, level == "full"


def compared(
    a: str,
    b: str,
    selection: Selection,
    on_progress: Callable[[CompareProgress], object],
    **reading: Any,
) -> ComparisonTable:
    """Return the comparison of two dumps or tables, as `fastdump.compare` makes it.

    Arguments and errors are those of `tables_of`, and of `fastdump.compare`.
    """
    comparing = Comparing(
        a,
        b,
        tolerances=Tolerances(None, None, None, None, None),
        kl=False,
        logical=False,
        names=None,
        selection=selection,
        **reading,
    )
    comparing.run(on_progress)
    return comparing.table()
