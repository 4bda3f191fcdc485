"""Headers of the files of a dump, and which files are of the same memory."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from fastdump._dump.dump import Dump, chosen
from fastdump._dump.operator import Record
from fastdump._scan import TableScan
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor
from fastdump._watcher.bytes_compared import StoredTensor
from fastdump.errors import DumpFormatError, FileChangedError

_KINDS: Final = frozenset({"operator", "digits"})
_LAST: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class Execution:
    """One file: one execution of one operator.

    Attributes
    ----------
    record
        What the file's name tells.
    op_name
        The name in the header, or, if that has none, in the file's name.
    tensors
        Those of all dumps in the file, in order.
    status, note
        "ok", or "malformed" or "unreadable" and why.
    """

    record: Record
    op_name: str | None
    tensors: tuple[StoredTensor, ...]
    status: str
    note: str

    def of(self, io: str) -> list[StoredTensor]:
        """Return the inputs, or the outputs."""
        return [tensor for tensor in self.tensors if tensor.io == io]

    def first_outputs(self) -> dict[int, StoredTensor]:
        """Return the outputs of the first dump in the file, by index."""
        return {tensor.index: tensor for tensor in self.of("output") if not tensor.appended}


def files_with_addresses(dump: Dump) -> tuple[TableScan, int]:
    """Return a scan of the headers of all files of operators, and how many files there are."""
    return chosen(dump).header_scan(_KINDS)


def records_by_memory(dump: Dump) -> list[list[Record]]:
    """Return the files of operators in the order of execution, a list for each device memory."""
    found: dict[tuple[object, ...], list[Record]] = defaultdict(list)
    for record in chosen(dump).records():
        if record.kind in _KINDS:
            found[record.rank, record.time, record.device].append(record)
    for records in found.values():
        # The dump has steps one after another; models may have run in turn.
        records.sort(key=_when)
    return list(found.values())


def _when(record: Record) -> int:
    return _LAST if record.timestamp is None else record.timestamp


def read_header(record: Record) -> Execution:
    """Return what the header of one file says; the status tells if it cannot be read."""
    file = DumpFile(record.path)
    try:
        header = file.header()
    except FileChangedError as error:
        return Execution(record, record.op_name, (), "unreadable", str(error))
    except DumpFormatError as error:
        return Execution(record, record.op_name, (), "malformed", str(error))
    except OSError as error:
        note = error.strerror or str(error)
        return Execution(record, record.op_name, (), "unreadable", note)
    tensors = tuple(StoredTensor.of(Tensor(file, one)) for one in header["tensors"])
    return Execution(record, header["op_name"] or record.op_name, tensors, "ok", header["note"])
