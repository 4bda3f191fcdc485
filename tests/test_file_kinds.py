"""Inline, nano, npy, sliced and appended files: what rows and headers say of each.

Files are made by other writers than fastdump's own; numbers are checked against slow exact ones.
"""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from other_writers import (
    GE_NUMBERS,
    DumpData,
    NanoTensor,
    inline_file,
    nano_file,
    npy_file,
    standard_file,
)
from truth import ELEMENT_TYPES, assert_row_is_of_its_bytes, assert_true, packed, statistics

import fastdump
from fastdump import _core

TS = 1_700_000_000_000_000
STD = f"Add.a.1.2.{TS}"
FFTS = f"Add.a.1.2.{TS}.4.11.1.0"
ENGINES = ("mmap", "read", "auto")

# Shapes whose number of elements fills no byte of any packed type.
SHAPES = [(7,), (3, 5), (2, 1, 9), (1,), (2, 2, 2, 3, 1)]


def describe(path: Path) -> dict[str, Any]:
    return _core.describe_file(os.fsencode(path))


def described(content: bytes, name: str = STD) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        return describe(path)


def rows_of(content: bytes, name: str = STD, **options: Any) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_bytes(content)
        return list(fastdump.stats(folder, level="full", **options))


def random_codes(name: str, shape: tuple[int, ...], seed: int) -> Any:
    element = ELEMENT_TYPES[name]
    n = math.prod(shape)
    rng = np.random.default_rng(seed)
    size = (n, 2) if element.is_complex else n
    return rng.integers(0, element.n_codes, size, np.uint64).astype(element.code)


# Every element type, whose codes are any bits at all: name -> shape, codes
TENSORS = {
    name: (SHAPES[i % len(SHAPES)], random_codes(name, SHAPES[i % len(SHAPES)], i))
    for i, name in enumerate(ELEMENT_TYPES)
}


def every_type_inline(filler: bytes = b"") -> bytes:
    tensors = [
        {
            "data_type": ELEMENT_TYPES[name].number,
            "format": 2,
            "shape": {"dim": shape},
            "data": packed(ELEMENT_TYPES[name], codes),
        }
        for name, (shape, codes) in TENSORS.items()
    ]
    return inline_file(version=b"1.0", output=tensors, dfx_message=filler)


def every_type_nano(filler: bytes = b"") -> bytes:
    assert set(GE_NUMBERS) == set(TENSORS)
    tensors = [
        NanoTensor(packed(ELEMENT_TYPES[name], codes), GE_NUMBERS[name], shape)
        for name, (shape, codes) in TENSORS.items()
    ]
    return nano_file([NanoTensor(filler, GE_NUMBERS["uint8"], (len(filler),))], tensors)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_filler_bytes", [0, 100_000, 9 << 20])
@pytest.mark.parametrize("make", [every_type_inline, every_type_nano])
def test_every_element_type(make: Any, n_filler_bytes: int, engine: str) -> None:
    """Small files are read whole; larger ones are read or mapped in chunks."""
    content = make(b"f" * n_filler_bytes)
    rows = [row for row in rows_of(content, engine=engine, threads=2) if row.io == "output"]
    assert [row.dtype for row in rows] == list(TENSORS)
    for row, (name, (shape, codes)) in zip(rows, TENSORS.items(), strict=True):
        assert (row.status, row.shape) == ("ok", shape), name
        # Integers beyond float64, and a log that nobody reads to its end.
        assert row.note is None or "exactly" in row.note or "the dfx_message" in row.note
        assert_true(row, statistics(ELEMENT_TYPES[name], codes), "full")
        payload = packed(ELEMENT_TYPES[name], codes)
        assert content[row.offset : row.offset + row.nbytes] == payload


# Recognition

