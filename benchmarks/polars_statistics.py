"""The same statistics with polars, on all threads, of a column without NaN and Inf."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from benchmarks.element_types import storage_dtype
from benchmarks.peer_result import Statistics


class AsColumn:
    """One query on a column that lies in memory, by the engine that works in chunks."""

    name = f"polars {pl.__version__}"

    def __init__(self, data: npt.NDArray[np.uint8], dtype: str) -> None:
        column = pl.col("x")
        doubles = column.cast(pl.Float64)
        self._query = (
            pl.DataFrame({"x": data.view(storage_dtype(dtype))})
            .lazy()
            .select(
                count=pl.len(),
                nan=column.is_nan().sum(),
                pos_inf=(column == float("inf")).sum(),
                neg_inf=(column == float("-inf")).sum(),
                n_finite=column.is_finite().sum(),
                max=column.max(),
                min=column.min(),
                sum=doubles.sum(),
                sum_of_squares=(doubles * doubles).sum(),
            )
        )

    def __call__(self) -> Statistics:
        (row,) = self._query.collect(engine="streaming").iter_rows(named=True)
        return Statistics(**row)
