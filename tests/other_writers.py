"""Dump files of every kind, encoded by google protobuf, struct and numpy: nothing of fastdump."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dump_message import message_class

# Strings as bytes: a file's text need not be UTF-8.
DumpData = message_class("DumpData", strings_as="bytes")

# Nano files number the types as the graph engine does.
GE_NUMBERS: Mapping[str, int] = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 6,
    "uint16": 7,
    "uint32": 8,
    "int64": 9,
    "uint64": 10,
    "float64": 11,
    "bool": 12,
    "complex64": 16,
    "complex128": 17,
    "bfloat16": 27,
    "int4": 29,
    "uint1": 30,
    "int2": 31,
    "uint2": 32,
    "complex32": 33,
    "hifloat8": 34,
    "float8_e5m2": 35,
    "float8_e4m3fn": 36,
    "float8_e8m0fnu": 37,
    "float4_e2m1fn": 40,
    "float4_e1m2": 41,
}


def with_length(header: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header


def standard_file(payload: bytes = b"", **fields: Any) -> bytes:
    """Return a version 2 file; `fields` are those of DumpData."""
    return with_length(DumpData(**fields).SerializeToString()) + payload


def inline_file(**fields: Any) -> bytes:
    """Return a version 1 file; `fields` are those of DumpData, whose tensors have `data`."""
    content: bytes = DumpData(**fields).SerializeToString()
    return content


@dataclass(frozen=True)
class NanoTensor:
    """One record of a nano file and its payload. `size` is that of the payload unless given."""

    data: bytes = b""
    data_type: int = 0
    shape: Sequence[int] = ()
    origin_shape: Sequence[int] = ()
    format: int = 2
    size: int | None = None
    address: int = 0x1000
    # Of outputs.
    op_name: bytes | None = None
    output_index: int = 0
    original_format: int = 0


def _tlv(tag: int, value: bytes) -> bytes:
    return struct.pack("<II", tag, len(value)) + value


def _nano_record(tensor: NanoTensor, is_output: bool) -> bytes:
    details = b""
    for tag, shape in ((0, tensor.shape), (1, tensor.origin_shape)):
        if shape:
            details += _tlv(tag, struct.pack(f"<{len(shape)}Q", *shape))
    if tensor.op_name is not None:
        details += _tlv(2, tensor.op_name)
    record = struct.pack("<iii", tensor.data_type, tensor.format, 0)
    if is_output:
        record += struct.pack("<iii", tensor.output_index, 0, tensor.original_format)
    size = len(tensor.data) if tensor.size is None else tensor.size
    # The offset is one that nobody may believe.
    return record + struct.pack("<QQQI", tensor.address, 1 << 63, size, len(details)) + details


def nano_file(
    inputs: Sequence[NanoTensor] = (), outputs: Sequence[NanoTensor] = (), version: int = 1
) -> bytes:
    head = struct.pack("<II", 0x5A5A5A5A, version)
    for tag, tensors in ((4, inputs), (5, outputs)):
        records = b"".join(_nano_record(tensor, tag == 5) for tensor in tensors)
        head += _tlv(tag, struct.pack("<I", len(tensors)) + records)
    return with_length(head) + b"".join(tensor.data for tensor in (*inputs, *outputs))


def npy_file(array: Any, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version)
    return file.getvalue()
