"""What a peer has computed, and whether it is what fastdump computes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

import fastdump


@dataclass
class Statistics:
    """Of the first elements of a file."""

    count: int = 0
    nan: int = 0
    pos_inf: int = 0
    neg_inf: int = 0
    n_finite: int = 0
    max: float = -math.inf
    min: float = math.inf
    sum: float = 0.0
    sum_of_squares: float = 0.0


def check_same(row: fastdump.StatsRow, part: Statistics) -> None:
    """Check that both sides have done the same work.

    The file repeats what numpy has read, so that only counts and sums differ, by a known factor.
    """
    assert row.count is not None
    times = row.count // part.count
    assert row.count == times * part.count
    assert (row.nan, row.pos_inf, row.neg_inf) == (
        times * part.nan,
        times * part.pos_inf,
        times * part.neg_inf,
    )
    assert (row.max, row.min) == (part.max, part.min)
    root_mean_square = math.sqrt(part.sum_of_squares / part.n_finite)
    assert row.l2norm == pytest.approx(math.sqrt(times * part.sum_of_squares), rel=1e-9)
    assert row.mean == pytest.approx(part.sum / part.n_finite, abs=1e-9 * root_mean_square)
