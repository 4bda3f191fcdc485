"""A comparison from two sides to a table: paired, compared, judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from arro3.core import Array, DataType, RecordBatch, Table

from fastdump._arrow_column import column_of, text_list
from fastdump._compare.elements import ElementComparison
from fastdump._compare.metrics import Metrics
from fastdump._compare.pairing import HOW, pair
from fastdump._compare.progress import CompareProgress
from fastdump._compare.schema import COLUMNS, WHERE, schema_of
from fastdump._compare.side import check_alike, side_of
from fastdump._compare.statistics import compare_statistics
from fastdump._compare.table import ComparisonTable
from fastdump._compare.tolerances import Tolerances
from fastdump._compare.verdict import of_elements, of_statistics
from fastdump._stats import PathLike, integers_of, io_of, n_threads, texts_of
from fastdump._table import StatsTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ENGINES = ("auto", "mmap", "read")
# Columns of one side and what they are called in the other's table.
_OF_A = {
    **{name: name for name in WHERE},
    "op_type": "op_type",
    "op_name": "op_name",
    "io": "io",
    "index": "index",
    "path_a": "path",
    "dtype_a": "dtype",
    "format_a": "format",
    "shape_a": "shape",
}
_OF_B = {
    "path_b": "path",
    "dtype_b": "dtype",
    "format_b": "format",
    "shape_b": "shape",
    "rank_b": "rank",
    "step_b": "step",
    "op_type_b": "op_type",
    "op_name_b": "op_name",
}
# Of a tensor that only b has, where no column says which side is meant.
_OF_B_ALONE = {name: name for name in (*WHERE, "op_type", "io", "index")}


class Comparing:
    """A comparison that is paired when it is made, and run once.

    Parameters and errors are those of `fastdump.compare`.
    """

    def __init__(
        self,
        a: PathLike | StatsTable,
        b: PathLike | StatsTable,
        *,
        tolerances: Tolerances,
        kl: bool,
        logical: bool,
        names: Mapping[str, str] | None,
        threads: int | None,
        io: str,
        follow_links: bool,
        conditions: Mapping[str, Any],
    ) -> None:
        if io not in _ENGINES:
            raise ValueError(f"io is {io!r}, expected one of {', '.join(_ENGINES)}")
        _check(conditions)
        self._a = side_of(a, threads=threads, follow_links=follow_links)
        self._b = side_of(b, threads=threads, follow_links=follow_links)
        check_alike(self._a, self._b)
        pairs = pair(self._a, self._b, names)
        in_a, in_b = (side.table.matches(**conditions) for side in (self._a, self._b))
        chosen = in_a[pairs.a]
        self._rows_a, self._rows_b = pairs.a[chosen], pairs.b[chosen]
        self._how = pairs.how[chosen]
        in_a[pairs.a] = False
        in_b[pairs.b] = False
        self._only_a, self._only_b = np.flatnonzero(in_a), np.flatnonzero(in_b)
        self._tolerances = tolerances
        self._head = {
            "a": self._a.name,
            "b": self._b.name,
            "compared": "elements" if self._a.is_dump else "statistics",
            "tolerances": asdict(tolerances),
            "notes": pairs.notes,
            "skipped_a": self._a.table.skipped,
            "skipped_b": self._b.table.skipped,
        }
        self._elements: ElementComparison | None = None
        if self._a.is_dump:
            self._elements = ElementComparison(
                self._a,
                self._b,
                self._rows_a,
                self._rows_b,
                tolerances=tolerances,
                kl=kl,
                logical=logical,
                threads=n_threads(threads),
                io=io,
            )

    def run(self, on_progress: Callable[[CompareProgress], object] | None) -> None:
        """Compare what has to be read; what was done before an exception stays."""
        if self._elements is not None:
            self._elements.run(on_progress)

    @property
    def nbytes(self) -> int:
        """Bytes that were read, of both sides."""
        return 0 if self._elements is None else self._elements.nbytes

    def table(self) -> ComparisonTable:
        """Return all rows, as far as `run` came."""
        if self._elements is not None:
            metrics = self._elements.metrics
            verdict = of_elements(metrics, *self._elements.tolerances)
        else:
            metrics, bad_differ, is_rounded = compare_statistics(
                self._a, self._b, self._rows_a, self._rows_b
            )
            dtypes = (
                text_list(side.table[rows].arrow.to_batches()[0].column("dtype"))
                for side, rows in ((self._a, self._rows_a), (self._b, self._rows_b))
            )
            tolerances = self._tolerances.of_pairs(*dtypes)
            verdict = of_statistics(metrics, bad_differ, is_rounded, *tolerances)
        return ComparisonTable(self._assembled(metrics, verdict))

    def _assembled(self, metrics: Metrics, verdict: Sequence[str | None]) -> Table:
        """Return the columns of pairs and tensors without a partner, in the order of `a`."""
        n_pairs, n_a, n_b = len(self._rows_a), len(self._only_a), len(self._only_b)
        rows_a = np.concatenate((self._rows_a, self._only_a, np.full(n_b, -1)))
        rows_b = np.concatenate((self._rows_b, np.full(n_a, -1), self._only_b))
        order = np.argsort(np.where(rows_a < 0, np.iinfo(np.int64).max, rows_a), kind="stable")
        is_alone = (rows_a < 0)[order]
        batch_a, batch_b = (s.table.arrow.to_batches()[0] for s in (self._a, self._b))
        take_a, take_b = _indices(rows_a[order]), _indices(rows_b[order])
        found: dict[str, Array] = {}
        for names, batch, take in ((_OF_A, batch_a, take_a), (_OF_B, batch_b, take_b)):
            found |= {name: batch.column(source).take(take) for name, source in names.items()}
        if n_b:
            # First those of a, then those of b alone: is_alone is False, then True.
            n_of_a = int((~is_alone).sum())
            only_b = _indices(rows_b[order][n_of_a:])
            for name, source in _OF_B_ALONE.items():
                of_a = found[name].slice(0, n_of_a).to_pylist()
                of_b = batch_b.column(source).take(only_b).to_pylist()
                kind = ComparisonTable.kind.columns[name].kind
                found[name] = column_of([*of_a, *of_b], kind)
        n_alone = n_a + n_b
        lists = metrics.columns()
        lists |= {
            "paired_by": [HOW[how] for how in self._how.tolist()],
            "verdict": list(verdict),
        }
        statuses, notes = zip(*self._alone(), strict=True) if n_alone else ((), ())
        lists = {name: [*values, *[None] * n_alone] for name, values in lists.items()}
        lists["status"][n_pairs:] = statuses
        lists["note"][n_pairs:] = notes
        positions = order.tolist()
        for name, values in lists.items():
            kind = ComparisonTable.kind.columns[name].kind
            found[name] = column_of([values[i] for i in positions], kind)
        schema = schema_of(self._head)
        arrays = [found[column.name] for column in COLUMNS]
        return Table.from_batches([RecordBatch.from_arrays(arrays, schema=schema)], schema=schema)

    def _alone(self) -> list[tuple[str, str | None]]:
        """Return status and note of the tensors, and files, without a partner."""
        found = []
        for side, rows, status in (
            (self._a, self._only_a, "only_in_a"),
            (self._b, self._only_b, "only_in_b"),
        ):
            batch = side.table[rows].arrow.to_batches()[0]
            columns = (text_list(batch.column(name)) for name in ("status", "note", "io"))
            for scanned, note, io in zip(*columns, strict=True):
                if scanned == "ok":
                    found.append((status, note))
                elif io is None:  # a file that gave no tensor
                    found.append((scanned or "", f"{status[-1]}: {note or scanned}"))
                else:
                    found.append((status, f"{scanned}: {note}" if note else scanned))
        return found


def _indices(rows: NDArray[np.int64]) -> Array:
    """Return `rows` to take, null where negative."""
    return Array([row if row >= 0 else None for row in rows.tolist()], DataType.int64())


def _check(conditions: Mapping[str, Any]) -> None:
    for name, value in conditions.items():
        if name in ("step", "rank"):
            integers_of(name, value)
        elif name == "tensor":
            io_of(name, value)
        else:
            texts_of(name, value)
