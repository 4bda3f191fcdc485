"""The columns of a table that are counted, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._table.arrow_column import codes_of, is_in, is_null, shared_integers, short_text_codes
from fastdump._table.distinct_codes import distinct_codes

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

NONE = -1
"""In the place of nulls; the numbers themselves are never negative."""


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct ones of many numbers, sorted; np.unique takes longer, as it hashes."""
    in_order = np.sort(numbers)
    is_new = np.append(True, in_order[1:] != in_order[:-1])[: len(in_order)]
    found: NDArray[np.int64] = in_order[is_new]
    return found


class Rows:
    """Columns of a table that was made from headers; nulls are `NONE`.

    Attributes
    ----------
    path : ndarray of int32, shape (rows,)
        A number for each path.
    dtype : ndarray of int32, shape (rows,)
        Indices into `dtypes`.
    op : ndarray of int32, shape (rows,)
        A number for each operator: equal where type and name are.
    rank, step, timestamp, nbytes : ndarray of int64, shape (rows,)
        As in the table; `nbytes` is 0 in the place of null.
    is_tensor, is_reported : ndarray of bool, shape (rows,)
        Whether a row is of a tensor, and whether a device wrote its statistics.
    is_appended : ndarray of bool, shape (rows,)
        Whether an earlier row of the same file is of the same tensor.
    """

    def __init__(self, batch: RecordBatch) -> None:
        def integers(name: str) -> NDArray[np.int64]:
            return shared_integers(batch.column(name), null=NONE)

        self.path = short_text_codes(batch.column("path"))
        dtype, self.dtypes = codes_of(batch.column("dtype"))
        self.dtype = dtype.astype(np.int32)
        del dtype
        types, op_types = codes_of(batch.column("op_type"))
        names, op_names = codes_of(batch.column("op_name"))
        n = len(op_names) + 1
        ops, op = distinct_codes((types + 1) * n + names + 1, (len(op_types) + 1) * n)
        # The lowest is of rows with neither, if there are any.
        self.op = op.astype(np.int32)
        if len(ops) and ops[0] == 0:
            self.op += NONE
        del types, names, op
        self.rank, self.step = integers("rank"), integers("step")
        self.timestamp = integers("timestamp")
        self.nbytes = shared_integers(batch.column("nbytes"))
        self.is_tensor = ~is_null(batch.column("io"))
        self.is_reported = is_in(batch.column("source"), ("csv",))
        io = short_text_codes(batch.column("io"))
        self.is_appended = self._repeats(io, integers("index"))

    def _repeats(self, io: NDArray[np.int32], index: NDArray[np.int64]) -> NDArray[np.bool_]:
        repeats = np.zeros(len(self.is_tensor), np.bool_)
        rows = self._may_repeat(io, index)
        columns = [column[rows] for column in (self.timestamp, index, io, self.op, self.path)]
        order = np.lexsort(columns)  # of equal rows, the earlier one comes first
        if len(rows):
            same = np.all([np.diff(column[order]) == 0 for column in columns], axis=0)
            repeats[rows[order[1:][same]]] = True
        return repeats

    def _may_repeat(self, io: NDArray[np.int32], index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tensors of all files but those whose rows tell at a glance that none repeats.

        Usually rows of a file follow each other, tensors of a kind do, too, and are in order.
        """
        path, rows = self.path, None
        if not self.is_tensor.all():
            rows = np.flatnonzero(self.is_tensor)
            path, io, index = path[rows], io[rows], index[rows]
        if not len(path):
            return np.empty(0, np.int64)
        is_odd = np.zeros(int(path.max()) + 1, np.bool_)
        # Numbers of paths are in the order of appearance: a lower one was there before.
        is_lower = path[1:] < path[:-1]
        if is_lower.any():
            is_lower = path[1:] < np.maximum.accumulate(path[:-1])
            is_odd[path[1:][is_lower]] = True
        of_one_kind = (path[1:] == path[:-1]) & (io[1:] == io[:-1])
        is_odd[path[1:][of_one_kind & (index[1:] <= index[:-1])]] = True
        # A kind that begins again shows as more runs of kinds in a file than there are kinds of it.
        begins = np.flatnonzero(np.append(True, ~of_one_kind))
        n_kinds = int(io.max()) + 1
        kinds = distinct(path[begins].astype(np.int64) * n_kinds + io[begins])
        n_begun = np.bincount(path[begins], minlength=len(is_odd))
        is_odd |= n_begun != np.bincount(kinds // n_kinds, minlength=len(is_odd))
        found = np.flatnonzero(is_odd[path])
        return found if rows is None else rows[found]
