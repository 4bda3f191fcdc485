"""What a conversion is to make of a dump."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

FileType: TypeAlias = Literal["npy", "msnpy", "bin", "raw", "safetensors"]
FILE_TYPES: tuple[FileType, ...] = get_args(FileType)

HOST_LAYOUT = "host"
"""The layout that a tensor had in its framework, whichever that was."""

LAYOUTS = (
    *(HOST_LAYOUT, "ND", "NCHW", "NHWC", "HWCN", "CHWN"),
    *("NCDHW", "NDHWC", "DHWCN", "DHWNC"),
)


@dataclass(frozen=True, slots=True)
class Options:
    """What a conversion is to make of a dump.

    Attributes
    ----------
    type
        Of the files to write. "msnpy" is "npy" with the names of MindSpore.
    layout
        One of `LAYOUTS`, into which tensors are brought; None leaves them as they are stored.
    layout_shape
        The shape then; None takes what the header says.
    bf16_as_float32
        Whether to write bfloat16 as float32.
    only_numpy_types
        Whether to write all types that numpy lacks as one that it has.
    scalars_have_a_dimension
        Whether to write a scalar with the shape (1,).
    io
        Which tensors: some of "input", "output", "buffer", "space"; empty for all.
    only
        One tensor by its `io` and its index.
    overwrite
        Whether to write files again that are complete.
    """

    type: FileType = "npy"
    layout: str | None = None
    layout_shape: tuple[int, ...] | None = None
    bf16_as_float32: bool = False
    only_numpy_types: bool = False
    scalars_have_a_dimension: bool = False
    io: frozenset[str] = frozenset()
    only: tuple[str, int] | None = None
    overwrite: bool = False
