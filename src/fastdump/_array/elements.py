"""Element types, and how the elements of a dump become those of an array.

Most types are stored in a dump as numpy or ml_dtypes have them in memory, so an array of them can
be a view. The other types are converted, each code to its value:

* Elements narrower than a byte are unpacked into one byte each, as ml_dtypes has them.
* A bool is True for any byte but zero; numpy expects 0 or 1, so other bytes are replaced by 1.
* hifloat8 and float4_e1m2 become float32 and complex32 becomes complex64, because neither library
  has those types; all of their values are exact there.
* 6-bit floats are unpacked only if the caller says how, because no source documents their packing.
* Elements without a documented encoding are bytes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fastdump import _core
from fastdump._array.lost_memory import reading_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array: TypeAlias = "NDArray[Any]"
BitOrder: TypeAlias = Literal["little", "big"]

LARGEST_FINITE = {
    "float64": 1.7976931348623157e308,
    "float32": 3.4028234663852886e38,
    "bfloat16": 3.3895313892515355e38,
    "float16": 65504.0,
    "complex128": 1.7976931348623157e308,
    "complex64": 3.4028234663852886e38,
    "complex32": 65504.0,
    "hifloat8": 32768.0,
    "float8_e5m2": 57344.0,
    "float8_e4m3fn": 448.0,
    "float8_e8m0fnu": 1.7014118346046923e38,
    "float6_e3m2fn": 28.0,
    "float6_e2m3fn": 7.5,
    "float4_e2m1fn": 6.0,
    "float4_e1m2": 1.75,
}
"""Largest finite value of each type that can overflow; for a complex type, of either part."""

# Types that numpy stores in the same way.
_NUMPY = (
    *("float16", "float32", "float64", "complex64", "complex128"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)
_ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")
_FLOAT6 = ("float6_e2m3fn", "float6_e3m2fn")
# Types narrower than a byte, with the bits of an element in a dump.
_ML_DTYPES_PACKED = {
    **{"int4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4},
    **dict.fromkeys(_FLOAT6, 6),
}
# numpy makes an index of eight bytes from each code; this many of them fit into the cache.
_LOOKED_UP_AT_ONCE = 1 << 15


@dataclass(frozen=True, slots=True)
class ElementType:
    """How elements of one type are stored in a dump and in an array.

    Attributes
    ----------
    name : str or None
        The name of the type; None for bytes without a known type.
    bits : int
        Size of an element in a dump.
    dtype : numpy.dtype
        The type of the array.
    codes : numpy.dtype
        The type of an element before `decode`: that of the dump, or a byte that holds the bits of a
        narrower element.
    decode : callable or None
        Function from codes, of any shape and strides, to elements; it returns a view if possible.
        None if codes are elements.
    may_be_view : bool
        Whether an array can be a view of the bytes in the dump, at least for some values.
    high_bits_first : bool
        For elements narrower than a byte, whether the first one is in the highest bits.
    is_opaque : bool
        Whether the encoding is not documented; an element is then a byte, and shapes are ignored.
    """

    name: str | None
    bits: int
    dtype: np.dtype[Any]
    codes: np.dtype[Any]
    decode: Callable[[Array], Array] | None = None
    may_be_view: bool = False
    high_bits_first: bool = False
    is_opaque: bool = False

    @property
    def is_packed(self) -> bool:
        """Whether an element is narrower than a byte."""
        return self.bits < 8

    @property
    def is_float6(self) -> bool:
        """Whether elements can be read only if the caller says how they are packed."""
        return self.name in _FLOAT6

    def n_bytes(self, n: int) -> int:
        """Return how many bytes `n` elements take in a dump."""
        return -(-n * self.bits // 8)


@functools.cache
def element_type(name: str | None) -> ElementType:
    """Return the type of elements called `name`; None stands for bytes without a type."""
    if name in _NUMPY:
        dtype = np.dtype(name).newbyteorder("<")
        return ElementType(name, 8 * dtype.itemsize, dtype, dtype, may_be_view=True)
    if name in _ML_DTYPES:
        dtype = _ml_dtype(name)
        return ElementType(name, 8 * dtype.itemsize, dtype, dtype, may_be_view=True)
    byte = np.dtype(np.uint8)
    if name in _ML_DTYPES_PACKED:
        dtype = _ml_dtype(name)
        return ElementType(name, _ML_DTYPES_PACKED[name], dtype, byte, _viewed_as(dtype))
    float32 = np.dtype(np.float32)
    match name:
        case "bool":
            boolean = np.dtype(np.bool_)
            return ElementType(name, 8, boolean, byte, _truth_values, may_be_view=True)
        case "uint1":
            return ElementType(name, 1, byte, byte, high_bits_first=True)
        case "float4_e1m2":
            return ElementType(name, 4, float32, byte, _looked_up(_float4_e1m2_values()))
        case "hifloat8":
            return ElementType(name, 8, float32, byte, _looked_up(_hifloat8_values()))
        case "complex32":
            pair = np.dtype("<u4")
            return ElementType(name, 32, np.dtype(np.complex64), pair, _complex64)
    return ElementType(name, 8, byte, byte, may_be_view=True, is_opaque=True)


def unpack(element: ElementType, data: NDArray[np.uint8], n: int, threads: int) -> Array:
    """Return the first `n` elements of packed bytes as codes, one in each byte."""
    codes = np.empty(n, np.uint8)
    assert element.name is not None
    reading_memory(_core.unpack)(data.data, element.name, n, codes.data, threads)
    return codes


def unpack_float6(data: NDArray[np.uint8], n: int, bit_order: BitOrder) -> Array:
    """Return the first `n` 6-bit codes; three bytes hold four of them.

    Parameters
    ----------
    data
        At least as many bytes as `n` codes take.
    n
        Number of codes.
    bit_order
        "little": the lowest bit comes first, in elements and in bytes; "big": the highest does.
    """
    padded = np.zeros((-(-n // 4), 3), np.uint8)
    n_bytes = -(-n * 6 // 8)
    padded.reshape(-1)[:n_bytes] = data[:n_bytes]
    first, second, third = padded.T
    codes = np.empty((len(padded), 4), np.uint8)
    if bit_order == "little":
        codes[:, 0] = first
        codes[:, 1] = first >> 6 | second << 2
        codes[:, 2] = second >> 4 | third << 4
        codes[:, 3] = third >> 2
    else:
        codes[:, 0] = first >> 2
        codes[:, 1] = first << 4 | second >> 4
        codes[:, 2] = second << 2 | third >> 6
        codes[:, 3] = third
    codes &= 0x3F
    return codes.reshape(-1)[:n]


def _ml_dtype(name: str) -> np.dtype[Any]:
    # Importing ml_dtypes takes a while, and many dumps do not need it.
    import ml_dtypes

    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return dtype


def _viewed_as(dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    return lambda codes: codes.view(dtype)


def _looked_up(values: NDArray[np.float32]) -> Callable[[Array], Array]:
    def decode(codes: Array) -> Array:
        flat = np.ascontiguousarray(codes).reshape(-1)
        elements = np.empty(flat.size, values.dtype)
        for start in range(0, flat.size, _LOOKED_UP_AT_ONCE):
            part = slice(start, start + _LOOKED_UP_AT_ONCE)
            np.take(values, flat[part], out=elements[part], mode="clip")
        return elements.reshape(codes.shape)

    return decode


def _truth_values(codes: Array) -> Array:
    # numpy sorts bools by their bytes, other libraries read 2 as neither True nor False.
    if codes.max(initial=0) <= 1:
        return codes.view(np.bool_)
    return np.asarray(codes != 0)


def _complex64(codes: Array) -> Array:
    pairs = np.ascontiguousarray(codes).view("<f2")
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        values: Array = pairs.astype(np.float32)
    return values.view(np.complex64).reshape(codes.shape)


def _hifloat8_values() -> NDArray[np.float32]:
    """Return the value of each code of hifloat8.

    A code is a sign and seven bits t. The leading bits of t tell how many exponent bits follow
    (0001: none, 001: one, 01: two, 10: three, 11: four); the mantissa takes the rest. The first
    exponent bit is the sign of the exponent; an implicit one precedes the others. Below 8, t is
    itself an exponent: 2^(t - 23).
    """
    t = np.arange(128)
    n_exponent = np.select([t >= 0x60, t >= 0x40, t >= 0x20, t >= 0x10], [4, 3, 2, 1], 0)
    n_mantissa = np.select([n_exponent == 4, n_exponent == 3], [1, 2], 3)
    leading = np.where(n_exponent > 0, 1 << np.maximum(n_exponent - 1, 0), 0)
    field = t >> n_mantissa
    magnitude = leading + (field & np.maximum(leading - 1, 0))
    exponent = np.where(field & leading, -magnitude, magnitude)
    fraction = (t & ((1 << n_mantissa) - 1)) / (1 << n_mantissa)
    positive = np.where(t < 8, 2.0 ** (t - 23), (1 + fraction) * 2.0**exponent)
    positive[0] = 0
    positive[0x6F] = np.inf
    values = np.concatenate([positive, -positive]).astype(np.float32)
    values[0x80] = np.nan  # there is no negative zero
    return values


def _float4_e1m2_values() -> NDArray[np.float32]:
    """Return the value of each code of float4_e1m2: a sign and a number of quarters."""
    positive = np.arange(8, dtype=np.float32) / 4
    return np.concatenate([positive, -positive])
