"""How bad things are shown: red is bad, yellow doubtful, green good, dim of no concern."""

from __future__ import annotations

import math

from fastdump._printable import printable
from fastdump._text_table import Cell

GOOD = "green"
BAD = "bold red"
DOUBTFUL = "yellow"
SUBTLE = "dim"

_STATUS_STYLES = {
    "ok": SUBTLE,
    "unsupported": SUBTLE,
    "truncated": DOUBTFUL,
    "absent": DOUBTFUL,
    "size_mismatch": DOUBTFUL,
    "malformed": BAD,
    "unreadable": BAD,
}


def status_style(status: str) -> str:
    """Return the style of a row's status."""
    return _STATUS_STYLES[status]


def status_cell(status: str, note: str | None) -> Cell:
    """Return ``ok``, or ``truncated: why``."""
    return Cell(f"{status}: {printable(note)}" if note else status, status_style(status))


def nan_style(nan: int) -> str:
    """Return the style of a number of NaN."""
    return BAD if nan else SUBTLE


def moment_style(value: float | None) -> str:
    """Return the style of a max, min or mean, which the vendor's may have of all elements."""
    if value is None or math.isfinite(value):
        return ""
    return DOUBTFUL if value == -math.inf else BAD


def inf_style(pos_inf: int, neg_inf: int) -> str:
    """Return the style of the numbers of infinities."""
    if pos_inf:
        return BAD
    # Masks are made of -Inf.
    return DOUBTFUL if neg_inf else SUBTLE