ONES = np.ones(4, np.float32)
KINDS = {
    "standard": standard_file(
        ONES.tobytes(), output=[{"data_type": 1, "shape": {"dim": [4]}, "size": 16}]
    ),
    "version_1": inline_file(
        output=[{"data_type": 1, "shape": {"dim": [4]}, "data": ONES.tobytes()}]
    ),
    "nano": nano_file(outputs=[NanoTensor(ONES.tobytes(), 0, (4,))]),
    "npy": npy_file(ONES),
}
KINDS["version_1 with its mark"] = inline_file(version=b"1.0") + KINDS["version_1"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    [
        STD,
        "unknown",
        "9134657216587341217",
        "exception_info.5.1.20260101120000123",
        "Opdebug.Node_OpDebug.59.1597922031178434",
        "my.data.custom.20260101120000123",
        f"{STD}.output.0.npy",
        "weights.npy",
        "notes.txt",
    ],
)
def test_contents_decide_not_names(kind: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(KINDS[kind])
    (row,) = fastdump.stats(tmp_path)
    assert (row.path, row.status, row.dtype, row.shape) == (name, "ok", "float32", (4,))
    assert (row.count, row.max, row.min) == (4, 1, 1)
    assert describe(tmp_path / name)["kind"] == kind.split()[0]


def test_long_names_behind_a_mapping(tmp_path: Path) -> None:
    """The real name tells the thread of a slice and the place of a converted tensor."""
    names = {"1234567890": FFTS, "1234567891": f"{STD}.output.7.npy"}
    (tmp_path / "mapping.csv").write_text("".join(f"{k},{v}\n" for k, v in names.items()))
    (tmp_path / "1234567890").write_bytes(sliced_file(1))
    (tmp_path / "1234567891").write_bytes(KINDS["npy"])
    assert describe(tmp_path / "1234567890")["tensors"][0]["shape"] == (1, 4)
    assert describe(tmp_path / "1234567891")["tensors"][0]["index"] == 7
    part, whole, converted = fastdump.stats(tmp_path)
    assert (part.shape, part.thread_id, whole.shape) == ((1, 4), 1, (2,))
    assert (converted.path, converted.io, converted.index) == ("1234567891", "output", 7)


# Inline files


def test_header_of_an_inline_file() -> None:
    content = inline_file(
        version=b"1.0",
        dump_time=TS,
        op_name=b"scope/op",
        attr=[{"name": b"a", "value": b"b"}],
        input=[{"data_type": 2, "format": 29, "shape": {"dim": [2, 2]}, "data": b"\0" * 8}],
        output=[
            {
                "data_type": 7,
                "format": 3,
                "shape": {"dim": [3]},
                "original_shape": {"dim": [1, 3]},
                "data": b"123456789012",
                "size": 12,
                "original_op": {"name": b"conv", "output_index": 2, "format": 1},
            }
        ],
        buffer=[{"data": b"buffer"}],
        space=[{"data": b"space", "size": 5}],
    )
    header = described(content)
    assert (header["kind"], header["version"], header["dump_time"]) == ("version_1", "1.0", TS)
    assert (header["op_name"], header["attrs"]) == ("scope/op", [("a", "b")])
    assert header["file_nbytes"] == len(content)
    assert header["header_nbytes"] == len(content) - 8 - 12 - 6 - 5
    first, second, buffer, space = header["tensors"]
    assert (first["format"], first["shape"], first["status"]) == ("FRACTAL_NZ", (2, 2), "ok")
    assert (second["format"], second["origin_shape"]) == ("NC1HWC0", (1, 3))
    assert second["original_op"] == {"name": "conv", "output_index": 2, "format": "NHWC"}
    assert (buffer["io"], buffer["nbytes"], buffer["dtype"]) == ("buffer", 6, None)
    assert content[space["offset"] : space["offset"] + 5] == b"space"


def test_an_inline_file_cut_between_its_fields() -> None:
    """Two messages, one behind the other, are one: what is left of them is the first."""
    first = inline_file(version=b"1.0", input=[{"data_type": 3, "data": b"12"}])
    second = inline_file(input=[{"data_type": 3, "data": b"345"}])
    assert [row.count for row in rows_of(first + second)] == [2, 3]
    assert [row.count for row in rows_of(first)] == [2]
    (row,) = rows_of(first + second[:-1])
    assert row.status == "malformed"
    assert "inline" in row.note


uint64s = st.integers(0, (1 << 64) - 1)
shapes = st.fixed_dictionaries({"dim": st.lists(uint64s | st.integers(0, 9), max_size=4)})
inline_tensors = st.fixed_dictionaries(
    {},
    optional={
        "data_type": st.integers(-1, 45),
        "format": st.integers(-1, 300),
        "shape": shapes,
        "data": st.binary(max_size=40),
        "size": uint64s | st.integers(0, 40),
        "address": uint64s,
    },
)
inline_buffers = st.fixed_dictionaries({}, optional={"data": st.binary(max_size=9)})
inline_messages = st.fixed_dictionaries(
    {},
    optional={
        "version": st.sampled_from([b"", b"1.0", b"x"]),
        "op_name": st.binary(max_size=9),
        "output": st.lists(inline_tensors, max_size=3),
        "input": st.lists(inline_tensors, max_size=3),
        "buffer": st.lists(inline_buffers, max_size=2),
        "space": st.lists(inline_buffers, max_size=2),
        "attr": st.lists(st.just({"name": b"n", "value": b"v"}), max_size=2),
    },
)


def tensors_of(message: Any) -> list[Any]:
    return [*message.input, *message.output, *message.buffer, *message.space]


def assert_inline(content: bytes, message: Any) -> None:
    """Assert that the description of an inline file is what google reads from it."""
    header = described(content)
    assert header["kind"] == "version_1"
    assert header["op_name"] == message.op_name.decode("utf-8", "backslashreplace")
    tensors = tensors_of(message)
    assert len(header["tensors"]) == len(tensors)
    for found, tensor in zip(header["tensors"], tensors, strict=True):
        assert found["nbytes"] == len(tensor.data)
        assert content[found["offset"] : found["offset"] + found["nbytes"]] == tensor.data
    rows = rows_of(content)
    assert len(rows) == len(tensors)
    for row in rows:
        assert_row_is_of_its_bytes(row, content)


@given(st.lists(inline_messages, min_size=1, max_size=3))
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_inline_files_that_google_writes(parts: list[dict[str, Any]]) -> None:
    content = b"".join(inline_file(**part) for part in parts)
    message = DumpData.FromString(content)
    tensors = tensors_of(message)
    is_marked = re.match(rb"\x0a.1\.", content, re.DOTALL) is not None
    if tensors and (is_marked or any(tensor.data for tensor in tensors)):
        assert_inline(content, message)
    else:
        with pytest.raises(_core.FormatError):
            described(content)


@given(st.data())
@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_damaged_inline_files_are_refused_as_google_refuses_them(data: st.DataObject) -> None:
    content = bytearray(inline_file(**data.draw(inline_messages)) + KINDS["version_1"])
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=3)):
        content[at] = data.draw(st.integers(0, 255))
    damaged = bytes(content)
    try:
        message = DumpData.FromString(damaged)
    except DecodeError:
        if not re.search(rb"[\x80-\xff]{5}", damaged):  # padded field numbers may be read
            with pytest.raises(_core.FormatError):
                described(damaged)
        return
    is_odd = re.search(rb"[\x80-\xff]{9}[\x02-\xff]", damaged)  # more than 64 bits
    if is_odd or not any(tensor.data for tensor in tensors_of(message)):
        return
    try:
        described(damaged)
    except _core.FormatError as error:
        # Google passes over unknown groups without a look at the numbers of their fields.
        assert "field number 0 " in str(error)  # noqa: PT017
    else:
        assert_inline(damaged, message)


