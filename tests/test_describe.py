"""The reader of headers, with google protobuf as the oracle."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from dump_message import message_class
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastdump import _core

# Strings as bytes: google refuses those that are not UTF-8, a dump's reader must not.
DumpData = message_class("DumpData", strings_as="bytes")
LIMIT = {"max_examples": 300, "deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

IO_FIELDS = ("input", "output", "buffer", "space")
FORMATS = {0: "NCHW", 2: "ND", 29: "FRACTAL_NZ", 54: "FRACTAL_NZ_C0_8", 255: "MAX"}
DTYPES = {
    1: "float32",
    2: "float16",
    13: "string",
    27: "bfloat16",
    33: "hifloat8",
    40: "float4_e1m2",
}


def framed(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header


def describe(header: bytes, payload: bytes = b"") -> dict[str, Any]:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(framed(header) + payload)
        return _core.describe_file(os.fsencode(file.name))


def as_text(content: bytes) -> str:
    return content.decode("utf-8", "backslashreplace")


def as_int64(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def assert_described(found: dict[str, Any], message: Any, header: bytes) -> None:
    for name in ("version", "op_name", "dfx_message"):
        assert found[name] == as_text(getattr(message, name))
    assert found["dump_time"] == message.dump_time
    assert found["attrs"] == [(as_text(a.name), as_text(a.value)) for a in message.attr]
    assert found["header_nbytes"] == len(header)
    expected = [
        (io, index, tensor) for io in IO_FIELDS for index, tensor in enumerate(getattr(message, io))
    ]
    assert [(t["io"], t["index"]) for t in found["tensors"]] == [row[:2] for row in expected]
    for described, (io, _, tensor) in zip(found["tensors"], expected, strict=True):
        assert described["nbytes"] == tensor.size
        assert described["arg_index"] == (0 if io == "buffer" else tensor.arg_index)
        assert described["input_type"] == (tensor.input_type if io == "input" else 0)
        assert_original_op(described["original_op"], tensor if io == "output" else None)
        if io in ("buffer", "space"):
            assert (described["dtype"], described["format"], described["shape"]) == (None, None, ())
            continue
        assert_tensor(described, tensor)


def assert_original_op(described: dict[str, Any] | None, output: Any) -> None:
    if output is None or not output.HasField("original_op"):
        assert described is None
        return
    assert described is not None
    op = output.original_op
    assert (described["name"], described["output_index"]) == (as_text(op.name), op.output_index)
    low = op.format & 0xFF
    if low in FORMATS or 54 < low < 255:
        assert described["format"] == FORMATS.get(low, str(low))


def assert_tensor(described: dict[str, Any], tensor: Any) -> None:
    assert described["data_type"] == tensor.data_type
    if tensor.data_type in DTYPES:
        assert described["dtype"] == DTYPES[tensor.data_type]
    elif not 0 <= tensor.data_type <= 42:
        assert described["dtype"] is None
    # Some writers store GE's whole word: format, sub-format, C0.
    low, high = tensor.format & 0xFF, tensor.format >> 8 & 0xFFFF
    if low in FORMATS:
        assert described["format"] == FORMATS[low]
    elif 54 < low < 255:
        assert described["format"] == str(low)
    assert described["sub_format"] == (
        high if tensor.format > 0xFF and tensor.sub_format == 0 else tensor.sub_format
    )
    assert described["address"] == tensor.address
    assert described["origin_shape"] == tuple(map(as_int64, tensor.original_shape.dim))
    shape = tuple(map(as_int64, tensor.shape.dim))
    if shape:
        assert described["shape"] == shape
    else:  # a scalar, or one dimension by the size
        assert len(described["shape"]) <= 1


def assert_offsets(found: dict[str, Any], header: bytes) -> None:
    """Assert that payloads are back to back: inputs, outputs, buffers, spaces."""
    at = 8 + len(header)
    for tensor in found["tensors"]:
        assert tensor["offset"] == min(at, (1 << 64) - 1)
        at += tensor["nbytes"]


def is_within_limits(message: Any) -> bool:
    """Tell whether the reader's own limits and its refusal of inline data leave `message` alone."""
    tensors = (*message.input, *message.output)
    return all(max(len(t.shape.dim), len(t.original_shape.dim)) <= 64 for t in tensors) and not any(
        t.data and not t.size for t in (*tensors, *message.buffer, *message.space)
    )


