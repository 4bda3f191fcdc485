"""A scan whose files are read by workers of an executor: other processes, or other machines.

The names are listed here, once, and cut into parts; a worker opens the files of its part and sends
back a table.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from fastdump import _core
from fastdump._progress import INTERVAL_S, reporting
from fastdump._scan import Finish, Place, TableScan
from fastdump._selection import Selection
from fastdump._table.concat import concat
from fastdump._table.stats_table import StatsTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS_PER_WORKER = 8
"""So many that workers which are done early help the others, and few enough to cost nothing."""

_UNKNOWN_WORKERS = 8

_IN_FLIGHT_PER_WORKER = 2
"""Parts that are handed over at once: a worker has its next one, and an end comes soon."""

_MAX_MEASURED_FILES = 20_000
"""Of so many files sizes are asked for. Parts of more files differ less, by and large."""

_FILE_NBYTES = 1 << 16
"""What opening a file costs, in bytes that could be read meanwhile."""

Positions: TypeAlias = "NDArray[np.uint32]"
_Result: TypeAlias = "tuple[StatsTable, _core.Progress]"


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
    n_files: int
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
    n_workers = _n_workers(executor)
    parts = [
        _Part(_from_anywhere(index.part(part.data)), len(part), place, selection, options)
        for part in _cut(index, positions, n_workers * _PARTS_PER_WORKER)
    ]
    reached = PartsProgress(files_found=len(positions))
    tables: dict[int, StatsTable] = {}
    with (
        reporting(progress) as on_progress,
        closing(_results(executor, parts, threads or 1, n_workers * _IN_FLIGHT_PER_WORKER)) as done,
    ):
        for finished in done:
            for number, (table, part) in finished.items():
                tables[number] = table
                reached = reached.after(parts[number].n_files, part)
            if on_progress is not None:
                on_progress(reached)
    table = concat(tables[number] for number in sorted(tables))
    counts = Counter(table.skipped) + Counter(skipped)
    return finish(StatsTable(table, skipped=dict(sorted(counts.items()))))


def _results(
    executor: Executor, parts: list[_Part], threads: int, n_in_flight: int
) -> Generator[dict[int, _Result], None, None]:
    """Yield the results of parts by number as they come, and nothing now and then."""
    waiting = list(enumerate(parts))[::-1]
    running: dict[Future[_Result], int] = {}
    try:
        while waiting or running:
            while waiting and len(running) < n_in_flight:
                number, part = waiting.pop()
                running[executor.submit(_scan_part, part, threads)] = number
            done, _ = wait(running, timeout=INTERVAL_S, return_when=FIRST_COMPLETED)
            yield {running.pop(future): future.result() for future in done}
    finally:
        for future in running:
            future.cancel()


def _scan_part(part: _Part, threads: int) -> _Result:
    """Scan, in a worker, the files of a part."""
    index = _core.Index.of_part(part.files)
    files = (index, np.arange(len(index), dtype=np.uint32))
    scan = TableScan(
        [], part.selection, files=files, place=part.place, threads=threads, **part.options
    )
    scan.run()
    return scan.rows(), scan.progress()


def _n_workers(executor: Executor) -> int:
    # Process and thread pools and loky tell it; others need not.
    number = getattr(executor, "_max_workers", None)
    return number if isinstance(number, int) and number > 0 else _UNKNOWN_WORKERS


def _from_anywhere(files: Any) -> Any:
    """Return what `Index.part` gave, with absolute paths: workers may have other directories."""
    directories, *rest = files
    here = os.getcwdb()  # noqa: PTH109
    return [(os.path.join(here, path), *others) for path, *others in directories], *rest  # noqa: PTH118


def _cut(index: _core.Index, positions: Positions, n_parts: int) -> list[Positions]:
    """Return files in parts that take about as long as each other, neighbours together."""
    cost = np.full(len(positions), _FILE_NBYTES, np.int64)
    if len(positions) <= _MAX_MEASURED_FILES:
        cost += [_nbytes(index.record(position)[0]) for position in positions.tolist()]
    begins = np.cumsum(cost) - cost
    part_of = begins * n_parts // max(int(cost.sum()), 1)
    cuts = np.flatnonzero(np.diff(part_of)) + 1
    return [np.ascontiguousarray(part) for part in np.split(positions, cuts)]


def _nbytes(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 (pathlib is slow)
    except OSError:
        return 0  # the scan tells what is wrong with it
