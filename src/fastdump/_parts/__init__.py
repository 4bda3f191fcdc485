"""A scan that writes its table in parts as it goes, and goes on where one before was ended."""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastdump import _core
from fastdump._executor import PartsProgress
from fastdump._parts.directory import PartsDirectory
from fastdump._progress import reporting
from fastdump._scan import Place, TableScan
from fastdump._since import Asked, Known, finished, parallelism_of, roots_overlap, scan_of_files
from fastdump._table.concat import concat
from fastdump._table.joined_columns import joined
from fastdump._table.provenance import Provenance
from fastdump._table.stats_table import StatsTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST_FILES = 512
_GROWTH = 4
"""How much longer a part may be than the one before."""

_SHARE = 0.05
"""A part takes this share of the time until then: what a kill loses, and no more parts than that
takes."""

_MIN_S, _MAX_S = 0.1, 30.0


class _Part(NamedTuple):
    """A part in the directory: its name, and its rows."""

    name: str
    table: StatsTable


class PartsScan:
    """A scan of some paths, whose table is written to a directory in parts; run it once.

    Parameters
    ----------
    directory
        Where the parts go. What is there of the same scan is taken over.
    paths, asked, choose, follow_links, **options
        As of `SinceScan`.
    shard
        Which files `choose` chooses, if not all.
    """

    def __init__(
        self,
        directory: str,
        paths: list[bytes],
        asked: Asked,
        *,
        choose: Callable[[_core.Index], tuple[NDArray[np.uint32], Mapping[str, int]]],
        shard: tuple[int, int] | None,
        follow_links: bool,
        **options: Any,
    ) -> None:
        if roots_overlap(paths):
            raise ValueError("a path is below another: their files cannot be told apart in parts")
        asked.check_placing()
        self._paths, self._asked = paths, asked
        self._choose, self._follow_links, self._options = choose, follow_links, options
        self._place = Place.of(paths, asked.base)
        self._root = asked.base or self._place.root
        self._open = functools.partial(
            PartsDirectory, directory, asked, self._place, shard=shard, follow_links=follow_links
        )
        self._parts: list[_Part] = []
        self._skipped: Counter[str] = Counter()
        self._n_left = 0
        self._reached = PartsProgress(0, walking=True)
        self._whole: StatsTable | None = None

    def run(self, progress: bool | Callable[[Any], object] | None = None) -> None:
        """Scan what the parts do not tell, as `TableScan.run` does."""
        with ExitStack() as stack:
            on_progress = stack.enter_context(reporting(progress))
            directory = stack.enter_context(closing(self._open()))
            self._parts += [_Part(name, table) for name, table in directory.load()]
            self._scan(directory, on_progress)

    def progress(self) -> PartsProgress:
        """Return how far the scan has come, of what it reads."""
        return self._reached

    def table(self) -> StatsTable:
        """Return the whole table; of an interrupted scan, the rows of all complete parts."""
        if self._whole is not None:
            return self._whole
        if not self._parts:
            raise KeyboardInterrupt
        return concat([part.table for part in self._parts]).with_provenance(None)

    # What is new

    def _scan(self, directory: PartsDirectory, on_progress: Callable[[Any], object] | None) -> None:
        index = _core.Index(self._paths, follow_links=self._follow_links, every_file=True)
        positions, skipped = self._choose(index)
        self._asked.check_ranks(index, positions)
        self._skipped.update(skipped)
        to_read = self._keep_what_is_true(directory, index, positions)
        self._n_left = len(to_read)
        self._reached = PartsProgress(len(to_read))
        directory.write_manifest(self._n_left, is_complete=False)
        for part in _cut(to_read, len(positions) - len(to_read)):
            scan = self._scan_of(index, part)

            def report(now: _core.Progress) -> None:
                if on_progress is not None:
                    on_progress(self._reached.after(now.files_done, now))

            scan.run(report)
            table = scan.table()
            self._skipped.update(table.skipped)
            self._n_left -= len(part)
            if len(table):
                self._write_part(directory, table)
            directory.write_manifest(self._n_left, is_complete=False)
            self._reached = self._reached.after(len(part), scan.progress())
        self._finish(directory, index)
        if on_progress is not None:
            on_progress(self._reached)

    def _keep_what_is_true(
        self, directory: PartsDirectory, index: _core.Index, positions: NDArray[np.uint32]
    ) -> NDArray[np.uint32]:
        """Leave out rows of files that have changed; return the files to read."""
        if not self._parts:
            return positions
        tables = [part.table for part in self._parts]
        provenance = Provenance.joined([table.provenance for table in tables])
        assert provenance is not None
        paths = joined([table.batch.column("path") for table in tables])
        known = Known(paths, provenance.states_of_rows(), self._root)
        to_read, kept = known.look(index, positions, self._place, parallelism_of(self._options))
        ends = np.cumsum([len(table) for table in tables])
        before, self._parts = self._parts, []
        for part, is_kept in zip(before, np.split(kept, ends[:-1]), strict=True):
            if is_kept.all():
                self._parts.append(part)
                continue
            directory.drop(part.name)
            if is_kept.any():
                provenance = part.table.provenance
                assert provenance is not None
                rows = part.table[is_kept].with_provenance(provenance.some(is_kept))
                self._write_part(directory, rows)
        if not kept.all():
            directory.write_manifest(self._n_left, is_complete=False)
        return to_read

    def _scan_of(self, index: _core.Index, positions: NDArray[np.uint32]) -> TableScan:
        return scan_of_files(
            index, positions, self._paths, self._asked, self._place, {}, **self._options
        )

    def _finish(self, directory: PartsDirectory, index: _core.Index) -> None:
        """Write a last part without rows, which says what is beside the rows of all."""
        scan = self._scan_of(index, np.empty(0, np.uint32))
        scan.run()
        nothing = scan.table()
        skipped = dict(sorted(self._skipped.items()))
        tables = [*(part.table for part in self._parts), nothing.saying(skipped={}, notes=[])]
        self._whole = finished(concat(tables).saying(skipped=skipped), self._asked)
        self._write_part(directory, nothing, skipped=skipped, notes=self._whole.notes)
        directory.write_manifest(self._n_left, is_complete=True)

    def _write_part(
        self,
        directory: PartsDirectory,
        table: StatsTable,
        *,
        skipped: Mapping[str, int] | None = None,
        notes: list[str] | None = None,
    ) -> None:
        # What is beside the rows is said once, in the last part: parts add up.
        part = table.saying(skipped=dict(skipped or {}), notes=notes or [])
        self._parts.append(_Part(directory.add(part), part))


def _cut(positions: NDArray[np.uint32], n_known: int) -> Iterator[NDArray[np.uint32]]:
    """Yield files in parts that take a certain share of the time until then each.

    The time of `n_known` files that were read before counts, too, as what they would take now.
    """
    begin = last = time.monotonic()
    n, first = max(_FIRST_FILES, int(n_known * _SHARE)), 0
    while first < len(positions):
        yield np.ascontiguousarray(positions[first : first + n])
        first += n
        now = time.monotonic()
        if first == n:
            begin -= (now - last) * n_known / n
        wanted_s = min(max((now - begin) * _SHARE, _MIN_S), _MAX_S)
        n = max(1, min(int(n * wanted_s / max(now - last, 1e-6)), n * _GROWTH))
        last = now
