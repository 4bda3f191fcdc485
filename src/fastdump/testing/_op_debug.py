"""Overflow records (OpDebug): the status buffers that arithmetic units write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from fastdump.testing._record import pack_fields
from fastdump.testing._standard import write_dump
from fastdump.testing._tensor import TensorSpec

_NBYTES = 2048
_MAGIC = 0x5A5A5A5A
_STATUSES = 4  # of an AI core, in version 1

_TASK = ("model_id", "stream_id", "task_id", "task_type")
_INFO = (*_TASK, "pc_start", "para_base")
# Old layout: positions of a unit's information and of its status, and the fields of the status.
_UNITS = {
    "dha_atomic_add": (0, 512, ("status",)),
    "l2_atomic_add": (128, 768, ("status",)),
    "ai_core": (256, 1024, ("kernel_code", "block_idx", "status")),
}
_CORE = (
    *(*_TASK, "context_id", "thread_id", "pc_start", "para_base", "core_id", "block_id"),
    "status",
)
# New layout: number and fields of each kind of unit.
_ACCELERATORS = {
    "AIC": (0, _CORE),
    "AIV": (1, _CORE),
    "AICPU": (2, (*_TASK, "context_id", "cpu_id", "thread_id", "status")),
    "SDMA": (
        3,
        (*_TASK, "context_id", "thread_id", "src_addr", "dst_addr", "channel_id", "status"),
    ),
}


def op_debug_payload(
    *,
    dha_atomic_add: Mapping[str, int] | None = None,
    l2_atomic_add: Mapping[str, int] | None = None,
    ai_core: Mapping[str, int] | None = None,
) -> bytes:
    """Return an overflow record of the old layout.

    Parameters
    ----------
    dha_atomic_add, l2_atomic_add, ai_core : mapping of str to int, optional
        The report of each unit: ``model_id``, ``stream_id``, ``task_id``, ``task_type``,
        ``pc_start``, ``para_base`` and ``status``; of the AI core also ``kernel_code`` and
        ``block_idx``. A field that is not given is 0.

    Returns
    -------
    bytes
        The record, 2048 bytes.

    Raises
    ------
    ValueError
        If a unit has no such field, or a number does not fit it.

    Examples
    --------
    >>> op_debug_payload(ai_core={"model_id": 1, "status": 0x20})[256:264].hex()
    '0100000000000000'
    """
    record = bytearray(_NBYTES)
    given = {"dha_atomic_add": dha_atomic_add, "l2_atomic_add": l2_atomic_add, "ai_core": ai_core}
    for unit, (info_at, status_at, status_fields) in _UNITS.items():
        values = dict(given[unit] or {})
        _check_fields(unit, values, (*_INFO, *status_fields))
        for at, fields in ((info_at, _INFO), (status_at, status_fields)):
            packed = pack_fields(f"{len(fields)}Q", *(values.get(field, 0) for field in fields))
            record[at : at + len(packed)] = packed
    return bytes(record)


def op_debug_record(
    accelerator: str | int,
    fields: Mapping[str, int | Sequence[int]],
    *,
    version: int = 0,
    valid: int = 1,
    data_nbytes: int | None = None,
) -> bytes:
    """Return an overflow record of the new layout.

    Parameters
    ----------
    accelerator : str or int
        ``"AIC"``, ``"AIV"``, ``"AICPU"`` or ``"SDMA"``; a number is written as it is, with the
        fields of an AI core.
    fields : mapping of str to int
        ``model_id``, ``stream_id``, ``task_id``, ``task_type``, ``context_id``, ``thread_id``,
        ``status``; of AIC and AIV also ``pc_start``, ``para_base``, ``core_id``, ``block_id``; of
        AICPU ``cpu_id``; of SDMA ``src_addr``, ``dst_addr``, ``channel_id``. A field that is not
        given is 0. The ``status`` of AIC and AIV in version 1 is a sequence of four.
    version : int
        Version of the layout: 0 or 1.
    valid : int
        The record's field of this name.
    data_nbytes : int, optional
        Length that the record declares. Default: the length of its fields.

    Returns
    -------
    bytes
        The record, 2048 bytes.

    Raises
    ------
    ValueError
        If there is no such kind of unit or field, or a number does not fit it.

    Examples
    --------
    >>> op_debug_record("SDMA", {"task_id": 7, "status": 3})[:24].hex(" ", 4)
    '5a5a5a5a 00000000 01000000 03000000 00000000 50000000'
    """
    if isinstance(accelerator, str) and accelerator not in _ACCELERATORS:
        raise ValueError(f"no unit that can overflow is called {accelerator!r}")
    number, names = (
        _ACCELERATORS[accelerator] if isinstance(accelerator, str) else (accelerator, _CORE)
    )
    _check_fields(str(accelerator), fields, names)
    values: list[int] = []
    for name in names:
        value = fields.get(name, 0)
        if name == "status" and version == 1 and names is _CORE:
            statuses = [value] if isinstance(value, int) else list(value)
            if len(statuses) > _STATUSES:
                raise ValueError(f"there are {_STATUSES} statuses, not {len(statuses)}")
            values += statuses + [0] * (_STATUSES - len(statuses))
        elif isinstance(value, int):
            values.append(value)
        else:
            raise ValueError(f"{name} of {accelerator} in version {version} is one number")
    data = pack_fields(f"{len(values)}Q", *values)
    declared = len(data) if data_nbytes is None else data_nbytes
    head = pack_fields("6I", _MAGIC, version, valid, number, 0, declared)
    return (head + data).ljust(_NBYTES, b"\0")


def write_op_debug(
    path: str | os.PathLike[str], record: bytes, *, dump_time: int = 0, append: bool = False
) -> Path:
    """Write an overflow record as the dump file of the node that recorded it.

    Parameters
    ----------
    path : path
        The file, usually named by `op_debug_name`.
    record : bytes
        From `op_debug_payload` or `op_debug_record`.
    dump_time : int
        Microseconds since 1970.
    append : bool
        As for `write_dump`.

    Returns
    -------
    pathlib.Path
        As from `write_dump`.

    Examples
    --------
    >>> import tempfile
    >>> from fastdump.testing import op_debug_name
    >>> name = op_debug_name(task_id=1, stream_id=7, timestamp=1700000000000000)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     write_op_debug(Path(directory, name), op_debug_payload()).name
    'Opdebug.Node_OpDebug.1.7.1700000000000000'
    """
    status = TensorSpec(np.frombuffer(record, np.uint8))
    return write_dump(
        path, outputs=[status], op_name="Node_OpDebug", dump_time=dump_time, append=append
    )


def _check_fields(unit: str, values: Mapping[str, object], names: Sequence[str]) -> None:
    unknown = [name for name in values if name not in names]
    if unknown:
        raise ValueError(f"{unit} has no field {unknown[0]!r}; it has {', '.join(names)}")
