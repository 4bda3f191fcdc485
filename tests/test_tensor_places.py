"""Columns of places, as the comparison takes them."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import _core, testing
from fastdump._compare.tensors import _n_elements
from fastdump._table.arrow_column import column_of

COLUMNS: dict[str, Any] = {
    "root": b"/",
    "texts": b"ab",
    "ends": np.array([1, 2]),
    "states": np.zeros(2, np.int64),
    "offsets": np.zeros(2, np.int64),
    "dtypes": np.zeros(2, np.int64),
    "dtype_names": ["float32"],
    "n_elements": np.ones(2, np.int64),
    "layouts": {},
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ends": np.array([1, 3])}, "a path ends outside its text"),
        ({"ends": np.array([2, 1])}, "a path ends outside its text"),
        ({"ends": np.array([-1, 2])}, "a path ends outside its text"),
        ({"texts": b"a\0"}, "a path contains a null byte"),
        ({"root": b"\0"}, "a path contains a null byte"),
        ({"states": np.zeros(1, np.int64)}, "columns of places have different lengths"),
        ({"offsets": np.zeros(2, np.float64)}, "offsets are contiguous 64-bit integers"),
        ({"dtypes": np.array([0, 1])}, "there is no such dtype"),
        ({"dtypes": np.array([0, -1])}, "there is no such dtype"),
    ],
)
def test_columns_that_contradict_each_other(wrong: dict[str, Any], message: str) -> None:
    _core.TensorPlaces(**COLUMNS)
    with pytest.raises((ValueError, IndexError), match=message):
        _core.TensorPlaces(**{**COLUMNS, **wrong})


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32)
    for side in ("a", "b"):
        directory = os.fsencode(tmp_path / side) + b"/step\xff\\x41"
        Path(os.fsdecode(directory)).mkdir(parents=True)
        for i, op in enumerate(("W", "R")):
            name = testing.dump_name("Add", op, task_id=i, stream_id=1, timestamp=10**15 + i)
            path = Path(os.fsdecode(directory), name)
            testing.write_dump(path, outputs=[array + (side == "b" and op == "R")])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert list(table["status"]) == ["ok", "ok"]
    assert table["bit_equal"].tolist() == [True, False]


def test_how_many_elements_shapes_declare() -> None:
    cases = [
        *(((), 4, 32), ((), 0, 32), ((3,), 12, 32), ((3,), 8, 32), ((2, 3, 4), 100, 16)),
        *(((0, 2**62, 2**62), 8, 8), ((2**62, 2**62, 0), 8, 8), ((-1,), 64, 32)),
        *(((2**40, 2**40), 10**6, 8), ((2, -1, 0), 64, 32), ((7,), 3, 4), ((5,), 3, 4)),
        ((3, 3), 2**63 - 1, 64),
    ]
    shapes, nbytes, bits = zip(*cases, strict=True)
    found = _n_elements(
        column_of([None, *shapes], "shape"), np.array([9, *nbytes]), np.array([8, *bits])
    )
    expected = [1]
    for shape, size, width in cases:
        n_fit = size * 8 // width
        negative = any(dim < 0 for dim in shape)
        expected.append(n_fit if negative else min(math.prod(shape), n_fit))
    assert found.tolist() == expected
