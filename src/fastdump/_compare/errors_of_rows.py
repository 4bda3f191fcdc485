"""The error of each row of a comparison, its rank and step, and its execution of an operator."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._compare.keys import key_of, occurrences
from fastdump._table.arrow_column import codes_of, integer_array, is_null, real_array, text_list
from fastdump._words.quantities import is_integer

if TYPE_CHECKING:
    from arro3.core import Array, RecordBatch
    from numpy.typing import NDArray


_LANE = ("rank", "device", "model_id", "model")


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
    columns: list[Any] = [batch.column(name).to_pylist() for name in names]
    return key_of(*columns)


def executions(batch: RecordBatch) -> NDArray[np.int64]:
    """Return a number for each row, the same for all rows of one execution of an operator.

    Files do not tell executions apart: a collective operator has one for inputs and one for
    outputs, a converted dump one for each tensor. The first input belongs to the first output.
    """
    names, paths = text_list(batch.column("op_name")), text_list(batch.column("path_a"))
    other_paths = text_list(batch.column("path_b"))
    identity = [
        name if name is not None else (path, other)
        for name, path, other in zip(names, paths, other_paths, strict=True)
    ]

    def values(name: str) -> list[Hashable]:
        found: list[Hashable] = list(batch.column(name).to_pylist())
        return found

    where = ("rank", "device", "model_id", "step", "model", "op_type")
    operator = key_of(*map(values, where), identity).tolist()
    occurrence = occurrences(key_of(operator, values("io"), values("index")))
    return key_of(operator, occurrence.tolist())
