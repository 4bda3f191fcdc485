"""Reading of dump files, a piece at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator

from fastdump._tensor.dump_file import shrunk_error

BUFFER_NBYTES = 256 << 10
"""A piece of this size stays in a CPU's cache between being read and being written.

On ext4 with a warm page cache, reading was measured to be as fast as copy_file_range and sendfile,
and up to twice as fast as mapping. A file that shrinks is an error here; with a mapping it would
end the process.
"""


class SourceFile:
    """An open file, and the buffer into which its pieces are read."""

    def __init__(self, path: str, buffer: memoryview) -> None:
        self._path = path
        self._buffer = buffer
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

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
                    raise shrunk_error(self._path, at + filled, offset, nbytes)
                filled += n_read
            yield piece
            at += filled

    def _read(self, piece: memoryview, at: int) -> int:
        try:
            return os.preadv(self._fd, [piece], at)
        except OSError as error:
            # Without the name, the error would look like one of the file that is written.
            raise OSError(error.errno, error.strerror, self._path) from error
