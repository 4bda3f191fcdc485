"""Tensors that become files as they are stored: planned from headers, copied by the core.

These are nearly all tensors of nearly all dumps. Files with anything else in them, and those of
which something fails here, are left to be converted one at a time, which tells what is wrong.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from fastdump import _core
from fastdump._convert.ledger import Ledger
from fastdump._convert.options import Options
from fastdump._convert.output_directory import OutputDirectory
from fastdump._convert.outputs import Output, output_of, parts_of
from fastdump._convert.payload import StoredBytes
from fastdump._convert.sources import Sources
from fastdump._convert.stems import Stems
from fastdump._dump.chosen import Chosen
from fastdump._dump.dump import chosen
from fastdump._dump.operator import Operator, Record
from fastdump._progress import INTERVAL_S
from fastdump._scan import Headers
from fastdump._table.arrow_column import (
    integer_array,
    is_in,
    is_null,
    rows_of,
    shape_list,
    text_codes,
    text_list,
)
from fastdump._tensor.tensor import Tensor
from fastdump.errors import FastdumpError, TableTooLargeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._arguments import Parallelism

_FILES = 1 << 14
"""So many files are planned at once: their headers and names have to be in memory."""

_MAX_ROWS = 1 << 19
"""Of more tensors in so many files, Python objects would take a quarter of a GiB."""

_MAX_NBYTES = 64 << 20
"""Of larger files single tensors are shared out among threads."""

_MAX_KINDS = 1 << 16
"""Of more, some would be looked at again; each takes half a KiB."""

_KINDS = ("operator", "exception")
_TYPES = ("npy", "bin", "raw")

_LEFT, _WRITTEN, _KEPT = range(3)

_Key: TypeAlias = "tuple[object, ...]"
"""Columns of a row on which depends what its file looks like."""


class _File(NamedTuple):
    """A dump file whose tensors are all to be copied.

    Attributes
    ----------
    number
        Its position in the order of execution.
    tensors
        Offset, number of bytes, and kind of the new file, of each.
    """

    number: int
    path: str
    state: int
    tensors: list[tuple[int, int, int]]


class StoredTensors:
    """Copies what can be copied, and knows what is left.

    Parameters
    ----------
    sources, options
        As of `Conversion`.
    ledger, stems
        Where it is noted.
    at_once
        Threads, and reads under way.

    Attributes
    ----------
    is_done : ndarray of bool
        Of each dump file in the order of execution, whether nothing is left to be done with it.
    written : dict
        Names of files that were written, by the number of a dump file that is not done.
    """

    def __init__(
        self,
        sources: Sources,
        options: Options,
        ledger: Ledger,
        stems: Stems,
        at_once: Parallelism,
    ) -> None:
        self._sources = sources
        self._options = options
        self._ledger = ledger
        self._stems = stems
        self._at_once = at_once
        self._kinds: dict[_Key, tuple[int, int] | None] = {}
        self._names: list[tuple[bytes, bytes]] = []
        self.is_done = np.zeros(len(sources.dump), np.bool_)
        self.written: dict[int, set[str]] = {}

    def copy(self, to: OutputDirectory, report: Callable[[int, int], object]) -> None:
        """Copy what can be copied; calls `report` with files and bytes that are not noted yet."""
        options = self._options
        if options.type not in _TYPES or options.logical or options.only is not None:
            return
        for numbers, records in self._files():
            if len(self._kinds) > _MAX_KINDS:
                self._kinds.clear()
                self._names.clear()
            try:
                files = self._planned(numbers, records, report)
            except (TableTooLargeError, MemoryError):
                continue  # one file at a time takes less
            if files:
                self._copy(files, to, report)

    def _files(self) -> Iterator[tuple[list[int], list[Record]]]:
        """Yield files whose names tell that there are tensors in them, so many at once."""
        numbers: list[int] = []
        records: list[Record] = []
        for number, record in enumerate(chosen(self._sources.dump).records()):
            if record.kind in _KINDS and not os.path.basename(record.path).isdecimal():  # noqa: PTH119
                numbers.append(number)
                records.append(record)
            if len(numbers) == _FILES:
                yield numbers, records
                numbers, records = [], []
        if numbers:
            yield numbers, records

    def _planned(
        self, numbers: list[int], records: list[Record], report: Callable[[int, int], object]
    ) -> list[_File]:
        """Return those of some files of which all tensors can be copied."""
        position_of = {record.relative: position for position, record in enumerate(records)}
        if len(position_of) < len(records):
            return []  # paths overlap, and rows do not tell which of two equal files they are of
        dump = self._sources.dump[numbers]
        scan = chosen(dump).scan(level="header", **self._at_once)
        scan.run(lambda _: report(0, 0))
        if scan.progress().tensors > _MAX_ROWS:
            return []
        files = []
        for path, state, rows in _sound_files(scan.headers()):
            position = position_of.get(path)
            if position is None:
                continue
            tensors = []
            for key, offset in rows:
                if key not in self._kinds:
                    op = dump[position]
                    tensor = _tensor_of(key, offset, chosen(dump), op)
                    if tensor is None:
                        break  # the file is another one now, which says nothing of the key
                    self._kinds[key] = self._kind(op, tensor)
                kind = self._kinds[key]
                if kind is None:
                    break
                tensors.append((offset, *kind))
            else:
                path = records[position].path
                is_small = len(tensors) == 1 or sum(one[1] for one in tensors) <= _MAX_NBYTES
                if is_small and self._has_names_of_its_own(path):
                    files.append(_File(numbers[position], path, state, tensors))
        return files

    def _kind(self, op: Operator, tensor: Tensor) -> tuple[int, int] | None:
        """Return size and kind of all tensors of a key, of which this is the first, to be copied.

        None if they have to be converted.
        """
        try:
            [part] = parts_of(op, [tensor], self._options)
            output = output_of(op, part, self._options)
        except (OSError, FastdumpError, MemoryError, ValueError):
            return None
        payload = _only_payload(output)
        if output is None or payload is None or payload.offset != tensor.offset:
            return None
        self._names.append((os.fsencode(output.suffix), output.head))
        return payload.nbytes, len(self._names) - 1

    def _has_names_of_its_own(self, path: str) -> bool:
        if not self._sources.may_meet:
            return True
        directory, stem = self._sources.directory_of(path), os.path.basename(path)  # noqa: PTH119
        return self._stems.owner(directory, stem, path) == path

    def _copy(
        self, files: list[_File], to: OutputDirectory, report: Callable[[int, int], object]
    ) -> None:
        """Copy the tensors of some files, and note what was done, also after an interruption."""
        numbers: dict[Path, int] = {}
        directories = np.array(
            [
                numbers.setdefault(self._sources.directory_of(file.path), len(numbers))
                for file in files
            ]
        )
        # Threads keep a directory open for as long as they can.
        order = np.argsort(directories, kind="stable")
        files = [files[i] for i in order.tolist()]
        tensors = np.array([one for file in files for one in file.tensors], np.int64)
        offsets, sizes, kinds = (np.ascontiguousarray(column) for column in tensors.T)
        ends = np.cumsum([len(file.tensors) for file in files], dtype=np.int64)
        extraction = _core.Extraction(
            paths=[os.fsencode(file.path) for file in files],
            states=np.array([file.state for file in files], np.int64).data,
            directory_of=directories[order].astype(np.int64).data,
            ends=ends.data,
            offsets=offsets.data,
            sizes=sizes.data,
            kind_of=kinds.data,
            kinds=self._names,
            directories=[_relative(directory) for directory in numbers],
            output_directory=to.descriptor,
            overwrite=self._options.overwrite,
            **self._at_once,
        )
        try:
            extraction.run(lambda done: report(done.files_done, done.bytes_done), INTERVAL_S)
        finally:
            outcomes = np.frombuffer(extraction.outcomes(), np.uint8)
            self._note(files, tensors, ends, outcomes)

    def _note(
        self,
        files: list[_File],
        tensors: NDArray[np.int64],
        ends: NDArray[np.int64],
        outcomes: NDArray[np.uint8],
    ) -> None:
        """Note what became of the tensors of some files, which `tensors` has as rows."""
        heads = np.array([len(head) for _, head in self._names])
        begins = np.concatenate(([0], ends[:-1]))
        is_done = np.logical_and.reduceat(outcomes != _LEFT, begins)
        written = np.flatnonzero(outcomes == _WRITTEN)
        nbytes = int((tensors[written, 1] + heads[tensors[written, 2]]).sum())
        self.is_done[np.array([file.number for file in files])[is_done]] = True
        with self._ledger as ledger:
            ledger.files += int(is_done.sum())
            ledger.files_done += int(is_done.sum())
            ledger.written += len(written)
            ledger.kept += int(((outcomes == _KEPT) & np.repeat(is_done, ends - begins)).sum())
            ledger.nbytes += nbytes
            ledger.bytes_done += nbytes
        for i in np.flatnonzero(~is_done).tolist():
            stem = os.path.basename(files[i].path)  # noqa: PTH119
            found = zip(files[i].tensors, outcomes[begins[i] : ends[i]].tolist(), strict=True)
            self.written[files[i].number] = {
                stem + os.fsdecode(self._names[kind][0])
                for (_, _, kind), outcome in found
                if outcome == _WRITTEN
            }


def _sound_files(headers: Headers) -> Iterator[tuple[str, int, list[tuple[_Key, int]]]]:
    """Yield the path, the state and the tensors of each file in which nothing is odd.

    A tensor is what its converted file depends on, and its offset.
    """
    batch = headers.table.batch
    if not len(headers.table):
        return
    is_sound = is_null(batch.column("note")) & is_in(batch.column("status"), ("ok",))
    is_sound &= is_in(batch.column("source"), ("tensor",))
    keys = zip(
        text_list(batch.column("io")),
        batch.column("index").to_pylist(),
        text_list(batch.column("dtype")),
        text_list(batch.column("format")),
        shape_list(batch.column("shape")),
        batch.column("nbytes").to_pylist(),
        strict=True,
    )
    rows = list(zip(keys, integer_array(batch.column("offset")).tolist(), strict=True))
    codes = text_codes(batch.column("path"))
    begins = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    is_sound = np.logical_and.reduceat(is_sound, begins)
    of_files = zip(
        text_list(rows_of(batch.column("path"), begins)),
        headers.state[begins].tolist(),
        itertools.pairwise([*begins.tolist(), len(rows)]),
        is_sound.tolist(),
        strict=True,
    )
    for path, state, (begin, end), is_usable in of_files:
        if is_usable:
            yield str(path), state, rows[begin:end]


def _tensor_of(key: _Key, offset: int, files: Chosen, op: Operator) -> Tensor | None:
    """Return the tensor of a file that has a key and an offset, None if there is none now."""
    try:
        found = (one for one in files.tensors(op) if one.offset == offset and _key_of(one) == key)
        return next(found, None)
    except (OSError, FastdumpError, MemoryError):
        return None


def _key_of(tensor: Tensor) -> _Key:
    """Return the key of the row that a scan has of a tensor: buffers and spaces have no shape."""
    shape = None if tensor.format is None else tensor.declared_shape
    return (
        *(tensor.io, tensor.index, tensor.dtype_name, tensor.format),
        *(shape, tensor.declared_nbytes),
    )


def _only_payload(output: Output | None) -> StoredBytes | None:
    """Return the payload of a file that has one and whose bytes are those of the dump."""
    if output is None or output.failed or len(output.payloads) != 1:
        return None
    [payload] = output.payloads
    return payload if isinstance(payload, StoredBytes) else None


def _relative(directory: Path) -> bytes:
    return b"" if directory == Path() else os.fsencode(directory)
