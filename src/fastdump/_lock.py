"""Files that say: one process at a time writes here."""

from __future__ import annotations

import errno
import fcntl
import os
import weakref
from contextlib import suppress

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)


class Lock:
    """A lock file that this process holds until it closes it or ends, however it ends.

    Where the file system has no locks, everybody gets one.

    Parameters
    ----------
    path
        The lock file, which is made if it is not there.
    is_temporary
        Whether the file is removed at the end.

    Raises
    ------
    BlockingIOError
        If another process holds it.
    OSError
        If the file cannot be made, or it cannot be told whether it is still there.
    """

    def __init__(self, path: str, *, is_temporary: bool = False) -> None:
        descriptor = _locked_at(path) if is_temporary else _locked(path)
        own = path if is_temporary else None
        self._release = weakref.finalize(self, _released, descriptor, own, os.getpid())

    def close(self) -> None:
        """Let others have it."""
        self._release()


def _locked_at(path: str) -> int:
    while True:
        descriptor = _locked(path)
        try:
            if _is_at(path, descriptor):
                return descriptor
        except OSError as error:
            _released(descriptor, path, os.getpid())
            raise OSError(error.errno, error.strerror, path) from None
        # Whoever held it before has removed the file between opening and locking.
        os.close(descriptor)


def _locked(path: str) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            os.close(descriptor)
            raise
    return descriptor


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))  # noqa: PTH116
    except FileNotFoundError:
        return False


def _released(descriptor: int, path: str | None, owner: int) -> None:
    # A child that was forked has the descriptor, too, but the file is not its own.
    if path is not None and os.getpid() == owner:
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108
    os.close(descriptor)
