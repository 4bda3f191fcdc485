"""Operators that diverge: which of them began, which only pass it on, and what each adds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fastdump._arrow_column import integer_array, is_null, real_array, text_list
from fastdump._compare.keys import codes, combined, occurrences
from fastdump._compare.where import NULL
from fastdump._quantities import is_integer

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

CAUSES = ("here", "inherited", "unknown", "input")


@dataclass(frozen=True, slots=True)
class DivergentOperator:
    """One execution of an operator of which some tensor diverges.

    The error of a tensor is its relative Euclidean distance; of integers and bool the share of
    elements that differ; of statistics their difference; and infinite if elements are NaN or Inf in
    one of the two only.

    Attributes
    ----------
    rank, step, op_type, op_name
        Which operator, in `a`.
    tensor
        Its diverging tensor with the largest error, an output if one diverges: "output.0".
    path_a, path_b, timestamp
        Files of that tensor, and the time of that in `a`.
    cause
        "here": its outputs diverge although all its inputs were compared and agree. "inherited":
        an input diverges already. "unknown": its outputs diverge, no input is known to, but not all
        inputs were compared. "input": an input diverges and no output does, or none was compared.
    input_error, output_error
        Largest error of the inputs, and of the outputs; None if none was compared.
    added_error
        `output_error` less `input_error` (0 if no input was compared). Negative if the operator
        reduces the error; None if no output was compared.
    row
        Of that tensor, in the table.
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
    row: int


def row_errors(batch: RecordBatch) -> NDArray[np.float64]:
    """Return the error of each row, NaN where nothing was compared; see `DivergentOperator`."""
    error = np.fmax(
        real_array(batch.column("relative_euclidean_distance")),
        real_array(batch.column("statistics_difference")),
    )
    # How far indices or identifiers are apart says nothing.
    dtypes = zip(
        text_list(batch.column("dtype_a")), text_list(batch.column("dtype_b")), strict=True
    )
    is_discrete = np.array([all(map(is_integer, pair)) for pair in dtypes], np.bool_)
    count = np.maximum(integer_array(batch.column("count")), 1)
    share = integer_array(batch.column("mismatched")) / count
    is_discrete &= ~is_null(batch.column("mismatched"))
    error = np.where(is_discrete, share, error)
    bad = integer_array(batch.column("only_a_bad")) + integer_array(batch.column("only_b_bad"))
    compared = ~is_null(batch.column("verdict"))
    # Without a finite pair there is no distance.
    error = np.where(compared & np.isnan(error), 0.0, error)
    return np.where(bad > 0, np.inf, error)


def divergent_operators(batch: RecordBatch) -> list[DivergentOperator]:
    """Return the operators with a diverging tensor, in the order of execution."""
    verdict = text_list(batch.column("verdict"))
    diverges = np.array([text == "diverges" for text in verdict], np.bool_)
    if not diverges.any():
        return []
    compared = np.array([text is not None for text in verdict], np.bool_)
    io = text_list(batch.column("io"))
    is_input, is_output = (
        np.array([text == w for text in io], np.bool_) for w in ("input", "output")
    )
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
    cause = np.where(
        ~output_diverges,
        CAUSES.index("input"),
        np.where(
            input_diverges,
            CAUSES.index("inherited"),
            np.where(is_sure, CAUSES.index("here"), CAUSES.index("unknown")),
        ),
    )
    first = np.full(n, len(operator))
    np.minimum.at(first, operator, np.arange(len(operator)))
    timestamp = integer_array(batch.column("timestamp"), null=NULL)
    found = np.flatnonzero(output_diverges | input_diverges)
    # Ranks run side by side: time orders them, where every file has one.
    times = timestamp[first[found]]
    order = np.lexsort((first[found], times if (times != NULL).all() else np.zeros(len(found))))
    worst = _worst_rows(operator, diverges, is_output, error, n)
    columns = _Columns(batch)
    return [
        columns.operator(
            int(worst[i]),
            CAUSES[cause[i]],
            _known(input_error[i]),
            _known(output_error[i]),
        )
        for i in found[order].tolist()
    ]


def _executions(batch: RecordBatch) -> NDArray[np.int64]:
    """Return a number of each row that those of one execution of an operator share.

    Files do not tell: of collective operators there is one for inputs and one for outputs, and of
    converted dumps one for each tensor. The first of the inputs belongs to the first of the
    outputs.
    """
    names, paths = text_list(batch.column("op_name")), text_list(batch.column("path_a"))
    other_paths = text_list(batch.column("path_b"))
    identity = [
        name if name is not None else (path, other)
        for name, path, other in zip(names, paths, other_paths, strict=True)
    ]
    columns = [
        *(
            codes(integer_array(batch.column(name), null=NULL).tolist(), [])
            for name in ("rank", "device", "model_id", "step")
        ),
        *(codes(text_list(batch.column(name)), []) for name in ("model", "op_type")),
        codes(identity, []),
    ]
    operator = combined(*columns)
    tensor = combined(
        operator,
        codes(text_list(batch.column("io")), []),
        codes(integer_array(batch.column("index"), null=NULL).tolist(), []),
    ).a
    return combined(operator, type(operator)(occurrences(tensor), operator.b)).a


def _worst_rows(
    operator: NDArray[np.int64],
    diverges: NDArray[np.bool_],
    is_output: NDArray[np.bool_],
    error: NDArray[np.float64],
    n: int,
) -> NDArray[np.int64]:
    """Return of each operator the diverging row to look at: an output if one diverges."""
    rows = np.flatnonzero(diverges)
    # The last one that is written stays.
    order = np.lexsort((-rows, error[rows], is_output[rows]))
    worst = np.zeros(n, np.int64)
    worst[operator[rows[order]]] = rows[order]
    return worst


def _known(error: float) -> float | None:
    return None if math.isnan(error) else float(error)


class _Columns:
    """Columns of the table as lists, taken when they are needed."""

    def __init__(self, batch: RecordBatch) -> None:
        names = (
            "rank",
            "step",
            "timestamp",
            "op_type",
            "op_name",
            "path_a",
            "path_b",
            "io",
            "index",
        )
        self._lists = {name: batch.column(name).to_pylist() for name in names}

    def operator(
        self, row: int, cause: str, input_error: float | None, output_error: float | None
    ) -> DivergentOperator:
        at = {name: values[row] for name, values in self._lists.items()}
        tensor = f"{at.pop('io')}.{at.pop('index')}"
        return DivergentOperator(
            **at,
            tensor=tensor,
            cause=cause,
            input_error=input_error,
            output_error=output_error,
            added_error=_added(input_error, output_error),
            row=row,
        )


def _added(input_error: float | None, output_error: float | None) -> float | None:
    if output_error is None:
        return None
    if input_error is None:
        return output_error
    # Infinite already: nothing can be added to that.
    return 0.0 if input_error == output_error else output_error - input_error
