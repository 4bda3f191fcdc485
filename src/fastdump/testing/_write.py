"""The standard dump file (version 2): u64 header length, protobuf header, payloads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import BufferedWriter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fastdump.testing import _names
from fastdump.testing._tensor import (
    BufferSpec,
    OriginalOp,
    TensorSpec,
    data_type_number,
    format_number,
    payload,
    payload_nbytes,
    raw_bytes,
    storage_shape,
)
from fastdump.testing._wire import message_field, packed_field, string_field, varint_field


def write_dump(
    path: str | os.PathLike[str],
    *,
    inputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    outputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    buffers: Sequence[bytes | BufferSpec] = (),
    spaces: Sequence[bytes | BufferSpec] = (),
    op_name: str = "",
    version: str = "2.0",
    dump_time: int = 0,
    attrs: Sequence[tuple[str, str]] = (),
    dfx_message: str = "",
) -> Path:
    """Write a standard dump file.

    Large arrays are written from where they are. A file that exists is replaced, missing
    directories are made. If the name of the file is longer than 255 bytes, the file gets a name of
    digits instead and a row is added to ``mapping.csv`` in its directory, as the vendor does.

    Parameters
    ----------
    path : path
        The file, usually named by `dump_name`.
    inputs, outputs : sequence of numpy.ndarray or TensorSpec
        Tensors; an array (also of `ml_dtypes`) stands for ``TensorSpec(array)``.
    buffers, spaces : sequence of bytes or BufferSpec
        Fusion buffers and workspaces.
    op_name : str
        The real name of the operator.
    version : str
        What the header says; the layout is always that of version 2.
    dump_time : int
        Microseconds since 1970.
    attrs : sequence of (str, str)
        Names and values.
    dfx_message : str
        Log lines of an exception dump.

    Returns
    -------
    pathlib.Path
        The file that was written; differs from `path` in its name only, and only if that was too
        long.

    Raises
    ------
    TypeError, ValueError
        If a type, a format or a number cannot be written in a dump; nothing is written then.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from fastdump.testing import dump_name
    >>> x = np.array([-1, 2], np.float16)
    >>> name = dump_name("Relu", "act/Relu", task_id=3, stream_id=1, timestamp=1700000000000000)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory, name)
    ...     write_dump(path, inputs=[x], outputs=[np.maximum(x, 0)], op_name="act/Relu").name
    'Relu.act_Relu.3.1.1700000000000000'
    """
    header = dump_header(
        inputs=inputs,
        outputs=outputs,
        buffers=buffers,
        spaces=spaces,
        op_name=op_name,
        version=version,
        dump_time=dump_time,
        attrs=attrs,
        dfx_message=dfx_message,
    )
    wanted = Path(path)
    path = _names.storable(wanted)
    with _create(path) as file:
        file.write(header)
        for chunk in _payloads(inputs, outputs, buffers, spaces):
            file.write(chunk)
    if path != wanted:
        _names.append_mapping(path, wanted.name)
    return path


def dump_header(
    *,
    inputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    outputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    buffers: Sequence[bytes | BufferSpec] = (),
    spaces: Sequence[bytes | BufferSpec] = (),
    op_name: str = "",
    version: str = "2.0",
    dump_time: int = 0,
    attrs: Sequence[tuple[str, str]] = (),
    dfx_message: str = "",
) -> bytes:
    """Return what stands before the payloads of a standard dump file.

    Parameters
    ----------
    inputs, outputs, buffers, spaces, op_name, version, dump_time, attrs, dfx_message
        As for `write_dump`.

    Returns
    -------
    bytes
        The length of the message ``DumpData`` (eight bytes, little-endian) and the message.

    Raises
    ------
    TypeError, ValueError
        If a type, a format or a number cannot be written in a dump.
    """
    message = b"".join(
        (
            string_field(1, version),
            varint_field(2, dump_time),
            *(message_field(3, _output(_spec(tensor))) for tensor in outputs),
            *(message_field(4, _input(_spec(tensor))) for tensor in inputs),
            *(message_field(5, _buffer(_blob(buffer))) for buffer in buffers),
            string_field(6, op_name),
            *(message_field(7, string_field(1, name) + string_field(2, v)) for name, v in attrs),
            *(message_field(8, _workspace(_blob(space))) for space in spaces),
            string_field(9, dfx_message),
        )
    )
    return len(message).to_bytes(8, "little") + message


def _create(path: Path) -> BufferedWriter:
    try:
        return path.open("wb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")


def _payloads(
    inputs: Sequence[npt.NDArray[Any] | TensorSpec],
    outputs: Sequence[npt.NDArray[Any] | TensorSpec],
    buffers: Sequence[bytes | BufferSpec],
    spaces: Sequence[bytes | BufferSpec],
) -> Iterator[memoryview]:
    # Inputs come first, although the message numbers the outputs before them.
    for tensor in (*inputs, *outputs):
        yield payload(_spec(tensor))
    for blob in (*buffers, *spaces):
        yield raw_bytes(_blob(blob).data)


def _spec(tensor: npt.NDArray[Any] | TensorSpec) -> TensorSpec:
    return tensor if isinstance(tensor, TensorSpec) else TensorSpec(np.asarray(tensor))


def _blob(blob: bytes | BufferSpec) -> BufferSpec:
    return blob if isinstance(blob, BufferSpec) else BufferSpec(blob)


def _output(spec: TensorSpec) -> bytes:
    if spec.input_type:
        raise ValueError("an output has no input_type")
    return b"".join(
        (
            varint_field(1, data_type_number(spec)),
            varint_field(2, format_number(spec)),
            _shape_field(3, storage_shape(spec)),
            message_field(4, _original_op(spec.original_op)) if spec.original_op else b"",
            varint_field(6, payload_nbytes(spec) if spec.size is None else spec.size),
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


def _input(spec: TensorSpec) -> bytes:
    if spec.dim_range or spec.original_op:
        raise ValueError("an input has neither dim_range nor original_op")
    return b"".join(
        (
            varint_field(1, data_type_number(spec)),
            varint_field(2, format_number(spec)),
            _shape_field(3, storage_shape(spec)),
            varint_field(5, payload_nbytes(spec) if spec.size is None else spec.size),
            _shape_field(6, spec.origin_shape),
            varint_field(7, spec.sub_format),
            varint_field(8, spec.address),
            varint_field(9, spec.offset),
            varint_field(10, spec.arg_index),
            varint_field(11, spec.input_type),
        )
    )


def _buffer(blob: BufferSpec) -> bytes:
    if blob.arg_index:
        raise ValueError("a buffer has no arg_index")
    return varint_field(1, blob.type) + varint_field(3, _declared_nbytes(blob))


def _workspace(blob: BufferSpec) -> bytes:
    return b"".join(
        (
            varint_field(1, blob.type),
            varint_field(3, _declared_nbytes(blob)),
            varint_field(4, blob.arg_index),
        )
    )


def _declared_nbytes(blob: BufferSpec) -> int:
    return raw_bytes(blob.data).nbytes if blob.size is None else blob.size


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
