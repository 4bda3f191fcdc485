"""The file that the table of a run is written to, now and then while it grows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fastdump._atomic import check_replaceable
from fastdump._follow.written_table import WrittenTable
from fastdump._lock import Lock
from fastdump._table.table_files import read_stats

if TYPE_CHECKING:
    from fastdump._follow.clock import Clock
    from fastdump._follow.rows import GrowingRows
    from fastdump._table.stats_table import StatsTable

SUFFIXES = (".parquet", ".arrow")
"""Files of other formats do not tell what was read."""


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
        If a table in such a file could not be gone on from, or another process writes it.
    OSError
        If it cannot be written.
    """

    def __init__(self, path: str, clock: Clock) -> None:
        if not path.endswith(SUFFIXES):
            raise ValueError(
                f"{path!r} is not a .parquet or .arrow file, nor a directory: others do not tell "
                "what was read, so that following could not go on from them"
            )
        check_replaceable(Path(path))
        self._path, self._written = path, WrittenTable(clock)
        directory, name = os.path.split(os.path.realpath(path))
        try:
            # The file itself is replaced each time, and a lock goes with what was opened.
            self._lock = Lock(os.path.join(directory, f".{name}.lock"), is_temporary=True)  # noqa: PTH118
        except BlockingIOError:
            raise ValueError(
                f"another 'follow' is writing {path!r}: wait for its end, or give another file"
            ) from None

    def earlier(self) -> StatsTable | None:
        """Return the table that the file has; None if there is no file."""
        if not os.path.exists(self._path):  # noqa: PTH110
            return None
        table = read_stats(self._path)
        self._written.found(table)
        return table

    def has(self, table: StatsTable) -> bool:
        """Tell whether the file has this very table."""
        return self._written.has(table)

    def write(self, rows: GrowingRows, n_waiting: int, *, is_last: bool = False) -> None:
        """Write a table that it does not have, unless that was done only a moment ago."""
        table = rows.table
        if self._written.is_due(table, is_last=is_last):
            table.write(self._path)
            self._written.end(table)

    def close(self) -> None:
        """Let others write the file."""
        self._lock.close()
