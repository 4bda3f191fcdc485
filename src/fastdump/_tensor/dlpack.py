"""DLPack: hands tensors to other array libraries.

Each capsule gets its own copy-on-write mapping of the file. PyTorch ignores the flag for read-only
memory, and writing must neither end the process nor reach the dump or another array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

CPU = (1, 0)  # kDLCPU, and the number of the device
_VERSIONED = (1, 0)  # the first version whose capsules have flags

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
    """Check that a tensor can be handed out in the way that was asked for.

    Raises
    ------
    BufferError
        If DLPack has no such type, or the device is not the CPU.
    ValueError
        If `stream` is not None.
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
        The bytes of the elements, contiguous in C order, or in Fortran order.
    shape, dtype
        Shape and type of the elements.
    fortran_order
        Whether the first index varies fastest.
    max_version
        The newest version that the consumer knows; None if it knows none with flags.
    copied
        Whether the memory belongs to the consumer alone; if not, it is marked as read-only.
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