# Messages as google protobuf writes them

uint64s = st.integers(0, (1 << 64) - 1) | st.integers(0, 300)
uint32s = st.integers(0, (1 << 32) - 1)
int32s = st.integers(-(1 << 31), (1 << 31) - 1) | st.integers(0, 60)
small = st.integers(0, 100)
shapes = st.fixed_dictionaries({"dim": st.lists(uint64s | small, max_size=5)})
strings = st.binary(max_size=12)
formats = st.sampled_from([0, 1, 2, 3, 29, 54, 55, 254, 255, 256, 0x104, 0x2FF1D, -1]) | int32s
COMMON = {
    "data_type": st.integers(-2, 45) | int32s,
    "format": formats,
    "shape": shapes,
    "size": uint64s | small,
    "original_shape": shapes,
    "sub_format": st.just(0) | int32s,
    "address": uint64s,
    "offset": uint64s,
    "arg_index": uint32s,
}
inputs = st.fixed_dictionaries({}, optional={**COMMON, "input_type": uint32s})
original_ops = st.fixed_dictionaries(
    {}, optional={"name": strings, "output_index": uint32s, "data_type": int32s, "format": int32s}
)
ranges = st.fixed_dictionaries({}, optional={"dim_start": uint64s, "dim_end": uint64s})
outputs = st.fixed_dictionaries(
    {},
    optional={**COMMON, "original_op": original_ops, "dim_range": st.lists(ranges, max_size=2)},
)
buffers = st.fixed_dictionaries({}, optional={"buffer_type": int32s, "size": uint64s | small})
spaces = st.fixed_dictionaries({}, optional={"type": int32s, "size": small, "arg_index": uint32s})
attrs = st.fixed_dictionaries({}, optional={"name": strings, "value": strings})
messages = st.fixed_dictionaries(
    {},
    optional={
        "version": strings,
        "dump_time": uint64s,
        "output": st.lists(outputs, max_size=3),
        "input": st.lists(inputs, max_size=3),
        "buffer": st.lists(buffers, max_size=2),
        "op_name": strings,
        "attr": st.lists(attrs, max_size=2),
        "space": st.lists(spaces, max_size=2),
        "dfx_message": strings,
    },
)


@given(st.lists(messages, min_size=1, max_size=3), st.binary(max_size=40))
@settings(**LIMIT)
def test_messages_that_google_writes(parts: list[dict[str, Any]], payload: bytes) -> None:
    # Written one behind the other, messages merge: the last scalar wins, lists add up.
    header = b"".join(DumpData(**part).SerializeToString() for part in parts)
    if not header:
        header = b"\x10\x00"  # an empty header has a test of its own
    found = describe(header, payload)
    assert_described(found, DumpData.FromString(header), header)
    if all(t["status"] != "absent" for t in found["tensors"]):
        assert_offsets(found, header)
    assert found["file_nbytes"] == 8 + len(header) + len(payload)


# Messages as other writers may write them


def varint(value: int, n_more: int = 0) -> bytes:
    """Encode a varint, with `n_more` bytes than it needs."""
    encoded = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    for _ in range(min(n_more, 10 - len(encoded))):
        encoded[-1] |= 0x80
        encoded.append(0)
    return bytes(encoded)


def field(number: int, wire_type: int, content: bytes) -> bytes:
    return varint(number << 3 | wire_type) + content


def delimited(number: int, content: bytes) -> bytes:
    return field(number, 2, varint(len(content)) + content)