# Nano files


def test_header_of_a_nano_file() -> None:
    content = nano_file(
        [NanoTensor(b"\0" * 12, 27, (2, 3), (5, 6), format=0x0103, address=9)],
        [
            NanoTensor(b"\1" * 16, 3, (4,), op_name=b"scope/op", output_index=2, original_format=1),
            NanoTensor(b"123", 28),
        ],
        version=7,
    )
    header = described(content)
    assert (header["kind"], header["version"], header["note"]) == ("nano", "nano 7", "")
    first, second, third = header["tensors"]
    assert (first["data_type"], first["dtype"]) == (27, "bfloat16")
    assert (first["format"], first["sub_format"], first["address"]) == ("NC1HWC0", 1, 9)
    assert (first["shape"], first["origin_shape"]) == ((2, 3), (5, 6))
    assert (second["dtype"], second["n_elements"]) == ("int32", 4)
    assert second["original_op"] == {"name": "scope/op", "output_index": 2, "format": "NHWC"}
    assert (third["dtype"], third["status"]) == ("undefined", "unsupported")
    assert [content[t["offset"] : t["offset"] + t["nbytes"]] for t in header["tensors"]] == [
        b"\0" * 12,
        b"\1" * 16,
        b"123",
    ]


def test_nano_file_that_is_odd() -> None:
    payload = np.array([1, 2, 3], np.float32).tobytes()
    cases = {
        # tensor, bytes cut off, bytes added: status, elements
        (NanoTensor(payload, 0, (3,)), 0, 0): ("ok", 3),
        (NanoTensor(payload, 0, (3,)), 5, 0): ("truncated", 1),
        (NanoTensor(payload, 0, (2,)), 0, 0): ("size_mismatch", 2),
        (NanoTensor(payload, 0, (4,)), 0, 0): ("size_mismatch", 3),
        (NanoTensor(payload, 0), 0, 0): ("ok", 3),
        (NanoTensor(payload, 0, (3,)), 0, 9): ("ok", 3),
        (NanoTensor(payload, 5, (3,)), 0, 0): ("unsupported", None),
        (NanoTensor(payload, 0, (3,), size=1 << 63), 0, 0): ("truncated", 3),
        (NanoTensor(payload, 0, (1 << 40, 1 << 40)), 0, 0): ("size_mismatch", 3),
        (NanoTensor(payload, 0, (3,), address=0), 12, 0): ("absent", None),
    }
    for (tensor, n_cut, n_more), expected in cases.items():
        content = nano_file([tensor])
        content = content[: len(content) - n_cut] + b"m" * n_more
        (row,) = rows_of(content)
        assert (row.status, row.count) == expected, tensor
        assert_row_is_of_its_bytes(row, content)
        assert bool(row.note) == (row.status != "ok" or n_more > 0 or not tensor.shape), tensor


