"""Operators that compute in another type in the other run, although the runs have one precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.error_growth import unit_roundoff
from fastdump._compare.errors_of_rows import places
from fastdump._compare.operator_kinds import passes_values_on
from fastdump._table.arrow_column import is_in, is_null, text_list

if TYPE_CHECKING:
    from arro3.core import RecordBatch


def retyped_outputs(batch: RecordBatch) -> list[int]:
    """Return the rows of outputs whose sides have different floating-point types.

    Casts and copies are left out. The list is empty where half of all outputs, or more, have
    different types: such runs differ in precision as a whole. Of each rank and step, outputs are in
    the order of execution.
    """
    outputs = is_in(batch.column("io"), ("output",)) & ~is_null(batch.column("paired_by"))
    dtypes = [text_list(batch.column(f"dtype_{side}")) for side in "ab"]
    floats = [row for row in np.flatnonzero(outputs).tolist() if all(_floats(dtypes, row))]
    op_types = text_list(batch.column("op_type"))
    found = [row for row in floats if dtypes[0][row] != dtypes[1][row]]
    if 2 * len(found) >= len(floats):
        return []
    found = [row for row in found if not passes_values_on(op_types[row])]
    where = places(batch)
    return sorted(found, key=lambda row: (int(where[row]), row))


def _floats(dtypes: list[list[str | None]], row: int) -> list[bool]:
    return [unit_roundoff(of_side[row]) > 0 for of_side in dtypes]
