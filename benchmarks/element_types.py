"""How numpy holds the element types of a dump."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from benchmarks.hifloat8 import hifloat8_values

_TWO_IN_A_BYTE = ("int4", "float4_e2m1fn")
_PART_OF = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def storage_dtype(dtype: str) -> np.dtype[Any]:
    """Return the type of numpy or ml_dtypes that has these bytes; uint8 if none has.

    Of complex types that of their parts.
    """
    dtype = _PART_OF.get(dtype, dtype)
    if dtype == "hifloat8" or dtype in _TWO_IN_A_BYTE:
        return np.dtype(np.uint8)
    return np.dtype(getattr(ml_dtypes, dtype, dtype))


def n_elements(dtype: str, nbytes: int) -> int:
    """Return how many elements `nbytes` hold."""
    if dtype in _TWO_IN_A_BYTE:
        return nbytes * 2
    return nbytes // storage_dtype(dtype).itemsize // (2 if dtype in _PART_OF else 1)


def is_float(dtype: str) -> bool:
    """Return whether there may be NaN or Inf."""
    return "float" in dtype


def value_table(dtype: str) -> npt.NDArray[np.float32] | None:
    """Return the values that each byte holds, shape (256, elements in a byte).

    None for the types that numpy computes with, and bfloat16, which it converts as fast.
    """
    codes = np.arange(256, dtype=np.uint8)
    if dtype == "int4":
        nibbles = np.stack((codes & 15, codes >> 4), axis=1).astype(np.float32)
        return np.where(nibbles < 8, nibbles, nibbles - 16)
    if dtype == "hifloat8":
        return hifloat8_values().reshape(256, 1)
    if dtype.startswith("float8"):
        return codes.view(storage_dtype(dtype)).astype(np.float32).reshape(256, 1)
    return None
