"""Recognition of converted files that need not be written again."""

from __future__ import annotations

import os
import stat

from fastdump._convert.output_directory import OutputDirectory


def is_complete(
    directory: OutputDirectory, name: str, head: bytes, nbytes: int, not_before_ns: int
) -> bool:
    """Tell whether a file is the same as what would be written.

    A file gets its name when it is complete. It may still be from other options or an older dump,
    or cut by a crash of the system. So its beginning, which tells element type and shape, its size
    and its time have to be right.

    Parameters
    ----------
    directory, name
        The file.
    head
        How it should begin.
    nbytes
        Its size.
    not_before_ns
        When the dump was last modified, in nanoseconds since 1970.
    """
    try:
        # O_NONBLOCK: should this be a pipe, nothing waits for a writer.
        descriptor = directory.open(name, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or info.st_size != nbytes:
            return False
        return info.st_mtime_ns >= not_before_ns and os.pread(descriptor, len(head), 0) == head
    except OSError:
        return False
    finally:
        os.close(descriptor)
