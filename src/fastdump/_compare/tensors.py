"""The tensors of one side of a comparison, as headers describe them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fastdump import _core
from fastdump._compare.logical_order import ORDERS, Stored
from fastdump._compare.side import Side
from fastdump._table.arrow_column import integer_array, is_in, is_null, shape_list, text_list
from fastdump._tensor.shown_path import file_of
from fastdump._tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Strings and the like have no size: they are not compared, and count as bytes.
BITS = {name: bits for _, _, name, bits, _ in _core.data_types() if bits}
"""Bits of an element, by the name of its type."""

_FORTRAN = "Fortran order"

_Place: TypeAlias = tuple[bytes, int, int, str, int, "_core.HostLayout | None"]


class Tensors:
    """The tensors of one side as headers describe them, in the order of the pairs."""

    def __init__(self, side: Side, rows: NDArray[np.int64]) -> None:
        self._table = side.table[rows]
        batch = self._table.batch
        self.dtype = text_list(batch.column("dtype"))
        self.format = text_list(batch.column("format"))
        self.note = text_list(batch.column("note"))
        self.shape = shape_list(batch.column("shape"))
        self.nbytes = integer_array(batch.column("nbytes")).tolist()
        self._offset = integer_array(batch.column("offset")).tolist()
        self.is_reported = is_in(batch.column("source"), ("csv",))
        private = {
            name
            for number, name in enumerate(_core.tensor_formats())
            if _core.is_private_format(number)
        }
        numbered = {name for name in self.format if name is not None and name.isdecimal()}
        self.is_private = is_in(batch.column("format"), private | numbered)
        self.is_slice = ~is_null(batch.column("thread_id"))
        self.is_fortran = np.array([_FORTRAN in (note or "") for note in self.note], np.bool_)

    @property
    def is_odd(self) -> NDArray[np.bool_]:
        """Tensors that may have to be brought into their logical order."""
        return self.is_private | self.is_slice | self.is_fortran

    @cached_property
    def status(self) -> list[str | None]:
        """Statuses of the payloads, according to headers."""
        return text_list(self._table.batch.column("status"))

    def is_status(self, status: str) -> NDArray[np.bool_]:
        """Return which tensors have a status."""
        return is_in(self._table.batch.column("status"), (status,))

    @cached_property
    def _files(self) -> list[tuple[bytes, int]]:
        """Path and state of the file of each row."""
        shown = [path or "" for path in text_list(self._table.batch.column("path"))]
        root, states = self._table.root or "", self._table.file_states
        files = {
            path: (os.fsencode(file_of(root, path)), states.of(path) or 0)
            for path in dict.fromkeys(shown)
        }
        return [files[path] for path in shown]

    @cached_property
    def _n_elements(self) -> list[int]:
        return [
            _n_elements(shape, nbytes, BITS.get(dtype or "", 8))
            for shape, nbytes, dtype in zip(self.shape, self.nbytes, self.dtype, strict=True)
        ]

    def places(
        self, rows: NDArray[np.int64], layouts: Sequence[_core.HostLayout | None]
    ) -> list[_Place]:
        """Return where the elements of some tensors lie, as the core takes it."""
        n = self._n_elements
        return [
            (*self._files[i], self._offset[i], self.dtype[i] or "", n[i], layout)
            for i, layout in zip(rows.tolist(), layouts, strict=True)
        ]

    def tensor(self, row: int) -> Tensor:
        """Return the tensor of a row; errors as of `StatsRow.tensor`."""
        return self._table[row].tensor()

    def stored(self, row: int, other: Tensors) -> Stored:
        """Return how the tensor of a row is stored; only its file tells everything.

        Raises
        ------
        DumpFormatError, OSError
            If the file no longer has it.
        """
        shape = self.shape[row] or ()
        if not self.is_private[row]:
            return Stored(self.format[row] or "ND", shape)
        tensor = self.tensor(row)
        order = tensor.origin_format
        if order not in ORDERS and other.shape[row] == tensor.origin_shape:
            # Where the stored shape leaves a choice, the other side is likely in the same order.
            order = other.format[row]
        return Stored(
            self.format[row] or "ND", shape, tensor.origin_shape, tensor.sub_format, order
        )


def _n_elements(shape: tuple[int, ...] | None, nbytes: int, bits: int) -> int:
    """Return how many elements a header's shape declares, at most as many as its size holds."""
    n_fit = nbytes * 8 // bits
    n = 1
    for dim in shape or ():
        if dim < 0:
            return n_fit
        n *= dim
    return min(n, n_fit)
