"""The shape of the damage inside one tensor, in words: rows, columns, blocks, a run, a stride."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fastdump._words import catalogue as say
from fastdump._words.enumeration import enumerated
from fastdump._words.places import index_text
from fastdump._words.quantities import integers_text, size_text
from fastdump._words.sentence import Sentence

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ELEMENTS_AT_ONCE: Final = 1 << 20
_MAX_COUNTED: Final = 1 << 20
"""Along a longer axis, indices are not counted one by one."""
_MAX_PLACES: Final = 8
"""Up to this many indices or ranges are all named."""
_WRITE_NBYTES: Final = 2048
"""By the vendor's debugging guide, stray writes of a device come in multiples of this size."""

IsBad = Callable[["NDArray[Any]"], "NDArray[np.bool_]"]


@dataclass(frozen=True, slots=True)
class Damage:
    """Where the bad elements of one tensor lie.

    Attributes
    ----------
    bad, size
        Number of bad elements, and of all elements.
    words
        The shape of the damage, in words.
    place
        The bad elements as an index: "[0, 0, {6, 12}, :]"; None if they make no rectangle.
    """

    bad: int
    size: int
    words: str
    place: str | None
    _shape: str = field(default="", compare=False, repr=False)

    @property
    def where(self) -> str:
        """The place, or else the words without the share of elements: where that was told."""
        return self.place or self._shape or self.words


