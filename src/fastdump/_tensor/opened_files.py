"""The files of a dump that are in use, so that closing the dump can close them."""

from __future__ import annotations

import weakref

from fastdump._tensor.dump_file import DumpFile
from fastdump.errors import ClosedDumpError


class OpenedFiles:
    """Opens files until it is closed, and refers to them weakly."""

    __slots__ = ("_files", "_name", "closed", "safe")

    def __init__(self, name: str, *, safe: bool = False) -> None:
        self.closed = False
        self.safe = safe
        self._name = name
        self._files: weakref.WeakSet[DumpFile] = weakref.WeakSet()

    def check(self) -> None:
        """Raise ClosedDumpError if this was closed."""
        if self.closed:
            raise ClosedDumpError(f"{self._name}: the dump was closed")

    def open(self, path: str) -> DumpFile:
        """Return a file that has not been read yet."""
        self.check()
        file = DumpFile(path, safe=self.safe)
        self._files.add(file)
        return file

    def close(self) -> None:
        """Close all files, and open no more."""
        self.closed = True
        for file in list(self._files):
            file.close()
