"""Statistics of every element type, against exact arithmetic."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from truth import ELEMENT_TYPES, ElementType, assert_true, packed, statistics, unpacked

import fastdump
from fastdump.testing import TensorSpec, write_dump

Array = npt.NDArray[Any]
Codes = dict[str, Array]

LEVELS = ("health", "basic", "full")
# Around what a vector step, a lane, a decoder's piece and a block of elements may be.
LENGTHS = [0, 1, 2, 3, 7, 8, 9, *(n + d for n in (16, 32, 64, 128, 1024) for d in (-1, 0, 1))]
LONG_LENGTHS = [n + d for n in (1 << 14, 1 << 15, 1 << 16) for d in (-1, 0, 1, 33)]
BLOCK = 1 << 16

types_of_up_to_8_bits = pytest.mark.parametrize(
    "element", [e for e in ELEMENT_TYPES.values() if e.bits <= 8], ids=lambda e: e.name
)
all_types = pytest.mark.parametrize("element", ELEMENT_TYPES.values(), ids=lambda e: e.name)
SPECIAL_FLOATS = {
    # sign of zero, both ends of the subnormals, both ends of the normals, infinities, quiet and
    # signalling NaN with payloads of both signs
    16: [
        *(0, 0x8000, 1, 0x3FF, 0x8001, 0x400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00),
        *(0x7E00, 0x7C01, 0xFFFF),
    ],
    32: [
        *(0, 1 << 31, 1, 0x007FFFFF, 0x80000001, 0x00800000, 0x80800000, 0x7F7FFFFF, 0xFF7FFFFF),
        *(0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0xFFBFFFFF, 0xFFFFFFFF),
    ],
    64: [
        *(0, 1 << 63, 1, (1 << 52) - 1, 1 << 63 | 1, 1 << 52, 0x7FEFFFFFFFFFFFFF),
        *(0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000),
        *(0xFFF8000000000001, 0x7FF0000000000001, 0xFFF7FFFFFFFFFFFF, (1 << 64) - 1),
    ],
}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)


def any_codes(element: ElementType, n: int, rng: np.random.Generator) -> Array:
    """Return n codes, each as likely as any other: most floats are then far apart."""
    shape = (n, 2) if element.is_complex else (n,)
    return rng.integers(0, element.n_codes, shape, np.uint64).astype(element.code)


def ordinary_codes(element: ElementType, n: int, rng: np.random.Generator) -> Array:
    """Return codes as models have them: of floats a normal distribution, without NaN and Inf."""
    parts = 2 if element.is_complex else 1
    dtype = {16: np.float16, 32: np.float32, 64: np.float64}.get(element.bits // parts)
    if element.is_integer or dtype is None:
        return any_codes(element, n, rng)
    values = rng.normal(0.1, 3, (n, 2) if element.is_complex else (n,))
    if element.name == "bfloat16":
        return values.astype(ml_dtypes.bfloat16).view(element.code)
    return values.astype(dtype).view(element.code)


def table_of(
    path: Path, element: ElementType, tensors: Iterable[Array], level: str = "full"
) -> fastdump.StatsTable:
    """Write every array of codes as a tensor and return the statistics of the file."""
    specs = [TensorSpec(packed(element, t), element.number, shape=(len(t),)) for t in tensors]
    path.mkdir(exist_ok=True)
    write_dump(path / "Cast.all.1.2.1700000000000000", outputs=specs)
    return fastdump.stats(path, level=level)


def assert_rows_true(
    path: Path, element: ElementType, tensors: list[Array], level: str = "full"
) -> None:
    table = table_of(path, element, tensors, level)
    assert list(table["index"]) == list(range(len(tensors)))
    assert set(table["dtype"]) == {element.name}
    assert set(table["status"]) == {"ok"}
    for row, codes in zip(table, tensors, strict=True):
        assert_true(row, statistics(element, codes), level)


@types_of_up_to_8_bits
def test_every_code_of_up_to_8_bits_alone_and_together(
    element: ElementType, tmp_path: Path
) -> None:
    codes = np.arange(element.n_codes, dtype=np.uint8)
    # Together: once more than a register holds, in every place of a byte, backwards.
    together = [codes, np.tile(codes[::-1], 5), np.repeat(codes, 3)]
    assert_rows_true(tmp_path, element, [*np.split(codes, len(codes)), *together])


@pytest.mark.parametrize("name", ["int4", "int2", "uint2", "uint1", "float4_e2m1fn", "float4_e1m2"])
def test_every_byte_of_packed_types(name: str, tmp_path: Path) -> None:
    element = ELEMENT_TYPES[name]
    in_byte = np.arange(8 // element.bits) * element.bits
    if element.high_bits_first:
        in_byte = in_byte[::-1]
    codes = (np.arange(256)[:, None] >> in_byte) & (element.n_codes - 1)
    assert_rows_true(tmp_path, element, [*codes.astype(np.uint8), codes.ravel().astype(np.uint8)])


@pytest.mark.parametrize("name", ["float16", "bfloat16", "int16", "uint16"])
def test_every_code_of_16_bits(name: str, tmp_path: Path) -> None:
    element = ELEMENT_TYPES[name]
    codes = np.arange(1 << 16, dtype=np.uint16)
    finite = codes
    if not element.is_integer:
        finite = codes[np.isfinite(element.decode(codes))]
    # Sixteen at a time no sum is rounded but once: a wrong code cannot hide.
    assert_rows_true(tmp_path / "all", element, [codes, finite, codes[::-1]])
    assert_rows_true(tmp_path / "few", element, np.split(codes, 1 << 12))


@all_types
def test_lengths_around_steps_and_blocks(
    element: ElementType, tmp_path: Path, rng: np.random.Generator
) -> None:
    tensors = [ordinary_codes(element, n, rng) for n in LENGTHS]
    tensors += [any_codes(element, n, rng) for n in LENGTHS]
    few = ordinary_codes(element, 500, rng)  # so that the truth is known soon
    tensors += [rng.choice(few, n) for n in LONG_LENGTHS]
    assert_rows_true(tmp_path, element, tensors)


# Codes of 1 and of a NaN; of complex types of a part.
ONE_AND_NAN = {
    "float16": (0x3C00, 0x7C01),
    "float32": (0x3F800000, 0xFFC00000),
    "float64": (0x3FF << 52, (0x7FF << 52) + 1),
    "complex32": (0x3C00, 0xFFFF),
    "complex64": (0x3F800000, 0x7F800001),
    "complex128": (0x3FF << 52, 0xFFF << 52 | 9),
    "bfloat16": (0x3F80, 0x7F81),
    "hifloat8": (0x08, 0x80),
    "float8_e5m2": (0x3C, 0x7D),
    "float8_e4m3fn": (0x38, 0xFF),
    "float8_e8m0fnu": (127, 0xFF),
}


@pytest.mark.parametrize("name", ONE_AND_NAN)
def test_first_bad_wherever_it_is(name: str, tmp_path: Path) -> None:
    element = ELEMENT_TYPES[name]
    one, nan = ONE_AND_NAN[name]
    n = BLOCK + 70
    tensors = []
    places = [
        *range(17),
        31,
        32,
        33,
        63,
        1023,
        1024,
        16383,
        16384,
        32767,
        32768,
        BLOCK - 1,
        BLOCK,
        BLOCK + 1,
    ]
    for place in [*places, n - 2, n - 1]:
        codes = np.full((n, 2) if element.is_complex else (n,), one, element.code)
        codes[place:] = nan
        tensors.append(codes)
    table = table_of(tmp_path, element, tensors)
    for row, codes in zip(table, tensors, strict=True):
        assert_true(row, statistics(element, codes), "full")
        assert row.first_bad == n - row.nan


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_special_floats(name: str, tmp_path: Path, rng: np.random.Generator) -> None:
    element = ELEMENT_TYPES[name]
    special = np.array(SPECIAL_FLOATS[element.bits], np.uint64).astype(element.code)
    tensors = [*special[:, None]]
    for n in (2, 5, 16, 33, 64, 1000):
        tensors += [rng.choice(special, n) for _ in range(40)]
        tensors += [rng.choice(special[np.isfinite(element.decode(special))], n) for _ in range(10)]
    # Blocks with and without bad values take turns.
    long = rng.choice(ordinary_codes(element, 500, rng), 4 * BLOCK + 100)
    long[BLOCK + 7 : 2 * BLOCK : 100] = special[-1]
    long[3 * BLOCK] = special[special.size // 2]
    assert_rows_true(tmp_path, element, [*tensors, long])


@pytest.mark.parametrize("name", ["complex32", "complex64", "complex128"])
def test_special_complex_numbers(name: str, tmp_path: Path, rng: np.random.Generator) -> None:
    element = ELEMENT_TYPES[name]
    special = np.array(SPECIAL_FLOATS[element.bits // 2], np.uint64).astype(element.code)
    pairs = np.stack(np.meshgrid(special, special), axis=-1).reshape(-1, 2)
    if name == "complex128":  # the magnitude of these has a test of its own
        size = np.abs(element.decode(pairs))
        pairs = pairs[(size < np.finfo(np.float64).max).any(axis=1)]
    tensors = [*np.split(pairs, len(pairs)), pairs, rng.choice(pairs, 100)]
    assert_rows_true(tmp_path, element, tensors)


def test_bad_parts_make_a_complex_number_bad() -> None:
    nan, inf = math.nan, math.inf
    numbers = [complex(nan, 1), complex(1, nan), complex(inf, nan), complex(nan, -inf)]
    numbers += [complex(inf, -1), complex(-3, inf), complex(-inf, 2), complex(3, -inf), 3 - 4j]
    for dtype in (np.complex64, np.complex128):
        result = fastdump.stats_of(np.array(numbers, dtype), level="full")
        assert (result.count, result.nan, result.pos_inf, result.neg_inf) == (9, 4, 2, 2)
        assert (result.max, result.min, result.mean, result.l2norm) == (5, 5, 5, 5)
        assert result.first_bad == 0


def test_magnitude_of_a_finite_complex_number_is_never_counted_as_inf() -> None:
    largest = np.finfo(np.float64).max
    result = fastdump.stats_of(np.array([complex(largest, -largest)]), level="full")
    assert (result.nan, result.pos_inf, result.neg_inf, result.first_bad) == (0, 0, 0, None)
    assert result.saturated == 1


@pytest.mark.parametrize(
    "values",
    [
        [1e300, -1e300, 1.0],
        [1e300] * 20,
        [1.7e308] * 3,
        [-1.7e308] * 40,
        [1.7e308, -1.7e308] * 17,
        [1e-300, 1e-310, -1e-300, 5e-324],
        [5e-324] * 40,
        [5e-324, 0.0],
        [1e-160] * 100,
        [1e-170, 1e160, -1.0],
        [2.0**480, 2.0**481, 2.0**-440, 2.0**-441],
        [2.0**480] * 33,
        [2.0**-440] * 33,
        [2.0**-441] * 33,
        [1.5e154] * 2,
        [1e200] * (BLOCK + 5) + [1e-200] * (BLOCK + 5),
        [1e-200] * (BLOCK + 5) + [1.0] * (BLOCK + 5) + [1e200] * 5,
        [math.nan, 1e200, math.inf, 1e-200] * 20,
        [-(2.0**-1074)] * 3 + [2.0**-1022],
    ],
    ids=lambda values: f"{len(values)}x{values[0]:.2g}",
)
def test_float64_whose_squares_leave_the_range(values: list[float]) -> None:
    array = np.array(values)
    truth = statistics(ELEMENT_TYPES["float64"], array.view(np.uint64))
    assert_true(fastdump.stats_of(array, level="full"), truth, "full")


def test_sums_that_cancel() -> None:
    values = np.concatenate(
        [np.full(1000, 1e16), np.full(1000, 1.0), np.full(1000, -1e16), np.full(1000, 1e-16)]
    )
    for order in (values, values[::-1], np.random.default_rng(1).permutation(values)):
        truth = statistics(ELEMENT_TYPES["float64"], order.view(np.uint64))
        assert_true(fastdump.stats_of(order), truth, "basic")


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_64_bit_integers_at_their_limits(name: str) -> None:
    dtype = np.dtype(name)
    limits = np.iinfo(dtype)
    for values in (
        [limits.max],
        [limits.min],
        [limits.max, limits.min],
        [limits.max, limits.max - 1],
        [limits.max] * 1000,
        [limits.min] * (BLOCK + 17),
        [limits.max, limits.min, 1] * 100,
        [2**53 + 1, 2**53, 1],
        list(range(100)),
    ):
        array = np.array(values, dtype)
        truth = statistics(ELEMENT_TYPES[name], array.view(np.uint64))
        result = fastdump.stats_of(array, level="full")
        assert_true(result, truth, "full")
        assert (type(result.max), result.max, result.min) == (int, max(values), min(values))


def test_a_table_tells_integers_that_float64_cannot_hold(tmp_path: Path) -> None:
    write_dump(
        tmp_path / "Cast.int.1.2.1700000000000000",
        outputs=[
            np.array([2**53 + 1, -(2**53) - 1]),
            np.array([2**64 - 1, 2**53], np.uint64),
            np.array([2**53, -(2**53)]),
        ],
    )
    table = fastdump.stats(tmp_path)
    assert list(table["max"]) == [2.0**53, 2.0**64, 2.0**53]
    assert list(table["min"]) == [-(2.0**53), 2.0**53, -(2.0**53)]
    first, second, third = table["note"]
    assert "9007199254740993" in first
    assert "-9007199254740993" in first
    assert "18446744073709551615" in second
    assert third is None


@all_types
def test_levels_agree_and_tell_only_what_they_compute(
    element: ElementType, tmp_path: Path, rng: np.random.Generator
) -> None:
    tensors = [any_codes(element, n, rng) for n in (0, 1, 40, 5000)]
    for level in LEVELS:
        assert_rows_true(tmp_path, element, tensors, level)


# Names as fastdump's documentation and ml_dtypes have them; None: described, not reduced.
TYPE_NAMES = {
    **{element.number: element.name for element in ELEMENT_TYPES.values()},
    14: "int8",
    15: "uint8",
    18: "int8",
    19: "int16",
    20: "int32",
    21: "uint8",
    22: "uint16",
    23: "int64",
}


@pytest.mark.parametrize("number", [*range(48), 99, 255, -1, 2**31 - 1, -(2**31)])
def test_every_type_number(number: int, tmp_path: Path) -> None:
    content = bytes(range(1, 81))
    write_dump(tmp_path / "A.b.1.2.1700000000000000", inputs=[TensorSpec(content, number)])
    (row,) = fastdump.stats(tmp_path, level="full")
    assert row.nbytes == len(content)
    name = TYPE_NAMES.get(number)
    if name is None:
        assert row.status == "unsupported"
        assert row.note
        assert {getattr(row, s) for s in ("max", "min", "mean", "l2norm", "nan", "zero")} == {None}
        return
    element = ELEMENT_TYPES[name]
    codes = unpacked(element, content, len(content) * 8 // element.bits)
    assert (row.status, row.dtype) == ("ok", name)
    assert_true(row, statistics(element, codes), "full")


NUMPY_TYPES: dict[str, np.dtype[Any]] = {}
for type_name in ELEMENT_TYPES:
    with contextlib.suppress(TypeError):
        NUMPY_TYPES[type_name] = np.dtype(getattr(ml_dtypes, type_name, type_name))


def as_numpy(element: ElementType, codes: Array) -> Array:
    """Return codes as an array of their numpy type, one element a byte where they are packed."""
    if element.bits < 8 and element.is_integer:
        values = element.decode(codes)
        return values.astype(np.int8).astype(NUMPY_TYPES[element.name])
    if element.name == "bool":
        return codes.astype(np.bool_)
    return np.ascontiguousarray(codes).reshape(-1).view(NUMPY_TYPES[element.name])


def test_numpy_types_are_here() -> None:
    not_in_every_ml_dtypes = {"complex32", "uint1"}
    assert set(ELEMENT_TYPES) - set(NUMPY_TYPES) - not_in_every_ml_dtypes == {
        "hifloat8",
        "float4_e1m2",
    }


@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_stats_of_every_numpy_type(name: str, rng: np.random.Generator) -> None:
    element = ELEMENT_TYPES[name]
    pool = any_codes(element, 500, rng)
    for n in (0, 1, 2, 3, 5, 17, 300, BLOCK + 3):
        codes = rng.choice(pool, n)
        array = as_numpy(element, codes)
        for level in LEVELS:
            result = fastdump.stats_of(array, level=level)
            assert result.level == level
            assert_true(result, statistics(element, codes), level)


def test_stats_of_packed_types_ignores_the_unused_bits_of_a_byte() -> None:
    rubbish = np.array([0xF1, 0x02, 0x53], np.uint8)
    assert fastdump.stats_of(rubbish.view(ml_dtypes.uint2)).max == 3
    assert fastdump.stats_of(rubbish.view(ml_dtypes.int4)).max == 3
    assert fastdump.stats_of(rubbish.view(ml_dtypes.float4_e2m1fn)).max == 1.5


def test_a_true_bool_is_any_byte_but_zero() -> None:
    result = fastdump.stats_of(np.array([0, 1, 2, 255], np.uint8).view(np.bool_), level="full")
    assert (result.max, result.min, result.mean) == (1, 0, 0.75)
    assert (result.zero, result.l2norm) == (1, math.sqrt(3))


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "transposed": lambda a: a.reshape(6, 20).T,
    "reversed": lambda a: a[::-1],
    "every third": lambda a: a[1::3],
    "reversed rows of every second column": lambda a: a.reshape(6, 20)[::-1, ::2],
    "fortran": lambda a: np.asfortranarray(a.reshape(2, 3, 20)),
    "broadcast": lambda a: np.broadcast_to(a[:4], (3, 4)),
    "one element repeated": lambda a: np.broadcast_to(a[0], (7,)),
    "no elements": lambda a: a.reshape(0, 3, -1) if a.size == 0 else a[:0].reshape(0, 3, 1),
    "no dimensions": lambda a: a[5].reshape(()) if hasattr(a[5], "reshape") else np.array(a[5]),
    "read-only": lambda a: np.frombuffer(a.tobytes(), a.dtype),
    "unaligned": lambda a: np.frombuffer(b"\1" + a.tobytes(), np.uint8)[1:].view(a.dtype),
    "four dimensions": lambda a: a.reshape(2, 3, 4, 5)[:, 1:, ::-1, 1:4],
    "subclass": lambda a: a.view(np.recarray) if a.dtype.names else a.view(np.ndarray),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "name", ["float32", "float64", "bfloat16", "int64", "uint8", "complex64", "int4"]
)
def test_stats_of_any_layout(name: str, layout: str, rng: np.random.Generator) -> None:
    element = ELEMENT_TYPES[name]
    array = LAYOUTS[layout](as_numpy(element, ordinary_codes(element, 120, rng)))
    in_order = np.array(array.ravel("C").tolist(), array.dtype).reshape(-1)
    codes = in_order.view(np.uint8) & 0xF if name == "int4" else in_order.view(element.code)
    if element.is_complex:
        codes = codes.reshape(-1, 2)
    assert_true(fastdump.stats_of(array, level="full"), statistics(element, codes), "full")


@pytest.mark.parametrize(
    "code", ["f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8", "c8", "c16"]
)
def test_stats_of_both_byte_orders(code: str) -> None:
    values = [0, 1, 2, 3, 250, 7]
    expected = fastdump.stats_of(np.array(values, f"={code}"), level="full")
    assert expected.max == 250
    for order in "<>":
        array = np.array(values, order + code)
        assert fastdump.stats_of(array, level="full") == expected
        assert fastdump.stats_of(array[::-1].reshape(2, 3), level="full") == expected


def test_stats_of_leaves_the_array_as_it_is() -> None:
    array = np.arange(10, dtype=">i4")[::2]
    before = array.copy()
    fastdump.stats_of(array)
    assert array.dtype == before.dtype
    np.testing.assert_array_equal(array, before)


def test_first_bad_is_in_c_order() -> None:
    array = np.zeros((4, 5), np.float32, order="F")
    array[1, 3] = math.nan
    array[2, 0] = math.inf
    assert fastdump.stats_of(array, level="full").first_bad == 8
    assert fastdump.stats_of(array.T, level="full").first_bad == 2


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a"]),
        np.array([b"a"]),
        np.array([None]),
        np.array(["2026-01-01"], "datetime64[D]"),
        np.zeros(2, "m8[s]"),
        np.zeros(2, "f4,i4"),
        np.zeros(2, np.longdouble),
        np.zeros(2, np.clongdouble),
        np.zeros(2, "V3"),
        np.zeros(2, ml_dtypes.float6_e2m3fn),
        np.zeros(2, ml_dtypes.float8_e4m3fnuz),
        np.zeros(2, ml_dtypes.uint4),
    ],
    ids=lambda array: str(array.dtype),
)
def test_types_without_statistics(array: Array) -> None:
    with pytest.raises(fastdump.UnsupportedDTypeError) as error:
        fastdump.stats_of(array)
    assert isinstance(error.value, TypeError)
    assert str(array.dtype) in str(error.value)


@pytest.mark.parametrize("level", ["", "Full", "header", None, 3])
def test_levels_that_do_not_exist(level: Any, tmp_path: Path) -> None:
    write_dump(tmp_path / "A.b.1.2.1700000000000000", inputs=[np.zeros(3)])
    with pytest.raises(ValueError, match="level"):
        fastdump.stats_of(np.zeros(3), level=level)
    with pytest.raises(ValueError, match="level"):
        fastdump.stats(tmp_path, level=level)


@pytest.mark.parametrize("threads", [0, -1, 10**6, sys.maxsize])
def test_numbers_of_threads_that_cannot_be(threads: int, tmp_path: Path) -> None:
    write_dump(tmp_path / "A.b.1.2.1700000000000000", inputs=[np.zeros(3)])
    with pytest.raises(ValueError, match="threads"):
        fastdump.stats_of(np.zeros(3), threads=threads)
    with pytest.raises(ValueError, match="threads"):
        fastdump.stats(tmp_path, threads=threads)
