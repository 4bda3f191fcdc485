"""The table of a run that goes on: the rows of all files that were read so far."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastdump import _core
from fastdump._scan import Place
from fastdump._since import Asked, Known, parallelism_of, scan_of_files, whole
from fastdump._table.arrow_column import codes_of, is_in, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from fastdump._table.stats_table import StatsTable

_DAMAGED = ("truncated", "malformed")
_UNREAD = ("unreadable", "changed")


class Looked(NamedTuple):
    """What is there now.

    Attributes
    ----------
    tree
        All files.
    unknown
        Positions of those that the table does not tell of, or not for sure.
    is_kept
        Of each row of the table, whether its file is there in the state that was read.
    """

    tree: _core.Index
    unknown: NDArray[np.uint32]
    is_kept: NDArray[np.bool_]


class Reading(NamedTuple):
    """What reading some files gave.

    Attributes
    ----------
    table
        Their rows.
    paths
        The files that were read, as rows show them.
    has_replaced
        Whether there were rows before of one of them.
    with_rows, damaged, unread
        Those that gave rows; that lack something; that could not be read, or changed meanwhile.
    """

    table: StatsTable
    paths: list[str]
    has_replaced: bool
    with_rows: set[str]
    damaged: set[str]
    unread: set[str]


class GrowingRows:
    """Rows of files, which are replaced when a file is read again and stay when it is gone.

    Parameters
    ----------
    paths, asked
        What is followed, and what its rows are asked for.
    follow_links
        Whether the walk follows symbolic links.
    **options
        Others of `TableScan`.

    Attributes
    ----------
    table
        The table so far, in the order of execution.
    """

    def __init__(
        self, paths: list[bytes], asked: Asked, *, follow_links: bool, **options: Any
    ) -> None:
        self._paths, self._asked = paths, asked
        self._follow_links, self._options = follow_links, options
        self.place = Place.of(paths, None)
        self._skipped: Counter[str] = Counter()
        self._on_change: Callable[[set[str]], object] | None = None
        self.table = self._nothing()

    def on_change(self, call: Callable[[set[str]], object]) -> None:
        """Call with the paths of files whose rows have come or gone, each time some have."""
        self._on_change = call

    def of_files(self, paths: set[str]) -> StatsTable:
        """Return the rows of some files."""
        return some_rows(self.table, is_in(self.table.batch.column("path"), paths))

    def go_on_from(self, table: StatsTable, name: str) -> None:
        """Take over a table of the same run.

        Raises
        ------
        ValueError
            If its rows are not those that following would give; `name` is what it is called.
        """
        self._asked.check(table, self.place, name)
        self.table = table

    def look(self) -> Looked:
        """List all files that are followed, and ask for the state of each."""
        index = _core.Index(self._paths, follow_links=self._follow_links, every_file=True)
        return Looked(index, *self.look_again(index))

    def look_again(self, index: _core.Index) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Ask for the states of the files of an index; return as `Looked` has it."""
        positions = np.arange(len(index), dtype=np.uint32)
        if self._asked.selection:
            chosen, _ = index.select(positions.data, self._asked.selection.native())
            positions = np.frombuffer(chosen, np.uint32)
        provenance = self.table.provenance
        assert provenance is not None
        known = Known(self.table.batch.column("path"), provenance.states_of_rows(), self.place.root)
        return known.look(index, positions, self.place, parallelism_of(self._options))

    def replaced(self, is_kept: NDArray[np.bool_], here: frozenset[str]) -> frozenset[str]:
        """Return the files that are others than those that rows tell of.

        Rows of damaged files that are gone are left out: files may have had other names while they
        were written. All other rows stay until their file is read again.

        Parameters
        ----------
        is_kept
            As of `Looked`.
        here
            Paths of files that are there, but not in the state that was read.
        """
        if is_kept.all():
            return frozenset()
        others = np.flatnonzero(~is_kept)
        batch = rows_of(self.table.batch, others)
        codes, paths = codes_of(batch.column("path"))
        is_gone = np.array([path not in here for path in paths], np.bool_)[codes]
        is_gone &= is_in(batch.column("status"), (*_DAMAGED, *_UNREAD))
        if is_gone.any():
            kept = np.ones(len(self.table), np.bool_)
            kept[others[is_gone]] = False
            self._join(kept, self._nothing())
        return here.intersection(paths)

    def forget_skipped(self) -> None:
        """Count anew what is skipped of the files that are read."""
        self._skipped.clear()

    def read(
        self, index: _core.Index, positions: NDArray[np.uint32], replaced: frozenset[str]
    ) -> Reading:
        """Read some files, and add their rows in place of those of the files that are replaced."""
        new = self._scanned(index, np.ascontiguousarray(positions))
        read = [index.shown_path(position) for position in positions.tolist()]
        obsolete = replaced.intersection(read)
        kept = np.ones(len(self.table), np.bool_)
        if obsolete:
            kept = ~is_in(self.table.batch.column("path"), obsolete)
        self._join(kept, new)
        self._skipped.update(new.skipped)
        column = new.batch.column("path")
        codes, paths = codes_of(column)
        statuses = new.batch.column("status")
        damaged = np.unique(codes[is_in(statuses, _DAMAGED)]).tolist()
        unread = np.unique(codes[is_in(statuses, _UNREAD)]).tolist()
        return Reading(
            new,
            read,
            bool(obsolete),
            set(paths),
            {paths[code] for code in damaged},
            {paths[code] for code in unread},
        )

    def say_skipped(self, index: _core.Index) -> bool:
        """Say in the table what is not read of an index; return whether that is something else."""
        skipped = dict(sorted((self._skipped + Counter(index.skipped())).items()))
        if skipped == self.table.skipped:
            return False
        self.table = self.table.saying(skipped=skipped)
        return True

    def _join(self, kept: NDArray[np.bool_], new: StatsTable) -> None:
        if kept.all() and not len(new):
            return
        table, known = self.table, self.table.provenance
        assert known is not None
        if self._on_change is not None:
            column = table.batch.column("path")
            gone = [] if kept.all() else codes_of(rows_of(column, np.flatnonzero(~kept)))[1]
            self._on_change({*gone, *codes_of(new.batch.column("path"))[1]})
        rows = table if kept.all() else table[kept]
        threads = parallelism_of(self._options)["threads"]
        joined = whole(rows, known.some(kept), new, self._asked, threads=threads)
        self.table = joined.saying(skipped=table.skipped)

    def _nothing(self) -> StatsTable:
        index = _core.Index([], follow_links=False, every_file=True)
        return self._scanned(index, np.empty(0, np.uint32))

    def _scanned(self, index: _core.Index, positions: NDArray[np.uint32]) -> StatsTable:
        scan = scan_of_files(
            index, positions, self._paths, self._asked, self.place, {}, **self._options
        )
        scan.run()
        return scan.table()


def some_rows(table: StatsTable, chosen: NDArray[np.bool_]) -> StatsTable:
    """Return rows of files that are chosen whole, so that a scan can go on from them."""
    provenance = table.provenance
    assert provenance is not None
    return table[chosen].with_provenance(provenance.some(chosen))
