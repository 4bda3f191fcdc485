"""Payloads of converted files: bytes made a piece at a time from those of a dump file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastdump._array.elements import ElementType, unpack
from fastdump._array.lost_memory import reading_memory

if TYPE_CHECKING:
    from fastdump._convert.source_file import SourceFile
    from fastdump._core import HostLayout
    from fastdump._tensor.tensor import Tensor

_GATHERED_NBYTES = 256 << 10
# A larger tensor is mapped, so that it need not fit into memory.
_MAPPED_NBYTES = 1 << 30


class Payload(Protocol):
    """Some bytes of a converted file."""

    @property
    def nbytes(self) -> int:
        """Their number, known before the first is made."""

    def pieces(self, source: SourceFile) -> Iterator[memoryview]:
        """Yield them; each piece is valid until the next one is asked for."""


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """Bytes as they lie in the dump file."""

    offset: int
    nbytes: int

    def pieces(self, source: SourceFile) -> Iterator[memoryview]:
        """Yield them as they are read."""
        return source.pieces(self.offset, self.nbytes)


@dataclass(frozen=True, slots=True)
class ConvertedElements:
    """Elements that have another representation in the file to be written than in the dump."""

    offset: int
    size: int
    element: ElementType
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Of the elements as they are written."""
        return self.size * self.dtype.itemsize

    def pieces(self, source: SourceFile) -> Iterator[memoryview]:
        """Convert them as they are read."""
        left = self.size
        for piece in source.pieces(self.offset, self.element.n_bytes(self.size)):
            data = np.frombuffer(piece, np.uint8)
            n = min(left, data.size * 8 // self.element.bits)
            yield converted(codes_of(data, self.element, n), self.element, self.dtype)
            left -= n


@dataclass(frozen=True, slots=True)
class LogicalElements:
    """Elements in their logical order, without padding."""

    tensor: Tensor
    element: ElementType
    layout: HostLayout
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Of the elements as they are written."""
        return self.layout.n_elements * self.dtype.itemsize

    def pieces(self, source: SourceFile) -> Iterator[memoryview]:
        """Gather and convert them, once all stored elements are at hand."""
        layout = self.layout
        n, element = layout.n_stored, self.element
        is_mapped = element.decode is None and not element.is_packed
        if is_mapped and self.nbytes > _MAPPED_NBYTES:
            with self.tensor.guarded() as stored:
                yield from self._gathered(stored.reshape(-1))
            return
        data = np.empty(element.n_bytes(n), np.uint8)
        filled = 0
        for piece in source.pieces(self.tensor.offset, data.size):
            data[filled : filled + len(piece)] = piece
            filled += len(piece)
        yield from self._gathered(codes_of(data, element, n))

    def _gathered(self, stored: NDArray[Any]) -> Iterator[memoryview]:
        layout = self.layout
        gathered = np.empty(_GATHERED_NBYTES // stored.itemsize, stored.dtype)
        for first in range(0, layout.n_elements, gathered.size):
            codes = gathered[: layout.n_elements - first]
            reading_memory(layout.gather)(
                as_bytes(stored), as_bytes(codes), codes.itemsize, first, codes.size, 1
            )
            yield converted(codes, self.element, self.dtype)


def codes_of(data: NDArray[np.uint8], element: ElementType, n: int) -> NDArray[Any]:
    """Return `n` elements of a dump before decoding; packed elements get a byte each."""
    if element.is_packed:
        return unpack(element, data, n, 1)
    return data.view(element.codes)


def converted(codes: NDArray[Any], element: ElementType, dtype: np.dtype[Any]) -> memoryview:
    """Decode elements and return them as bytes of `dtype`, which has all of their values."""
    elements = codes if element.decode is None else element.decode(codes)
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        return as_bytes(elements.astype(dtype, copy=False))


def as_bytes(array: NDArray[Any]) -> memoryview:
    """Return the memory of a contiguous array of any type."""
    return array.reshape(-1).view(np.uint8).data
