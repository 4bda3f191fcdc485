"""Arrays that grow at their end, for columns that others are appended to.

numpy clears large arrays by taking memory that nobody has written to, which takes up none. So an
array of zeros is free, however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastdump import _core
from fastdump._table import arrow_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALIGNMENT: Final = 64
"""In bytes, of arrays that have their memory together; Arrow recommends it."""


class Cleared:
    """Memory of zeros, which columns of one table have together."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def array(self, n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return so many zeros, which nobody may change."""
        nbytes = n * dtype.itemsize
        if nbytes > len(self._bytes):
            self._bytes = np.zeros(nbytes, np.uint8)
        return self._bytes[:nbytes].view(dtype)


class Room:
    """Memory of several arrays, which the system gives in large pages if it has these.

    What `copy` was asked for is there after `fill`.

    Parameters
    ----------
    sizes
        How many bytes each of them may take.
    """

    def __init__(self, sizes: Iterable[int]) -> None:
        self._bytes = np.empty(sum(size + _ALIGNMENT for size in sizes), np.uint8)
        self._begin = 0
        self._copies: list[tuple[memoryview, memoryview]] = []

    def array(self, n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an array whose values are undefined; elsewhere if there is no room."""
        begin, end = self._begin, self._begin + n * dtype.itemsize
        if end > len(self._bytes):
            return np.empty(n, dtype)
        self._begin = -(-end // _ALIGNMENT) * _ALIGNMENT
        return self._bytes[begin:end].view(dtype)

    def copy(self, values: NDArray[Any], place: NDArray[Any]) -> None:
        """Copy values of one type to a place of as many, later."""
        self._copies.append((values.data, place.data))

    def fill(self, threads: int) -> None:
        """Copy all that is still to be copied, by up to so many threads."""
        _core.copy(self._copies, threads)
        self._copies.clear()


class GrowingArray:
    """Numbers, which have no memory as long as all of them are 0."""

    def __init__(self, dtype: np.dtype[Any], room: Room | None = None) -> None:
        self._room = room
        self._array = np.empty(0, dtype)
        self._n = self._n_expected = 0

    def expect(self, n: int) -> None:
        """Prepare for so many numbers more."""
        self._n_expected = max(self._n_expected, self._n + n)

    def append(self, values: NDArray[Any]) -> None:
        """Append numbers. A room reads them when it is filled."""
        if len(self._array) or values[:1].any() or values.any():
            self.put(values)
        else:
            self.append_zeros(len(values))

    def put(self, values: NDArray[Any]) -> None:
        """Append numbers as `append` does, without a look whether all of them are 0."""
        place = self.more(len(values))
        if self._room is None or values.dtype != place.dtype:
            place[:] = values
        else:
            self._room.copy(values, place)

    def append_zeros(self, n: int) -> None:
        """Append so many zeros."""
        if len(self._array):
            self.more(n)[:] = 0
        else:
            self._n += n

    def more(self, n: int) -> NDArray[Any]:
        """Return the place of so many numbers more, to be written at once."""
        end = self._n + n
        if end > len(self._array):
            self._grow(max(end, self._n_expected))
        place = self._array[self._n : end]
        self._n = end
        return place

    def widen(self, dtype: np.dtype[Any]) -> None:
        """Go on with a type that all numbers so far fit into."""
        if self._room is not None:
            self._room.fill(1)
        self._array = self._array.astype(dtype)

    def finish(self, cleared: Cleared) -> NDArray[Any]:
        """Return all numbers; to be called once."""
        if not len(self._array):
            return cleared.array(self._n, self._array.dtype)
        return self._array[: self._n]

    def _grow(self, n: int) -> None:
        dtype = self._array.dtype
        if self._room is not None:
            assert not len(self._array)  # all numbers were expected
            self._array = self._room.array(n, dtype)
            self._array[: self._n] = 0
        elif len(self._array):
            # The system moves large arrays without copying them. No view of this one is left.
            self._array.resize(n, refcheck=False)
        else:
            self._array = np.zeros(n, dtype) if self._n else np.empty(n, dtype)


class GrowingEnds:
    """Where rows of texts or lists end, in 32 bits as long as these are enough."""

    def __init__(self, room: Room | None, *, is_long: bool) -> None:
        self._array = GrowingArray(np.dtype(np.int64 if is_long else np.int32), room)
        self._array.append_zeros(1)
        self._end = 0
        self.is_long = is_long

    def expect(self, n_rows: int) -> None:
        """Prepare for so many rows more."""
        self._array.expect(n_rows)

    def append(self, ends: NDArray[np.signedinteger[Any]], *, is_long: bool) -> None:
        """Append rows by where each of them ends, and where the first begins.

        A room reads `ends` when it is filled.
        """
        shift = self._end - int(ends[0])
        self._end = int(ends[-1]) + shift
        if not self.is_long and (is_long or self._end > arrow_column.MAX_SHORT_PARTS):
            self.is_long = True
            self._array.widen(np.dtype(np.int64))
        if not self._end:
            self._array.append_zeros(len(ends) - 1)
        elif shift:
            place = self._array.more(len(ends) - 1)
            np.add(ends[1:], place.dtype.type(shift), out=place)
        else:
            self._array.put(ends[1:])

    def finish(self, cleared: Cleared) -> NDArray[Any]:
        """Return where each row ends, and first where the first begins; to be called once."""
        return self._array.finish(cleared)


class GrowingBits:
    """Bits, least significant first."""

    def __init__(self) -> None:
        self._bytes = GrowingArray(np.dtype(np.uint8))
        self._rest = np.empty(0, np.bool_)

    def append(self, bits: NDArray[np.bool_]) -> None:
        """Append bits, one in each byte."""
        bits = np.concatenate([self._rest, bits]) if len(self._rest) else bits
        n_whole = len(bits) // 8 * 8
        self._bytes.append(np.packbits(bits[:n_whole], bitorder="little"))
        self._rest = bits[n_whole:].copy()

    def finish(self, cleared: Cleared) -> NDArray[Any]:
        """Return all bits, packed; to be called once."""
        self._bytes.append(np.packbits(self._rest, bitorder="little"))
        return self._bytes.finish(cleared)
