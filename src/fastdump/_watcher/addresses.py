"""The check without a watcher dump: what operators read, against what was last written there.

The input of an operator lies at a device address. If an output was dumped that lay at exactly this
address and had this size, its bytes should be those that are read; if they are not, something that
was not dumped wrote there, or something overwrote it.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from arro3.core import RecordBatch

from fastdump import _core
from fastdump._arguments import parallelism
from fastdump._dump.dump import Dump, chosen
from fastdump._dump.operator import Record
from fastdump._scan import Headers
from fastdump._selection import Selection
from fastdump._table.arrow_column import boolean_array, integer_array, is_in, rows_of, text_list
from fastdump._table.tensor_places import places
from fastdump._tensor.shown_path import file_of
from fastdump._watcher.bytes_compared import ByteComparison, StoredTensor
from fastdump._watcher.comparing import (
    compare_tensors,
    first_change,
    is_output_selected,
    is_selected,
    uncompared,
)
from fastdump._watcher.headers import Execution, read_header
from fastdump._watcher.memory import DeviceWrites, Write
from fastdump._watcher.outputs_and_inputs import NONE, HeaderRows, Writes
from fastdump._watcher.records import WatcherComparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PAIRS: Final = 1 << 14
"""So many pairs are given to the core together: memory is needed for these only."""


def compare_addresses(
    dump: Dump, headers: Headers, selection: Selection, counts: Counter[str]
) -> list[WatcherComparison]:
    """Return each input of a dump's operators that is not what was written where it lies.

    The core compares all pairs of whole tensors; only what is not the same is looked at here.

    Parameters
    ----------
    dump
        The dump.
    headers
        Those of its files.
    selection
        Which of the written outputs the returned comparisons are about.
    counts
        Counts each input by the status of its comparison; also those that have none, unless the
        selection leaves out some outputs.

    Returns
    -------
    list of WatcherComparison
        In the order of execution of each rank and device, one device after another.
    """
    rows = HeaderRows.of(headers)
    writes = Writes(rows)
    files = _Files(dump, rows)
    is_in_place = writes.is_in_place()
    has_writer = ~is_in_place & (writes.last != NONE)
    if not selection:
        _count(counts, "in_place", is_in_place)
        _count(counts, "no_writer", ~is_in_place & ~has_writer)
    seen, mine = writes.inputs[has_writer], writes.last[has_writer]
    is_same = _are_equal(chosen(dump).shown_root(), rows, mine, seen)
    _count(counts, "same", _are_selected(selection, headers, mine[is_same], seen[is_same]))
    found = _Found(files, writes, selection, counts)
    for file in rows.without_tensor().tolist():
        found.add_unread(file)
    for output, read in zip(mine[~is_same].tolist(), seen[~is_same].tolist(), strict=True):
        found.add_pair(output, read)
    return found.in_order()


def _count(counts: Counter[str], status: str, rows: NDArray[np.bool_]) -> None:
    n = int(np.count_nonzero(rows))
    if n:
        counts[status] += n


def _are_equal(
    root: str,
    rows: HeaderRows,
    mine: NDArray[np.int64],
    seen: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Return which pairs of tensors are whole and have the same bytes."""
    is_whole = rows.is_whole[mine] & rows.is_whole[seen]
    is_equal = is_whole & rows.headers.are_known_to_be_equal(mine, seen)
    both = np.flatnonzero(is_whole & ~is_equal)
    for first in range(0, len(both), _PAIRS):
        some = both[first : first + _PAIRS]
        comparison = _core.Comparison(
            _places(root, rows, mine[some]),
            _places(root, rows, seen[some]),
            rtol=0.0,
            atol=0.0,
            kl=False,
            engine="auto",
            **parallelism(None, None),
        )
        comparison.run(None, 1.0)
        found = RecordBatch.from_arrow(comparison.table())
        equal = boolean_array(found.column("bit_equal"))
        is_equal[some] = equal & is_in(found.column("status"), ("ok",))
    return is_equal


def _places(root: str, rows: HeaderRows, chosen: NDArray[np.int64]) -> _core.TensorPlaces:
    """Return where some tensors lie; their elements are bytes."""
    column = rows.headers.table.batch.column
    return places(
        root,
        rows_of(column("path"), chosen),
        states=rows.headers.state[chosen],
        offsets=integer_array(rows_of(column("offset"), chosen)),
        dtypes=np.zeros(len(chosen), np.int64),
        dtype_names=("uint8",),
        n_elements=rows.nbytes[chosen],
    )


