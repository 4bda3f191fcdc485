"""The comparison of two tensors: against slow exact references, in memory and in files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from comparisons import state_of, with_states
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_truth import METRICS, Pairs
from truth import ELEMENT_TYPES, Array, ElementType, packed

from fastdump import _core

MIB = 1 << 20
LENGTHS = (0, 1, 2, 7, 8, 9, 511, 512, 513, 1003)
# One of each kind: by its size, by how its values become float64, by what it may hold.
KINDS = (
    *("float32", "float16", "bfloat16", "float64", "int8", "uint32", "int64", "uint64", "bool"),
    *("complex32", "complex128", "float8_e4m3fn", "float8_e8m0fnu", "hifloat8", "int4", "uint1"),
)
ENGINES = ("mmap", "read", "auto")
THREADS = (1, 2, 7)

Place = tuple[bytes, int, str, int]


def compare(
    type_a: ElementType,
    codes_a: Array,
    type_b: ElementType,
    codes_b: Array,
    *,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    kl: bool = False,
    threads: int = 1,
) -> dict[str, Any]:
    return _core.compare_buffers(
        packed(type_a, codes_a),
        type_a.name,
        packed(type_b, codes_b),
        type_b.name,
        len(codes_a),
        rtol=rtol,
        atol=atol,
        kl=kl,
        threads=threads,
    )


def compare_arrays(a: Array, b: Array, **options: Any) -> dict[str, Any]:
    """Compare arrays of types that numpy or ml_dtypes has, of eight bits or more."""
    defaults: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-8, "kl": False, "threads": 1}
    return _core.compare_buffers(
        np.ascontiguousarray(a).view(np.uint8).data,
        a.dtype.name,
        np.ascontiguousarray(b).view(np.uint8).data,
        b.dtype.name,
        a.size,
        **{**defaults, **options},
    )


def as_codes(array: Array) -> Array:
    """Return an array's codes, as `truth` has them."""
    element = ELEMENT_TYPES[array.dtype.name]
    codes = np.ascontiguousarray(array).view(element.code)
    return codes.reshape(-1, 2) if element.is_complex else codes


def check_arrays(a: Array, b: Array, *, kl: bool = True, **tolerance: float) -> dict[str, Any]:
    """Compare two arrays, check every metric, and return them."""
    found = compare_arrays(a, b, kl=kl, **tolerance)
    type_a, type_b = ELEMENT_TYPES[a.dtype.name], ELEMENT_TYPES[b.dtype.name]
    Pairs(type_a, as_codes(a), type_b, as_codes(b), **tolerance).assert_true(found, kl=kl)
    return found


def random_codes(element: ElementType, n: int, rng: np.random.Generator) -> Array:
    """Return codes of any value: NaN, Inf, zeros and subnormals are among them."""
    shape = (n, 2) if element.is_complex else n
    codes: Array = rng.integers(0, element.n_codes, shape, np.uint64, endpoint=False)
    if element.bits > 16 and not element.is_integer:
        # Of wide types few codes are special: some become so.
        special = rng.random(shape) < 0.1
        exponent_bits = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}
        mask = exponent_bits[8 * np.dtype(element.code).itemsize]
        codes = np.where(special, codes | np.uint64(mask), codes)
    return codes.astype(element.code)


def near_codes(element: ElementType, codes: Array, rng: np.random.Generator) -> Array:
    """Return codes of which half are the same and the others a few units away."""
    step = np.where(rng.random(codes.shape) < 0.5, 0, rng.integers(0, 3, codes.shape))
    with np.errstate(over="ignore"):
        near = codes.astype(np.uint64) + step.astype(np.uint64)
    return (near & np.uint64(element.n_codes - 1)).astype(element.code)


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_every_element_type(name: str) -> None:
    element = ELEMENT_TYPES[name]
    rng = np.random.default_rng(1)
    for n in LENGTHS:
        a = random_codes(element, n, rng)
        for b in (random_codes(element, n, rng), near_codes(element, a, rng), a):
            found = compare(element, a, element, b, kl=True)
            Pairs(element, a, element, b).assert_true(found, kl=True)


