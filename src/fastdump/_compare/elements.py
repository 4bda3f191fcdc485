"""Pairs of tensors of two dumps, compared element by element."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from arro3.core import Table

from fastdump import _core
from fastdump._arrow_column import (
    boolean_array,
    integer_array,
    is_null,
    real_array,
    shape_list,
    text_list,
    values,
)
from fastdump._column import INT64_MAX
from fastdump._compare.host_order import Place, compare_in_host_order
from fastdump._compare.metrics import Metrics
from fastdump._compare.progress import CompareProgress
from fastdump._compare.side import Side, path_of
from fastdump._compare.tolerances import Tolerance, Tolerances
from fastdump._progress import INTERVAL_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FORTRAN = "Fortran order"
_NOT_COMPARED = "interrupted before this pair"


class ElementComparison:
    """Tensors of two dumps in pairs; filled by `run`, as far as that comes.

    Parameters
    ----------
    a, b
        The dumps.
    rows_a, rows_b
        Rows that belong together, shape (pairs,).
    """

    def __init__(
        self,
        a: Side,
        b: Side,
        rows_a: NDArray[np.int64],
        rows_b: NDArray[np.int64],
        *,
        tolerances: Tolerances,
        kl: bool,
        logical: bool,
        threads: int,
        io: str,
    ) -> None:
        self._a = _Tensors(a, rows_a)
        self._b = _Tensors(b, rows_b)
        self._kl = kl
        self._logical = logical
        self._threads = threads
        self._io = io
        self.metrics = Metrics(len(rows_a))
        self.tolerances = tolerances.of_pairs(self._a.dtype, self._b.dtype)
        self._done = CompareProgress(len(rows_a), 0, 0)

    @property
    def nbytes(self) -> int:
        """Bytes that were read, of both sides."""
        return self._done.bytes_done

    def run(self, on_progress: Callable[[CompareProgress], object] | None) -> None:
        """Compare; what was done before an exception of `on_progress` or Ctrl-C stays."""
        metrics = self.metrics
        metrics.set_status(np.arange(len(metrics)), "not_compared", _NOT_COMPARED)
        left = self._without_those_that_cannot()
        in_host_order = left & self._needs_host_order
        report = on_progress or (lambda progress: None)
        different, numbers = self.tolerances
        for number, tolerance in enumerate(different):
            rows = np.flatnonzero(left & ~in_host_order & (numbers == number))
            self._compare_stored(rows, tolerance, report)
        for i in np.flatnonzero(in_host_order).tolist():
            self._compare_in_host_order(i)
            self._advance(1, self._a.nbytes[i] + self._b.nbytes[i])
            report(self._done)
        report(self._done)

    def _without_those_that_cannot(self) -> NDArray[np.bool_]:
        """Return which pairs have elements on both sides; the others learn why not."""
        left = np.ones(len(self.metrics), np.bool_)
        for side, tensors in (("a", self._a), ("b", self._b)):
            for status in ("absent", "unsupported"):
                rows = np.flatnonzero(tensors.is_status(status) & left)
                notes = [f"{side}: {tensors.note[i] or status}" for i in rows.tolist()]
                self.metrics.set_status(rows, status, notes)
                left[rows] = False
            untyped = np.flatnonzero(np.array([d is None for d in tensors.dtype], np.bool_) & left)
            self.metrics.set_status(untyped, "unsupported", f"{side}: bytes without a type")
            left[untyped] = False
            reported = np.flatnonzero(tensors.is_reported & left)
            note = f"{side}: there are only statistics, which the device computed"
            self.metrics.set_status(reported, "unsupported", note)
            left[reported] = False
        self._advance(int((~left).sum()), 0)
        return left

    def _advance(self, n_pairs: int, nbytes: int) -> None:
        done = self._done
        self._done = CompareProgress(
            done.pairs, done.pairs_done + n_pairs, done.bytes_done + nbytes
        )

    def _compare_stored(
        self,
        rows: NDArray[np.int64],
        tolerance: Tolerance,
        report: Callable[[CompareProgress], object],
    ) -> None:
        if not len(rows):
            return
        comparison = _core.Comparison(
            self._a.places(rows),
            self._b.places(rows),
            rtol=tolerance.rtol,
            atol=tolerance.atol,
            kl=self._kl,
            threads=self._threads,
            io=self._io,
        )
        before = self._done

        def on_progress(progress: _core.ComparisonProgress) -> None:
            report(
                CompareProgress(
                    before.pairs,
                    before.pairs_done + progress.pairs_done,
                    before.bytes_done + progress.bytes_done,
                )
            )

        try:
            comparison.run(on_progress, INTERVAL_S)
        finally:
            # After Ctrl-C too: what was finished counts.
            progress = comparison.progress()
            self._advance(progress.pairs_done, progress.bytes_done)
            self._store(rows, Table(comparison.table()))

    def _store(self, rows: NDArray[np.int64], table: Table) -> None:
        [batch] = table.combine_chunks().to_batches()
        done = np.flatnonzero(~is_null(batch.column("status")))
        for name in self.metrics.reals:
            if name in batch.column_names:
                self.metrics.reals[name][rows[done]] = real_array(batch.column(name))[done]
        for name, (numbers, known) in self.metrics.integers.items():
            column = batch.column(name)
            if name == "ulp_max":
                unsigned = values(column, np.uint64)
                found = np.minimum(unsigned, np.uint64(INT64_MAX)).astype(np.int64)
            elif name == "bit_equal":
                found = boolean_array(column).astype(np.int64)
            else:
                found = integer_array(column)
            numbers[rows[done]] = found[done]
            known[rows[done]] = ~is_null(column)[done]
        statuses, notes = text_list(batch.column("status")), text_list(batch.column("note"))
        for i in done.tolist():
            row = int(rows[i])
            self.metrics.status[row], self.metrics.note[row] = self._with_headers(
                row, str(statuses[i]), notes[i]
            )

    def _with_headers(self, row: int, status: str, note: str | None) -> tuple[str, str | None]:
        """Return status and note with what headers alone could tell."""
        if status != "ok":
            return status, note
        notes = []
        for side, tensors in (("a", self._a), ("b", self._b)):
            if tensors.status[row] != "ok":
                status = tensors.status[row] or status
                notes.append(f"{side}: {tensors.note[row]}")
        if self._a.shape[row] != self._b.shape[row]:
            notes.append("shapes differ: compared in the order of storage")
        return status, "; ".join(notes) or note

    def _compare_in_host_order(self, row: int) -> None:
        different, numbers = self.tolerances
        tolerance = different[numbers[row]]
        found = compare_in_host_order(
            self._a.place_of(row),
            self._b.place_of(row),
            rtol=tolerance.rtol,
            atol=tolerance.atol,
            kl=self._kl,
            threads=self._threads,
        )
        self.metrics.set_row(row, found.metrics)
        self.metrics.status[row] = found.status
        self.metrics.note[row] = found.note

    @cached_property
    def _needs_host_order(self) -> NDArray[np.bool_]:
        """Which pairs do not lie alike."""
        needs = np.zeros(len(self.metrics), np.bool_)
        a, b = self._a, self._b
        odd = np.flatnonzero(a.is_odd | b.is_odd | _differ(a.format, b.format))
        for i in odd.tolist():
            needs[i] = self._lie_apart(i)
        return needs

    def _lie_apart(self, i: int) -> bool:
        a, b = self._a, self._b
        if a.is_fortran[i] or b.is_fortran[i]:
            return True
        if a.is_slice[i] or b.is_slice[i]:
            return a.shape[i] != b.shape[i]
        if self._logical and (a.is_private[i] or b.is_private[i]):
            return True
        if a.is_private[i] or b.is_private[i]:
            # An array that was converted as it is has the shape of storage, and says no format.
            alike = a.format[i] == b.format[i] or not (a.is_private[i] and b.is_private[i])
            return not (alike and a.shape[i] == b.shape[i])
        # Orders of axes that have names.
        return "ND" not in (a.format[i], b.format[i]) and a.format[i] != b.format[i]


class _Tensors:
    """What headers say of the tensors of one side, in the order of the pairs."""

    def __init__(self, side: Side, rows: NDArray[np.int64]) -> None:
        self._side = side
        batch = side.table[rows].arrow.to_batches()[0]
        self.dtype = text_list(batch.column("dtype"))
        self.format = text_list(batch.column("format"))
        self.status = text_list(batch.column("status"))
        self.note = text_list(batch.column("note"))
        self.shape = shape_list(batch.column("shape"))
        self.nbytes = integer_array(batch.column("nbytes")).tolist()
        self._path = text_list(batch.column("path"))
        self._offset = integer_array(batch.column("offset")).tolist()
        self._io = text_list(batch.column("io"))
        self._index = integer_array(batch.column("index")).tolist()
        self.is_reported = _where(text_list(batch.column("source")), {"csv"})
        private = {
            name
            for number, name in enumerate(_core.tensor_formats())
            if _core.is_private_format(number)
        }
        numbered = {name for name in self.format if name is not None and name.isdecimal()}
        self.is_private = _where(self.format, private | numbered)
        self.is_slice = ~is_null(batch.column("thread_id"))
        self.is_fortran = np.array([_FORTRAN in (note or "") for note in self.note], np.bool_)

    @property
    def is_odd(self) -> NDArray[np.bool_]:
        """Which may have to be brought into the host's order."""
        return self.is_private | self.is_slice | self.is_fortran

    def is_status(self, status: str) -> NDArray[np.bool_]:
        return _where(self.status, {status})

    @cached_property
    def _opened_by(self) -> dict[str | None, bytes]:
        paths = dict.fromkeys(self._path)
        return {path: os.fsencode(path_of(self._side, path or "")) for path in paths}

    @cached_property
    def _n_elements(self) -> list[int]:
        bits = {name: bits for _, _, name, bits, _ in _core.data_types()}
        return [
            _n_elements(shape, nbytes, bits.get(dtype or "", 8))
            for shape, nbytes, dtype in zip(self.shape, self.nbytes, self.dtype, strict=True)
        ]

    def places(self, rows: NDArray[np.int64]) -> list[tuple[bytes, int, str, int]]:
        opened_by, n_elements = self._opened_by, self._n_elements
        return [
            (opened_by[self._path[i]], self._offset[i], self.dtype[i] or "", n_elements[i])
            for i in rows.tolist()
        ]

    def place_of(self, row: int) -> Place:
        path = path_of(self._side, self._path[row] or "")
        return Place(path, self._io[row] or "", self._index[row], self._offset[row])


def _n_elements(shape: tuple[int, ...] | None, nbytes: int, bits: int) -> int:
    """Return how many elements the header declares: by its shape as far as its size goes."""
    n_fit = nbytes * 8 // bits
    n = 1
    for dim in shape or ():
        if dim < 0:
            return n_fit
        n *= dim
    return min(n, n_fit)


def _where(texts: list[str | None], wanted: set[str]) -> NDArray[np.bool_]:
    return np.array([text in wanted for text in texts], np.bool_)


def _differ(a: list[str | None], b: list[str | None]) -> NDArray[np.bool_]:
    return np.array([x != y for x, y in zip(a, b, strict=True)], np.bool_)
