"""Comparison of pairs of tensors of two dumps, element by element."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from arro3.core import Table

from fastdump import _core
from fastdump._arguments import INT64_MAX, Parallelism
from fastdump._compare.coded import alike
from fastdump._compare.logical_order import SizesDifferError, check_shapes, in_one_order
from fastdump._compare.mask_constants import may_be_masked_apart
from fastdump._compare.materialised import compare_materialised
from fastdump._compare.metrics import Metrics
from fastdump._compare.progress import CompareProgress
from fastdump._compare.tensors import BITS, Tensors
from fastdump._compare.tolerances import Tolerance, Tolerances
from fastdump._progress import INTERVAL_S
from fastdump._table.arrow_column import (
    as_slice,
    boolean_array,
    integer_array,
    is_null,
    real_array,
    text_objects,
    values,
)
from fastdump.errors import DumpFormatError, LayoutError, UnsupportedDTypeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_MASK_NBYTES = 1 << 30
"""Larger tensors are not loaded to tell their masks apart."""

_PAIRS = 1 << 14
"""So many are given to the core together: what it keeps of each is needed for these only."""

NOT_COMPARED = "interrupted before this pair"

_Layouts: TypeAlias = tuple[_core.HostLayout, _core.HostLayout]


class ElementComparison:
    """Metrics of pairs of tensors of two dumps, which `run` fills as far as it comes.

    Parameters
    ----------
    a, b
        The tensors of the two dumps, those that belong together at the same position.
    """

    def __init__(
        self,
        a: Tensors,
        b: Tensors,
        *,
        tolerances: Tolerances,
        kl: bool,
        logical: bool,
        at_once: Parallelism,
        engine: str,
    ) -> None:
        self._a, self._b = a, b
        self._kl = kl
        self._logical = logical
        self._at_once = at_once
        self._engine = engine
        self.metrics = Metrics(len(a.dtype))
        self.tolerances = tolerances.of_pairs(a.dtype, b.dtype)
        self.done = CompareProgress(len(a.dtype), 0, 0)
        # Layouts of the pairs that are compared in their logical order.
        self._layouts: dict[int, _Layouts] = {}
        self._notes: dict[int, str] = {}

    def run(self, on_progress: Callable[[CompareProgress], object] | None) -> None:
        """Compare; an exception of `on_progress` or Ctrl-C leaves what was done before."""
        metrics = self.metrics
        metrics.set_status(np.arange(len(metrics)), "not_compared", NOT_COMPARED)
        left = self._without_those_that_cannot()
        in_logical_order = left & self._needs_logical_order
        a, b = self._a, self._b
        # These cannot be streamed in their logical order.
        in_memory = in_logical_order & (a.is_fortran | b.is_fortran | a.is_slice | b.is_slice)
        report = on_progress or (lambda progress: None)
        for row in np.flatnonzero(in_logical_order & ~in_memory).tolist():
            left[row] = self._find_layouts(row)
        different, numbers = self.tolerances
        for number, tolerance in enumerate(different):
            rows = np.flatnonzero(left & ~in_memory & (numbers == number))
            for first in range(0, len(rows), _PAIRS):
                self._compare_streamed(rows[first : first + _PAIRS], tolerance, report)
        for row in filter(self._is_taken_apart, self._layouts):
            self._compare_in_memory(row)
            report(self.done)
        for row in np.flatnonzero(in_memory).tolist():
            self._compare_in_memory(row)
            self.done = self._after(1, int(a.nbytes[row]) + int(b.nbytes[row]))
            report(self.done)
        for row in may_be_masked_apart(metrics).tolist():
            if max(a.nbytes[row], b.nbytes[row]) <= _MAX_MASK_NBYTES:
                self._compare_in_memory(row, without_masks=True)
                report(self.done)
        report(self.done)

    def _without_those_that_cannot(self) -> NDArray[np.bool_]:
        """Return which pairs have elements on both sides; the status of the others says why not."""
        left = np.ones(len(self.metrics), np.bool_)
        for side, tensors in (("a", self._a), ("b", self._b)):
            for status in ("absent", "unsupported"):
                rows = np.flatnonzero(tensors.is_status(status) & left)
                notes = [f"{side}: {tensors.note[i] or status}" for i in rows.tolist()]
                self.metrics.set_status(rows, status, notes)
                left[rows] = False
            for without_elements, note in (
                (tensors.dtype.is_null, "bytes without a type"),
                (tensors.is_reported, "there are only statistics, which the device computed"),
            ):
                rows = np.flatnonzero(left & without_elements)
                self.metrics.set_status(rows, "unsupported", f"{side}: {note}")
                left[rows] = False
        self.done = self._after(int((~left).sum()), 0)
        return left

    def _after(self, n_pairs: int, nbytes: int) -> CompareProgress:
        """Return the progress after so many more pairs."""
        done = self.done
        return CompareProgress(done.pairs, done.pairs_done + n_pairs, done.bytes_done + nbytes)

    def _find_layouts(self, row: int) -> bool:
        """Find the layouts of a pair's logical arrays; return whether the pair can be compared."""
        a, b = self._a, self._b
        try:
            stored_a, stored_b = a.stored(row, b), b.stored(row, a)
            if self._lie_alike[row] and not (a.is_private[row] and b.is_private[row]):
                # An array that was converted as it is has the other's layout, but does not say so.
                stored_a = stored_b = stored_a if a.is_private[row] else stored_b
            layouts = in_one_order(stored_a, stored_b)
            note = check_shapes(*layouts)
        except LayoutError as error:
            if self._lie_alike[row]:
                self._notes[row] = f"padding included: {error}"
                return True
            self._set_error(row, error)
        except (DumpFormatError, OSError, SizesDifferError) as error:
            self._set_error(row, error)
        else:
            self._layouts[row] = layouts
            if note is not None:
                self._notes[row] = note
            return True
        self.done = self._after(1, 0)
        return False

    def _set_error(self, row: int, error: Exception) -> None:
        note = str(error)
        if isinstance(error, LayoutError | UnsupportedDTypeError):
            status = "unsupported"
        elif isinstance(error, SizesDifferError):
            status = "size_mismatch"
        elif isinstance(error, OSError):
            status, note = "unreadable", f"{error.filename}: {error.strerror}"
        else:
            status = "truncated"
        self.metrics.status[row], self.metrics.note[row] = status, note

    def _compare_streamed(
        self,
        rows: NDArray[np.int64],
        tolerance: Tolerance,
        report: Callable[[CompareProgress], object],
    ) -> None:
        found = {
            i: layouts
            for i, row in enumerate(rows.tolist() if self._layouts else ())
            if (layouts := self._layouts.get(row))
        }
        comparison = _core.Comparison(
            self._a.places(rows, {i: of_a for i, (of_a, _) in found.items()}),
            self._b.places(rows, {i: of_b for i, (_, of_b) in found.items()}),
            rtol=tolerance.rtol,
            atol=tolerance.atol,
            kl=self._kl,
            engine=self._engine,
            **self._at_once,
        )

        def on_progress(progress: _core.ComparisonProgress) -> None:
            report(self._after(progress.pairs_done, progress.bytes_done))

        try:
            comparison.run(on_progress, INTERVAL_S)
        finally:
            # After Ctrl-C too, finished pairs count.
            progress = comparison.progress()
            self.done = self._after(progress.pairs_done, progress.bytes_done)
            self._store(rows, Table(comparison.table()))

    def _store(self, rows: NDArray[np.int64], table: Table) -> None:
        [batch] = table.combine_chunks().to_batches()
        done = as_slice(np.flatnonzero(~is_null(batch.column("status"))))
        chosen = rows[done]
        into = as_slice(chosen)
        for name in self.metrics.reals:
            if name in batch.column_names:
                self.metrics.reals[name][into] = real_array(batch.column(name))[done]
        for name, (numbers, known) in self.metrics.integers.items():
            column = batch.column(name)
            if name == "ulp_max":
                unsigned = values(column, np.uint64)
                found = np.minimum(unsigned, np.uint64(INT64_MAX)).astype(np.int64)
            elif name == "bit_equal":
                found = boolean_array(column).astype(np.int64)
            else:
                found = integer_array(column)
            numbers[into] = found[done]
            known[into] = ~is_null(column)[done]
        for texts, name in ((self.metrics.status, "status"), (self.metrics.note, "note")):
            texts[into] = text_objects(batch.column(name))[done]
        for row in chosen[self._headers_tell_more(chosen)].tolist():
            self.metrics.status[row], self.metrics.note[row] = self._with_headers(
                row, self.metrics.status[row], self.metrics.note[row]
            )

    def _headers_tell_more(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some pairs may have a note or a status that only headers tell."""
        tells = ~self._shapes_agree[rows]
        for tensors in (self._a, self._b):
            tells |= ~tensors.is_status("ok")[rows]
        return tells | np.isin(rows, np.array([*self._notes], np.int64))

    def _with_headers(self, row: int, status: str, note: str | None) -> tuple[str, str | None]:
        """Return status and note, completed by what only headers tell."""
        if status != "ok":
            return status, note
        notes = []
        for side, tensors in (("a", self._a), ("b", self._b)):
            if tensors.status[row] != "ok":
                status = tensors.status[row] or status
                notes.append(f"{side}: {tensors.note[row]}")
        if row in self._notes:
            notes.append(self._notes[row])
        elif row not in self._layouts and not self._shapes_agree[row]:
            notes.append("shapes differ: compared in the order of storage")
        return status, "; ".join(notes) or note

    def _is_taken_apart(self, row: int) -> bool:
        """Tell whether a layout takes packed elements out of their bytes, instead of streaming."""
        bits = min(BITS.get(dtypes[row] or "", 8) for dtypes in (self._a.dtype, self._b.dtype))
        return bits < 8 and self.metrics.status[row] == "unsupported"

    def _compare_in_memory(self, row: int, *, without_masks: bool = False) -> None:
        different, numbers = self.tolerances
        try:
            metrics, note = compare_materialised(
                self._a.tensor(row),
                self._b.tensor(row),
                tolerance=different[numbers[row]],
                kl=self._kl,
                threads=self._at_once["threads"],
                without_masks=without_masks,
            )
        except (
            LayoutError,
            UnsupportedDTypeError,
            DumpFormatError,
            OSError,
            SizesDifferError,
        ) as error:
            self._set_error(row, error)
            return
        self.metrics.set_row(row, metrics)
        self.metrics.status[row], self.metrics.note[row] = "ok", note

    @cached_property
    def _shapes_agree(self) -> NDArray[np.bool_]:
        shapes = alike(self._a.shape, self._b.shape)
        return np.asarray(shapes.a == shapes.b)

    @cached_property
    def _formats_agree(self) -> NDArray[np.bool_]:
        formats = alike(self._a.format, self._b.format)
        return np.asarray(formats.a == formats.b)

    @property
    def _needs_logical_order(self) -> NDArray[np.bool_]:
        """Pairs that do not lie alike."""
        a, b = self._a, self._b
        has_axes = [side.format.where(lambda name: name != "ND") for side in (a, b)]
        # The first condition that holds decides.
        return np.select(
            [a.is_fortran | b.is_fortran, a.is_slice | b.is_slice, a.is_private | b.is_private],
            [
                np.ones(len(self.metrics), np.bool_),
                ~self._shapes_agree,
                ~self._lie_alike | np.bool_(self._logical),
            ],
            # Orders of axes that have names.
            ~self._formats_agree & has_axes[0] & has_axes[1],
        )

    @cached_property
    def _lie_alike(self) -> NDArray[np.bool_]:
        """Pairs that can be compared as stored though a format is private."""
        a, b = self._a, self._b
        # An array that was converted as it is has the stored shape, but tells no format.
        alike = self._formats_agree | ~(a.is_private & b.is_private)
        return np.asarray((a.is_private | b.is_private) & alike & self._shapes_agree)
