"""Operators whose names end in a counter that runs through the whole step.

Eager runs name operators so: "layers.1.mlp/mul_124". If a step takes a branch that another does
not, all later counters are others, and equal names are of different operators. What tells these
apart then is the name without its counter, the type, the shapes, and the position among operators
that are equal in all this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._op_name import in_file_name
from fastdump._triage.order import in_order, numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_COUNTER: Final = -1

_COUNTER = re.compile(r"\d{1,18}$")
_MIN_SHARE: Final = 0.9
"""The share of a step's operators whose counters have to grow in time: streams run at once."""


def split(ops: Sequence[tuple[str, str]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each operator a number that is equal without counters, and its counter."""
    seen: dict[tuple[str, str], int] = {}
    stems, counters = [], []
    for op_type, name in ops:
        found = _COUNTER.search(name)
        stem = name if found is None else name[: found.start()]
        stems.append(seen.setdefault((op_type, in_file_name(stem)), len(seen)))
        counters.append(NO_COUNTER if found is None else int(found[0]))
    return np.array(stems, np.int64), np.array(counters, np.int64)


def without_counter(name: str) -> str:
    """Return a name without its counter.

    >>> without_counter("layers.1.mlp/mul_124")
    'layers.1.mlp/mul'
    """
    return _COUNTER.sub("", name).rstrip("_-.") or name


def shift(
    model: NDArray[np.uint64],
    place: NDArray[np.uint64],
    when: NDArray[np.int64],
    stem: NDArray[np.int64],
    counter: NDArray[np.int64],
) -> bool:
    """Tell whether counters run through whole steps, and are others in some of these.

    Parameters
    ----------
    model, place : ndarray of uint64, shape (executions,)
        Which model on which device, and in which step.
    when, stem, counter : ndarray of int64, shape (executions,)
        The times, and what `split` gives.
    """
    in_time = in_order(counter, when, numbered(place)[1])
    is_next = np.diff(place[in_time]) == 0
    grows = (np.diff(counter[in_time]) > 0) & (counter[in_time][:-1] != NO_COUNTER)
    if int((grows & is_next).sum()) < _MIN_SHARE * int(is_next.sum()):
        return False
    # One counter in two steps of a model, with two names before it.
    alike = np.lexsort((stem, counter, model))
    same = (np.diff(model[alike]) == 0) & (np.diff(counter[alike]) == 0)
    same &= (counter[alike][1:] != NO_COUNTER) & (np.diff(stem[alike]) != 0)
    return bool((np.diff(place[alike]) != 0)[same].any())
