"""Comparison of pairs of tensors by the workers of an executor, a range of pairs at a time.

The pairs are known before any tensor is opened. A worker gets the rows of its pairs with the states
of their files, and sends back metrics.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastdump._arguments import parallelism
from fastdump._compare.coded import coded_text
from fastdump._compare.elements import NOT_COMPARED, ElementComparison
from fastdump._compare.metrics import Metrics
from fastdump._compare.progress import CompareProgress
from fastdump._compare.side import Side
from fastdump._compare.tensors import Tensors
from fastdump._compare.tolerances import Tolerances
from fastdump._table.arrow_column import integer_array
from fastdump._table.file_states import FileStates
from fastdump._table.stats_table import StatsTable
from fastdump._workers import FILE_NBYTES, cut, results

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_PAIRS = 1 << 13
"""Of a part: some MiB of rows, which executors take without a warning."""


class _Rows(NamedTuple):
    """Rows of one side, with what no pickle of a table has."""

    table: StatsTable
    states: NDArray[np.int64]


class _Part(NamedTuple):
    """What a worker gets."""

    a: _Rows
    b: _Rows
    io_depth: int | None
    options: dict[str, Any]


class ComparisonByWorkers:
    """Metrics of pairs of tensors of two dumps, as `ElementComparison` has them.

    Parameters
    ----------
    executor
        Who works. It is not shut down.
    a, b
        The two dumps, and their rows, those that belong together at the same position.
    tolerances, kl, logical, engine
        As of `ElementComparison`.
    threads, io_depth
        Of each worker; `threads` None is one.
    """

    def __init__(
        self,
        executor: Executor,
        a: tuple[Side, NDArray[np.int64]],
        b: tuple[Side, NDArray[np.int64]],
        *,
        tolerances: Tolerances,
        threads: int | None,
        io_depth: int | None,
        **options: Any,
    ) -> None:
        self._executor = executor
        self._a, self._b = _rows_of(*a), _rows_of(*b)
        self._threads = threads
        self._io_depth = io_depth
        self._options = {"tolerances": tolerances, **options}
        self.metrics = Metrics(len(self._a.table))
        tables = (self._a.table, self._b.table)
        self.tolerances = tolerances.of_pairs(
            *(coded_text(t.batch.column("dtype")) for t in tables)
        )
        self.done = CompareProgress(len(self.metrics), 0, 0)

    def run(self, on_progress: Callable[[CompareProgress], object] | None) -> None:
        """Compare; an exception of `on_progress` or Ctrl-C leaves what was done before."""
        self.metrics.set_status(np.arange(len(self.metrics)), "not_compared", NOT_COMPARED)
        ranges = cut(self._costs(), self._executor, most=_MAX_PAIRS)
        parts = (
            _Part(_part(self._a, pairs), _part(self._b, pairs), self._io_depth, self._options)
            for pairs in ranges
        )
        with closing(
            results(self._executor, _compare_part, parts, threads=self._threads)
        ) as finished:
            for some in finished:
                for number, (metrics, part) in some.items():
                    self.metrics.set_part(ranges[number], metrics)
                    self.done = CompareProgress(
                        self.done.pairs,
                        self.done.pairs_done + part.pairs_done,
                        self.done.bytes_done + part.bytes_done,
                    )
                if on_progress is not None:
                    on_progress(self.done)

    def _costs(self) -> NDArray[np.int64]:
        """Return what reading each pair takes."""
        sizes = (integer_array(side.table.batch.column("nbytes")) for side in (self._a, self._b))
        # What a header says may be beyond any file.
        of_a, of_b = (np.clip(nbytes, 0, 1 << 40) for nbytes in sizes)
        return of_a + of_b + 2 * FILE_NBYTES


def _rows_of(side: Side, rows: NDArray[np.int64]) -> _Rows:
    table = side.table[rows]
    return _Rows(table, side.table.file_states.of_all(table.batch.column("path")))


def _part(rows: _Rows, pairs: slice) -> _Rows:
    return _Rows(rows.table[pairs], rows.states[pairs])


def _compare_part(part: _Part, threads: int) -> tuple[Metrics, CompareProgress]:
    """Compare, in a worker, the pairs of a part."""
    tensors = (_tensors(rows) for rows in (part.a, part.b))
    at_once = parallelism(threads, part.io_depth)
    comparison = ElementComparison(*tensors, at_once=at_once, **part.options)
    comparison.run(None)
    return comparison.metrics, comparison.done


def _tensors(rows: _Rows) -> Tensors:
    table = rows.table
    states = FileStates.known(table.batch.column("path"), rows.states)
    side = Side("", table.with_states(states), is_dump=True)
    return Tensors(side, np.arange(len(rows.table)))
