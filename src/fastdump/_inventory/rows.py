"""The columns of a table that are counted, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._table.arrow_column import codes_of, is_in, is_null, shared_integers, text_codes
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
    path : ndarray of int64, shape (rows,)
        A number for each path.
    dtype : ndarray of int64, shape (rows,)
        Indices into `dtypes`.
    op : ndarray of int64, shape (rows,)
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

        self.path = text_codes(batch.column("path"))
        self.dtype, self.dtypes = codes_of(batch.column("dtype"))
        types, op_types = codes_of(batch.column("op_type"))
        names, op_names = codes_of(batch.column("op_name"))
        n = len(op_names) + 1
        ops, op = distinct_codes((types + 1) * n + names + 1, (len(op_types) + 1) * n)
        # The lowest is of rows with neither, if there are any.
        self.op = op + NONE if len(ops) and ops[0] == 0 else op
        self.rank, self.step = integers("rank"), integers("step")
        self.timestamp = integers("timestamp")
        self.nbytes = shared_integers(batch.column("nbytes"))
        self.is_tensor = ~is_null(batch.column("io"))
        self.is_reported = is_in(batch.column("source"), ("csv",))
        io, _ = codes_of(batch.column("io"))
        self.is_appended = self._repeats(io, integers("index"))

    def _repeats(self, io: NDArray[np.int64], index: NDArray[np.int64]) -> NDArray[np.bool_]:
        repeats = np.zeros(len(self.is_tensor), np.bool_)
        rows = self._may_repeat(io, index)
        columns = [column[rows] for column in (self.timestamp, index, io, self.op, self.path)]
        order = np.lexsort(columns)  # of equal rows, the earlier one comes first
        if len(rows):
            same = np.all([np.diff(column[order]) == 0 for column in columns], axis=0)
            repeats[rows[order[1:][same]]] = True
        return repeats

    def _may_repeat(self, io: NDArray[np.int64], index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tensors of all files but those whose rows tell at a glance that none repeats.

        Usually rows of a file follow each other, tensors of a kind do, too, and are in order.
        """
        rows = np.flatnonzero(self.is_tensor)
        path, io, index = self.path[rows], io[rows], index[rows]
        if not len(rows):
            return rows
        is_odd = np.zeros(int(path.max()) + 1, np.bool_)
        of_one_file = path[1:] == path[:-1]
        # Numbers of paths are in the order of appearance: a lower one was there before.
        is_odd[path[1:][path[1:] < np.maximum.accumulate(path)[:-1]]] = True
        of_one_kind = of_one_file & (io[1:] == io[:-1])
        is_odd[path[1:][of_one_kind & (index[1:] <= index[:-1])]] = True
        # A kind that begins again shows as more runs of kinds in a file than there are kinds of it.
        begins = np.flatnonzero(np.append(True, ~of_one_kind))
        kinds = path[begins] * (int(io.max()) + 1) + io[begins]
        n_begun = np.bincount(path[begins], minlength=len(is_odd))
        n_kinds = np.bincount(distinct(kinds) // (int(io.max()) + 1), minlength=len(is_odd))
        is_odd |= n_begun != n_kinds
        return rows[is_odd[path]]