@pytest.mark.parametrize("name_a", KINDS)
def test_different_element_types_compare_by_value(name_a: str) -> None:
    type_a = ELEMENT_TYPES[name_a]
    rng = np.random.default_rng(2)
    for name_b in KINDS:
        type_b = ELEMENT_TYPES[name_b]
        a, b = random_codes(type_a, 67, rng), random_codes(type_b, 67, rng)
        found = compare(type_a, a, type_b, b, kl=True)
        if {name_a, name_b} == {"int64", "uint64"}:  # |x - y| is exact only if they are of one type
            assert found["mismatched"] == Pairs(type_a, a, type_b, b).exact["mismatched"]
            continue
        if any(name in ("int64", "uint64") for name in (name_a, name_b)):
            # By value as float64 has it.
            a, b = (
                np.right_shift(c, 11) if t.bits == 64 and t.is_integer else c
                for t, c in ((type_a, a), (type_b, b))
            )
            found = compare(type_a, a, type_b, b, kl=True)
        Pairs(type_a, a, type_b, b).assert_true(found, kl=True)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_every_code_beside_every_kind_of_code(name: str) -> None:
    element = ELEMENT_TYPES[name]
    codes = np.arange(65536, dtype=np.uint16)
    values = element.decode(codes)
    for code in (0x0000, 0x8000, 0x0001, 0x7BFF, 0x7C00, 0xFF80, 0x7FFF, 0x3F80):
        other = np.full_like(codes, code)
        y = values[code]
        found = compare(element, codes, element, other)
        finite = np.isfinite(values) & math.isfinite(y)
        assert found["both_bad"] == (0 if math.isfinite(y) else (~np.isfinite(values)).sum())
        with np.errstate(invalid="ignore"):
            close = np.isclose(
                values, np.full_like(values, y), rtol=1e-5, atol=1e-8, equal_nan=True
            )
        assert found["mismatched"] == (~close).sum()
        if not finite.any():
            assert found["ulp_max"] is None
            continue
        error = np.abs(values[finite] - y)
        assert found["max_abs_error"] == error.max()
        assert found["max_abs_error_index"] == np.flatnonzero(finite)[error.argmax()]
        # Every value has its place in the order; zeros share one.
        order = np.unique(values[np.isfinite(values)]).tolist()
        place = order.index(y)
        assert found["ulp_max"] == max(place, len(order) - 1 - place)


# Adversaries: what sums, squares, quotients and differences are likely to get wrong.


def test_signed_zeros_are_one_value() -> None:
    zeros = np.zeros(9, np.float16)
    found = check_arrays(zeros, -zeros)
    assert (found["ulp_max"], found["mismatched"], found["bit_equal"]) == (0, 0, False)
    assert (found["cosine_similarity"], found["max_abs_error_index"]) == (1, None)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_subnormals(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    limits = ml_dtypes.finfo(dtype)
    tiny = float(limits.smallest_subnormal)
    codes = rng.integers(0, 1000, 100)
    a = (codes * tiny).astype(dtype)
    b = ((codes + rng.integers(-1, 2, 100)) * tiny).astype(dtype)
    check_arrays(a, b)
    check_arrays(a, b, rtol=0.0, atol=0.0)
    check_arrays(a, np.ones_like(b))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16])
def test_the_largest_values(dtype: Any) -> None:
    largest = ml_dtypes.finfo(dtype).max
    a = np.array([largest, -largest, largest, largest, 1, 0, -largest], dtype)
    b = np.array([-largest, largest, largest, 1, largest, largest, 0], dtype)
    found = check_arrays(a, b)
    assert found["max_abs_error_index"] == 0
    assert math.isinf(found["max_abs_error"]) == (dtype is np.float64)
    check_arrays(a, a)


