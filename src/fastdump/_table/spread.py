"""How far the elements of each row of a table are spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._array.spread import dynamic_range, standard_deviation
from fastdump._table.arrow_column import codes_of, integer_array, real_array

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray


def standard_deviations(batch: RecordBatch) -> NDArray[np.float64]:
    """Return `StatsTable.std` of the rows."""
    names = ("count", "nan", "pos_inf", "neg_inf")
    n_all, *n_bad = (integer_array(batch.column(name)) for name in names)
    moments = (real_array(batch.column(name)) for name in ("mean", "l2norm", "min", "max"))
    deviations = standard_deviation(n_all - sum(n_bad), *moments)
    codes, sources = codes_of(batch.column("source"))
    is_computed = np.array([*(source == "tensor" for source in sources), False])[codes]
    return np.where(is_computed, deviations, np.nan)


def dynamic_ranges(batch: RecordBatch) -> NDArray[np.float64]:
    """Return `StatsTable.dynamic_range` of the rows."""
    if "min_abs" not in batch.column_names:
        return np.full(batch.num_rows, np.nan)
    return dynamic_range(*(real_array(batch.column(name)) for name in ("min", "max", "min_abs")))
