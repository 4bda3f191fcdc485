"""Which rank or step of one dump stands for which of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.keys import Keys
from fastdump._quantities import ranges_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

NULL = -(2**63)
"""In the place of a number that is not known."""


def aligned(
    what: str, a: NDArray[np.int64], b: NDArray[np.int64], *, may_be_untold: bool
) -> tuple[Keys, str | None]:
    """Return keys that are equal where ranks, or steps, belong together.

    Numbers that occur on both sides belong to each other. If there is none but as many on either
    side, the lowest belongs to the lowest, and so on: that is how two ranks are compared, or a rank
    and a reference without one.

    Parameters
    ----------
    what
        "rank" or "step".
    a, b
        The number of each row, `NULL` where it is not known.
    may_be_untold
        Whether a side that tells no number at all stands for any number of the other: its rows are
        then told apart by their order.

    Returns
    -------
    keys : Keys
        Of each row.
    note : str or None
        What a person should know of it.
    """
    of_a, of_b = np.unique(a), np.unique(b)
    if len(np.intersect1d(of_a, of_b)):
        return Keys(a, b), None
    if len(of_a) == len(of_b):
        note = f"{_text(what, of_a)} of a compared with {_text(what, of_b)} of b"
        return Keys(a, of_a[np.searchsorted(of_b, b)]), note
    if may_be_untold and min(of_a.tolist(), of_b.tolist(), key=len) == [NULL]:
        zeros = Keys(np.zeros(len(a), np.int64), np.zeros(len(b), np.int64))
        return zeros, f"{_text(what, of_a)} of a compared with {_text(what, of_b)} of b, in order"
    note = f"{_text(what, of_a)} of a and {_text(what, of_b)} of b do not belong together"
    return Keys(a, b), note


def _text(what: str, numbers: NDArray[np.int64]) -> str:
    known = numbers[numbers != NULL].tolist()
    if not known:
        return f"no {what}"
    return f"{what}{'s'[: len(known) > 1]} {ranges_text(known)}"
