"""Bytes of converted files, made a piece at a time from those of a dump file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastdump._elements import ElementType, unpack

if TYPE_CHECKING:
    from fastdump._convert.source_file import SourceFile
    from fastdump._core import HostLayout
    from fastdump._tensor import Tensor

_GATHERED_NBYTES = 256 << 10
# Elements of a larger tensor are mapped; less, and a file that shrinks is an error.
_MAPPED_NBYTES = 1 << 30


class Payload(Protocol):
    """Some bytes of a converted file."""

    @property
    def nbytes(self) -> int:
        """How many, known before any of them is."""

    def pieces(self, source: SourceFile) -> Iterator[memoryview]:
        """Yield them. Each piece is gone when the next one is asked for."""


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
    """Elements that numpy or the file to be written has otherwise than the dump."""

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
            codes = codes_of(data, self.element, n)
            yield as_bytes(cast(decoded(codes, self.element), self.dtype))
            left -= n


@dataclass(frozen=True, slots=True)
class HostElements:
    """Elements in the order of the host, without padding."""

    tensor: Tensor
    element: ElementType
    layout: HostLayout
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Of the elements as they are written."""
        return self.layout.n_elements * self.dtype.itemsize

    def pieces(self, source: SourceFile) -> Iterator[memoryview]:
        """Gather and convert them, when all that are stored are at hand."""
        layout = self.layout
        stored = self._stored(source)
        gathered = np.empty(_GATHERED_NBYTES // stored.itemsize, stored.dtype)
        for first in range(0, layout.n_elements, gathered.size):
            codes = gathered[: layout.n_elements - first]
            layout.gather(as_bytes(stored), as_bytes(codes), codes.itemsize, first, codes.size, 1)
            yield as_bytes(cast(decoded(codes, self.element), self.dtype))

    def _stored(self, source: SourceFile) -> NDArray[Any]:
        """Return the stored elements before they are decoded; in memory, unless they are many."""
        n, element = self.layout.n_stored, self.element
        if element.decode is None and not element.is_packed and self.nbytes > _MAPPED_NBYTES:
            return np.asarray(self.tensor).reshape(-1)
        data = np.empty(element.n_bytes(n), np.uint8)
        filled = 0
        for piece in source.pieces(self.tensor.offset, data.size):
            data[filled : filled + len(piece)] = piece
            filled += len(piece)
        return codes_of(data, element, n)


def codes_of(data: NDArray[np.uint8], element: ElementType, n: int) -> NDArray[Any]:
    """Return `n` elements of a dump before they are decoded: of packed ones, one in a byte."""
    if element.is_packed:
        return unpack(element, data, n, 1)
    return data.view(element.codes)


def decoded(codes: NDArray[Any], element: ElementType) -> NDArray[Any]:
    """Return what codes stand for."""
    return codes if element.decode is None else element.decode(codes)


def cast(elements: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return elements of another type, which has all of their values."""
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        return elements.astype(dtype, copy=False)


def as_bytes(array: NDArray[Any]) -> memoryview:
    """Return the memory of a contiguous array of any type."""
    return array.reshape(-1).view(np.uint8).data
