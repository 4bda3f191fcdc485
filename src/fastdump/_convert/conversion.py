"""One conversion of dump files, several at a time, to other files."""

from __future__ import annotations

import errno
import functools
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from fastdump._arguments import Parallelism
from fastdump._convert import naming
from fastdump._convert.complete import is_complete
from fastdump._convert.ledger import Ledger, Place
from fastdump._convert.name_table import NameTables, read_names
from fastdump._convert.options import Options
from fastdump._convert.output_directory import opened
from fastdump._convert.outputs import Output, Part, output_of, parts_of
from fastdump._convert.records import ConvertFailure, ConvertNote, ConvertProgress
from fastdump._convert.report import ConvertReport
from fastdump._convert.source_file import SourceFile
from fastdump._convert.sources import Sources
from fastdump._convert.stems import Stems
from fastdump._convert.stored import StoredTensors
from fastdump._convert.work_list import Task, WorkList
from fastdump._dump.dump import chosen
from fastdump._dump.operator import Operator
from fastdump._progress import INTERVAL_S
from fastdump._tensor.dump_file import DumpFile
from fastdump.errors import FastdumpError

# Errors that concern one file. Any other error is a bug, and ends the conversion.
_FAILURES = (OSError, FastdumpError, MemoryError)
# The parts of files larger than this are shared out among threads.
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
        The file's operator.
    directory
        The directory of its converted files, below the output directory.
    stem
        The beginning of their names.
    real_stem
        The name that `stem` stands for if it is digits.
    modified_ns
        When the dump file was last written.
    """

    number: int
    op: Operator
    directory: Path
    stem: str
    real_stem: str | None
    modified_ns: int


class _StoppedError(Exception):
    """The conversion has to end before it is finished."""


class Conversion:
    """One conversion, to be run once.

    Parameters
    ----------
    sources
        What to convert.
    out
        The output directory; it need not exist.
    options
        What to make of them.
    at_once
        Threads, and reads under way.

    Attributes
    ----------
    ledger : Ledger
        What was done.
    """

    def __init__(
        self,
        sources: Sources,
        out: Path,
        options: Options,
        at_once: Parallelism,
    ) -> None:
        self._sources = sources
        self._out = out
        self._options = options
        self.ledger = Ledger(len(sources.dump), Counter(sources.dump.skipped))
        # Files of one directory have distinct names; files of several may not.
        self._stems = Stems(may_meet=sources.may_meet or options.type == "msnpy")
        self._stored = StoredTensors(sources, options, self.ledger, self._stems, at_once)
        self._work = WorkList(self._left(), at_once["threads"])
        self._tables = NameTables()

    def run(self, on_progress: Callable[[ConvertProgress], object] | None) -> None:
        """Convert everything; `report` returns what was done.

        Raises
        ------
        NoDumpError
            If nothing can be converted: all files are of other kinds.
        OSError
            If the output directory cannot be made.
        KeyboardInterrupt
            After Ctrl-C. Files that were finished stay; there are no unfinished ones.
        """
        with ExitStack() as stack:
            self._top = stack.enter_context(opened(self._out))
            try:
                self._stored.copy(self._top, self._reporting(on_progress))
                self._work.start()
                while not self._work.wait(INTERVAL_S):
                    if on_progress is not None:
                        on_progress(self.progress())
            finally:
                # Threads that have not ended may still write there: then it stays open.
                still_open = stack.pop_all()
                self._work.stop()
                still_open.close()
        self._sources.require_converted(self.report())

    def _reporting(
        self, on_progress: Callable[[ConvertProgress], object] | None
    ) -> Callable[[int, int], object]:
        """Return what reports so many more files and bytes than the ledger has."""

        def report(files: int, nbytes: int) -> None:
            if on_progress is not None:
                noted = self.progress()
                on_progress(
                    replace(
                        noted,
                        files_done=noted.files_done + files,
                        bytes_done=noted.bytes_done + nbytes,
                    )
                )

        return report

    def _left(self) -> Iterator[Task]:
        """Yield a task for each file that is left when stored tensors have been copied."""
        for number in np.flatnonzero(~self._stored.is_done).tolist():
            yield functools.partial(self._convert_file, self._sources.dump[number], number)

    def progress(self) -> ConvertProgress:
        """Return how far the conversion has come."""
        return self.ledger.progress()

    def report(self) -> ConvertReport:
        """Return what was done; after an interruption, what was done until then."""
        return self.ledger.report(str(self._out))

    def _convert_file(self, op: Operator, number: int, buffer: memoryview) -> None:
        try:
            if reason := _reason_to_skip(op):
                with self.ledger as ledger:
                    ledger.skipped[reason] += 1
                return
            with self.ledger as ledger:
                ledger.files += 1
            parts = parts_of(op, chosen(self._sources.dump).tensors(op), self._options)
            file = self._file(op, number)
            self._convert_parts(file, parts, buffer)
        except _FAILURES as error:
            self._fail((number, 0), op, None, error)
        finally:
            with self.ledger as ledger:
                ledger.files_done += 1

    def _file(self, op: Operator, number: int) -> _File:
        name = os.path.basename(op.path)  # noqa: PTH119
        directory = self._sources.directory_of(op.path)
        stem = naming.msnpy_stem(name, op.op_name) if self._options.type == "msnpy" else name
        other = self._stems.owner(directory, stem, op.path)
        if other != op.path:
            raise FileExistsError(errno.EEXIST, "files of these names were made of", other)
        real_stem = self._real_stem(op, directory, stem) if stem.isdecimal() else None
        modified_ns = Path(op.path).stat().st_mtime_ns
        return _File(number, op, directory, stem, real_stem, modified_ns)

    def _real_stem(self, op: Operator, directory: Path, digits: str) -> str | None:
        """Return the name behind digits, from the table beside the dump file or from its header."""
        beside = Path(op.path).parent
        if known := read_names(beside).get(digits):
            return known.rpartition("/")[2]
        # A name from a header is not a file's name: a table among dumps must not get it.
        is_beside = beside.resolve() == (self._out / directory).resolve()
        return None if is_beside else op.op_name

    def _convert_parts(self, file: _File, parts: list[Part], buffer: memoryview) -> None:
        if note := file.op.header["note"]:
            self._note((file.number, 0), ConvertNote(file.op.path, None, "noted", str(note)))
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
                self._note(
                    place,
                    ConvertNote(
                        op.path, tensor.name, tensor.status, tensor.note, _offset=tensor.offset
                    ),
                )
        try:
            output = output_of(op, part, self._options)
            if output is None:
                return
            for name, failure in output.failed:
                self._fail(place, op, name, failure)
            self._store(file, part.tensors[0].file, output, buffer)
        except _StoppedError:
            return
        except _FAILURES as error:
            self._fail(place, op, part.name, error)

    def _store(self, file: _File, dump_file: DumpFile, output: Output, buffer: memoryview) -> None:
        name = file.stem + output.suffix
        if name in self._stored.written.get(file.number, ()):
            return
        stored = naming.storable(name)
        with self._top.below(file.directory) as directory:
            # The row comes before the file: without it nobody could tell what the digits mean.
            if stored != name:
                self._tables.note(directory, stored.partition(".")[0], name)
            elif file.real_stem is not None:
                self._tables.note(directory, file.stem, file.real_stem)
                name = file.real_stem + output.suffix
            if stored != name:
                with self.ledger as ledger:
                    ledger.renamed[str(file.directory / stored)] = name
            if not self._options.overwrite and is_complete(
                directory, stored, output.head, output.nbytes, file.modified_ns
            ):
                with self.ledger as ledger:
                    ledger.kept += 1
                return
            with SourceFile(dump_file, buffer) as source, directory.replacing(stored) as to:
                for piece in self._pieces(output, source):
                    to.write(piece)
                source.require_unchanged()
        with self.ledger as ledger:
            ledger.written += 1
            ledger.nbytes += output.nbytes

    def _pieces(self, output: Output, source: SourceFile) -> Iterator[bytes | memoryview]:
        for piece in _all_pieces(output, source):
            if self._work.stopped:
                raise _StoppedError
            yield piece
            with self.ledger as ledger:
                ledger.bytes_done += len(piece)

    def _fail(self, place: Place, op: Operator, tensor: str | None, error: BaseException) -> None:
        with self.ledger as ledger:
            ledger.findings.append(
                (place, ConvertFailure(op.path, tensor, _reason(error, op.path)))
            )

    def _note(self, place: Place, note: ConvertNote) -> None:
        with self.ledger as ledger:
            ledger.noted.append((place, note))


def _all_pieces(output: Output, source: SourceFile) -> Iterator[bytes | memoryview]:
    yield output.head
    for payload in output.payloads:
        yield from payload.pieces(source)


def _reason_to_skip(op: Operator) -> str | None:
    """Return why a file holds nothing to convert, or None; the header is read only if needed."""
    by_name = _SKIPPED_KINDS.get(op.kind)
    return by_name or _SKIPPED_KINDS.get(str(op.header["kind"]))


def _reason(error: BaseException, path: str) -> str:
    """Return what went wrong, without the dump file's name, which is reported anyway."""
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, OSError) and error.strerror is not None:
        if error.filename is None or os.fsdecode(error.filename) == path:
            return error.strerror
        return f"{error.strerror}: {os.fsdecode(error.filename)}"
    return str(error).removeprefix(f"{path!r}: ")
