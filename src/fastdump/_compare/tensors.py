"""The tensors of one side of a comparison, as headers describe them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from arro3.core import list_flatten, list_offsets

from fastdump import _core
from fastdump._compare.coded import coded_shapes, coded_text
from fastdump._compare.logical_order import ORDERS, Stored
from fastdump._compare.side import Side
from fastdump._table.arrow_column import (
    NULL_CODE,
    integer_array,
    is_in,
    is_null,
    rows_of,
    values,
)
from fastdump._table.tensor_places import places
from fastdump._tensor.tensor import Tensor

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray

# Strings and the like have no size: they are not compared, and count as bytes.
BITS = {name: bits for _, _, name, bits, _ in _core.data_types() if bits}
"""Bits of an element, by the name of its type."""

_FORTRAN = "Fortran order"
_MANY = 2**62


class Tensors:
    """The tensors of one side as headers describe them, in the order of the pairs."""

    def __init__(self, side: Side, rows: NDArray[np.int64]) -> None:
        self._table, self._rows = side.table, rows
        self.dtype = coded_text(self._column("dtype"))
        self.format = coded_text(self._column("format"))
        self.status = coded_text(self._column("status"))
        self.note = coded_text(self._column("note"))
        self.shape = coded_shapes(self._column("shape"))
        self.nbytes = integer_array(self._column("nbytes"))
        self.is_reported = is_in(self._column("source"), ("csv",))
        private = {
            name
            for number, name in enumerate(_core.tensor_formats())
            if _core.is_private_format(number)
        }
        self.is_private = self.format.where(
            lambda name: name is not None and (name in private or name.isdecimal())
        )
        self.is_slice = ~is_null(self._column("thread_id"))
        self.is_fortran = self.note.where(lambda note: _FORTRAN in (note or ""))

    def _column(self, name: str) -> Array:
        """Return a column of all pairs."""
        return rows_of(self._table.batch.column(name), self._rows)

    def is_status(self, status: str) -> NDArray[np.bool_]:
        """Return which tensors have a status, according to headers."""
        return self.status.where(lambda name: name == status)

    @cached_property
    def _states(self) -> NDArray[np.int64]:
        """State of the file of each row."""
        return self._table.file_states.of_all(self._table.batch.column("path"))[self._rows]

    def places(
        self, rows: NDArray[np.int64], layouts: Mapping[int, _core.HostLayout]
    ) -> _core.TensorPlaces:
        """Return where the elements of some tensors lie, as the core takes it.

        Parameters
        ----------
        rows
            The tensors.
        layouts
            How elements become a host array, by position in `rows`.
        """
        taken = self._rows[rows]
        paths, offsets, shapes = (
            rows_of(self._table.batch.column(name), taken) for name in ("path", "offset", "shape")
        )
        codes, names = self.dtype.codes[rows].astype(np.int64), self.dtype.values
        bits = np.array([*(BITS.get(name, 8) for name in names), 8], np.int64)[codes]
        return places(
            self._table.root or "",
            paths,
            states=self._states[rows],
            offsets=integer_array(offsets),
            dtypes=np.where(codes == NULL_CODE, len(names), codes),
            dtype_names=[*names, ""],
            n_elements=_n_elements(shapes, self.nbytes[rows], bits),
            layouts=layouts,
        )

    def tensor(self, row: int) -> Tensor:
        """Return the tensor of a row; errors as of `StatsRow.tensor`."""
        return self._table[int(self._rows[row])].tensor()

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


def _n_elements(
    shapes: Array, nbytes: NDArray[np.int64], bits: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many elements the shapes declare, at most as many as the sizes hold."""
    n_fit = np.minimum(nbytes, _MANY // 8) * 8 // bits
    ends = np.asarray(list_offsets(shapes)).astype(np.int64)
    dims = values(list_flatten(shapes), np.int64)
    rank = np.diff(ends)
    n = np.ones(len(rank), np.int64)
    left = np.arange(len(rank))
    for axis in range(int(rank.max(initial=0))):
        left = left[rank[left] > axis]
        dim = dims[ends[left] + axis]
        # What is beyond any file is as good as any other such number.
        is_many = n[left].astype(np.float64) * dim >= _MANY
        n[left] = np.where(is_many | (dim < 0), _MANY, n[left] * dim)
        left = left[dim >= 0]
    return np.minimum(n, n_fit)
