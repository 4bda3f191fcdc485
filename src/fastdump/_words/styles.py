"""Styles that show how bad things are: red is bad, yellow doubtful, green good, dim unimportant."""

from __future__ import annotations

import math

from fastdump._words.printable import printable
from fastdump._words.text_table import Cell

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
    "changed": BAD,
}


def status_style(status: str) -> str:
    """Return the style of the status of a row."""
    return _STATUS_STYLES[status]


def status_cell(status: str, note: str | None) -> Cell:
    """Return ``ok``, or ``truncated: why``."""
    return Cell(f"{status}: {printable(note)}" if note else status, status_style(status))


def number_cell(number: int | None, style: str = "") -> Cell:
    """Return ``1,312``, '' for null."""
    return Cell("" if number is None else f"{number:,}", style)


def nan_style(nan: int) -> str:
    """Return the style of a count of NaN."""
    return BAD if nan else SUBTLE


def moment_style(value: float | None) -> str:
    """Return the style of a max, min or mean, which is NaN or Inf only if a device computed it."""
    if value is None or math.isfinite(value):
        return ""
    return DOUBTFUL if value == -math.inf else BAD


def inf_style(pos_inf: int, neg_inf: int) -> str:
    """Return the style of counts of infinities; -Inf alone may be a mask."""
    if pos_inf:
        return BAD
    return DOUBTFUL if neg_inf else SUBTLE
