"""The file that the table of a run is written to, now and then while it grows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fastdump._atomic import check_replaceable
from fastdump._table.table_files import read_stats

if TYPE_CHECKING:
    from fastdump._follow.clock import Clock
    from fastdump._table.stats_table import StatsTable

SUFFIXES = (".parquet", ".arrow")
"""Files of other formats do not tell what was read."""

_SHARE = 0.05
"""Writing takes at most this share of the time."""


class TableFile:
    """A file that has a table, or is to get one.

    Parameters
    ----------
    path
        The file.
    clock
        The time.

    Raises
    ------
    ValueError
        If a table in such a file could not be gone on from.
    OSError
        If it cannot be written.
    """

    def __init__(self, path: str, clock: Clock) -> None:
        if not path.endswith(SUFFIXES):
            raise ValueError(
                f"{path!r} is not a .parquet or .arrow file: others do not tell what was read, so "
                "that following could not go on from them"
            )
        check_replaceable(Path(path))
        self._path, self._clock = path, clock
        self._written: StatsTable | None = None
        self._not_before_s = float("-inf")

    def earlier(self) -> StatsTable | None:
        """Return the table that the file has; None if there is no file."""
        if not os.path.exists(self._path):  # noqa: PTH110
            return None
        self._written = read_stats(self._path)
        return self._written

    def has(self, table: StatsTable) -> bool:
        """Tell whether the file has this very table."""
        return self._written is table

    def write(self, table: StatsTable, *, is_last: bool = False) -> None:
        """Write a table that it does not have, unless that was done only a moment ago."""
        begin_s = self._clock.steady_s()
        is_nothing = self._written is None and not len(table)
        if is_nothing or self.has(table) or (begin_s < self._not_before_s and not is_last):
            return
        table.write(self._path)
        end_s = self._clock.steady_s()
        self._not_before_s = end_s + (end_s - begin_s) * (1 / _SHARE - 1)
        self._written = table
