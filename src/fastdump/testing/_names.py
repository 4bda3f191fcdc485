"""Names of dump files and of the directories they lie in, as the vendor's writers make them."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

_REPLACED = str.maketrans(dict.fromkeys(" ./\\", "_"))
_FFTS_PLUS = 4  # the only task type that the device writes into a name
_NAME_MAX = 255  # bytes; Linux file systems


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
    ``.4.{context_id}.{thread_id}.{device_id}`` for a thread slice of an FFTS+ operator.

    Parameters
    ----------
    op_type, op_name : str
        Blanks, dots, slashes and backslashes become underscores.
    task_id : int
        65535 if the operator has none, as kernels of single-operator APIs.
    stream_id : int or None
        None writes the name of older toolkits, which lack this part.
    timestamp : int
        Microseconds since 1970.
    context_id, thread_id : int, optional
        Of an FFTS+ slice: both or neither.
    device_id : int
        Appears only in the name of an FFTS+ slice.

    Returns
    -------
    str
        The name, however long; `write_dump` deals with names that a file system refuses.

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
    parts: list[object] = [op_type.translate(_REPLACED), op_name.translate(_REPLACED), task_id]
    if stream_id is not None:
        parts.append(stream_id)
    parts.append(timestamp)
    if context_id is not None:
        parts += [_FFTS_PLUS, context_id, thread_id, device_id]
    return ".".join(map(str, parts))


def model_dump_dir(
    root: str | os.PathLike[str], *, time: str, device: int, model: str, model_id: int, step: int
) -> Path:
    """Return the directory of one step of a model.

    ``{root}/{time}/{device}/{model}/{model_id}/{step}``.

    Parameters
    ----------
    root : path
        The configured dump path, or a `rank_dir` in it.
    time : str
        When the dump began, ``YYYYMMDDHHMMSS``.
    device, model_id, step : int
        As they appear in the path; the step is what the vendor calls the data index.
    model : str
        Blanks, dots, slashes and backslashes become underscores.
    """
    return Path(root, time, str(device), model.translate(_REPLACED), str(model_id), str(step))


def rank_dir(root: str | os.PathLike[str], *, world_size: int, rank: int) -> Path:
    """Return the directory in which torchair's graph mode keeps the dump of one rank."""
    return Path(root, f"worldsize{world_size}_global_rank{rank}")


def storable(path: Path) -> Path:
    """Return the path under which a file is kept: its own, or one whose name is a decimal key.

    The key stands for a name that is longer than file systems allow; it depends on the name alone.
    """
    name = os.fsencode(path.name)
    if len(name) <= _NAME_MAX:
        return path
    key = int.from_bytes(blake2b(name, digest_size=8).digest(), "little")
    return path.with_name(str(key))


def append_mapping(path: Path, name: str) -> None:
    """Note in ``mapping.csv`` beside `path` which name its key stands for.

    As in the vendor's table a name is not quoted, and a dump that is written again is noted again.
    """
    with path.with_name("mapping.csv").open("ab") as table:
        table.write(b"%s,%s\n" % (path.name.encode(), os.fsencode(name)))
