"""Tables ``mapping.csv`` of the long names that stand behind files named with digits.

Rows are ``digits,name``, as in dumps: nothing is quoted, the first comma separates, and a row may
occur again.
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

from fastdump._words.printable import printable

_FILE_NAME = "mapping.csv"
# Far above what a directory of over-long names needs; a larger file is not a mapping.
_MAX_NBYTES = 64 << 20


def read_names(directory: Path) -> dict[str, str]:
    """Return the rows of the table in a directory; none if it has none that can be read."""
    try:
        # O_NONBLOCK: should this be a pipe, nothing waits for a writer.
        fd = os.open(directory / _FILE_NAME, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return {}
    with os.fdopen(fd, "rb") as file:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_NBYTES:
            return {}
        rows = (line.rstrip(b"\r\n").partition(b",") for line in file)
        return {os.fsdecode(digits): os.fsdecode(name) for digits, comma, name in rows if comma}


class NameTables:
    """The tables of all directories that files are written to. Threads may share them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: dict[Path, dict[str, str]] = {}

    def note(self, directory: Path, digits: str, name: str) -> None:
        """Add a row unless the table has it.

        Raises
        ------
        OSError
            If the table cannot be written; it is then as it was before.
        """
        name = "".join(printable(c) if c in "\r\n\0" else c for c in name)
        with self._lock:
            if directory not in self._tables:
                self._tables[directory] = read_names(directory)
            table = self._tables[directory]
            if table.get(digits) != name:
                _append_row(directory / _FILE_NAME, f"{digits},{name}\n")
                table[digits] = name


def _append_row(path: Path, row: str) -> None:
    # O_NOFOLLOW: a link may lead anywhere.
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o666)
    try:
        # Other processes may convert into this directory; not all file systems have locks.
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        size = os.fstat(fd).st_size
        ends_a_row = size == 0 or os.pread(fd, 1, size - 1) == b"\n"
        encoded = os.fsencode(row if ends_a_row else "\n" + row)
        try:
            while encoded:
                encoded = encoded[os.write(fd, encoded) :]
        except OSError:
            os.ftruncate(fd, size)
            raise
    finally:
        os.close(fd)
