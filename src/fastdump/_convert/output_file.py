"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


def write_atomically(path: Path, buffers: Iterable[Buffer]) -> None:
    """Write a file under another name, and give it its name when it is complete.

    A file of that name is replaced. If anything fails, or ends the iteration of `buffers`, what was
    written is removed and a file that had the name before stays.

    Parameters
    ----------
    path
        Where; the directory has to be there.
    buffers
        What, piece by piece.

    Raises
    ------
    OSError
        If the file cannot be written; with the file's name. Those of `buffers` are passed on.
    """
    # Of its own for each file, so that processes that convert the same do not meet.
    temporary = path.with_name(f".fastdump-{secrets.token_hex(8)}.part")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            try:
                for buffer in buffers:
                    _write_all(fd, memoryview(buffer))
            finally:
                # Some file systems tell here that the disk is full.
                os.close(fd)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        # The temporary name tells nobody anything; an error of os.write has none.
        if error.filename is None or os.fsdecode(error.filename) == str(temporary):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def is_complete(path: Path, head: bytes, nbytes: int, not_before_ns: int) -> bool:
    """Tell whether a file is what would be written again.

    Whatever has its name was complete when it got that. It may have been written with other
    options, or before the dump was, or cut by a crash of the system: the beginning, which tells
    element type and shape, the size and the time have to be right.

    Parameters
    ----------
    path
        The file.
    head
        How it should begin.
    nbytes
        Its size.
    not_before_ns
        When the dump was last modified, in nanoseconds since 1970.
    """
    try:
        info = path.lstat()
        if not stat.S_ISREG(info.st_mode) or info.st_size != nbytes:
            return False
        if info.st_mtime_ns < not_before_ns:
            return False
        if not head:
            return True
        with path.open("rb", buffering=0) as file:
            return file.read(len(head)) == head
    except OSError:
        return False


def _write_all(fd: int, data: memoryview) -> None:
    while len(data):
        data = data[os.write(fd, data) :]
