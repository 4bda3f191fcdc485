"""The dump files to convert, and the place of each below the output directory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fastdump._arguments import is_directory, paths_text
from fastdump._convert.report import ConvertReport
from fastdump._dump.absence import no_dump_error
from fastdump._dump.dump import Dump, chosen, open
from fastdump._selection import Selection
from fastdump._stats import What


class Sources:
    """The dump files to convert.

    A single directory keeps its structure. Several directories keep theirs in one directory each,
    named after them. Files go to the top.

    Attributes
    ----------
    dump : Dump
        The selected files, in the order of execution.
    below : dict
        For each directory that was given, where below the output directory its structure goes.
    """

    def __init__(self, dump: Dump, below: dict[str, Path]) -> None:
        self.dump = dump
        self.below = below
        self._directory_of: dict[str, Path] = {}  # by the directory of the dump file

    @classmethod
    def found(cls, what: What, selection: Selection, *, follow_links: bool, flat: bool) -> Sources:
        """Return the files below some paths.

        Parameters
        ----------
        what, selection, follow_links
            As in `convert`.
        flat
            Whether to take only files directly in the directories, and to put all at the top.

        Raises
        ------
        ValueError
            If two directories have one name.
        NoDumpError
            If there is nothing to convert.
        OSError
            If a path does not exist or is not readable.
        """
        dump = open(what, follow_links=follow_links)
        sources = cls(dump.selected(selection), _directories(dump.roots, flat=flat))
        if flat:
            top = [
                i for i, op in enumerate(sources.dump) if sources.directory_of(op.path) == Path()
            ]
            sources.dump = sources.dump[top]
        if len(sources.dump) == 0:
            raise chosen(dump).no_tensor_error(selection)
        return sources

    @property
    def may_meet(self) -> bool:
        """Whether files of several directories may get one name."""
        return len(self.below) > 1

    def require_converted(self, report: ConvertReport) -> None:
        """Raise NoDumpError if all files were of kinds that hold nothing to convert."""
        if report.files == 0 and report.clean:
            raise no_dump_error(paths_text(self.dump.roots), report.skipped)

    def directory_of(self, path: str) -> Path:
        """Return the directory of the files of a dump file, below the output directory."""
        parent = os.path.dirname(path)  # noqa: PTH120
        if parent not in self._directory_of:
            self._directory_of[parent] = self._place_of(os.path.abspath(parent))  # noqa: PTH100
        return self._directory_of[parent]

    def _place_of(self, parent: str) -> Path:
        for root, below in self.below.items():
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
