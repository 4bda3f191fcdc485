"""The columns of a table as numpy arrays, and which rows tell what."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from arro3.core import (
    Array,
    DataType,
    RecordBatch,
    dictionary_dictionary,
    dictionary_indices,
)

from fastdump import _severity
from fastdump._arrow_column import integer_array, is_null, real_array
from fastdump._column import INT64_MAX
from fastdump._file_name import in_file_name
from fastdump._schema import IO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table import StatsTable

INPUT, OUTPUT = 0, 1
NONE = -1
"""In the place of a null in columns of numbers that cannot be negative."""

_DICTIONARY = DataType.dictionary(DataType.int32(), DataType.utf8())
_FLOATS = ("float", "bfloat", "hifloat", "complex")


class Rows:
    """What triage looks at of each row of a table, arrays of shape (rows,).

    Attributes
    ----------
    table : StatsTable
        Where they come from.
    lane : ndarray of int64
        Which device of which rank, as an index into `lanes`: operators of one lane follow each
        other in time.
    lanes : list of (int or None, int or None)
        Rank and device of each lane.
    step, timestamp : ndarray of int64
        NONE, and INT64_MAX, for null.
    when : ndarray of int64
        Grows with time; equal where it is not known what was first.
    op : ndarray of int64
        Index into `ops`.
    ops : list of (str, str)
        Distinct pairs of op_type and op_name, '' for null.
    io : ndarray of int64
        INPUT, OUTPUT, or something else.
    execution_key : ndarray of uint64
        Equal for rows of one execution of one operator, as far as names tell.
    operator_key, place_key : ndarray of uint64
        The same without the time; and also without context and thread.
    dtype : ndarray of int64
        Index into `dtypes`.
    largest : ndarray of float64
        Largest finite value of the row's type, NaN if the type cannot overflow.
    known : ndarray of bool
        Whether what the row says is about all elements of the tensor.
    nan_or_pos_inf, neg_inf : ndarray of bool
        Whether there is such an element.
    content : ndarray of uint64
        Equal where size, type and all statistics are, so for equal bytes of one type.
    """

    def __init__(self, table: StatsTable) -> None:
        batch = table.arrow.to_batches()[0]
        self.table = table
        self._batch = batch
        self.n = batch.num_rows
        integers = {
            name: integer_array(batch.column(name), null=NONE)
            for name in ("rank", "device", "model_id", "step", "task_id", "stream_id", "context_id")
        }
        self.step = integers["step"]
        self.task = integers["task_id"]
        self.stream = integers["stream_id"]
        self.thread = integer_array(batch.column("thread_id"), null=NONE)
        self.timestamp = integer_array(batch.column("timestamp"), null=INT64_MAX)
        self.index = integer_array(batch.column("index"), null=NONE)
        self.nbytes = integer_array(batch.column("nbytes"), null=NONE)
        self.count = integer_array(batch.column("count"), null=NONE)
        self.offset = integer_array(batch.column("offset"), null=NONE)

        self.lane, self.lanes = _lanes(integers["rank"], integers["device"])
        self.op, self.ops = _ops(batch)
        io_codes, io_names = codes_of(batch.column("io"))
        self.io = _translated(io_codes, [IO.index(name) for name in io_names], NONE)
        self.when = self._when()

        time, _ = codes_of(batch.column("time"))
        model, _ = codes_of(batch.column("model"))
        self.place_key = mixed(
            *(self.lane, time, model, integers["model_id"], self.step),
            *(self.op, self.task, self.stream),
        )
        self.operator_key = mixed(self.place_key, integers["context_id"], self.thread)
        self.execution_key = mixed(self.operator_key, self.timestamp)
        untimed = self.timestamp == INT64_MAX
        if untimed.any():
            # Nothing else tells two files of an operator apart.
            path, _ = codes_of(batch.column("path"))
            self.execution_key = mixed(self.execution_key, np.where(untimed, path, NONE))

        self.max, self.min, self.mean, self.l2norm = (
            real_array(batch.column(name)) for name in ("max", "min", "mean", "l2norm")
        )
        self.dtype, self.dtypes = codes_of(batch.column("dtype"))
        largest = [_severity.LARGEST_FINITE.get(name, np.nan) for name in self.dtypes]
        self.largest = np.array([*largest, np.nan], np.float64)[self.dtype]
        is_float = [name.startswith(_FLOATS) for name in self.dtypes]
        self.is_float = _translated(self.dtype, is_float, False).astype(np.bool_)
        self.nan_or_pos_inf = _severity.rows_with_nan_or_pos_inf(batch)
        self.neg_inf = _severity.rows_with_neg_inf(batch)
        counts = [integer_array(batch.column(name)) for name in ("nan", "pos_inf", "neg_inf")]
        self.n_bad = sum(counts[1:], counts[0])
        self.n_nan = counts[0]
        self.content = mixed(
            *(self.nbytes, self.dtype, self.count, *counts),
            *(self.max, self.min, self.mean, self.l2norm),
        )
        self.is_reported = self.is_in("source", ("csv",))
        self.known = self._known(batch)

    def typed(self, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
        """Return which of `ops` have a type that a pattern is found in."""
        # There are many names and few types.
        op_types = {op_type for op_type, _ in self.ops}
        found = {op_type: pattern.search(op_type) is not None for op_type in op_types}
        return np.array([found[op_type] for op_type, _ in self.ops], np.bool_)

    def is_in(self, name: str, texts: Collection[str]) -> NDArray[np.bool_]:
        """Return in which rows a column of text is one of these."""
        codes, names = codes_of(self._batch.column(name))
        return _translated(codes, [text in texts for text in names], False).astype(np.bool_)

    def full_column(self, name: str) -> NDArray[np.int64] | None:
        """Return a column that only a table of level "full" has, 0 for null, or None."""
        if name not in self._batch.column_names:
            return None
        return integer_array(self._batch.column(name))

    def statuses(self) -> dict[str, int]:
        """Return how many rows there are of each status."""
        codes, names = codes_of(self._batch.column("status"))
        return dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))

    def _when(self) -> NDArray[np.int64]:
        if len(self.timestamp) == 0 or self.timestamp.max() < INT64_MAX:
            return self.timestamp
        # Without times only steps tell.
        order = np.lexsort((self.step, self.timestamp))
        later = (np.diff(self.timestamp[order]) != 0) | (np.diff(self.step[order]) != 0)
        when = np.empty(self.n, np.int64)
        when[order] = np.concatenate(([0], np.cumsum(later)))
        return when

    def _known(self, batch: RecordBatch) -> NDArray[np.bool_]:
        whole = self.is_in("status", ("ok", "size_mismatch"))
        # Of the vendor's statistics some, or all, may not have been asked for.
        told = np.zeros(self.n, np.bool_)
        for name in ("nan", "mean", "l2norm", "max", "min"):
            told |= ~is_null(batch.column(name))
        known = whole & told
        # Strings and the like have nothing that could be bad.
        known |= self.is_in("status", ("unsupported",)) & ~self.is_float
        return np.asarray(known)


def codes_of(column: Array) -> tuple[NDArray[np.int64], list[str]]:
    """Return a text column as indices into its distinct texts, NONE for null."""
    encoded = column.cast(_DICTIONARY)
    indices = dictionary_indices(encoded)
    assert isinstance(indices, Array)
    codes = integer_array(indices.cast(DataType.int64()), null=NONE)
    texts: Any = dictionary_dictionary(encoded)
    return codes, list(texts.to_pylist())


def mixed(*columns: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a 64-bit number for each row that is equal where all columns are.

    That numbers of different rows are equal is as good as impossible: with a million rows the
    odds are one in ten million.
    """
    hashed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        bits = column if column.dtype.itemsize == 8 else column.astype(np.int64)
        hashed ^= bits.view(np.uint64)
        # The finalizer of splitmix64: every bit of the input changes half the bits of the output.
        hashed += np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(30)
        hashed *= np.uint64(0xBF58476D1CE4E5B9)
        hashed ^= hashed >> np.uint64(27)
        hashed *= np.uint64(0x94D049BB133111EB)
        hashed ^= hashed >> np.uint64(31)
    return hashed


