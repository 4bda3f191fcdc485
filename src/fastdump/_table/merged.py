"""Rows that are kept of an earlier table, and new ones, as one scan would have given them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from arro3.core import RecordBatch

from fastdump._table.execution_order import COLUMNS, JoinedRows
from fastdump._table.file_states import FileStates
from fastdump._table.joined_columns import joined, joined_rows
from fastdump._table.provenance import Provenance
from fastdump._table.stats_table import StatsTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_N_PROBES = 64

_MIN_PIECE = 1000
"""Pieces of fewer rows than this are not worth being copied each for itself."""


def merged(
    kept: StatsTable,
    kept_from: Provenance,
    new: StatsTable,
    new_from: Provenance,
    *,
    threads: int,
) -> StatsTable:
    """Return the rows of two tables about different files, in the order of execution.

    Parameters
    ----------
    kept
        Rows of an earlier table, in the order of execution.
    new
        The table of a scan of the other files, which says all but the rows.
    kept_from, new_from
        What they are made of.
    threads
        How many copy, at most.

    Returns
    -------
    StatsTable
        Without notes: they are about all rows.
    """
    merger = _Merger(
        _Rows(kept.batch, kept_from), _Rows(new.batch, new_from), new.root, new.roots, threads
    )
    batch, provenance = merger.rows()
    provenance = provenance._replace(directories=new_from.directories)
    return StatsTable.scanned(
        batch,
        states=FileStates(batch.column("path"), provenance.states),
        level=new.level,
        skipped=new.skipped,
        roots=new.roots,
        root=new.root,
        notes=[],
        provenance=provenance,
    )


class _Rows(NamedTuple):
    """Rows with the states of their files."""

    batch: RecordBatch
    provenance: Provenance

    def some(self, first: int, last: int) -> _Rows:
        states = self.provenance.states.slice(first, last - first)
        provenance = self.provenance._replace(states=states)
        return _Rows(self.batch.slice(first, last - first), provenance)

    @staticmethod
    def joined(several: Sequence[_Rows], threads: int) -> _Rows:
        """Return some rows one after the other, asked for as the last ones."""
        batch = joined_rows([rows.batch for rows in several], threads)
        states = joined([rows.provenance.states for rows in several])
        return _Rows(batch, several[-1].provenance._replace(states=states))


class _Merger:
    """Puts new rows among others, which are in order; both are about one directory."""

    def __init__(
        self, kept: _Rows, new: _Rows, root: str | None, roots: Sequence[str], threads: int
    ) -> None:
        self._kept, self._new, self._root, self._roots = kept, new, root, roots
        self._threads = threads

    def rows(self) -> _Rows:
        n_kept, n_new = self._kept.batch.num_rows, self._new.batch.num_rows
        if not n_kept or not n_new:
            return _Rows.joined([self._kept, self._new], self._threads)
        # What is new often belongs to one place: all other rows stay one after the other.
        begin, end = self._n_before(0), self._n_before(n_new - 1)
        parts = [self._kept.some(0, begin), *self._among(begin, end), self._kept.some(end, n_kept)]
        return _Rows.joined([part for part in parts if part.batch.num_rows], self._threads)

    def _among(self, begin: int, end: int) -> list[_Rows]:
        """Return the new rows and some kept ones, in order, in pieces that are still to be joined.

        They are looked at in the columns that the order is found by, so that most are copied once.
        """
        kept, new, n_kept = self._kept.some(begin, end), self._new, end - begin
        batches = [rows.batch.select(list(COLUMNS)) for rows in (kept, new)]
        keys = joined_rows(batches, self._threads)
        order = self._order(keys, n_kept)
        begins = np.flatnonzero(np.diff(order, prepend=-2) != 1)
        if len(begins) * _MIN_PIECE > len(order):
            rows = _Rows.joined([kept, new], self._threads)
            return [_Rows(rows.batch.take(order), rows.provenance.in_order(order))]
        sizes = np.diff(begins, append=len(order)).tolist()
        return [
            kept.some(first, first + n)
            if first < n_kept
            else new.some(first - n_kept, first - n_kept + n)
            for first, n in zip(order[begins].tolist(), sizes, strict=True)
        ]

    def _n_before(self, new_row: int) -> int:
        """Return how many kept rows come before a new one."""
        kept, new = (rows.batch.select(list(COLUMNS)) for rows in (self._kept, self._new))
        one = new.slice(new_row, 1)
        begin, end = 0, kept.num_rows
        while begin < end:
            probes = np.unique(np.linspace(begin, end - 1, _N_PROBES).astype(np.int64))
            order = self._order(joined_rows([kept.take(probes), one], 1), len(probes))
            n_before = int(np.flatnonzero(order == len(probes))[0])
            begin, end = (
                int(probes[n_before - 1]) + 1 if n_before else begin,
                int(probes[n_before]) if n_before < len(probes) else end,
            )
        return begin

    def _order(self, batch: RecordBatch, n_kept: int) -> NDArray[np.int64]:
        table_of = (np.arange(batch.num_rows) >= n_kept).astype(np.int32)
        return JoinedRows(batch, table_of, self._root, self._roots).order
