"""One tensor as lines of text: statistics, elements, bad rows, a histogram."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastdump._array.bad_rows import BadRows
from fastdump._array.damage import Damage
from fastdump._array.histogram import Histogram
from fastdump._table.row import StatsRow
from fastdump._words.places import bad_text, index_text
from fastdump._words.quantities import is_integer, value_text
from fastdump._words.styles import SUBTLE, inf_style, nan_style
from fastdump._words.text_table import Cell

MOMENTS = ("max", "min", "mean", "l2norm")
SPREAD = ("std", "min_abs", "dynamic_range")
COUNTS = ("nan", "pos_inf", "neg_inf", "zero", "subnormal", "saturated")

_INDENT = " " * 10
_BAR_WIDTH = 40
_MAX_ROWS = 8


def statistics_lines(row: StatsRow) -> Iterator[list[Cell]]:
    """Yield the statistics in a row of level "full"."""
    line = [Cell(row.tensor_name.ljust(len(_INDENT)))]
    line += [Cell("count ", SUBTLE), Cell("-" if row.count is None else f"{row.count:,}")]
    for name in MOMENTS:
        text = value_text(getattr(row, name), integer=is_integer(row.dtype), digits=9)
        line += [Cell(f"  {name} ", SUBTLE), Cell(text or "-")]
    yield line
    styles = {
        "nan": nan_style(row.nan or 0),
        "pos_inf": inf_style(row.pos_inf or 0, 0),
        "neg_inf": inf_style(0, row.neg_inf or 0),
    }
    line = [Cell(_INDENT[2:])]
    for name in COUNTS:
        number = getattr(row, name)
        # The vendor's statistics lack some counts.
        text = "-" if number is None else f"{number:,}"
        line += [Cell(f"  {name} ", SUBTLE), Cell(text, styles.get(name, ""))]
    if row.first_bad is not None:
        # If the stored shape does not hold the flat index, there is no other one.
        place = f"{row.first_bad:,} {index_text(row.first_bad, row.shape)}".rstrip()
        line += [Cell("  first_bad ", SUBTLE), Cell(place)]
    yield line
    if row.std is not None:
        yield [Cell(_INDENT[2:]), *_spread_cells(row)]


def _spread_cells(row: StatsRow) -> Iterator[Cell]:
    for name in SPREAD:
        number = getattr(row, name)
        yield Cell(f"  {name} ", SUBTLE)
        yield Cell("-" if number is None else value_text(number, integer=False, digits=6))


def elements_lines(selected: Any, index: str, *, width: int) -> Iterator[list[Cell]]:
    """Yield the elements at `index`, on one line if they fit."""
    array = np.asarray(selected)
    text = np.array2string(array, separator=", ", threshold=1000, max_line_width=width)
    first, *rest = text.splitlines() or [""]
    line = [Cell(_INDENT), Cell(f"{index} ", SUBTLE)]
    if not rest and len(_INDENT) + len(index) + 1 + len(first) <= width:
        yield [*line, Cell(first)]
        return
    yield line
    for text in (first, *rest):
        yield [Cell(text)]


def damage_line(damage: Damage) -> list[Cell]:
    """Return in words where the bad values lie."""
    return [Cell(_INDENT), Cell("bad: ", SUBTLE), Cell(damage.words)]


def bad_rows_lines(rows: Sequence[BadRows], n_rows: int) -> Iterator[list[Cell]]:
    """Yield where bad values lie along the leading dimension of `n_rows`."""
    n_bad = sum(last - first + 1 for first, last, *_ in rows)
    yield [
        Cell(_INDENT),
        Cell("bad at ", SUBTLE),
        Cell(f"{n_bad:,} of {n_rows:,}"),
        Cell(" indices of the first dimension", SUBTLE),
    ]
    for first, last, nan, pos_inf, neg_inf in rows[:_MAX_ROWS]:
        place = f"[{first}]" if first == last else f"[{first}..{last}]"
        said = bad_text(nan, pos_inf, neg_inf)
        yield [Cell(_INDENT), Cell(f"  {place} "), Cell(said, nan_style(nan + pos_inf))]
    if len(rows) > _MAX_ROWS:
        yield [Cell(f"{_INDENT}  ... and {len(rows) - _MAX_ROWS:,} more", SUBTLE)]


def histogram_lines(histogram: Histogram, size: int, *, width: int) -> Iterator[list[Cell]]:
    """Yield one line for each interval; `size` is the number of all elements, sampled or not."""
    counts, edges, n_sampled = histogram
    edge_texts = [f"{edge:.4g}" for edge in edges]
    edge_width = max(map(len, edge_texts))
    count_width = max(len(f"{count:,}") for count in counts)
    beside = len(_INDENT) + 2 * edge_width + len(" ..   ") + count_width + 2
    bar_width = max(min(_BAR_WIDTH, width - beside), 1)
    if n_sampled < size:
        yield [Cell(f"{_INDENT}of {n_sampled:,} elements, evenly spaced", SUBTLE)]
    for low, high, count in zip(edge_texts, edge_texts[1:], counts.tolist(), strict=False):
        # Rounded up, so that a single element shows.
        length = math.ceil(count / int(counts.max()) * bar_width)
        yield [
            Cell(_INDENT),
            Cell(f"{low:>{edge_width}} .. {high:>{edge_width}}  ", SUBTLE),
            Cell(f"{count:>{count_width},}  "),
            Cell("#" * length),
        ]


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
