"""Work in parts for the workers of an executor: other processes, or other machines."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fastdump import _core
from fastdump._progress import INTERVAL_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS_PER_WORKER = 8
"""So many that workers which are done early help the others, and few enough to cost nothing."""

_IN_FLIGHT_PER_WORKER = 2
"""Parts that are handed over at once: a worker has its next one, and an end comes soon."""

_UNKNOWN_WORKERS = 8

_MAX_MEASURED_FILES = 20_000
"""Of so many files sizes are asked for. Parts of more files differ less, by and large."""

FILE_NBYTES = 1 << 16
"""What opening a file costs, in bytes that could be read meanwhile."""

_Part = TypeVar("_Part")
_Result = TypeVar("_Result")


def cut(cost: NDArray[np.int64], executor: Executor, *, most: int | None = None) -> list[slice]:
    """Return ranges of items that take about as long as each other, some for each worker.

    There is at least one, which is empty if there is no item.

    Parameters
    ----------
    cost : ndarray of int64, shape (items,)
        What each item takes.
    executor
        Who works.
    most
        The most items of a part.
    """
    n_parts = n_workers(executor) * _PARTS_PER_WORKER
    begins = np.cumsum(cost) - cost
    part_of = (begins * (n_parts / max(int(cost.sum()), 1))).astype(np.int64)
    cuts = [0, *(np.flatnonzero(np.diff(part_of)) + 1).tolist(), len(cost)]
    step = most or max(len(cost), 1)
    return [
        slice(first, min(first + step, end))
        for begin, end in itertools.pairwise(cuts)
        for first in (range(begin, end, step) or (0,))
    ]


def results(
    executor: Executor,
    function: Callable[[_Part, int], _Result],
    parts: Iterable[_Part],
    *,
    threads: int | None,
) -> Generator[dict[int, _Result], None, None]:
    """Yield the results of parts by number as they come, and nothing now and then.

    A part is made when it is handed over. What was not begun is cancelled if this is closed.

    Parameters
    ----------
    executor
        Who works. It is not shut down.
    function
        What a worker does: of a part, with a number of threads. It has to be one of a module.
    parts
        What workers get.
    threads
        Of each worker; None is one.
    """
    n_in_flight = n_workers(executor) * _IN_FLIGHT_PER_WORKER
    waiting = enumerate(parts)
    running: dict[Future[_Result], int] = {}
    try:
        while True:
            while len(running) < n_in_flight and (following := next(waiting, None)) is not None:
                number, part = following
                future = executor.submit(function, part, 1 if threads is None else threads)
                running[future] = number
            if not running:
                return
            done, _ = wait(running, timeout=INTERVAL_S, return_when=FIRST_COMPLETED)
            yield {running.pop(future): future.result() for future in done}
    finally:
        for future in running:
            future.cancel()


def files_of_part(index: _core.Index, positions: NDArray[np.uint32]) -> Any:
    """Return some files of an index for `_core.Index.of_part`, with absolute paths.

    Workers may have other directories.
    """
    directories, *rest = index.part(np.ascontiguousarray(positions).data)
    # Where all are absolute already, the current directory may have been removed.
    is_absolute = all(os.path.isabs(path) for path, *_ in directories)  # noqa: PTH117
    here = b"" if is_absolute else os.getcwdb()  # noqa: PTH109
    return [(os.path.join(here, path), *others) for path, *others in directories], *rest  # noqa: PTH118


def costs_of_files(index: _core.Index, positions: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return what reading each of some files of an index takes."""
    cost = np.full(len(positions), FILE_NBYTES, np.int64)
    if len(positions) <= _MAX_MEASURED_FILES:
        cost += [_nbytes(index.record(position)[0]) for position in positions.tolist()]
    return cost


def _nbytes(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 (pathlib is slow)
    except OSError:
        return 0  # whoever reads it tells what is wrong with it


def n_workers(executor: Executor) -> int:
    """Return how many workers there are, or a guess."""
    # Process and thread pools, loky and MPI tell it; of dask, the cluster does.
    number: Any = getattr(executor, "_max_workers", None)
    cores = getattr(getattr(executor, "_client", None), "ncores", None)
    if number is None and cores is not None:
        number = sum(cores().values())
    return number if isinstance(number, int) and number > 0 else _UNKNOWN_WORKERS
