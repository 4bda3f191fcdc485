"""Overflow records, in which a device notes the operator whose arithmetic first overflowed.

A record is the payload of output 0 of a file ``Opdebug.Node_OpDebug...``. There are two layouts.
The old one has an entry for each of three units, whether or not they overflowed; the new one has a
single entry, which names its unit. Sources: the vendor's overflow guide, and the output of its
converter.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from fastdump.errors import DumpFormatError

if TYPE_CHECKING:
    from typing_extensions import Buffer

_Value: TypeAlias = "int | tuple[int, ...]"

_OLD_NBYTES = 2048
_MAGIC = 0x5A5A5A5A
_HEAD = struct.Struct("<6I")  # magic, version, valid, acc_type, rsv, data_len
_STATUS = "status"
_STATUSES_V1 = 4

_TASK = ("model_id", "stream_id", "task_id", "task_type")
_INFO = (*_TASK, "pc_start", "para_base")
# Old layout: positions of a unit's information and of its status, and the fields of the status.
_OLD_UNITS = {
    "DHA Atomic Add": (0, 512, (_STATUS,)),
    "L2 Atomic Add": (128, 768, (_STATUS,)),
    "AI Core": (256, 1024, ("kernel_code", "block_idx", _STATUS)),
}
_CORE = (
    *(*_TASK, "context_id", "thread_id", "pc_start", "para_base", "core_id", "block_id"),
    _STATUS,
)
# New layout: name and fields of each acc_type.
_NEW_UNITS = {
    0: ("AIC", _CORE),
    1: ("AIV", _CORE),
    2: ("AICPU", (*_TASK, "context_id", "cpu_id", "thread_id", _STATUS)),
    3: ("SDMA", (*_TASK, "context_id", "thread_id", "src_addr", "dst_addr", "channel_id", _STATUS)),
}
_ADDRESSES = frozenset({"pc_start", "para_base", "kernel_code", "src_addr", "dst_addr"})


@dataclass(frozen=True, slots=True)
class UnitOverflow:
    """The report of one unit of the device.

    Attributes
    ----------
    unit
        "DHA Atomic Add", "L2 Atomic Add" or "AI Core" in the old layout; "AIC", "AIV", "AICPU" or
        "SDMA" in the new one.
    fields
        By name, in the order of the record: ``model_id``, ``stream_id``, ``task_id`` and
        ``task_type`` of the operator, addresses, where it ran, ``status``. The status is a bit mask
        of what overflowed, 0 for nothing; of cores in version 1 of the new layout it is a tuple of
        four.
    """

    unit: str
    fields: Mapping[str, _Value]

    def document(self) -> dict[str, Any]:
        """Return the fields as the vendor's JSON has them: addresses in hexadecimal."""
        return {name: _json_value(name, value) for name, value in self.fields.items()}


@dataclass(frozen=True, slots=True)
class OpDebugRecord:
    """One overflow record.

    Attributes
    ----------
    version
        Version of the new layout; None for the old layout.
    units
        Reports of three units in the old layout, of one unit in the new layout.
    valid, reserved
        Fields of the new layout; 1 and 0 for the old layout.
    """

    version: int | None
    units: tuple[UnitOverflow, ...]
    valid: int = 1
    reserved: int = 0

    def document(self) -> dict[str, Any]:
        """Return the record as the vendor's converter writes it, ready for `json.dumps`."""
        if self.version is None:
            return {unit.unit: unit.document() for unit in self.units}
        (unit,) = self.units
        return {
            "magic": hex(_MAGIC),
            "version": self.version,
            "acc_list": {
                "valid": self.valid,
                "acc_type": unit.unit,
                "rsv": self.reserved,
                "data_len": 8 * sum(map(_length, unit.fields.values())),
                "data": unit.document(),
            },
        }


def parse_op_debug(payload: Buffer) -> OpDebugRecord:
    """Return the overflow record that `payload` holds.

    Parameters
    ----------
    payload
        The bytes of output 0.

    Raises
    ------
    DumpFormatError
        If they are no overflow record of either layout. The message gives offsets in `payload`.
    """
    data = memoryview(payload).cast("B")
    if len(data) >= 4 and int.from_bytes(data[:4], "little") == _MAGIC:
        return _parse_new(data)
    if len(data) != _OLD_NBYTES:
        raise DumpFormatError(
            f"an overflow record has {_OLD_NBYTES} bytes or begins with {_MAGIC:#x}: found "
            f"{len(data)} bytes"
        )
    units = []
    for unit, (info_at, status_at, status_fields) in _OLD_UNITS.items():
        info = _u64s(data, info_at, _INFO)
        units.append(UnitOverflow(unit, info | _u64s(data, status_at, status_fields)))
    return OpDebugRecord(None, tuple(units))


def _parse_new(data: memoryview) -> OpDebugRecord:
    if len(data) < _HEAD.size:
        raise DumpFormatError(
            f"the overflow record ends at byte {len(data)}, within its head of {_HEAD.size} bytes"
        )
    _, version, valid, acc_type, reserved, data_nbytes = _HEAD.unpack_from(data)
    if acc_type not in _NEW_UNITS:
        raise DumpFormatError(
            f"acc_type at byte 12 of the overflow record is {acc_type}, expected 0 (AIC), 1 (AIV), "
            "2 (AICPU) or 3 (SDMA)"
        )
    unit, names = _NEW_UNITS[acc_type]
    if version not in (0, 1):
        raise DumpFormatError(
            f"version at byte 4 of the overflow record is {version}, expected 0 or 1"
        )
    n_statuses = _STATUSES_V1 if version == 1 and names is _CORE else 1
    expected = 8 * (len(names) - 1 + n_statuses)
    if data_nbytes != expected:
        raise DumpFormatError(
            f"data_len at byte 20 of the overflow record is {data_nbytes}, expected {expected} "
            f"for {unit} in version {version}"
        )
    if len(data) < _HEAD.size + expected:
        raise DumpFormatError(
            f"the overflow record ends at byte {len(data)}, expected {expected} bytes of {unit} "
            f"data from byte {_HEAD.size} on"
        )
    fields = _u64s(data, _HEAD.size, names)
    if n_statuses > 1:
        at = _HEAD.size + 8 * (len(names) - 1)
        fields[_STATUS] = struct.unpack_from(f"<{n_statuses}Q", data, at)
    return OpDebugRecord(version, (UnitOverflow(unit, fields),), valid, reserved)


def _u64s(data: memoryview, at: int, names: Sequence[str]) -> dict[str, _Value]:
    return dict(zip(names, struct.unpack_from(f"<{len(names)}Q", data, at), strict=True))


def _length(value: _Value) -> int:
    return len(value) if isinstance(value, tuple) else 1


def _json_value(name: str, value: _Value) -> object:
    if isinstance(value, tuple):
        return list(value)
    return hex(value) if name in _ADDRESSES else value
