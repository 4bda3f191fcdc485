"""The bytes of two tensors compared, a MiB at a time, by reading the files and not mapping them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._array.damage import describe_damage
from fastdump._array.elements import element_type
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor
from fastdump._watcher.records import Change

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NBYTES: Final = 1 << 20
"""A multiple of all sizes of elements."""
_MAX_NDIM: Final = 32


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """What comparing bytes needs to know of one tensor of a dump file.

    Attributes
    ----------
    path
        The path to open the file with.
    known
        State and size of the file when its header was read.
    offset, nbytes
        Where the payload is, as declared.
    stored_nbytes
        Number of bytes of the payload that are in the file.
    address
        Address on the device.
    status, note, io, index, dtype, shape
        As in `StatsRow`.
    appended
        Number of the dump in the file.
    """

    path: str
    known: tuple[int, int]
    offset: int
    nbytes: int
    stored_nbytes: int
    address: int
    status: str
    note: str
    io: str
    index: int
    dtype: str | None
    shape: tuple[int, ...]
    appended: int

    @classmethod
    def of(cls, tensor: Tensor) -> StoredTensor:
        """Return what is needed of a tensor: a check keeps this for every tensor of a dump."""
        return cls(
            path=tensor.path,
            known=tensor.file.known,
            offset=tensor.offset,
            nbytes=tensor.declared_nbytes,
            stored_nbytes=tensor.stored_nbytes,
            address=tensor.address,
            status=tensor.status,
            note=tensor.note,
            io=tensor.io,
            index=tensor.index,
            dtype=tensor.dtype_name,
            shape=tensor.declared_shape,
            appended=tensor.description.get("appended", 0),
        )

    def file(self) -> DumpFile:
        """Return the file, to be kept while it is read: a dump has too many to keep all."""
        return DumpFile(self.path, known=self.known)

    @property
    def name(self) -> str:
        """``output.0``."""
        return f"{self.io}.{self.index}"

    def part(self, first: int, nbytes: int) -> StoredTensor:
        """Return some of the bytes, as a tensor of bytes."""
        stored = max(0, min(nbytes, self.stored_nbytes - first))
        return replace(
            self,
            offset=self.offset + first,
            nbytes=nbytes,
            stored_nbytes=stored,
            dtype="uint8",
            shape=(nbytes,),
        )


class ByteComparison:
    """Compares tensors with buffers that are made once."""

    def __init__(self) -> None:
        self._one = np.empty(_NBYTES, np.uint8)
        self._other = np.empty(_NBYTES, np.uint8)

    def compare(self, one: StoredTensor, other: StoredTensor) -> tuple[Change | None, int]:
        """Return where two tensors differ, and how many of their bytes were compared.

        Raises
        ------
        FileChangedError
            If a file is not what it was when its header was read.
        OSError
            If a file cannot be read.
        """
        n_bytes, first, last, done = 0, -1, -1, 0
        for start, left, right in self._chunks(one, other):
            done += len(left)
            if _is_equal(left, right):
                continue
            places = start + np.flatnonzero(left != right)
            first = first if n_bytes else int(places[0])
            last = int(places[-1])
            n_bytes += len(places)
        return (Change(n_bytes, first, last) if n_bytes else None), done

    def describe(self, one: StoredTensor, other: StoredTensor, change: Change) -> Change:
        """Return a change with the elements of `other` that differ, if they have whole bytes.

        Raises
        ------
        FileChangedError, OSError
            As `compare` does.
        """
        bits = element_type(other.dtype).bits
        itemsize = bits // 8
        if bits % 8:
            return change
        n_elements = min(one.stored_nbytes, other.stored_nbytes) // itemsize
        mapped = other.file().mapping() if n_elements else None
        if mapped is None or mapped.nbytes < other.offset + n_elements * itemsize:
            return change
        is_whole = min(other.shape, default=1) > 0 and math.prod(other.shape) == n_elements
        shape = other.shape if is_whole and len(other.shape) <= _MAX_NDIM else (n_elements,)
        # Only the shape and the size of an element matter: no page is touched.
        elements = np.ndarray(shape, f"V{itemsize}", mapped.data, other.offset)
        flags = _Flags(self._chunks(one, other), itemsize)
        damage = describe_damage(elements, lambda part: flags.take(part.size))
        if damage is None:
            return change
        return replace(
            change,
            n_elements=damage.bad,
            first_element=flags.first,
            last_element=flags.last,
            words=damage.words,
            place=damage.place,
        )

    def _chunks(
        self, one: StoredTensor, other: StoredTensor
    ) -> Iterator[tuple[int, NDArray[np.uint8], NDArray[np.uint8]]]:
        """Yield where each chunk begins, and its bytes in both, valid until the next chunk."""
        nbytes = min(one.stored_nbytes, other.stored_nbytes)
        files = one.file(), other.file()
        for start in range(0, nbytes, _NBYTES):
            n = min(_NBYTES, nbytes - start)
            left, right = self._one[:n], self._other[:n]
            n_left = files[0].read_into(one.offset + start, left)
            n_right = files[1].read_into(other.offset + start, right)
            n_read = min(n_left, n_right)
            yield start, left[:n_read], right[:n_read]
            if n_read < n:
                return


def _is_equal(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> bool:
    """Tell whether all bytes are equal; 64-bit words have fewer results to look at."""
    whole = len(left) // 8 * 8
    words = left[:whole].view(np.uint64), right[:whole].view(np.uint64)
    return np.array_equal(*words) and np.array_equal(left[whole:], right[whole:])


def _differing(
    left: NDArray[np.uint8], right: NDArray[np.uint8], itemsize: int
) -> NDArray[np.bool_]:
    """Return which elements differ."""
    width = min(itemsize, 8)
    differs: NDArray[np.bool_] = left.view(f"u{width}") != right.view(f"u{width}")
    # Two words make a complex128.
    return differs if width == itemsize else differs[::2] | differs[1::2]


class _Flags:
    """Which elements differ, a part at a time, in order."""

    def __init__(
        self, chunks: Iterator[tuple[int, NDArray[np.uint8], NDArray[np.uint8]]], itemsize: int
    ) -> None:
        self._chunks = chunks
        self._itemsize = itemsize
        self._rest: NDArray[np.bool_] = np.empty(0, np.bool_)
        self._taken = 0
        self.first = self.last = -1
        """Flat indices of the first and the last element found so far that differ."""

    def take(self, n: int) -> NDArray[np.bool_]:
        """Return the next `n`; False from where a file has become shorter."""
        parts = [self._rest]
        missing = n - len(self._rest)
        for _, left, right in self._chunks:
            whole = len(left) // self._itemsize * self._itemsize
            parts.append(_differing(left[:whole], right[:whole], self._itemsize))
            missing -= len(parts[-1])
            if missing <= 0:
                break
        flags = np.concatenate(parts)
        self._rest = flags[n:]
        taken = np.zeros(n, np.bool_)
        taken[: min(n, len(flags))] = flags[:n]
        places = self._taken + np.flatnonzero(taken)
        if len(places):
            self.first = int(places[0]) if self.first < 0 else self.first
            self.last = int(places[-1])
        self._taken += n
        return taken
