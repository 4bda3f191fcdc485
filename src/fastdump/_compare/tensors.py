"""What headers say of the tensors of one side of a comparison."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fastdump import _core
from fastdump._arrow_column import integer_array, is_null, shape_list, text_list
from fastdump._compare.host_order import ORDERS, Stored
from fastdump._compare.side import Side
from fastdump._dump_file import DumpFile
from fastdump._row_path import row_path
from fastdump._tensor import Tensor
from fastdump.errors import DumpFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Strings and the like have no size: they are not compared, and counted as bytes.
BITS = {name: bits for _, _, name, bits, _ in _core.data_types() if bits}
"""Of an element, by the name of its type."""

_FORTRAN = "Fortran order"

_Place: TypeAlias = tuple[bytes, int, str, int, "_core.HostLayout | None"]


class Tensors:
    """What headers say of the tensors of one side, in the order of the pairs."""

    def __init__(self, side: Side, rows: NDArray[np.int64]) -> None:
        self._side = side
        batch = side.table[rows].arrow.to_batches()[0]
        self.dtype = text_list(batch.column("dtype"))
        self.format = text_list(batch.column("format"))
        self.status = text_list(batch.column("status"))
        self.note = text_list(batch.column("note"))
        self.shape = shape_list(batch.column("shape"))
        self.nbytes = integer_array(batch.column("nbytes")).tolist()
        self._path = text_list(batch.column("path"))
        self._offset = integer_array(batch.column("offset")).tolist()
        self._io = text_list(batch.column("io"))
        self._index = integer_array(batch.column("index")).tolist()
        self._file: DumpFile | None = None  # the last that was opened
        self.is_reported = _is_one_of(text_list(batch.column("source")), {"csv"})
        private = {
            name
            for number, name in enumerate(_core.tensor_formats())
            if _core.is_private_format(number)
        }
        numbered = {name for name in self.format if name is not None and name.isdecimal()}
        self.is_private = _is_one_of(self.format, private | numbered)
        self.is_slice = ~is_null(batch.column("thread_id"))
        self.is_fortran = np.array([_FORTRAN in (note or "") for note in self.note], np.bool_)

    @property
    def is_odd(self) -> NDArray[np.bool_]:
        """Which may have to be brought into the host's order."""
        return self.is_private | self.is_slice | self.is_fortran

    def is_status(self, status: str) -> NDArray[np.bool_]:
        return _is_one_of(self.status, {status})

    @cached_property
    def _opened_by(self) -> dict[str | None, bytes]:
        paths = dict.fromkeys(self._path)
        return {path: os.fsencode(row_path(self._side.root, path or "")) for path in paths}

    @cached_property
    def _n_elements(self) -> list[int]:
        return [
            _n_elements(shape, nbytes, BITS.get(dtype or "", 8))
            for shape, nbytes, dtype in zip(self.shape, self.nbytes, self.dtype, strict=True)
        ]

    def places(
        self, rows: NDArray[np.int64], layouts: Sequence[_core.HostLayout | None]
    ) -> list[_Place]:
        opened_by, n = self._opened_by, self._n_elements
        return [
            (opened_by[self._path[i]], self._offset[i], self.dtype[i] or "", n[i], layout)
            for i, layout in zip(rows.tolist(), layouts, strict=True)
        ]

    def tensor(self, row: int) -> Tensor:
        """Return the tensor of a row.

        Raises
        ------
        DumpFormatError, OSError
            If the file no longer has it.
        """
        path = row_path(self._side.root, self._path[row] or "")
        if self._file is None or self._file.path != path:
            self._file = DumpFile(path)
        place = (self._io[row], self._index[row], self._offset[row])
        for description in self._file.header()["tensors"]:
            tensor = Tensor(self._file, description)
            if (tensor.io, tensor.index, tensor.offset) == place:
                return tensor
        raise DumpFormatError(f"{path!r}: {place[0]}.{place[1]} is no longer there")

    def stored(self, row: int, other: Tensors) -> Stored:
        """Return how the tensor of a row is stored, which only its file says in full.

        Raises
        ------
        DumpFormatError, OSError
            If the file no longer has it.
        """
        shape = self.shape[row] or ()
        if not self.is_private[row]:
            return Stored(self.format[row] or "ND", shape)
        tensor = self.tensor(row)
        original_op = tensor.description["original_op"]
        order = original_op["format"] if original_op else None
        if order not in ORDERS and other.shape[row] == tensor.origin_shape:
            # Where the stored shape leaves a choice, the other side likely is in the same order.
            order = other.format[row]
        return Stored(
            self.format[row] or "ND", shape, tensor.origin_shape, tensor.sub_format, order
        )


def _n_elements(shape: tuple[int, ...] | None, nbytes: int, bits: int) -> int:
    """Return how many elements the header declares: by its shape as far as its size goes."""
    n_fit = nbytes * 8 // bits
    n = 1
    for dim in shape or ():
        if dim < 0:
            return n_fit
        n *= dim
    return min(n, n_fit)


def _is_one_of(texts: list[str | None], wanted: set[str]) -> NDArray[np.bool_]:
    return np.array([text in wanted for text in texts], np.bool_)
