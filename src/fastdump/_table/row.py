"""`StatsRow`: one row of a table of statistics, and the way from a row to its tensor."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastdump._arguments import PathLike
from fastdump._array.spread import dynamic_range, or_none, standard_deviation
from fastdump._table.file_states import FileStates
from fastdump._tensor.shown_path import file_of
from fastdump._words.places import tensor_name
from fastdump.errors import NoTensorError

if TYPE_CHECKING:
    from fastdump._tensor.tensor import Tensor


class _OfTable:
    """What a row keeps of its table that is no value of the row: neither shown nor pickled."""

    __slots__ = ("_states",)

    _states: FileStates


@dataclass(frozen=True, slots=True)
class StatsRow(_OfTable):
    """One row of a `StatsTable`: one tensor, or one file without a tensor. None stands for null.

    The statistics are described as fastdump computes them, in rows with `source` "tensor". In rows
    with `source` "csv" they come from the vendor's CSV files: moments are over all elements, so
    they may be NaN or infinite; they are rounded; and what was not reported is None.
    docs/statistics.md says more.

    Attributes
    ----------
    rank, time, device, model, model_id, step
        Where the tensor was dumped, as far as the path tells.
    op_type, op_name
        Type and name of the operator.
    layer
        Number of the block in the operator's name: 3 for ``model.layers.3/Add``.
    task_id, stream_id, timestamp, context_id, thread_id
        The execution of the operator; `timestamp` is in microseconds.
    io
        "input", "output", "buffer" or "space".
    index
        Position among the operator's inputs, outputs, buffers or spaces.
    dtype
        Element type, by its numpy or ml_dtypes name.
    format
        The vendor's name of the memory layout, such as "ND", "NCHW" or "FRACTAL_NZ".
    shape, origin_shape
        The stored shape, padding included, and the shape before the layout was changed.
    nbytes
        Declared size of the tensor, in bytes.
    count
        Number of elements in the tensor.
    max, min
        Largest and smallest finite element; None if there is none. For complex types, of the
        magnitude.
    mean
        Sum of the finite elements divided by their number. For complex types, of the magnitude.
    l2norm
        Square root of the sum of the squares of the finite elements.
    nan, pos_inf, neg_inf
        Number of elements that are NaN, +Inf, -Inf.
    zero, subnormal, saturated
        Number of elements that are zero, that are subnormal, and that equal plus or minus the
        largest finite value. Only at level "full".
    min_abs
        Smallest magnitude of the finite elements that are not zero; None if there is none. Only at
        level "full".
    first_bad
        Flat index of the first NaN or Inf; None if there is none. Only at level "full".
    status
        "ok", "truncated", "absent", "size_mismatch", "unsupported", "malformed", "unreadable" or
        "changed" (while the file was read).
    note
        Remarks: why the status is not "ok", and what else is unusual.
    path
        The file, relative to the directory that was given.
    offset
        Position of the tensor's first byte in the file; None for `source` "csv".
    source
        "tensor" if the statistics were computed from the elements; "csv" if they come from the
        vendor's statistics, in which case the elements are not in the dump.
    """

    rank: int | None
    time: str | None
    device: int | None
    model: str | None
    model_id: int | None
    step: int | None
    op_type: str | None
    op_name: str | None
    layer: int | None
    task_id: int | None
    stream_id: int | None
    timestamp: int | None
    context_id: int | None
    thread_id: int | None
    io: str | None
    index: int | None
    dtype: str | None
    format: str | None
    shape: tuple[int, ...] | None
    origin_shape: tuple[int, ...] | None
    nbytes: int | None
    count: int | None
    max: float | None
    min: float | None
    mean: float | None
    l2norm: float | None
    nan: int | None
    pos_inf: int | None
    neg_inf: int | None
    zero: int | None
    subnormal: int | None
    saturated: int | None
    min_abs: float | None
    first_bad: int | None
    status: str
    note: str | None
    path: str
    offset: int | None
    source: str
    _root: str | None = field(default=None, repr=False, compare=False)

    @property
    def std(self) -> float | None:
        """Standard deviation of the finite elements; None if it is not known.

        It follows from `mean` and `l2norm`: its relative error is 1.5e-12 times the square of the
        root mean square divided by it, and below 2e-6 of the root mean square it is 0. The vendor's
        statistics are rounded too coarsely to tell.
        """
        if self.source != "tensor" or self.count is None:
            return None
        n_finite = self.count - sum(n or 0 for n in (self.nan, self.pos_inf, self.neg_inf))
        return or_none(standard_deviation(n_finite, self.mean, self.l2norm, self.min, self.max))

    @property
    def dynamic_range(self) -> float | None:
        """log2 of the largest magnitude divided by `min_abs`; None if that is None."""
        return or_none(dynamic_range(self.min, self.max, self.min_abs))

    @property
    def tensor_name(self) -> str:
        """`io` and `index`, as in "output.0"; '' for a file without a tensor."""
        return tensor_name(self.io, self.index)

    def tensor(self, root: PathLike | None = None) -> Tensor:
        """Return the tensor of the row, whose header is read here.

        Parameters
        ----------
        root
            The directory that `path` is relative to, if the dump was moved. Default: the directory
            at the time when the table was made.

        Raises
        ------
        NoTensorError
            If the row is about a file without a tensor, or the device computed its statistics.
        ValueError
            If nothing tells where the file is.
        FileChangedError
            If the file changed since the table was made in this process.
        DumpFormatError
            If the file no longer has the tensor.
        OSError
            If the file cannot be read.
        """
        if self.io is None or self.index is None:
            raise NoTensorError(f"{self.path!r} gave no tensor: {self.note or self.status}")
        if self.source != "tensor":
            raise NoTensorError(_reported(self.path, self.tensor_name))
        states = getattr(self, "_states", None) if root is None else None
        state = states.of(self.path) if states is not None else None
        return _opened(self.file(root), self.io, self.index, self.offset, state)

    def file(self, root: PathLike | None = None) -> str:
        """Return the path to open the row's file with; arguments and errors as in `tensor`."""
        return file_of_row(self._root, self.path, root)


