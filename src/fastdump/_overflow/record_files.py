"""The files of a dump that hold overflow records, and the records in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fastdump._dump.dump import Dump, chosen
from fastdump._dump.operator import Operator
from fastdump._tensor.op_debug import OpDebugRecord, UnitOverflow, parse_op_debug
from fastdump._tensor.tensor import Tensor
from fastdump.errors import DumpFormatError, FileChangedError

_NAME: Final = "node_opdebug"
"""Name of the node that records, in headers."""
_TYPES: Final = frozenset({"opdebug", "op_debug"})
"""Types of the operator that records, in names of files."""
_SUFFIX: Final = "Debug"
"""Follows the operator's name in the name of an overflow dump of AICPU."""
_MAGIC: Final = bytes.fromhex("5a5a5a5a")
_OLD_NBYTES: Final = 2048
_MAX_NBYTES: Final = 1 << 20
"""A record has 2,048 bytes: no more than this is read of what claims to be one."""


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """One record of a file, decoded or not.

    Attributes
    ----------
    operator
        The file.
    appended
        Number of the dump in the file.
    decoded
        The record, or None if it could not be read.
    status, note
        As in `OverflowRecord`.
    debugged
        Name of the operator that overflowed, if the file's name tells it.
    """

    operator: Operator
    appended: int
    decoded: OpDebugRecord | None
    status: str
    note: str
    debugged: str | None

    @property
    def units(self) -> tuple[UnitOverflow, ...]:
        """What each unit reports; () if the record could not be read."""
        return () if self.decoded is None else self.decoded.units


def record_files(dump: Dump) -> Iterator[FoundRecord]:
    """Yield the records of a dump in the order of its files.

    A file with the name of a record gives at least one, however broken. A file with another name
    gives those that it is found to hold.
    """
    for number in _candidates(dump):
        operator = dump[number]
        name = operator.op_name or ""
        is_named = operator.kind == "op_debug"
        if not is_named and not _holds_record(operator, name):
            continue
        is_of_aicpu = not is_named and name.endswith(_SUFFIX)
        debugged = name.removesuffix(_SUFFIX) or None if is_of_aicpu else None
        try:
            dumps = [operator.outputs, *operator.appended]
        except (DumpFormatError, OSError) as error:
            yield FoundRecord(operator, 0, *_failed(error), debugged)
            continue
        for appended, tensors in enumerate(dumps):
            outputs = [tensor for tensor in tensors if tensor.io == "output"]
            yield FoundRecord(operator, appended, *_decode(outputs), debugged)


def _candidates(dump: Dump) -> list[int]:
    """Return the numbers of files that may hold a record, by their names."""
    found = [
        number
        for number, record in enumerate(chosen(dump).records())
        if (record.op_type or "").casefold() in _TYPES or (record.op_name or "").endswith(_SUFFIX)
    ]
    # A file that was itself given may have any name.
    return found or ([0] if len(dump) == 1 else [])


def _holds_record(operator: Operator, name: str) -> bool:
    """Tell whether a file whose name is not that of a record holds one all the same."""
    if operator.kind not in ("operator", "digits", "unknown"):
        return False
    try:
        header = operator.header
        outputs = operator.outputs
        if header["kind"] not in ("standard", "version_1") or operator.inputs or not outputs:
            return False
        if str(header["op_name"]).casefold() == _NAME:
            return True
        if not name.endswith(_SUFFIX):
            return False
        output = outputs[0]
        if output.dtype_name != "uint8" or output.declared_nbytes < len(_MAGIC):
            return False
        return output.declared_nbytes == _OLD_NBYTES or _payload(output, len(_MAGIC)) == _MAGIC
    except (DumpFormatError, OSError):
        # Whatever it is, its name does not say that it is a record.
        return False


def _decode(outputs: list[Tensor]) -> tuple[OpDebugRecord | None, str, str]:
    """Return the record, its status and a note."""
    if not outputs:
        return None, "malformed", "the file has no output, and so no overflow record"
    output = outputs[0]
    if output.status in ("truncated", "absent"):
        return None, "truncated", output.note
    try:
        decoded = parse_op_debug(_payload(output, _MAX_NBYTES))
    except (DumpFormatError, OSError) as error:
        return _failed(error)
    if not decoded.valid:
        return decoded, "not_valid", "the record says of itself that it is not valid"
    return decoded, "ok", ""


def _failed(error: DumpFormatError | OSError) -> tuple[None, str, str]:
    """Return what `_decode` does, for what could not be read."""
    if isinstance(error, (OSError, FileChangedError)):
        return None, "unreadable", getattr(error, "strerror", None) or str(error)
    return None, "malformed", str(error)


def _payload(tensor: Tensor, max_nbytes: int) -> bytes:
    return tensor.read_raw(nbytes=max_nbytes).tobytes()
