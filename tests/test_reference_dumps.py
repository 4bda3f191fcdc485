"""Dumps that another writer made, with statistics that another program computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from truth import ELEMENT_TYPES, assert_true, statistics, unpacked

import fastdump

# The vendor's names of types that numpy and ml_dtypes lack, which expected.json leaves open.
NAMES = {
    "FLOAT4_E2M1": "float4_e2m1fn",
    "HIFLOAT8": "hifloat8",
    "STRING": "string",
    "UINT1": "uint1",
    "UNDEFINED": "undefined",
}


@pytest.fixture(scope="module")
def expected(reference_dumps: Path) -> dict[str, list[dict[str, Any]]]:
    content: dict[str, list[dict[str, Any]]] = json.loads(
        (reference_dumps / "expected.json").read_text()
    )
    assert len(content) > 30
    return content


@pytest.mark.parametrize("engine", ["mmap", "read"])
def test_every_tensor_is_as_expected(
    engine: str, reference_dumps: Path, expected: dict[str, list[dict[str, Any]]]
) -> None:
    table = fastdump.stats(reference_dumps, engine=engine)
    for path, tensors in expected.items():
        rows = [row for row in table if row.path == path]
        assert [(row.io, row.index) for row in rows] == [(t["io"], t["index"]) for t in tensors]
        for row, tensor in zip(rows, tensors, strict=True):
            for name in ("offset", "nbytes", "op_name"):
                assert getattr(row, name) == tensor[name], (path, name)
            if "dtype" not in tensor:  # a buffer or a space
                assert (row.dtype, row.format, row.shape, row.count) == (None,) * 4
                continue
            assert row.dtype == (tensor["dtype"] or NAMES.get(tensor["cann_dtype"])), path
            assert row.format == tensor["format"], path
            if not path.startswith("ffts/"):  # see test_slices
                assert row.shape == tuple(tensor["shape"]), path
            assert row.origin_shape == tuple(tensor["origin_shape"]), path
            # Bit for bit: these are the correctly rounded values.
            for name, value in (tensor.get("stats") or {}).items():
                assert getattr(row, name) == value, (path, name)


def test_statuses(reference_dumps: Path, expected: dict[str, list[dict[str, Any]]]) -> None:
    table = fastdump.stats(reference_dumps)
    odd = {row.path: row.status for row in table if row.status != "ok" and row.path in expected}
    assert odd == {
        "dtype/Cast.dt_STRING.13.7.1700000000000013": "unsupported",
        "dtype/Cast.dt_UNDEFINED.0.7.1700000000000000": "unsupported",
        "struct/Add.baddt.12.7.1700000000000000": "unsupported",
        "struct/Add.size_bigger.6.7.1700000000000000": "size_mismatch",
    }
    (row,) = (row for row in table if "truncated" in row.path)
    assert (row.status, row.count, row.max, row.min) == ("truncated", 10, 9, 0)
    (row,) = (row for row in table if "trailing" in row.path)
    assert "trailing" in row.note
    (row,) = (row for row in table if row.path.startswith("mapping/"))
    assert (row.op_type, row.task_id, row.timestamp) == ("Cast", 1, 1_700_000_000_000_000)


def test_slices(reference_dumps: Path, expected: dict[str, list[dict[str, Any]]]) -> None:
    """The header has the whole shape, a thread's file its part."""
    shapes = {}
    for row in fastdump.stats(reference_dumps / "ffts"):
        (whole,) = {tuple(tensor["shape"]) for tensor in expected[f"ffts/{row.path}"]}
        assert whole == (3, 4)
        assert (row.status, row.note, row.context_id) == ("ok", None, 11)
        shapes[row.thread_id, row.io] = row.shape
    assert shapes == {
        (0, "input"): (2, 4),
        (0, "output"): (2, 4),
        (1, "input"): (1, 4),
        (1, "output"): (1, 4),
    }


@pytest.mark.parametrize("engine", ["mmap", "read"])
def test_other_kinds(engine: str, reference_dumps: Path) -> None:
    nano = fastdump.stats(reference_dumps / "nano", engine=engine)
    assert [(row.io, row.dtype, row.shape, row.min, row.max, row.mean) for row in nano] == [
        ("input", "float32", (3, 4), 0, 11, 5.5),
        ("output", "int32", (2, 3), 0, 5, 2.5),
    ]
    inline = fastdump.stats(
        reference_dumps / "struct" / "Add.v1.14.7.1700000000000000", engine=engine
    )
    assert [(row.io, row.op_name, row.shape, row.min, row.max) for row in inline] == [
        ("input", "v1", (3, 4), 0, 11),
        ("output", "v1", (3, 4), 0, 22),
    ]


def test_packed_types(reference_dumps: Path, expected: dict[str, list[dict[str, Any]]]) -> None:
    """expected.json has no statistics of these: from their bytes then."""
    n_rows = 0
    for row in fastdump.stats(reference_dumps / "dtype", level="full"):
        if row.dtype not in ("float4_e2m1fn", "uint1"):
            continue
        content = (reference_dumps / "dtype" / row.path).read_bytes()[row.offset :]
        element = ELEMENT_TYPES[row.dtype]
        assert_true(row, statistics(element, unpacked(element, content, 16)), "full")
        n_rows += 1
    assert n_rows == 4


@pytest.mark.parametrize(
    ("dump", "host", "count"),
    [
        ("layout/Conv2D.nc1hwc0.1.7.1700000000000000", "ref_nchw.npy", 570),
        ("layout/MatMul.fractal_nz.3.7.1700000000000000", "ref_nd3.npy", 3500),
    ],
)
def test_padding_is_part_of_a_stored_tensor(
    dump: str, host: str, count: int, reference_dumps: Path
) -> None:
    """The padding is zeros: it shows in the count, the zeros and the mean, not in the norm."""
    array = np.load(reference_dumps / host)
    assert array.size == count
    in_memory = fastdump.stats_of(array, level="full")
    (row,) = fastdump.stats(reference_dumps / dump, level="full")
    n_padding = row.count - count
    assert n_padding > 0
    assert (row.max, row.l2norm) == (in_memory.max, in_memory.l2norm)
    assert row.zero == in_memory.zero + n_padding
    assert row.mean * row.count == pytest.approx(in_memory.mean * count, rel=1e-15)
