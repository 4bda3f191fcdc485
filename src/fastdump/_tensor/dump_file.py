"""One dump file, which is read only when something of it is needed."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump import _core
from fastdump._arguments import PathLike, path_bytes
from fastdump.errors import ClosedDumpError, DumpFormatError, FileChangedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Ctrl-C is answered between two reads of this size.
_READ_NBYTES = 64 << 20


def describe_file(path: PathLike) -> dict[str, Any]:
    """Return what the header of a dump file says, also about each tensor; no payload is read.

    Raises
    ------
    FileChangedError
        If the file is being written to.
    DumpFormatError
        If the file is not a dump.
    OSError
        If the file cannot be read.
    """
    try:
        return _core.describe_file(path_bytes(path))
    except _core.FormatError as error:
        raise public_error(error, repr(os.fspath(path))) from error


def public_error(error: _core.FormatError, where: str) -> DumpFormatError:
    """Return the public exception for one of the core, about the file or tensor `where`."""
    if isinstance(error, _core.FileChangedError):
        return FileChangedError(f"{where}: {error}")
    return DumpFormatError(f"{where}: {error}")


class DumpFile:
    """One dump file: its header, read once, and its bytes, mapped while some array needs them.

    Any number of threads may use it. Whatever is read is of the state in which the file was when
    its header was read; once that is over, every access is an error.

    Parameters
    ----------
    path
        The file. It is opened for each read, and not kept open.
    known
        State and size of the file, if its header was read before.
    safe
        Whether arrays of tensors are always copies.

    Attributes
    ----------
    path : str
        The file.
    safe : bool
        As given.
    """

    __slots__ = ("__weakref__", "_closed", "_header", "_known", "_lock", "_mapping", "path", "safe")

    def __init__(
        self, path: PathLike, *, known: tuple[int, int] | None = None, safe: bool = False
    ) -> None:
        path_bytes(path)
        self.path: str = os.fsdecode(path)
        self.safe = safe
        self._known = known
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
        FileChangedError
            If the file is not the one that it was, or is being written to.
        DumpFormatError
            If the file is not a dump.
        OSError
            If the file cannot be read.
        """
        with self._lock:
            self._require_open()
            if self._header is None:
                header = describe_file(self.path)
                found = header["state"], header["file_nbytes"]
                if self._known not in (None, found):
                    raise self.changed()
                self._header, self._known = header, found
            return self._header

    @property
    def known(self) -> tuple[int, int]:
        """State and size of the file when its header was read; errors as of `header`."""
        if self._known is None:
            self.header()
        assert self._known is not None
        return self._known

    def mapping(self) -> _core.MappedFile:
        """Return the file as a read-only buffer, shared by all arrays made from it.

        Raises
        ------
        ClosedDumpError
            If the dump was closed.
        FileChangedError
            If the file is not what it was when its header was read.
        OSError
            If the file cannot be mapped.
        """
        state, _ = self.known
        with self._lock, self._public_errors():
            self._require_open()
            mapping = self._mapping() if self._mapping is not None else None
            if mapping is None:
                mapping = _core.MappedFile(path_bytes(self.path), state)
                self._mapping = weakref.ref(mapping)
            else:
                _core.require_state(path_bytes(self.path), state)
            return mapping

    def private_mapping(self) -> _core.MappedFile:
        """Return the file as a new writable buffer; what is written never reaches the file.

        Raises
        ------
        ClosedDumpError, FileChangedError, OSError
            As `mapping` does.
        """
        state, _ = self.known
        with self._lock, self._public_errors():
            self._require_open()
            return _core.MappedFile(path_bytes(self.path), state, copy_on_write=True)

    @contextmanager
    def reading(self, mapping: _core.MappedFile) -> Iterator[None]:
        """Let the calling thread read a mapping until the block ends.

        Where the file loses pages meanwhile, zeros are read in their place, and the block ends with
        an error. Without it, the process would end.

        Raises
        ------
        FileChangedError
            If the file changed until the block ended.
        """
        guarded = _core.GuardedMapping(mapping)
        with guarded:
            yield
        if guarded.lost:
            raise self.changed()
        self.require_unchanged()

    def require_unchanged(self) -> None:
        """Raise FileChangedError if the file is not what it was when its header was read."""
        with self._public_errors():
            _core.require_state(path_bytes(self.path), self.known[0])

    def read_into(self, offset: int, out: NDArray[np.uint8]) -> int:
        """Fill an array from a place in the file, and return the number of bytes, fewer at its end.

        Raises
        ------
        ClosedDumpError, FileChangedError, OSError
            As `mapping` does.
        """
        self.require_open()
        with self._public_errors():
            return _core.read_into(path_bytes(self.path), self.known[0], offset, out.data)

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
        FileChangedError
            If the file is not what it was when its header was read.
        DumpFormatError
            If the file ends within the part.
        OSError
            If the file cannot be read.
        """
        data = np.empty(nbytes, np.uint8)
        for start in range(0, nbytes, _READ_NBYTES):
            part = data[start : start + _READ_NBYTES]
            n_read = self.read_into(offset + start, part)
            if n_read < part.size:
                raise self.too_short(offset + start + n_read, offset, nbytes)
        return data

    def changed(self) -> FileChangedError:
        """Return the error for a file that is not what it was when its header was read."""
        return FileChangedError(f"{self.path!r}: the file changed after its header was read")

    def too_short(self, end: int, offset: int, nbytes: int) -> DumpFormatError:
        """Return the error for a file that ends within a part."""
        return DumpFormatError(
            f"{self.path!r}: the file ends at byte {end}, within the {nbytes} bytes from byte "
            f"{offset} on"
        )

    @contextmanager
    def _public_errors(self) -> Iterator[None]:
        try:
            yield
        except _core.FormatError as error:
            raise public_error(error, repr(self.path)) from error

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
