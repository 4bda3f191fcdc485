"""stats_of: arrays of every type, shape and stride, against numpy in float64."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fastdump import TensorStats, UnsupportedDTypeError, stats_of

FLOATS = [
    np.dtype(np.float16),
    np.dtype(np.float32),
    np.dtype(np.float64),
    np.dtype(ml_dtypes.bfloat16),
    np.dtype(ml_dtypes.float8_e4m3fn),
    np.dtype(ml_dtypes.float8_e5m2),
    np.dtype(ml_dtypes.float8_e8m0fnu),
    np.dtype(ml_dtypes.float4_e2m1fn),
]
INTEGERS = [
    *(np.dtype(f"{kind}{8 << i}") for kind in ("int", "uint") for i in range(4)),
    np.dtype(np.longlong),
    np.dtype(ml_dtypes.int4),
    np.dtype(ml_dtypes.int2),
    np.dtype(ml_dtypes.uint2),
]
# numpy takes a byte for each of these, and only the lowest bits count.
CODES = {"float4_e2m1fn": 16, "int4": 16, "int2": 4, "uint2": 4}


def any_bits(dtype: np.dtype[Any], n: int) -> np.ndarray[Any, Any]:
    """Return elements of random bits: every code of a small type, NaN and Inf among them."""
    generator = np.random.default_rng(n)
    codes = generator.integers(0, CODES.get(dtype.name, 256), n * dtype.itemsize, np.uint8)
    return codes.view(dtype)


def check_float(stats: TensorStats, array: np.ndarray[Any, Any]) -> None:
    """Compare with what numpy says of the same values in float64."""
    with np.errstate(invalid="ignore"):  # some NaN are signalling
        values = array.reshape(-1).astype(np.float64)
    finite = values[np.isfinite(values)]
    assert stats.count == values.size
    assert stats.nan == np.isnan(values).sum()
    assert stats.pos_inf == np.isposinf(values).sum()
    assert stats.neg_inf == np.isneginf(values).sum()
    bad = np.flatnonzero(~np.isfinite(values))
    assert stats.first_bad == (bad[0] if bad.size else None)
    assert stats.zero == (values == 0).sum()
    nonzero = np.abs(finite[finite != 0])
    assert stats.min_abs == (nonzero.min() if nonzero.size else None)
    info = ml_dtypes.finfo(array.dtype)
    assert stats.saturated == (np.abs(finite) == float(info.max)).sum()
    if not finite.size:
        assert stats.max is stats.min is stats.mean is None
        return
    assert stats.max == finite.max()
    assert stats.min == finite.min()
    assert stats.mean is not None
    scale = max(abs(finite).max(), 1e-300)  # so that neither sums nor squares overflow
    mean = math.fsum(finite / scale) / finite.size * scale
    assert abs(stats.mean - mean) <= 1e-12 * np.mean(abs(finite) / scale) * scale
    assert stats.l2norm == pytest.approx(
        math.sqrt(math.fsum((finite / scale) ** 2)) * scale, rel=1e-12
    )


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8, 1000, 1001])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats(dtype: np.dtype[Any], n: int) -> None:
    array = any_bits(dtype, n)
    if dtype == np.float64:
        # Random bits lie near the ends of the range, where the sum of squares overflows.
        array = np.where(abs(array) > 1e150, np.copysign(np.inf, array), array)
    check_float(stats_of(array, level="full"), array)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8, 1000, 1001])
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers(dtype: np.dtype[Any], n: int) -> None:
    array = any_bits(dtype, n)
    stats = stats_of(array, level="full")
    values = [int(value) for value in array]
    assert stats.count == n
    assert stats.nan == stats.pos_inf == stats.neg_inf == 0
    assert stats.first_bad is None
    assert stats.zero == values.count(0)
    assert stats.max == max(values, default=None)
    assert stats.min == min(values, default=None)
    if values:
        assert isinstance(stats.max, int)
        assert stats.mean == pytest.approx(sum(values) / n, rel=1e-12)
        squares = math.sqrt(sum(value * value for value in values))
        assert stats.l2norm == pytest.approx(squares, rel=1e-12)


@pytest.mark.skipif(not hasattr(ml_dtypes, "uint1"), reason="ml_dtypes before 0.6 has no uint1")
def test_bits_of_one_bit() -> None:
    array = np.array([0, 1, 1, 0, 0, 0, 0, 0, 0, 1], ml_dtypes.uint1)
    stats = stats_of(array, level="full")
    assert (stats.count, stats.max, stats.min, stats.mean, stats.zero) == (10, 1, 0, 0.3, 7)


def test_bool_is_zero_and_one() -> None:
    stats = stats_of(np.array([True, False, True]))
    assert (stats.count, stats.max, stats.min) == (3, 1, 0)
    assert stats.mean == pytest.approx(2 / 3)
    assert stats.l2norm == pytest.approx(math.sqrt(2))


COMPLEX_DTYPES = [np.complex64, np.complex128]
if hasattr(ml_dtypes, "complex32"):  # not in the oldest that we support
    COMPLEX_DTYPES.append(ml_dtypes.complex32)


@pytest.mark.parametrize("dtype", COMPLEX_DTYPES, ids=str)
def test_complex_by_magnitude(dtype: Any) -> None:
    array = np.array([3 + 4j, 0, -1j, complex(math.nan, 1), complex(0, -math.inf)]).astype(dtype)
    stats = stats_of(array, level="full")
    assert (stats.count, stats.max, stats.min, stats.mean) == (5, 5.0, 0.0, 2.0)
    assert stats.l2norm == pytest.approx(math.sqrt(26))
    assert stats.nan == 1
    assert stats.nan + stats.pos_inf + stats.neg_inf == 2
    assert stats.first_bad == 3


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int32, ml_dtypes.int4])
def test_any_strides(dtype: Any) -> None:
    base = (np.arange(2 * 3 * 8) % 7).reshape(2, 3, 8).astype(dtype)
    views = [
        base[:, :, ::2],
        base[::-1],
        base.T,
        np.asfortranarray(base),
        base[:, 1],
        np.broadcast_to(base[:, :1], base.shape),
    ]
    for view in views:
        assert stats_of(view, level="full") == stats_of(view.copy(order="C"), level="full")


def test_first_bad_counts_in_c_order() -> None:
    array = np.zeros((3, 4), np.float32)
    array[1, 2] = np.nan
    assert stats_of(array, level="full").first_bad == 6
    assert stats_of(np.asfortranarray(array), level="full").first_bad == 6
    assert stats_of(array.T, level="full").first_bad == 2 * 3 + 1


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "u4", "i8", "c8"])
def test_either_byte_order(dtype: str) -> None:
    values = np.arange(100).astype(f"={dtype}")
    expected = stats_of(values, level="full")
    assert expected.max == 99
    assert stats_of(values.astype(f">{dtype}"), level="full") == expected
    assert stats_of(values.astype(f"<{dtype}"), level="full") == expected


def test_the_array_is_not_changed_and_may_be_read_only() -> None:
    array = np.arange(10, dtype=ml_dtypes.int4)
    before = array.copy()
    array.flags.writeable = False
    assert stats_of(array).max == 7
    assert (array == before).all()


def test_scalars_and_empty_arrays() -> None:
    assert stats_of(np.array(-2.5)).min == -2.5
    assert stats_of(np.float32(1.5)).max == 1.5  # type: ignore[arg-type]
    empty = stats_of(np.empty((0, 3), np.float32), level="full")
    assert (empty.count, empty.nan, empty.zero, empty.saturated) == (0, 0, 0, 0)
    assert empty.max is empty.min is empty.mean is empty.first_bad is None


def test_levels() -> None:
    array = np.array([1.0, np.nan, np.inf, -np.inf, 0.0], np.float32)
    health = stats_of(array, level="health")
    assert health == TensorStats(
        5, None, None, None, None, 1, 1, 1, None, None, None, None, None, "health"
    )
    basic = stats_of(array)
    assert basic == TensorStats(
        5, 1.0, 0.0, 0.5, 1.0, 1, 1, 1, None, None, None, None, None, "basic"
    )
    full = stats_of(array, level="full")
    assert full == dataclasses.replace(
        basic, zero=1, subnormal=0, saturated=0, min_abs=1.0, first_bad=1, level="full"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        full.max = 2.0  # type: ignore[misc]


@pytest.mark.parametrize(
    "dtype",
    [
        object,
        "S3",
        "U3",
        "M8[s]",
        "m8[s]",
        [("a", "f4")],
        "V4",
        ml_dtypes.uint4,
        ml_dtypes.float6_e2m3fn,
        ml_dtypes.float8_e4m3fnuz,
        ml_dtypes.float8_e4m3,
        ml_dtypes.float8_e3m4,
    ],
    ids=str,
)
def test_types_that_dumps_do_not_have(dtype: Any) -> None:
    array = np.zeros(3, dtype)
    with pytest.raises(UnsupportedDTypeError) as caught:
        stats_of(array)
    assert str(array.dtype) in str(caught.value)
    assert isinstance(caught.value, TypeError)


def test_extended_precision_is_not_rounded_behind_the_back() -> None:
    if np.dtype(np.longdouble) == np.float64:
        pytest.skip("longdouble is float64 here")
    with pytest.raises(UnsupportedDTypeError):
        stats_of(np.zeros(3, np.longdouble))


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(TypeError, match="compressed"):
        stats_of(np.ma.masked_array([1.0, 2.0], [True, False]))


@pytest.mark.parametrize(
    "arguments", [{"level": "header"}, {"level": "most"}, {"threads": 0}, {"threads": -1}]
)
def test_arguments_are_checked(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        stats_of(np.zeros(3), **arguments)


def test_the_result_does_not_depend_on_the_number_of_threads() -> None:
    array = np.random.default_rng(3).standard_normal(3_000_001).astype(np.float32)
    expected = stats_of(array, level="full", threads=1)
    for threads in (2, 3, 7):
        assert stats_of(array, level="full", threads=threads) == expected
