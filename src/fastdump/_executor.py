"""A scan whose files are read by workers of an executor: other processes, or other machines.

The names are listed here, once, and cut into parts; a worker opens the files of its part and sends
back a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from fastdump import _core
from fastdump._progress import reporting
from fastdump._scan import Finish, Place, TableScan
from fastdump._selection import Selection
from fastdump._table.concat import concat
from fastdump._table.file_states import FileStates
from fastdump._table.stats_table import StatsTable
from fastdump._workers import costs_of_files, cut, files_of_part, results

if TYPE_CHECKING:
    from numpy.typing import NDArray

Positions: TypeAlias = "NDArray[np.uint32]"
_Result: TypeAlias = "tuple[StatsTable, NDArray[np.int64], _core.Progress]"
"""Rows, the state of the file of each, which no pickle of a table has, and how much that was."""


@dataclass(frozen=True, slots=True)
class PartsProgress:
    """How far a scan by workers is; as `Progress`."""

    files_found: int
    files_done: int = 0
    bytes_done: int = 0
    tensors: int = 0
    bad: int = 0
    walking: bool = False

    def after(self, n_files: int, part: _core.Progress) -> PartsProgress:
        """Return how far it is when one more part is done."""
        return replace(
            self,
            files_done=self.files_done + n_files,
            bytes_done=self.bytes_done + part.bytes_done,
            tensors=self.tensors + part.tensors,
            bad=self.bad + part.bad,
        )


class _Part(NamedTuple):
    """What a worker gets."""

    files: Any
    place: Place
    selection: Selection
    options: dict[str, Any]


def scan_parts(
    executor: Executor,
    files: tuple[_core.Index, Positions],
    selection: Selection,
    finish: Finish,
    place: Place,
    *,
    progress: bool | Callable[[Any], object] | None,
    threads: int | None,
    skipped: Mapping[str, int],
    **options: Any,
) -> StatsTable:
    """Scan files of an index by the workers of an executor.

    Parameters
    ----------
    executor
        Who works. It is not shut down.
    files
        An index, and the files of it to read.
    selection, finish, place
        Which tensors to read, and what becomes of their rows: as `TableScan` has it.
    progress
        As in `stats`; it is called when parts are done, too.
    threads
        Of each worker; None is one.
    skipped
        Number of files that the index left out, by reason.
    **options
        Others of `TableScan`.
    """
    index, positions = files
    ranges = cut(costs_of_files(index, positions), executor)
    parts = (
        _Part(
            files_of_part(index, positions[part]),
            place,
            selection,
            options,
        )
        for part in ranges
    )
    reached = PartsProgress(files_found=len(positions))
    tables: dict[int, StatsTable] = {}
    with (
        reporting(progress) as on_progress,
        closing(results(executor, _scan_part, parts, threads=threads)) as done,
    ):
        for finished in done:
            for number, (table, states, part) in finished.items():
                tables[number] = table.with_states(
                    FileStates.known(table.batch.column("path"), states)
                )
                n_files = ranges[number].stop - ranges[number].start
                reached = reached.after(n_files, part)
            if on_progress is not None:
                on_progress(reached)
    table = concat(tables.pop(number) for number in sorted(tables))
    counts = Counter(table.skipped) + Counter(skipped)
    return finish(table.saying(skipped=dict(sorted(counts.items()))))


def _scan_part(part: _Part, threads: int) -> _Result:
    """Scan, in a worker, the files of a part."""
    index = _core.Index.of_part(part.files)
    files = (index, np.arange(len(index), dtype=np.uint32))
    scan = TableScan(
        [], part.selection, files=files, place=part.place, threads=threads, **part.options
    )
    scan.run()
    rows = scan.rows()
    return rows, rows.file_states.of_rows, scan.progress()