def is_not_finite(elements: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which elements are NaN or infinite."""
    finite: NDArray[np.bool_] = np.isfinite(elements)
    return ~finite


def describe_damage(
    array: NDArray[Any], is_bad: IsBad = is_not_finite, *, itemsize: int | None = None
) -> Damage | None:
    """Return where the bad elements of an array lie, None if there are none.

    Elements are examined in parts, so that memory stays bounded.

    Parameters
    ----------
    array : numpy.ndarray
        An array of any shape.
    is_bad : callable
        Function from some of the elements, in one dimension, to a bool for each.
    itemsize : int, optional
        Bytes of an element on the device, if they differ from those in the array.
    """
    seen = _Seen(array.shape, itemsize or array.itemsize)
    for elements, indices in _parts(array):
        bad = is_bad(elements)
        if bad.any():
            seen.add(np.flatnonzero(bad) + indices)
    return seen.damage() if seen.n_bad else None


def _parts(array: NDArray[Any]) -> Iterator[tuple[NDArray[Any], int]]:
    """Yield the elements in the order of their indices, and the flat index of the first of each."""
    if array.flags.c_contiguous:
        flat = array.reshape(-1)
        for start in range(0, flat.size, _ELEMENTS_AT_ONCE):
            yield flat[start : start + _ELEMENTS_AT_ONCE], start
        return
    row_size = math.prod(array.shape[1:])
    n_rows = max(1, _ELEMENTS_AT_ONCE // max(row_size, 1))
    for row in range(0, len(array), n_rows):
        yield array[row : row + n_rows].reshape(-1), row * row_size


class _Seen:
    """A summary of bad indices, which are added in order, a part at a time."""

    def __init__(self, shape: tuple[int, ...], itemsize: int) -> None:
        self.shape = shape
        self.itemsize = itemsize
        self.size = math.prod(shape)
        self.n_bad = 0
        self._first = self._last = -1
        self._n_runs = 0
        self._begin_rows = True  # every run begins where a row does
        self._stride: int | None = None
        self._is_strided = True
        # The number of bad elements at each index of each axis.
        self._counts = [np.zeros(dim, np.int64) if dim <= _MAX_COUNTED else None for dim in shape]

    def add(self, indices: NDArray[np.int64]) -> None:
        if self.n_bad == 0:
            self._first = int(indices[0])
        # The first index begins a run, as does any index that does not follow the one before it.
        steps = np.diff(indices, prepend=self._last if self.n_bad else indices[0] - 2)
        is_start = steps != 1
        self._n_runs += int(is_start.sum())
        row = self.shape[-1] if self.shape else 1
        self._begin_rows &= bool((indices[is_start] % row == 0).all())
        steps = steps[0 if self.n_bad else 1 :]
        if len(steps):
            if self._stride is None:
                self._stride = int(steps[0])
            self._is_strided &= bool((steps == self._stride).all())
        self._last = int(indices[-1])
        self.n_bad += len(indices)
        rest = indices
        for axis in reversed(range(len(self.shape))):
            counts = self._counts[axis]
            rest, along = np.divmod(rest, self.shape[axis])
            if counts is not None:
                counts += np.bincount(along, minlength=len(counts))

    def damage(self) -> Damage:
        place = self._rectangle()
        if self.n_bad == self.size:
            words = say.ALL_BAD() if self.size > 1 else say.THE_ONLY_ELEMENT()
            return Damage(self.n_bad, self.size, words, place)
        if self.n_bad == 1:
            at = index_text(self._first, self.shape)
            return Damage(1, self.size, say.ONE_ELEMENT(size=self.size, at=at), place)
        joined, shape = self._shape(place)
        share = say.SHARE_OF_ELEMENTS(n=self.n_bad, size=self.size)
        return Damage(self.n_bad, self.size, joined(share=share, shape=shape), place, shape)

    def _rectangle(self) -> str | None:
        """Return the bad elements as an index, if one selects exactly them."""
        involved = [np.flatnonzero(counts) for counts in self._counts if counts is not None]
        if not self.shape or len(involved) < len(self.shape):
            return None
        if math.prod(map(len, involved)) != self.n_bad:
            return None
        texts = list(map(_indices_text, involved, self.shape))
        return None if None in texts else f"[{', '.join(map(str, texts))}]"

    def _shape(self, place: str | None) -> tuple[Sentence, str]:
        """Return the shape of the damage, and the sentence that tells it after the share."""
        if self._n_runs == 1:
            return say.SHARE_AND_RUN, self._run_words()
        if whole := self._whole_words():
            return say.SHARE_AND_SHAPE, whole
        if self._is_strided and self.n_bad > 2:
            start = index_text(self._first, self.shape)
            return say.SHARE_AND_SHAPE, say.EVERY_NTH(stride=self._stride or 0, start=start)
        if place is not None:
            return say.SHARE_AND_SHAPE, say.BLOCK(place=place)
        return say.SHARE_AND_RUN, say.SCATTERED(axes=self._scattered_words())

    def _run_words(self) -> str:
        nbytes, is_tail = self.n_bad * self.itemsize, self._last == self.size - 1
        start = index_text(self._first, self.shape)
        if nbytes % _WRITE_NBYTES == 0:
            run = (say.TAIL_OF_WRITES if is_tail else say.RUN_OF_WRITES)(
                start=start, nbytes=size_text(nbytes), write_nbytes=_WRITE_NBYTES
            )
        else:
            run = (say.TAIL if is_tail else say.RUN)(start=start)
        whole = self._whole_words()
        return say.WHOLE_LINES(lines=whole, run=run) if whole else run

    def _whole_words(self) -> str | None:
        """Return "2 whole rows, ..." if all indices of an axis with bad elements are wholly bad."""
        if len(self.shape) < 2:
            return None
        last = len(self.shape) - 1
        for axis in (last - 1, last, *range(last - 1)):
            counts = self._counts[axis]
            if counts is None:
                continue
            touched = np.flatnonzero(counts)
            per_index = self.size // self.shape[axis]
            if len(touched) == self.shape[axis] or (counts[touched] != per_index).any():
                continue
            if axis == last:
                lines = say.WHOLE_COLUMNS(len(touched))
            elif axis == last - 1:
                lines = say.WHOLE_ROWS(len(touched))
            else:
                lines = say.OF_AXIS(indices=say.WHOLE_INDICES(len(touched)), axis=axis)
            named = _indices_text(touched, self.shape[axis])
            return say.NAMED_LINES(lines=lines, numbers=named) if named else lines
        return self._whole_lines()

    def _whole_lines(self) -> str | None:
        """Return "2 whole rows" if every line along the last axis is wholly bad or wholly good."""
        length = self.shape[-1]
        counts = self._counts[-1]
        if counts is None or length < 2 or len(self.shape) < 3:
            return None
        # If runs begin at row starts and all columns have equally many, they also end with rows.
        if not self._begin_rows or (counts != self.n_bad // length).any():
            return None
        place = self._rectangle()
        lines = say.WHOLE_ROWS(self.n_bad // length)
        return say.LINES_AT(lines=lines, place=place) if place else lines

    def _scattered_words(self) -> str:
        parts = []
        for axis, counts in enumerate(self._counts):
            if counts is None or self.shape[axis] == 1:
                continue
            n_touched = int(np.count_nonzero(counts))
            parts.append(say.ALONG_AXIS(n=n_touched, size=self.shape[axis], axis=axis))
        return enumerated(parts) or say.RUNS(self._n_runs)


def _indices_text(indices: NDArray[np.int64], dim: int) -> str | None:
    """Return ``:`` for all, ``3``, ``4:7``, ``{1, 4-6}``; None if it would be long."""
    if len(indices) == dim and dim > 1:
        return ":"
    n_gaps = np.count_nonzero(np.diff(indices) != 1)
    if len(indices) == 1:
        return str(indices[0])
    if n_gaps == 0:
        return f"{indices[0]}:{indices[-1] + 1}"
    return f"{{{integers_text(indices.tolist())}}}" if n_gaps < _MAX_PLACES else None
