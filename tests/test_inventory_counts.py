"""Counts of an inventory, against counting one row after another."""

from __future__ import annotations

import numpy as np
import pytest

from fastdump._inventory.groups import _n_distinct
from fastdump._inventory.rows import Rows


@pytest.mark.parametrize("is_sorted", [False, True])
def test_repeats_of_tensors(is_sorted: bool) -> None:
    chosen = np.random.default_rng(0)
    for _ in range(500):
        n = int(chosen.integers(0, 14))
        names = chosen.integers(0, 4, n)
        codes: dict[int, int] = {}
        in_order = (np.sort(names) if is_sorted else names).tolist()
        rows = Rows.__new__(Rows)
        rows.path = np.array([codes.setdefault(name, len(codes)) for name in in_order], np.int64)
        rows.is_tensor = chosen.random(n) < 0.9
        rows.timestamp = chosen.integers(0, 2, n)
        rows.op = chosen.integers(0, 2, n)
        io, index = chosen.integers(0, 2, n), chosen.integers(0, 3, n)
        seen: set[tuple[int, ...]] = set()
        expected = []
        columns = (rows.timestamp, index, io, rows.op, rows.path)
        for i, key in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            expected.append(bool(rows.is_tensor[i]) and key in seen)
            if rows.is_tensor[i]:
                seen.add(key)
        assert rows._repeats(io, index).tolist() == expected


def test_distinct_values_of_groups() -> None:
    chosen = np.random.default_rng(1)
    for _ in range(500):
        n, n_groups = int(chosen.integers(0, 50)), int(chosen.integers(1, 6))
        number = chosen.integers(0, n_groups, n)
        values = chosen.integers(0, int(chosen.integers(1, 2000)), n)
        expected = [len(set(values[number == group].tolist())) for group in range(n_groups)]
        assert _n_distinct(number, values, n_groups).tolist() == expected
