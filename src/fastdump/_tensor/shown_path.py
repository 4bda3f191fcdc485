r"""Paths as tables show them: bytes that are not UTF-8 are written as ``\xNN``."""

from __future__ import annotations

import os
import re

from fastdump._arguments import is_directory

_ESCAPED = re.compile(rb"\\x([89a-f][0-9a-f])")


def unescaped(name: bytes) -> bytes:
    r"""Return a name with each ``\xNN`` replaced by the byte that it stands for."""
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[1].decode()), name)


def file_of(root: str, shown: str) -> str:
    """Return the path to open a file with that a table shows.

    Parameters
    ----------
    root
        The directory that the path is relative to; empty for the current one.
    shown
        The path in the table.
    """
    path = os.path.join(root, shown)  # noqa: PTH118
    encoded = os.fsencode(shown)
    # The path as it is shown comes first, because a name may really contain a backslash.
    if not _ESCAPED.search(encoded) or os.path.lexists(path):
        return path
    return os.path.join(root, os.fsdecode(unescaped(encoded)))  # noqa: PTH118


def root_of(paths: list[bytes]) -> str:
    """Return the absolute directory that paths in a table of these files are relative to.

    Paths below a single directory are relative to it. The path of a single file is its name, and
    the paths of several roots begin with the root as it was given: the directory is the current
    one, or ``/`` if that was removed and all roots are absolute.

    Raises
    ------
    OSError
        If it cannot be told what the path leads to.
    """
    if len(paths) > 1:
        try:
            return os.getcwd()  # noqa: PTH109
        except FileNotFoundError:
            if not all(map(os.path.isabs, paths)):
                raise
            return os.sep
    path = os.path.abspath(os.fsdecode(paths[0]))  # noqa: PTH100
    return path if is_directory(path) else os.path.dirname(path)  # noqa: PTH120
