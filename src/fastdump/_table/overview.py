"""A table in figures: what is the matter where, and how large values are over layers and steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fastdump._figures.figures import Curve, Curves, StateMap, ValueMap
from fastdump._table.arrow_column import codes_of, integer_array, is_in, real_array
from fastdump._table.cells import MAX_COLUMNS, MAX_ROWS, NONE, Axis, Cells, ringed
from fastdump._table.health import FINE, MASK, NEAR, STATES, is_float
from fastdump._words import page_catalogue as say
from fastdump._words.catalogue import TENSORS
from fastdump._words.places import tensor_name
from fastdump._words.printable import printable

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

    from fastdump._table.row import StatsRow
    from fastdump._table.shown_table import ShownTable

MAX_CURVES = 8


def health_map(
    table: ShownTable,
    health: NDArray[np.int8],
    y: Axis,
    x: Axis,
    title: str,
    began: int | None,
) -> StateMap:
    """Return the most urgent state of the tensors in each cell.

    `health` is that of each row, `began` the row of an origin.
    """
    cells = Cells(y, x)
    codes = cells.largest(health.astype(np.float64))
    texts: dict[tuple[int, int], str] = {}
    for cell, rows in cells.chosen(health > FINE):
        worst = rows[health[rows] == health[rows].max()]
        texts[cell] = say.CELL_STATE(
            state=STATES[health[worst[0]]].name,
            tensors=TENSORS(len(worst)),
            tensor=_tensor_text(table[int(worst[0])]),
        )
    known = np.where(np.isnan(codes), NONE, codes).astype(np.int8)
    return StateMap(
        title, x.shown, y.shown, x.names, y.names, STATES, known, texts, ringed(y, x, began)
    )


def headroom_map(table: ShownTable, y: Axis, x: Axis, began: int | None) -> ValueMap | None:
    """Return how little headroom there is in each cell, None if no tensor is of float16."""
    dtype, dtypes = codes_of(table.batch.column("dtype"))
    narrow = np.array([*(name in ("float16", "complex32") for name in dtypes), False], np.bool_)
    headroom = table.headroom
    headroom = np.where(narrow[dtype] & np.isfinite(headroom), headroom, np.nan)
    least = -Cells(y, x).largest(-headroom)
    if np.isnan(least).all():
        return None
    return ValueMap(
        say.HEADROOM(),
        x.shown,
        y.shown,
        x.names,
        y.names,
        say.TIMES_LARGER(),
        least,
        is_log=True,
        ringed=ringed(y, x, began),
    )


def size_curves(table: ShownTable, over: Axis, by: Axis) -> Curves | None:
    """Return the root mean square of what operators put out, over layers or steps.

    None if there is nothing to draw a curve of.
    """
    rms = _root_mean_squares(table, Cells(by, over))
    if len(over.names) < 2 or not (np.isfinite(rms).sum(axis=1) > 1).any():
        return None
    return Curves(
        (say.RMS_OVER_STEPS if over.label == "step" else say.RMS_OVER_LAYERS)(),
        over.shown,
        say.RMS(),
        over.names,
        tuple(_few(by, rms)),
        is_log=True,
    )


def size_map(table: ShownTable, y: Axis, x: Axis, began: int | None) -> ValueMap | None:
    """Return the root mean square of what operators put out, in cells.

    None if there are less than two rows or two columns.
    """
    rms = _root_mean_squares(table, Cells(y, x))
    rms[rms == 0] = np.nan  # has no place on a logarithmic scale
    if min(rms.shape) < 2 or not np.isfinite(rms).any():
        return None
    return ValueMap(
        say.RMS_BY(y=y.word, x=x.word),
        x.shown,
        y.shown,
        x.names,
        y.names,
        say.RMS(),
        rms,
        is_log=True,
        ringed=ringed(y, x, began),
    )


def _root_mean_squares(table: ShownTable, cells: Cells) -> NDArray[np.float64]:
    """Return the root mean square of the finite elements of all outputs of floats in each cell."""
    batch = table.batch
    norm = real_array(batch.column("l2norm"))
    number = n_finite(batch).astype(np.float64)
    usable = is_float(table) & is_in(batch.column("io"), ("output",)) & np.isfinite(norm)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        squares = np.where(usable, norm, 0.0) ** 2
        return np.sqrt(cells.total(squares) / cells.total(np.where(usable, number, 0.0)))


def extreme_curves(
    table: ShownTable, health: NDArray[np.int8], over: Axis, by: Axis
) -> Curves | None:
    """Return the largest magnitude of a finite element, over layers or steps.

    Tensors that are filled with the least value, as masks are, would hide all others: they are left
    out. None if there is nothing to draw a curve of.
    """
    batch = table.batch
    low, high = (np.abs(real_array(batch.column(name))) for name in ("min", "max"))
    magnitudes = np.fmax(low, high)
    is_filled = (health == MASK) & ~table.bad_values.neg_inf
    magnitudes[~(np.isfinite(magnitudes) & is_float(table)) | is_filled] = np.nan
    largest = Cells(by, over).largest(magnitudes)
    if len(over.names) < 2 or not (np.isfinite(largest).sum(axis=1) > 1).any():
        return None
    title = say.LARGEST_OVER_STEPS if over.label == "step" else say.LARGEST_OVER_LAYERS
    curves = tuple(_few(by, largest))
    return Curves(title(), over.shown, say.MAGNITUDE(), over.names, curves, is_log=True)


def share_curves(table: ShownTable, over: Axis) -> Curves | None:
    """Return which share of the elements is zero, subnormal or saturated, for each element type.

    None below level "full", or if there is nothing to draw a curve of.
    """
    batch = table.batch
    if table.level != "full" or len(over.names) < 2:
        return None
    curves = []
    for axis in _types(table):
        cells = Cells(axis, over)
        count = cells.total(integer_array(batch.column("count")).astype(np.float64))[0]
        with np.errstate(invalid="ignore"):
            for column, of_type_text in _SHARES.items():
                n = integer_array(batch.column(column)).astype(np.float64)
                share = cells.total(n)[0] / count
                if np.nansum(share):
                    curves.append(Curve(of_type_text(dtype=axis.names[0]), share))
    if not curves:
        return None
    title = say.SHARES_OVER_STEPS if over.label == "step" else say.SHARES_OVER_LAYERS
    most = sorted(curves, key=lambda curve: -float(np.nanmax(curve.y)))[:MAX_CURVES]
    label = say.SHARE_OF_ELEMENTS()
    return Curves(title(), over.shown, label, over.names, tuple(most), is_log=True)


def _types(table: ShownTable) -> Iterator[Axis]:
    """Yield an axis with one group for each type of floats: the rows that are of it."""
    dtype, dtypes = codes_of(table.batch.column("dtype"))
    floats = is_float(table)
    for code, name in enumerate(dtypes):
        of_type = floats & (dtype == code)
        if of_type.any():
            yield Axis("", (name,), np.where(of_type, 0, NONE))


_SHARES = {
    "zero": say.ZEROS_OF_TYPE,
    "subnormal": say.SUBNORMALS_OF_TYPE,
    "saturated": say.SATURATED_OF_TYPE,
}

_COUNTS = ("nan", "pos_inf", "neg_inf", "zero", "subnormal", "saturated", "count", "nbytes")
STATISTICS = ("max", "min", "mean", "l2norm", "headroom", *_COUNTS)
GROUPINGS = ("layer", "step", "rank", "op_type")


def statistic_curves(table: ShownTable, statistic: str, over: str, by: str) -> Curves:
    """Return curves as `StatsTable.plot` draws them; parameters and errors are its own."""
    if statistic not in STATISTICS:
        raise ValueError(f"{statistic!r} is none of {', '.join(STATISTICS)}")
    if statistic not in ("headroom", *table.columns):
        raise ValueError(f"{statistic!r} is a column of tables of level 'full' only")
    for name in (over, by):
        if name not in GROUPINGS:
            raise ValueError(f"{name!r} is none of {', '.join(GROUPINGS)}")
    x = Axis.of(table.batch, over, MAX_COLUMNS)
    y = Axis.of(table.batch, by, MAX_ROWS).or_all(len(table))
    return Curves(
        f"{statistic} over {over}s",
        over,
        statistic,
        x.names,
        tuple(_few(y, _of_groups(table, statistic, Cells(y, x)))),
        is_log=statistic == "headroom",
    )


def _of_groups(table: ShownTable, statistic: str, cells: Cells) -> NDArray[np.float64]:
    """Return a statistic of all tensors of each cell together, NaN where there is none."""
    batch = table.batch
    if statistic in _COUNTS:
        counts = integer_array(batch.column(statistic)).astype(np.float64)
        return np.where(cells.total(np.ones(len(table))) > 0, cells.total(counts), np.nan)
    if statistic == "headroom":
        headroom = table.headroom
        headroom[~np.isfinite(headroom)] = np.nan
        return -cells.largest(-headroom)
    values = real_array(batch.column(statistic))
    values[~np.isfinite(values)] = np.nan
    if statistic == "max":
        return cells.largest(values)
    if statistic == "min":
        return -cells.largest(-values)
    known = ~np.isnan(values)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if statistic == "l2norm":
            squares = cells.total(np.where(known, values, 0.0) ** 2)
            return np.where(cells.total(known.astype(np.float64)) > 0, np.sqrt(squares), np.nan)
        n = np.where(known, n_finite(batch), 0).astype(np.float64)
        return cells.total(np.where(known, values, 0.0) * n) / cells.total(n)


def n_finite(batch: RecordBatch) -> NDArray[np.int64]:
    """Return the number of finite elements of each row."""
    bad = (integer_array(batch.column(name)) for name in ("nan", "pos_inf", "neg_inf"))
    return integer_array(batch.column("count")) - sum(bad)


def _few(by: Axis, rows: NDArray[np.float64]) -> Iterator[Curve]:
    """Yield a curve for each group, or, of many, the least, the median and the largest value."""
    if len(rows) <= MAX_CURVES:
        for name, row in zip(by.names, rows, strict=True):
            yield Curve(say.GROUP(label=by.shown, name=name), row)
        return
    known = np.ma.masked_invalid(rows)
    for sentence, row in (
        (say.LARGEST_OF_GROUPS, known.max(axis=0)),
        (say.MEDIAN_OF_GROUPS, _lower_median(rows)),
        (say.LEAST_OF_GROUPS, known.min(axis=0)),
    ):
        yield Curve(sentence(n=len(rows), label=by.shown), np.ma.filled(row, np.nan))


def _lower_median(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the lower median of what is known in each column, NaN if nothing is."""
    known = (~np.isnan(rows)).sum(axis=0)
    middle = np.maximum(known - 1, 0) // 2
    # NaN comes last.
    return np.asarray(np.take_along_axis(np.sort(rows, axis=0), middle[None], axis=0)[0])


