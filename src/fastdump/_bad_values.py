"""Where the NaN and infinities of an array lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastdump._stats_of import stats_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_GROUPS = 4096
"""An array of more rows is looked at in groups of rows."""


class BadRows(NamedTuple):
    """Neighbouring indices of the leading dimension that hold bad values.

    Attributes
    ----------
    first, last : int
        Inclusive.
    nan, pos_inf, neg_inf : int
        How many elements.
    """

    first: int
    last: int
    nan: int
    pos_inf: int
    neg_inf: int


def bad_rows(array: NDArray[Any], *, threads: int | None = None) -> list[BadRows]:
    """Return which indices of the leading dimension hold NaN or Inf, in order.

    Rows that lie side by side and are bad in the same numbers are told as one. Of an array with
    more than 4,096 rows, groups of rows are counted together.

    Parameters
    ----------
    array : numpy.ndarray
        Of at least one dimension, of a type that `stats_of` takes.
    threads : int, optional
        As for `stats_of`.

    Raises
    ------
    UnsupportedDTypeError
        If there are no statistics for elements of this type.
    """
    n_rows = len(array)
    group = -(-n_rows // _MAX_GROUPS) or 1
    found: list[BadRows] = []
    for first in range(0, n_rows, group):
        health = stats_of(array[first : first + group], level="health", threads=threads)
        counts = (health.nan, health.pos_inf, health.neg_inf)
        if not any(counts):
            continue
        last = min(first + group, n_rows) - 1
        # Only single rows can be said to be bad in the same numbers.
        if group == 1 and found and found[-1].last == first - 1 and found[-1][2:] == counts:
            found[-1] = found[-1]._replace(last=last)
        else:
            found.append(BadRows(first, last, *counts))
    return found
