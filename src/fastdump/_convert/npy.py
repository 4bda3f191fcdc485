"""The header of a ``.npy`` file."""

from __future__ import annotations

import functools
import io
from typing import Any

import numpy as np

from fastdump._convert.elements import is_numpy_type


@functools.lru_cache(maxsize=1024)
def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return what precedes the elements, in C order, of an array.

    A type of ml_dtypes is written as so many bytes without a meaning, as `numpy.save` does with
    bfloat16: ``numpy.load(file).view(ml_dtypes.bfloat16)`` gets it back. (What `numpy.save` writes
    for float8_e5m2 cannot be loaded.)
    """
    is_numpys = is_numpy_type(dtype)
    descr = np.lib.format.dtype_to_descr(dtype) if is_numpys else f"<V{dtype.itemsize}"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return header.getvalue()
