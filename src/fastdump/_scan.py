"""One pass over dump files, which gives a table of statistics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from arro3.core import RecordBatch

from fastdump import _core
from fastdump._arguments import check_engine, n_threads
from fastdump._progress import INTERVAL_S, reporting
from fastdump._selection import Selection
from fastdump._table.arrow_column import values
from fastdump._table.file_states import FileStates
from fastdump._table.named_tensors import NamedTensors
from fastdump._table.selected import selected_rows
from fastdump._table.stats_table import StatsTable
from fastdump._tensor.shown_path import root_of
from fastdump.errors import TableTooLargeError

if TYPE_CHECKING:
    from numpy.typing import NDArray


_HIDDEN: Final = ("state", "address")
"""Columns of the core that no table shows."""


class Headers(NamedTuple):
    """What headers tell of some files.

    Attributes
    ----------
    table
        One row a tensor, or a file without one.
    state, address
        Of each row the state of its file, and where the tensor lay on the device; undefined where
        there is none.
    """

    table: StatsTable
    state: NDArray[np.int64]
    address: NDArray[np.uint64]


class TableScan:
    """A scan of some paths, or of some files of an index, to be run once.

    Parameters
    ----------
    paths
        Files and directories; for an index, those that it was made from.
    selection
        Which tensors to read.
    files
        An index and positions in it, to read only these files. Default: all files below `paths`.
    also
        Further conditions on the rows, applied in this order.
    level
        A level of statistics; or "header", which describes tensors without reading payloads, and
        leaves rows with ``source`` "csv" no statistics but their count.
    logical, threads, engine, follow_links
        As in `stats`; `follow_links` has no effect on the files of an index.

    Raises
    ------
    ValueError
        If `threads` or `engine` has a value that it cannot have.
    """

    def __init__(
        self,
        paths: list[bytes],
        selection: Selection,
        *,
        files: tuple[_core.Index, NDArray[np.uint32]] | None = None,
        also: Iterable[Selection | NamedTensors] = (),
        level: str,
        logical: bool = False,
        threads: int | None = None,
        engine: str = "auto",
        follow_links: bool = False,
    ) -> None:
        check_engine(engine)
        self._level = level
        self._also = tuple(also)
        self._roots = [os.path.abspath(os.fsdecode(path)) for path in paths]  # noqa: PTH100
        self._root = root_of(paths)
        options: dict[str, Any] = {
            "level": level,
            "threads": n_threads(threads),
            "engine": engine,
            "logical": logical,
            "selection": selection.native(),
        }
        if files is None:
            self._scan = _core.Scan(paths, follow_links=follow_links, **options)
        else:
            index, positions = files
            self._scan = _core.Scan(index, positions.data, **options)

    def run(self, progress: bool | Callable[[_core.Progress], object] | None = None) -> None:
        """Scan; `progress` is as in `stats`. An exception that it raises ends the scan."""
        with reporting(progress) as on_progress:
            try:
                self._scan.run(on_progress, INTERVAL_S)
            except _core.TableTooLargeError as error:
                raise TableTooLargeError(str(error)) from None

    def progress(self) -> _core.Progress:
        """Return how far the scan has come."""
        return self._scan.progress()

    def table(self) -> StatsTable:
        """Return the rows that are finished: all of them unless the scan was interrupted."""
        return self._table(RecordBatch.from_arrow(self._scan.table()))

    def headers(self) -> Headers:
        """Return what `table` does, with what only headers tell; for level "header"."""
        if self._also:
            raise ValueError("rows cannot be left out of headers")
        rows = RecordBatch.from_arrow(self._scan.table())
        columns = (values(rows.column(name), np.int64) for name in ("state", "address"))
        state, address = columns
        return Headers(self._table(rows), state, address.view(np.uint64))

    def _table(self, rows: RecordBatch) -> StatsTable:
        states = FileStates(rows.column("path"), rows.column("state"))
        table = StatsTable.scanned(
            rows.select([name for name in rows.column_names if name not in _HIDDEN]),
            states=states,
            level=self._level,
            skipped=self._scan.skipped(),
            roots=self._roots,
            root=self._root,
        )
        for condition in self._also:
            is_row = (
                condition.rows(table.batch)
                if isinstance(condition, NamedTensors)
                else selected_rows(condition, table.batch)
            )
            table = table[is_row]
        return table
