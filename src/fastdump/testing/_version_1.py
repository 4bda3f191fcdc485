"""The old dump file (version 1): one protobuf message, which holds the payloads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fastdump.testing._file import write_file
from fastdump.testing._message import DumpMessage
from fastdump.testing._tensor import BufferSpec, TensorSpec


def write_version_1(
    path: str | os.PathLike[str],
    *,
    inputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    outputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    buffers: Sequence[bytes | BufferSpec] = (),
    spaces: Sequence[bytes | BufferSpec] = (),
    op_name: str = "",
    version: str = "1.0",
    dump_time: int = 0,
    attrs: Sequence[tuple[str, str]] = (),
    dfx_message: str = "",
) -> Path:
    """Write a dump file of version 1: the whole file is one message, with the payloads in it.

    Parameters
    ----------
    path, inputs, outputs, buffers, spaces, op_name, dump_time, attrs, dfx_message
        As for `write_dump`. The message is built in memory.
    version : str
        The version in the message; old files have ``"1.0"`` or nothing.

    Returns
    -------
    pathlib.Path
        As from `write_dump`.

    Raises
    ------
    TypeError, ValueError
        If a type, a format or a number cannot be written in a dump; nothing is written then.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = write_version_1(Path(directory, "Add.a.1.2.1700000000000000"),
    ...                            inputs=[np.arange(3, dtype=np.int8)])
    ...     path.read_bytes().hex(" ", 1)
    '0a 03 31 2e 30 22 10 08 03 10 02 1a 03 0a 01 03 22 03 00 01 02 28 03'
    """
    message = DumpMessage(
        inputs=inputs,
        outputs=outputs,
        buffers=buffers,
        spaces=spaces,
        op_name=op_name,
        version=version,
        dump_time=dump_time,
        attrs=attrs,
        dfx_message=dfx_message,
    )
    return write_file(path, [message.encode(inline=True)])
