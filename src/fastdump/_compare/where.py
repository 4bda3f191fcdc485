"""Ranks and steps of one dump matched with those of the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._compare.keys import Keys
from fastdump._words.quantities import numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

NULL = -(2**63)
"""Stands for a number that is not known."""


def aligned(
    what: str, a: NDArray[np.int64], b: NDArray[np.int64], *, may_be_untold: bool
) -> tuple[Keys, str | None]:
    """Return keys that are equal where ranks, or steps, belong together.

    Numbers that occur on both sides belong together. If there is none, but both sides have equally
    many, they belong together in ascending order: so two ranks can be compared, or a rank and a
    reference without one.

    Parameters
    ----------
    what
        "rank" or "step".
    a, b
        The number of each row, `NULL` where it is not known.
    may_be_untold
        Whether a side without any number stands for all numbers of the other; its rows are then
        told apart by their order.

    Returns
    -------
    keys : Keys
        One key for each row.
    note : str or None
        What a person should know about this choice.
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
    return numbered(what, known) if known else f"no {what}"
