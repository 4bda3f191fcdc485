"""One conversion: dump files become other files, several at a time."""

from __future__ import annotations

import errno
import functools
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fastdump._convert import naming
from fastdump._convert.ledger import Ledger, Place
from fastdump._convert.name_table import NameTables, read_names
from fastdump._convert.options import Options
from fastdump._convert.output_file import is_complete, write_atomically
from fastdump._convert.outputs import Output, Part, output_of, parts_of
from fastdump._convert.report import ConvertFailure, ConvertNote, ConvertProgress, ConvertReport
from fastdump._convert.source_file import SourceFile
from fastdump._convert.sources import Source
from fastdump._convert.work_list import Task, WorkList
from fastdump._operator import Operator
from fastdump.errors import FastdumpError

# What may be wrong with a file. Anything else is wrong with this package, and ends the conversion.
_FAILURES = (OSError, FastdumpError, MemoryError)
# The parts of larger files are shared out among threads.
_SHARED_NBYTES = 64 << 20

_SKIPPED_KINDS = {
    "converted": "converted already",
    "npy": "converted already",
    "statistics": "statistics, no tensors",
    "mapping": "mapping.csv",
    "core": "ELF core, no tensors",
}


@dataclass(frozen=True, slots=True)
class _File:
    """A dump file that is being converted.

    Attributes
    ----------
    number
        Its position in the order of execution.
    op
        What it is.
    directory
        Of its files, below the output directory.
    stem
        What their names begin with.
    real_stem
        What `stem` stands for if it is digits.
    modified_ns
        When it was last written.
    """

    number: int
    op: Operator
    directory: Path
    stem: str
    real_stem: str | None
    modified_ns: int


class _StoppedError(Exception):
    """The conversion is to end before it is finished."""


