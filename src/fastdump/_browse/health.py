"""How each row of a table is, from unknown to bad, with a mark beside each colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._table.arrow_column import is_null
from fastdump._words.styles import BAD as BAD_STYLE
from fastdump._words.styles import DOUBTFUL, GOOD, SUBTLE
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.stats_table import StatsTable

UNKNOWN, CLEAN, MASKED, INCOMPLETE, BAD = range(5)
"""From the least to the most urgent: no statistics; nothing bad; -Inf alone, as masks have it; not
read whole; NaN or +Inf."""

MARKS: Final = (
    Cell("?", SUBTLE),
    Cell("\u2713", GOOD),
    Cell("~", SUBTLE),
    Cell("!", DOUBTFUL),
    Cell("\u2717", BAD_STYLE),
)
"""A mark for each health, which tells it apart without colours."""

WORDS: Final = ("no statistics", "clean", "-Inf alone, as in masks", "not whole", "NaN or +Inf")


def health_of(table: StatsTable) -> NDArray[np.int8]:
    """Return the health of each row, shape (rows,)."""
    found, batch = table.bad_values, table.batch
    health = np.full(len(table), CLEAN, np.int8)
    unknown = found.uncounted & is_null(batch.column("l2norm")) & is_null(batch.column("max"))
    health[unknown] = UNKNOWN
    health[found.neg_inf] = MASKED
    health[found.incomplete] = INCOMPLETE
    health[found.nan_or_pos_inf] = BAD
    return health
