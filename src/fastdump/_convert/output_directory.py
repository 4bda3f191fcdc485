"""The directories that converted files go to, reached without following links on the way.

Whoever may write into the output directory could otherwise plant links there that lead elsewhere.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fastdump._atomic import replacing_in

_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_BELOW = _READ | os.O_NOFOLLOW
_NO_DIRECTORY = (errno.ENOTDIR, errno.ELOOP)


@dataclass(frozen=True, slots=True)
class OutputDirectory:
    """An open directory, with the path by which errors name it."""

    descriptor: int
    path: Path

    def replacing(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Provide a file that gets this name here when it is complete, as `_atomic` does."""
        return replacing_in(self.descriptor, name, self.path / name)

    def open(self, name: str, flags: int) -> int:
        """Open a file here, unless it is a link, and return its descriptor."""
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(name, flags, 0o666, dir_fd=self.descriptor)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path / name)) from error

    @contextmanager
    def below(self, relative: Path) -> Iterator[OutputDirectory]:
        """Open a directory below this one; it and those above it are made if need be.

        Raises
        ------
        OSError
            If one of them is a link, or something else than a directory.
        """
        descriptor, path = os.dup(self.descriptor), self.path
        try:
            for part in relative.parts:
                path = path / part
                below = _made(part, descriptor, path)
                os.close(descriptor)
                descriptor = below
            yield OutputDirectory(descriptor, path)
        finally:
            os.close(descriptor)


@contextmanager
def opened(path: Path) -> Iterator[OutputDirectory]:
    """Open a directory that the user names, which may be a link; it is made if need be."""
    path.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, _READ)
    try:
        yield OutputDirectory(descriptor, path)
    finally:
        os.close(descriptor)


def _made(name: str, above: int, path: Path) -> int:
    """Return the descriptor of a directory in another one, which is made if it is not there."""
    try:
        try:
            return os.open(name, _BELOW, dir_fd=above)
        except FileNotFoundError:
            with suppress(FileExistsError):  # another thread may have been faster
                os.mkdir(name, dir_fd=above)
            return os.open(name, _BELOW, dir_fd=above)
    except OSError as error:
        why = error.strerror
        if error.errno in _NO_DIRECTORY:
            why = "not a directory, and links in the output directory are not followed"
        raise OSError(error.errno, why, str(path)) from error
