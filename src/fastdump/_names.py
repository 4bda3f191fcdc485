"""The names in a directory: all of them, or an error."""

from __future__ import annotations

import os

_READ_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def names_in(directory: str) -> tuple[list[str], list[str]]:
    """Return the names of the directories in a directory, and those of all else, each list sorted.

    A link to a directory counts as no directory.

    Raises
    ------
    OSError
        If the directory cannot be listed whole.
    """
    directories: list[str] = []
    others: list[str] = []
    # os.open goes on after a signal, which os.scandir of a path does not.
    descriptor = os.open(directory, _READ_DIRECTORY)
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                names = directories if entry.is_dir(follow_symlinks=False) else others
                names.append(entry.name)
    except OSError as error:
        raise OSError(error.errno, error.strerror, directory) from error
    finally:
        os.close(descriptor)
    return sorted(directories), sorted(others)
