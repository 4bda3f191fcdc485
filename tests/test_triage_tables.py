"""Triage of any table: it never fails, and no NaN that an operator made goes untold."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import fastdump
from fastdump._words.text_table import plain

MakeArrow = Callable[..., pa.Table]

OP_TYPES = [
    *("MatMulV2", "Add", "SoftmaxV2", "HcomAllReduce", "HcomSend", "HcomReceive", "SelectV2"),
    *("Data", "EmptyLike", "RmsNorm", "Empty\x1b[1m"),
]
OP_NAMES = ["a", "b", "model.layers.0/a", "model.layers.1/a", "a_To_b", "model_layers_0_a"]
reals = st.none() | st.sampled_from(
    [0.0, 1.0, -1.0, 65504.0, -65504.0, 40000.0, 1e30, math.nan, math.inf, -math.inf, 1e-30]
)
counts = st.none() | st.integers(0, 40)
rows = st.fixed_dictionaries(
    {
        "rank": st.none() | st.integers(0, 2),
        "device": st.none() | st.integers(0, 1),
        "step": st.none() | st.integers(0, 3),
        "op_type": st.none() | st.sampled_from(OP_TYPES),
        "op_name": st.none() | st.sampled_from(OP_NAMES),
        "task_id": st.none() | st.integers(0, 2),
        "timestamp": st.none() | st.integers(0, 6),
        "thread_id": st.none() | st.integers(0, 2) | st.just(65535),
        "io": st.sampled_from([None, "input", "output", "output", "buffer", "space"]),
        "index": st.none() | st.integers(0, 2),
        "dtype": st.sampled_from([None, "float16", "float32", "bfloat16", "int32", "complex64"]),
        "format": st.sampled_from([None, "ND", "FRACTAL_NZ"]),
        "shape": st.none() | st.lists(st.integers(-1, 5), max_size=3),
        "nbytes": st.none() | st.sampled_from([0, 32, 64]),
        "count": counts,
        "max": reals,
        "min": reals,
        "mean": reals,
        "l2norm": reals,
        "nan": counts,
        "pos_inf": counts,
        "neg_inf": counts,
        "saturated": counts,
        "first_bad": counts,
        "status": st.sampled_from(
            ["ok", "ok", "ok", "truncated", "absent", "size_mismatch", "unsupported", "malformed"]
        ),
        "path": st.sampled_from(["a", "b", "c\n\x1b"]),
        "offset": st.none() | st.integers(0, 100),
        "source": st.sampled_from(["tensor", "tensor", "csv"]),
    }
)


def report_of(make_arrow: MakeArrow, found: list[dict[str, Any]]) -> fastdump.TriageReport:
    return fastdump.triage(fastdump.StatsTable(make_arrow(found, full=True), level="full"))


@settings(max_examples=300, deadline=None)
@given(found=st.lists(rows, max_size=12))
def test_any_table_gives_a_report(make_arrow: MakeArrow, found: list[dict[str, Any]]) -> None:
    report = report_of(make_arrow, found)
    text = str(report)
    assert "\x1b" not in text
    document = json.dumps(report.to_dict(), allow_nan=False)
    assert json.loads(document)["clean"] == report.clean
    assert report.clean == (len(report.findings) == 0)
    assert 1 <= len(text.splitlines()) <= 8
    for width in (60, 80):
        lines = [plain(line) for line in report.lines(width=width)]
        assert len(lines) <= 8
        assert max(cell_len(line) for line in lines if "  next " not in line) <= width


def _is_told(row: dict[str, Any]) -> bool:
    """Tell whether a row is an output with NaN that nothing but a fault explains."""
    return (
        row["io"] == "output"
        and row["status"] == "ok"
        and (row["nan"] or 0) > 0
        and "Empty" not in (row["op_type"] or "")
        and "_To_" not in (row["op_name"] or "")
    )


@settings(max_examples=300, deadline=None)
@given(found=st.lists(rows, min_size=1, max_size=12))
def test_nan_in_an_output_is_never_passed_over(
    make_arrow: MakeArrow, found: list[dict[str, Any]]
) -> None:
    has_nan = any(map(_is_told, found))
    uninitialised = any("Empty" in (row["op_type"] or "") for row in found)
    report = report_of(make_arrow, found)
    if has_nan and not uninitialised:
        assert {one.kind for one in report.findings} & {"nan", "inf"}, report


@settings(max_examples=200, deadline=None)
@given(found=st.lists(rows, min_size=1, max_size=10), order=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(
    make_arrow: MakeArrow, found: list[dict[str, Any]], order: Any
) -> None:
    """What is told of time is in the columns; of rows of equal time and place any may be first."""
    timed = [row | {"timestamp": i, "path": f"p{i}", "offset": i} for i, row in enumerate(found)]
    expected = report_of(make_arrow, timed)
    shuffled = list(timed)
    order.shuffle(shuffled)
    report = report_of(make_arrow, shuffled)
    assert [one.kind for one in report.findings] == [one.kind for one in expected.findings]
    assert report.sentence == expected.sentence


def test_a_table_of_another_writer_will_do(make_arrow: MakeArrow, tmp_path: Path) -> None:
    """Of all columns only those that triage cannot do without."""
    bad = {"op_type": "Exp", "op_name": "a", "dtype": "float32", "count": 4, "nan": 1}
    bad |= {"pos_inf": 0, "neg_inf": 0, "index": 0, "timestamp": 1}
    clean = bad | {"nan": 0, "max": 1.0, "min": 0.0, "mean": 0.5, "l2norm": 1.0}
    table = make_arrow([clean | {"io": "input"}, bad | {"io": "output"}])
    report = fastdump.triage(fastdump.StatsTable(table))
    (origin,) = report.origins
    assert (origin.verdict, origin.operator.op_name) == ("origin", "a")
    assert report.sentence.startswith("NaN first appears in a; operator: Exp a, output.0; what: ")


@pytest.mark.parametrize("status", ["truncated", "absent"])
def test_what_an_operator_read_of_a_cut_tensor_is_not_known(
    status: str, make_arrow: MakeArrow
) -> None:
    """The part that is there is clean; what was cut off need not be."""
    row = {"op_type": "Exp", "dtype": "float32", "index": 0, "nbytes": 64, "count": 16}
    row |= {"max": 1.0, "min": -1.0, "mean": 0.0, "l2norm": 2.0, "nan": 0, "pos_inf": 0}
    row |= {"neg_inf": 0}
    before = [row | {"op_name": "before", "timestamp": 1, "io": io} for io in ("input", "output")]
    cut = row | {"op_name": "a", "timestamp": 2, "path": "a", "io": "input", "status": status}
    bad = row | {"op_name": "a", "timestamp": 2, "path": "a", "io": "output", "nan": 2}
    (origin,) = report_of(make_arrow, [*before, cut, bad]).origins
    assert (origin.verdict, origin.operator.op_name) == ("unknown", "a")
    assert origin.reason == "input.0 is not wholly in the dump"
    assert origin.last_clean is not None
    assert origin.last_clean.op_name == "before"


def test_at_equal_times_what_was_read_may_have_been_written(make_arrow: MakeArrow) -> None:
    """The reader comes first in the table."""
    row = {"dtype": "float32", "index": 0, "nbytes": 64, "count": 16, "timestamp": 5, "step": 0}
    row |= {"nan": 0, "pos_inf": 0, "neg_inf": 0, "max": 1.0, "min": -1.0, "mean": 0.1, "l2norm": 2}
    bad = row | {"nan": 2}
    reader = {"op_type": "Add", "op_name": "reader", "task_id": 1, "path": "a"}
    maker = {"op_type": "Exp", "op_name": "maker", "task_id": 2, "path": "b"}
    report = report_of(
        make_arrow,
        [
            bad | reader | {"io": "input"},
            bad | reader | {"io": "output", "max": 2.0},
            row | maker | {"io": "input", "max": 3.0},
            bad | maker | {"io": "output"},
        ],
    )
    (found,) = report.findings
    assert found.origin is not None
    assert (found.origin.operator.op_name, found.origin.verdict) == ("maker", "origin")
    assert [(one.operator.op_name, one.known_by) for one in found.chain] == [
        ("reader", ("statistics",))
    ]


def test_without_times_files_are_executions(make_arrow: MakeArrow) -> None:
    """Names that tell nothing, as after a copy: the same operator in two files ran twice."""
    row = {"op_type": "Exp", "op_name": "a", "dtype": "float32", "index": 0, "count": 16, "nan": 0}
    row |= {"pos_inf": 0, "neg_inf": 0, "max": 1.0, "min": -1.0, "mean": 0.1, "l2norm": 2.0}
    report = report_of(
        make_arrow,
        [
            row | {"io": io, "path": path, "nan": int(path == "b" and io == "output")}
            for path in "ab"
            for io in ("input", "output")
        ],
    )
    assert report.summary["operators"] == 2
    assert report.origins[0].operator.paths == ("b",)


def test_two_ranks_that_seem_to_infect_each_other_are_told(make_arrow: MakeArrow) -> None:
    """At one time each has a bad collective operator that the other lacks."""
    row = {"op_type": "HcomAllReduce", "dtype": "float32", "index": 0, "nbytes": 64, "count": 16}
    row |= {"nan": 2, "pos_inf": 0, "neg_inf": 0, "io": "output", "timestamp": 5, "step": 0}
    report = report_of(
        make_arrow,
        [row | {"rank": i, "op_name": name, "path": name} for i, name in enumerate("ab")],
    )
    assert [found.kind for found in report.findings] == ["nan"]
    assert report.origins[0].verdict == "unknown"
    assert dict(report.findings[0].infected) == {0: 1, 1: 1}


@pytest.mark.parametrize("n", [0, 1])
def test_a_table_of_no_tensor(n: int, make_arrow: MakeArrow) -> None:
    report = report_of(make_arrow, [{"status": "malformed"}] * n)
    assert report.clean
    assert report.sentence == "there is no tensor to look at"