# Converted arrays

ARRAYS = {
    "bool": np.array([[True, False, True]]),
    "int8": np.arange(-4, 4, dtype=np.int8).reshape(2, 2, 2),
    "uint8": np.arange(250, 256, dtype=np.uint8),
    "int16": np.array([-(2**15), 2**15 - 1], np.int16),
    "uint16": np.array([65535, 0, 7], np.uint16),
    "int32": np.array([[-(2**31)], [5]], np.int32),
    "uint32": np.array([2**32 - 1], np.uint32),
    "int64": np.array([2**62 + 1, -(2**63)]),
    "uint64": np.array([2**64 - 1, 3], np.uint64),
    "float16": np.array([1.5, np.nan, -np.inf, 65504], np.float16),
    "float32": np.array([[1.5, np.inf], [-2, np.nan]], np.float32),
    "float64": np.array([1e300, -1e-300, np.nan]),
    "complex64": np.array([3 + 4j, -1j, complex(np.nan, 1)], np.complex64),
    "complex128": np.array([[3 + 4j], [complex(1, np.inf)]]),
    "bfloat16": np.array([1.5, -3, np.nan, np.inf], ml_dtypes.bfloat16),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ARRAYS)
def test_npy_files_of_every_type(name: str, engine: str) -> None:
    array = ARRAYS[name]
    content = npy_file(array)
    (row,) = rows_of(content, f"{STD}.output.3.npy", engine=engine)
    assert (row.io, row.index, row.op_type, row.timestamp) == ("output", 3, "Add", TS)
    assert (row.dtype, row.format, row.shape) == (name, "ND", array.shape)
    assert (row.status, row.nbytes) == ("ok", array.nbytes)
    assert content[row.offset :] == array.tobytes()
    element = ELEMENT_TYPES[name]
    codes = np.frombuffer(array.tobytes(), element.code)
    assert_true(
        row, statistics(element, codes.reshape(-1, 2) if element.is_complex else codes), "full"
    )


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0), None])
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3), (1, 2, 3, 4, 5)])
def test_npy_files_of_every_version_and_shape(
    version: tuple[int, int] | None, shape: tuple[int, ...]
) -> None:
    array = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    (row,) = rows_of(npy_file(array, version))
    assert (row.status, row.shape, row.count) == ("ok", shape, array.size)
    assert row.max == (array.max() if array.size else None)