class Conversion:
    """One conversion, to be run once.

    Parameters
    ----------
    sources
        What to convert.
    skipped
        What was passed over while that was looked for.
    out
        The output directory; it need not exist.
    options
        What to make of it.
    threads
        How many.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        skipped: Counter[str],
        out: Path,
        options: Options,
        threads: int,
    ) -> None:
        self._sources = sources
        self._out = out
        self._options = options
        self._ledger = Ledger(sum(len(source.operators) for source in sources), skipped)
        self._work = WorkList(self._tasks(), threads)
        self._tables = NameTables()
        self._lock = threading.Lock()  # for those below
        self._made: set[Path] = set()
        # Files of one directory have names of their own; those of several may not.
        may_meet = len(sources) > 1 or options.type == "msnpy"
        self._stems: dict[Path, str] | None = {} if may_meet else None

    def run(
        self, on_progress: Callable[[ConvertProgress], object] | None, interval_s: float
    ) -> None:
        """Convert all; `report` tells how that went.

        Raises
        ------
        OSError
            If the output directory cannot be made.
        KeyboardInterrupt
            After Ctrl-C. Files that were finished stay; there are no unfinished ones.
        """
        self._out.mkdir(parents=True, exist_ok=True)
        try:
            self._work.start()
            while not self._work.wait(interval_s):
                if on_progress is not None:
                    on_progress(self.progress())
        finally:
            self._work.stop()

    def progress(self) -> ConvertProgress:
        """Return how far it is."""
        return self._ledger.progress()

    def report(self) -> ConvertReport:
        """Return what was done, after an interruption up to then."""
        return self._ledger.report()

    def _tasks(self) -> Iterator[Task]:
        number = 0
        for source in self._sources:
            for op in source.operators:
                yield functools.partial(self._convert_file, source, op, number)
                number += 1

    def _convert_file(self, source: Source, op: Operator, number: int, buffer: memoryview) -> None:
        try:
            if reason := _reason_to_skip(op):
                self._ledger.file_skipped(reason)
                return
            self._ledger.file_begun()
            parts = parts_of(op, self._options)
            file = self._file(source, op, number)
            self._convert_parts(file, parts, buffer)
        except _FAILURES as error:
            self._fail((number, 0), op, None, error)
        finally:
            self._ledger.file_done()

    def _file(self, source: Source, op: Operator, number: int) -> _File:
        name = os.path.basename(op.path)  # noqa: PTH119
        directory = source.directory_of(op)
        stem = naming.msnpy_stem(name, op.op_name) if self._options.type == "msnpy" else name
        if self._stems is not None:
            with self._lock:
                other = self._stems.setdefault(directory / stem, op.path)
            if other != op.path:
                raise FileExistsError(errno.EEXIST, "files of these names were made of", other)
        real_stem = self._real_stem(op, directory, stem) if stem.isdecimal() else None
        modified_ns = Path(op.path).stat().st_mtime_ns
        return _File(number, op, directory, stem, real_stem, modified_ns)

    def _real_stem(self, op: Operator, directory: Path, digits: str) -> str | None:
        """Return what digits stand for by the table beside the dump file, or by its header."""
        beside = Path(op.path).parent
        if known := read_names(beside).get(digits):
            return known.rpartition("/")[2]
        # The name in a header is no name of a file: among dumps a row must not have it.
        is_beside = beside.resolve() == (self._out / directory).resolve()
        return None if is_beside else op.op_name

    def _convert_parts(self, file: _File, parts: Sequence[Part], buffer: memoryview) -> None:
        if note := file.op.header["note"]:
            place = (file.number, 0)
            self._ledger.noted(place, ConvertNote(file.op.path, None, "noted", str(note)))
        tasks: list[Task] = [
            functools.partial(self._convert_part, file, part, (file.number, position))
            for position, part in enumerate(parts, 1)
        ]
        if cast("int", file.op.header["file_nbytes"]) > _SHARED_NBYTES:
            self._work.add(tasks)
            return
        for task in tasks:
            if self._work.stopped:
                return
            task(buffer)

    def _convert_part(self, file: _File, part: Part, place: Place, buffer: memoryview) -> None:
        op = file.op
        for tensor in part.tensors:
            if tensor.status != "ok":
                note = ConvertNote(op.path, tensor.name, tensor.status, tensor.note)
                self._ledger.noted(place, note)
        try:
            output = output_of(op, part, self._options)
            if output is None:
                return
            for name, failure in output.failed:
                self._fail(place, op, name, failure)
            self._store(file, output, buffer)
        except _StoppedError:
            return
        except _FAILURES as error:
            self._fail(place, op, part.name, error)

    def _store(self, file: _File, output: Output, buffer: memoryview) -> None:
        name = file.stem + output.suffix
        stored = naming.storable(name)
        path = self._directory(file.directory) / stored
        # Before the file: digits without a row would tell nobody what they are.
        if stored != name:
            self._tables.note(path.parent, path.stem, name)
        elif file.real_stem is not None:
            self._tables.note(path.parent, file.stem, file.real_stem)
            name = file.real_stem + output.suffix
        if stored != name:
            self._ledger.renamed(str(file.directory / stored), name)
        if not self._options.overwrite and is_complete(
            path, output.head, output.nbytes, file.modified_ns
        ):
            self._ledger.kept()
            return
        with SourceFile(file.op.path, buffer) as source:
            write_atomically(path, self._buffers(output, source))
        self._ledger.written(output.nbytes)

    def _buffers(self, output: Output, source: SourceFile) -> Iterator[bytes | memoryview]:
        yield output.head
        for payload in output.payloads:
            for piece in payload.pieces(source):
                if self._work.stopped:
                    raise _StoppedError
                yield piece
                self._ledger.bytes_done(len(piece))

    def _directory(self, below: Path) -> Path:
        """Return a directory below the output directory, which is there now."""
        path = self._out / below
        with self._lock:
            if below not in self._made:
                path.mkdir(parents=True, exist_ok=True)
                self._made.add(below)
        return path

    def _fail(self, place: Place, op: Operator, tensor: str | None, error: BaseException) -> None:
        self._ledger.failed(place, ConvertFailure(op.path, tensor, _reason(error, op.path)))


def _reason_to_skip(op: Operator) -> str | None:
    """Return why a file holds nothing to convert; None if it may. Its header is read if need be."""
    by_name = _SKIPPED_KINDS.get(op.kind)
    return by_name or _SKIPPED_KINDS.get(str(op.header["kind"]))


def _reason(error: BaseException, path: str) -> str:
    """Return what went wrong, without the name of the dump file, which is told anyway."""
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, OSError) and error.strerror is not None:
        if error.filename is None or os.fsdecode(error.filename) == path:
            return error.strerror
        return f"{error.strerror}: {os.fsdecode(error.filename)}"
    return str(error).removeprefix(f"{path!r}: ")
