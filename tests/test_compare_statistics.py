"""Two tables of statistics compared: what they tell, and nothing more."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from comparisons import X, chain, write_op
from hypothesis import given, settings
from hypothesis import strategies as st

import fastdump
from fastdump import ComparisonRow, StatsTable, testing

NOTE = "statistics only: no element was compared"


def table_of(make_arrow: Any, **values: Any) -> StatsTable:
    row = {"op_type": "Add", "op_name": "x", "io": "output", "index": 0, "dtype": "float32"}
    counts = {"nan": 0, "pos_inf": 0, "neg_inf": 0}
    return StatsTable(make_arrow([{**row, **counts, "count": 10, **values}]))


def pair(make_arrow: Any, a: dict[str, Any], b: dict[str, Any]) -> ComparisonRow:
    (row,) = fastdump.compare(table_of(make_arrow, **a), table_of(make_arrow, **b))
    return row


def test_no_tensor_is_opened(tmp_path: Path) -> None:
    paths = []
    for side, wrong in (("a", {2: 0.5}), ("b", {})):
        dump = chain(tmp_path / side, wrong=wrong)
        paths.append(tmp_path / f"{side}.parquet")
        fastdump.stats(dump).write(paths[-1])
        for path in list(dump.rglob("Mul*")):
            path.unlink()
    for a, b in (paths, map(fastdump.read_stats, paths)):
        table = fastdump.compare(a, b)
        assert set(table["note"]) == {NOTE}
        assert table.about["compared"] == "statistics"
        first = table.first_divergence
        assert first is not None
        assert (first.op_name, first.cause) == ("layers.2/Mul", "here")
        assert "statistics that differ by" in table.sentence
        unknown = ("cosine_similarity", "max_abs_error", "rmse", "bit_equal", "mismatched")
        for name in unknown:
            assert pa.table(table)[name].null_count == len(table)


def test_a_dump_and_a_table_say_what_to_do(tmp_path: Path) -> None:
    dump = chain(tmp_path / "dump")
    with pytest.raises(ValueError, match=r"fastdump stats .*dump -o stats\.parquet"):
        fastdump.compare(dump, fastdump.stats(dump))


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_the_difference_is_a_lower_bound(seed: int) -> None:
    """Never more than the errors of the elements allow."""
    rng = np.random.default_rng(seed)
    b = rng.normal(rng.normal(0, 2), 1, 50)
    a = b + rng.normal(0, rng.choice([0, 1e-3, 1.0]), 50)
    stats = [fastdump.stats_of(x) for x in (a, b)]
    tables = [
        StatsTable(
            pa.table(
                {
                    "op_name": ["x"],
                    "op_type": ["Add"],
                    "io": ["output"],
                    "index": [0],
                    "max": [float(s.max or 0)],
                    "min": [float(s.min or 0)],
                    "mean": [s.mean],
                    "l2norm": [s.l2norm],
                    "status": ["ok"],
                    "path": ["p"],
                    "source": ["tensor"],
                }
            )
        )
        for s in stats
    ]
    (row,) = fastdump.compare(*tables)
    scale = np.abs(b).max()
    bound = max(np.abs(a - b).max() / scale, np.linalg.norm(a - b) / np.linalg.norm(b))
    assert row.statistics_difference is not None
    assert row.statistics_difference <= bound * (1 + 1e-9)
    moments = [(s.max, s.min, s.mean) for s in stats]
    expected = max(abs(p - q) / scale for p, q in zip(*moments, strict=True))
    assert row.statistics_difference >= expected * (1 - 1e-9)


def test_counts_of_nan_and_inf(make_arrow: Any) -> None:
    row = pair(make_arrow, {"nan": 3, "max": 1.0}, {"max": 1.0})
    assert (row.only_a_bad, row.only_b_bad, row.both_bad) == (3, 0, 0)
    assert row.verdict == "diverges"
    row = pair(make_arrow, {"nan": 3, "max": 1.0}, {"pos_inf": 2, "max": 1.0})
    assert (row.only_a_bad, row.only_b_bad, row.both_bad) == (None, None, None)
    assert row.verdict == "diverges"
    row = pair(make_arrow, {"nan": 3, "max": 1.0}, {"nan": 3, "max": 1.0})
    assert (row.only_a_bad, row.verdict) == (None, "similar")
    row = pair(make_arrow, {"nan": None, "max": 1.0}, {"max": 1.0})
    assert (row.only_a_bad, row.only_b_bad, row.verdict) == (None, None, "similar")


@pytest.mark.parametrize(
    ("a", "b", "difference"),
    [
        ({"max": 2.0, "min": -4.0}, {"max": 1.0, "min": -4.0}, 0.25),
        ({"mean": 0.5, "max": 1.0, "min": 0.0}, {"mean": 0.25, "max": 1.0, "min": 0.0}, 0.25),
        ({"l2norm": 3.0}, {"l2norm": 2.0}, 0.5),
        ({"l2norm": 0.0}, {"l2norm": 0.0}, 0.0),
        ({"l2norm": 1.0}, {"l2norm": 0.0}, math.inf),
        ({"max": math.nan}, {"max": math.nan}, 0.0),
        ({"max": math.nan}, {"max": 1.0}, math.inf),
        ({"max": math.inf}, {"max": math.inf}, 0.0),
        ({"max": 1.0}, {}, None),
    ],
)
def test_differences(
    make_arrow: Any, a: dict[str, Any], b: dict[str, Any], difference: float | None
) -> None:
    row = pair(make_arrow, a, b)
    assert row.statistics_difference == difference
    assert row.verdict == ("diverges" if difference else "similar")


def test_tensors_of_another_size(make_arrow: Any) -> None:
    row = pair(make_arrow, {"count": 10, "max": 1.0}, {"count": 12, "max": 1.0})
    assert (row.status, row.verdict, row.count) == ("size_mismatch", None, None)
    assert row.note == f"10 elements in a, 12 in b; {NOTE}"


def test_statistics_that_the_device_wrote(tmp_path: Path) -> None:
    """Six digits are no divergence."""
    x = np.random.default_rng(0).normal(0, 1, 100)
    for side, factor in (("a", 1 + 4e-6), ("b", 1.0)):
        directory = tmp_path / side
        directory.mkdir()
        name = testing.dump_name("Add", "x", task_id=1, stream_id=2, timestamp=17 * 10**14)
        testing.write_statistics_csv(directory / f"{name}.csv", outputs=[x * factor])
    sides = [tmp_path / side for side in "ab"]
    for a, b in (sides, (next(side.iterdir()) for side in sides)):
        table = fastdump.compare(a, b)
        assert table["verdict"].tolist() == ["similar"]
        assert table.about["compared"] == "statistics"
        assert (table[0].statistics_difference or 0) > 1e-6


def test_a_dump_that_has_statistics_in_the_place_of_some_tensors(tmp_path: Path) -> None:
    for side in "ab":
        write_op(tmp_path / side, "Add y", at=5, rank=None, step=None, outputs=[X])
        name = testing.dump_name("Add", "x", task_id=1, stream_id=2, timestamp=17 * 10**14)
        testing.write_statistics_csv(tmp_path / side / f"{name}.csv", outputs=[X])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    by_name = {row.op_name: row for row in table}
    assert by_name["y"].verdict == "equal"
    assert (by_name["x"].status, by_name["x"].verdict) == ("unsupported", None)
    assert "only statistics" in (by_name["x"].note or "")
