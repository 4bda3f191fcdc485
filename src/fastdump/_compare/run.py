"""One comparison: two sides are paired, compared and judged, and become a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from arro3.core import Array, Field, RecordBatch, Schema

from fastdump._arguments import check_engine, parallelism
from fastdump._compare.by_workers import ComparisonByWorkers
from fastdump._compare.coded import coded_text
from fastdump._compare.elements import ElementComparison
from fastdump._compare.explained import with_explained
from fastdump._compare.metrics import Metrics, text_column
from fastdump._compare.pairing import HOW, Pairs, pair
from fastdump._compare.progress import CompareProgress
from fastdump._compare.schema import COLUMN, KIND, WHERE
from fastdump._compare.side import Side, check_alike, side_of
from fastdump._compare.statistics import compare_statistics, statistics_of
from fastdump._compare.table import ComparisonTable
from fastdump._compare.tensors import Tensors
from fastdump._compare.tolerances import Tolerances
from fastdump._compare.uninitialised import without_uninitialised
from fastdump._compare.verdict import of_elements, of_statistics
from fastdump._dump.absence import no_dump_error
from fastdump._selection import Selection
from fastdump._stats import What
from fastdump._table.arrow_column import NULL_CODE, coded_column, rows_of, text_list
from fastdump._table.buffers import column_with_nulls
from fastdump._table.column import long_types
from fastdump._table.joined_columns import joined
from fastdump._table.selected import absence_text, selected_rows

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

# Columns of one side and what they are called in its table.
_OF_A = {
    **{name: name for name in (*WHERE, "op_type", "op_name", "layer", "io", "index")},
    **{f"{name}_a": name for name in ("path", "offset", "dtype", "format", "shape")},
}
_OF_B = {
    f"{name}_b": name
    for name in (
        *("path", "offset", "dtype", "format", "shape"),
        *("rank", "step", "op_type", "op_name", "io", "index"),
    )
}
# Columns without a side's name that a tensor which only b has fills too.
_OF_B_ALONE = (*WHERE, "op_type", "io", "index")


class Comparing:
    """A comparison, paired on construction, to be run once.

    Parameters and errors are those of `fastdump.compare`. With `header_progress`, a bar shows how
    far the headers are read.
    """

    def __init__(
        self,
        a: What,
        b: What,
        *,
        tolerances: Tolerances,
        kl: bool,
        logical: bool,
        names: Mapping[str, str] | None,
        threads: int | None,
        io_depth: int | None,
        engine: str,
        follow_links: bool,
        selection: Selection,
        executor: Executor | None = None,
        header_progress: bool = False,
    ) -> None:
        check_engine(engine)
        at_once = parallelism(threads, io_depth)
        reading: dict[str, Any] = {
            "threads": threads,
            "io_depth": io_depth,
            "follow_links": follow_links,
            "executor": executor,
            "progress": header_progress or None,
        }
        self._a = side_of(a, **reading)
        self._b = side_of(b, **reading)
        check_alike(self._a, self._b)
        pairs = pair(self._a, self._b, names)
        self._pairs, self._only_a, self._only_b = _selected(self._a, self._b, pairs, selection)
        self._tolerances = tolerances
        self._elements: ElementComparison | ComparisonByWorkers | None = None
        options: dict[str, Any] = {
            "tolerances": tolerances,
            "kl": kl,
            "logical": logical,
            "engine": engine,
        }
        if self._a.is_dump and executor is not None:
            self._elements = ComparisonByWorkers(
                executor,
                (self._a, self._pairs.a),
                (self._b, self._pairs.b),
                threads=threads,
                io_depth=io_depth,
                **options,
            )
        elif self._a.is_dump:
            self._elements = ElementComparison(
                Tensors(self._a, self._pairs.a),
                Tensors(self._b, self._pairs.b),
                at_once=at_once,
                **options,
            )

    def run(self, on_progress: Callable[[CompareProgress], object] | None) -> None:
        """Compare elements, if there are any; an exception leaves what was done before."""
        if self._elements is not None:
            self._elements.run(on_progress)

    @property
    def done(self) -> CompareProgress:
        """How far the comparison has come; statistics are not counted."""
        return CompareProgress(0, 0, 0) if self._elements is None else self._elements.done

    def table(self) -> ComparisonTable:
        """Return the table, with metrics as far as `run` came."""
        if self._elements is not None:
            metrics = self._elements.metrics
            verdict = of_elements(metrics, *self._elements.tolerances)
            bad_differ = np.zeros(len(metrics), np.bool_)  # told by each element
        else:
            a, b = statistics_of(self._a, self._pairs.a), statistics_of(self._b, self._pairs.b)
            metrics, bad_differ, is_rounded = compare_statistics(a, b)
            dtypes = (coded_text(batch.column("dtype")) for batch in (a, b))
            tolerances = self._tolerances.of_pairs(*dtypes)
            verdict = of_statistics(metrics, bad_differ, is_rounded, *tolerances)
        return ComparisonTable.compared(self._columns(metrics, verdict, bad_differ), self._head())

    def _head(self) -> dict[str, Any]:
        return {
            "a": self._a.name,
            "b": self._b.name,
            "compared": "elements" if self._a.is_dump else "statistics",
            "tolerances": asdict(self._tolerances),
            "notes": self._pairs.notes,
            "skipped_a": self._a.table.skipped,
            "skipped_b": self._b.table.skipped,
            "root_a": self._a.table.root,
            "root_b": self._b.table.root,
        }

    def _columns(
        self, metrics: Metrics, verdict: NDArray[np.object_], bad_differ: NDArray[np.bool_]
    ) -> RecordBatch:
        """Return pairs and lone tensors in the order of `a`, then the tensors that only `b` has."""
        pairs, n_a, n_b = self._pairs, len(self._only_a), len(self._only_b)
        rows_a = np.concatenate((pairs.a, self._only_a, np.full(n_b, -1)))
        rows_b = np.concatenate((pairs.b, np.full(n_a, -1), self._only_b))
        order = np.argsort(np.where(rows_a < 0, np.iinfo(np.int64).max, rows_a), kind="stable")
        rows_a, rows_b = rows_a[order], rows_b[order]
        number = np.where(order < len(pairs.a), order, -1)

        found: dict[str, Array] = {}
        found["execution_b"] = column_with_nulls(
            np.append(pairs.execution_b, -1)[rows_b], rows_b >= 0
        )
        for names, side, rows in ((_OF_A, self._a, rows_a), (_OF_B, self._b, rows_b)):
            if len(rows) == side.batch.num_rows and (rows == np.arange(len(rows))).all():
                found |= {name: side.batch.column(of) for name, of in names.items()}
                continue
            # Null where a side has no tensor.
            taken = column_with_nulls(np.maximum(rows, 0), rows >= 0)
            found |= {name: side.batch.column(of).take(taken) for name, of in names.items()}
            del taken
        del rows_a, rows_b, rows
        if n_b:
            # The last rows are the tensors that only b has.
            only_b, n_of_a = rows_of(self._b.batch, self._only_b), len(order) - n_b
            for name in _OF_B_ALONE:
                of_a, of_b = found[name].slice(0, n_of_a), only_b.column(name)
                found[name] = joined((of_a, of_b))

        found |= metrics.columns(number)
        found["paired_by"] = coded_column(np.append(pairs.how, NULL_CODE)[number], HOW, "text")
        found["verdict"] = text_column(verdict, number)
        found["expected_error"] = coded_column(np.full(len(order), NULL_CODE), (), "real")
        alone = [*_alone(self._a, self._only_a, "a"), *_alone(self._b, self._only_b, "b")]
        statuses, notes = zip(*alone, strict=True) if alone else ((), ())
        found["status"] = text_column(np.append(metrics.status, np.array(statuses, object)), order)
        found["note"] = text_column(np.append(metrics.note, np.array(notes, object)), order)
        arrays = [found[name] for name in COLUMN]
        types = Schema([Field(name, found[name].type) for name in COLUMN])
        batch = RecordBatch.from_arrays(arrays, schema=KIND.schema({}, long_types(types)))
        batch = without_uninitialised(batch)
        if self._tolerances.are_asked:
            return batch
        return with_explained(batch, np.append(bad_differ, False)[number])


def _selected(
    a: Side, b: Side, pairs: Pairs, selection: Selection
) -> tuple[Pairs, NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs whose tensor of `a` is selected, and the selected rows without a partner.

    Raises
    ------
    NoDumpError
        If nothing of either side is selected.
    """
    in_a, in_b = (selected_rows(selection, side.batch) for side in (a, b))
    if not in_a.any() and not in_b.any():
        raise no_dump_error(repr(a.name), {}, absence_text(selection, a.batch))
    chosen = in_a[pairs.a]
    in_a[pairs.a] = False
    in_b[pairs.b] = False
    kept = Pairs(
        pairs.a[chosen], pairs.b[chosen], pairs.how[chosen], pairs.execution_b, pairs.notes
    )
    return kept, np.flatnonzero(in_a), np.flatnonzero(in_b)


def _alone(side: Side, rows: NDArray[np.int64], name: str) -> list[tuple[str, str | None]]:
    """Return status and note of the tensors and files of one side that have no partner."""
    batch, found = side.table[rows].batch, []
    status = f"only_in_{name}"
    columns = (text_list(batch.column(column)) for column in ("status", "note", "io"))
    for scanned, note, io in zip(*columns, strict=True):
        if scanned == "ok":
            found.append((status, note))
        elif io is None:  # a file that gave no tensor
            found.append((scanned or "", f"{name}: {note or scanned}"))
        else:
            found.append((status, f"{scanned}: {note}" if note else scanned))
    return found
