"""Names of the files of a dump, as the vendor's writers and its converter make them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

_REPLACED = str.maketrans(dict.fromkeys(" ./\\", "_"))
_FFTS_PLUS = 4  # the only task type that the device writes into a name


def replaced(name: str) -> str:
    """Return `name` with ``_`` for the characters that the vendor keeps out of paths."""
    return name.translate(_REPLACED)


def dump_name(
    op_type: str,
    op_name: str,
    *,
    task_id: int,
    stream_id: int | None,
    timestamp: int,
    context_id: int | None = None,
    thread_id: int | None = None,
    device_id: int = 0,
) -> str:
    """Return the file name of an operator's dump.

    ``{op_type}.{op_name}.{task_id}.{stream_id}.{timestamp}``, followed by
    ``.4.{context_id}.{thread_id}.{device_id}`` for a thread slice of an FFTS+ operator. The
    statistics of a dump are in a file of the same name with ``.csv`` after it.

    Parameters
    ----------
    op_type, op_name : str
        Blanks, dots, slashes and backslashes become underscores.
    task_id : int
        65535 if the operator has none, as kernels of single-operator APIs.
    stream_id : int or None
        None for the names of older toolkits and of exception dumps, which lack this part.
    timestamp : int
        Microseconds since 1970; for an exception dump, an `exception_time`.
    context_id, thread_id : int, optional
        Numbers of an FFTS+ slice: both or neither.
    device_id : int
        Number of the device, which only the name of an FFTS+ slice has.

    Returns
    -------
    str
        The name, however long; `write_dump` replaces names that a file system refuses.

    Raises
    ------
    ValueError
        If only one of `context_id` and `thread_id` is given.

    Examples
    --------
    >>> dump_name("Add", "layers.3/Add", task_id=7, stream_id=2, timestamp=1700000000000000)
    'Add.layers_3_Add.7.2.1700000000000000'
    """
    if (context_id is None) != (thread_id is None):
        raise ValueError("an FFTS+ slice has both a context_id and a thread_id")
    parts: list[object] = [replaced(op_type), replaced(op_name), task_id]
    if stream_id is not None:
        parts.append(stream_id)
    parts.append(timestamp)
    if context_id is not None:
        parts += [_FFTS_PLUS, context_id, thread_id, device_id]
    return ".".join(map(str, parts))


def op_debug_name(*, task_id: int, stream_id: int | None, timestamp: int) -> str:
    """Return the file name of an overflow record: a `dump_name` with a fixed type and operator.

    The task is that of the recording node, not of the operator that overflowed.

    Examples
    --------
    >>> op_debug_name(task_id=59, stream_id=None, timestamp=1597922031178434)
    'Opdebug.Node_OpDebug.59.1597922031178434'
    """
    return dump_name(
        "Opdebug", "Node_OpDebug", task_id=task_id, stream_id=stream_id, timestamp=timestamp
    )


def exception_time(when: datetime) -> int:
    """Return the time in the name of an exception dump: ``YYYYMMDDHHMMSSmmm``, local time.

    Examples
    --------
    >>> exception_time(datetime(2026, 1, 14, 9, 30, 42, 7_999))
    20260114093042007
    """
    return int(f"{when:%Y%m%d%H%M%S}{when.microsecond // 1000:03d}")


def exception_name(*, stream_id: int, task_id: int, timestamp: int) -> str:
    """Return the file name of a brief exception dump.

    ``exception_info.{stream_id}.{task_id}.{timestamp}``: unlike in a `dump_name` the stream comes
    first. `timestamp` is an `exception_time`; older toolkits wrote microseconds since 1970.

    Examples
    --------
    >>> exception_name(stream_id=5, task_id=1, timestamp=20260114093042007)
    'exception_info.5.1.20260114093042007'
    """
    return f"exception_info.{stream_id}.{task_id}.{timestamp}"


def custom_dump_name(name: str, *, timestamp: int) -> str:
    """Return the file name of a dump that a program saved itself, ``{name}.custom.{timestamp}``.

    Examples
    --------
    >>> custom_dump_name("after_gather", timestamp=20260114093042007)
    'after_gather.custom.20260114093042007'
    """
    return f"{name}.custom.{timestamp}"


def core_name(kernel: str, *, stream_id: int, task_id: int, timestamp: int) -> str:
    """Return the file name of a detailed exception dump, which is an ELF core file.

    Examples
    --------
    >>> core_name("Add_9f2e_high_performance", stream_id=5, task_id=1, timestamp=20260114093042007)
    'Add_9f2e_high_performance.5.1.20260114093042007.core'
    """
    return f"{kernel}.{stream_id}.{task_id}.{timestamp}.core"


def converted_name(
    dump: str, io: str, index: int, *parts: str | Sequence[int], extension: str = "npy"
) -> str:
    """Return the file name that a converter gives to one tensor of a dump.

    Parameters
    ----------
    dump : str
        Name of the dump file.
    io : str
        ``"input"``, ``"output"``, ``"space"`` or ``"l1buffer"``.
    index : int
        Position among its kind.
    *parts : str or sequence of int
        Parts that a kind of conversion puts after the index: a shape, the name of an element type,
        the name of a format.
    extension : str
        ``"npy"``, ``"bin"``, ``"pt"``, or ``"json"`` for an overflow record.

    Examples
    --------
    >>> dump = "Add.op.7.2.1700000000000000"
    >>> converted_name(dump, "input", 0)
    'Add.op.7.2.1700000000000000.input.0.npy'
    >>> converted_name(dump, "output", 1, (2, 19, 3, 5))
    'Add.op.7.2.1700000000000000.output.1.2x19x3x5.npy'
    >>> converted_name(dump, "output", 1, (120,), "float32", "NC1HWC0", extension="bin")
    'Add.op.7.2.1700000000000000.output.1.120.float32.NC1HWC0.bin'
    """
    texts = (part if isinstance(part, str) else "x".join(map(str, part)) for part in parts)
    return ".".join((dump, io, str(index), *texts, extension))
