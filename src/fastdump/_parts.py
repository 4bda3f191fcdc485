"""A scan that writes its table in parts as it goes, and goes on where one before was ended."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastdump import _core
from fastdump._executor import PartsProgress
from fastdump._progress import reporting
from fastdump._scan import Place, TableScan
from fastdump._since import Asked, Known, finished, parallelism_of, roots_overlap, scan_of_files
from fastdump._table.arrow_column import joined
from fastdump._table.concat import concat
from fastdump._table.manifest import Manifest, is_part_name, wrong_size
from fastdump._table.provenance import Provenance, asked_for
from fastdump._table.stats_table import StatsTable
from fastdump._table.table_files import read_stats
from fastdump.errors import FastdumpError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LOCK = "_fastdump.lock"
_HALF_WRITTEN = re.compile(r"\.fastdump-[0-9a-f]{16}\.part", re.ASCII)
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)

_FIRST_FILES = 512
_GROWTH = 4
"""How much longer a part may be than the one before."""

_SHARE = 0.05
"""A part takes this share of the time until then: what a kill loses, and no more parts than that
takes."""

_MIN_S, _MAX_S = 0.1, 30.0


class _Part(NamedTuple):
    """A part in the directory: its name, its size, and its rows."""

    name: str
    nbytes: int
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
        self._directory, self._paths, self._asked = directory, paths, asked
        self._choose, self._follow_links, self._options = choose, follow_links, options
        self._place = Place.of(paths, asked.base)
        self._said = {
            "level": asked.level,
            "roots": self._place.roots,
            "root": asked.base or self._place.root,
            "shard": shard and list(shard),
            "follow_links": follow_links,
            **asked_for(asked.selection, logical=asked.logical, as_rank=asked.as_rank),
        }
        self._parts: list[_Part] = []
        self._skipped: Counter[str] = Counter()
        self._n_left = 0
        self._reached = PartsProgress(0, walking=True)
        self._whole: StatsTable | None = None

    def run(self, progress: bool | Callable[[Any], object] | None = None) -> None:
        """Scan what the parts do not tell, as `TableScan.run` does."""
        os.makedirs(self._directory, exist_ok=True)  # noqa: PTH103
        with ExitStack() as stack:
            on_progress = stack.enter_context(reporting(progress))
            stack.enter_context(_locked(self._directory))
            self._load()
            self._scan(on_progress)

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

    # What is there

    def _load(self) -> None:
        manifest = Manifest.read(self._directory)
        if manifest is None:
            self._require_nothing()
            return
        if dict(manifest.scan) != self._said:
            raise ValueError(_difference_text(self._directory, manifest.scan, self._said))
        for name, nbytes in manifest.parts.items():
            table = self._read(name, nbytes)
            if table is not None and len(table):
                self._parts.append(_Part(name, nbytes, table))
        listed = {part.name for part in self._parts}
        for name in os.listdir(self._directory):  # noqa: PTH208
            if _HALF_WRITTEN.fullmatch(name) or (is_part_name(name) and name not in listed):
                self._remove(name)

    def _read(self, name: str, nbytes: int) -> StatsTable | None:
        """Return the table of a part; None if it has to be read again."""
        path = self._path(name)
        if wrong_size(path, nbytes) is not None:
            return None
        try:
            table = read_stats(path)
            self._asked.check(table, self._place, repr(path))
        except (FastdumpError, ValueError):
            return None
        return table

    def _require_nothing(self) -> None:
        names = [name for name in os.listdir(self._directory) if name != _LOCK]  # noqa: PTH208
        others = [name for name in names if not _HALF_WRITTEN.fullmatch(name)]
        if others:
            raise ValueError(
                f"{self._directory!r} has {min(others)!r} and no manifest of a scan: give an empty "
                "directory, or one that a scan has written parts to"
            )

    # What is new

    def _scan(self, on_progress: Callable[[Any], object] | None) -> None:
        index = _core.Index(self._paths, follow_links=self._follow_links, every_file=True)
        positions, skipped = self._choose(index)
        self._asked.check_ranks(index, positions)
        self._skipped.update(skipped)
        to_read = self._keep_what_is_true(index, positions)
        self._n_left = len(to_read)
        self._reached = PartsProgress(len(to_read))
        self._write_manifest(is_complete=False)
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
                self._write_part(table)
            self._write_manifest(is_complete=False)
            self._reached = self._reached.after(len(part), scan.progress())
        self._finish(index)
        if on_progress is not None:
            on_progress(self._reached)

    def _keep_what_is_true(
        self, index: _core.Index, positions: NDArray[np.uint32]
    ) -> NDArray[np.uint32]:
        """Leave out rows of files that have changed; return the files to read."""
        if not self._parts:
            return positions
        tables = [part.table for part in self._parts]
        provenance = Provenance.joined([table.provenance for table in tables])
        assert provenance is not None
        paths = joined([table.batch.column("path") for table in tables])
        known = Known(paths, provenance.states_of_rows(), self._said["root"])
        to_read, kept = known.look(index, positions, self._place, parallelism_of(self._options))
        ends = np.cumsum([len(table) for table in tables])
        before, self._parts = self._parts, []
        obsolete = []
        for part, is_kept in zip(before, np.split(kept, ends[:-1]), strict=True):
            if is_kept.all():
                self._parts.append(part)
                continue
            obsolete.append(part.name)
            if is_kept.any():
                provenance = part.table.provenance
                assert provenance is not None
                rows = part.table[is_kept].with_provenance(provenance.some(is_kept))
                self._write_part(rows)
        if obsolete:
            self._write_manifest(is_complete=False)
            for name in obsolete:
                self._remove(name)
        return to_read

    def _scan_of(self, index: _core.Index, positions: NDArray[np.uint32]) -> TableScan:
        return scan_of_files(
            index, positions, self._paths, self._asked, self._place, {}, **self._options
        )

    def _finish(self, index: _core.Index) -> None:
        """Write a last part without rows, which says what is beside the rows of all."""
        scan = self._scan_of(index, np.empty(0, np.uint32))
        scan.run()
        nothing = scan.table()
        skipped = dict(sorted(self._skipped.items()))
        tables = [*(part.table for part in self._parts), nothing.saying(skipped={}, notes=[])]
        self._whole = finished(concat(tables).saying(skipped=skipped), self._asked)
        self._write_part(nothing, skipped=skipped, notes=self._whole.notes)
        self._write_manifest(is_complete=True)

    def _write_part(
        self,
        table: StatsTable,
        *,
        skipped: Mapping[str, int] | None = None,
        notes: list[str] | None = None,
    ) -> None:
        # What is beside the rows is said once, in the last part: parts add up.
        part = table.saying(skipped=dict(skipped or {}), notes=notes or [])
        name = f"part-{secrets.token_hex(8)}.parquet"
        path = self._path(name)
        part.write(path)
        self._parts.append(_Part(name, os.stat(path).st_size, part))  # noqa: PTH116

    def _write_manifest(self, *, is_complete: bool) -> None:
        parts = {part.name: part.nbytes for part in self._parts}
        Manifest(self._said, parts, self._n_left, is_complete).write(self._directory)

    def _path(self, name: str) -> str:
        return os.path.join(self._directory, name)  # noqa: PTH118

    def _remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._path(name))  # noqa: PTH108


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


@contextmanager
def _locked(directory: str) -> Iterator[None]:
    """Keep other scans out of a directory, where the file system has locks.

    Where it has none, two scans at once leave parts that one manifest lists and others that none
    does: the next scan reads again what is missing.
    """
    path = os.path.join(directory, _LOCK)  # noqa: PTH118
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"another scan is writing parts to {directory!r}: wait for its end, or give "
                "another directory"
            ) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        yield
    finally:
        os.close(descriptor)


def _difference_text(directory: str, found: Mapping[str, Any], said: Mapping[str, Any]) -> str:
    key = next(key for key in (*said, *found) if found.get(key) != said.get(key))
    return (
        f"{directory!r} has parts of a scan with {key} {found.get(key)!r:.200}, and this one has "
        f"{said.get(key)!r:.200}: give the same, or another directory"
    )
