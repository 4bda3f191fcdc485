"""Options of a conversion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

FileType: TypeAlias = Literal["npy", "msnpy", "bin", "raw", "safetensors"]
FILE_TYPES: tuple[FileType, ...] = get_args(FileType)

ORDERS = ("ND", "NCHW", "NHWC", "HWCN", "CHWN", "NCDHW", "NDHWC", "DHWCN", "DHWNC")
"""The orders of axes that tensors can be brought into."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a conversion is to make of a dump.

    Attributes
    ----------
    type
        The type of the files to write. "msnpy" is "npy" with the names of MindSpore.
    logical
        Whether to bring tensors into their logical order, without padding.
    order
        The order of axes then, one of `ORDERS`; None is that of the header.
    logical_shape
        The shape then; None takes what the header says.
    bf16_as_float32
        Whether to write bfloat16 as float32.
    only_numpy_types
        Whether to write all types that numpy lacks as one that it has.
    scalars_have_a_dimension
        Whether to write a scalar with the shape (1,).
    only
        One tensor by its `io` and its index.
    overwrite
        Whether to write files again that are complete.
    """

    type: FileType = "npy"
    logical: bool = False
    order: str | None = None
    logical_shape: tuple[int, ...] | None = None
    bf16_as_float32: bool = False
    only_numpy_types: bool = False
    scalars_have_a_dimension: bool = False
    only: tuple[str, int] | None = None
    overwrite: bool = False