@pytest.mark.parametrize("scale_a", [1e-300, 1e-160, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("scale_b", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_float64_squares_that_leave_the_range(scale_a: float, scale_b: float) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(3, 1, (2, 50))
    check_arrays(a * scale_a, b * scale_b)
    check_arrays(a * scale_a, a * scale_a * (1 + 1e-12))
    mixed = np.where(rng.random(50) < 0.5, a * scale_a, b * scale_b)
    check_arrays(mixed, b * scale_b)
    mixed[7], mixed[9] = math.nan, math.inf
    check_arrays(mixed, b * scale_b)


def test_differences_much_smaller_than_values() -> None:
    a = np.array([1.0, 1e-200, 3.0, 5e-324])
    b = np.array([1.0, 2e-200, 3.0, 0.0])
    found = check_arrays(a, b)
    assert math.isclose(found["rmse"], 5e-201)
    assert (found["max_abs_error"], found["max_abs_error_index"]) == (1e-200, 1)


def test_quotients_that_leave_the_range() -> None:
    a = np.array([1e300, 1.0, 2.0])
    b = np.array([3e-16, 1.5, 0.0])
    found = check_arrays(a, b)
    assert found["max_rel_error"] == math.inf
    assert found["mean_rel_error"] == math.inf
    a = np.array([1e290, 1.0, 2.0])
    assert 3e305 < check_arrays(a, b)["max_rel_error"] < 4e305


def test_references_next_to_nothing_have_no_relative_error() -> None:
    epsilon = 2.0**-52
    b = np.array([epsilon, np.nextafter(epsilon, 1), -epsilon, 0.0, -0.0])
    found = check_arrays(b + 1, b)
    assert math.isclose(found["accumulated_relative_error"], 2.0**52)
    assert math.isclose(found["mean_rel_error"], 2.0**52 / 5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("spread", [0, 1, 2, 100])
def test_spread_about_a_number_far_from_zero(dtype: Any, spread: int) -> None:
    """The standard deviation is that of the last bits, which the squares have long lost."""
    rng = np.random.default_rng(5)
    for n in (1, 2, 9, 1000):
        if np.issubdtype(dtype, np.integer):
            offset = 2**30 if dtype is np.int32 else 2**52
            a = (offset + rng.integers(0, spread + 1, n)).astype(dtype)
        else:
            unit = np.spacing(dtype(1000))
            a = (dtype(1000) + unit * rng.integers(0, spread + 1, n).astype(dtype)).astype(dtype)
        found = check_arrays(a, np.roll(a, 1))
        if spread == 0:
            assert found["standard_deviation_a"] == found["standard_deviation_b"] == 0
        check_arrays(a, np.zeros_like(a))
        check_arrays(-a, a)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spread_of_few_outliers(dtype: Any) -> None:
    """Neither the first elements nor most of them tell where the mean lies."""
    rng = np.random.default_rng(6)
    a = np.full(3000, 1000.1, dtype)
    a[:20] = rng.normal(0, 1, 20)
    check_arrays(a, a[::-1])
    a[:20] = 60000
    check_arrays(a, a[::-1])
    a[[3, 1000, 2999]] = [math.nan, math.inf, -math.inf]
    check_arrays(a, a[::-1])


def test_norms_next_to_nothing() -> None:
    """As the vendor has it: 1 if both are, no number if one is."""
    tiny = np.full(4, 1e-17)
    assert check_arrays(tiny, -tiny)["cosine_similarity"] == 1
    assert check_arrays(tiny, np.ones(4))["cosine_similarity"] is None
    assert check_arrays(np.ones(4), tiny)["relative_euclidean_distance"] == 0
    assert check_arrays(np.array([1.0]), np.array([-2.0]))["cosine_similarity"] == 1  # a scalar


def test_equal_tensors() -> None:
    rng = np.random.default_rng(7)
    for dtype in (np.float16, np.float32, np.float64, np.int16, np.uint64, np.complex64):
        a = (rng.normal(0, 10, 1000) ** 2).astype(dtype)
        found = check_arrays(a, a.copy())
        assert found["bit_equal"]
        zero = (
            "max_abs_error",
            "rmse",
            "accumulated_relative_error",
            "kl_divergence",
            "mismatched",
        )
        assert {found[name] for name in zero} == {0}
        assert found["cosine_similarity"] == 1
        assert found["ulp_max"] in (0, None)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_beyond_float64_compare_exactly(dtype: Any) -> None:
    limits = np.iinfo(dtype)
    a = np.array([2**53, 2**53 + 1, 2**62, limits.max, limits.min, limits.max], dtype)
    b = np.array([2**53, 2**53, 2**62 + 1, limits.max - 1, limits.min + 1, limits.max], dtype)
    found = check_arrays(a, b, rtol=0.0, atol=0.0)
    assert (found["mismatched"], found["max_abs_error"], found["ulp_max"]) == (4, 1, 1)
    found = check_arrays(a, np.full_like(a, limits.min))
    assert found["ulp_max"] == limits.max - limits.min


def test_bad_elements_match_only_their_like() -> None:
    nan, inf = math.nan, math.inf
    values = [nan, inf, -inf, 1.0, 0.0]
    a, b = (np.array(side) for side in zip(*((x, y) for x in values for y in values), strict=True))
    for dtype in (np.float64, np.float32, np.float16, ml_dtypes.bfloat16):
        found = check_arrays(a.astype(dtype), b.astype(dtype))
        close = np.isclose(a, b, equal_nan=True)
        assert found["mismatched"] == (~close).sum()
        assert found["first_mismatch"] == np.flatnonzero(~close)[0]
        assert (found["only_a_bad"], found["only_b_bad"], found["both_bad"]) == (6, 6, 9)
    # NaN of any sign and payload.
    codes = np.array([0x7FC00000, 0xFFC00001, 0x7F800001], np.uint32)
    found = check_arrays(codes.view(np.float32), np.roll(codes, 1).view(np.float32))
    assert (found["mismatched"], found["bit_equal"]) == (0, False)


def test_complex_numbers_compare_by_the_magnitude_of_their_difference() -> None:
    a = np.array([3 + 4j, 1j, -1, complex(math.nan, 0), complex(math.inf, 1), complex(math.inf, 1)])
    b = np.array([0, 1, -1j, complex(0, math.nan), complex(math.inf, 1), complex(math.inf, 2)])
    found = check_arrays(a, b)
    assert found["max_abs_error"] == 5
    assert math.isclose(found["max_rel_error"], math.sqrt(2))
    assert (found["mismatched"], found["both_bad"]) == (4, 3)
    check_arrays(a.astype(np.complex64), b)
    check_arrays(a, np.arange(6.0))
    huge = np.array([1e308 + 1e308j, 1e-320j, 3.0])
    check_arrays(huge, huge[::-1].copy())
    check_arrays(huge * 1e-10, huge * (1 + 1e-12))


def test_magnitudes_beyond_float64_have_a_relative_error() -> None:
    huge = 1.7e308 * (1 + 1j)
    a = np.array([huge / 2, huge, -huge, 3, huge])
    b = np.array([huge, huge, huge, 2, 1])
    found = compare_arrays(a[:4], b[:4])
    assert math.isclose(found["max_rel_error"], 2)
    assert math.isclose(found["accumulated_relative_error"], 0.5 + 0 + 2 + 0.5)
    assert math.isclose(found["relative_euclidean_distance"], math.sqrt(4.25 / 3))
    assert compare_arrays(a, b)["max_rel_error"] == math.inf


def test_booleans_are_equal_if_both_are_true() -> None:
    a, b = bytes([0, 1, 2, 255]), bytes([0, 255, 1, 0])
    found = _core.compare_buffers(a, "bool", b, "bool", 4, rtol=0.0, atol=0.0, kl=False, threads=1)
    assert (found["mismatched"], found["first_mismatch"], found["bit_equal"]) == (1, 3, False)


@pytest.mark.parametrize("name", ["int4", "int2", "uint2", "uint1", "float4_e2m1fn"])
def test_bits_behind_the_last_element_do_not_show(name: str) -> None:
    element = ELEMENT_TYPES[name]
    for n in range(1, 10):
        if n * element.bits % 8 == 0:
            continue
        codes = np.arange(n, dtype=np.uint8) % element.n_codes
        a = packed(element, codes)
        spare = 0xFF >> (n * element.bits % 8)
        if not element.high_bits_first:
            spare = 0xFF ^ ((1 << (n * element.bits % 8)) - 1)
        b = a[:-1] + bytes([a[-1] ^ spare])
        found = _core.compare_buffers(a, name, b, name, n, rtol=0.0, atol=0.0, kl=False, threads=1)
        assert (found["bit_equal"], found["mismatched"]) == (True, 0)


@given(
    data=st.data(),
    name=st.sampled_from(["float16", "float32", "bfloat16", "float64", "int8", "hifloat8"]),
    rtol=st.sampled_from([0.0, 1e-5, 2.0**-10, 0.5]),
    atol=st.sampled_from([0.0, 1e-8, 2.0**-14, 1.0]),
)
@settings(max_examples=150, deadline=None)
def test_any_codes_and_tolerances(data: st.DataObject, name: str, rtol: float, atol: float) -> None:
    element = ELEMENT_TYPES[name]
    code = st.integers(0, element.n_codes - 1)
    pairs = data.draw(st.lists(st.tuples(code, code), max_size=40))
    a = np.array([x for x, _ in pairs], element.code)
    b = np.array([y for _, y in pairs], element.code)
    found = compare(element, a, element, b, rtol=rtol, atol=atol, kl=True)
    Pairs(element, a, element, b, rtol, atol).assert_true(found, kl=True)


# The vendor's formulas, as they are written down, in float64.


def vendor_metrics(a: Array, b: Array) -> dict[str, float]:
    x, y = a.astype(np.float64), b.astype(np.float64)
    relative = np.zeros_like(x)
    usable = np.abs(y) > np.finfo(np.float64).eps
    relative[usable] = np.abs(x[usable] / y[usable] - 1)

    def distribution(v: Array) -> Array:
        v = (v - v.min()) / (v.max() - v.min())
        v = np.maximum(v, np.finfo(np.float32).eps)
        return np.asarray(v / v.sum())

    p, q = distribution(x), distribution(y)
    return {
        "cosine_similarity": np.dot(x / np.linalg.norm(x), y / np.linalg.norm(y)),
        "max_abs_error": np.abs(x - y).max(),
        "accumulated_relative_error": relative.sum(),
        "relative_euclidean_distance": np.sqrt(((x - y) ** 2).sum() / (y**2).sum()),
        "kl_divergence": (p * np.log(p / q)).sum(),
        "mean_abs_error": np.abs(x - y).mean(),
        "rmse": np.sqrt(((x - y) ** 2).mean()),
        "max_rel_error": relative.max(),
        "mean_rel_error": relative.sum() / x.size,
        "mean_a": x.mean(),
        "standard_deviation_a": x.std(),
        "mean_b": y.mean(),
        "standard_deviation_b": y.std(),
    }


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("threads", THREADS)
def test_large_arrays_agree_with_the_vendors_formulas(dtype: Any, threads: int) -> None:
    rng = np.random.default_rng(8)
    b = rng.normal(0.1, 2, MIB + 5).astype(dtype)
    a = (b.astype(np.float64) * (1 + rng.normal(0, 0.05, b.size))).astype(dtype)
    a[::97] = 0
    b[::89] = 0
    found = compare_arrays(a, b, kl=True, threads=threads)
    for name, expected in vendor_metrics(a, b).items():
        assert math.isclose(found[name], expected, rel_tol=1e-9, abs_tol=1e-12), name
    close = np.isclose(a.astype(np.float64), b.astype(np.float64))
    assert found["mismatched"] == (~close).sum()
    error = np.abs(a.astype(np.float64) - b.astype(np.float64))
    assert found["max_abs_error_index"] == error.argmax()


# Files.


def run(
    a: Sequence[Place],
    b: Sequence[Place],
    *,
    on_progress: Callable[[_core.ComparisonProgress], object] | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    defaults: dict[str, Any] = {
        **{"rtol": 1e-5, "atol": 1e-8, "kl": True, "threads": 2, "engine": "auto"}
    }
    comparison = _core.Comparison(with_states(a), with_states(b), **{**defaults, **options})
    comparison.run(on_progress, 0.05)
    rows: list[dict[str, Any]] = pa.table(pa.record_batch(comparison.table())).to_pylist()
    assert comparison.progress().pairs_done == comparison.progress().pairs == len(rows)
    return rows


def place(path: Path, dtype: str, n: int, offset: int = 0) -> Place:
    return (os.fsencode(path), offset, dtype, n)


def metrics_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in METRICS}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Place, Place, bytes, bytes]]:
    """Return pairs of tensors in files: of all sizes that matter, at odd places, of many types."""
    folder = tmp_path_factory.mktemp("compare")
    rng = np.random.default_rng(9)
    pairs = {}

    def add(key: str, a: Array, b: Array, name_a: str, name_b: str, n: int) -> None:
        places = []
        contents = (a.tobytes(), b.tobytes())
        for side, name, content in zip("ab", (name_a, name_b), contents, strict=True):
            path = folder / f"{key}.{side}"
            start = int(rng.integers(0, 77))
            path.write_bytes(bytes(start) + content + bytes(3))
            places.append(place(path, name, n, start))
        pairs[key] = (places[0], places[1], *contents)

    def normal(n: int, dtype: Any) -> tuple[Array, Array]:
        b = rng.normal(0, 3, n)
        a = b * (1 + rng.normal(0, 1e-3, n))
        a[n // 3 :: 5001] = math.nan
        b[n // 2 :: 7003] = math.inf
        return a.astype(dtype), b.astype(dtype)

    # 128 KiB of the larger side are one read, 4 MiB one chunk.
    for n in (1, 1000, 65535, 65536, 65537, 2 * MIB - 1, 2 * MIB + 1, 5 * MIB + 77):
        add(f"float16 {n}", *normal(n, np.float16), "float16", "float16", n)
    for n in (16385, MIB + 1, 3 * MIB + 5):
        add(f"float32 {n}", *normal(n, np.float32), "float32", "float32", n)
    n = 2 * MIB + 9
    a, b = normal(n, np.float64)
    add(
        "bfloat16 float32",
        a.astype(ml_dtypes.bfloat16),
        b.astype(np.float32),
        "bfloat16",
        "float32",
        n,
    )
    add("float64", a, b, "float64", "float64", n)
    codes = rng.integers(0, 256, (2, 3 * MIB), np.uint8)
    add("int4", *codes, "int4", "int4", 6 * MIB)
    add("uint1 int4", codes[0], codes[1], "uint1", "int4", 6 * MIB)
    add("float8_e4m3fn", *codes, "float8_e4m3fn", "float8_e4m3fn", 3 * MIB)
    integers = rng.integers(-(2**62), 2**62, (2, MIB + 3))
    add("int64", *integers, "int64", "int64", MIB + 3)
    add("equal", a, a, "float64", "float64", n)
    return pairs


@pytest.fixture(scope="module")
def expected(files: dict[str, tuple[Place, Place, bytes, bytes]]) -> list[dict[str, Any]]:
    """Return the metrics of the same bytes in memory."""
    return [
        _core.compare_buffers(
            bytes_a, a[2], bytes_b, b[2], a[3], rtol=1e-5, atol=1e-8, kl=True, threads=1
        )
        for a, b, bytes_a, bytes_b in files.values()
    ]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("threads", THREADS)
def test_files_have_the_bits_of_their_bytes_in_memory(
    files: dict[str, tuple[Place, Place, bytes, bytes]],
    expected: list[dict[str, Any]],
    engine: str,
    threads: int,
) -> None:
    a, b = ([pair[side] for pair in files.values()] for side in (0, 1))
    rows = run(a, b, engine=engine, threads=threads)
    assert {(row["status"], row["note"]) for row in rows} == {("ok", None)}
    assert list(map(metrics_of, rows)) == expected


# Prints every metric of every pair as exact text, and the tier that was in use.
TIER_PROGRAM = """
import json, sys
import pyarrow as pa
from fastdump import _core

a, b = json.load(sys.stdin)
def places(side):
    return [(path.encode(), *rest, None) for path, *rest in side]
comparison = _core.Comparison(
    places(a), places(b), rtol=1e-5, atol=1e-8, kl=True, threads=2, engine="auto"
)
comparison.run(None, 1.0)
rows = pa.table(pa.record_batch(comparison.table())).to_pylist()
exact = [[v.hex() if isinstance(v, float) else v for v in row.values()] for row in rows]
print(json.dumps([[name for name, _, active in _core.simd_tiers() if active], exact]))
"""


def test_tiers_give_the_same_bits(
    files: dict[str, tuple[Place, Place, bytes, bytes]],
    expected: list[dict[str, Any]],
    simd_tiers: list[str],
    run_python: Callable[..., str],
    tmp_path: Path,
) -> None:
    # Few pairs, whose sums are rounded: a rounding more or less shows in some.
    rng = np.random.default_rng(10)
    content = rng.normal(0, 1, 4000).tobytes()
    (tmp_path / "few").write_bytes(content)
    places = [[pair[side] for pair in files.values()] for side in (0, 1)]
    for n in range(1, 200, 7):
        places[0].append(place(tmp_path / "few", "float64", n, 8 * n))
        places[1].append(place(tmp_path / "few", "float64", n, 16 * n))
    listed = [
        [(os.fsdecode(path), state_of(path), *rest) for path, *rest in side] for side in places
    ]
    (tmp_path / "places.json").write_text(json.dumps(listed))
    program = TIER_PROGRAM.replace("sys.stdin", f"open({str(tmp_path / 'places.json')!r})")
    results = {}
    for tier in simd_tiers:
        active, results[tier] = json.loads(run_python(program, FASTDUMP_SIMD=tier))
        assert active == [tier]
    exact = [
        [value.hex() if isinstance(value, float) else value for value in metrics.values()]
        for metrics in expected
    ]
    for tier, rows in results.items():
        assert rows == results[simd_tiers[0]], tier
        assert [row[: len(METRICS)] for row in rows[: len(exact)]] == exact, tier


def test_statuses(tmp_path: Path) -> None:
    values = np.arange(100, dtype=np.float32)
    whole, short = tmp_path / "whole", tmp_path / "short"
    whole.write_bytes(values.tobytes())
    short.write_bytes(values.tobytes()[:201])
    missing = tmp_path / "missing"

    def compare_one(a: Place, b: Place, **options: Any) -> dict[str, Any]:
        (row,) = run([a], [b], **options)
        return row

    row = compare_one(place(whole, "float32", 100), place(whole, "float32", 99))
    assert (row["status"], row["note"]) == ("size_mismatch", "100 elements in a, 99 in b")
    assert row["count"] is None

    row = compare_one(place(whole, "string", 100), place(whole, "nosuch", 100))
    assert row["status"] == "unsupported"
    assert row["note"] == (
        "a: strings have no fixed element size; b: the element type is not known"
    )

    row = compare_one(place(whole, "float32", 100), place(missing, "float32", 100))
    assert (row["status"], row["note"]) == ("unreadable", "b: No such file or directory")
    row = compare_one(place(tmp_path, "float32", 100), place(missing, "float32", 100))
    assert row["status"] == "unreadable"
    assert "b: No such file or directory" in row["note"]
    row = compare_one(place(tmp_path, "float32", 100), place(whole, "float32", 100))
    assert row["status"] == "unreadable"
    assert row["note"] == "a: Is a directory"
    assert row["count"] is None

    # What both have is compared.
    row = compare_one(place(short, "float32", 100), place(whole, "float32", 100))
    assert row["status"] == "truncated"
    assert row["note"] == "a: the file ends early: 50 elements are missing"
    assert metrics_of(row) == compare_arrays(values[:50], values[:50], kl=True)
    row = compare_one(place(whole, "float32", 60, 200), place(short, "float32", 60, 20))
    assert row["note"] == (
        "a: the file ends early: 10 elements are missing; "
        "b: the file ends early: 15 elements are missing"
    )
    assert metrics_of(row) == compare_arrays(values[50:95], values[5:50], kl=True)
    row = compare_one(place(whole, "float32", 5, 1000), place(whole, "float32", 5))
    assert (row["status"], row["count"], row["bit_equal"]) == ("truncated", 0, True)
    assert row["cosine_similarity"] is None

    row = compare_one(place(whole, "float32", 0), place(short, "float16", 0))
    assert (row["status"], row["note"], row["count"]) == ("ok", None, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_that_lie_about_the_file(engine: str, tmp_path: Path) -> None:
    """However many elements are claimed, there are no more than the file has, and no wait."""
    n = 3 * MIB
    path, other = tmp_path / "a", tmp_path / "b"
    values = np.random.default_rng(11).normal(0, 1, n).astype(np.float16)
    path.write_bytes(values.tobytes())
    other.write_bytes(values[::-1].tobytes() + bytes(100))
    most = 2**64 - 1
    claims = [(most, 0), (2**62, 0), (10 * MIB, 0), (n + 1, 0), (n, 2), (n, 2**63 - 2), (n, most)]
    rows = run(
        [place(path, "float16", claimed, offset) for claimed, offset in claims],
        [place(other, "float16", claimed, offset) for claimed, offset in claims],
        engine=engine,
    )
    counts = [n, n, n, n, n - 1, 0, 0]
    assert [row["count"] for row in rows] == counts
    for row in rows:
        assert row["status"] in ("truncated", "unreadable")
        assert "elements are missing" in row["note"]
    whole = compare_arrays(values, values[::-1].copy(), kl=True)
    assert [metrics_of(row) for row in rows[:4]] == [whole] * 4


@pytest.mark.parametrize("engine", ENGINES)
def test_one_file_on_both_sides(engine: str, tmp_path: Path) -> None:
    values = np.random.default_rng(12).normal(0, 1, 5 * MIB).astype(np.float16)
    path = tmp_path / "both"
    path.write_bytes(values.tobytes())
    n = 4 * MIB
    a = [place(path, "float16", n), place(path, "float16", n, 64)]
    b = [place(path, "float16", n), place(path, "float16", n, 2 * MIB)]
    same, shifted = run(a, b, engine=engine)
    assert same["bit_equal"]
    expected = compare_arrays(values[32 : 32 + n], values[MIB : MIB + n], kl=True)
    assert metrics_of(shifted) == expected


def test_many_small_pairs_in_few_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    values = rng.normal(0, 1, (2, 40, 500)).astype(np.float32)
    for side, array in zip("ab", values, strict=True):
        (tmp_path / side).write_bytes(array.tobytes())
    order = rng.permutation(np.repeat(np.arange(40), 25))
    rows = run(
        [place(tmp_path / "a", "float32", 500, 2000 * i) for i in order],
        [place(tmp_path / "b", "float32", 500, 2000 * i) for i in order],
        threads=7,
    )
    expected = [compare_arrays(a, b, kl=True) for a, b in zip(*values, strict=True)]
    assert [metrics_of(row) for row in rows] == [expected[i] for i in order]


def test_without_divergence_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(range(200)))
    (row,) = run(
        [place(tmp_path / "a", "uint8", 200)], [place(tmp_path / "a", "int8", 200)], kl=False
    )
    assert row["kl_divergence"] is None
    assert row["count"] == 200


def test_no_pairs() -> None:
    assert run([], []) == []


def test_the_table_has_typed_columns() -> None:
    comparison = _core.Comparison([], [], rtol=0, atol=0, kl=False, threads=1, engine="read")
    comparison.run(None, 1.0)
    schema = pa.record_batch(comparison.table()).schema
    assert schema.names == [*METRICS, "status", "note"]
    types = {name: str(schema.field(name).type) for name in schema.names}
    assert types["ulp_max"] == "uint64"
    assert types["bit_equal"] == "bool"
    assert {types[name] for name in ("status", "note")} == {"string"}
    counts = {"count", "mismatched", "only_a_bad", "only_b_bad", "both_bad"}
    indices = {"max_abs_error_index", "first_mismatch"}
    assert {types[name] for name in counts | indices} == {"int64"}
    others = set(METRICS) - counts - indices - {"ulp_max", "bit_equal"}
    assert {types[name] for name in others} == {"double"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rtol": -1.0}, "rtol"),
        ({"rtol": math.nan}, "rtol"),
        ({"atol": math.inf}, "atol"),
        ({"threads": 0}, "threads"),
        ({"engine": "fast"}, "engine"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], words: str) -> None:
    usual: dict[str, Any] = {"rtol": 0.0, "atol": 0.0, "kl": False, "threads": 1, "engine": "read"}
    with pytest.raises(ValueError, match=words):
        _core.Comparison([], [], **{**usual, **options})
    if "engine" not in options:
        del usual["engine"]
        with pytest.raises(ValueError, match=words):
            _core.compare_buffers(b"", "int8", b"", "int8", 0, **{**usual, **options})


def test_arguments_that_do_not_fit() -> None:
    options: dict[str, Any] = {"rtol": 0.0, "atol": 0.0, "kl": False, "threads": 1}
    with pytest.raises(ValueError, match="1 tensors cannot be compared with 0"):
        _core.Comparison(with_states([(b"a", 0, "int8", 0)]), [], engine="read", **options)
    places: list[Any] = [(name, 0, 0, "int8", 0, None) for name in (b"a\0", b"a")]
    with pytest.raises(ValueError, match="null byte"):
        _core.Comparison(places[:1], places[1:], engine="read", **options)
    with pytest.raises(ValueError, match="b has 3 bytes, 4 are needed"):
        _core.compare_buffers(bytes(4), "float16", bytes(3), "float16", 2, **options)
    with pytest.raises(ValueError, match='dtype "string"'):
        _core.compare_buffers(bytes(4), "int8", bytes(4), "string", 2, **options)


def test_a_comparison_runs_once_and_has_a_table_in_the_end(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(100))
    pair = [place(tmp_path / "a", "int8", 100)]
    pair = with_states(pair)
    comparison = _core.Comparison(pair, pair, rtol=0, atol=0, kl=False, threads=1, engine="read")
    reports: list[tuple[int, int, int]] = []

    def on_progress(progress: _core.ComparisonProgress) -> None:
        reports.append((progress.pairs, progress.pairs_done, progress.bytes_done))
        with pytest.raises(RuntimeError, match="has not ended"):
            comparison.table()

    comparison.run(on_progress, 0.01)
    assert reports[-1] == (1, 1, 200)
    with pytest.raises(RuntimeError, match="runs once"):
        comparison.run(None, 1.0)
    assert pa.record_batch(comparison.table()).num_rows == 1


def test_a_comparison_whose_table_was_taken_never_runs(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(100))
    pair = [place(tmp_path / "a", "int8", 100)]
    pair = with_states(pair)
    comparison = _core.Comparison(pair, pair, rtol=0, atol=0, kl=False, threads=1, engine="read")
    (row,) = pa.table(pa.record_batch(comparison.table())).to_pylist()
    assert set(row.values()) == {None}
    with pytest.raises(RuntimeError, match="runs once"):
        comparison.run(None, 1.0)


def test_an_exception_stops_it_and_keeps_what_was_done(
    files: dict[str, tuple[Place, Place, bytes, bytes]],
    expected: list[dict[str, Any]],
    tmp_path: Path,
) -> None:
    a, b = ([pair[side] for pair in files.values()] * 20 for side in (0, 1))
    huge = tmp_path / "huge"  # larger than what is compared before a test is over
    huge.touch()
    try:
        os.truncate(huge, 1 << 38)
    except OSError as error:
        pytest.skip(f"no sparse file of {1 << 38} bytes here: {error}")
    for side in (a, b):
        side.append(place(huge, "int8", 1 << 38))
    a, b = with_states(a), with_states(b)
    comparison = _core.Comparison(a, b, rtol=1e-5, atol=1e-8, kl=True, threads=2, engine="auto")

    class StopError(Exception):
        pass

    def stop(progress: _core.ComparisonProgress) -> None:
        if progress.pairs_done != 0:
            raise StopError

    with pytest.raises(StopError):
        comparison.run(stop, 0.001)
    rows = pa.table(pa.record_batch(comparison.table())).to_pylist()
    assert len(rows) == len(a)
    unfinished = [row for row in rows if row["status"] is None]
    assert 0 < len(unfinished) < len(rows)
    for i, row in enumerate(rows):
        if row["status"] is None:
            assert set(row.values()) == {None}
        else:
            assert metrics_of(row) == expected[i % len(expected)]
