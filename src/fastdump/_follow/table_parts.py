"""A directory that the table of a run is written to in parts: what is new, now and then.

A part takes those before it along that are not much larger, so that there are only a few, and each
row is written a few times only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._follow.rows import some_rows
from fastdump._follow.written_table import WrittenTable
from fastdump._parts.directory import PartsDirectory
from fastdump._table.arrow_column import is_in
from fastdump._table.concat import concat
from fastdump._table.table_files import read_stats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arro3.core import Array

    from fastdump._follow.clock import Clock
    from fastdump._follow.rows import GrowingRows
    from fastdump._table.stats_table import StatsTable

_LARGER = 2
"""A part that has at least so many times as many rows as what is new stays as it is."""


class _Part(NamedTuple):
    name: str
    paths: Array


class TableParts:
    """A directory that has parts of a table, or is to get them.

    Parameters
    ----------
    directory
        The parts.
    clock
        The time.
    """

    def __init__(self, directory: PartsDirectory, clock: Clock) -> None:
        self._directory, self._written = directory, WrittenTable(clock)
        self._parts: list[_Part] = []
        self._said: tuple[object, ...] = ({}, [])
        self._said_by: str | None = None
        self._changed: set[str] = set()

    def earlier(self) -> StatsTable | None:
        """Return the table that the parts have; None if there is none."""
        tables = []
        for name, table in self._directory.load():
            self._parts.append(_Part(name, table.batch.column("path")))
            tables.append(table)
        if not tables:
            return None
        table = concat(tables)
        self._written.found(table)
        return table

    def change(self, paths: set[str]) -> None:
        """Remember that rows of files have come, or are others."""
        self._changed |= paths

    def has(self, table: StatsTable) -> bool:
        """Tell whether the parts have this very table."""
        return self._written.has(table)

    def write(self, rows: GrowingRows, n_waiting: int, *, is_last: bool = False) -> None:
        """Write what the parts do not have, unless that was done only a moment ago."""
        table = rows.table
        if not self._written.is_due(table, is_last=is_last):
            return
        new = [rows.of_files(self._changed), *self._without_changed()]
        while self._parts and len(self._parts[-1].paths) < _LARGER * sum(map(len, new)):
            new.append(self._taken(self._parts.pop()))
        if any(map(len, new)):
            self._add(concat(new))
        self._say_beside_rows(rows)
        self._directory.write_manifest(n_waiting, is_complete=not n_waiting)
        self._changed.clear()
        self._written.end(table)

    def _without_changed(self) -> Iterator[StatsTable]:
        """Take away parts that have rows of changed files; yield their other rows."""
        parts, self._parts = self._parts, []
        for part in parts:
            is_changed = is_in(part.paths, self._changed)
            if not is_changed.any():
                self._parts.append(part)
            elif not is_changed.all():
                yield some_rows(self._taken(part), ~is_changed)
            else:
                self._directory.drop(part.name)

    def _taken(self, part: _Part) -> StatsTable:
        """Return the rows of a part that is no longer to count."""
        table = read_stats(self._directory.path_of(part.name))
        self._directory.drop(part.name)
        return table

    def _add(self, table: StatsTable) -> None:
        name = self._directory.add(table.saying(skipped={}, notes=[]))
        self._parts.append(_Part(name, table.batch.column("path")))

    def _say_beside_rows(self, rows: GrowingRows) -> None:
        """Write a part without rows that says what is beside those of all parts: they add up."""
        said = rows.table.skipped, rows.table.notes
        if said == self._said:
            return
        if self._said_by is not None:
            self._directory.drop(self._said_by)
        nothing = some_rows(rows.table, np.zeros(len(rows.table), np.bool_))
        self._said_by = self._directory.add(nothing)
        self._said = said

    def close(self) -> None:
        """Let others write parts."""
        self._directory.close()
