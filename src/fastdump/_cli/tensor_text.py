"""What `fastdump show` prints of one tensor: statistics, elements, bad rows, a histogram."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from fastdump import StatsRow
from fastdump._bad_values import BadRows
from fastdump._damage import Damage
from fastdump._histogram import Histogram
from fastdump._quantities import is_integer, value_text
from fastdump._styles import SUBTLE, inf_style, nan_style

MOMENTS = ("max", "min", "mean", "l2norm")
COUNTS = ("nan", "pos_inf", "neg_inf", "zero", "subnormal", "saturated")

_INDENT = " " * 10
_BAR_WIDTH = 40
_MAX_ROWS = 8


def statistics_lines(row: StatsRow) -> Iterator[Text]:
    """Yield what a row of level full says of the elements."""
    line = Text(f"{row.io}.{row.index}".ljust(len(_INDENT)))
    line.append("count ", SUBTLE).append("-" if row.count is None else f"{row.count:,}")
    for name in MOMENTS:
        text = value_text(getattr(row, name), integer=is_integer(row.dtype), digits=9)
        line.append(f"  {name} ", SUBTLE).append(text or "-")
    yield line
    styles = {
        "nan": nan_style(row.nan or 0),
        "pos_inf": inf_style(row.pos_inf or 0, 0),
        "neg_inf": inf_style(0, row.neg_inf or 0),
    }
    line = Text(_INDENT[2:])
    for name in COUNTS:
        number = getattr(row, name)
        # The vendor's own statistics leave some out.
        text = "-" if number is None else f"{number:,}"
        line.append(f"  {name} ", SUBTLE).append(text, styles.get(name, ""))
    if row.first_bad is not None:
        line.append("  first_bad ", SUBTLE).append(_index_text(row.first_bad, row.shape))
    yield line


def elements_lines(selected: Any, index: str, *, width: int) -> Iterator[Text]:
    """Yield the elements at `index`, on one line if they fit."""
    array = np.asarray(selected)
    text = np.array2string(array, separator=", ", threshold=1000, max_line_width=width)
    first, *rest = text.splitlines() or [""]
    line = Text(_INDENT).append(f"{index} ", SUBTLE)
    if not rest and len(_INDENT) + len(index) + 1 + len(first) <= width:
        yield line.append(first)
        return
    yield line
    for text in (first, *rest):
        yield Text(text)


def damage_line(damage: Damage) -> Text:
    """Return where the bad values lie, in words."""
    return Text(_INDENT).append("bad: ", SUBTLE).append(damage.words)


def bad_rows_lines(rows: Sequence[BadRows], n_rows: int) -> Iterator[Text]:
    """Yield where bad values lie along the leading dimension of `n_rows`."""
    n_bad = sum(last - first + 1 for first, last, *_ in rows)
    line = Text(_INDENT).append("bad in ", SUBTLE)
    yield line.append(f"{n_bad:,} of {n_rows:,}").append(" of the first dimension", SUBTLE)
    for first, last, nan, pos_inf, neg_inf in rows[:_MAX_ROWS]:
        place = f"[{first}]" if first == last else f"[{first}..{last}]"
        counts = (("nan", nan), ("+inf", pos_inf), ("-inf", neg_inf))
        said = ", ".join(f"{number:,} {name}" for name, number in counts if number)
        yield Text(_INDENT).append(f"  {place} ").append(said, nan_style(nan + pos_inf))
    if len(rows) > _MAX_ROWS:
        yield Text(f"{_INDENT}  ... and {len(rows) - _MAX_ROWS:,} more", SUBTLE)


def histogram_lines(histogram: Histogram, size: int) -> Iterator[Text]:
    """Yield a line an interval; of some elements only if `size` is more than were looked at."""
    counts, edges, n_sampled = histogram
    edge_texts = [f"{edge:.4g}" for edge in edges]
    edge_width = max(map(len, edge_texts))
    count_width = max(len(f"{count:,}") for count in counts)
    if n_sampled < size:
        yield Text(f"{_INDENT}of {n_sampled:,} elements, evenly spaced", SUBTLE)
    for low, high, count in zip(edge_texts, edge_texts[1:], counts.tolist(), strict=False):
        # What is there at all shows.
        length = math.ceil(count / int(counts.max()) * _BAR_WIDTH)
        line = Text(_INDENT).append(f"{low:>{edge_width}} .. {high:>{edge_width}}  ", SUBTLE)
        yield line.append(f"{count:>{count_width},}  ").append("#" * length)


def json_values(selected: Any) -> Any:
    """Return elements as JSON has them: NaN, infinities and complex numbers as text."""
    array: NDArray[Any] = np.asarray(selected)
    if array.ndim:
        return [json_values(element) for element in array]
    if array.dtype.kind in "biu" or array.dtype.name.startswith(("int", "uint")):
        return int(array)
    if array.dtype.kind == "c":
        return str(array.item())
    value = float(array)
    return value if math.isfinite(value) else str(value)


def _index_text(flat: int, shape: tuple[int, ...] | None) -> str:
    """Return ``17 [2, 1]``; only the flat index if the stored shape does not hold it."""
    # A shape with an unknown dimension (-1) or of less elements than bytes.
    if not shape or min(shape) < 1 or flat >= math.prod(shape):
        return f"{flat:,}"
    return f"{flat:,} [{', '.join(str(i) for i in np.unravel_index(flat, shape))}]"
