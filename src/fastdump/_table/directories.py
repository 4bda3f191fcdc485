"""The directories in a column of paths, and the same files seen from another directory.

Nothing here makes a Python object for each row, only for each directory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from fastdump._table.arrow_column import buffer_bytes, codes_of, exported, part_ends
from fastdump._table.buffers import text_column
from fastdump._table.joined_columns import joined

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray

_ROWS = 1 << 16
"""Paths that are cut at once: what this takes beside the column is some 50 MiB."""

_SLASH = ord("/")


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
    for data, begins, _, names in _cut(paths):
        directories = text_column(*_gathered(data, begins, names - begins))
        codes, texts = codes_of(directories)
        own = [numbers.setdefault(text, len(numbers)) for text in texts]
        parts.append(np.array(own, np.int64)[codes])
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
    codes, directories = directories_of(paths)
    others = [changed(directory) for directory in directories]
    if others == directories:
        return paths
    texts = [directory.encode() for directory in others]
    ends = np.cumsum([0, *map(len, texts)])
    pool = np.frombuffer(b"".join(texts), np.uint8)
    parts, first = [], 0
    for data, _, ends_of_rows, names in _cut(paths):
        own = codes[first : first + len(names)]
        first += len(names)
        # Each path is two pieces: its directory, of the pool, and its name, behind the pool.
        starts = np.stack([ends[own], len(pool) + names], axis=1)
        lengths = np.stack([ends[own + 1] - ends[own], ends_of_rows - names], axis=1)
        offsets, text = _gathered(np.concatenate([pool, data]), starts.ravel(), lengths.ravel())
        parts.append(text_column(offsets[::2], text))
    return joined(parts)


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


def _cut(
    paths: Array,
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield some rows' bytes, and where each path begins, ends, and has its file's name."""
    for first in range(0, len(paths), _ROWS):
        part = paths.slice(first, min(_ROWS, len(paths) - first))
        array, _capsule = exported(part)
        ends = part_ends(array, part.type).astype(np.int64)
        data = buffer_bytes(array.buffers[2], int(ends[0]), int(ends[-1] - ends[0])).copy()
        ends -= ends[0]
        slashes = np.concatenate([[-1], np.flatnonzero(data == _SLASH)])
        last = slashes[np.searchsorted(slashes, ends[1:]) - 1]
        yield data, ends[:-1], ends[1:], np.maximum(last + 1, ends[:-1])


def _gathered(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return pieces of `data` one after the other: where each begins, the end, and the bytes."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
    return offsets, data[places]
