"""Recognition of converted files that need not be written again."""

from __future__ import annotations

import stat
from pathlib import Path


def is_complete(path: Path, head: bytes, nbytes: int, not_before_ns: int) -> bool:
    """Tell whether a file is the same as what would be written.

    A file gets its name when it is complete. It may still be from other options or an older dump,
    or cut by a crash of the system. So its beginning, which tells element type and shape, its size
    and its time have to be right.

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