def _are_selected(
    selection: Selection, headers: Headers, mine: NDArray[np.int64], seen: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which pairs are about outputs that meet all conditions."""
    if not selection:
        return np.ones(len(mine), np.bool_)
    batch = headers.table.batch
    is_one = functools.cache(functools.partial(is_output_selected, selection))
    texts = (text_list(rows_of(batch.column(name), mine)) for name in ("op_type", "op_name"))
    index = integer_array(rows_of(batch.column("index"), mine)).tolist()
    dtype = text_list(rows_of(batch.column("dtype"), seen))
    return np.array([*map(is_one, *texts, index, dtype)], np.bool_)


class _Files:
    """Headers of few files, read again to look at them closely."""

    def __init__(self, dump: Dump, rows: HeaderRows) -> None:
        self.rows = rows
        self._root = chosen(dump).shown_root()
        self.execution = functools.lru_cache(maxsize=256)(self._execution)

    def _execution(self, file: int) -> Execution:
        row = self.rows.headers.table[int(self.rows.first_row[file])]
        path = file_of(self._root, row.path)
        values = {name: getattr(row, name) for name in Record._fields[3:]}
        return read_header(Record(path=path, relative=row.path, kind="operator", **values))

    def tensor(self, row: int) -> StoredTensor:
        """Return the tensor of a row, to be read only from the file that was there before."""
        record = self.rows.headers.table[row]
        execution = self.execution(int(self.rows.file[row]))
        state = int(self.rows.headers.state[row])
        for tensor in execution.tensors:
            same = (tensor.io, tensor.index, tensor.offset) == (
                record.io,
                record.index,
                record.offset,
            )
            if same and tensor.known[0] == state:
                return tensor
        nbytes = record.nbytes or 0
        return StoredTensor(
            path=execution.record.path,
            known=(state, 0),
            offset=record.offset or 0,
            nbytes=nbytes,
            stored_nbytes=nbytes,
            address=int(self.rows.headers.address[row]),
            status=record.status,
            note=record.note or "",
            io=record.io or "",
            index=record.index or 0,
            dtype=record.dtype,
            shape=record.shape or (),
            appended=0,
        )

    def write(self, row: int) -> Write:
        """Return the write of an output."""
        file = int(self.rows.file[row])
        return Write(self.execution(file), self.tensor(row), int(self.rows.order[file]))


class _Found:
    """Comparisons of what was found not to be the same."""

    def __init__(
        self, files: _Files, writes: Writes, selection: Selection, counts: Counter[str]
    ) -> None:
        self._files = files
        self._rows = files.rows
        self._writes = writes
        self._selection = selection
        self._counts = counts
        self._compared = ByteComparison()
        # With the memory and order of the file that each was seen in.
        self._found: list[tuple[tuple[int, int], WatcherComparison]] = []
        self._changed: list[tuple[WatcherComparison, int, int]] = []
        self._writes_of: dict[int, DeviceWrites] = {}

    def add_unread(self, file: int) -> None:
        """Add a file, if its header cannot be read."""
        execution = self._files.execution(file)
        if execution.status != "ok":
            unread = uncompared(execution)
            if is_selected(unread, self._selection):
                self._add(unread, file)

    def add_pair(self, output: int, read: int) -> None:
        """Add an output and an input that the core did not find the same."""
        comparison = self._compare(output, read)
        if not is_selected(comparison, self._selection):
            return
        if comparison.status == "changed":
            self._changed.append((comparison, output, read))
        elif comparison.status == "same":
            self._counts["same"] += 1
        else:
            self._add(comparison, int(self._rows.file[read]))

    def in_order(self) -> list[WatcherComparison]:
        """Return all of them in the order in which they were seen."""
        self._found.sort(key=lambda item: item[0])
        reported: set[int] = set()
        changed = sorted(self._changed, key=lambda item: self._place(int(self._rows.file[item[2]])))
        for comparison, output, read in changed:
            if self._is_of_same_time(output, read):
                self._counts["same"] += 1
                continue
            file = int(self._rows.file[output])
            # A finding names the first operator that reads the changed tensor, not all that do.
            if file not in reported:
                reported.add(file)
                comparison = self._first_change(comparison, output, read)
            self._add(comparison, int(self._rows.file[read]))
        self._found.sort(key=lambda item: (item[0][0], item[1].seen_timestamp or 0))
        return [comparison for _, comparison in self._found]

    def _place(self, file: int) -> tuple[int, int]:
        return int(self._rows.memory[file]), int(self._rows.order[file])

    def _add(self, comparison: WatcherComparison, file: int) -> None:
        self._counts[comparison.status] += 1
        self._found.append((self._place(file), comparison))

    def _compare(self, output: int, read: int) -> WatcherComparison:
        write, seen = self._files.write(output), self._files.tensor(read)
        reader = self._files.execution(int(self._rows.file[read]))
        return compare_tensors(self._compared, write.tensor, seen, _base(write, reader, seen))

    def _first_change(
        self, comparison: WatcherComparison, output: int, read: int
    ) -> WatcherComparison:
        rows = self._rows
        of_output, of_read = int(rows.file[output]), int(rows.file[read])
        memory = int(rows.memory[of_read])
        if memory not in self._writes_of:
            outputs = self._writes.of_memory(memory)
            self._writes_of[memory] = DeviceWrites(
                np.array([rows.headers.address[outputs], rows.ends()[outputs]]),
                rows.order[rows.file[outputs]],
                lambda i: self._files.write(int(outputs[i])),
            )
        return first_change(
            comparison,
            self._compared,
            self._files.tensor(output),
            self._files.tensor(read),
            self._writes_of[memory],
            (int(rows.order[of_output]), int(rows.order[of_read])),
        )

    def _is_of_same_time(self, last: int, read: int) -> bool:
        """Tell whether the bytes are those of a write that may as well have been the last one.

        The order of operators with the same timestamp is not known.
        """
        rows = self._rows
        reader = rows.file[read]
        now = rows.when[reader]
        if rows.headers.table[read].timestamp is None:
            return False
        there = self._writes.at_place_of(last)
        others = there[rows.when[rows.file[there]] == now].tolist()
        if rows.when[rows.file[last]] == now:
            at = there.tolist().index(last)
            others += there[max(0, at - 1) : at].tolist()
        return any(
            self._compare(output, read).status == "same"
            for output in others
            if output != last and rows.file[output] != reader
        )


def _base(write: Write, execution: Execution, seen: StoredTensor) -> WatcherComparison:
    writer = write.execution
    return replace(
        uncompared(execution),
        op_type=writer.record.op_type,
        op_name=writer.op_name,
        output=write.tensor.index,
        dtype=seen.dtype,
        shape=seen.shape,
        nbytes=seen.nbytes,
        address=seen.address,
        path=writer.record.relative,
        seen_by=execution.op_name or "",
        seen_as=seen.name,
        status="same",
        note="",
    )
