"""Files that exist whole or not at all: they get their name when they are complete.

What had the name before stays until then, and what replaces it gets its mode and owner. Only
regular files are replaced. A pipe or a device that is named is written into.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_READ_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# O_NOCTTY: a terminal that is written to must not become that of the process.
_WRITE_INTO = os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

# Names of open files of this process: replacing what is open would lose what else is written there.
_DESCRIPTORS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")

_REFUSED = {
    stat.S_IFSOCK: "it is a socket",
    stat.S_IFBLK: "it is a block device",
    stat.S_IFIFO: "it is a pipe",
    stat.S_IFCHR: "it is a device",
}
# File systems that know neither owners nor modes, or do not synchronise, say so with these.
_NOT_SUPPORTED = (errno.EPERM, errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Provide a file that takes the place of `path` when the block ends without an exception.

    After an exception, the new file is removed, and a file that had the name before stays. If
    `path` is a symbolic link, the file that it points to is replaced, not the link. When the block
    has ended, a crash of the system leaves the old content or the new one.

    Parameters
    ----------
    path
        The file. A pipe or a character device is not replaced but written into.

    Raises
    ------
    OSError
        If the file cannot be written, with its name; exceptions of the block are passed on.
    """
    check_replaceable(path)
    with _naming(path):
        if _is_written_into(path):
            with os.fdopen(os.open(path, _WRITE_INTO), "wb") as stream:
                yield stream
            return
        target = os.path.realpath(path)
        directory = os.open(os.path.dirname(target), _READ_DIRECTORY)  # noqa: PTH120
        try:
            with replacing_in(directory, os.path.basename(target), path, durable=True) as file:  # noqa: PTH119
                yield file
        finally:
            os.close(directory)


@contextmanager
def replacing_in(
    directory: int, name: str, shown: Path, *, durable: bool = False
) -> Iterator[IO[bytes]]:
    """Provide a file that takes the place of one in an open directory, as `replacing` does.

    If there is a symbolic link of this name, it is replaced itself.

    Parameters
    ----------
    directory
        The descriptor of the directory.
    name
        The name of the file in it.
    shown
        The path that errors name.
    durable
        Whether a crash of the system must leave a whole file even if it replaces none.

    Raises
    ------
    OSError
        If the file cannot be written, or would replace something else than a file.
    """
    # The name is random, so that processes which write the same file do not collide. Files of the
    # module tempfile would be unreadable for other users.
    temporary = f".fastdump-{secrets.token_hex(8)}.part"
    with _naming(shown, temporary):
        old = _regular(directory, name, shown)
        is_created = False
        try:
            # Nobody else may read what replaces a file that only its owner could read.
            mode = 0o666 if old is None else 0o600
            descriptor = os.open(temporary, _CREATE, mode, dir_fd=directory)
            is_created = True
            # The file is closed here, because some file systems report a full disk only then.
            with os.fdopen(descriptor, "wb") as file:
                if old is not None:
                    _take_after(file.fileno(), old)
                yield file
                if durable or old is not None:
                    file.flush()
                    _synchronise(file.fileno())
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException as error:
            # An interruption may come between the call that makes the file and the next line.
            if is_created or not isinstance(error, OSError):
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=directory)
            raise
        if durable or old is not None:
            _synchronise(directory)


def check_replaceable(path: Path) -> None:
    """Raise OSError if `replacing` would because of what there is now."""
    with _naming(path):
        target = os.path.realpath(path)
        directory = os.path.dirname(target)  # noqa: PTH120
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116
        except FileNotFoundError:
            if not os.path.isdir(directory):  # noqa: PTH112
                raise FileNotFoundError(
                    errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent)
                ) from None
        else:
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            if _is_written_into(path):
                return
            _check_regular(mode, path)
        if not os.access(directory, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), directory)


def _is_written_into(path: Path) -> bool:
    """Tell whether a path leads to a pipe, a character device, or an open file of this process."""
    if str(path).startswith(_DESCRIPTORS):
        return True
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116
    except FileNotFoundError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _regular(directory: int, name: str, shown: Path) -> os.stat_result | None:
    """Return the state of the file that is to be replaced, None if there is none."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(shown))
    _check_regular(found.st_mode, shown)
    return found


def _check_regular(mode: int, shown: Path) -> None:
    if (why := _REFUSED.get(stat.S_IFMT(mode))) is not None:
        raise OSError(errno.EINVAL, f"not replaced, because {why}", str(shown))


def _take_after(descriptor: int, old: os.stat_result) -> None:
    """Give a file the owner, the group and the mode of another, as far as that is permitted."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except OSError:
            # Members of the old group can read it still, even if its owner is another now.
            with suppress(OSError):
                os.fchown(descriptor, -1, old.st_gid)
    with _unless_not_supported():
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def _synchronise(descriptor: int) -> None:
    with _unless_not_supported():
        os.fsync(descriptor)


@contextmanager
def _unless_not_supported() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise


@contextmanager
def _naming(shown: Path, temporary: str | None = None) -> Iterator[None]:
    """Give errors the name of the file: a failed write has none, and the temporary one tells none.

    A BrokenPipeError stays one.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None or error.filename == temporary:
            raise OSError(error.errno, error.strerror, str(shown)) from error
        raise
