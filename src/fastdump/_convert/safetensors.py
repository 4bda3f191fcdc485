"""The safetensors format: a JSON header, then the bytes of all tensors.

Written here because the format's library wants all tensors in memory at once.
https://github.com/huggingface/safetensors
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastdump._array.elements import element_type
from fastdump._convert.elements import elements_of, numpy_dtype
from fastdump._convert.options import Options
from fastdump._convert.payload import Payload, StoredBytes
from fastdump._tensor.tensor import Tensor

_ALIGNMENT = 8
_PACKED = "F4"

_NAMES = {
    "bool": "BOOL",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "float8_e8m0fnu": "F8_E8M0",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor of a file."""

    key: str
    dtype: str
    shape: tuple[int, ...]
    payload: Payload
    alignment: int


def entry_of(key: str, tensor: Tensor, options: Options) -> Entry:
    """Return a tensor as the format can hold it, with all of its values.

    Integers of less than eight bits become I8 or U8. complex128, which the format lacks, is F64
    with one dimension more, for real and imaginary part. float4_e2m1fn is F4, two in a byte as in
    the dump, if the last dimension is even, else F32. Elements that are no numbers are bytes, U8.

    Raises as `elements_of` does.
    """
    element = element_type(tensor.dtype_name)
    if _is_packed_float4(tensor, options):
        packed = StoredBytes(tensor.offset, element.n_bytes(tensor.size))
        return Entry(key, _PACKED, tensor.shape, packed, 1)
    dtype = tensor.dtype
    if dtype.name not in _NAMES or (options.bf16_as_float32 and dtype.name == "bfloat16"):
        dtype = numpy_dtype(dtype)
    elements = elements_of(tensor, options, dtype)
    name, shape = elements.dtype.name, elements.shape
    if name == "complex128":
        name, shape = "float64", (*shape, 2)
    alignment = min(elements.dtype.itemsize, _ALIGNMENT)
    return Entry(key, _NAMES[name], shape, elements.payload, alignment)


def aligned(entries: Sequence[Entry]) -> list[Entry]:
    """Return tensors in an order in which each begins at a multiple of its elements' size."""
    return sorted(entries, key=lambda entry: -entry.alignment)


def header_of(entries: Sequence[Entry], metadata: Mapping[str, str]) -> bytes:
    """Return the header of a file that has the tensors in the order of `entries`."""
    document: dict[str, object] = {
        "__metadata__": {_text(key): _text(value) for key, value in metadata.items()}
    }
    begin = 0
    for entry in entries:
        end = begin + entry.payload.nbytes
        document[entry.key] = {
            "dtype": entry.dtype,
            "shape": entry.shape,
            "data_offsets": (begin, end),
        }
        begin = end
    text = json.dumps(document, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def metadata_of(key: str, tensor: Tensor) -> dict[str, str]:
    """Return the facts for which the format has no place, as the texts that its metadata hold."""
    facts = {
        "dtype": tensor.dtype_name or f"data type {tensor.data_type}",
        "format": tensor.format,
        "shape": json.dumps(tensor.declared_shape),
        "origin_shape": json.dumps(tensor.origin_shape) if tensor.origin_shape else None,
        "status": tensor.status,
        "note": tensor.note,
    }
    if tensor.format is None:  # buffers and workspaces are bytes
        facts = {"status": tensor.status, "note": tensor.note}
    return {f"{key}.{name}": text for name, text in facts.items() if text}


def _is_packed_float4(tensor: Tensor, options: Options) -> bool:
    is_whole = tensor.shape and tensor.shape[-1] % 2 == 0
    return tensor.dtype_name == "float4_e2m1fn" and bool(is_whole) and not options.logical


def _text(text: str) -> str:
    # Bytes of a name that are not UTF-8: half a character, which JSON parsers refuse.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
