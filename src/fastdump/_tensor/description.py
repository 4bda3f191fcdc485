"""The description of one tensor in the header of a dump file, as properties."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, TypeAlias

Shape: TypeAlias = tuple[int, ...]


class DescribedTensor:
    """What the header says about one tensor; `Tensor` adds the elements."""

    __slots__ = ("_description", "_path")

    _description: dict[str, Any]
    _path: str

    @property
    def io(self) -> str:
        """Role of the tensor in the operator: "input", "output", "buffer" or "space"."""
        return str(self._description["io"])

    @property
    def index(self) -> int:
        """Position among the tensors of the same `io`."""
        return int(self._description["index"])

    @property
    def name(self) -> str:
        """`io` and `index`, as in "output.0"."""
        return f"{self.io}.{self.index}"

    @property
    def path(self) -> str:
        """The dump file."""
        return self._path

    @property
    def dtype_name(self) -> str | None:
        """The element type in the file, as in tables of statistics: "hifloat8", for example.

        None for buffers, for workspaces and for types that are not documented.
        """
        return self._description["dtype"]  # type: ignore[no-any-return]

    @property
    def data_type(self) -> int:
        """The vendor's number of the element type in the file."""
        return int(self._description["data_type"])

    @property
    def format(self) -> str | None:
        """The memory layout, such as "ND" or "FRACTAL_NZ"; None for buffers and workspaces."""
        return self._description["format"]  # type: ignore[no-any-return]

    @property
    def sub_format(self) -> int:
        """A detail of `format`: for FRACTAL_Z, the number of groups of a convolution."""
        return int(self._description["sub_format"])

    @property
    def declared_shape(self) -> Shape:
        """The shape of storage in the header; -1 stands for an unknown dimension."""
        return tuple(self._description["shape"])

    @property
    def origin_shape(self) -> Shape:
        """The shape in the framework's layout, () if the header has none."""
        return tuple(self._description["origin_shape"])

    @property
    def origin_format(self) -> str | None:
        """The order of axes in `origin_shape`, if the header tells; it may be wrong."""
        original_op = self._description.get("original_op")
        return str(original_op["format"]) if original_op else None

    @property
    def full_shape(self) -> Shape:
        """The shape of storage; for a slice of an FFTS+ thread, that of the whole tensor."""
        return tuple(self._description["full_shape"] or self.declared_shape)

    @property
    def declared_nbytes(self) -> int:
        """The size of the payload in the header, in bytes."""
        return int(self._description["nbytes"])

    @property
    def offset(self) -> int:
        """Position of the payload in the file, in bytes."""
        return int(self._description["offset"])

    @property
    def address(self) -> int:
        """The address of the tensor in the memory of the device; 0 if it is not known."""
        return int(self._description["address"])

    @property
    def status(self) -> str:
        """One of "ok", "truncated", "absent", "size_mismatch" and "unsupported"; see `StatsRow`."""
        return str(self._description["status"])

    @property
    def note(self) -> str:
        """A remark on what is unusual about the tensor."""
        return str(self._description["note"])

    @property
    def description(self) -> Mapping[str, Any]:
        """Everything that the header says about the tensor."""
        return types.MappingProxyType(self._description)