def test_npy_files_in_fortran_order() -> None:
    array = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    array[0, 1] = np.nan  # third in the file, second in the array
    content = npy_file(array)
    header = described(content)
    assert header["tensors"][0]["fortran_order"]
    (row,) = rows_of(content)
    assert (row.status, row.shape, row.count, row.nan, row.max) == ("ok", (2, 3), 6, 1, 5)
    assert row.first_bad == 2
    assert "Fortran order" in row.note
    assert not described(npy_file(array.copy("C")))["tensors"][0]["fortran_order"]


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3, dtype=">f4"),
        np.arange(3, dtype=">i2"),
        np.zeros(3, [("a", "<f4"), ("b", "<i2")]),
        np.zeros(3, [("shape", "<f4"), ("fortran_order", "<i2")]),
        np.zeros(3, ml_dtypes.float8_e5m2),
        np.zeros(3, ml_dtypes.int4),
        np.array(["text", "more"]),
        np.array([b"text", b"more"]),
        np.array(["2026-01-01"], "M8[D]"),
        np.zeros(3, np.longdouble),
    ],
    ids=lambda array: str(array.dtype),
)
def test_npy_files_of_types_that_no_dump_has(array: Any) -> None:
    (row,) = rows_of(npy_file(array), f"{STD}.input.0.npy")
    assert (row.status, row.count, row.max) == ("unsupported", None, None)
    assert (row.shape, row.nbytes) == (array.shape, array.nbytes)
    assert "elements of" in row.note


def npy_with_header(text: bytes) -> bytes:
    return b"\x93NUMPY\2\0" + len(text).to_bytes(4, "little") + text


def test_npy_headers_of_any_bytes() -> None:
    """What is shown of them is text, in errors too."""
    keys = b"'fortran_order': False, 'shape': "
    (row,) = rows_of(npy_with_header(b"{'descr': '\xe6\xff\0\x1b', " + keys + b"(3,)}"))
    assert (row.status, row.note) == ("unsupported", r"elements of type '\xe6\xff\x00\x1b'")
    bad_shape = npy_with_header(b"{'descr': '<f4', " + keys + b"(\xe6\0\x1b,)}")
    with pytest.raises(_core.FormatError, match=r"'\\xe6\\x00\\x1b' is not a number"):
        described(bad_shape)
    (row,) = rows_of(bad_shape)
    assert row.status == "malformed"
    assert row.note.isprintable()


