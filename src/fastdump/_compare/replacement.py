"""Operators that stand in each other's place: one kind in one run, another kind in the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fastdump._compare.names import normalised, without_counter
from fastdump._compare.operator_kinds import passes_values_on
from fastdump._compare.sequence import Execution

_MAX_OPERATORS = 32


def ends_of_replaced(a: Sequence[Execution], b: Sequence[Execution]) -> Iterator[tuple[int, int]]:
    """Yield the rows, of either side, of tensors that go into and come out of two groups.

    Nothing is yielded if the groups are not of one module, if they have the same kinds of
    operators, or if no input, or no output, of both has the same index and shape.

    Parameters
    ----------
    a, b
        The operators of each side that run between the same two neighbours, in order.
    """
    of_a, of_b = ([op for op in side if not passes_values_on(op.op_type)] for side in (a, b))
    if not (0 < len(of_a) <= _MAX_OPERATORS and 0 < len(of_b) <= _MAX_OPERATORS):
        return
    modules = [{_module_of(op) for op in side} for side in (of_a, of_b)]
    kinds = [{(op.op_type, without_counter(op.op_name)) for op in side} for side in (of_a, of_b)]
    if modules[0] != modules[1] or kinds[0] == kinds[1]:
        return
    inputs = list(_same(of_a[0], of_b[0], "input"))
    outputs = list(_same(of_a[-1], of_b[-1], "output"))
    if inputs and outputs:
        yield from inputs
        yield from outputs


def _module_of(op: Execution) -> str:
    return normalised((op.op_name or "").rpartition("/")[0]) or ""


def _same(a: Execution, b: Execution, io: str) -> Iterator[tuple[int, int]]:
    rows_b = _rows(b, io)
    return ((row, rows_b[key]) for key, row in _rows(a, io).items() if key in rows_b)


def _rows(op: Execution, io: str) -> dict[tuple[int, tuple[int, ...] | None], int]:
    """Return the rows of inputs, or outputs, by index and shape."""
    tensors = zip(op.tensors, op.rows, strict=True)
    return {(index, shape): row for (its_io, index, shape), row in tensors if its_io == io}
