"""The error of each row of a comparison, its rank and step, and its execution of an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.keys import key_of, occurrences
from fastdump._compare.where import NULL
from fastdump._table.arrow_column import (
    NULL_CODE,
    codes_of,
    integer_array,
    is_null,
    real_array,
    rows_of,
    text_codes,
)
from fastdump._words.quantities import is_integer

if TYPE_CHECKING:
    from arro3.core import Array, RecordBatch
    from numpy.typing import NDArray


_LANE = ("rank", "device", "model_id", "model")
_TEXTS = ("model", "op_type", "io")


def row_errors(batch: RecordBatch) -> NDArray[np.float64]:
    """Return the error of each row, NaN where nothing was compared; see `DivergentOperator`."""
    error = np.fmax(
        real_array(batch.column("relative_euclidean_distance")),
        real_array(batch.column("statistics_difference")),
    )
    # The distance between indices or identifiers means nothing.
    is_discrete = _are_integers(batch.column("dtype_a")) & _are_integers(batch.column("dtype_b"))
    count = np.maximum(integer_array(batch.column("count")), 1)
    share = integer_array(batch.column("mismatched")) / count
    is_discrete &= ~is_null(batch.column("mismatched"))
    error = np.where(is_discrete, share, error)
    bad = integer_array(batch.column("only_a_bad")) + integer_array(batch.column("only_b_bad"))
    compared = ~is_null(batch.column("verdict"))
    # Without a finite pair there is no distance.
    error = np.where(compared & np.isnan(error), 0.0, error)
    return np.where(bad > 0, np.inf, error)


def _are_integers(dtypes: Array) -> NDArray[np.bool_]:
    codes, names = codes_of(dtypes)
    # The last element is the one that stands for null.
    return np.array([*map(is_integer, names), False], np.bool_)[codes]


def places(batch: RecordBatch) -> NDArray[np.int64]:
    """Return a number for each row, the same for all rows of one rank, model and step."""
    return _key_of(batch, (*_LANE, "step"))


def lanes(batch: RecordBatch) -> NDArray[np.int64]:
    """Return a number for each row, the same for all rows of one rank and model."""
    return _key_of(batch, _LANE)


def _key_of(batch: RecordBatch, names: Sequence[str]) -> NDArray[np.int64]:
    return key_of(*(_numbers(batch, name) for name in names))


def _numbers(batch: RecordBatch, name: str) -> NDArray[np.int64]:
    """Return integers that are equal where a column of text or of integers is."""
    column = batch.column(name)
    return text_codes(column) if name in _TEXTS else integer_array(column, null=NULL)


def executions(batch: RecordBatch) -> NDArray[np.int64]:
    """Return a number for each row, the same for all rows of one execution of an operator.

    Files do not tell executions apart: a collective operator has one for inputs and one for
    outputs, a converted dump one for each tensor. The first input belongs to the first output.
    """
    names = text_codes(batch.column("op_name"))
    unnamed = np.flatnonzero(names == NULL_CODE)
    if len(unnamed):
        paths = (text_codes(rows_of(batch.column(f"path_{side}"), unnamed)) for side in "ab")
        names[unnamed] = names.max() + 1 + key_of(*paths)
    where = ("rank", "device", "model_id", "step", "model", "op_type")
    operator = key_of(*(_numbers(batch, name) for name in where), names)
    occurrence = occurrences(key_of(operator, _numbers(batch, "io"), _numbers(batch, "index")))
    return key_of(operator, occurrence)


class RowsByNumber:
    """Some rows by a number of each, such as that of its execution.

    Parameters
    ----------
    number : ndarray of int64, shape (rows of the table,)
        At least 0.
    rows
        Which rows, in their order; default all.
    """

    def __init__(
        self, number: NDArray[np.int64], rows: NDArray[np.int64] | slice = slice(None)
    ) -> None:
        of_rows = number[rows]
        order = np.argsort(of_rows, kind="stable")
        self._rows = order if isinstance(rows, slice) else rows[order]
        self._ends = np.cumsum(np.bincount(of_rows, minlength=int(number.max(initial=-1)) + 1))

    def __getitem__(self, number: int) -> NDArray[np.int64]:
        first = int(self._ends[number - 1]) if number else 0
        return self._rows[first : self._ends[number]]