def scalars(numbers: list[int]) -> st.SearchStrategy[bytes]:
    return st.builds(
        lambda number, value, more: field(number, 0, varint(value, more)),
        st.sampled_from(numbers),
        uint64s,
        st.integers(0, 9),
    )


def blobs(numbers: list[int], content: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.builds(delimited, st.sampled_from(numbers), content)


def joined(*pieces: st.SearchStrategy[bytes], max_size: int = 6) -> st.SearchStrategy[bytes]:
    return st.lists(st.one_of(*pieces), max_size=max_size).map(b"".join)


groups = st.recursive(
    st.just(b""),
    lambda inner: st.builds(
        lambda number, content: field(number, 3, content) + field(number, 4, b""),
        st.integers(20, 25),
        inner,
    ),
    max_leaves=3,
)
unknown = st.one_of(
    scalars([13, 15, 16, 2047, (1 << 29) - 1]),
    blobs([13, 14, 100, 20000], st.binary(max_size=6)),
    st.builds(field, st.integers(13, 30), st.just(1), st.binary(min_size=8, max_size=8)),
    st.builds(field, st.integers(13, 30), st.just(5), st.binary(min_size=4, max_size=4)),
    groups,
    # A known number with another wire type is unknown too.
    st.builds(field, st.integers(1, 12), st.just(5), st.binary(min_size=4, max_size=4)),
    st.builds(field, st.integers(1, 12), st.just(1), st.binary(min_size=8, max_size=8)),
)
wire_shapes = joined(
    st.builds(lambda v: field(1, 0, varint(v)), uint64s | small),
    st.builds(lambda vs: delimited(1, b"".join(map(varint, vs))), st.lists(uint64s, max_size=3)),
    unknown,
    max_size=4,
)
wire_inputs = joined(
    scalars([1, 2, 5, 7, 8, 9, 10, 11]), blobs([3, 6], wire_shapes), unknown, max_size=8
)
wire_outputs = joined(
    scalars([1, 2, 6, 8, 9, 11, 12]),
    blobs([3, 7], wire_shapes),
    blobs([4], joined(blobs([1], strings), scalars([2, 3, 4]), unknown)),
    blobs([10], joined(scalars([1, 2]), unknown)),
    unknown,
    max_size=8,
)
wire_headers = joined(
    blobs([4], wire_inputs),
    blobs([3], wire_outputs),
    blobs([5], joined(scalars([1, 3]), unknown)),
    blobs([8], joined(scalars([1, 3, 4]), unknown)),
    blobs([7], joined(blobs([1, 2], strings), unknown)),
    blobs([1, 6, 9], strings),
    scalars([2]),
    unknown,
    max_size=8,
).filter(bool)


@given(wire_headers)
@settings(**LIMIT)
def test_messages_that_other_writers_write(header: bytes) -> None:
    """Unknown fields, packed and unpacked, split and repeated submessages, padded varints."""
    message = DumpData.FromString(header)
    found = describe(header)
    assert_described(found, message, header)


@given(st.data())
@settings(**LIMIT)
def test_damaged_messages_are_refused_as_google_refuses_them(data: st.DataObject) -> None:
    header = bytearray(data.draw(wire_headers))
    for at in data.draw(st.lists(st.integers(0, len(header) - 1), min_size=1, max_size=3)):
        header[at] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del header[data.draw(st.integers(1, len(header))) :]
    damaged = bytes(header)
    try:
        message = DumpData.FromString(damaged)
    except DecodeError:
        # A field number padded to more than five bytes may be refused, as google does, or read.
        if not re.search(rb"[\x80-\xff]{5}", damaged):
            with pytest.raises(_core.FormatError):
                describe(damaged)
        return
    # Google drops what a varint has beyond 64 bits, this reader refuses it.
    if not is_within_limits(message) or re.search(rb"[\x80-\xff]{9}[\x02-\xff]", damaged):
        return
    # Google passes over unknown groups without a look at the numbers of their fields.
    refused: str | None = None
    try:
        described = describe(damaged)
    except _core.FormatError as error:
        refused = str(error)
    if refused is None:
        assert_described(described, message, damaged)
    else:
        # Google passes over unknown groups without a look at the numbers of their fields.
        assert "field number 0 " in refused


# One case after the other


def test_unpacked_shape_is_a_shape() -> None:
    shape = b"\x08\x03\x08\x04" + delimited(1, b"\x05")
    header = delimited(4, delimited(3, shape))
    assert describe(header)["tensors"][0]["shape"] == (3, 4, 5)


def test_a_shape_in_pieces_is_their_concatenation() -> None:
    pieces = delimited(3, delimited(1, b"\2\3")) + field(1, 0, b"\1") + delimited(3, b"\x08\x07")
    header = delimited(3, pieces)
    assert describe(header)["tensors"][0]["shape"] == (2, 3, 7)


def test_numbers_wider_than_their_field_keep_32_bits() -> None:
    header = delimited(4, field(1, 0, varint((1 << 40) + 1)) + field(2, 0, varint((7 << 33) + 3)))
    (tensor,) = describe(header)["tensors"]
    assert (tensor["data_type"], tensor["dtype"], tensor["format"]) == (1, "float32", "NC1HWC0")


def test_the_last_value_wins() -> None:
    header = delimited(6, b"first") + delimited(4, b"\x28\x05\x28\x07") + delimited(6, b"last")
    found = describe(header)
    assert (found["op_name"], found["tensors"][0]["nbytes"]) == ("last", 7)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"\x10", "varint"),
        (b"\x10" + b"\x80" * 10 + b"\1", "varint"),
        (b"\x00\x00", "field number 0"),
        (b"\x0a\x05abc", "field 1"),
        (b"\x0a\x04abc", "field 1"),  # one byte too many: what follows belongs to others
        (b"\x09\1\1\1\1\1\1\1", "field 1"),
        (b"\x0d\1\1\1", "field 1"),
        (delimited(4, b"\x1a\x03\x08\x01") + b"\x10\x01", "field 3"),
        (b"\x0c", "group"),
        (b"\x0b\x14", "group"),
        (b"\x0b", "group"),
        (b"\x0f\x00", "wire type 7"),
        (b"\x09abc", "field 1"),
        (b"\x0dabc", "field 1"),
        (delimited(4, b"\x1a\x05\x0a\x01\x01"), "field 3"),
        (delimited(4, delimited(3, delimited(1, b"\x80"))), "varint"),
        (delimited(3, delimited(4, b"\x08")), "varint"),
        (delimited(3, delimited(10, b"\x08")), "varint"),
        (delimited(4, delimited(3, b"\x08\x01" * 65)), "64 dimensions"),
        (delimited(4, delimited(6, delimited(1, b"\x01" * 65))), "64 dimensions"),
        (delimited(4, b"") * 4097, "4096 tensors"),
        (delimited(7, b"") * 257, "256 attributes"),
        (delimited(4, delimited(4, b"data")), "version 1"),
        (delimited(3, delimited(5, b"data")), "version 1"),
    ],
)
def test_reasons_name_the_cause_and_its_place(header: bytes, reason: str) -> None:
    with pytest.raises(_core.FormatError, match=reason) as error:
        describe(header)
    assert "byte " in str(error.value)


def test_at_the_limits() -> None:
    header = delimited(4, delimited(3, b"\x08\x01" * 64)) + delimited(7, b"") * 256
    found = describe(header)
    assert found["tensors"][0]["shape"] == (1,) * 64
    assert len(found["attrs"]) == 256


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing:
        _core.describe_file(os.fsencode(tmp_path / "missing"))
    assert missing.value.filename == str(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        _core.describe_file(os.fsencode(tmp_path))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="fifo"):
        _core.describe_file(os.fsencode(tmp_path / "fifo"))
