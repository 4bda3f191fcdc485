"""The message ``DumpData``: the header of a standard file, or a whole version-1 file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from fastdump.testing._tensor import (
    BufferSpec,
    OriginalOp,
    TensorSpec,
    as_spec,
    data_type_number,
    format_number,
    payload,
    raw_bytes,
    size_field,
    storage_shape,
)
from fastdump.testing._wire import (
    bytes_field,
    message_field,
    packed_field,
    string_field,
    varint_field,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DumpMessage:
    """The content of a dump file, as `write_dump` takes it."""

    inputs: Sequence[npt.NDArray[Any] | TensorSpec]
    outputs: Sequence[npt.NDArray[Any] | TensorSpec]
    buffers: Sequence[bytes | BufferSpec]
    spaces: Sequence[bytes | BufferSpec]
    op_name: str
    version: str
    dump_time: int
    attrs: Sequence[tuple[str, str]]
    dfx_message: str

    def encode(self, *, inline: bool) -> bytes:
        """Return the message; `inline` puts the payloads into it."""
        return b"".join(
            (
                string_field(1, self.version),
                varint_field(2, self.dump_time),
                *(message_field(3, _output(as_spec(one), inline)) for one in self.outputs),
                *(message_field(4, _input(as_spec(one), inline)) for one in self.inputs),
                *(message_field(5, _buffer(_blob(one), inline)) for one in self.buffers),
                string_field(6, self.op_name),
                *(message_field(7, _attr(*one)) for one in self.attrs),
                *(message_field(8, _workspace(_blob(one), inline)) for one in self.spaces),
                string_field(9, self.dfx_message),
            )
        )

    def payloads(self) -> Iterator[memoryview]:
        """Yield the payloads that follow the header of a standard file."""
        # Inputs come first, although the message has the outputs before them.
        for tensor in (*self.inputs, *self.outputs):
            yield payload(as_spec(tensor))
        for blob in (*self.buffers, *self.spaces):
            yield raw_bytes(_blob(blob).data)


def _output(spec: TensorSpec, inline: bool) -> bytes:
    if spec.input_type:
        raise ValueError("an output has no input_type")
    return b"".join(
        (
            *_type_format_shape(spec),
            message_field(4, _original_op(spec.original_op)) if spec.original_op else b"",
            bytes_field(5, payload(spec)) if inline else b"",
            varint_field(6, size_field(spec)),
            _shape_field(7, spec.origin_shape),
            varint_field(8, spec.sub_format),
            varint_field(9, spec.address),
            *(
                message_field(10, varint_field(1, first) + varint_field(2, last))
                for first, last in spec.dim_range
            ),
            varint_field(11, spec.offset),
            varint_field(12, spec.arg_index),
        )
    )


def _input(spec: TensorSpec, inline: bool) -> bytes:
    if spec.dim_range or spec.original_op:
        raise ValueError("an input has neither dim_range nor original_op")
    return b"".join(
        (
            *_type_format_shape(spec),
            bytes_field(4, payload(spec)) if inline else b"",
            varint_field(5, size_field(spec)),
            _shape_field(6, spec.origin_shape),
            varint_field(7, spec.sub_format),
            varint_field(8, spec.address),
            varint_field(9, spec.offset),
            varint_field(10, spec.arg_index),
            varint_field(11, spec.input_type),
        )
    )


def _type_format_shape(spec: TensorSpec) -> tuple[bytes, bytes, bytes]:
    if spec.address_type:
        raise ValueError("only a nano file has an address_type")
    return (
        varint_field(1, data_type_number(spec)),
        varint_field(2, format_number(spec)),
        _shape_field(3, storage_shape(spec)),
    )


def _buffer(blob: BufferSpec, inline: bool) -> bytes:
    if blob.arg_index:
        raise ValueError("a buffer has no arg_index")
    return _blob_fields(blob, inline)


def _workspace(blob: BufferSpec, inline: bool) -> bytes:
    return _blob_fields(blob, inline) + varint_field(4, blob.arg_index)


def _blob_fields(blob: BufferSpec, inline: bool) -> bytes:
    data = raw_bytes(blob.data)
    size = data.nbytes if blob.size is None else blob.size
    inlined = bytes_field(2, data) if inline else b""
    return varint_field(1, blob.type) + inlined + varint_field(3, size)


def _attr(name: str, value: str) -> bytes:
    return string_field(1, name) + string_field(2, value)


def _blob(blob: bytes | BufferSpec) -> BufferSpec:
    return blob if isinstance(blob, BufferSpec) else BufferSpec(blob)


def _original_op(op: OriginalOp) -> bytes:
    return b"".join(
        (
            string_field(1, op.name),
            varint_field(2, op.output_index),
            varint_field(3, op.data_type),
            varint_field(4, op.format),
        )
    )


def _shape_field(number: int, dims: Sequence[int]) -> bytes:
    return message_field(number, packed_field(1, dims)) if dims else b""
