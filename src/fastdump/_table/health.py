"""What is the matter with each row of a table, as one of a few states; for figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._figures.figures import State
from fastdump._table.arrow_column import codes_of, integer_array, is_in, real_array
from fastdump._table.severity import saturation_tells
from fastdump._words import page_catalogue as say

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.shown_table import ShownTable

STATES = (
    State(say.NOTHING_BAD(), "#DCE6EC"),
    State(say.MASK(), "#A9CBE0", "."),
    State(say.NEAR_LARGEST(), "#F0E442"),
    State(say.AT_LARGEST(), "#E69F00", "/"),
    State(say.NOT_WHOLE(), "#999999", "\\"),
    State(say.NAN_OR_POS_INF(), "#D55E00", "x"),
)
"""The least urgent first. The colours are those of Okabe and Ito, but for the first."""

FINE, MASK, NEAR, SATURATED, INCOMPLETE, BAD = range(len(STATES))

_NEAR = 2.0


def health_of(table: ShownTable) -> NDArray[np.int8]:
    """Return an index into `STATES` for each row: the most urgent state that it is in."""
    batch, bad = table.batch, table.bad_values
    dtype, dtypes = codes_of(batch.column("dtype"))
    state = np.zeros(len(table), np.int8)
    state[bad.neg_inf] = MASK
    # Of 8-bit floats, quantisation puts the largest element next to the limit.
    wide = np.array([*(name in ("float16", "complex32") for name in dtypes), False], np.bool_)
    with np.errstate(invalid="ignore"):
        state[(table.headroom <= _NEAR) & wide[dtype]] = NEAR
    if "saturated" in batch.column_names:
        n_saturated = integer_array(batch.column("saturated"))
        count = integer_array(batch.column("count"))
        tells = saturation_tells(dtype, dtypes, n_saturated, count)
        state[(n_saturated > 0) & tells] = SATURATED
        # Masks are filled with the least value, too; values that overflowed are of both signs.
        is_filled = real_array(batch.column("max")) < -real_array(batch.column("min"))
        state[(n_saturated > 0) & tells & is_filled] = MASK
    state[bad.incomplete] = INCOMPLETE
    state[bad.nan_or_pos_inf] = BAD
    return state


def is_float(table: ShownTable) -> NDArray[np.bool_]:
    """Return which rows are tensors of floats, with statistics."""
    dtype, dtypes = codes_of(table.batch.column("dtype"))
    found = [name.startswith(("float", "bfloat", "hifloat")) for name in dtypes]
    usable = is_in(table.batch.column("status"), ("ok",))
    return np.array([*found, False], np.bool_)[dtype] & usable
