"""The states of files when a table was made of them, so that they are not taken for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from fastdump._table.arrow_column import (
    codes_of,
    integer_array,
    is_null,
    is_same_memory,
    text_codes,
)
from fastdump._table.buffers import column_with_nulls
from fastdump._table.joined_columns import joined

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray


class FileStates:
    """States by path, as long as the process lives: a table in a file has none.

    Parameters
    ----------
    paths, states
        Columns of text and of integers, null where a file could not be read as a whole.
    """

    __slots__ = ("_by_path", "_parts")

    def __init__(self, paths: Array | None = None, states: Array | None = None) -> None:
        # Joined when they are asked for: few tables ever are.
        self._parts = [] if paths is None or states is None else [(paths, states)]
        self._by_path: dict[str, int] | None = None

    @classmethod
    def known(cls, paths: Array, states: NDArray[np.int64]) -> FileStates:
        """Return the states of some files, 0 where it is not known."""
        return cls(paths, column_with_nulls(states, states != 0))

    @property
    def _columns(self) -> tuple[Array, Array] | None:
        if len(self._parts) > 1:
            paths, states = zip(*self._parts, strict=True)
            self._parts = [(joined(paths), joined(states))]
        return self._parts[0] if self._parts else None

    def beside(self, paths: Array) -> Array | None:
        """Return the states of the files of some rows if they were given for these; else None.

        Parameters
        ----------
        paths
            The column of paths, not a copy of it.
        """
        if len(self._parts) != 1:
            return None
        known_paths, states = self._parts[0]
        return states if is_same_memory(known_paths, paths) else None

    def of(self, path: str) -> int | None:
        """Return the state of a file, by its path in the table; None if it is not known."""
        if self._by_path is None:
            self._by_path = {} if self._columns is None else _by_path(*self._columns)
        return self._by_path.get(path)

    def of_all(self, paths: Array) -> NDArray[np.int64]:
        """Return the states of files by a column of their paths, 0 where it is not known."""
        if self._columns is None or not len(paths):
            return np.zeros(len(paths), np.int64)
        known_paths, states = self._columns
        if is_same_memory(known_paths, paths):
            return integer_array(states)
        codes = text_codes(joined((known_paths, paths)))
        of_code = np.zeros(codes.max(initial=0) + 1, np.int64)
        of_code[codes[: len(known_paths)]] = integer_array(states)
        return of_code[codes[len(known_paths) :]]

    @property
    def of_rows(self) -> NDArray[np.int64]:
        """The states as they were given, one for each path; 0 for null."""
        return np.empty(0, np.int64) if self._columns is None else integer_array(self._columns[1])

    def renamed(self, rename: Callable[[Array], Array]) -> FileStates:
        """Return the same states of files whose paths in the table `rename` changes."""
        if self._columns is None:
            return self
        paths, states = self._columns
        return FileStates(rename(paths), states)

    @staticmethod
    def joined(several: Iterable[FileStates]) -> FileStates:
        """Return the states of all files of several tables."""
        found = FileStates()
        found._parts = [part for states in several for part in states._parts]
        return found

    def __reduce__(self) -> tuple[object, ...]:
        # The files may be others where a pickle is read.
        return FileStates, ()


def _by_path(paths: Array, states: Array) -> dict[str, int]:
    codes, texts = codes_of(paths)
    known = ~is_null(states)
    found, rows = np.unique(codes[known], return_index=True)
    values = integer_array(states)[known][rows].tolist()
    return {texts[code]: value for code, value in zip(found.tolist(), values, strict=True)}
