"""The rows of a table that a selection selects, and the message if there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump import _core
from fastdump._op_name.near_names import near_names
from fastdump._selection import NUMBER_CONDITIONS, Selection
from fastdump._table.arrow_column import codes_of, integer_array, is_null
from fastdump._words.quantities import integers_text, listed

if TYPE_CHECKING:
    from arro3.core import Array, RecordBatch
    from numpy.typing import NDArray

_MAX_LISTED = 6
_NAMES = ("op_name", "op_type")
_SAME: Mapping[str, str] = {}


def selected_rows(
    selection: Selection, batch: RecordBatch, names: Mapping[str, str] = _SAME
) -> NDArray[np.bool_]:
    """Return which rows meet all conditions, shape (rows,).

    Parameters
    ----------
    selection
        The conditions.
    batch
        The rows.
    names
        Names of columns that differ from the name of the condition, by condition.
    """
    keep = np.ones(batch.num_rows, np.bool_)
    for name in selection.conditions():
        keep &= _meets(name, selection, batch.column(names.get(name, name)))
    return keep


def matching_rows(column: Array, patterns: str | Iterable[str]) -> NDArray[np.bool_]:
    """Return in which rows a text column matches any of some shell patterns."""
    codes, texts = codes_of(column)
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    return np.array([*_core.match_texts(wanted, texts), False], np.bool_)[codes]


def _meets(name: str, selection: Selection, column: Array) -> NDArray[np.bool_]:
    if name not in NUMBER_CONDITIONS:
        codes, texts = codes_of(column)
        return np.array([*selection.matching(name, texts), False], np.bool_)[codes]
    numbers = integer_array(column)
    found = np.zeros(len(numbers), np.bool_)
    for first, last in getattr(selection, name):
        found |= (numbers >= first) & (numbers <= last)
    return np.asarray(found & ~is_null(column))


def absence_text(selection: Selection, batch: RecordBatch, names: Mapping[str, str] = _SAME) -> str:
    """Return the condition that no row meets, and what exists: ``no step 9 (steps present: 0-1)``.

    Parameters
    ----------
    selection
        Conditions that no single row meets.
    batch, names
        As of `selected_rows`.
    """
    for name in selection.conditions():
        column = batch.column(names.get(name, name))
        if not _meets(name, selection, column).any():
            if name in NUMBER_CONDITIONS:
                present = np.unique(integer_array(column)[~is_null(column)]).tolist()
                return absent(selection, name, present)
            return absent(selection, name, sorted(codes_of(column)[1]))
    return "no tensor meets all conditions, although some meet each of them"


def absent(selection: Selection, name: str, present: Sequence[Any]) -> str:
    """Return that nothing meets one condition, and what is there instead."""
    plural = {"status": "statuses", "index": "indices", "io": "io values"}.get(name, f"{name}s")
    if not present:
        return f"no {selection.text_of(name)}: nothing here tells its {name}"
    if name in NUMBER_CONDITIONS:
        there = integers_text(int(number) for number in present)
    elif name in _NAMES and (near := near_names(" ".join(getattr(selection, name)), present)):
        return f"no {selection.text_of(name)} (near it: {', '.join(map(repr, near))})"
    else:
        there = listed(map(str, present), _MAX_LISTED)
    return f"no {selection.text_of(name)} ({plural} present: {there})"
