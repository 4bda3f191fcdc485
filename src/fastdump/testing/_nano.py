"""The nano dump file: u64 header length, tagged lists of fixed records, payloads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fastdump.testing._file import write_file
from fastdump.testing._record import pack_fields
from fastdump.testing._tensor import (
    OriginalOp,
    TensorSpec,
    as_spec,
    data_type_number,
    format_number,
    payload,
    size_field,
    storage_shape,
)

_MAGIC = 0x5A5A5A5A
_INPUTS, _OUTPUTS = 4, 5  # tags of lists
_SHAPE, _ORIGIN_SHAPE, _ORIGINAL_NAME = 0, 1, 2  # tags within a record

# The graph engine's numbers of element types, by their numbers in a standard file.
# fmt: off
_ENGINE_NUMBERS = [
    28, 0, 1, 2, 4, 6, 7, 3, 9, 8, 10, 12, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42,
]
# fmt: on
_WITHOUT_ENGINE_NUMBER = len(_ENGINE_NUMBERS)  # HIFLOAT4_SCALE


def write_nano(
    path: str | os.PathLike[str],
    *,
    inputs: Sequence[npt.NDArray[Any] | TensorSpec] | None = None,
    outputs: Sequence[npt.NDArray[Any] | TensorSpec] | None = None,
    version: int = 1,
) -> Path:
    """Write a nano dump file, as small systems and the newest runtime make them.

    The file holds the graph engine's numbers of element types, in which FLOAT is 0. The types of a
    `TensorSpec` are given as for any other file, and translated; a number that no standard file
    knows is written unchanged.

    Parameters
    ----------
    path : path
        The file, usually named by `dump_name`.
    inputs, outputs : sequence of numpy.ndarray or TensorSpec, optional
        Tensors. None leaves the list out, as the device does if it dumps only the other; an empty
        sequence writes an empty list. A record has no place for `TensorSpec.sub_format`,
        `arg_index`, `input_type` and `dim_range`.
    version : int
        Version of the format.

    Returns
    -------
    pathlib.Path
        As from `write_dump`.

    Raises
    ------
    TypeError, ValueError
        If a type, a format or a number cannot be written in such a file; nothing is written then.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> x = np.arange(4, dtype=np.float16)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory, "Add.a.1.2.1700000000000000")
    ...     write_nano(path, outputs=[x]).stat().st_size
    104
    """
    sent = [as_spec(tensor) for tensor in inputs or ()]
    made = [as_spec(tensor) for tensor in outputs or ()]
    header = pack_fields("II", _MAGIC, version)
    if inputs is not None:
        header += _record_list(_INPUTS, [_input_record(spec) for spec in sent])
    if outputs is not None:
        header += _record_list(_OUTPUTS, [_output_record(spec) for spec in made])
    head: list[bytes | memoryview] = [len(header).to_bytes(8, "little") + header]
    return write_file(path, chain(head, map(payload, (*sent, *made))))


def _input_record(spec: TensorSpec) -> bytes:
    if spec.original_op:
        raise ValueError("an input has no original_op")
    return _kind(spec) + _place(spec, _shape_tags(spec))


def _output_record(spec: TensorSpec) -> bytes:
    op = spec.original_op or OriginalOp()
    tags = _shape_tags(spec)
    if op.name:
        tags += _tagged(_ORIGINAL_NAME, op.name.encode("utf-8", "surrogateescape"))
    original = pack_fields("iii", op.output_index, op.data_type, op.format)
    return _kind(spec) + original + _place(spec, tags)


def _kind(spec: TensorSpec) -> bytes:
    return pack_fields("iii", _engine_number(spec), format_number(spec), spec.address_type)


def _place(spec: TensorSpec, tags: bytes) -> bytes:
    return pack_fields("QQQI", spec.address, spec.offset, size_field(spec), len(tags)) + tags


def _shape_tags(spec: TensorSpec) -> bytes:
    if spec.sub_format or spec.arg_index or spec.input_type or spec.dim_range:
        raise ValueError("a nano file has no sub_format, arg_index, input_type and dim_range")
    tags = _tagged(_SHAPE, _dims(storage_shape(spec)))
    if spec.origin_shape:
        tags += _tagged(_ORIGIN_SHAPE, _dims(spec.origin_shape))
    return tags


def _dims(shape: Sequence[int]) -> bytes:
    return pack_fields(f"{len(shape)}Q", *(dim % (1 << 64) if dim < 0 else dim for dim in shape))


def _engine_number(spec: TensorSpec) -> int:
    number = data_type_number(spec)
    if number == _WITHOUT_ENGINE_NUMBER:
        raise ValueError("a nano file has no element type HIFLOAT4_SCALE")
    return _ENGINE_NUMBERS[number] if 0 <= number < len(_ENGINE_NUMBERS) else number


def _record_list(tag: int, records: list[bytes]) -> bytes:
    return _tagged(tag, pack_fields("I", len(records)) + b"".join(records))


def _tagged(tag: int, value: bytes) -> bytes:
    return pack_fields("II", tag, len(value)) + value
