"""The standard dump file (version 2): u64 header length, protobuf header, payloads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fastdump.testing._file import write_file
from fastdump.testing._message import DumpMessage
from fastdump.testing._tensor import BufferSpec, TensorSpec


def write_dump(
    path: str | os.PathLike[str],
    *,
    inputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    outputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    buffers: Sequence[bytes | BufferSpec] = (),
    spaces: Sequence[bytes | BufferSpec] = (),
    op_name: str = "",
    version: str = "2.0",
    dump_time: int = 0,
    attrs: Sequence[tuple[str, str]] = (),
    dfx_message: str = "",
    append: bool = False,
) -> Path:
    """Write a standard dump file.

    Large arrays are not copied. A file that exists is replaced; missing directories are made. If
    the name of the file is longer than 255 bytes, the file gets a name of digits instead and
    ``mapping.csv`` in its directory gets a row, as the vendor's software does it.

    Parameters
    ----------
    path : path
        The file, usually named by `dump_name`.
    inputs, outputs : sequence of numpy.ndarray or TensorSpec
        Tensors; an array (also of `ml_dtypes`) stands for ``TensorSpec(array)``.
    buffers, spaces : sequence of bytes or BufferSpec
        Fusion buffers and workspaces.
    op_name : str
        The real name of the operator.
    version : str
        The version in the header; the layout is always that of version 2.
    dump_time : int
        Microseconds since 1970.
    attrs : sequence of (str, str)
        Names and values.
    dfx_message : str
        Log lines of an exception dump.
    append : bool
        Write to the end of a file that exists, as the vendor's host does if two dumps have one
        name.

    Returns
    -------
    pathlib.Path
        The file that was written: `path`, unless its name was too long.

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
    >>> from fastdump.testing import dump_name
    >>> x = np.array([-1, 2], np.float16)
    >>> name = dump_name("Relu", "act/Relu", task_id=3, stream_id=1, timestamp=1700000000000000)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory, name)
    ...     write_dump(path, inputs=[x], outputs=[np.maximum(x, 0)], op_name="act/Relu").name
    'Relu.act_Relu.3.1.1700000000000000'
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
    header: list[bytes | memoryview] = [_header(message)]
    return write_file(path, chain(header, message.payloads()), append=append)


def dump_header(
    *,
    inputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    outputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    buffers: Sequence[bytes | BufferSpec] = (),
    spaces: Sequence[bytes | BufferSpec] = (),
    op_name: str = "",
    version: str = "2.0",
    dump_time: int = 0,
    attrs: Sequence[tuple[str, str]] = (),
    dfx_message: str = "",
) -> bytes:
    """Return the bytes before the payloads of a standard dump file.

    Parameters
    ----------
    inputs, outputs, buffers, spaces, op_name, version, dump_time, attrs, dfx_message
        As for `write_dump`.

    Returns
    -------
    bytes
        The length of the message ``DumpData`` (eight bytes, little-endian) and the message.

    Raises
    ------
    TypeError, ValueError
        If a type, a format or a number cannot be written in a dump.
    """
    return _header(
        DumpMessage(
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
    )


def _header(message: DumpMessage) -> bytes:
    encoded = message.encode(inline=False)
    return len(encoded).to_bytes(8, "little") + encoded
