"""Descriptions of tensors in dump files, and the bytes of their payloads.

Sizes, shapes and numbers of a description may contradict the data, so that faulty files can be
written.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fastdump import _core


@dataclass(frozen=True, slots=True)
class OriginalOp:
    """The framework's operator that an output stems from (message ``OriginalOp``).

    Parameters
    ----------
    name : str
        Its name.
    output_index : int
        Position among its outputs.
    data_type, format : int
        Numbers of the graph engine's own enumerations, in which FLOAT is 0. They are not the
        numbers of `TensorSpec.dtype`.
    """

    name: str = ""
    output_index: int = 0
    data_type: int = 0
    format: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class TensorSpec:
    """A tensor as the header of a dump file is to describe it, and the bytes to write for it.

    Attributes that are not given follow from `data`. Attributes that are given are written
    unchanged, even if they contradict `data`: tests need files that are wrong in a known way.

    Parameters
    ----------
    data : numpy.ndarray or bytes-like
        The payload. An array of a type narrower than a byte (one element a byte in memory, as in
        `ml_dtypes`) is bit-packed: two- and four-bit elements from the low bits of a byte up,
        one-bit elements from the high bit down. Bytes are written as they are.
    dtype : str or int, optional
        The vendor's name (``"FLOAT16"``), the name in numpy or ml_dtypes (``"float16"``), or any
        number (of the standard file, whatever kind of file is written). Default: the type of the
        array; ``"UNDEFINED"`` for bytes. The elements of an array are not converted:
        ``TensorSpec(codes, dtype="hifloat8")`` writes an uint8 array as HiFloat8 codes.
    format : str or int
        Name without its ``FORMAT_`` prefix, or any number.
    shape : sequence of int, optional
        Storage shape. Negative dimensions are written as the device does (64-bit two's complement).
        Default: the shape of the array; for bytes one dimension, as many elements as they hold, or
        none if the elements have no fixed size.
    origin_shape : sequence of int
        Shape in the framework's layout.
    size : int, optional
        Number of payload bytes that the header declares. Default: the size of `data`.
    address : int
        Device address.
    sub_format, offset, arg_index : int
        The header's fields of these names.
    input_type : int
        Kind of a kernel's argument, in an exception dump; for inputs only.
    address_type : int
        The field of this name, for nano files only.
    dim_range : sequence of (int, int)
        First and last size of each dimension; for outputs only.
    original_op : OriginalOp, optional
        The framework's operator; for outputs only.

    Examples
    --------
    A float16 tensor whose last half never reached the file:

    >>> import numpy as np
    >>> half = TensorSpec(np.zeros(8, "float16"), shape=(16,), size=32)
    """

    data: npt.NDArray[Any] | bytes | bytearray | memoryview = b""
    dtype: str | int | None = None
    format: str | int = "ND"
    shape: Sequence[int] | None = None
    origin_shape: Sequence[int] = ()
    size: int | None = None
    address: int = 0
    sub_format: int = 0
    offset: int = 0
    arg_index: int = 0
    input_type: int = 0
    address_type: int = 0
    dim_range: Sequence[tuple[int, int]] = ()
    original_op: OriginalOp | None = None

    def __post_init__(self) -> None:
        if isinstance(self.data, np.generic):
            # A numpy scalar exports its bytes too, but its type would be lost.
            object.__setattr__(self, "data", np.asarray(self.data))


@dataclass(frozen=True, slots=True, eq=False)
class BufferSpec:
    """A fusion buffer or a workspace: bytes without a type.

    Parameters
    ----------
    data : numpy.ndarray or bytes-like
        The payload; the bytes of an array are written as they lie in memory.
    size : int, optional
        Number of payload bytes that the header declares. Default: the size of `data`.
    type : int
        0 is L1 for a buffer and LOG for a workspace.
    arg_index : int
        Position of a kernel's argument; for workspaces only.
    """

    data: npt.NDArray[Any] | bytes | bytearray | memoryview = b""
    size: int | None = None
    type: int = 0
    arg_index: int = 0


def as_spec(tensor: npt.NDArray[Any] | TensorSpec) -> TensorSpec:
    """Return the description of a tensor that may be given as an array."""
    return tensor if isinstance(tensor, TensorSpec) else TensorSpec(np.asarray(tensor))


def data_type_number(spec: TensorSpec) -> int:
    """Return the number that the header holds for the element type.

    Raises
    ------
    TypeError
        If the format has no number for the type of an array.
    ValueError
        If `spec.dtype` is a name that the format does not know.
    """
    if isinstance(spec.dtype, int):
        return spec.dtype
    if spec.dtype is not None:
        number = _number_by_name().get(spec.dtype)
        if number is None:
            raise ValueError(f"no element type of a dump is called {spec.dtype!r}")
        return number
    if not isinstance(spec.data, np.ndarray):
        return 0
    number = _number_by_name().get(spec.data.dtype.name)
    if number is None:
        raise TypeError(f"a dump has no element type for numpy's {spec.data.dtype}")
    return number


def format_number(spec: TensorSpec) -> int:
    """Return the number that the header holds for the tensor format.

    Raises
    ------
    ValueError
        If `spec.format` is a name that the format does not know.
    """
    if isinstance(spec.format, int):
        return spec.format
    number = _format_by_name().get(spec.format)
    if number is None:
        raise ValueError(f"no tensor format is called {spec.format!r}")
    return number


def payload_nbytes(spec: TensorSpec) -> int:
    """Return the number of bytes that `payload` yields, without making them."""
    if not isinstance(spec.data, np.ndarray):
        return memoryview(spec.data).nbytes
    bits = _packed_bits(spec)
    return -(-spec.data.size * bits // 8) if bits else spec.data.nbytes


def size_field(spec: TensorSpec) -> int:
    """Return the number of payload bytes that the header declares."""
    nbytes = payload_nbytes(spec)  # always called, because it raises if there is no payload
    return nbytes if spec.size is None else spec.size


def payload(spec: TensorSpec) -> memoryview:
    """Return the bytes that follow the header; a view of the array where it already holds them."""
    if not isinstance(spec.data, np.ndarray):
        return raw_bytes(spec.data)
    bits = _packed_bits(spec)
    return raw_bytes(_bit_packed(spec.data, bits) if bits else spec.data)


def raw_bytes(data: npt.NDArray[Any] | bytes | bytearray | memoryview) -> memoryview:
    """Return the little-endian bytes of an array in C order, or the given bytes."""
    if not isinstance(data, np.ndarray):
        return memoryview(data)
    # Arrays of ml_dtypes do not export the buffer protocol: go through uint8.
    data = np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("<"))
    return data.reshape(-1).view(np.uint8).data


def storage_shape(spec: TensorSpec) -> tuple[int, ...]:
    """Return the dimensions that the header holds as the storage shape."""
    if spec.shape is not None:
        return tuple(spec.shape)
    if isinstance(spec.data, np.ndarray):
        return spec.data.shape
    bits = _bits_by_number().get(data_type_number(spec), 0)
    return (payload_nbytes(spec) * 8 // bits,) if bits else ()


def _packed_bits(spec: TensorSpec) -> int:
    """Return the bits of an element that must be packed; 0 if nothing is to be packed."""
    bits = _bits_by_number().get(data_type_number(spec), 0)
    if not 0 < bits < 8:
        return 0
    assert isinstance(spec.data, np.ndarray)
    if spec.data.dtype.itemsize != 1:
        raise TypeError(f"{bits}-bit elements must come one a byte, not as {spec.data.dtype}")
    if 8 % bits:
        raise TypeError(f"how {bits}-bit elements are packed is not documented; give bytes")
    return bits


def _bit_packed(array: npt.NDArray[Any], bits: int) -> npt.NDArray[np.uint8]:
    per_byte = 8 // bits
    codes = array.reshape(-1).view(np.uint8) & np.uint8((1 << bits) - 1)
    if bits == 1:
        return np.packbits(codes)
    codes = np.pad(codes, (0, -codes.size % per_byte)).reshape(-1, per_byte)
    packed = np.zeros(codes.shape[0], np.uint8)
    for position in range(per_byte):
        packed |= codes[:, position] << np.uint8(bits * position)
    return packed


def element_bits(dtype: np.dtype[Any]) -> int:
    """Return the bits of an element of an array's type in a dump; 0 if a dump has no such type."""
    number = _number_by_name().get(dtype.name)
    return 0 if number is None else _bits_by_number()[number]


@functools.cache
def _number_by_name() -> dict[str, int]:
    rows = _core.data_types()
    # The vendor's names come last: they are unique, numpy's need not be.
    by_name = {name: number for number, _, name, *_ in reversed(rows)}
    by_name.update((cann_name, number) for number, cann_name, *_ in rows)
    return by_name


@functools.cache
def _bits_by_number() -> dict[int, int]:
    return {number: bits for number, _, _, bits, *_ in _core.data_types()}


@functools.cache
def _format_by_name() -> dict[str, int]:
    return {name: number for number, name in enumerate(_core.tensor_formats())}
