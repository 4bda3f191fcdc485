"""From rows to executions of operators, each with all of its inputs and outputs.

An execution usually has one file. Two kinds of operators have several: a collective operator has
its inputs in one file and its outputs in another, and an operator that was cut into thread slices
(FFTS+) has one for each thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._op_name import in_file_name
from fastdump._triage.order import in_order, numbered, positions
from fastdump._triage.rows import INPUT, NONE, OUTPUT, Rows, index_type, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNKNOWN_ID = 65535
_WATCHED = "_To_"


class Executions:
    """Executions of operators, numbered by lane and then by time.

    Attributes
    ----------
    n : int
        How many.
    of_row : ndarray of int32 or int64, shape (rows,)
        The execution of each row; NONE if a watcher dump repeats a tensor of another operator.
    n_repeated : int
        Number of rows that are such repetitions.
    lane, step, op, named, timestamp, when : ndarray of integers, shape (n,)
        Those of the earliest row; see `Rows`.
    last_when : ndarray of int64, shape (n,)
        The `when` of the latest row.
    n_inputs, n_outputs : ndarray of int64, shape (n,)
        Number of rows that are inputs, and outputs.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        execution = _files(rows)
        del rows.files
        first = _earliest(rows, execution)
        execution, first = _merged(rows, execution, first, _threads(rows, first))
        execution, first = _merged(rows, execution, first, _halves(rows, first, execution))

        order = in_order(
            first, rows.task[first], rows.stream[first], rows.when[first], rows.lane[first]
        )
        place = np.empty(len(order), index_type(rows.n))
        place[order] = np.arange(len(order))
        first = first[order]
        self.n = len(first)
        self.of_row = place[execution]
        self.lane = rows.lane[first]
        self.step = rows.step[first]
        self.op = rows.op[first]
        # What is the same is in memory once.
        self.named = self.op if rows.named is rows.op else rows.named[first]
        self.timestamp = rows.timestamp[first]
        self.when = self.timestamp if rows.when is rows.timestamp else rows.when[first]
        last_when = self.when.copy()
        np.maximum.at(last_when, self.of_row, rows.when)
        self.last_when = self.when if (last_when == self.when).all() else last_when
        repeats = self._repeats()
        self.of_row[repeats[self.of_row]] = NONE
        self.n_repeated = int((self.of_row == NONE).sum())

        self._order = _by_execution(rows, self.of_row)
        start = np.searchsorted(self.of_row[self._order], np.arange(self.n + 1))
        self._start = start.astype(index_type(rows.n))
        self.n_inputs = self.count(rows.io == INPUT)
        self.n_outputs = self.count(rows.io == OUTPUT)

    def count(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many rows of each execution are in `mask`."""
        of_row = self.of_row[mask]
        return np.bincount(of_row[of_row != NONE], minlength=self.n).astype(self.of_row.dtype)

    def inputs_in(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which executions have an input in `mask`."""
        return self.count(mask & (self._rows.io == INPUT)) > 0

    def outputs_in(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which executions have an output in `mask`."""
        return self.count(mask & (self._rows.io == OUTPUT)) > 0

    def rows_of(self, execution: int) -> NDArray[np.int64]:
        """Return the rows of one execution: inputs, then outputs, by index."""
        return self._order[self._start[execution] : self._start[execution + 1]]

    def inputs_of(self, execution: int) -> NDArray[np.int64]:
        """Return the rows of the inputs of one execution."""
        return self._of_io(execution, INPUT)

    def outputs_of(self, execution: int) -> NDArray[np.int64]:
        """Return the rows of the outputs of one execution."""
        return self._of_io(execution, OUTPUT)

    def _of_io(self, execution: int, io: int) -> NDArray[np.int64]:
        found = self.rows_of(execution)
        return np.asarray(found[self._rows.io[found] == io])

    def name(self, execution: int) -> str:
        """Return type and name of the operator."""
        return " ".join(text for text in self._rows.named_ops[int(self.named[execution])] if text)

    def _repeats(self) -> NDArray[np.bool_]:
        """Return which executions only repeat, in a watcher dump, what another one made.

        They are named "{executed}_To_{watched}".
        """
        if not any(_WATCHED in name for _, name in self._rows.named_ops):
            return np.zeros(self.n, np.bool_)
        names = {in_file_name(name) for _, name in self._rows.named_ops}
        repeats = [
            _WATCHED in name and in_file_name(name).rpartition(_WATCHED)[2] in names
            for _, name in self._rows.named_ops
        ]
        return np.array(repeats, np.bool_)[self.named]


def _files(rows: Rows) -> NDArray[np.int64]:
    """Return the execution of each row, if every execution had a file of its own."""
    first, execution = rows.files
    place = _place(rows)
    is_first = execution[1:] != execution[:-1]
    is_one_run = np.count_nonzero(is_first) < len(first)
    if not (is_one_run and (is_first | (np.diff(place) > 0)).all()):
        # A dump that was appended to another repeats the tensors: a second execution.
        order = np.lexsort((rows.offset, place, execution))
        repetition = np.where(rows.io == NONE, 0, positions(order, execution, place))
        if repetition.any():
            _, execution = numbered(mixed(execution, repetition))
    return execution


def _merged(
    rows: Rows,
    execution: NDArray[np.int64],
    first: NDArray[np.int64],
    leader: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return `execution` and its earliest rows where each is a part of the one that leads it."""
    if (leader == np.arange(len(leader))).all():
        return execution, first
    _, number = np.unique(leader, return_inverse=True)
    execution = number[execution]
    return execution, _earliest(rows, execution)


def _place(rows: Rows) -> NDArray[np.int64]:
    """Return a number for each row that grows in the order of tensors in an operator."""
    place = rows.io.astype(np.int64)
    place <<= 32
    place += np.minimum(rows.index, (1 << 32) - 1)
    return place


def _by_execution(rows: Rows, execution: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows in the order of executions and of the tensors in them."""
    place, same = _place(rows), np.diff(execution) == 0
    if ((np.diff(execution) > 0) | (same & (np.diff(place) >= 0))).all():
        return np.arange(rows.n, dtype=execution.dtype)
    return np.lexsort((place, execution)).astype(execution.dtype)


def _threads(rows: Rows, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each execution the one that it is a part of, of an operator cut into threads.

    A thread that occurs again begins another execution.
    """
    leader = np.arange(len(first))
    thread = rows.thread[first]
    sliced = np.flatnonzero((thread != NONE) & (thread != _UNKNOWN_ID))
    if len(sliced) == 0:
        return leader
    key, thread = rows.place_keys(first[sliced]), thread[sliced]
    repetition = positions(np.lexsort((rows.when[first][sliced], thread, key)), key, thread)
    _, one, part = np.unique(mixed(key, repetition), return_index=True, return_inverse=True)
    leader[sliced] = sliced[one[part]]
    return leader


def _halves(
    rows: Rows, first: NDArray[np.int64], execution: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for each execution the one that it is a part of, if inputs and outputs were apart.

    They are in two files, which differ in their times: outputs go to the inputs before them.
    """
    leader = np.arange(len(first))
    has_input = np.bincount(execution, rows.io == INPUT, len(first)) > 0
    has_output = np.bincount(execution, rows.io == OUTPUT, len(first)) > 0
    if not (has_input & ~has_output).any() or not (has_output & ~has_input).any():
        return leader
    key = rows.operator_keys(first)
    order = np.lexsort((has_output, rows.when[first], key))
    only_inputs, only_outputs = (has_input & ~has_output)[order], (has_output & ~has_input)[order]
    joined = (np.diff(key[order]) == 0) & only_inputs[:-1] & only_outputs[1:]
    leader[order[1:][joined]] = order[:-1][joined]
    return leader


def _earliest(rows: Rows, execution: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the earliest row of each execution, the first one of several."""
    order = in_order(execution)
    is_first = np.diff(execution[order], prepend=NONE) != 0
    is_same_time = is_first[1:] | (np.diff(rows.when[order]) == 0)
    if not is_same_time.all():
        order = np.lexsort((rows.when, execution))
    return np.asarray(order[np.flatnonzero(is_first)])
