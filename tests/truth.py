"""Slow, exact answers from codes: what every statistic of every element type must be.

Shares nothing with fastdump. Codes become numbers through numpy, through ml_dtypes, or, for what
neither has, through the definitions of the formats, written out here. Sums are sums of integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Every moment may be off by this much, relative to the sum of what was added.
TOLERANCE = Fraction(1, 10**12)
SMALLEST = Fraction(math.ulp(0.0))


@dataclass(frozen=True)
class ElementType:
    """How the codes of one element type read."""

    name: str
    number: int  # in a dump's header
    bits: int
    code: type[np.unsignedinteger[Any]]  # holds one code; of complex types one part
    # Codes -> values: float64, or Python integers in an object array.
    decode: Callable[[Array], Array]
    smallest_normal: float = 0.0  # of integers: 0
    largest: float = 0.0  # of integers and bool: limits
    limits: tuple[int, ...] = ()
    is_complex: bool = False
    high_bits_first: bool = False

    @property
    def is_integer(self) -> bool:
        return self.largest == 0

    @property
    def n_codes(self) -> int:
        """How many codes there are; of complex types, of a part."""
        return 1 << (self.bits // 2 if self.is_complex else self.bits)


def _numpy_float(dtype: Any) -> Callable[[Array], Array]:
    def decode(codes: Array) -> Array:
        with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
            return codes.view(dtype).astype(np.float64)

    return decode


def _numpy_integer(dtype: Any) -> Callable[[Array], Array]:
    return lambda codes: codes.view(dtype).astype(object)


def _table(values: Iterable[float]) -> Callable[[Array], Array]:
    table = np.array(list(values), np.float64)
    return lambda codes: table[codes]


def _signed(bits: int) -> Callable[[Array], Array]:
    half = 1 << (bits - 1)
    return lambda codes: (codes.astype(np.int64) ^ half).astype(object) - half


def _unsigned(codes: Array) -> Array:
    return codes.astype(object)


def _truth_values(codes: Array) -> Array:
    return (codes != 0).astype(np.int64).astype(object)


def hifloat8(code: int) -> float:
    """S, then a prefix that says how many exponent bits follow, the exponent, the mantissa."""
    special = {0x00: 0.0, 0x80: math.nan, 0x6F: math.inf, 0xEF: -math.inf}
    if code in special:
        return special[code]
    sign = -1.0 if code & 0x80 else 1.0
    text = f"{code & 0x7F:07b}"
    if text.startswith("0000"):
        return sign * 2.0 ** (int(text, 2) - 23)
    # prefix -> number of exponent bits; the mantissa takes what is left of the seven
    prefix, n_exponent = next(
        (prefix, n)
        for prefix, n in {"0001": 0, "001": 1, "01": 2, "10": 3, "11": 4}.items()
        if text.startswith(prefix)
    )
    exponent_bits = text[len(prefix) : len(prefix) + n_exponent]
    mantissa_bits = text[len(prefix) + n_exponent :]
    exponent = 0
    if exponent_bits:
        exponent = int("1" + exponent_bits[1:], 2)  # the leading one is not stored
        if exponent_bits[0] == "1":
            exponent = -exponent
    return sign * (1 + int(mantissa_bits, 2) / 2 ** len(mantissa_bits)) * 2.0**exponent


def float4_e1m2(code: int) -> float:
    return math.copysign((code & 7) / 4, -1 if code & 8 else 1)


def _ml_float(dtype: Any, bits: int) -> Callable[[Array], Array]:
    codes = np.arange(1 << bits, dtype=np.uint16 if bits == 16 else np.uint8)
    with np.errstate(invalid="ignore"):
        return _table(codes.view(dtype).astype(np.float64))


def _code_type(bits: int) -> type[np.unsignedinteger[Any]]:
    return {16: np.uint16, 32: np.uint32, 64: np.uint64}.get(bits, np.uint8)


def _floats(
    name: str,
    number: int,
    bits: int,
    smallest_normal: float,
    largest: float,
    decode: Callable[[Array], Array] | None = None,
) -> ElementType:
    """Return a type that numpy or ml_dtypes reads, else `decode`. Of complex types: its part."""
    is_complex = name.startswith("complex")
    if decode is None and hasattr(ml_dtypes, name) and not is_complex:
        decode = _ml_float(getattr(ml_dtypes, name), bits)
    return ElementType(
        name,
        number,
        2 * bits if is_complex else bits,
        _code_type(bits),
        decode or _numpy_float({16: np.float16, 32: np.float32, 64: np.float64}[bits]),
        smallest_normal,
        largest,
        is_complex=is_complex,
    )


def _integers(name: str, number: int, bits: int, **more: Any) -> ElementType:
    is_signed = name.startswith("i")
    half = 1 << (bits - 1)
    limits = (-half, half - 1) if is_signed else (2 * half - 1,)
    decode = _unsigned
    if is_signed:
        decode = _signed(bits) if bits < 8 else _numpy_integer(name)
    return ElementType(name, number, bits, _code_type(bits), decode, limits=limits, **more)


FLOAT16 = (16, 2.0**-14, 65504.0)
FLOAT32 = (32, 2.0**-126, (2 - 2.0**-23) * 2.0**127)
FLOAT64 = (64, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023)

ELEMENT_TYPES: Mapping[str, ElementType] = {
    element.name: element
    for element in (
        _floats("float32", 1, *FLOAT32),
        _floats("float16", 2, *FLOAT16),
        _integers("int8", 3, 8),
        _integers("uint8", 4, 8),
        _integers("int16", 5, 16),
        _integers("uint16", 6, 16),
        _integers("int32", 7, 32),
        _integers("int64", 8, 64),
        _integers("uint32", 9, 32),
        _integers("uint64", 10, 64),
        ElementType("bool", 11, 8, np.uint8, _truth_values),
        _floats("float64", 12, *FLOAT64),
        _floats("complex64", 16, *FLOAT32),
        _floats("complex128", 17, *FLOAT64),
        _floats("bfloat16", 27, 16, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
        _integers("int4", 28, 4),
        _integers("uint1", 29, 1, high_bits_first=True),
        _integers("int2", 30, 2),
        _integers("uint2", 31, 2),
        _floats("complex32", 32, *FLOAT16),
        _floats("hifloat8", 33, 8, 2.0**-15, 2.0**15, decode=_table(map(hifloat8, range(256)))),
        _floats("float8_e5m2", 34, 8, 2.0**-14, 57344.0),
        _floats("float8_e4m3fn", 35, 8, 2.0**-6, 448.0),
        _floats("float8_e8m0fnu", 36, 8, 2.0**-127, 2.0**127),
        _floats("float4_e2m1fn", 39, 4, 1.0, 6.0),
        _floats("float4_e1m2", 40, 4, 1.0, 1.75, decode=_table(map(float4_e1m2, range(16)))),
    )
}


@dataclass(frozen=True)
class Truth:
    """Exact statistics of the finite elements, and how many of each kind there are."""

    count: int
    nan: int
    pos_inf: int
    neg_inf: int
    zero: int
    subnormal: int
    saturated: int
    min_abs: float | int | None
    first_bad: int | None
    max: float | int | None
    min: float | int | None
    sum: Fraction
    sum_absolute: Fraction
    sum_squares: Fraction
    is_complex: bool
    # Nothing is rounded but the sum itself, once, before it is divided or its root is taken: sums
    # of integers, and of so few elements that each has a lane; squares that float64 holds.
    is_sum_exact: bool
    are_squares_exact: bool

    @property
    def finite(self) -> int:
        return self.count - self.nan - self.pos_inf - self.neg_inf


def statistics(element: ElementType, codes: Array) -> Truth:
    """Return the statistics of `codes`: shape (n,), of complex types (n, 2)."""
    if element.is_complex:
        return _complex_statistics(element, codes)
    # What a code is worth is looked at once, however often it occurs.
    distinct, occurrences = np.unique(codes, return_counts=True)
    weights = [int(n) for n in occurrences]
    values = element.decode(distinct)
    if element.is_integer:
        numbers = [int(value) for value in values]
        total, absolute, squares = (
            Fraction(sum(weight * number for weight, number in zip(weights, terms, strict=True)))
            for terms in (numbers, map(abs, numbers), (number**2 for number in numbers))
        )
        counts = (0, 0, 0, _weight_where(weights, [number == 0 for number in numbers]), 0)
        saturated = _weight_where(weights, [number in element.limits for number in numbers])
        return Truth(
            codes.size,
            *counts,
            saturated=saturated,
            min_abs=min((abs(number) for number in numbers if number), default=None),
            first_bad=None,
            max=max(numbers, default=None),
            min=min(numbers, default=None),
            sum=total,
            sum_absolute=absolute,
            sum_squares=squares,
            is_complex=False,
            is_sum_exact=True,
            are_squares_exact=element.bits <= 16,
        )
    magnitudes = np.abs(values)
    finite = np.isfinite(values)
    total, absolute, squares = _exact_sums(
        (float(value), weight)
        for value, weight, use in zip(values, weights, finite, strict=True)
        if use
    )
    bad = np.flatnonzero(np.isin(codes, distinct[~finite]))
    subnormal = (magnitudes > 0) & (magnitudes < element.smallest_normal)
    return Truth(
        count=codes.size,
        nan=_weight_where(weights, np.isnan(values)),
        pos_inf=_weight_where(weights, values == math.inf),
        neg_inf=_weight_where(weights, values == -math.inf),
        zero=_weight_where(weights, values == 0),
        subnormal=_weight_where(weights, subnormal),
        saturated=_weight_where(weights, magnitudes == element.largest),
        min_abs=min((float(size) for size in magnitudes[finite] if size > 0), default=None),
        first_bad=int(bad[0]) if bad.size else None,
        max=float(values[finite].max()) if finite.any() else None,
        min=float(values[finite].min()) if finite.any() else None,
        sum=total,
        sum_absolute=absolute,
        sum_squares=squares,
        is_complex=False,
        is_sum_exact=codes.size <= 16 and element.bits <= 32,
        are_squares_exact=codes.size <= 16 and element.bits <= 32,
    )


def _weight_where(weights: list[int], mask: Iterable[Any]) -> int:
    return sum(weight for weight, use in zip(weights, mask, strict=True) if use)


def _complex_statistics(element: ElementType, codes: Array) -> Truth:
    distinct, occurrences = np.unique(codes, axis=0, return_counts=True)
    weights = [int(n) for n in occurrences]
    parts = element.decode(distinct)
    real, imaginary = parts[:, 0], parts[:, 1]
    nan = np.isnan(parts).any(axis=1)
    infinite = np.isinf(parts).any(axis=1) & ~nan
    # Which infinity a complex number is: the real part's, if that is infinite.
    sign = np.where(np.isinf(real), real, imaginary)
    finite = ~nan & ~infinite
    size = np.abs(parts)
    subnormal = ((size > 0) & (size < element.smallest_normal)).any(axis=1)
    squares = [
        Fraction(float(re)) ** 2 + Fraction(float(im)) ** 2
        for re, im in zip(real[finite], imaginary[finite], strict=True)
    ]
    magnitudes = [rounded_root(square) for square in squares]
    finite_weights = [weight for weight, use in zip(weights, finite, strict=True) if use]
    total = exact_sum(map(mul, map(Fraction, magnitudes), finite_weights))
    bad = np.flatnonzero(~np.isfinite(element.decode(codes)).all(axis=1))
    return Truth(
        count=len(codes),
        nan=_weight_where(weights, nan),
        pos_inf=_weight_where(weights, infinite & (sign > 0)),
        neg_inf=_weight_where(weights, infinite & (sign < 0)),
        zero=_weight_where(weights, (parts == 0).all(axis=1)),
        subnormal=_weight_where(weights, subnormal),
        saturated=_weight_where(weights, (size == element.largest).any(axis=1)),
        min_abs=min((size for size in magnitudes if size > 0), default=None),
        first_bad=int(bad[0]) if bad.size else None,
        max=max(magnitudes, default=None),
        min=min(magnitudes, default=None),
        sum=total,
        sum_absolute=total,
        sum_squares=exact_sum(map(mul, squares, finite_weights)),
        is_complex=True,
        is_sum_exact=False,
        are_squares_exact=False,
    )


def exact_sum(values: Iterable[Fraction]) -> Fraction:
    """Return the sum, made over one denominator: `sum` reduces every fraction on the way."""
    terms = list(values)
    common = math.lcm(*(term.denominator for term in terms))
    total = sum(term.numerator * (common // term.denominator) for term in terms)
    return Fraction(total, common)


def _exact_sums(terms: Iterable[tuple[float, int]]) -> tuple[Fraction, Fraction, Fraction]:
    """Return the sums of values, absolute values and squares, each times its weight."""
    # Every float64 is a multiple of 2^-1074.
    total = absolute = squares = 0
    for value, weight in terms:
        numerator, denominator = value.as_integer_ratio()
        scaled = numerator << (1075 - denominator.bit_length())
        total += weight * scaled
        absolute += weight * abs(scaled)
        squares += weight * scaled * scaled
    unit = 1 << 1074
    return Fraction(total, unit), Fraction(absolute, unit), Fraction(squares, unit * unit)


def rounded(value: Fraction) -> float:
    """Return the float64 next to `value`; infinite if it is beyond the range."""
    try:
        return float(value)  # Python divides integers with one rounding
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def rounded_root(value: Fraction) -> float:
    """Return the float64 next to the square root of `value`."""
    numerator, denominator = value.numerator, value.denominator
    shift = 130 + max(0, denominator.bit_length() - numerator.bit_length()) // 2
    root = math.isqrt((numerator << (2 * shift)) // denominator)
    # One more bit for all that was cut off, so that it cannot be taken for a tie.
    is_exact = root * root * denominator == numerator << (2 * shift)
    return rounded(Fraction(2 * root + (not is_exact), 2 << shift))


def assert_true(result: Any, truth: Truth, level: str) -> None:
    """Assert that `result`, a row of a table or what stats_of returned, tells the truth."""
    for name in ("count", "nan", "pos_inf", "neg_inf"):
        assert getattr(result, name) == getattr(truth, name), name
    for name in ("zero", "subnormal", "saturated", "first_bad"):
        expected = getattr(truth, name) if level == "full" else None
        assert getattr(result, name) == expected, name
    if level != "full" or truth.min_abs is None:
        assert result.min_abs is None
    else:
        _assert_extreme(result.min_abs, truth.min_abs, truth.is_complex)
    if level == "health":
        assert (result.max, result.min, result.mean, result.l2norm) == (None,) * 4
        return
    if truth.finite == 0:
        assert (result.max, result.min, result.mean) == (None,) * 3
        assert result.l2norm == 0
        return
    _assert_extreme(result.max, truth.max, truth.is_complex)
    _assert_extreme(result.min, truth.min, truth.is_complex)
    _assert_mean(result.mean, truth)
    _assert_l2norm(result.l2norm, truth)


def _assert_extreme(extreme: float | int, expected: Any, is_complex: bool) -> None:
    if is_complex:  # a magnitude: a root of a sum of squares, each rounded
        assert math.isclose(extreme, expected, rel_tol=2**-51, abs_tol=math.ulp(0.0))
        return
    if isinstance(extreme, float):
        expected = float(expected)
        assert extreme != 0 or math.copysign(1, extreme) == 1, "minus zero"
    assert extreme == expected


def _assert_mean(mean: float, truth: Truth) -> None:
    if truth.is_sum_exact:
        assert mean == rounded(truth.sum) / truth.finite
        return
    error = abs(Fraction(mean) - truth.sum / truth.finite)
    assert error <= TOLERANCE * truth.sum_absolute / truth.finite + SMALLEST


def _assert_l2norm(l2norm: float, truth: Truth) -> None:
    if truth.are_squares_exact:
        assert l2norm == math.sqrt(rounded(truth.sum_squares))
        return
    expected = rounded_root(truth.sum_squares)
    if math.isinf(expected):
        assert l2norm == math.inf
        return
    # Half the relative error of its square.
    assert (
        abs(Fraction(l2norm) - Fraction(expected)) <= TOLERANCE / 2 * Fraction(expected) + SMALLEST
    )


def packed(element: ElementType, codes: Array) -> bytes:
    """Return codes as they lie in a dump."""
    if element.bits >= 8:
        return codes.astype(codes.dtype.newbyteorder("<")).tobytes()
    per_byte = 8 // element.bits
    content = bytearray(-(-len(codes) // per_byte))
    for i, code in enumerate(codes.tolist()):
        byte, slot = divmod(i, per_byte)
        if element.high_bits_first:
            slot = per_byte - 1 - slot
        content[byte] |= code << (slot * element.bits)
    return bytes(content)


def unpacked(element: ElementType, content: bytes, n: int) -> Array:
    """Return the first n codes of a payload."""
    if element.bits >= 8:
        n_parts = 2 * n if element.is_complex else n
        codes = np.frombuffer(content, np.dtype(element.code).newbyteorder("<"), n_parts)
        codes = codes.astype(element.code)
        return codes.reshape(n, 2) if element.is_complex else codes
    per_byte = 8 // element.bits
    codes = np.zeros(n, element.code)
    for i in range(n):
        byte, slot = divmod(i, per_byte)
        if element.high_bits_first:
            slot = per_byte - 1 - slot
        codes[i] = content[byte] >> (slot * element.bits) & (element.n_codes - 1)
    return codes


def assert_row_is_of_its_bytes(row: Any, content: bytes) -> None:
    """Assert that the numbers of a row are those of the elements that it says it counted."""
    if row.io is None:
        assert row.status in ("malformed", "unreadable", "ok")
        assert row.count is None
        return
    if row.status == "ok" and row.nbytes > 0:
        assert row.offset + row.nbytes <= len(content)
    if row.count is None:
        assert row.status in ("unsupported", "truncated", "absent", "ok")
        assert (row.max, row.l2norm, row.nan, row.zero) == (None,) * 4
        return
    element = ELEMENT_TYPES[row.dtype]
    shape = row.shape
    if row.status == "ok" and all(dim >= 0 for dim in shape):
        assert row.count == math.prod(shape)
    payload = content[row.offset : row.offset + -(-row.count * element.bits // 8)]
    codes = unpacked(element, payload, row.count)
    assert_true(row, statistics(element, codes), "full")
