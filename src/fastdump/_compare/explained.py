"""Which divergence is explained by the precision of the element types that took part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.coded import coded_rows, coded_text, replaced
from fastdump._compare.error_growth import Operand, largest_error, rounding_error
from fastdump._compare.errors_of_rows import (
    RowsByNumber,
    executions,
    lanes,
    places,
    row_errors,
)
from fastdump._compare.keys import bits_of, key_of
from fastdump._compare.operator_kinds import adds_up
from fastdump._table.arrow_column import integer_array, is_in, is_null, real_array
from fastdump._table.buffers import column_with_nulls
from fastdump._words.quantities import is_integer

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray


def with_explained(batch: RecordBatch, never: NDArray[np.bool_]) -> RecordBatch:
    """Return the rows with the verdict "explained", and the expected error, where it applies.

    Parameters
    ----------
    batch
        The rows of a comparison.
    never : ndarray of bool, shape (rows,)
        Rows that differ in more than their error.
    """
    found = ExplainedErrors(batch, never)
    if np.isnan(found.expected).all() and not found.explained.any():
        return batch
    rows = np.flatnonzero(found.explained)
    columns = {
        "verdict": replaced(batch.column("verdict"), rows, lambda verdict: "explained"),
        "expected_error": column_with_nulls(found.expected, ~np.isnan(found.expected)),
    }
    for name, column in columns.items():
        number = batch.column_names.index(name)
        batch = batch.set_column(number, batch.schema.field(name), column)
    return batch


_OF_A_VIEW = 4.0
"""A part of a tensor may have so many times its relative error."""


class ExplainedErrors:
    """The pairs of a comparison, and which of those that diverge rounding explains.

    An input is explained if an earlier operator made it and its error is, if it is a parameter that
    one side has rounded to its type, or if it may be a part of an earlier output. An output is
    explained if its inputs are, and if its error is at most what the operator makes of theirs, by
    `largest_error`.

    Attributes
    ----------
    expected : ndarray of float64, shape (rows,)
        The largest error that is explained; NaN where that was not asked, because the pair agrees
        within its tolerance.
    explained : ndarray of bool, shape (rows,)
        Which rows diverge, and no more than is explained.
    """

    def __init__(self, batch: RecordBatch, never: NDArray[np.bool_]) -> None:
        n = batch.num_rows
        self.expected = np.full(n, np.nan)
        self.explained = np.zeros(n, np.bool_)
        self._diverges = is_in(batch.column("verdict"), ("diverges",))
        if not self._diverges.any():
            return
        self._error = np.where(never, np.inf, row_errors(batch))
        self._compared = ~is_null(batch.column("verdict"))
        self._is_input, self._is_output = (
            is_in(batch.column("io"), (io,)) for io in ("input", "output")
        )
        # Memory that was not written yet has no verdict, though it was compared.
        self._is_unwritten = ~self._compared & is_in(batch.column("status"), ("ok",))
        self._lane = lanes(batch)
        self._fill_operands(batch)
        self._op_type = coded_text(batch.column("op_type"))
        self._is_of_statistics = ~is_null(batch.column("statistics_difference"))
        self._where = places(batch)
        # Largest error so far that is explained or within tolerance, by rank and step.
        agrees = self._is_output & self._compared & ~self._diverges & np.isfinite(self._error)
        self._largest_so_far = _running_largest(self._error, agrees, self._where)
        self._largest_explained: dict[int, float] = {}
        # Ranks and steps in which an index or a flag differs, as rounding explains.
        self._has_chosen: set[int] = set()
        self._is_other_size = is_in(batch.column("status"), ("size_mismatch",))
        self._outputs = self._outputs_by_content()
        operator = executions(batch)
        rows_of = RowsByNumber(operator)
        _, first = np.unique(operator, return_index=True)
        diverging = np.unique(operator[self._diverges])
        gone_wrong: set[int] = set()
        for number in diverging[np.argsort(first[diverging], kind="stable")].tolist():
            rows = rows_of[number]
            where = int(self._where[rows[0]])
            # Later errors of that rank and step may stem from what is not explained.
            if where not in gone_wrong:
                self._judge(rows)
                if (self._diverges[rows] & ~self.explained[rows]).any():
                    gone_wrong.add(where)

    def _fill_operands(self, batch: RecordBatch) -> None:
        self._count = np.maximum(integer_array(batch.column("count")), 0)
        reals = {
            name: real_array(batch.column(name))
            for name in ("mean_b", "standard_deviation_b", "l2norm_b", "max_b", "min_b")
        }
        mean, deviation, largest, smallest = (
            reals[name] for name in ("mean_b", "standard_deviation_b", "max_b", "min_b")
        )
        with np.errstate(all="ignore"):
            norm = np.sqrt(self._count * (mean**2 + deviation**2))
            norm = np.where(np.isnan(norm), reals["l2norm_b"], norm)
            variance = norm**2 / np.maximum(self._count, 1) - mean**2
            deviation = np.where(np.isnan(deviation), np.sqrt(np.maximum(variance, 0)), deviation)
        self._norm, self._deviation = norm, np.nan_to_num(deviation)
        self._largest = np.nan_to_num(np.fmax(np.abs(largest), np.abs(smallest)))
        self._dtypes = coded_rows(*(coded_text(batch.column(f"dtype_{side}")) for side in "ab"))
        names = ("max_a", "min_a", "max_b", "min_b", "max_abs_error")
        # What a tensor has in common with views of it. Gradients that add up, and weights, are
        # outputs of earlier steps.
        contents = (bits_of(real_array(batch.column(name))) for name in names)
        self._content = key_of(self._lane, *contents)

    def _outputs_by_content(self) -> RowsByNumber:
        outputs = np.flatnonzero(self._is_output & self._compared)
        return RowsByNumber(self._content, outputs)

    def _judge(self, rows: NDArray[np.int64]) -> None:
        """Tell which of the rows of one operator are explained."""
        inputs = rows[self._is_input[rows] & ~self._is_unwritten[rows]]
        outputs = rows[self._is_output[rows]]
        agrees = self._compared[outputs] & ~self._diverges[outputs]
        # The same sum, added up in another order, has other summands, and all of them are others.
        is_reordered = (
            adds_up(self._op_type[rows[0]])
            and len(outputs) > 0
            and bool(agrees.all())
            and bool((self._diverges[inputs] & np.isfinite(self._error[inputs])).all())
        )
        for row in inputs[self._diverges[inputs]].tolist():
            self._judge_input(row)
            if is_reordered and not self._made_by(row):
                self.explained[row] = True
        if (self._diverges[inputs] & ~self.explained[inputs]).any():
            return
        where = int(self._where[rows[0]])
        compared = self._compared[inputs]
        if not compared.all():
            # Other choices of elements, by indices or masks, have other sizes.
            if where in self._has_chosen and self._is_other_size[inputs[~compared]].all():
                self.explained[outputs] |= self._diverges[outputs]
            return
        operands = [self._operand(row) for row in inputs.tolist()]
        for row in outputs[self._diverges[outputs]].tolist():
            self._judge_output(row, operands)
            if self.explained[row] and self._are_integers(row):
                self._has_chosen.add(where)

    def _made_by(self, row: int) -> list[int]:
        """Return the outputs before an input that have its content."""
        outputs = self._outputs[int(self._content[row])]
        found: list[int] = outputs[outputs < row].tolist()
        return found

    def _judge_input(self, row: int) -> None:
        if not np.isfinite(self._error[row]) or np.isnan(self._norm[row]):
            return
        made_by = self._made_by(row)
        if made_by:
            maker = made_by[-1]
            self.explained[row] = self.explained[maker] or not self._diverges[maker]
            self.expected[row] = self.expected[maker]
            return
        of_a_view = _OF_A_VIEW * self._so_far(row)
        self.expected[row] = max(rounding_error(self._operand(row)), of_a_view)
        self.explained[row] = self._error[row] <= self.expected[row]

    def _judge_output(self, row: int, inputs: list[Operand]) -> None:
        if not np.isfinite(self._error[row]) or np.isnan(self._norm[row]):
            return
        if self._are_integers(row):
            # The least error of an input may change which element is the largest.
            expected = 1.0 if any(x.error for x in inputs) else 0.0
        else:
            if self._is_of_statistics[row]:
                # Statistics differ by less than the elements do.
                so_far = self._so_far(row)
                inputs = [x._replace(error=max(x.error, so_far)) for x in inputs]
            expected = largest_error(self._op_type[row], inputs, self._operand(row))
        if np.isfinite(expected):
            self.expected[row] = expected
        if self._error[row] <= expected:
            self.explained[row] = True
            where = int(self._where[row])
            known = self._largest_explained.get(where, 0.0)
            self._largest_explained[where] = max(known, float(self._error[row]))

    def _so_far(self, row: int) -> float:
        """Return the largest error of an output before a row that needs no explanation."""
        explained = self._largest_explained.get(int(self._where[row]), 0.0)
        return max(float(self._largest_so_far[row]), explained)

    def _operand(self, row: int) -> Operand:
        error = self._error[row]
        if self._are_integers(row) and error > 0:
            # Indices that differ choose other elements altogether.
            error = np.inf
        return Operand(
            float(error),
            float(np.nan_to_num(self._norm[row])),
            float(self._largest[row]),
            float(self._deviation[row]),
            int(self._count[row]),
            self._of_types(row),
        )

    def _of_types(self, row: int) -> tuple[str | None, str | None]:
        of_a, of_b = self._dtypes.values[self._dtypes.codes[row]]
        return of_a, of_b

    def _are_integers(self, row: int) -> bool:
        return all(map(is_integer, self._of_types(row)))


def _running_largest(
    values: NDArray[np.float64], among: NDArray[np.bool_], where: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return for each row the largest of the chosen values up to it, of its rank and step."""
    chosen = np.where(among, values, 0.0)
    found = np.zeros(len(values))
    for key in np.unique(where):
        of_key = where == key
        found[of_key] = np.maximum.accumulate(chosen[of_key])
    return found
