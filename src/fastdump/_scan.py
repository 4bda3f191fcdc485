"""One pass over dump files, which gives a table of statistics."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from arro3.core import RecordBatch

from fastdump import _core
from fastdump._arguments import check_engine, parallelism
from fastdump._progress import INTERVAL_S, NAN_INF_OR_DAMAGED, reporting
from fastdump._selection import Selection
from fastdump._table.arrow_column import integer_array, values
from fastdump._table.directories import as_shown, seen_from
from fastdump._table.file_states import FileStates
from fastdump._table.known_directories import KnownDirectory
from fastdump._table.named_tensors import NamedTensors
from fastdump._table.provenance import Provenance, asked_for
from fastdump._table.selected import selected_rows
from fastdump._table.shared_places import note_of_shared_roots
from fastdump._table.stats_table import StatsTable
from fastdump._tensor.shown_path import root_of
from fastdump.errors import TableTooLargeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NONE: Mapping[str, int] = {}

_DIGESTS: Final = ("digest_0", "digest_1")

_HIDDEN: Final = ("state", "address", *_DIGESTS)
"""Columns of the core that no table shows."""

_BY_PLACE: Final = frozenset(("rank", "time", "device", "model", "model_id", "step"))
"""Conditions that paths decide, whatever files hold."""


class Headers(NamedTuple):
    """What headers tell of some files.

    Attributes
    ----------
    table
        One row a tensor, or a file without one.
    state, address
        Of each row the state of its file, and where the tensor lay on the device; undefined where
        there is none.
    digest
        Of each row two numbers, shape (2, rows), as far as tensors were read whole; negative ones
        tell nothing. In one process tensors that have the same ones have the same bytes. None if
        they were not asked for.
    """

    table: StatsTable
    state: NDArray[np.int64]
    address: NDArray[np.uint64]
    digest: NDArray[np.int64] | None

    def at(self, is_row: NDArray[np.bool_]) -> Headers:
        """Return what headers tell of some rows."""
        digest = None if self.digest is None else self.digest[:, is_row]
        return Headers(self.table[is_row], self.state[is_row], self.address[is_row], digest)

    def are_known_to_be_equal(
        self, one: NDArray[np.int64], other: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return which rows have the same bytes as others, as far as digests tell."""
        if self.digest is None:
            return np.zeros(len(one), np.bool_)
        digest = self.digest[:, one]
        of_part = (digest >= 0) & (digest == self.digest[:, other])
        is_equal: NDArray[np.bool_] = of_part[0] & of_part[1]
        return is_equal


