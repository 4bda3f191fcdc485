"""The columns of a table as numpy arrays, and what follows from each row alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from arro3.core import list_flatten, list_offsets

from fastdump._arguments import INT64_MAX
from fastdump._array.elements import LARGEST_FINITE
from fastdump._op_name import in_file_name
from fastdump._selection import IO
from fastdump._table.arrow_column import (
    codes_of,
    is_in,
    is_null,
    shared_integers,
    shared_reals,
    short_text_codes,
    values,
)
from fastdump._table.distinct_codes import distinct_codes, runs_of
from fastdump._triage import counters
from fastdump._triage.order import numbered, positions

if TYPE_CHECKING:
    from arro3.core import Array, RecordBatch
    from numpy.typing import NDArray

    from fastdump._table.stats_table import StatsTable

INPUT, OUTPUT = 0, 1
NONE = -1
"""Stands for null in columns of numbers that cannot be negative."""

_AT_ONCE = 1 << 14
"""So many rows stay in the cache."""

_FLOATS = ("float", "bfloat", "hifloat", "complex")


class Rows:
    """What triage looks at in each row of a table, as arrays of shape (rows,).

    Attributes
    ----------
    table : StatsTable
        The table.
    lane : ndarray of int32
        The device of a rank, as an index into `lanes`. The operators of one lane follow each other
        in time.
    lanes : list of (int or None, int or None)
        Rank and device of each lane.
    step, timestamp : ndarray of int64
        For null, `step` has NONE and `timestamp` INT64_MAX.
    when : ndarray of int64
        Grows with time; equal where the order is not known.
    op : ndarray of int32
        Index into `ops`: the same operator in all steps and on all ranks.
    ops : list of (str, str)
        op_type and op_name of each operator, '' for null; the name lacks a counter that is another
        one in other steps.
    named : ndarray of int32
        Index into `named_ops`.
    named_ops : list of (str, str)
        Distinct pairs of op_type and op_name, as they are in the dump.
    counters_shift : bool
        Whether names end in a counter that is another one in other steps; see `counters`.
    signature : ndarray of uint64
        Equal where an operator has as many inputs and outputs, of the same types and shapes.
    op_type : ndarray of int64, shape (ops,)
        Index into `op_types` of each of `ops`.
    op_types : list of str
        Distinct types.
    io : ndarray of int8
        INPUT, OUTPUT, or something else.
    files : tuple of ndarray of int64
        The first row of each execution of an operator, as far as names tell, and of each row the
        number of its execution. Whoever makes use of it may delete it.
    dtype : ndarray of int8 or int32
        Index into `dtypes`.
    known : ndarray of bool
        Whether the row's statistics are of all elements of the tensor.
    nan_or_pos_inf, neg_inf : ndarray of bool
        Whether the tensor has such an element.
    n_saturated : ndarray of int64
        Number of elements at the largest finite value; 0 below level "full".
    content : ndarray of uint64
        Equal where size, type and all statistics are, so for equal bytes of one type.
    """

    def __init__(self, table: StatsTable) -> None:
        batch = table.batch
        self.table = table
        self._batch = batch
        self.n = batch.num_rows
        self.step = self._integers("step")
        self.task = self._integers("task_id")
        self.stream = self._integers("stream_id")
        self.thread = self._integers("thread_id")
        self.timestamp = shared_integers(batch.column("timestamp"), null=INT64_MAX)
        self.index = self._integers("index")
        self.nbytes = self._integers("nbytes")
        self.count = self._integers("count")
        self.offset = self._integers("offset")

        self.lane, self.lanes = _lanes(self._integers("rank"), self._integers("device"))
        self.named, self.named_ops = _ops(batch)
        io_codes, io_names = codes_of(batch.column("io"))
        self.io = np.array([*map(IO.index, io_names), NONE], np.int8)[io_codes]
        del io_codes
        self.when = self._when()

        dtype, self.dtypes = codes_of(batch.column("dtype"))
        self.dtype = _small(dtype)
        self._time, self._model = (
            _small(short_text_codes(batch.column(name))) for name in ("time", "model")
        )
        self.files = numbered(self._execution_keys())
        first, file = self.files
        self.signature = self._signatures(file, len(first))
        self.op, self.ops, self.counters_shift = self._operators(first, file)
        types: dict[str, int] = {}
        numbers = (types.setdefault(op_type, len(types)) for op_type, _ in self.ops)
        self.op_type = np.fromiter(numbers, np.int64, len(self.ops))
        self.op_types = list(types)

        self.max, self.min, self.mean, self.l2norm = (
            shared_reals(batch.column(name)) for name in ("max", "min", "mean", "l2norm")
        )
        self.is_float = self.of_dtype(_FLOATS)
        self.nan_or_pos_inf = table.bad_values.nan_or_pos_inf
        self.neg_inf = table.bad_values.neg_inf
        counts = [shared_integers(batch.column(name)) for name in ("nan", "pos_inf", "neg_inf")]
        self._counts = counts
        self.n_nan = counts[0]
        self.content = mixed(
            *(self.nbytes, self.dtype, self.count, *counts),
            *(self.max, self.min, self.mean, self.l2norm),
        )
        self.n_saturated = np.zeros(self.n, np.int64)
        if "saturated" in batch.column_names:
            self.n_saturated = shared_integers(batch.column("saturated"))
        self.is_reported = self.is_in("source", ("csv",))
        self.known = self._known(batch)

    def largest(self, rows: Any) -> NDArray[np.float64]:
        """Return the largest finite value of some rows' types, NaN if a type cannot overflow."""
        largest = [LARGEST_FINITE.get(name, np.nan) for name in self.dtypes]
        return np.asarray(np.array([*largest, np.nan], np.float64)[self.dtype[rows]])

    def n_bad(self, rows: Any) -> NDArray[np.int64]:
        """Return how many elements of some rows are NaN or infinite."""
        nan, pos_inf, neg_inf = (count[rows] for count in self._counts)
        return np.asarray(nan + pos_inf + neg_inf)

    def n_finite(self, rows: Any) -> NDArray[np.float64]:
        """Return how many elements of some rows are neither."""
        return np.asarray(self.count[rows] - self.n_bad(rows), np.float64)

    def place_keys(self, rows: Any) -> NDArray[np.uint64]:
        """Return numbers that are equal for rows of one operator in one step of a lane."""
        return mixed(*(column[rows] for column in self._place()))

    def operator_keys(self, rows: Any) -> NDArray[np.uint64]:
        """Return numbers that are equal where `place_keys`, context and thread are."""
        return mixed(*(column[rows] for column in self._operator()))

    def _place(self) -> list[NDArray[Any]]:
        model = [self.lane, self._time, self._model, self._integers("model_id")]
        return [*model, self.step, self.named, self.task, self.stream]

    def _operator(self) -> list[NDArray[Any]]:
        return [*self._place(), self._integers("context_id"), self.thread]

    def _execution_keys(self) -> NDArray[np.uint64]:
        """Return numbers that are equal for rows of one execution, as far as names tell."""
        columns = [*self._operator(), self.timestamp]
        untimed = self.timestamp == INT64_MAX
        if untimed.any():
            # Only the path tells two files of an operator apart.
            path = short_text_codes(self._batch.column("path"))
            columns.append(np.where(untimed, path, NONE))
        return mixed(*columns)

    def _integers(self, name: str) -> NDArray[np.int64]:
        return shared_integers(self._batch.column(name), null=NONE)

    def _signatures(self, file: NDArray[np.int64], n_files: int) -> NDArray[np.uint64]:
        signatures = np.zeros(n_files, np.uint64)
        tensor = mixed(self.io, self.index, self.dtype, _shape_keys(self._batch.column("shape")))
        np.add.at(signatures, file, tensor)
        return signatures[file]

    def _operators(
        self,
        first: NDArray[np.int64],
        file: NDArray[np.int64],
    ) -> tuple[NDArray[np.int32], list[tuple[str, str]], bool]:
        """Return `op`, `ops` and `counters_shift`.

        Parameters
        ----------
        first, file
            The first row of each file, and the file of each row.
        """
        lane, time, name, model_id, step = (column[first] for column in self._place()[:5])
        model = mixed(lane, name, model_id)
        place = mixed(model, time, step)
        stem, counter = (column[self.named[first]] for column in counters.split(self.named_ops))
        if not counters.shift(model, place, self.when[first], stem, counter):
            return self.named, self.named_ops, False
        signature = self.signature[first]
        alike = mixed(place, stem, signature)
        position = positions(np.lexsort((counter, alike)), alike)
        _, group, size = np.unique(alike, return_inverse=True, return_counts=True)
        key = mixed(stem, signature, position, size[group])
        _, one, op = np.unique(key, return_index=True, return_inverse=True)
        names = (self.named_ops[named] for named in self.named[first[one]].tolist())
        ops = [(op_type, counters.without_counter(name)) for op_type, name in names]
        return op.astype(np.int32)[file], ops, True

    def typed(self, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
        """Return which of `ops` have a type that contains a match of a pattern."""
        # There are many operators and few types.
        found = [pattern.search(op_type) is not None for op_type in self.op_types]
        return np.array(found, np.bool_)[self.op_type]

    def is_in(self, name: str, texts: Collection[str]) -> NDArray[np.bool_]:
        """Return in which rows a column of text is one of these."""
        return is_in(self._batch.column(name), texts)

    def of_dtype(self, prefixes: tuple[str, ...]) -> NDArray[np.bool_]:
        """Return which rows have a type whose name begins with one of these."""
        of_dtype = [name.startswith(prefixes) for name in self.dtypes]
        return np.asarray(np.array([*of_dtype, False], np.bool_)[self.dtype])

    def _when(self) -> NDArray[np.int64]:
        if (self.timestamp < INT64_MAX).all():
            return self.timestamp
        # Only the step tells the order of rows without a time.
        order = np.lexsort((self.step, self.timestamp))
        later = (np.diff(self.timestamp[order]) != 0) | (np.diff(self.step[order]) != 0)
        when = np.empty(self.n, np.int64)
        when[order] = np.concatenate(([0], np.cumsum(later)))
        return when

    def _known(self, batch: RecordBatch) -> NDArray[np.bool_]:
        # The device may have been asked for some of the statistics only, or for none.
        missing = [is_null(batch.column(n)) for n in ("nan", "mean", "l2norm", "max", "min")]
        known = self.is_in("status", ("ok", "size_mismatch")) & ~np.all(missing, axis=0)
        # Strings and the like have nothing that could be bad.
        return np.asarray(known | (self.is_in("status", ("unsupported",)) & ~self.is_float))


def blocks(n: int) -> Iterator[slice]:
    """Yield all rows, some at a time: what is computed of these takes little memory."""
    return (slice(first, first + _AT_ONCE) for first in range(0, n, _AT_ONCE))


def mixed(*columns: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a 64-bit number for each row that is equal where all columns are.

    Different rows practically never have the same number: the odds are one in ten million that this
    happens among a million rows.
    """
    hashed = np.zeros(len(columns[0]), np.uint64)
    for some in blocks(len(hashed)):
        part = hashed[some]
        for column in columns:
            chosen = column[some]
            bits = chosen if chosen.dtype.itemsize == 8 else chosen.astype(np.int64)
            part ^= bits.view(np.uint64)
            # The finalizer of splitmix64: every bit of the input changes half the bits of the
            # output.
            part += np.uint64(0x9E3779B97F4A7C15)
            part ^= part >> np.uint64(30)
            part *= np.uint64(0xBF58476D1CE4E5B9)
            part ^= part >> np.uint64(27)
            part *= np.uint64(0x94D049BB133111EB)
            part ^= part >> np.uint64(31)
    return hashed


def index_type(n: int) -> type[np.signedinteger[Any]]:
    """Return the type of indices of so many rows."""
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


def _small(codes: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """Return indices of few texts in less memory."""
    return codes.astype(np.int8 if codes.max(initial=0) < 128 else np.int32)


def _shape_keys(column: Array) -> NDArray[np.uint64]:
    """Return a number for each shape, equal for equal ones."""
    ends = np.asarray(list_offsets(column)).astype(np.int64)
    sizes = values(list_flatten(column), np.int64)
    rank = np.diff(ends)
    axis = np.arange(len(sizes)) - np.repeat(ends[:-1], rank)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(mixed(axis, sizes), dtype=np.uint64)))
    return mixed(rank, sums[ends[1:]] - sums[ends[:-1]])


def _lanes(
    rank: NDArray[np.int64], device: NDArray[np.int64]
) -> tuple[NDArray[np.int32], list[tuple[int | None, int | None]]]:
    # Rows of a lane follow each other.
    begins = runs_of(rank, device)
    _, first, lane = np.unique(
        mixed(rank[begins], device[begins]), return_index=True, return_inverse=True
    )
    first = begins[first]
    order = np.lexsort((device[first], rank[first]))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    pairs = zip(rank[first][order].tolist(), device[first][order].tolist(), strict=True)
    lanes = [(None if r < 0 else r, None if d < 0 else d) for r, d in pairs]
    of_run = place[lane].astype(np.int32)
    return np.repeat(of_run, np.diff(begins, append=len(rank))), lanes


def _ops(batch: RecordBatch) -> tuple[NDArray[np.int32], list[tuple[str, str]]]:
    """Return the operator of each row as an index, and the operators.

    Names that are spelled alike in file names are of one operator: a file without a header has only
    the name in its file name.
    """
    type_codes, op_types = codes_of(batch.column("op_type"))
    name_codes, op_names = codes_of(batch.column("op_name"))
    n = len(op_names) + 1
    pairs, op = distinct_codes((type_codes + 1) * n + name_codes + 1, (len(op_types) + 1) * n)
    op_types, op_names = ["", *op_types], ["", *op_names]
    numbers: dict[tuple[str, str], int] = {}
    ops: list[tuple[str, str]] = []
    merged = []
    for pair in pairs.tolist():
        op_type, name = op_types[pair // n], op_names[pair % n]
        number = numbers.setdefault((op_type, in_file_name(name)), len(ops))
        if number == len(ops):
            ops.append((op_type, name))
        elif in_file_name(ops[number][1]) == ops[number][1]:
            ops[number] = op_type, name  # the header's, if there is one
        merged.append(number)
    return np.array(merged, np.int32)[op], ops
