"""Numbers and columns that are counted without sorting, and without a copy."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from arro3.core import Array, DataType

from fastdump._table.arrow_column import (
    codes_of,
    integer_array,
    real_array,
    shared_integers,
    shared_reals,
    shared_values,
)
from fastdump._table.distinct_codes import distinct_codes, n_distinct_codes, runs_of


@pytest.mark.parametrize("n", [1, 7, 1000, 10**9])
@pytest.mark.parametrize("n_rows", [0, 1, 50])
def test_distinct_codes(n: int, n_rows: int) -> None:
    codes = np.random.default_rng(0).integers(0, n, n_rows)
    expected, places = np.unique(codes, return_inverse=True)
    found, found_places = distinct_codes(codes, n)
    assert found.tolist() == expected.tolist()
    assert found_places.tolist() == places.tolist()
    if n < 10**9:
        assert n_distinct_codes(codes, n) == len(expected)


def test_runs() -> None:
    a, b = np.array([1, 1, 1, 2, 2, 1]), np.array([0, 0, 5, 5, 5, 5])
    assert runs_of(a).tolist() == [0, 3, 5]
    assert runs_of(a, b).tolist() == [0, 2, 3, 5]
    assert runs_of(a[:0], b[:0]).tolist() == []


@pytest.mark.parametrize("numbers", [[], [3, 1, 2], [3, None, 2, None], [None, None]])
def test_columns_without_a_copy(numbers: list[int | None]) -> None:
    for first in (0, 1):
        integers = Array(numbers, DataType.int64()).slice(min(first, len(numbers)))
        reals = integers.cast(DataType.float64())
        shared = shared_integers(integers, null=-7)
        assert shared.tolist() == integer_array(integers, null=-7).tolist()
        assert shared_reals(reals).tobytes() == real_array(reals).tobytes()
        if len(shared):
            with pytest.raises(ValueError, match="read-only"):
                shared[0] = 1


def test_what_is_shared_outlives_its_column() -> None:
    column = Array.from_numpy(np.arange(100_000))
    shared = shared_values(column, np.int64)
    del column
    gc.collect()
    again = [Array.from_numpy(np.zeros(100_000, np.int64)) for _ in range(5)]
    assert shared.tolist() == list(range(100_000))
    assert len(again) == 5


def test_codes_of_texts_with_nulls() -> None:
    column = Array(["b", None, "a", "b", None], DataType.utf8())
    codes, texts = codes_of(column)
    assert [texts[code] if code >= 0 else None for code in codes] == ["b", None, "a", "b", None]
    codes[0] = 5  # nobody else's
    assert codes_of(column)[0].tolist() != codes.tolist()
