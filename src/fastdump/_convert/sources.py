"""The dump files to convert, and the place of each below the output directory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fastdump._arguments import is_directory
from fastdump._dump.dump import empty_error, open
from fastdump._selection import Selection
from fastdump._stats import What


class Sources:
    """The dump files to convert.

    A single directory keeps its structure. Several directories keep theirs in one directory each,
    named after them. Files go to the top.

    Parameters
    ----------
    what, selection, follow_links
        As in `convert`.
    flat
        Whether to take only files directly in the directories, and to put all at the top.

    Attributes
    ----------
    dump : Dump
        The selected files, in the order of execution.

    Raises
    ------
    ValueError
        If two directories have one name.
    NoDumpError
        If there is nothing to convert.
    OSError
        If a path does not exist or is not readable.
    """

    def __init__(self, what: What, selection: Selection, *, follow_links: bool, flat: bool) -> None:
        dump = open(what, follow_links=follow_links)
        self._below = _directories(dump.roots, flat=flat)
        self._directory_of: dict[str, Path] = {}  # by the directory of the dump file
        self.dump = dump.selected(selection)
        if flat:
            top = [i for i, op in enumerate(self.dump) if self.directory_of(op.path) == Path()]
            self.dump = self.dump[top]
        if len(self.dump) == 0:
            raise empty_error(dump, selection)

    @property
    def may_meet(self) -> bool:
        """Whether files of several directories may get one name."""
        return len(self._below) > 1

    def directory_of(self, path: str) -> Path:
        """Return the directory of the files of a dump file, below the output directory."""
        parent = os.path.dirname(path)  # noqa: PTH120
        if parent not in self._directory_of:
            self._directory_of[parent] = self._place_of(os.path.abspath(parent))  # noqa: PTH100
        return self._directory_of[parent]

    def _place_of(self, parent: str) -> Path:
        for root, below in self._below.items():
            if parent == root or parent.startswith(os.path.join(root, "")):  # noqa: PTH118
                return below / os.path.relpath(parent, root)
        return Path()


def _directories(roots: Iterable[str], *, flat: bool) -> dict[str, Path]:
    """Return for each directory where below the output directory its structure goes."""
    roots = list(roots)
    below: dict[str, Path] = {}
    for root in roots:
        if not is_directory(root):
            below.setdefault(os.path.dirname(root), Path())  # noqa: PTH120
        elif len(roots) == 1 or flat:
            below[root] = Path()
        else:
            name = Path(os.path.basename(root))  # noqa: PTH119
            if name in below.values() and root not in below:
                raise ValueError(
                    f"two of the directories are called {str(name)!r}: convert one at a time"
                )
            below[root] = name
    return below
