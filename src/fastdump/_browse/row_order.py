"""The order of rows: by a column, as an array of indices; no row is copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._table.arrow_column import codes_of, integer_array, is_null, real_array

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray


def sorted_rows(
    column: Array, kind: str, rows: NDArray[np.int64], *, descending: bool
) -> NDArray[np.int64]:
    """Return some rows in the order of a column; nulls and NaN last, equal ones as they were.

    Parameters
    ----------
    column
        The column, of all rows of the table.
    kind
        "integer", "real" or "text".
    rows
        Indices of the rows, shape (n,).
    descending
        Whether to begin with the largest.
    """
    keys, unknown = _keys(column, kind)
    keys, unknown = keys[rows], unknown[rows]
    if descending:
        # The smallest integer has no negative, but a complement.
        keys = -keys if keys.dtype == np.float64 else ~keys
    keys[unknown] = 0
    return rows[np.lexsort((keys, unknown))]


def _keys(column: Array, kind: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return what a column is sorted by, and where that is not known."""
    if kind == "real":
        reals = real_array(column)
        return reals, np.isnan(reals)
    if kind == "integer":
        return integer_array(column), is_null(column)
    codes, texts = codes_of(column)
    ranks = np.empty(len(texts) + 1, np.int64)
    ranks[np.argsort(np.array(texts, object), kind="stable")] = np.arange(len(texts))
    return ranks[codes], codes < 0