class TableScan:
    """A scan of some paths, or of some files of an index, to be run once.

    Parameters
    ----------
    paths
        Files and directories; for an index, those that it was made from.
    selection
        Which tensors to read.
    files
        An index and positions in it, to read only these files. Default: all files below `paths`.
    also
        Further conditions on the rows, applied in this order.
    level
        A level of statistics; or "header", which describes tensors without reading payloads, and
        leaves rows with ``source`` "csv" no statistics but their count.
    digests
        Whether `headers` tells digests of the tensors in files of up to 16 KiB; for `files` and
        level "header".
    logical, threads, io_depth, engine, follow_links
        As in `stats`; `follow_links` has no effect on the files of an index.
    skipped
        Number of files that whoever made the index has skipped, by reason.
    is_all
        Whether files of the index that are not read are told otherwise, so that the scan is about
        all that lies in its directories.
    as_rank
        The rank of all rows whose path does not tell one; None leaves them without.
    base
        Absolute directory that paths are relative to. Default: as `root_of` has it.
    settle
        For how many seconds after its last write a damaged file is perhaps still being written;
        None: nothing is said of that.
    place
        Where the paths are, if they are not here. Default: found out.

    Raises
    ------
    ValueError
        If `threads`, `io_depth`, `engine` or `base` has a value that it cannot have.
    """

    def __init__(
        self,
        paths: list[bytes],
        selection: Selection,
        *,
        files: tuple[_core.Index, NDArray[np.uint32]] | None = None,
        also: Iterable[Selection | NamedTensors] = (),
        level: str,
        digests: bool = False,
        logical: bool = False,
        threads: int | None = None,
        io_depth: int | None = None,
        engine: str = "auto",
        follow_links: bool = False,
        skipped: Mapping[str, int] = _NONE,
        is_all: bool = False,
        as_rank: int | None = None,
        base: str | None = None,
        settle: float | None = None,
        place: Place | None = None,
    ) -> None:
        check_engine(engine)
        self._knows_directories = (
            (is_all or files is None)
            and not follow_links
            and set(selection.conditions()) <= _BY_PLACE
        )
        self._level = level
        self._skipped = Counter(skipped)
        self._asked = (
            None if tuple(also) else asked_for(selection, logical=logical, as_rank=as_rank)
        )
        self._finish, selection = Finish.of(
            selection, also, as_rank=as_rank, base=base, settle=settle
        )
        self._place = place or Place.of(paths, base)
        options: dict[str, Any] = {
            "level": level,
            "engine": engine,
            "logical": logical,
            "selection": selection.native(),
            **parallelism(threads, io_depth),
        }
        if files is None:
            self._scan = _core.Scan(paths, follow_links=follow_links, **options)
        else:
            index, positions = files
            self._scan = _core.Scan(index, positions.data, digests=digests, **options)

    def run(self, progress: bool | Callable[[_core.Progress], object] | None = None) -> None:
        """Scan; `progress` is as in `stats`. An exception that it raises ends the scan."""
        bad = "damaged" if self._level == "header" else NAN_INF_OR_DAMAGED
        with reporting(progress, bad=bad) as on_progress:
            asked, self._asked = self._asked, None  # half of a table of statistics is no basis
            try:
                self._scan.run(on_progress, INTERVAL_S)
                self._asked = asked
            except _core.TableTooLargeError as error:
                raise TableTooLargeError(str(error)) from None

    def progress(self) -> _core.Progress:
        """Return how far the scan has come."""
        return self._scan.progress()

    def table(self) -> StatsTable:
        """Return the rows that are finished: all of them unless the scan was interrupted."""
        return self._finish(self.rows())

    def rows(self) -> StatsTable:
        """Return what `table` does as the core has it: before `also`, `as_rank` and `base`."""
        return self._rows(RecordBatch.from_arrow(self._scan.table()))

    def headers(self) -> Headers:
        """Return what `table` does, with what only headers tell; for level "header"."""
        if self._finish != Finish(self._finish.also):
            raise ValueError("rows of headers cannot be changed")
        rows = RecordBatch.from_arrow(self._scan.table())
        state, address = (values(rows.column(name), np.int64) for name in ("state", "address"))
        digest = None
        if set(_DIGESTS) <= set(rows.column_names):
            digest = np.stack([integer_array(rows.column(name), null=-1) for name in _DIGESTS])
        headers = Headers(self._rows(rows), state, address.view(np.uint64), digest)
        for condition in self._finish.also:
            headers = headers.at(_is_row(condition, headers.table))
        return headers

    def _rows(self, rows: RecordBatch) -> StatsTable:
        states = rows.column("state")
        return StatsTable.scanned(
            rows.select([name for name in rows.column_names if name not in _HIDDEN]),
            states=FileStates(rows.column("path"), states),
            level=self._level,
            skipped=dict(sorted((self._skipped + Counter(self._scan.skipped())).items())),
            roots=self._place.roots,
            root=self._place.root,
            notes=[],
            provenance=(
                None
                if self._asked is None
                else Provenance(self._asked, states, self._directories())
            ),
        )

    def _directories(self) -> list[KnownDirectory] | None:
        if not self._knows_directories:
            return None
        # Threads list directories in any order, but two scans of a dump write the same bytes.
        told = (KnownDirectory(*one) for one in self._scan.directories())
        return sorted(told, key=attrgetter("shown"))


class Finish(NamedTuple):
    """What is done with the rows of a scan when all of them are there.

    Attributes
    ----------
    also, as_rank, base, settle
        As of `TableScan`.
    """

    also: tuple[Selection | NamedTensors, ...] = ()
    as_rank: int | None = None
    base: str | None = None
    settle: float | None = None

    @classmethod
    def of(
        cls,
        selection: Selection,
        also: Iterable[Selection | NamedTensors] = (),
        *,
        as_rank: int | None,
        base: str | None,
        settle: float | None = None,
    ) -> tuple[Finish, Selection]:
        """Return it with the conditions that are left for reading."""
        if as_rank is not None and selection.rank:
            # Paths may not tell the rank that is asked for.
            also = (*also, selection.only(["rank"]))
            selection = selection.without(["rank"])
        return cls(tuple(also), as_rank, base, settle), selection

    def __call__(self, table: StatsTable) -> StatsTable:
        """Return the rows that the scan was asked for, where they belong."""
        provenance = table.provenance
        if self.as_rank is not None:
            table = table.with_rank(self.as_rank)
        for condition in self.also:
            table = table[_is_row(condition, table)]
        if self.base is not None:
            table = table.seen_from(self.base)
        if provenance is not None and table.provenance is None:
            states = table.file_states.of_all(table.batch.column("path"))
            table = table.with_provenance(provenance.of_states(states))
        if self.settle is not None:
            table = table.with_unsettled(self.settle)
        return table.with_notes(note_of_shared_roots(table.batch, table.root, table.roots))


def _is_row(condition: Selection | NamedTensors, table: StatsTable) -> NDArray[np.bool_]:
    if isinstance(condition, NamedTensors):
        return condition.rows(table.batch)
    return selected_rows(condition, table.batch)


class Place(NamedTuple):
    """Where a dump is: absolute paths of its roots, and what paths in rows are relative to."""

    roots: list[str]
    root: str

    @classmethod
    def of(cls, paths: list[bytes], base: str | None) -> Place:
        """Return the place of what is scanned; raise ValueError if it is not below `base`."""
        roots = [os.path.abspath(os.fsdecode(path)) for path in paths]  # noqa: PTH100
        root = root_of(paths)
        if base is not None:
            from_base = seen_from(base, "/")
            for path in roots if len(paths) > 1 else [root]:
                from_base(as_shown(path))
        return cls(roots, root)
