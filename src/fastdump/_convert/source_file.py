"""Reading of dump files, a piece at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator

from fastdump import _core
from fastdump._tensor.dump_file import DumpFile

BUFFER_NBYTES = 256 << 10
"""A piece of this size stays in a CPU's cache between being read and being written.

On ext4 with a warm page cache, reading was measured to be as fast as copy_file_range and sendfile,
and up to twice as fast as mapping.
"""


class SourceFile:
    """A dump file, open, and the buffer into which its pieces are read.

    Raises
    ------
    FileChangedError
        If the file is not what it was when its header was read.
    OSError
        If it cannot be opened.
    """

    def __init__(self, file: DumpFile, buffer: memoryview) -> None:
        self._file = file
        self._path = file.path
        self._buffer = buffer
        # A FIFO that has taken the file's place must not be waited for.
        self._fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            self.require_unchanged()
        except BaseException:
            os.close(self._fd)
            raise

    def require_unchanged(self) -> None:
        """Raise FileChangedError if the file is not what it was when its header was read.

        What was read before holds only if this is asked after it.
        """
        if _core.file_state(self._fd) != self._file.known[0]:
            raise self._file.changed()

    def __enter__(self) -> SourceFile:
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self._fd)

    def pieces(self, offset: int, nbytes: int) -> Iterator[memoryview]:
        """Yield a part of the file in pieces; each is valid until the next one is asked for.

        All pieces but the last have the buffer's size, so that no element is split between two.

        Raises
        ------
        DumpFormatError
            If the file ends within the part.
        OSError
            If it cannot be read.
        """
        end = offset + nbytes
        at = offset
        while at < end:
            piece = self._buffer[: end - at]
            filled = 0
            while filled < len(piece):
                n_read = self._read(piece[filled:], at + filled)
                if n_read == 0:
                    raise self._file.too_short(at + filled, offset, nbytes)
                filled += n_read
            yield piece
            at += filled

    def _read(self, piece: memoryview, at: int) -> int:
        try:
            return os.preadv(self._fd, [piece], at)
        except OSError as error:
            # Without the name, the error would look like one of the file that is written.
            raise OSError(error.errno, error.strerror, self._path) from error
