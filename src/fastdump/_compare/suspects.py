"""What stands behind an operator whose inputs diverge, although no output before it does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._compare.coded import coded_shapes, coded_text
from fastdump._compare.errors_of_rows import RowsByNumber, lanes
from fastdump._compare.keys import bits_of, key_of
from fastdump._compare.operator_kinds import passes_values_on
from fastdump._compare.where import NULL
from fastdump._table.arrow_column import (
    integer_array,
    is_in,
    is_null,
    real_array,
)
from fastdump._words.quantities import is_integer

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray


class Suspicion(NamedTuple):
    """Why an input diverges.

    Attributes
    ----------
    cause
        "parameter", "unpaired" or "rewired", as `DivergentOperator.cause` has it.
    row
        The row of the input.
    of_a, of_b
        Rows of the outputs, one of `a` and one of `b`, that are suspected; None if there is none.
    """

    cause: str
    row: int
    of_a: int | None = None
    of_b: int | None = None


class Suspects:
    """The rows of a comparison as evidence of what made the inputs of an operator.

    Views of a whole tensor have its extremes and its mean, whatever their shape. So an input is an
    earlier output that has the same; on each side that may be one of another operator.
    """

    def __init__(self, batch: RecordBatch, where: NDArray[np.int64]) -> None:
        self._where = where
        self._lane = lanes(batch)
        self._diverges = is_in(batch.column("verdict"), ("diverges",))
        self._is_input, self._is_output = (
            is_in(batch.column("io"), (io,)) for io in ("input", "output")
        )
        self._is_unpaired = is_null(batch.column("paired_by"))
        self._computes = ~coded_text(batch.column("op_type")).where(passes_values_on)
        is_integer_row = coded_text(batch.column("dtype_a")).where(is_integer)
        self._place = {
            "a": np.arange(batch.num_rows),
            "b": integer_array(batch.column("execution_b"), null=NULL),
        }
        self._shapes = {side: coded_shapes(batch.column(f"shape_{side}")) for side in "ab"}
        self._mean = {side: real_array(batch.column(f"mean_{side}")) for side in "ab"}
        self._ends, self._is_telling = {}, {}
        for side in "ab":
            largest, smallest = (real_array(batch.column(f"{x}_{side}")) for x in ("max", "min"))
            self._ends[side] = key_of(self._lane, bits_of(largest), bits_of(smallest))
            # Constants and flags are alike without being one tensor.
            telling = (
                ~np.isnan(largest) & ~np.isnan(smallest) & (largest != smallest) & ~is_integer_row
            )
            self._is_telling[side] = telling
        self._only_in = {side: is_in(batch.column("status"), (f"only_in_{side}",)) for side in "ab"}
        is_made = self._is_output & ~self._is_unpaired
        self._outputs = {
            side: RowsByNumber(self._ends[side], np.flatnonzero(is_made & self._is_telling[side]))
            for side in "ab"
        }

    def behind(self, rows: NDArray[np.int64]) -> Suspicion | None:
        """Return what stands behind the operator with these rows, None if nothing tells."""
        inputs = rows[self._is_input[rows]].tolist()
        diverging = [row for row in inputs if self._diverges[row]]
        for row in diverging:
            made = {side: self._maker(row, side) for side in "ab"}
            if made["a"] is not None and made["b"] is not None:
                if made["a"] != made["b"]:
                    return Suspicion("rewired", row, made["a"], made["b"])
                continue
            alone = {
                side: self._unpaired_maker(row, side) if made[side] is None else None
                for side in "ab"
            }
            if any(maker is not None for maker in alone.values()):
                return Suspicion("unpaired", row, alone["a"], alone["b"])
            others = [other for other in inputs if other != row]
            is_made_by_none = made["a"] is None and made["b"] is None
            if is_made_by_none and any(self._is_made_alike(other) for other in others):
                return Suspicion("parameter", row)
        return None

    def _maker(self, row: int, side: str) -> int | None:
        """Return the last paired output of one side before an input that has its content."""
        if not self._is_telling[side][row]:
            return None
        place, mean = self._place[side], self._mean[side]
        outputs = self._outputs[side][int(self._ends[side][row])]
        before = outputs[place[outputs] < place[row]]
        # The first of several of the latest execution.
        for output in before[np.argsort(~place[before], kind="stable")].tolist():
            # Another order of the elements rounds their sum otherwise.
            if float(f"{mean[output]:.9g}") == float(f"{mean[row]:.9g}"):
                return int(output)
        return None

    def _is_made_alike(self, row: int) -> bool:
        """Tell whether one operator made an input on both sides."""
        maker = self._maker(row, "a")
        return maker is not None and maker == self._maker(row, "b")

    def _unpaired_maker(self, row: int, side: str) -> int | None:
        """Return the last output before an input that only one side has, of as many elements."""
        n = _n_elements(self._shapes[side][row])
        found = None
        for other in self._alone_before(row, side):
            if self._is_output[other] and _n_elements(self._shapes[side][other]) == n:
                found = other
        return found

    def _alone_before(self, row: int, side: str) -> Iterator[int]:
        """Yield the rows of operators that compute, in the order of one side, up to a row."""
        place, where = self._place[side], self._where
        among = self._only_in[side] & (where == where[row]) & (place < place[row])
        chosen = np.flatnonzero(among)
        for other in chosen[np.argsort(place[chosen], kind="stable")].tolist():
            if self._computes[other]:
                yield other


def _n_elements(shape: tuple[int, ...] | None) -> int | None:
    return None if shape is None else math.prod(shape)
