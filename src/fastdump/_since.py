"""A scan that reads only what an earlier table of the same dump does not tell."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastdump import _core
from fastdump._arguments import Parallelism, parallelism
from fastdump._scan import Finish, Place, TableScan
from fastdump._selection import Selection
from fastdump._table.arrow_column import buffer_bytes, exported, part_ends
from fastdump._table.directories import seen_from
from fastdump._table.file_states import FileStates
from fastdump._table.known_directories import to_trust, with_damage
from fastdump._table.merged import merged
from fastdump._table.provenance import Provenance, asked_for
from fastdump._table.stats_table import StatsTable

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray

_NAMES = {"logical": "logical", "as_rank": "as_rank", "selection": "conditions"}
"""What is asked for, by what it is called where it is given."""


class Asked(NamedTuple):
    """What a scan is asked for, beside the files: rows of a file follow from it.

    Attributes
    ----------
    selection, level, logical, as_rank, base, settle
        As of `TableScan`.
    """

    selection: Selection
    level: str
    logical: bool = False
    as_rank: int | None = None
    base: str | None = None
    settle: float | None = None

    def check(self, table: StatsTable, place: Place, name: str) -> Provenance:
        """Return the provenance of a table, whose rows a scan may take over.

        Parameters
        ----------
        table
            The table.
        place
            Where the dump of the scan is.
        name
            What the table is called in messages.

        Raises
        ------
        ValueError
            If its rows are not those that the scan would give.
        """
        self.check_placing()
        found = table.provenance
        if found is None:
            raise ValueError(
                f"{name} does not tell the states of its files: a table does whose rows are all "
                "those of stats(), as it was returned, or as it was written to .parquet or .arrow"
            )
        root = self.base or place.root
        if table.root != root:
            raise ValueError(
                f"{name} has paths relative to {table.root!r}, this scan to {root!r}: scan "
                "the same paths, or give both the same base="
            )
        if table.level != self.level:
            raise ValueError(
                f"{name} has level {table.level!r}, this scan {self.level!r}: give level="
                f"{table.level!r}, or scan anew without it"
            )
        asked = asked_for(self.selection, logical=self.logical, as_rank=self.as_rank)
        if found.asked.get("version") != asked["version"]:
            raise ValueError(
                f"{name} was made by fastdump {found.asked.get('version')}, and this is "
                f"{asked['version']}: scan anew without it"
            )
        for key, value in asked.items():
            if found.asked.get(key) != value:
                raise ValueError(
                    f"{name} was asked for {_NAMES.get(key, key)} {found.asked.get(key)!r}, this "
                    f"scan for {value!r}: give the same, or scan anew without it"
                )
        return found

    def check_placing(self) -> None:
        """Raise ValueError if rows cannot be taken over because of what becomes of ranks."""
        if self.as_rank is not None and self.selection.rank:
            raise ValueError("as_rank and rank: rows that rank leaves out cannot be taken over")

    def check_ranks(self, index: _core.Index, positions: NDArray[np.uint32]) -> None:
        """Raise ValueError if paths tell the rank, too, that others get: rows would mix."""
        if self.as_rank is None:
            return
        ranks = index.summary(positions.data)["ranks"]
        assert isinstance(ranks, list)
        if self.as_rank in ranks:
            raise ValueError(
                f"as_rank is {self.as_rank}, a rank that some paths tell, too: their rows cannot "
                "be told apart later; give another rank, or scan without since and parts"
            )


class Known(NamedTuple):
    """Files of earlier rows.

    Attributes
    ----------
    paths, states
        Of each row: the path and the state of its file, 0 where that is not known.
    root
        The directory that the paths are relative to.
    """

    paths: Array
    states: NDArray[np.int64]
    root: str

    def look(
        self,
        index: _core.Index,
        positions: NDArray[np.uint32],
        place: Place,
        at_once: Parallelism,
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Look at the state of each file that is known.

        Parameters
        ----------
        index, positions
            Files that are there now.
        place
            Where they are.
        at_once
            Threads, and reads under way.

        Returns
        -------
        to_read
            Positions of files that are new or may have changed.
        kept
            Which rows are true still.
        """
        shown: list[str] = []
        if self.root != place.root:
            shown = [*map(seen_from(self.root, place.root), index.directories())]
        texts, ends, _alive = _path_bytes(self.paths)
        to_read, kept = index.unchanged(
            positions.data,
            paths=texts.data,
            ends=ends.data,
            states=self.states.data,
            shown=shown,
            **at_once,
        )
        return np.frombuffer(to_read, np.uint32), np.frombuffer(kept, np.bool_)


