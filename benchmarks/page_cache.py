"""The page cache of single files, which their owner may drop; Linux only."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path


def drop_from_cache(path: Path) -> None:
    """Make the next reader of a file wait for the disk.

    Raises
    ------
    OSError
        If the system still holds some of it.
    """
    with path.open("rb") as file:
        os.fsync(file.fileno())  # a page that is not on the disk yet stays
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    left = cached_share(path)
    if left > 0.01:
        raise OSError(f"{left:.0%} of {path} stay in the page cache")


def cached_share(path: Path) -> float:
    """Return which part of a file that is not empty lies in the page cache."""
    libc = ctypes.CDLL(None, use_errno=True)
    # A private mapping: ctypes tells the address of writable memory only.
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        n_pages = -(-len(mapped) // mmap.PAGESIZE)
        resident = (ctypes.c_ubyte * n_pages)()
        first = ctypes.c_char.from_buffer(mapped)
        address = ctypes.c_void_p(ctypes.addressof(first))
        del first  # else the mapping cannot be closed
        if libc.mincore(address, ctypes.c_size_t(len(mapped)), resident) != 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), str(path))
        return bytes(resident).count(b"\1") / n_pages