def _translated(codes: NDArray[np.int64], values: list[Any], default: int) -> NDArray[np.int64]:
    """Return for each code what stands for it in `values`, `default` for NONE."""
    return np.array([*values, default], np.int64)[codes]


def _lanes(
    rank: NDArray[np.int64], device: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[tuple[int | None, int | None]]]:
    _, first, lane = np.unique(mixed(rank, device), return_index=True, return_inverse=True)
    order = np.lexsort((device[first], rank[first]))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    pairs = zip(rank[first][order].tolist(), device[first][order].tolist(), strict=True)
    lanes = [(None if r < 0 else r, None if d < 0 else d) for r, d in pairs]
    return place[lane.reshape(-1)], lanes


def _ops(batch: RecordBatch) -> tuple[NDArray[np.int64], list[tuple[str, str]]]:
    """Return each row's operator, and what operators there are.

    Names that are one in file names are one operator: of a file without a header, the name in its
    file name is all that is known.
    """
    type_codes, op_types = codes_of(batch.column("op_type"))
    name_codes, op_names = codes_of(batch.column("op_name"))
    n = len(op_names) + 1
    pairs, op = np.unique((type_codes + 1) * n + name_codes + 1, return_inverse=True)
    op_types, op_names = ["", *op_types], ["", *op_names]
    named = [(op_types[pair // n], op_names[pair % n]) for pair in pairs.tolist()]
    numbers: dict[tuple[str, str], int] = {}
    ops: list[tuple[str, str]] = []
    merged = []
    for op_type, name in named:
        number = numbers.setdefault((op_type, in_file_name(name)), len(ops))
        if number == len(ops):
            ops.append((op_type, name))
        elif in_file_name(ops[number][1]) == ops[number][1]:
            ops[number] = op_type, name  # the header's, if there is one
        merged.append(number)
    return np.array(merged, np.int64)[op.reshape(-1)], ops
