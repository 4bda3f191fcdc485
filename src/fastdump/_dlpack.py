"""Handing tensors to other array libraries by DLPack.

The memory that is handed out is a mapping of the file of its own, copy-on-write: PyTorch writes
where it is asked to, whatever the flag for read-only memory says, and that must neither end the
process nor reach the dump, nor an array that someone else has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdump import _core

CPU = (1, 0)  # kDLCPU and the number of the device
_VERSIONED = (1, 0)  # from here on capsules have flags

# Codes of DLDataType.
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_CODES = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), _INT),
    **dict.fromkeys(("uint8", "uint16", "uint32", "uint64"), _UINT),
    **dict.fromkeys(("float16", "float32", "float64"), _FLOAT),
    **dict.fromkeys(("complex64", "complex128"), _COMPLEX),
    "bfloat16": _BFLOAT,
    "bool": _BOOL,
    "float8_e4m3fn": 10,
    "float8_e5m2": 12,
    "float8_e8m0fnu": 14,
}


def check_request(dtype: np.dtype[Any], stream: object, dl_device: tuple[Any, int] | None) -> None:
    """Raise for what no tensor can be handed out as.

    Raises
    ------
    BufferError
        If DLPack has no such type, or the device is not the CPU.
    ValueError
        If there is a stream.
    """
    if stream is not None:
        raise ValueError(f"stream is {stream!r}, expected None: the tensor is in the CPU's memory")
    if dl_device is not None and (int(dl_device[0]), int(dl_device[1])) != CPU:
        raise BufferError(f"dl_device is {dl_device!r}, but the tensor is in the CPU's memory")
    if dtype.name not in _CODES:
        raise BufferError(f"DLPack libraries have no type for one {dtype} a byte")


def to_capsule(
    data: NDArray[np.uint8],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    *,
    fortran_order: bool,
    max_version: tuple[int, int] | None,
    copied: bool,
) -> object:
    """Return a capsule that keeps `data` alive.

    Parameters
    ----------
    data
        The bytes of the elements, which are contiguous in the order of `fortran_order`.
    shape, dtype
        What they are.
    fortran_order
        Whether the first index varies fastest.
    max_version
        The newest version that the consumer knows; None if it knows none that has flags.
    copied
        Whether the memory is the consumer's alone; else it is marked as read-only.
    """
    return _core.to_dlpack(
        data.data,
        shape,
        fortran_order=fortran_order,
        code=_CODES[dtype.name],
        bits=8 * dtype.itemsize,
        versioned=max_version is not None and tuple(max_version) >= _VERSIONED,
        read_only=not copied,
        copied=copied,
    )