class SinceScan:
    """A scan of some paths that takes over rows of an earlier table; run it once.

    Parameters
    ----------
    since
        The table.
    paths, asked
        What is scanned, and what it is asked for.
    choose
        Function that takes an index of all files and returns positions in it, and how many other
        files were skipped, by reason.
    is_all
        Whether `choose` chooses all files.
    follow_links
        Whether the walk follows symbolic links.
    trust_directories
        Whether files are taken to be as they were that lie in directories whose names have not
        changed.
    **options
        Others of `TableScan`.

    Raises
    ------
    ValueError
        If the rows of the table are not those that the scan would give.
    """

    def __init__(
        self,
        since: StatsTable,
        paths: list[bytes],
        asked: Asked,
        *,
        choose: Callable[[_core.Index], tuple[NDArray[np.uint32], Mapping[str, int]]],
        is_all: bool,
        follow_links: bool,
        trust_directories: bool = False,
        **options: Any,
    ) -> None:
        if trust_directories and not is_all:
            raise ValueError("trust_directories is for whole dumps: give it without shard")
        self._place = Place.of(paths, asked.base)
        self._known = asked.check(since, self._place, "the table of since=")
        self._trusts, self._is_all = trust_directories, is_all
        self._since, self._paths, self._asked = since, paths, asked
        self._choose, self._follow_links, self._options = choose, follow_links, options
        self._scan: TableScan | None = None
        self._kept = np.zeros(len(since), np.bool_)

    def run(self, progress: bool | Callable[[_core.Progress], object] | None = None) -> None:
        """Scan, as `TableScan.run` does."""
        index = _core.Index(
            self._paths,
            follow_links=self._follow_links,
            every_file=True,
            known=self._trusted(),
        )
        positions, skipped = self._choose(index)
        self._asked.check_ranks(index, positions)
        known = Known(
            self._since.batch.column("path"),
            self._known.states_of_rows(),
            self._since.root or self._place.root,
        )
        at_once = parallelism_of(self._options)
        to_read, self._kept = known.look(index, positions, self._place, at_once)
        self._scan = scan_of_files(
            index,
            to_read,
            self._paths,
            self._asked,
            self._place,
            skipped,
            is_all=self._is_all and not self._follow_links,
            **self._options,
        )
        self._scan.run(progress)

    def _trusted(self) -> list[tuple[str, int, dict[str, int]]]:
        """Return the directories that need not be listed again."""
        directories = self._known.directories
        if not self._trusts or directories is None:
            return []
        # What ranks paths tell is not known of files that are not listed, nor which of two equal
        # paths is theirs.
        if self._asked.as_rank is not None or roots_overlap(self._paths):
            return []
        return to_trust(directories)

    def progress(self) -> _core.Progress:
        """Return how far the scan has come, of what it reads."""
        return self._begun().progress()

    def table(self) -> StatsTable:
        """Return the rows that are kept, and those that are finished."""
        new = self._begun().table()
        kept = self._since if self._kept.all() else self._since[self._kept]
        known = self._known.some(self._kept)
        threads = parallelism_of(self._options)["threads"]
        return self._with_damage(whole(kept, known, new, self._asked, threads=threads))

    def _with_damage(self, table: StatsTable) -> StatsTable:
        """Return the table with what kept rows, too, tell of its directories."""
        before, now = self._known.directories, table.provenance
        if now is None or now.directories is None:
            return table
        if before is not None and not any(one.has_damage for one in before):
            return table
        shown = [one.shown for one in now.directories]
        if self._asked.base is not None:
            shown = [*map(seen_from(self._asked.base, self._place.root), shown)]
        states = now.states_of_rows()
        directories = with_damage(now.directories, shown, table.batch, states)
        return table.with_provenance(now._replace(directories=directories))

    def _begun(self) -> TableScan:
        if self._scan is None:
            raise KeyboardInterrupt  # nothing was read yet
        return self._scan


def parallelism_of(options: Mapping[str, Any]) -> Parallelism:
    """Return how much options of `TableScan` want to be done at a time."""
    return parallelism(options.get("threads"), options.get("io_depth"))


def scan_of_files(
    index: _core.Index,
    positions: NDArray[np.uint32],
    paths: list[bytes],
    asked: Asked,
    place: Place,
    skipped: Mapping[str, int],
    **options: Any,
) -> TableScan:
    """Return a scan of some files of an index that is asked for the same."""
    return TableScan(
        paths,
        asked.selection,
        files=(index, positions),
        level=asked.level,
        logical=asked.logical,
        as_rank=asked.as_rank,
        base=asked.base,
        settle=asked.settle,
        skipped=skipped,
        place=place,
        **options,
    )


def whole(
    kept: StatsTable, known: Provenance, new: StatsTable, asked: Asked, *, threads: int
) -> StatsTable:
    """Return the table that one scan would have given: rows that are kept, and new ones.

    Up to so many threads copy them.
    """
    if new.provenance is None:  # interrupted
        states = new.file_states.of_all(new.batch.column("path"))
        table = merged(kept, known, new, known.of_states(states), threads=threads)
        table = table.with_provenance(None)
    else:
        table = merged(kept, known, new, new.provenance, threads=threads)
    return finished(table, asked)


def finished(table: StatsTable, asked: Asked) -> StatsTable:
    """Return a table of rows that are finished each, with the notes that are about all of them."""
    provenance = table.provenance
    finish, _ = Finish.of(
        asked.selection, as_rank=asked.as_rank, base=asked.base, settle=asked.settle
    )
    table = table.saying(notes=[])
    if provenance is not None:
        states = FileStates(table.batch.column("path"), provenance.states)
        table = table.with_states(states)
    return finish(table)


def _path_bytes(paths: Array) -> tuple[NDArray[np.uint8], NDArray[np.uint64], object]:
    """Return all paths one behind the other, where each ends, and what keeps them alive."""
    if not len(paths):
        return np.empty(0, np.uint8), np.empty(0, np.uint64), None
    array, capsule = exported(paths)
    ends = part_ends(array, paths.type)
    first = int(ends[0])
    texts = buffer_bytes(array.buffers[2], first, int(ends[-1]) - first)
    return texts, (ends[1:] - ends[0]).astype(np.uint64), capsule


def roots_overlap(paths: list[bytes]) -> bool:
    """Tell whether a path of several is below another, so that its files are read twice."""
    given = sorted(os.path.join(os.path.abspath(path), b"") for path in paths)  # noqa: PTH100, PTH118
    return any(b.startswith(a) for a, b in itertools.pairwise(given))
