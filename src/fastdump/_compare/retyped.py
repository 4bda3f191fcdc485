"""Operators that compute in another type in the other run, although the runs have one precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._compare.coded import coded_text
from fastdump._compare.error_growth import unit_roundoff
from fastdump._compare.errors_of_rows import places
from fastdump._compare.operator_kinds import passes_values_on
from fastdump._table.arrow_column import codes_of, is_in, is_null

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray


_MOST: Final = 0.1


def retyped_outputs(batch: RecordBatch) -> list[int]:
    """Return the rows of outputs whose sides have different floating-point types.

    Casts and copies are left out. The list is empty where more than a tenth of all outputs have
    different types: such runs differ in precision as a whole. Of each rank and step, outputs are in
    the order of execution.
    """
    outputs = is_in(batch.column("io"), ("output",)) & ~is_null(batch.column("paired_by"))
    of_a, of_b = (codes_of(batch.column(f"dtype_{side}")) for side in "ab")
    floats = outputs & _are_floats(*of_a) & _are_floats(*of_b)
    number = {name: code for code, name in enumerate(of_b[1])}
    # The last element is the one that stands for null.
    code_in_b = np.array([*(number.get(name, -1) for name in of_a[1]), -1])
    differ = floats & (code_in_b[of_a[0]] != of_b[0])
    if not differ.any() or differ.sum() > _MOST * floats.sum():
        return []
    found = np.flatnonzero(differ & ~coded_text(batch.column("op_type")).where(passes_values_on))
    # Stable: rows of one place keep their order.
    in_order: list[int] = found[np.argsort(places(batch)[found], kind="stable")].tolist()
    return in_order


def _are_floats(codes: NDArray[np.int64], names: list[str]) -> NDArray[np.bool_]:
    return np.array([*(unit_roundoff(name) > 0 for name in names), False])[codes]
