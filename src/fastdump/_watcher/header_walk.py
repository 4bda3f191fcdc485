"""Reads the headers of all files of a dump, place by place, in the order of execution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from fastdump import _core
from fastdump._header import describe_file
from fastdump._operator import Record
from fastdump._watcher.bytes_compared import StoredTensor
from fastdump.errors import DumpFormatError

_KINDS: Final = frozenset({"operator", "digits"})
_LAST: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class Execution:
    """One file: one execution of one operator.

    Attributes
    ----------
    record
        What its name tells.
    op_name
        The name in the header, or, if it has none, that in the file's name.
    tensors
        Of all dumps in the file, in order.
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


def site_of(record: Record) -> tuple[int | None, str | None, int | None]:
    """Return which memory an operator ran on: rank, time and device."""
    return record.rank, record.time, record.device


def records_by_site(
    index: _core.Index,
) -> dict[tuple[int | None, str | None, int | None], list[Record]]:
    """Return the files of operators in the order of execution, those of one memory together."""
    sites: dict[tuple[int | None, str | None, int | None], list[Record]] = {}
    for position in range(len(index)):
        record = Record(*index.record(position))
        if record.kind in _KINDS:
            sites.setdefault(site_of(record), []).append(record)
    for records in sites.values():
        # The index has steps one after another; models may have run in turn.
        records.sort(key=_when)
    return sites


def _when(record: Record) -> int:
    return _LAST if record.timestamp is None else record.timestamp


def read_header(record: Record) -> Execution:
    """Return what the header of one file says; what cannot be read has a status."""
    try:
        header: dict[str, Any] = describe_file(record.path)
    except DumpFormatError as error:
        return Execution(record, record.op_name, (), "malformed", str(error))
    except OSError as error:
        note = error.strerror or str(error)
        return Execution(record, record.op_name, (), "unreadable", note)
    tensors = tuple(
        StoredTensor.of(record.path, header, described) for described in header["tensors"]
    )
    return Execution(record, header["op_name"] or record.op_name, tensors, "ok", header["note"])


def read_headers(records: list[Record], on_read: Callable[[], object]) -> Iterator[Execution]:
    """Yield the files with their headers; `on_read` is called after each."""
    for record in records:
        yield read_header(record)
        on_read()
