"""The directories in a column of paths, and the same files seen from another directory.

Nothing here makes a Python object for each row, only for each directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from fastdump._table.joined_columns import joined
from fastdump._table.path_column import PathColumn

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray

_ROWS = 1 << 16
"""Paths that are cut at once: what this takes beside the column is some 50 MiB."""


def directories_of(paths: Array) -> tuple[NDArray[np.int64], list[str]]:
    """Return which directory each file lies in: its number, and the distinct directories.

    Parameters
    ----------
    paths
        A column of paths without nulls.

    Returns
    -------
    codes : numpy.ndarray
        Index of the directory, shape (rows,).
    directories : list of str
        Each with a slash at its end; "" for a path that is only a name.
    """
    numbers: dict[str, int] = {}
    parts = [np.empty(0, np.int64)]
    for part in _parts_of(paths):
        own = [numbers.setdefault(text, len(numbers)) for text in part.directories]
        parts.append(np.array(own, np.int64)[part.directory])
    return np.concatenate(parts), list(numbers)


def in_directories(paths: Array, changed: Callable[[str], str]) -> Array:
    """Return the paths with other directories.

    Parameters
    ----------
    paths
        A column of paths without nulls.
    changed
        Function that takes and returns a directory, both as of `directories_of`.
    """
    _, directories = directories_of(paths)
    others = {directory: changed(directory) for directory in directories}
    if all(directory == other for directory, other in others.items()):
        return paths
    return joined(
        [
            part.in_directories([others[directory] for directory in part.directories])
            for part in _parts_of(paths)
        ]
    )


def seen_from(base: str, root: str) -> Callable[[str], str]:
    """Return what makes a directory relative to `base` that is relative to `root`.

    The function raises ValueError for a directory that is not below `base`.
    """
    shown_base, shown_root = as_shown(base), as_shown(root)

    def changed(directory: str) -> str:
        path = os.path.normpath(os.path.join(shown_root, directory))  # noqa: PTH118
        relative = os.path.relpath(path, shown_base)
        if relative == os.curdir:
            return ""
        if relative.split("/", 1)[0] == os.pardir:
            raise ValueError(f"base is {base!r}, which {path!r} is not below")
        return f"{relative}/"

    return changed


def as_shown(path: str) -> str:
    r"""Return a path as tables show it: bytes that are no UTF-8 as ``\xNN``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def root_above(directory: str, roots: Mapping[str, int]) -> int:
    """Return the number of the innermost root that a directory is below; that of none is large."""
    while directory not in roots:
        above = os.path.dirname(directory)  # noqa: PTH120
        if above == directory:
            return len(roots)
        directory = above
    return roots[directory]


def _parts_of(paths: Array) -> Iterator[PathColumn]:
    """Yield some rows after the other, so that memory beside the column is needed for few."""
    for first in range(0, len(paths), _ROWS):
        yield PathColumn(paths.slice(first, min(_ROWS, len(paths) - first)))
