"""Diverging operators: where divergence began, where it is passed on, and what each adds."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.keys import key_of, occurrences
from fastdump._compare.where import NULL
from fastdump._json import NOT_IN_JSON
from fastdump._table.arrow_column import (
    codes_of,
    integer_array,
    is_in,
    is_null,
    real_array,
    text_list,
)
from fastdump._words.places import tensor_name
from fastdump._words.quantities import is_integer

if TYPE_CHECKING:
    from arro3.core import Array, RecordBatch
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class DivergentOperator:
    """One execution of an operator with a diverging tensor.

    The error of a tensor is its relative Euclidean distance; for integers and bool the share of
    elements that differ; for statistics their difference. It is infinite if elements are NaN or Inf
    in only one of the two.

    Attributes
    ----------
    rank, step, op_type, op_name
        The operator, as in `a`.
    tensor
        Its diverging tensor with the largest error, an output if one diverges: "output.0".
    path_a, path_b, timestamp
        The files of that tensor, and the time of the execution in `a`.
    cause
        "here": its outputs diverge although all its inputs were compared and agree. "inherited":
        an input diverges already. "unknown": its outputs diverge, no input is known to, but not all
        inputs were compared. "input": an input diverges and no output does, or none was compared.
    input_error, output_error
        Largest error of the inputs, and of the outputs; None if none was compared.
    added_error
        `output_error` minus `input_error` (0 if no input was compared). Negative if the operator
        reduces the error; None if no output was compared.
    row
        Index of that tensor in the table: ``table[op.row].tensor_a()`` opens it.
    """

    rank: int | None
    step: int | None
    timestamp: int | None
    op_type: str | None
    op_name: str | None
    path_a: str | None
    path_b: str | None
    tensor: str
    cause: str
    input_error: float | None
    output_error: float | None
    added_error: float | None
    row: int = field(metadata=NOT_IN_JSON)


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


def divergent_operators(batch: RecordBatch) -> list[DivergentOperator]:
    """Return the operators with a diverging tensor, in the order of execution."""
    diverges = is_in(batch.column("verdict"), ("diverges",))
    if not diverges.any():
        return []
    compared = ~is_null(batch.column("verdict"))
    is_input, is_output = (is_in(batch.column("io"), (io,)) for io in ("input", "output"))
    error = row_errors(batch)

    operator = _executions(batch)
    n = int(operator.max()) + 1

    def any_of(rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.bincount(operator[rows], minlength=n) > 0

    def largest(rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        found = np.full(n, -np.inf)
        np.maximum.at(found, operator[rows], error[rows])
        return np.where(np.isneginf(found), np.nan, found)

    input_error = largest(is_input & compared)
    output_error = largest(is_output & compared)
    input_diverges, output_diverges = any_of(is_input & diverges), any_of(is_output & diverges)
    is_sure = any_of(is_input & compared) & ~any_of(is_input & ~compared)
    # The first condition that holds decides.
    cause = np.select(
        [~output_diverges, input_diverges, is_sure], ["input", "inherited", "here"], "unknown"
    )
    _, first = np.unique(operator, return_index=True)
    timestamp = integer_array(batch.column("timestamp"), null=NULL)
    found = np.flatnonzero(output_diverges | input_diverges)
    # Ranks run side by side: time orders them, where every file has one.
    times = timestamp[first[found]]
    order = np.lexsort((first[found], times if (times != NULL).all() else np.zeros(len(found))))
    # The worst row of an operator is the last: an output if one diverges, with the largest error.
    rows = np.flatnonzero(diverges)
    rows = rows[np.lexsort((-rows, error[rows], is_output[rows]))]
    worst = dict(zip(operator[rows].tolist(), rows.tolist(), strict=True))
    make = _maker(batch)
    return [
        make(worst[i], str(cause[i]), _known(input_error[i]), _known(output_error[i]))
        for i in found[order].tolist()
    ]


def _maker(
    batch: RecordBatch,
) -> Callable[[int, str, float | None, float | None], DivergentOperator]:
    """Return a function that makes a record from the row to look at, the cause and the errors."""
    names = ("rank", "step", "timestamp", "op_type", "op_name", "path_a", "path_b")
    columns = {name: batch.column(name).to_pylist() for name in (*names, "io", "index")}

    def make(
        row: int, cause: str, input_error: float | None, output_error: float | None
    ) -> DivergentOperator:
        return DivergentOperator(
            **{name: columns[name][row] for name in names},
            tensor=tensor_name(columns["io"][row], columns["index"][row]),
            cause=cause,
            input_error=input_error,
            output_error=output_error,
            added_error=_added(input_error, output_error),
            row=row,
        )

    return make


def _executions(batch: RecordBatch) -> NDArray[np.int64]:
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


def _known(error: float) -> float | None:
    return None if math.isnan(error) else float(error)


def _added(input_error: float | None, output_error: float | None) -> float | None:
    if output_error is None:
        return None
    if input_error is None:
        return output_error
    # Both may be infinite, and inf - inf is NaN.
    return 0.0 if input_error == output_error else output_error - input_error
