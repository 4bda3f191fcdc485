"""A column of paths by directory, without a string for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._table.arrow_column import buffer_bytes, exported, part_ends
from fastdump._table.buffers import text_column

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray

_SLASH = ord("/")
_WORD = 8
_ROWS = 1 << 16
"""So many rows are looked at together: memory is needed for these only."""


def occurs(text: bytes, paths: Array) -> bool:
    """Tell whether a text occurs in some path, or where one ends and the next begins.

    That is no look at each path, and takes a fraction of the time.
    """
    if not len(paths):
        return False
    array, _capsule = exported(paths)
    ends = part_ends(array, paths.type)
    for row in range(0, len(paths), _ROWS):
        begin, end = int(ends[row]), int(ends[min(row + _ROWS, len(paths))])
        if text in buffer_bytes(array.buffers[2], begin, end - begin).tobytes():
            return True
    return False


class PathColumn:
    """The paths of a column, of which many follow each other that have one directory.

    Parameters
    ----------
    column
        A text column without nulls.

    Attributes
    ----------
    directory : ndarray of int64, shape (rows,)
        Index into `directories` of each row.
    directories : list of str
        The distinct directories, with the slash that ends them, in the order of appearance; "" for
        names without a directory.
    """

    def __init__(self, column: Array) -> None:
        # The capsule keeps the bytes alive.
        array, self._capsule = exported(column)
        ends = part_ends(array, column.type).astype(np.int64) if len(column) else np.zeros(1, int)
        first = int(ends[0])
        self._data = buffer_bytes(array.buffers[2] or 0, first, int(ends[-1]) - first)
        self._starts, self._ends = ends[:-1] - first, ends[1:] - first
        self._names = np.empty(len(column), np.int64)
        is_new = np.ones(len(column), np.bool_)
        for row in range(0, len(column), _ROWS):
            self._find_names(row, row + _ROWS)
            self._compare_directories(row, row + _ROWS, is_new)
        codes: dict[str, int] = {}
        rows = np.flatnonzero(is_new)
        firsts = list(column.take(rows).to_pylist()) if len(column) else []
        of_run = [codes.setdefault(path[: path.rfind("/") + 1], len(codes)) for path in firsts]
        self.directories = list(codes)
        self.directory = np.array(of_run, np.int64)[np.cumsum(is_new) - 1]

    def _find_names(self, first: int, end: int) -> None:
        """Find where the names of files begin in some rows."""
        starts, ends = self._starts[first:end], self._ends[first:end]
        slashes = starts[0] + np.flatnonzero(self._data[starts[0] : ends[-1]] == _SLASH)
        after = np.concatenate(([-1], slashes))[np.searchsorted(slashes, ends)] + 1
        self._names[first:end] = np.maximum(after, starts)

    def _compare_directories(self, first: int, end: int, is_new: NDArray[np.bool_]) -> None:
        """Set `is_new` to False in those of some rows that have the directory of the row before."""
        starts = self._starts[max(first - 1, 0) : end]
        sizes = self._names[max(first - 1, 0) : end] - starts
        rows = np.flatnonzero(sizes[1:] == sizes[:-1]) + 1
        size = sizes[rows]
        same = [
            rows[size == 0],
            self._same_bytes(starts, sizes, rows[(size > 0) & (size < _WORD)], np.dtype(np.uint8)),
            self._same_bytes(starts, sizes, rows[size >= _WORD], np.dtype(np.uint64)),
        ]
        rows = np.concatenate(same)
        is_new[max(first - 1, 0) + rows] = False

    def _same_bytes(
        self,
        starts: NDArray[np.int64],
        sizes: NDArray[np.int64],
        rows: NDArray[np.int64],
        dtype: np.dtype[np.unsignedinteger[Any]],
    ) -> NDArray[np.int64]:
        """Return the rows whose bytes are those of the row before, compared word by word."""
        if not len(rows):
            return rows
        # Words may begin anywhere and overlap.
        width = dtype.itemsize
        n_words = len(self._data) - width + 1
        words: NDArray[Any] = np.ndarray((n_words,), dtype, self._data.data, strides=(1,))
        for place in range(0, int(sizes[rows].max()), width):
            at = np.minimum(place, sizes[rows] - width)
            rows = rows[words[starts[rows] + at] == words[starts[rows - 1] + at]]
        return rows

    def in_directories(self, directories: Sequence[str]) -> Array:
        """Return the paths with other directories, each in the place of one of `directories`."""
        texts = [directory.encode() for directory in directories]
        ends = np.cumsum([0, *map(len, texts)])
        pool = np.frombuffer(b"".join(texts), np.uint8)
        # Each path is two pieces: its directory, of the pool, and its name, behind the pool.
        first, last = ends[self.directory], ends[self.directory + 1]
        starts = np.stack([first, len(pool) + self._names], axis=1)
        lengths = np.stack([last - first, self._ends - self._names], axis=1)
        offsets, text = _gathered(
            np.concatenate([pool, self._data]), starts.ravel(), lengths.ravel()
        )
        return text_column(offsets[::2], text)

    def begin_with(self, letters: bytes) -> NDArray[np.bool_]:
        """Return which names of files begin with one of some letters."""
        found = np.zeros(len(self._names), np.bool_)
        known = np.flatnonzero(self._names < self._ends)
        found[known] = np.isin(self._data[self._names[known]], np.frombuffer(letters, np.uint8))
        return found

    def have_at_end(self, text: bytes, n_after: int = 0) -> NDArray[np.bool_]:
        """Return which paths have some text followed by as many bytes at their end."""
        places = self._ends - n_after - len(text)
        rows = np.flatnonzero(places >= self._starts)
        for i, letter in enumerate(text):
            rows = rows[self._data[places[rows] + i] == letter]
        found = np.zeros(len(places), np.bool_)
        found[rows] = True
        return found


def _gathered(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return pieces of `data` one after the other: where each begins, the end, and the bytes."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
    return offsets, data[places]
