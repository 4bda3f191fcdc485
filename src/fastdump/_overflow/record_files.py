"""Finds the files that hold overflow records, and reads the records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from fastdump import _core
from fastdump._op_debug import OpDebugRecord, parse_op_debug
from fastdump._opened_files import OpenedFiles
from fastdump._operator import Operator, Record
from fastdump._stats import path_bytes
from fastdump._tensor import Tensor
from fastdump.errors import DumpFormatError

_NAME: Final = "node_opdebug"
"""Name of the node that records, in headers."""
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
        None if it could not be read.
    status, note
        As in `OverflowRecord`.
    debugged
        Name of the operator that overflowed if the name of the file tells it.
    """

    operator: Operator
    appended: int
    decoded: OpDebugRecord | None
    status: str
    note: str
    debugged: str | None


def record_files(index: _core.Index, files: OpenedFiles) -> Iterator[FoundRecord]:
    """Yield the records of a dump in the order of its files.

    What has the name of a record gives at least one, however broken. A file of which only its
    content can tell gives one if it does.
    """
    for position in _candidates(index):
        record = Record(*index.record(position))
        operator = Operator(record, files)
        name = record.op_name or ""
        is_named = operator.kind == "op_debug"
        if not is_named and not _holds_record(operator, name):
            continue
        is_of_aicpu = not is_named and name.endswith(_SUFFIX)
        debugged = name.removesuffix(_SUFFIX) or None if is_of_aicpu else None
        try:
            dumps = [operator.outputs, *operator.appended]
        except DumpFormatError as error:
            yield FoundRecord(operator, 0, None, "malformed", str(error), debugged)
            continue
        except OSError as error:
            yield FoundRecord(
                operator, 0, None, "unreadable", error.strerror or str(error), debugged
            )
            continue
        for appended, tensors in enumerate(dumps):
            outputs = [tensor for tensor in tensors if tensor.io == "output"]
            decoded, status, note = _decode(outputs)
            yield FoundRecord(operator, appended, decoded, status, note, debugged)


def _candidates(index: _core.Index) -> list[int]:
    """Return the positions of files that may hold a record, by their names."""
    everything = np.arange(len(index), dtype=np.uint32)
    chosen: set[int] = set()
    by_type = ["[oO][pP][dD][eE][bB][uU][gG]", "[oO][pP]_[dD][eE][bB][uU][gG]"]
    for op_type, op_name in ((by_type, []), ([], [f"*{_SUFFIX}"])):
        found = index.select(
            everything.data,
            rank=[],
            device=[],
            model_id=[],
            step=[],
            time=[],
            model=[],
            op_type=op_type,
            op_name=op_name,
        )
        chosen.update(np.frombuffer(found, np.uint32).tolist())
    if len(index) == 1:
        # A file that was itself given may have any name.
        chosen.add(0)
    return sorted(chosen)


def _holds_record(operator: Operator, name: str) -> bool:
    """Tell whether the content is a record, although the name is not one of those for records."""
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
        if outputs[0].dtype_name != "uint8" or outputs[0].declared_nbytes < len(_MAGIC):
            return False
        if outputs[0].declared_nbytes == _OLD_NBYTES:
            return True
        return _payload(outputs[0], len(_MAGIC)) == _MAGIC
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
    except DumpFormatError as error:
        return None, "malformed", str(error)
    except OSError as error:
        return None, "unreadable", error.strerror or str(error)
    if not decoded.valid:
        return decoded, "not_valid", "the record says of itself that it is not valid"
    return decoded, "ok", ""


def _payload(tensor: Tensor, max_nbytes: int) -> bytes:
    """Return the first bytes of a tensor. The file is read: a mapping of one that shrinks kills."""
    payload = np.empty(min(tensor.stored_nbytes, max_nbytes), np.uint8)
    n_read = _core.read_into(path_bytes(tensor.path), tensor.offset, payload.data)
    return payload[:n_read].tobytes()
