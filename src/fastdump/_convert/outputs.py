"""The files that one dump file becomes."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

from fastdump._convert import naming, safetensors
from fastdump._convert.elements import elements_of, stored_bytes
from fastdump._convert.npy import npy_header
from fastdump._convert.options import Options
from fastdump._convert.payload import Payload
from fastdump._dump.operator import Operator
from fastdump._tensor.op_debug import parse_op_debug
from fastdump._tensor.tensor import Tensor
from fastdump.errors import DumpFormatError, LayoutError

_OP_DEBUG = "op_debug"


@dataclass(frozen=True, slots=True)
class Output:
    """A file to be written.

    Attributes
    ----------
    suffix
        The part of its name that follows the dump's name.
    head
        The bytes before the payloads.
    payloads
        Parts of the dump file, one after another.
    failed
        Names of tensors that should be in it but are not, and why.
    """

    suffix: str
    head: bytes
    payloads: tuple[Payload, ...]
    failed: tuple[tuple[str, LayoutError], ...] = ()

    @property
    def nbytes(self) -> int:
        """Its size."""
        return len(self.head) + sum(payload.nbytes for payload in self.payloads)


@dataclass(frozen=True, slots=True)
class Part:
    """The content of one file: one tensor, or all tensors of a dump."""

    tensors: tuple[Tensor, ...]
    appended: int

    @property
    def name(self) -> str | None:
        """Name of the tensor if there is only one: "output.0"."""
        return self.tensors[0].name if len(self.tensors) == 1 else None


def parts_of(op: Operator, wanted: Sequence[Tensor], options: Options) -> list[Part]:
    """Return the parts of a dump file that become a file each.

    Parameters
    ----------
    op
        The file.
    wanted
        Its tensors that are to be converted.
    options
        What to make of them.

    Raises
    ------
    DumpFormatError
        If it is not a dump, or lacks the tensor that was asked for.
    OSError
        If it cannot be read.
    """
    parts = []
    chosen = {
        id(tensor)
        for tensor in wanted
        if options.only is None or (tensor.io, tensor.index) == options.only
    }
    for appended, dump in enumerate([op.tensors, *op.appended]):
        tensors = tuple(tensor for tensor in dump if id(tensor) in chosen)
        if options.type == "safetensors" and op.kind != _OP_DEBUG:
            parts.append(Part(tensors, appended))
        else:
            parts += [Part((tensor,), appended) for tensor in tensors]
    if options.only is not None and not any(part.tensors for part in parts):
        io, index = options.only
        raise DumpFormatError(f"{op.path!r}: there is no {io} {index}")
    return parts


def output_of(op: Operator, part: Part, options: Options) -> Output | None:
    """Return the file that a part becomes; None if it holds nothing to write.

    Raises
    ------
    DumpFormatError
        If an overflow record is malformed, or no longer in the file.
    LayoutError
        If a tensor cannot be brought into the order that `options` ask for.
    OSError
        If the file cannot be read.
    """
    tensors = [tensor for tensor in part.tensors if tensor.status != "absent"]
    if not tensors:
        return None
    if options.type == "safetensors" and op.kind != _OP_DEBUG:
        return _safetensors(op, tensors, part.appended, options)
    (tensor,) = tensors
    place = naming.tensor_part(tensor, part.appended)
    if options.type == "raw" or tensor.format is None:
        return Output(f"{place}.bin", b"", (stored_bytes(tensor),))
    if op.kind == _OP_DEBUG and tensor.io == "output" and tensor.dtype_name == "uint8":
        return Output(f"{place}.json", _op_debug_json(tensor), ())
    elements = elements_of(tensor, options)
    payloads = (elements.payload,)
    if options.type == "bin":
        size = math.prod(elements.shape)
        return Output(f"{place}.{size}.{elements.dtype.name}.{elements.format}.bin", b"", payloads)
    head = npy_header(elements.dtype, elements.shape)
    if options.type == "msnpy":
        place += f".{elements.format}"
    elif options.logical:
        place += naming.shape_part(elements.shape)
    return Output(f"{place}.npy", head, payloads)


def _safetensors(
    op: Operator, tensors: Sequence[Tensor], appended: int, options: Options
) -> Output:
    metadata = {"dump": os.path.basename(op.path)}  # noqa: PTH119
    metadata |= {"op_type": op.op_type or "", "op_name": op.op_name or ""}
    entries = []
    failed = []
    for tensor in tensors:
        try:
            entries.append(safetensors.entry_of(tensor.name, tensor, options))
        except LayoutError as error:
            failed.append((tensor.name, error))
        else:
            metadata |= safetensors.metadata_of(tensor.name, tensor)
    entries = safetensors.aligned(entries)
    suffix = f"{naming.appended_part(appended)}.safetensors"
    head = safetensors.header_of(entries, metadata)
    return Output(suffix, head, tuple(entry.payload for entry in entries), tuple(failed))


def _op_debug_json(tensor: Tensor) -> bytes:
    try:
        record = parse_op_debug(tensor.copy().data)
    except DumpFormatError as error:
        raise DumpFormatError(f"{tensor.path!r}: {tensor.name}: {error}") from error
    # As the vendor's converter writes it, to the byte.
    return json.dumps(record.document(), indent=4).encode("ascii")
