"""A dump file that is read from its beginning to its end, a piece at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType

from fastdump._dump_file import shrunk_error

BUFFER_NBYTES = 256 << 10
"""A piece stays in a CPU's cache between being read and being written.

Measured against mapping the file, copy_file_range and sendfile, on ext4 and a warm page cache: as
fast as the best of them, up to twice as fast as mapping. And a file that shrinks is an error here,
where touching a mapping would end the process.
"""


class SourceFile:
    """An open file and the buffer that its pieces are read into."""

    def __init__(self, path: str, buffer: memoryview) -> None:
        self._path = path
        self._buffer = buffer
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> SourceFile:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._fd)

    def pieces(self, offset: int, nbytes: int) -> Iterator[memoryview]:
        """Yield a part of the file. Each piece is gone when the next one is asked for.

        All but the last have the buffer's size, so that no element is in two of them.

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
            # So that it is not taken for one of the file that is written.
            raise OSError(error.errno, error.strerror, self._path) from error
