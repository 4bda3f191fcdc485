"""The order of execution, in which a scan lists rows, for rows of several tables.

`core/tree/execution_order.cpp` orders the rows of a scan; here is the same order by columns: where,
then timestamp, stream, task, what is unknown last, then the walk through the directories. Rows of
one table that are equal in all that come as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump import _core
from fastdump._selection import IO
from fastdump._table.arrow_column import (
    NULL_CODE,
    codes_of,
    integer_array,
    is_null,
    shared_integers,
)
from fastdump._table.directories import as_shown, directories_of, root_above
from fastdump._tensor.shown_path import unescaped

if TYPE_CHECKING:
    from arro3.core import Array, RecordBatch
    from numpy.typing import NDArray

_LAST = np.iinfo(np.int64).max
_LAST_TEXT = np.iinfo(np.int32).max
_ROWS = 1 << 16
"""Rows that are compared at once stay in the cache."""

_IDENTITY = ("op_type", "op_name", "context_id", "thread_id", "io", "index", "offset")
"""What tells rows of one file apart that were executed at once."""

COLUMNS = (
    *_IDENTITY,
    *("rank", "time", "device", "model", "model_id", "step"),
    *("timestamp", "stream_id", "task_id", "path"),
)
"""What the order is found by."""


def by_execution(batch: RecordBatch, root: str | None) -> NDArray[np.int64]:
    """Return the rows of one table in the order of execution."""
    return _sorted([*_when(batch), _places(batch, root)])


class JoinedRows:
    """Rows of several tables, one table after the other, and the order that they have together.

    Parameters
    ----------
    batch
        All rows.
    table_of
        The number of the table that each row is of.
    root
        The directory that paths are relative to, if it is known.
    roots
        What was scanned, in the order of the scan.

    Attributes
    ----------
    order
        The rows in the order of execution, shape (rows,).
    collision
        Two rows of different tables that are about the same tensor; None if there are none.
    """

    def __init__(
        self,
        batch: RecordBatch,
        table_of: NDArray[np.int32],
        root: str | None,
        roots: Sequence[str],
    ) -> None:
        self._batch, self._table_of = batch, table_of
        self._root, self._roots = root, roots
        self.collision: tuple[int, int] | None = None
        keys = [*_when(batch), _places(batch, root)]
        self.order = _sorted(keys)
        self._order_ties(keys)

    def _order_ties(self, keys: list[NDArray[Any]]) -> None:
        """Order rows of several tables that were executed at one place and time."""
        tied = self._mixed(keys)
        if not len(tied):
            return
        rows = self.order[tied]
        part = self._batch.take(rows)
        run = _numbers_of_runs([key[rows] for key in keys])
        path_codes, paths = codes_of(part.column("path"))
        path = self._ranks_in_walk(paths)[path_codes]
        table = self._table_of[rows]
        # A file of which several tables have rows was cut by tensors: as its header lists them.
        tensor = np.lexsort([*_in_header(part)])
        rank_in_header = np.empty(len(rows), np.int64)
        rank_in_header[tensor] = np.arange(len(rows))
        rank_in_header[~_is_shared(path_codes, table)] = 0
        ordered = np.lexsort([rank_in_header, path, run])
        self.order[tied] = rows[ordered]
        self._find_collision(part, rows, [run, path])

    def _mixed(self, keys: list[NDArray[Any]]) -> NDArray[np.int64]:
        """Return the places in the order where rows of several tables have equal keys."""
        if not len(self.order):
            return self.order
        begins = np.flatnonzero(_begins_of_runs(key[self.order] for key in keys))
        table = self._table_of[self.order]
        first, last = np.minimum.reduceat(table, begins), np.maximum.reduceat(table, begins)
        mixed = np.flatnonzero(first != last)
        ends = np.append(begins[1:], len(self.order))
        return _ranges(begins[mixed], ends[mixed])

    def _ranks_in_walk(self, paths: list[str]) -> NDArray[np.int64]:
        """Return when the walk comes to each file: files of a directory, then those below it."""
        first = {as_shown(root): i for i, root in reversed(list(enumerate(self._roots)))}
        above = as_shown(self._root or "")
        keys: dict[str, tuple[int, list[bytes]]] = {}

        def key(path: str) -> tuple[int, list[bytes], bytes]:
            directory, _, name = path.rpartition("/")
            if directory not in keys:
                absolute = os.path.normpath(os.path.join(above, directory))  # noqa: PTH118
                components = [unescaped(part.encode()) for part in absolute.split("/")]
                keys[directory] = (root_above(absolute, first), components)
            root, components = keys[directory]
            own = first.get(os.path.normpath(os.path.join(above, path)), root)  # noqa: PTH118
            return own, components, unescaped(name.encode())

        ranks = np.empty(len(paths), np.int64)
        ranks[sorted(range(len(paths)), key=[key(path) for path in paths].__getitem__)] = np.arange(
            len(paths)
        )
        return ranks

    def _find_collision(
        self, part: RecordBatch, rows: NDArray[np.int64], place: list[NDArray[np.int64]]
    ) -> None:
        identity = [_integers(part.column(name), name) for name in _IDENTITY]
        columns: list[NDArray[Any]] = [*place, *identity]
        table: NDArray[Any] = self._table_of[rows]
        order = np.lexsort([table, *columns])
        run = _numbers_of_runs([column[order] for column in columns])
        same = (np.diff(run) == 0) & (np.diff(table[order]) != 0)
        if same.any():
            # The first in the order of execution is the first that the message is about.
            at = np.flatnonzero(same)
            first = at[np.argmin(rows[order[at]])]
            self.collision = int(rows[order[first]]), int(rows[order[first + 1]])


def _sorted(keys: list[NDArray[Any]]) -> NDArray[np.int64]:
    """Return what numpy.lexsort does, which takes a while also where all rows are in order."""
    n_rows = len(keys[0])
    for first in range(0, n_rows, _ROWS):
        some = [key[first : first + _ROWS + 1] for key in reversed(keys)]
        equal = np.ones(len(some[0]) - 1, np.bool_)
        for key in some:
            if (equal & (key[1:] < key[:-1])).any():
                return np.lexsort(keys)
            equal &= key[1:] == key[:-1]
    return np.arange(n_rows)


def _when(batch: RecordBatch) -> list[NDArray[Any]]:
    """Return keys of the rows, the last of which counts most: task, stream, timestamp."""
    return [key for name in ("task_id", "stream_id", "timestamp") for key in _keys(batch, name)]


def _keys(batch: RecordBatch, name: str) -> list[NDArray[Any]]:
    """Return keys of a column of integers, of which the last counts most: null comes last."""
    column = batch.column(name)
    values = shared_integers(column)
    # Where all are known, or none is, that tells no rows apart.
    return [values, is_null(column)] if 0 < column.null_count < len(column) else [values]


def _places(batch: RecordBatch, root: str | None) -> NDArray[np.int32]:
    """Return the rank of where each row was dumped, shape (rows,)."""
    where: list[NDArray[Any]] = []  # what counts most comes first
    for name in ("rank", "time", "device", "model", "model_id", "step"):
        column = batch.column(name)
        if name in ("time", "model"):
            # A directory without a model comes before those with one.
            where.append(_text_ranks(column, null=_LAST_TEXT if name == "time" else NULL_CODE))
        elif name == "device":
            values, unknown = shared_integers(column), is_null(column)
            values, unknown = _device_of_directory(batch, root, values, unknown)
            where += [unknown, values]
        else:
            where += reversed(_keys(batch, name))
    is_first = _begins_of_runs(where)
    begins = np.flatnonzero(is_first)
    if not len(begins):
        return np.empty(0, np.int32)
    heads = [key[begins] for key in where]
    order = np.lexsort(heads[::-1])
    ranks = np.empty(len(begins), np.int32)
    ranks[order] = _numbers_of_runs([head[order] for head in heads])
    return np.repeat(ranks, np.diff(begins, append=len(is_first)))


def _device_of_directory(
    batch: RecordBatch,
    root: str | None,
    values: NDArray[np.int64],
    unknown: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return devices as directories tell them: a file's name may tell one where they do not."""
    named = np.flatnonzero(~is_null(batch.column("context_id")))
    if not len(named):
        return values, unknown
    codes, directories = directories_of(batch.column("path").take(named))
    above = root or ""
    devices = [
        _core.directory_device(os.fsencode(os.path.join(above, directory)))  # noqa: PTH118
        for directory in directories
    ]
    values, unknown = values.copy(), unknown.copy()
    values[named] = np.array([device or 0 for device in devices], np.int64)[codes]
    unknown[named] = np.array([device is None for device in devices], np.bool_)[codes]
    return values, unknown


