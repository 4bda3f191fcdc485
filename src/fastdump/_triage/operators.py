"""From rows to executions of operators, each with all of its inputs and outputs.

One file is usually one execution. Two kinds of operators have several: a collective operator has
its inputs in one file and its outputs in another, and an operator that was cut into thread slices
(FFTS+) has a file a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._file_name import in_file_name
from fastdump._triage.rows import INPUT, NONE, OUTPUT, Rows, mixed

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
    of_row : ndarray of int64, shape (rows,)
        The execution of each row; NONE for what a watcher dump repeats of other operators.
    n_repeated : int
        Rows of such repetitions.
    lane, step, op, timestamp, when : ndarray of int64, shape (n,)
        Of the earliest row; see `Rows`.
    last_when : ndarray of int64, shape (n,)
        Of the latest row.
    n_inputs, n_outputs : ndarray of int64, shape (n,)
        How many rows.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        is_input, is_output = rows.io == INPUT, rows.io == OUTPUT
        first, execution = _files(rows)
        first, execution = _joined(rows, execution, _threads(rows, first))
        n_inputs = np.bincount(execution, is_input, len(first))
        n_outputs = np.bincount(execution, is_output, len(first))
        halves = _halves(rows, first, n_inputs, n_outputs)
        first, execution = _joined(rows, execution, halves)

        order = np.lexsort(
            (first, rows.task[first], rows.stream[first], rows.when[first], rows.lane[first])
        )
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        first = first[order]
        self.n = len(first)
        self.of_row = place[execution]
        self.lane = rows.lane[first]
        self.step = rows.step[first]
        self.op = rows.op[first]
        self.timestamp = rows.timestamp[first]
        self.when = rows.when[first]
        by_execution = np.argsort(self.of_row, kind="stable")
        start = np.searchsorted(self.of_row[by_execution], np.arange(self.n))
        self.last_when = np.maximum.reduceat(rows.when[by_execution], start) if self.n else start
        repeats = self._repeats()
        self.of_row[repeats[self.of_row]] = NONE
        self.n_repeated = int((self.of_row == NONE).sum())

        self._order = _by_execution(rows, self.of_row)
        self._start = np.searchsorted(self.of_row[self._order], np.arange(self.n + 1))
        self.n_inputs = self.count(is_input)
        self.n_outputs = self.count(is_output)

    def count(self, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many rows of each execution are in `mask`."""
        of_row = self.of_row[mask]
        return np.bincount(of_row[of_row != NONE], minlength=self.n)

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
        return " ".join(text for text in self._rows.ops[int(self.op[execution])] if text)

    def _repeats(self) -> NDArray[np.bool_]:
        """Return which executions only show again, in a watcher dump, what another one made.

        They are called "{executed}_To_{watched}".
        """
        names = {in_file_name(name) for _, name in self._rows.ops}
        repeats = [
            _WATCHED in name and in_file_name(name).rpartition(_WATCHED)[2] in names
            for _, name in self._rows.ops
        ]
        return np.array(repeats, np.bool_)[self.op]


def _files(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a first row of each execution that a file holds, and the execution of each row."""
    key = rows.execution_key
    # Rows of one file mostly follow each other.
    is_first = np.diff(key, prepend=~key[:1]) != 0
    run = np.cumsum(is_first) - 1
    runs, execution = np.unique(key[is_first], return_inverse=True)
    execution = execution.reshape(-1)[run]
    place = _place(rows)
    in_order = is_first[1:] | (np.diff(place) > 0)
    if len(runs) < np.count_nonzero(is_first) or not in_order.all():
        # A dump that was appended to another repeats the tensors: a second execution.
        order = np.lexsort((rows.offset, place, execution))
        same = np.zeros(rows.n, np.bool_)
        same[1:] = (np.diff(execution[order]) == 0) & (np.diff(place[order]) == 0)
        same &= rows.io[order] != NONE
        if same.any():
            repetition = np.empty(rows.n, np.int64)
            repetition[order] = _run_positions(same)
            _, execution = np.unique(mixed(execution, repetition), return_inverse=True)
            execution = execution.reshape(-1)
    return _earliest(rows, execution), execution


def _place(rows: Rows) -> NDArray[np.int64]:
    """Return a number for each row that grows in the order of tensors in an operator."""
    return rows.io * (1 << 32) + np.minimum(rows.index, (1 << 32) - 1)


def _by_execution(rows: Rows, execution: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows in the order of executions and of the tensors in them."""
    place, same = _place(rows), np.diff(execution) == 0
    if ((np.diff(execution) > 0) | (same & (np.diff(place) >= 0))).all():
        return np.arange(rows.n)
    return np.lexsort((place, execution))


def _threads(rows: Rows, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each execution the one that it is a part of: the threads of one execution.

    A thread that comes again begins the next one.
    """
    leader = np.arange(len(first))
    thread = rows.thread[first]
    sliced = np.flatnonzero((thread != NONE) & (thread != _UNKNOWN_ID))
    if len(sliced) == 0:
        return leader
    key, thread = rows.place_key[first][sliced], thread[sliced]
    order = np.lexsort((rows.when[first][sliced], thread, key))
    same = np.zeros(len(sliced), np.bool_)
    same[1:] = (np.diff(key[order]) == 0) & (np.diff(thread[order]) == 0)
    repetition = np.empty(len(sliced), np.int64)
    repetition[order] = _run_positions(same)
    _, one, part = np.unique(mixed(key, repetition), return_index=True, return_inverse=True)
    leader[sliced] = sliced[one[part.reshape(-1)]]
    return leader


def _halves(
    rows: Rows,
    first: NDArray[np.int64],
    n_inputs: NDArray[Any],
    n_outputs: NDArray[Any],
) -> NDArray[np.int64]:
    """Return for each execution the one that it is a part of: outputs go to the inputs before them.

    These are in two files, which differ in their times.
    """
    leader = np.arange(len(first))
    key = rows.operator_key[first]
    order = np.lexsort((n_outputs > 0, rows.when[first], key))
    only_inputs = ((n_inputs > 0) & (n_outputs == 0))[order]
    only_outputs = ((n_inputs == 0) & (n_outputs > 0))[order]
    joined = (np.diff(key[order]) == 0) & only_inputs[:-1] & only_outputs[1:]
    leader[order[1:][joined]] = order[:-1][joined]
    return leader


def _joined(
    rows: Rows, execution: NDArray[np.int64], leader: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return executions, as `_files` does, after some were joined to others."""
    _, joined = np.unique(leader, return_inverse=True)
    execution = joined.reshape(-1)[execution]
    return _earliest(rows, execution), execution


def _earliest(rows: Rows, execution: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first of the earliest rows of each execution."""
    order = np.argsort(execution, kind="stable")
    is_first = np.diff(execution[order], prepend=NONE) != 0
    is_same_time = is_first[1:] | (np.diff(rows.when[order]) == 0)
    if not is_same_time.all():
        order = np.lexsort((rows.when, execution))
    return np.asarray(order[np.flatnonzero(is_first)])


def _run_positions(same: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return how many elements before each one, without a gap, are like it and the one before."""
    position = np.arange(len(same))
    return position - np.maximum.accumulate(np.where(same, 0, position))
