"""The same statistics with numpy, on one thread, in two ways.

`in_chunks` is what an expert writes: chunks that stay in the cache, buffers that are used again,
tables for what numpy converts slowly, and no second look at a chunk without NaN and Inf.
`at_once` is what one writes first: the whole tensor, an expression for each statistic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.dump_files import LargeFile
from benchmarks.element_types import is_float, n_elements, storage_dtype, value_table
from benchmarks.peer_result import Statistics

_CHUNK_NBYTES = 512 << 10


def in_chunks(file: LargeFile, nbytes: int) -> Statistics:
    """Return the statistics of the first `nbytes` bytes of the tensor."""
    storage = storage_dtype(file.dtype)
    table = value_table(file.dtype)
    buffer = np.empty(_CHUNK_NBYTES, np.uint8)
    n_buffer = n_elements(file.dtype, _CHUNK_NBYTES)
    finite = np.empty(n_buffer, np.bool_)
    doubles = np.empty(n_buffer, np.float64)
    result = Statistics()
    with file.path.open("rb", buffering=0) as stream:
        stream.seek(file.payload_offset)
        for begin in range(0, nbytes, _CHUNK_NBYTES):
            chunk = buffer[: min(_CHUNK_NBYTES, nbytes - begin)]
            stream.readinto(chunk.data)
            values = chunk.view(storage)
            if storage == np.bool_:
                _add_bools(result, values)
                continue
            if table is not None:
                values = np.take(table, chunk, axis=0, mode="clip").reshape(-1)
            elif file.dtype in ("float16", "bfloat16"):
                values = values.astype(np.float32)
            result.count += values.size
            if is_float(file.dtype):
                values = _count_bad(result, values, finite[: values.size])
            if values.size:
                _add(result, values, doubles[: values.size])
    return result


def at_once(file: LargeFile, nbytes: int) -> Statistics:
    """Return the statistics of the first `nbytes` bytes of the tensor."""
    storage = storage_dtype(file.dtype)
    values: npt.NDArray[Any] = np.fromfile(
        file.path, storage, nbytes // storage.itemsize, offset=file.payload_offset
    )
    return of_array(values, file.dtype)


def of_array(values: npt.NDArray[Any], dtype: str) -> Statistics:
    """Return the statistics of an array that holds elements of `dtype` as it can."""
    table = value_table(dtype)
    if table is not None and values.dtype == np.uint8:  # numpy cannot tell what the codes mean
        values = table[values].reshape(-1)
    elif values.dtype.kind == "V":  # of ml_dtypes
        values = values.astype(np.float32)
    result = Statistics(count=values.size)
    if is_float(dtype):
        result.nan = int(np.isnan(values).sum())
        result.pos_inf = int(np.isposinf(values).sum())
        result.neg_inf = int(np.isneginf(values).sum())
        values = values[np.isfinite(values)]
    result.n_finite = values.size
    result.max, result.min = float(values.max()), float(values.min())
    doubles = values.astype(np.float64)
    result.sum = float(doubles.sum())
    result.sum_of_squares = float((doubles**2).sum())
    return result


def _count_bad(
    result: Statistics, values: npt.NDArray[Any], finite: npt.NDArray[np.bool_]
) -> npt.NDArray[Any]:
    np.isfinite(values, out=finite)
    if finite.all():
        return values
    result.nan += int(np.count_nonzero(np.isnan(values)))
    result.pos_inf += int(np.count_nonzero(values == np.inf))
    result.neg_inf += int(np.count_nonzero(values == -np.inf))
    return values[finite]


def _add(result: Statistics, values: npt.NDArray[Any], doubles: npt.NDArray[np.float64]) -> None:
    np.copyto(doubles, values)
    result.n_finite += values.size
    result.max = max(result.max, float(values.max()))
    result.min = min(result.min, float(values.min()))
    result.sum += float(doubles.sum())
    result.sum_of_squares += float(doubles @ doubles)


def _add_bools(result: Statistics, values: npt.NDArray[Any]) -> None:
    n_true = int(np.count_nonzero(values))
    result.count += values.size
    result.n_finite += values.size
    result.max = max(result.max, float(n_true > 0))
    result.min = min(result.min, float(n_true == values.size))
    result.sum += n_true
    result.sum_of_squares += n_true
