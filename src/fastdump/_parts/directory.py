"""A directory of parts of a table, as whoever writes it sees it."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from fastdump._lock import Lock
from fastdump._names import names_in
from fastdump._scan import Place
from fastdump._since import Asked
from fastdump._table.manifest import Manifest, is_part_name, wrong_size
from fastdump._table.provenance import asked_for
from fastdump._table.stats_table import StatsTable
from fastdump._table.table_files import read_stats
from fastdump.errors import FastdumpError

_LOCK = "_fastdump.lock"
_HALF_WRITTEN = re.compile(r"\.fastdump-[0-9a-f]{16}\.part", re.ASCII)


class PartsDirectory:
    """Parts of one table, written by one process at a time.

    Parameters
    ----------
    path
        The directory, which is made if it is not there.
    asked, place
        What the rows are asked for, and where their files are.
    shard, follow_links
        Which files there are rows of.

    Attributes
    ----------
    names
        The parts that count once the manifest is written.

    Raises
    ------
    ValueError
        If another process writes parts to it.
    OSError
        If it cannot be made.

    Notes
    -----
    Where the file system has no locks, two writers at once leave parts that one manifest lists and
    others that none does: the next scan reads again what is missing.
    """

    def __init__(
        self,
        path: str,
        asked: Asked,
        place: Place,
        *,
        shard: tuple[int, int] | None,
        follow_links: bool,
    ) -> None:
        self._path, self._asked, self._place = path, asked, place
        self._said = {
            "level": asked.level,
            "roots": place.roots,
            "root": asked.base or place.root,
            "shard": shard and list(shard),
            "follow_links": follow_links,
            **asked_for(asked.selection, logical=asked.logical, as_rank=asked.as_rank),
        }
        self._sizes: dict[str, int] = {}
        self._obsolete: list[str] = []
        os.makedirs(path, exist_ok=True)  # noqa: PTH103
        try:
            self._lock = Lock(self.path_of(_LOCK))
        except BlockingIOError:
            raise ValueError(
                f"another scan is writing parts to {path!r}: wait for its end, or give another "
                "directory"
            ) from None

    @property
    def names(self) -> list[str]:
        """The parts that count once the manifest is written."""
        return list(self._sizes)

    def close(self) -> None:
        """Let others write."""
        self._lock.close()

    def load(self) -> Iterator[tuple[str, StatsTable]]:
        """Yield the parts of the same table that are there and have rows; remove what is no part.

        Raises
        ------
        ValueError
            If the directory has something else.
        """
        manifest = Manifest.read(self._path)
        if manifest is None:
            self._require_nothing()
            return
        if dict(manifest.scan) != self._said:
            raise ValueError(_difference_text(self._path, manifest.scan, self._said))
        for name, nbytes in manifest.parts.items():
            table = self._read(name, nbytes)
            if table is not None and len(table):
                self._sizes[name] = nbytes
                yield name, table
        _, names = names_in(self._path)
        for name in names:
            if _HALF_WRITTEN.fullmatch(name) or (is_part_name(name) and name not in self._sizes):
                self._remove(name)

    def add(self, table: StatsTable) -> str:
        """Write a part, and return its name."""
        name = f"part-{secrets.token_hex(8)}.parquet"
        path = self.path_of(name)
        table.write(path)
        self._sizes[name] = os.stat(path).st_size  # noqa: PTH116
        return name

    def drop(self, name: str) -> None:
        """Leave out a part; its file is removed once a manifest without it is written."""
        del self._sizes[name]
        self._obsolete.append(name)

    def write_manifest(self, n_left: int, *, is_complete: bool) -> None:
        """Make the parts count that there are now; `n_left` files are not in them yet."""
        Manifest(self._said, self._sizes, n_left, is_complete).write(self._path)
        for name in self._obsolete:
            self._remove(name)
        self._obsolete.clear()

    def path_of(self, name: str) -> str:
        """Return the path of a file in the directory."""
        return os.path.join(self._path, name)  # noqa: PTH118

    def _read(self, name: str, nbytes: int) -> StatsTable | None:
        """Return the table of a part; None if it has to be read again."""
        path = self.path_of(name)
        if wrong_size(path, nbytes) is not None:
            return None
        try:
            table = read_stats(path)
            self._asked.check(table, self._place, repr(path))
        except (FastdumpError, ValueError):
            return None
        return table

    def _require_nothing(self) -> None:
        directories, names = names_in(self._path)
        others = [name for name in names if name != _LOCK and not _HALF_WRITTEN.fullmatch(name)]
        others += directories
        if others:
            raise ValueError(
                f"{self._path!r} has {min(others)!r} and no manifest of a scan: give an empty "
                "directory, or one that a scan has written parts to"
            )

    def _remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.path_of(name))  # noqa: PTH108


def _difference_text(directory: str, found: Mapping[str, Any], said: Mapping[str, Any]) -> str:
    key = next(key for key in (*said, *found) if found.get(key) != said.get(key))
    return (
        f"{directory!r} has parts of a scan with {key} {found.get(key)!r:.200}, and this one has "
        f"{said.get(key)!r:.200}: give the same, or another directory"
    )