def _text_ranks(column: Array, *, null: int) -> NDArray[np.int32]:
    """Return the rank of each text among the distinct ones by its bytes; `null` for null."""
    codes, texts = codes_of(column)
    ranks = np.empty(len(texts) + 1, np.int32)
    order = sorted(range(len(texts)), key=[unescaped(text.encode()) for text in texts].__getitem__)
    ranks[order] = np.arange(len(texts))
    ranks[NULL_CODE] = null
    return ranks[codes]


def _integers(column: Array, name: str) -> NDArray[np.int64]:
    """Return integers that are equal where the elements are."""
    if name in ("op_type", "op_name", "io"):
        return codes_of(column)[0]
    return integer_array(column, null=_LAST)


def _in_header(part: RecordBatch) -> list[NDArray[np.int64]]:
    """Return keys of tensors of one file, the last of which counts most."""
    codes, texts = codes_of(part.column("io"))
    ranks = [IO.index(text) if text in IO else len(IO) for text in texts]
    io = np.array([*ranks, len(IO)], np.int64)[codes]
    offset = integer_array(part.column("offset"), null=_LAST)
    return [integer_array(part.column("index"), null=_LAST), io, offset]


def _is_shared(path: NDArray[np.int64], table: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which rows are of a file of which several tables have rows."""
    first = np.full(int(path.max()) + 1, _LAST)
    last = np.zeros(len(first), np.int64)
    np.minimum.at(first, path, table)
    np.maximum.at(last, path, table)
    return np.asarray((first != last)[path])


def _begins_of_runs(keys: Iterable[NDArray[Any]]) -> NDArray[np.bool_]:
    """Return which elements differ from the one before in one of the keys, and the first."""
    begins = np.empty(0, np.bool_)
    for key in keys:
        if not len(begins):
            begins = np.zeros(len(key), np.bool_)
            begins[:1] = True
        begins[1:] |= key[1:] != key[:-1]
    return begins


def _numbers_of_runs(keys: Iterable[NDArray[Any]]) -> NDArray[np.int64]:
    """Return the number of the run of equal keys that each element is in, from 0 on."""
    return np.cumsum(_begins_of_runs(keys)) - 1


def _ranges(begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all numbers of some ranges, one range behind the other."""
    lengths = ends - begins
    offsets = np.cumsum(lengths) - lengths
    return np.repeat(begins - offsets, lengths) + np.arange(lengths.sum())
