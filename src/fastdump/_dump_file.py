"""One dump file, of which nothing is read before it is asked for."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdump import _core
from fastdump._header import describe_file
from fastdump._stats import PathLike, path_bytes
from fastdump.errors import ClosedDumpError, DumpFormatError

# Between two of these Ctrl-C is answered.
_READ_NBYTES = 64 << 20


class DumpFile:
    """One dump file: its header, read once, and its bytes, mapped while some array needs them.

    Any number of threads may use it. While it is in use the file may grow, but what is in it must
    not change.

    Parameters
    ----------
    path
        The file. It is not opened before something of it is asked for, and never kept open.

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
        # Weak: a hundred thousand operators must not hold as many mappings.
        self._mapping: weakref.ref[_core.MappedFile] | None = None

    def header(self) -> dict[str, Any]:
        """Return what the header says, of tensors too; no payload is read. Not to be changed.

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
        """Return the file as a read-only buffer, the same while anything made of it is alive.

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
        """Return the file as a writable buffer of its own; what is written never reaches the file.

        Raises as `mapping` does.
        """
        with self._lock:
            self._require_open()
            return _core.MappedFile(path_bytes(self.path), copy_on_write=True)

    def read(self, offset: int, nbytes: int) -> NDArray[np.uint8]:
        """Return a part of the file as memory of the caller's own.

        Parameters
        ----------
        offset, nbytes
            Which part, in bytes.

        Returns
        -------
        numpy.ndarray
            Of shape (nbytes,).

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
        """Refuse to read anything from now on. Arrays that were made before stay valid."""
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
    """Return the error for a file that no longer holds what its header described."""
    return DumpFormatError(
        f"{path!r}: the file ends at byte {end}, within the {nbytes} bytes from byte {offset} on "
        "that were there when its header was read"
    )
