"""The files below some paths, found once and shared by a dump and all selections of it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fastdump import _core
from fastdump._arguments import PathLike, path_bytes, paths_text
from fastdump._dump.operator import Operator, Record
from fastdump._selection import Selection
from fastdump._tensor.opened_files import OpenedFiles
from fastdump._tensor.shown_path import root_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Positions: TypeAlias = "NDArray[np.uint32]"
"""Which of the files, in the order of execution."""


class IndexedFiles:
    """Files by position, and the operators made of them.

    Parameters
    ----------
    paths, follow_links, safe
        As of `open`.
    index
        The names of the files, if they are known. Default: those below the paths are listed.

    Attributes
    ----------
    name : str
        The paths, as messages show them.
    paths : list of bytes
        The paths, as they were given.
    roots : list of str
        The paths, made absolute.
    root : str
        Absolute directory that shown paths are relative to.
    follow_links : bool
        Whether symbolic links were followed.
    index : _core.Index
        The names of the files, parsed.
    skipped : dict
        Number of other files, by reason.
    files : OpenedFiles
        The files that are in use.
    """

    __slots__ = (
        *("_operators", "_position_of"),
        *("files", "follow_links", "index", "name", "paths", "root", "roots", "skipped"),
    )

    def __init__(
        self,
        paths: Iterable[PathLike],
        *,
        follow_links: bool,
        safe: bool = False,
        index: _core.Index | None = None,
    ) -> None:
        given = list(paths)
        self.name = paths_text(given)
        self.paths = [path_bytes(path) for path in given]
        # The current directory may change later.
        self.roots = [os.path.abspath(os.fsdecode(path)) for path in self.paths]  # noqa: PTH100
        self.root = root_of(self.paths)
        self.follow_links = follow_links
        if index is None:
            index = _core.Index(self.paths, follow_links=follow_links)
        self.index = index
        self.skipped = self.index.skipped()
        self.files = OpenedFiles(self.name, safe=safe)
        # An operator that is still in use is returned again, with its header.
        self._operators: weakref.WeakValueDictionary[int, Operator] = weakref.WeakValueDictionary()
        self._position_of: dict[str, int] | None = None

    def all(self) -> Positions:
        """Return the positions of all files."""
        return np.arange(len(self.index), dtype=np.uint32)

    def operator(self, position: int) -> Operator:
        """Return the operator of one file."""
        found = self._operators.get(position)
        if found is None:
            found = Operator((Record(*self.index.record(position)),), self.files)
            self._operators[position] = found
        return found

    def select(self, positions: Positions, selection: Selection) -> tuple[Positions, Positions]:
        """Return the files that a selection may select, and those of them that headers decide."""
        found, undecided = self.index.select(positions.data, selection.native())
        return np.frombuffer(found, np.uint32), np.frombuffer(undecided, np.uint32)

    def with_paths(self, positions: Positions, shown: set[str]) -> Positions:
        """Return the positions of the files that tables show by these paths."""
        holds = [self.index.shown_path(position) in shown for position in positions.tolist()]
        return positions[np.array(holds, np.bool_)]

    def position_of(self, shown: str) -> int | None:
        """Return the position of the file that tables show by a path, None if there is none."""
        if self._position_of is None:
            positions = range(len(self.index))
            self._position_of = {
                self.index.shown_path(position): position for position in positions
            }
        return self._position_of.get(shown)
