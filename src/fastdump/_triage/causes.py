"""What may have gone wrong inside the operator where bad values began."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._array.elements import LARGEST_FINITE
from fastdump._table.row import StatsRow
from fastdump._words import catalogue as say
from fastdump._words.quantities import number_text
from fastdump.errors import FileChangedError

if TYPE_CHECKING:
    from fastdump._tensor.tensor import Tensor

_DIVIDES: Final = re.compile(r"div|reciprocal|rsqrt", re.I)
_NORMALISES: Final = re.compile(r"norm", re.I)
_SOFTMAX: Final = re.compile(r"softmax|attention", re.I)
_ROOTS: Final = re.compile(r"sqrt|(?:^|aclnn|inplace)(?:log|pow)", re.I)
_MAX_ROWS_NBYTES: Final = 1 << 28


def describe_cause(
    op_type: str,
    output: StatsRow,
    inputs: Sequence[StatsRow],
    tensors: Sequence[Tensor | None],
    *,
    reads_uninitialised: bool,
) -> str | None:
    """Return what may have made an output bad, in words; None if nothing suggests a cause.

    Parameters
    ----------
    op_type
        Type of the operator.
    output, inputs
        Its bad output, and its inputs.
    tensors
        The tensors of the inputs; None if the file is not at hand.
    reads_uninitialised
        Whether an input is memory that nothing was written to.

    Raises
    ------
    FileChangedError, OSError
        If the file of an input cannot be read any more as it was.
    """
    if reads_uninitialised:
        return say.READS_UNINITIALISED()
    masked = [row for row in inputs if row.neg_inf]
    if output.nan and masked:
        return _masked_cause(op_type, masked, inputs, tensors)
    zeros = _zeros_cause(op_type, inputs, tensors)
    if zeros is not None:
        return zeros
    if output.nan and _ROOTS.search(op_type):
        for row in inputs:
            if row.min is not None and row.min < 0:
                return say.NEGATIVE(tensor=row.tensor_name, low=f"{row.min:.5g}")
    if (output.pos_inf or output.neg_inf) and not output.nan and _are_finite(inputs):
        return _overflow_cause(output, inputs)
    return None


def _masked_cause(
    op_type: str,
    masked: Sequence[StatsRow],
    inputs: Sequence[StatsRow],
    tensors: Sequence[Tensor | None],
) -> str:
    if not _SOFTMAX.search(op_type):
        return say.MASK_TIMES(tensor=masked[0].tensor_name)
    row = masked[0]
    n_rows = _n_rows_of(tensors[inputs.index(row)], -np.inf)
    if n_rows:
        masked_rows = say.MASKED_ROW if n_rows == 1 else say.MASKED_ROWS
        return masked_rows(n=n_rows, tensor=row.tensor_name)
    return say.MAYBE_MASKED(tensor=row.tensor_name)


def _zeros_cause(
    op_type: str, inputs: Sequence[StatsRow], tensors: Sequence[Tensor | None]
) -> str | None:
    if _NORMALISES.search(op_type) and inputs:
        row = inputs[0]
        n_rows = _n_rows_of(tensors[0], 0)
        if n_rows:
            zero_rows = say.ZERO_ROW if n_rows == 1 else say.ZERO_ROWS
            return zero_rows(n=n_rows, tensor=row.tensor_name)
        # Without the tensor, enough zeros for a whole row are a hint.
        length = row.shape[-1] if row.shape else None
        if tensors[0] is None and row.zero and length and row.zero >= length:
            return say.MAYBE_ZERO_ROWS(n=row.zero, tensor=row.tensor_name)
        return None
    if not _DIVIDES.search(op_type) or not inputs:
        return None
    divisor = inputs[-1]
    zeros = divisor.zero
    if zeros is None and divisor.min is not None and divisor.max is not None:
        zeros = divisor.count if divisor.min == 0 == divisor.max else None
    if zeros:
        some_zeros = say.ONE_ZERO if zeros == 1 else say.SOME_ZEROS
        return some_zeros(n=zeros, tensor=divisor.tensor_name)
    return None


def _overflow_cause(output: StatsRow, inputs: Sequence[StatsRow]) -> str | None:
    largest = LARGEST_FINITE.get(output.dtype or "")
    if largest is None:
        return None
    reached = max((_reach(row) for row in inputs), default=0.0)
    places = {"reach": number_text(reached), "largest": number_text(largest)}
    return say.OVERFLOW(dtype=output.dtype or "", **places)


def _n_rows_of(tensor: Tensor | None, value: float) -> int:
    """Return how many rows along the last axis consist of one value."""
    if tensor is None or tensor.ndim < 1 or not 0 < tensor.nbytes <= _MAX_ROWS_NBYTES:
        return 0
    if tensor.origin_shape not in ((), tensor.shape):
        return 0  # rows of blocks, and padding
    if tensor.shape[-1] < 2:
        return 0
    try:
        with tensor.guarded() as array:
            rows = array.reshape(-1, array.shape[-1])
            return int((rows == np.asarray(value, rows.dtype)).all(axis=1).sum())
    except FileChangedError:
        raise
    except (ValueError, TypeError):
        return 0


def _are_finite(rows: Sequence[StatsRow]) -> bool:
    return bool(rows) and not any(row.nan or row.pos_inf or row.neg_inf for row in rows)


def _reach(row: StatsRow) -> float:
    return max(abs(row.max or 0.0), abs(row.min or 0.0))
