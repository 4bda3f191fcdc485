"""The rows that a typed filter selects: words that all have to match."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from fastdump._selection import Selection
from fastdump._table.selected import matching_rows, selected_rows

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

HELP = (
    "words and patterns of names and types, or conditions: MatMul*  layers.2  step=1-3  io=output"
)

_CONDITIONS = frozenset(field.name for field in fields(Selection))
_SAME: Mapping[str, str] = {}
_WILD = frozenset("*?[")


def filtered_rows(
    batch: RecordBatch,
    text: str,
    names: Mapping[str, str] = _SAME,
    patterns: Collection[str] = (),
) -> NDArray[np.bool_]:
    """Return which rows meet every word of a filter, shape (rows,).

    Parameters
    ----------
    batch
        Rows with the columns that conditions name.
    text
        Words between blanks: ``step=3-5`` is a condition, as `Selection` has it; any other word is
        a shell pattern for the name of an operator or its type, or a part of them if it has none of
        ``*?[``.
    names
        Names of columns that differ from the name of the condition, by condition.
    patterns
        Columns of text of which any shell pattern may be asked: ``verdict=div*``.

    Raises
    ------
    ValueError
        If a condition has a value that it cannot have.
    """
    keep = np.ones(batch.num_rows, np.bool_)
    for word in text.split():
        name, equals, value = word.partition("=")
        if equals and name in patterns:
            keep &= matching_rows(batch.column(name), f"{value}*")
        elif equals and name in _CONDITIONS:
            # A condition that is not typed to its end yet selects nothing that could be meant.
            if value:
                keep &= selected_rows(Selection.of({name: value}), batch, names)
        else:
            keep &= _named(batch, word if _WILD & set(word) else f"*{word}*")
    return keep


def _named(batch: RecordBatch, pattern: str) -> NDArray[np.bool_]:
    by_name, by_type = (Selection.of({name: pattern}) for name in ("op_name", "op_type"))
    return selected_rows(by_name, batch) | selected_rows(by_type, batch)
