"""One dump file, which is read only when something of it is needed."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump import _core
from fastdump._arguments import PathLike, path_bytes
from fastdump.errors import ClosedDumpError, DumpFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Ctrl-C is answered between two reads of this size.
_READ_NBYTES = 64 << 20


def describe_file(path: PathLike) -> dict[str, Any]:
    """Return what the header of a dump file says, also about each tensor; no payload is read.

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


class DumpFile:
    """One dump file: its header, read once, and its bytes, mapped while some array needs them.

    Any number of threads may use it. The file may grow while it is in use, but its content must not
    change.

    Parameters
    ----------
    path
        The file. It is opened for each read, and not kept open.

    Attributes
    ----------
    path : str
        The file.
    """

    __slots__ = ("__weakref__", "_closed", "_header", "_lock", "_mapping", "path")

    def __init__(self, path: PathLike) -> None:
        path_bytes(path)
        self.path: str = os.fsdecode(path)
        self._lock = threading.Lock()
        self._closed = False
        self._header: dict[str, Any] | None = None
        # The reference is weak, so that a hundred thousand operators do not hold as many mappings.
        self._mapping: weakref.ref[_core.MappedFile] | None = None

    def header(self) -> dict[str, Any]:
        """Return what `describe_file` does; the caller must not change it.

        Raises
        ------
        ClosedDumpError
            If the dump was closed.
        DumpFormatError
            If the file is not a dump.
        OSError
            If the file cannot be read.
        """
        with self._lock:
            self._require_open()
            if self._header is None:
                self._header = describe_file(self.path)
            return self._header

    def mapping(self) -> _core.MappedFile:
        """Return the file as a read-only buffer, shared by all arrays made from it.

        Raises
        ------
        ClosedDumpError
            If the dump was closed.
        OSError
            If the file cannot be mapped.
        """
        with self._lock:
            self._require_open()
            mapping = self._mapping() if self._mapping is not None else None
            if mapping is None:
                mapping = _core.MappedFile(path_bytes(self.path))
                self._mapping = weakref.ref(mapping)
            return mapping

    def private_mapping(self) -> _core.MappedFile:
        """Return the file as a new writable buffer; what is written never reaches the file.

        Raises
        ------
        ClosedDumpError, OSError
            As `mapping` does.
        """
        with self._lock:
            self._require_open()
            return _core.MappedFile(path_bytes(self.path), copy_on_write=True)

    def read(self, offset: int, nbytes: int) -> NDArray[np.uint8]:
        """Return a copy of a part of the file.

        Parameters
        ----------
        offset, nbytes
            Begin and size of the part, in bytes.

        Returns
        -------
        numpy.ndarray
            An array of shape (nbytes,).

        Raises
        ------
        ClosedDumpError
            If the dump was closed.
        DumpFormatError
            If the file ends within the part.
        OSError
            If the file cannot be read.
        """
        with self._lock:
            self._require_open()
        encoded = path_bytes(self.path)
        data = np.empty(nbytes, np.uint8)
        for start in range(0, nbytes, _READ_NBYTES):
            part = data[start : start + _READ_NBYTES]
            n_read = _core.read_into(encoded, offset + start, part.data)
            if n_read < part.size:
                raise shrunk_error(self.path, offset + start + n_read, offset, nbytes)
        return data

    def close(self) -> None:
        """Refuse all further reads; arrays that exist stay valid."""
        with self._lock:
            self._closed = True

    def require_open(self) -> None:
        """Raise ClosedDumpError if the dump was closed."""
        with self._lock:
            self._require_open()

    def _require_open(self) -> None:
        if self._closed:
            raise ClosedDumpError(f"{self.path!r}: the dump was closed")

    def __repr__(self) -> str:
        return f"DumpFile({self.path!r}{', closed' if self._closed else ''})"


def shrunk_error(path: str, end: int, offset: int, nbytes: int) -> DumpFormatError:
    """Return the error for a file that has become too short for what its header described."""
    return DumpFormatError(
        f"{path!r}: the file ends at byte {end}, within the {nbytes} bytes from byte {offset} on "
        "that were there when its header was read"
    )
