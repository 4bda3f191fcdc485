"""Diverging operators: where divergence began, where it is passed on, and what each adds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.errors_of_rows import RowsByNumber, executions, places, row_errors
from fastdump._compare.suspects import Suspects, Suspicion
from fastdump._compare.where import NULL
from fastdump._json import NOT_IN_JSON
from fastdump._table.arrow_column import integer_array, is_in, is_null, rows_of
from fastdump._words.places import tensor_name
from fastdump._words.shown import Shown

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, repr=False)
class DivergentOperator(Shown):
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

        Where an input diverges although no output before it does in its rank and step, the cause
        is more exact. "parameter": no operator made the input, and the other inputs agree.
        "unpaired": an operator that only one side has may have made it. "rewired": on each side
        another operator made it. And "replaced": it stands in the place of another operator of
        `b`, its inputs agree and its outputs diverge.
    suspect_a, suspect_b
        The operators that the cause means, of `a` and of `b`, type and name; None if there is none.
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
    suspect_a: str | None
    suspect_b: str | None
    input_error: float | None
    output_error: float | None
    added_error: float | None
    row: int = field(metadata=NOT_IN_JSON)


def divergent_operators(batch: RecordBatch) -> list[DivergentOperator]:
    """Return the operators with a diverging tensor, in the order of execution."""
    diverges = is_in(batch.column("verdict"), ("diverges",))
    if not diverges.any():
        return []
    compared = ~is_null(batch.column("verdict"))
    is_input, is_output = (is_in(batch.column("io"), (io,)) for io in ("input", "output"))
    error = row_errors(batch)

    operator = executions(batch)
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
    is_replaced = any_of(is_in(batch.column("paired_by"), ("replaced",)))
    # The first condition that holds decides.
    cause = np.select(
        [
            is_replaced & output_diverges & ~input_diverges,
            ~output_diverges,
            input_diverges,
            is_sure,
        ],
        ["replaced", "input", "inherited", "here"],
        "unknown",
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
    where = places(batch)
    suspects = Suspects(batch, where)
    rows_of = RowsByNumber(operator)
    # Ranks and steps in which an output diverges already.
    gone_wrong: set[int] = set()
    found_rows: list[tuple[int, str, Suspicion | None, float | None, float | None]] = []
    for i in found[order].tolist():
        rows, is_first = rows_of[i], int(where[first[i]]) not in gone_wrong
        suspicion = suspects.behind(rows) if is_first and input_diverges[i] else None
        if cause[i] == "replaced":
            suspicion = Suspicion("replaced", worst[i], worst[i], worst[i])
        if output_diverges[i]:
            gone_wrong.add(int(where[first[i]]))
        errors = _known(input_error[i]), _known(output_error[i])
        if suspicion is None:
            found_rows.append((worst[i], str(cause[i]), None, *errors))
        else:
            found_rows.append((suspicion.row, suspicion.cause, suspicion, *errors))
    return _records(batch, found_rows)


def added_errors(batch: RecordBatch) -> NDArray[np.float64]:
    """Return by how much the error of each output exceeds those of its operator's inputs.

    Infinite errors, rows that are no outputs, and those that were not compared have NaN.
    """
    error = row_errors(batch)
    compared = ~is_null(batch.column("verdict")) & np.isfinite(error)
    operator = executions(batch)
    of_inputs = np.zeros(int(operator.max(initial=-1)) + 1)
    inputs = compared & is_in(batch.column("io"), ("input",))
    np.maximum.at(of_inputs, operator[inputs], error[inputs])
    outputs = compared & is_in(batch.column("io"), ("output",))
    return np.where(outputs, error - of_inputs[operator], np.nan)


def _records(
    batch: RecordBatch,
    found: Sequence[tuple[int, str, Suspicion | None, float | None, float | None]],
) -> list[DivergentOperator]:
    """Return records of operators: their rows, causes, what is known of these, and errors."""
    rows = np.array([row for row, *_ in found], np.int64)
    names = ("rank", "step", "timestamp", "op_type", "op_name", "path_a", "path_b")
    columns = {
        name: rows_of(batch.column(name), rows).to_pylist() for name in (*names, "io", "index")
    }

    def named(row: int | None, side: str) -> str | None:
        if row is None:
            return None
        words = (batch.column(f"op_{of}{side}").slice(row, 1) for of in ("type", "name"))
        return " ".join(filter(None, (word.to_pylist()[0] for word in words)))

    return [
        DivergentOperator(
            **{name: columns[name][i] for name in names},
            tensor=tensor_name(columns["io"][i], columns["index"][i]),
            cause=cause,
            suspect_a=None if suspicion is None else named(suspicion.of_a, ""),
            suspect_b=None if suspicion is None else named(suspicion.of_b, "_b"),
            input_error=input_error,
            output_error=output_error,
            added_error=_added(input_error, output_error),
            row=row,
        )
        for i, (row, cause, suspicion, input_error, output_error) in enumerate(found)
    ]


def _known(error: float) -> float | None:
    return None if math.isnan(error) else float(error)


def _added(input_error: float | None, output_error: float | None) -> float | None:
    if output_error is None:
        return None
    if input_error is None:
        return output_error
    # Both may be infinite, and inf - inf is NaN.
    return 0.0 if input_error == output_error else output_error - input_error