class Exploding:
    """What is pickled in a file must not be unpickled."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (exec, ("raise SystemExit('unpickled')",))


def test_npy_file_of_objects() -> None:
    (row,) = rows_of(npy_file(np.array([Exploding()], object)), f"{STD}.input.0.npy")
    assert (row.status, row.note) == ("unsupported", "elements of type '|O'")


def test_npy_file_that_is_cut_or_continued() -> None:
    content = npy_file(np.arange(5, dtype=np.float32))
    for n, expected in {
        0: ("ok", 5),
        1: ("truncated", 4),
        19: ("truncated", 0),
        20: ("truncated", 0),
    }.items():
        (row,) = rows_of(content[: len(content) - n])
        assert (row.status, row.count) == expected
        assert "address" not in (row.note or "")  # an array has none
    (row,) = rows_of(content + b"rest")
    assert (row.status, row.count, row.max) == ("ok", 5, 4)
    assert "4 trailing bytes" in row.note


# FFTS+ slices


def sliced_file(thread: int) -> bytes:
    """Return what a thread dumped of a tensor [3, 4]: two rows or one; and a whole one, [2]."""
    rows = [(0, 2), (2, 3)]
    cuts = {
        "threadMode": 1,
        "slice_instance_num": 2,
        "input_tensor_slice": [
            [[{"lower": a, "higher": b}, {"lower": 0, "higher": 4}], [{"lower": 0, "higher": 2}]]
            for a, b in rows
        ],
        "output_tensor_slice": [[] for _ in rows],
    }
    begin, end = rows[thread]
    part = np.arange(12, dtype=np.float32).reshape(3, 4)[begin:end]
    inputs = [
        {"data_type": 1, "shape": {"dim": [3, 4]}, "size": part.nbytes, "address": 1},
        {"data_type": 3, "shape": {"dim": [2]}, "size": 2, "address": 1},
    ]
    attrs = [
        {"name": b"user_tag", "value": b"{"},
        {"name": b"x", "value": json.dumps(cuts).encode()},
    ]
    return standard_file(part.tobytes() + b"\1\2", input=inputs, attr=attrs)


def test_slices() -> None:
    first, whole = described(sliced_file(0), FFTS.replace("11.1", "11.0"))["tensors"]
    assert (first["shape"], first["full_shape"]) == ((2, 4), (3, 4))
    assert first["slice"] == [(0, 2), (0, 4)]
    assert (whole["shape"], whole["full_shape"], whole["slice"]) == ((2,), None, None)
    second, _ = described(sliced_file(1), FFTS)["tensors"]
    assert (second["slice"], second["n_elements"]) == ([(2, 3), (0, 4)], 4)
    row, _ = rows_of(sliced_file(1), FFTS)
    assert (row.status, row.note, row.shape, row.min, row.max) == ("ok", None, (1, 4), 8, 11)
    # The name of another thread, or of none: not what the size says.
    for name in (FFTS.replace("11.1", "11.0"), FFTS.replace("11.1", "11.7"), STD):
        row, _ = rows_of(sliced_file(1), name)
        assert (row.status, row.shape, row.count) == ("size_mismatch", (3, 4), 4)


# Appended dumps


def test_appended_dumps_in_headers() -> None:
    other = standard_file(
        b"12345678",
        op_name=b"other",
        input=[{"data_type": 3, "shape": {"dim": [3]}, "size": 3}],
        output=[
            {
                "data_type": 3,
                "shape": {"dim": [5]},
                "size": 5,
                "original_op": {"name": b"o", "format": 2},
            }
        ],
    )
    content = KINDS["standard"] + other + KINDS["standard"]
    header = described(content)
    assert (header["kind"], header["op_name"], header["note"]) == ("standard", "", "")
    tensors = header["tensors"]
    assert [(t["appended"], t["io"], t["index"]) for t in tensors] == [
        (0, "output", 0),
        (1, "input", 0),
        (1, "output", 0),
        (2, "output", 0),
    ]
    payloads = [content[t["offset"] : t["offset"] + t["nbytes"]] for t in tensors]
    assert payloads == [ONES.tobytes(), b"123", b"45678", ONES.tobytes()]
    assert [t["original_op"] and t["original_op"]["name"] for t in tensors] == [
        None,
        None,
        "o",
        None,
    ]
    assert described(content + b"rest")["note"].startswith("4 trailing bytes")


def test_a_dump_appended_to_a_header_without_tensors() -> None:
    header_only = standard_file(op_name=b"first")
    (row,) = rows_of(header_only + KINDS["standard"])
    assert (row.io, row.op_name, row.max, row.status) == ("output", "first", 1, "ok")
    assert "dump 2 of 2" in row.note


def test_a_dump_appended_to_one_with_a_tensor_that_was_not_written() -> None:
    """The device skips the bytes of a tensor at address 0: the next header lies earlier."""
    sevens = np.full(4, 7, np.float32).tobytes()
    tensors = [
        {"data_type": 1, "shape": {"dim": [4]}, "size": 16, "address": address}
        for address in (1, 0, 2)
    ]
    first = standard_file(ONES.tobytes() + sevens, input=tensors)
    rows = rows_of(first + KINDS["standard"])
    assert [(row.status, row.count, row.max) for row in rows] == [
        ("ok", 4, 1),
        ("absent", None, None),
        ("ok", 4, 7),
        ("ok", 4, 1),
    ]


# Files that are no files on a disk


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="there is no /proc")
def test_a_file_that_tells_no_size() -> None:
    """As one that grows between the two calls that ask for its size and for its bytes."""
    n = len(Path("/proc/version").read_bytes())
    with pytest.raises(_core.FormatError, match=rf"past the end of the file \({n} bytes\)"):
        describe(Path("/proc/version"))