def _tensor_text(row: StatsRow) -> str:
    name = row.op_name or row.op_type or row.path
    return printable(f"{name}:{tensor_name(row.io, row.index)}")


def spread_map(
    table: ShownTable, health: NDArray[np.int8], step: int | None, began: int | None
) -> StateMap | None:
    """Return the states of all ranks along the execution of one step, None if none is bad."""
    batch = table.batch
    in_step = integer_array(batch.column("step"), null=NONE) == (NONE if step is None else step)
    if not (in_step & (health >= NEAR)).any():
        return None
    place = np.full(len(table), NONE)
    rows = np.flatnonzero(in_step)
    place[rows] = _executions(table, rows)
    longest = int(place.max()) + 1
    size = max(1, -(-longest // MAX_COLUMNS))
    names = tuple(
        str(i) if size == 1 else f"{i}-{min(i + size, longest) - 1}"
        for i in range(0, longest, size)
    )
    x = Axis("execution", names, np.where(place == NONE, NONE, place // size))
    y = Axis.of(batch, "rank", MAX_ROWS).or_all(len(table))
    title = say.ALONG_EXECUTION()
    if step is not None:
        title = say.ALONG_EXECUTION_OF_STEP(step=str(step))
    return health_map(table, health, y, x, title, began)


def _executions(table: ShownTable, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which execution of its rank, from 0 on, each of some rows in order is of."""
    batch = table.batch
    rank = integer_array(batch.column("rank"), null=NONE)[rows]
    by_rank = np.argsort(rank, kind="stable")
    rank = rank[by_rank]
    op, _ = codes_of(batch.column("op_name"))
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = np.diff(rank) != 0
    starts_rank = is_new.copy()
    for column in (
        op,
        integer_array(batch.column("timestamp"), null=NONE),
        integer_array(batch.column("task_id"), null=NONE),
    ):
        is_new[1:] |= np.diff(column[rows][by_rank]) != 0
    number = np.cumsum(is_new) - 1
    execution = np.empty(len(rows), np.int64)
    execution[by_rank] = number - number[starts_rank][np.cumsum(starts_rank) - 1]
    return execution
