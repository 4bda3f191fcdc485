"""The extent of a tensor: its largest and smallest element and its norm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fastdump.errors import FastdumpError

if TYPE_CHECKING:
    from fastdump._compare.side import Side

MAX_READ: Final = 1000
_MAX_DIFFERENCE: Final = 0.03
"""Of extents, relative to the larger: several units in the last place of bfloat16."""


class Extent(NamedTuple):
    """What views and other precisions of a tensor have in common with it."""

    largest: float
    smallest: float
    norm: float


class Extents:
    """The extents of the tensors of one side, each found when it is asked for.

    Of a dump, at most `MAX_READ` tensors are read for it; the extents of the others are not known.
    """

    def __init__(self, side: Side) -> None:
        self._table = side.table
        self._known: dict[int, Extent | None] = {}

    def of(self, row: int) -> Extent | None:
        """Return the extent of the tensor in a row, None if it is not known."""
        if row not in self._known:
            is_read = self._table.level == "header"
            if is_read and len(self._known) >= MAX_READ:
                return None
            self._known[row] = self._read(row) if is_read else self._found(row)
        return self._known[row]

    def _read(self, row: int) -> Extent | None:
        try:
            statistics = self._table[row].tensor().stats()
        except (FastdumpError, OSError, ValueError):
            return None
        return _extent(statistics.max, statistics.min, statistics.l2norm)

    def _found(self, row: int) -> Extent | None:
        names = ("max", "min", "l2norm")
        return _extent(*(self._table.batch.column(name)[row].as_py() for name in names))


def _extent(largest: float | None, smallest: float | None, norm: float | None) -> Extent | None:
    if largest is None or smallest is None or norm is None:
        return None
    return Extent(largest, smallest, norm)


def are_alike(a: Extent | None, b: Extent | None) -> bool:
    """Tell whether two extents differ by no more than rounding."""
    if a is None or b is None:
        return False
    scale = max(abs(a.largest), abs(a.smallest), abs(b.largest), abs(b.smallest))
    elements = max(abs(a.largest - b.largest), abs(a.smallest - b.smallest))
    norms = abs(a.norm - b.norm)
    return elements <= _MAX_DIFFERENCE * scale and norms <= _MAX_DIFFERENCE * max(a.norm, b.norm)
