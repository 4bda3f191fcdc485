"""The rows of an array that hold NaN or infinities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastdump._array.stats_of import stats_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_GROUPS = 4096
"""Rows of a longer array are counted in groups."""


class BadRows(NamedTuple):
    """A range of indices of the leading dimension that hold bad values.

    Attributes
    ----------
    first, last : int
        The range, both ends included.
    nan, pos_inf, neg_inf : int
        Number of such elements in the range.
    """

    first: int
    last: int
    nan: int
    pos_inf: int
    neg_inf: int


def bad_rows(array: NDArray[Any]) -> list[BadRows]:
    """Return which indices of the leading dimension hold NaN or Inf, in order.

    Neighbouring rows with the same numbers of bad elements are returned as one entry. In an array
    of more than 4,096 rows, groups of rows are counted together.

    Parameters
    ----------
    array : numpy.ndarray
        An array of at least one dimension, of a type that `stats_of` takes.

    Raises
    ------
    UnsupportedDTypeError
        If there are no statistics for elements of this type.
    """
    n_rows = len(array)
    group = -(-n_rows // _MAX_GROUPS) or 1
    found: list[BadRows] = []
    for first in range(0, n_rows, group):
        health = stats_of(array[first : first + group], level="health")
        counts = (health.nan, health.pos_inf, health.neg_inf)
        if not any(counts):
            continue
        last = min(first + group, n_rows) - 1
        # Groups are never merged: their equal totals say nothing about each row.
        if group == 1 and found and found[-1].last == first - 1 and found[-1][2:] == counts:
            found[-1] = found[-1]._replace(last=last)
        else:
            found.append(BadRows(first, last, *counts))
    return found
