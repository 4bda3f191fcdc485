"""The header of one dump file."""

from __future__ import annotations

import os

from fastdump import _core
from fastdump._stats import PathLike, path_bytes
from fastdump.errors import DumpFormatError


def describe_file(path: PathLike) -> dict[str, object]:
    """Return what the header of one file says, of tensors too; no payload is read.

    Raises
    ------
    DumpFormatError
        If the file is not a dump.
    OSError
        If the file cannot be read.
    """
    try:
        return _core.describe_file(path_bytes(path))
    except _core.FormatError as error:
        raise DumpFormatError(f"{os.fspath(path)!r}: {error}") from error