def row_of_table(root: str | None, states: FileStates, *values: Any) -> StatsRow:
    """Return a row of the values of all columns, for a table with files below `root`."""
    make: Callable[..., StatsRow] = StatsRow
    row = make(*values, root)
    object.__setattr__(row, "_states", states)
    return row


def tensor_of_row(
    path: str | None,
    io: str | None,
    index: int | None,
    offset: int | None,
    known_root: str | None,
    root: PathLike | None,
) -> Tensor:
    """Return a tensor of a row of a comparison; errors are those of `StatsRow.tensor`.

    Parameters
    ----------
    path, io, index, offset
        The tensor's values in the row; None if it has none.
    known_root
        The directory that `path` is relative to, if the table tells it.
    root
        The directory that the caller gives, which replaces `known_root`.
    """
    if path is None:
        raise NoTensorError("the row has no tensor on this side")
    if io is None or index is None:
        raise NoTensorError(f"{path!r} gave no tensor")
    if offset is None:
        raise NoTensorError(_reported(path, tensor_name(io, index)))
    return _opened(file_of_row(known_root, path, root), io, index, offset)


def _opened(path: str, io: str, index: int, offset: int | None, state: int | None = None) -> Tensor:
    # Imported here: most tables are looked at without opening a tensor.
    from fastdump._tensor.tensor import tensor_in

    return tensor_in(path, io, index, offset, state)


def _reported(path: str, name: str) -> str:
    return f"{path!r} has statistics of {name} that the device computed, not the tensor itself"


def file_of_row(known_root: str | None, path: str, root: PathLike | None) -> str:
    """Return the path to open a row's file with; arguments as of `tensor_of_row`.

    Raises
    ------
    ValueError
        If nothing tells where the file is.
    """
    known = known_root if root is None else os.fsdecode(root)
    if known is None:
        raise ValueError(f"the table does not tell where {path!r} is: give the directory as root=")
    return file_of(known, path)
