"""What is exported: statistics of all tensors of a rank, a step and a layer together.

The definitions are those of `StatsTable.plot` and of the figures of a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._table.arrow_column import integer_array, is_in, is_null, real_array
from fastdump._table.cells import Axis, Cells
from fastdump._table.health import is_float
from fastdump._table.overview import n_finite
from fastdump._table.stats_table import StatsTable

if TYPE_CHECKING:
    from arro3.core import Array, RecordBatch
    from numpy.typing import NDArray


class Statistic(NamedTuple):
    """A statistic of tensors that are taken together: its name, its unit if any, what it is."""

    name: str
    unit: str
    meaning: str


_SHARES = {"zero_ratio": "zero", "subnormal_ratio": "subnormal", "saturated_ratio": "saturated"}
_COUNTS = {"nan_elements": "nan", "pos_inf_elements": "pos_inf", "neg_inf_elements": "neg_inf"}

STATISTICS = (
    Statistic("rms", "", "Root mean square of the finite elements of floating-point outputs."),
    Statistic("max_abs", "", "Largest magnitude of a finite element of floating-point tensors."),
    Statistic(
        "headroom_ratio",
        "ratio",
        "How many times larger values may become before they overflow, the least of all tensors.",
    ),
    Statistic("nan_elements", "elements", "Number of elements that are NaN."),
    Statistic("pos_inf_elements", "elements", "Number of elements that are +Inf."),
    Statistic("neg_inf_elements", "elements", "Number of elements that are -Inf."),
    Statistic("zero_ratio", "ratio", "Share of floating-point elements that are zero."),
    Statistic("subnormal_ratio", "ratio", "Share of floating-point elements that are subnormal."),
    Statistic(
        "saturated_ratio",
        "ratio",
        "Share of floating-point elements at the largest finite value of their type.",
    ),
    Statistic("bad_tensors", "tensors", "Number of tensors with NaN or +Inf."),
    Statistic(
        "incomplete_tensors", "tensors", "Number of tensors, or files, that were not read whole."
    ),
)
"""All statistics, in order. A unit is the end of the name, as OpenMetrics wants it."""


@dataclass(frozen=True, eq=False)
class Aggregates:
    """Statistics of groups of rows, in ascending order of what they are grouped by.

    Attributes
    ----------
    keys
        The columns that rows are grouped by, each with its value in each group. None stands for
        null, and comes first.
    values
        Each statistic in each group, not finite where it is not known, {name: shape (groups,)}.
    began_s
        The earliest time of an execution in each group, in seconds since 1970, NaN if no row tells
        one, shape (groups,).
    """

    keys: dict[str, list[int | None]]
    values: dict[str, NDArray[np.float64]]
    began_s: NDArray[np.float64]

    @classmethod
    def of(cls, table: StatsTable, by: Sequence[str]) -> Aggregates:
        """Return those of a table, grouped by columns of integers."""
        batch = table.batch
        group, first = groups_of(batch, by)
        cells = _Groups(group, len(first))
        time = _or_nan(batch.column("timestamp"))
        time[(time <= 0) | (time >= 2**53)] = np.nan  # no microseconds of a time that has been
        return cls(
            {name: _at(batch.column(name), first) for name in by},
            dict(_statistics(table, cells)),
            cells.least(time) / 1e6,
        )


def groups_of(batch: RecordBatch, by: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the group of each row, shape (rows,), and the first row of each, shape (groups,).

    Null is a group of its own.
    """
    group = np.zeros(batch.num_rows, np.int64)
    for name in by:
        column = batch.column(name)
        known = ~is_null(column)
        distinct, code = np.unique(integer_array(column)[known], return_inverse=True)
        codes = np.zeros(batch.num_rows, np.int64)
        codes[known] = code + 1
        # Numbered anew after each column, so that no product exceeds rows * rows.
        _, group = np.unique(group * (len(distinct) + 1) + codes, return_inverse=True)
    _, first = np.unique(group, return_index=True)
    return group, first


class _Groups(Cells):
    """Cells in one row, a cell for each group, in which only finite numbers count."""

    def __init__(self, group: NDArray[np.int64], n_groups: int) -> None:
        self.group = group
        super().__init__(Axis("", ("",), np.zeros_like(group)), Axis("", ("",) * n_groups, group))

    def most(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest value of each cell, NaN where none is known."""
        (most,) = self.largest(np.where(np.isfinite(values), values, np.nan))
        return np.asarray(most)

    def least(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the least value of each cell, NaN where none is known."""
        return -self.most(-values)

    def sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of each cell, NaN where nothing is known."""
        known = np.isfinite(values)
        n_known = self.total(known.astype(np.float64))[0]
        return np.where(n_known > 0, self.total(np.where(known, values, 0.0))[0], np.nan)


def _statistics(table: StatsTable, cells: _Groups) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield all statistics that the level of the table has."""
    batch, bad = table.batch, table.bad_values
    floats = is_float(table)
    # What is divided by 0 elements is not known, and what overflows is not finite.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        yield "rms", _root_mean_squares(batch, cells, floats)
        low, high = (np.abs(real_array(batch.column(name))) for name in ("min", "max"))
        yield "max_abs", cells.most(np.where(floats, np.fmax(low, high), np.nan))
        yield "headroom_ratio", cells.least(table.headroom)
        for name, column in _COUNTS.items():
            yield name, cells.sum(_or_nan(batch.column(column)))
        count = _or_nan(batch.column("count"))
        for name, column in _SHARES.items():
            if column in batch.column_names:
                n = np.where(floats, _or_nan(batch.column(column)), np.nan)
                yield name, cells.sum(n) / cells.sum(np.where(np.isnan(n), np.nan, count))
    yield "bad_tensors", cells.sum(bad.nan_or_pos_inf.astype(np.float64))
    yield "incomplete_tensors", cells.sum(bad.incomplete.astype(np.float64))


def _root_mean_squares(
    batch: RecordBatch, cells: _Groups, floats: NDArray[np.bool_]
) -> NDArray[np.float64]:
    norm, number = real_array(batch.column("l2norm")), n_finite(batch).astype(np.float64)
    usable = floats & is_in(batch.column("io"), ("output",)) & np.isfinite(norm) & (number > 0)
    norm[~usable], number[~usable] = np.nan, np.nan
    # In relation to the largest norm of the group, squares leave the range of float64 neither way.
    largest = cells.most(norm)
    scale = np.where(largest > 0, largest, 1.0)
    return scale * np.sqrt(cells.sum((norm / scale[cells.group]) ** 2) / cells.sum(number))


def _or_nan(column: Array) -> NDArray[np.float64]:
    """Return a column of integers as floats, whose sums do not wrap around, NaN for null."""
    values = integer_array(column).astype(np.float64)
    values[is_null(column)] = np.nan
    return values


def _at(column: Array, rows: NDArray[np.int64]) -> list[int | None]:
    values, unknown = integer_array(column)[rows].tolist(), is_null(column)[rows].tolist()
    return [None if null else value for value, null in zip(values, unknown, strict=True)]
