"""Memory that was allocated and not written yet: whatever it holds means nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._compare.coded import coded_text, replaced
from fastdump._compare.errors_of_rows import places
from fastdump._table.arrow_column import is_in, real_array

if TYPE_CHECKING:
    from arro3.core import RecordBatch

_ALLOCATES: Final = re.compile(r"^(?:aclnn)?(?:new)?_?empty", re.I)
_SOON: Final = 12
"""Rows after an allocation among which its first reader is looked for."""
_NOTE: Final = "memory that was not written yet"


def without_uninitialised(batch: RecordBatch) -> RecordBatch:
    """Return the rows without a verdict on outputs of operators that only allocate memory.

    Inputs of the operators that run next have none either if they have the same content: what reads
    such memory may write over it.
    """
    allocates = coded_text(batch.column("op_type")).where(
        lambda op_type: op_type and _ALLOCATES.match(op_type)
    )
    compared = is_in(batch.column("verdict"), ("close", "similar", "diverges"))
    written_by_none = np.flatnonzero(allocates & compared & is_in(batch.column("io"), ("output",)))
    if not len(written_by_none):
        return batch
    names = ("max_a", "min_a", "max_b", "min_b")
    # NaN is not equal to itself.
    values = [np.nan_to_num(real_array(batch.column(name))) for name in names]
    contents = np.stack([places(batch).astype(np.float64), *values], axis=1)
    is_input = is_in(batch.column("io"), ("input",)) & compared
    rows = set(written_by_none.tolist())
    for row in written_by_none.tolist():
        soon = np.arange(row + 1, min(row + 1 + _SOON, batch.num_rows))
        alike = is_input[soon] & (contents[soon] == contents[row]).all(axis=1)
        rows.update(soon[alike].tolist())
    changed: dict[str, Callable[[str | None], str | None]] = {
        "verdict": lambda verdict: None,
        "note": lambda note: "; ".join(filter(None, (note, _NOTE))),
    }
    for name, change in changed.items():
        column = replaced(batch.column(name), np.array(sorted(rows)), change)
        number = batch.column_names.index(name)
        batch = batch.set_column(number, batch.schema.field(name), column)
    return batch
