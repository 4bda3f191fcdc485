"""Tables ``mapping.csv`` of the long names that stand behind files named with digits.

Rows are ``digits,name``, as in dumps, and a row may occur again. A name with a comma or a quote is
quoted, as CSV asks for. Names of dumps are never quoted: there the first comma separates.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import threading
from contextlib import suppress
from pathlib import Path

from fastdump._convert.output_directory import OutputDirectory
from fastdump._words.printable import printable

_FILE_NAME = "mapping.csv"
# Far above what a directory of over-long names needs; a larger file is not a mapping.
_MAX_NBYTES = 64 << 20
_QUOTED = re.compile(rb'"((?:[^"]|"")*)"')
# O_NONBLOCK: should this be a pipe, nothing waits for a writer.
_READ = os.O_RDONLY | os.O_NONBLOCK


def read_names(directory: Path) -> dict[str, str]:
    """Return the rows of the table in a directory; none if it has none that can be read."""
    try:
        return _rows(os.open(directory / _FILE_NAME, _READ | os.O_CLOEXEC))
    except OSError:
        return {}


def _names_in(directory: OutputDirectory) -> dict[str, str]:
    try:
        return _rows(directory.open(_FILE_NAME, _READ))
    except OSError:
        return {}


def _rows(fd: int) -> dict[str, str]:
    with os.fdopen(fd, "rb") as file:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_NBYTES:
            return {}
        rows = (line.rstrip(b"\r\n").partition(b",") for line in file)
        names = {digits: _unquoted(name) for digits, comma, name in rows if comma}
        return {os.fsdecode(digits): os.fsdecode(name) for digits, name in names.items()}


def _unquoted(field: bytes) -> bytes:
    """Return what is between the quotes of a field; any other field as it is."""
    quoted = _QUOTED.fullmatch(field)
    return field if quoted is None else quoted[1].replace(b'""', b'"')


def _field(name: str) -> str:
    """Return a name as a field of CSV, on one line and without what acts on a terminal.

    Bytes that are not UTF-8 stay as they are: they are half characters in `name`.
    """
    text = "".join(c if c.isprintable() or _is_byte(c) else printable(c) for c in name)
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def _is_byte(character: str) -> bool:
    # Those of 0x80 to 0x9f would be control characters to a terminal that does not know UTF-8.
    return "\udca0" <= character <= "\udcff"


class NameTables:
    """The tables of all directories that files are written to. Threads may share them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: dict[Path, dict[str, str]] = {}

    def note(self, directory: OutputDirectory, digits: str, name: str) -> None:
        """Add a row to the table in a directory unless it has it.

        Raises
        ------
        OSError
            If the table cannot be written; it is then as it was before.
        """
        field = _field(name)
        name = os.fsdecode(_unquoted(os.fsencode(field)))
        with self._lock:
            table = self._tables.get(directory.path)
            if table is None:
                table = self._tables[directory.path] = _names_in(directory)
            if table.get(digits) != name:
                _append_row(directory, f"{digits},{field}\n")
                table[digits] = name


def _append_row(directory: OutputDirectory, row: str) -> None:
    fd = directory.open(_FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not written into, because it is no file")
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
    except OSError as error:
        path = str(directory.path / _FILE_NAME)
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        os.close(fd)
