"""Standard deviation, smallest magnitude and dynamic range, of arrays, rows and tables."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from truth import rounded_root

import fastdump
from fastdump import StatsTable, TensorStats, stats_of
from fastdump.testing import TensorSpec, write_dump

DTYPES = (
    *(np.float16, np.float32, np.float64, ml_dtypes.bfloat16),
    *(ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
    *(np.int8, np.uint16, np.int64, np.complex64),
)
CSV = "IO,Slot,Data Type,Count,Max Value,Min Value,Avg Value,L2Norm Value,NaN Count\n"


def exact_deviation(array: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return standard deviation and root mean square of the finite elements, of exact sums."""
    values = np.abs(array) if array.dtype.kind == "c" else array
    finite = values[np.isfinite(values.astype(np.float64))].reshape(-1)
    numbers = [Fraction(float(x)) if array.dtype.kind not in "iu" else int(x) for x in finite]
    n = len(numbers)
    mean = Fraction(sum(numbers)) / n
    square = Fraction(sum(Fraction(x) ** 2 for x in numbers)) / n
    return rounded_root(square - mean**2), rounded_root(square)


def check_deviation(stats: Any, array: np.ndarray[Any, Any]) -> None:
    """Compare with the accuracy that the documentation promises."""
    expected, root_mean_square = exact_deviation(array)
    assert stats.std is not None
    if expected < 1.9e-6 * root_mean_square:
        assert stats.std == 0
    elif expected > 2.1e-6 * root_mean_square:
        error = 1.5e-12 * (root_mean_square / expected) ** 2 + 1e-15
        assert abs(stats.std - expected) <= error * expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_deviation_is_that_of_exact_sums(dtype: Any) -> None:
    random = np.random.default_rng(5)
    for n in (1, 2, 33, 70_001):
        array = (random.standard_normal(n) * 20 + 30).astype(dtype)
        check_deviation(stats_of(array), array)


@pytest.mark.parametrize("offset", [0, 1.0, 1e3, 1e5, 4e5, 6e5, 1e8, 1e15])
def test_it_is_0_where_the_moments_do_not_tell_it(offset: float) -> None:
    array = np.random.default_rng(2).standard_normal(5000) + offset
    check_deviation(stats_of(array), array)


@pytest.mark.parametrize("scale", [1e-200, 1e-310, 1e150, 1e200, 1e300])
def test_squares_may_leave_the_range_of_float64(scale: float) -> None:
    array = np.array([1.0, 2.0, 4.0, -3.0]) * scale
    expected, _ = exact_deviation(array)
    std = stats_of(array).std
    assert std is not None
    assert math.isclose(std, expected, rel_tol=1e-11)


def test_elements_that_are_alike_have_no_deviation() -> None:
    for value in (0.1, -1e300, 3e-320, 0.0):
        assert stats_of(np.full(1001, value)).std == 0


def test_bad_elements_do_not_count() -> None:
    array = np.array([1, np.nan, 3, np.inf, -np.inf, 0], np.float32)
    stats = stats_of(array, level="full")
    check_deviation(stats, array)
    assert (stats.min_abs, stats.dynamic_range) == (1, math.log2(3))


@pytest.mark.parametrize("array", [np.array([]), np.array([np.nan])], ids=["empty", "NaN"])
def test_without_a_finite_element_there_is_no_spread(array: np.ndarray[Any, Any]) -> None:
    stats = stats_of(array, level="full")
    assert (stats.std, stats.min_abs, stats.dynamic_range) == (None, None, None)


def test_zeros_are_no_part_of_the_dynamic_range() -> None:
    def of(*values: float, dtype: Any = np.float32) -> TensorStats:
        return stats_of(np.array(values, dtype), level="full")

    assert of(0, -0.0).dynamic_range is None
    assert of(0, 0.5).dynamic_range == 0
    assert of(0, 2**-9, -448, dtype=ml_dtypes.float8_e4m3fn).dynamic_range == math.log2(448) + 9
    assert of(5e-324, 2.0**1000, dtype=np.float64).dynamic_range == 2074
    assert of(-(2**63), 2, dtype=np.int64).dynamic_range == 62
    assert of(-128, 0, dtype=np.int8).min_abs == 128
    assert stats_of(np.array([2.0, 1.0])).dynamic_range is None, "basic"


@pytest.fixture
def table(tmp_path: Path) -> StatsTable:
    random = np.random.default_rng(1)
    arrays = [random.standard_normal(100).astype(np.float16), np.zeros(3, np.int32)]
    dump = tmp_path / "dump"
    dump.mkdir()
    specs = [TensorSpec(array) for array in arrays]
    write_dump(dump / "Add.add.1.2.1700000000000000", outputs=specs)
    (dump / "statistic.csv").write_text(CSV + "input,0,float32,9,2.5,1,2,7,0\n")
    return fastdump.stats(dump, level="full")


def test_rows_and_tables_say_the_same(table: StatsTable) -> None:
    for name, column in (("std", table.std), ("dynamic_range", table.dynamic_range)):
        for row, number in zip(table, column.tolist(), strict=True):
            expected = getattr(row, name)
            assert (None if math.isnan(number) else number) == expected
    assert {row.source: row.std is not None for row in table} == {"tensor": True, "csv": False}
    assert np.isnan(table.dynamic_range).sum() == 2  # zeros alone, and what the vendor computed


def test_tables_of_a_lower_level_have_no_dynamic_range(tmp_path: Path, table: StatsTable) -> None:
    basic = fastdump.stats(tmp_path / "dump")
    assert np.isnan(basic.dynamic_range).all()
    np.testing.assert_array_equal(basic.std, table.std)
    health = fastdump.stats(tmp_path / "dump", level="health")
    assert all(row.std is None for row in health if row.source == "tensor")
