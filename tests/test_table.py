"""StatsTable: columns, rows, selecting, sorting, and what people see of it."""

from __future__ import annotations

import dataclasses
import fnmatch
import html.parser
import math
import random
import re
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest

from fastdump import StatsRow, StatsTable

NAMES = [
    "rank",
    "time",
    "device",
    "model",
    "model_id",
    "step",
    "op_type",
    "op_name",
    "layer",
    "task_id",
    "stream_id",
    "timestamp",
    "context_id",
    "thread_id",
    "io",
    "index",
    "dtype",
    "format",
    "shape",
    "origin_shape",
    "nbytes",
    "count",
    "max",
    "min",
    "mean",
    "l2norm",
    "nan",
    "pos_inf",
    "neg_inf",
    "zero",
    "subnormal",
    "saturated",
    "min_abs",
    "first_bad",
    "status",
    "note",
    "path",
    "offset",
    "source",
]
FULL_ONLY = ["zero", "subnormal", "saturated", "min_abs", "first_bad"]

# Each column's nulls lie elsewhere, and 20 rows are more than two bytes of a validity bitmap.
N_ROWS = 20


def row(i: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "rank": i % 3,
        "time": "20240102030405",
        "step": 2**53 + i,  # not representable in float64
        "op_type": ["MatMul", "Add", "Softmax"][i % 3],
        "op_name": f"layer{i}/attention",
        "timestamp": 1_700_000_000_000_000 + i,
        "io": ["input", "output", "buffer", "space"][i % 4],
        "index": i,
        "dtype": "float16",
        "shape": [[], [2, 3], [4, 5], [7]][i % 4],
        "nbytes": 2 * i,
        "count": i,
        "max": i + 0.5,
        "min": -float(i),
        "nan": 0,
        "pos_inf": 0,
        "neg_inf": 0,
    }
    for k, name in enumerate(values):
        if (i + k) % 7 == 0:
            values[name] = None
    return values | {"status": "ok", "path": f"dir/file{i // 2}", "source": "tensor"}


@pytest.fixture
def arrow(make_arrow: Any) -> pa.Table:
    return make_arrow([row(i) for i in range(N_ROWS)])


@pytest.fixture
def table(arrow: pa.Table) -> StatsTable:
    return StatsTable(arrow, level="basic", skipped={"text": 3, "empty": 1})


def pylist(table: StatsTable) -> list[dict[str, Any]]:
    """Return the rows as pyarrow sees them."""
    return pa.table(table).to_pylist()


# Columns


@pytest.mark.parametrize("offset", [0, 1, 9])
def test_integers_are_plain_without_nulls_and_masked_with_them(
    table: StatsTable, arrow: pa.Table, offset: int
) -> None:
    part = table[offset:]
    expected = arrow.column("step").slice(offset).to_pylist()
    steps = part["step"]
    assert isinstance(steps, np.ma.MaskedArray)
    assert steps.dtype == np.int64
    assert steps.tolist() == expected
    known = part[[i for i, step in enumerate(expected) if step is not None]]["step"]
    assert type(known) is np.ndarray
    assert known.dtype == np.int64
    assert known.tolist() == [step for step in expected if step is not None]


def test_floats_have_nan_for_null(table: StatsTable, arrow: pa.Table) -> None:
    for part, expected in ((table, arrow["max"]), (table[3:11], arrow["max"].slice(3, 8))):
        assert part["max"].dtype == np.float64
        np.testing.assert_array_equal(part["max"], expected.to_pandas().to_numpy())


def test_texts_and_shapes_are_objects_with_none_for_null(
    table: StatsTable, arrow: pa.Table
) -> None:
    assert table["op_name"].dtype == object
    assert table["op_name"].tolist() == arrow["op_name"].to_pylist()
    assert table["shape"].shape == (N_ROWS,)
    expected = [None if shape is None else tuple(shape) for shape in arrow["shape"].to_pylist()]
    assert table["shape"].tolist() == expected


def test_shapes_of_equal_length_stay_one_dimensional(make_arrow: Any) -> None:
    table = StatsTable(make_arrow([{"shape": [1, 2]}, {"shape": [3, 4]}]))
    assert table["shape"].shape == (2,)
    assert table["shape"][1] == (3, 4)


def test_a_column_of_nulls_only(make_arrow: Any) -> None:
    table = StatsTable(make_arrow([{}, {}, {}]))
    assert table["rank"].tolist() == [None] * 3
    assert np.isnan(table["max"]).all()
    assert table["shape"].tolist() == [None] * 3


def test_every_column_is_there_in_order(make_arrow: Any, table: StatsTable) -> None:
    assert table.columns == [name for name in NAMES if name not in FULL_ONLY]
    full = StatsTable(make_arrow([{}], full=True))
    assert full.columns == NAMES
    assert full.level == "full"
    fields = [field.name for field in dataclasses.fields(StatsRow)]
    assert [name for name in fields if not name.startswith("_")] == NAMES


def test_an_unknown_column_is_a_key_error(table: StatsTable) -> None:
    with pytest.raises(KeyError, match="'maximum' is not a column"):
        table["maximum"]
    with pytest.raises(KeyError, match="level 'full'"):
        table["zero"]


# Rows


def test_a_row_is_a_frozen_record(table: StatsTable, arrow: pa.Table) -> None:
    for i in (0, 7, -1, np.int64(3)):
        expected = arrow.to_pylist()[i]
        for name in ("shape", "origin_shape"):
            expected[name] = None if expected[name] is None else tuple(expected[name])
        assert {name: getattr(table[i], name) for name in NAMES} == dict.fromkeys(NAMES) | expected
    with pytest.raises(dataclasses.FrozenInstanceError):
        table[0].max = 1.0  # type: ignore[misc]
    assert not hasattr(table[0], "__dict__")


def test_iterating_gives_all_rows(make_arrow: Any) -> None:
    n_rows = 20_000  # more than are converted at a time
    table = StatsTable(make_arrow([{"index": i, "shape": [i]} for i in range(n_rows)]))
    rows = list(table)
    assert [row.index for row in rows] == list(range(n_rows))
    assert [row.shape for row in rows] == [(i,) for i in range(n_rows)]
    assert all(row.zero is None for row in rows)


@pytest.mark.parametrize("i", [N_ROWS, -N_ROWS - 1])
def test_a_row_out_of_range_is_an_index_error(table: StatsTable, i: int) -> None:
    with pytest.raises(IndexError):
        table[i]
    with pytest.raises(IndexError):
        table[[0, i]]


@pytest.mark.parametrize(
    "key",
    [
        slice(None),
        slice(2, 5),
        slice(-3, None),
        slice(15, 100),
        slice(5, 2),
        slice(None, None, 3),
        slice(None, None, -1),
        slice(10, 2, -4),
    ],
)
def test_slices_are_those_of_a_list(table: StatsTable, arrow: pa.Table, key: slice) -> None:
    assert pylist(table[key]) == arrow.to_pylist()[key]


def test_rows_by_mask_and_by_indices(table: StatsTable, arrow: pa.Table) -> None:
    rows = arrow.to_pylist()
    mask = np.arange(N_ROWS) % 3 == 1
    assert pylist(table[mask]) == [row for row, keep in zip(rows, mask, strict=True) if keep]
    assert pylist(table[mask.tolist()]) == pylist(table[mask])
    for indices in ([3, 1, 1, -1], np.array([3, 1, 1, -1], np.int8), (3, 1, 1, -1)):
        assert pylist(table[indices]) == [rows[3], rows[1], rows[1], rows[-1]]
    assert len(table[[]]) == len(table[np.zeros(N_ROWS, bool)]) == 0
    assert len(table[:0][[]]) == 0


def test_a_masked_comparison_selects_no_null(table: StatsTable, arrow: pa.Table) -> None:
    expected = [row for row in arrow.to_pylist() if row["rank"] == 0]
    assert pylist(table[table["rank"] == 0]) == expected
    with pytest.raises(IndexError, match="masked"):
        table[table["rank"]]


@pytest.mark.parametrize("key", [np.ones(3, bool), [1.5], np.zeros((2, 2), int), 1.5, None, ["a"]])
def test_other_keys_are_index_errors(table: StatsTable, key: Any) -> None:
    with pytest.raises(IndexError):
        table[key]


def test_parts_keep_level_and_skipped(table: StatsTable) -> None:
    parts = (table[1:3], table[[0]], table[table.bad], table.filter(rank=1), table.worst(2))
    for part in parts:
        assert part.level == "basic"
        assert part.skipped == {"text": 3, "empty": 1}
        assert part.schema == table.schema


def test_a_table_cannot_be_changed(table: StatsTable) -> None:
    before = pylist(table)
    table["max"][:] = 0
    table["step"][:] = 0
    table["op_name"][:] = ""
    table.bad[:] = True
    table.skipped["text"] = 99
    assert pylist(table) == before
    assert table.skipped["text"] == 3
    with pytest.raises(AttributeError):
        table.level = "full"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        table.more = 1  # type: ignore[attr-defined]


# Bad rows, filter, worst, summary


def random_rows(n_rows: int) -> list[dict[str, Any]]:
    generator = random.Random(5)

    def one_of(*values: Any) -> Any:
        return generator.choice(values)

    return [
        {
            "rank": one_of(None, 0, 1, 2),
            "step": one_of(None, 0, 1, 2),
            "op_type": one_of(None, "MatMul", "MatMulV2", "matmul", "Add"),
            "op_name": one_of(None, "a/b", "a/c", "d[0]"),
            "timestamp": one_of(None, 5, 6, 7, 2**62),
            "io": one_of(None, "input", "output", "buffer", "space"),
            "index": i,
            "dtype": one_of(None, "float16", "bfloat16", "int8", "hifloat8", "undefined"),
            "max": one_of(None, None, 0.0, 1.0, 65504.0, -3.0, 127.0, math.inf, math.nan),
            "min": one_of(None, None, -1.0, -65504.0, -4.0, -4.0, -math.inf),
            "mean": one_of(None, None, None, 0.0, 0.0, 0.0, math.nan, math.inf, -math.inf),
            "l2norm": one_of(None, None, None, 1.0, 1.0, 1.0, math.nan, math.inf),
            "nan": one_of(None, 0, 0, 0, 0, 2),
            "pos_inf": one_of(None, 0, 0, 0, 0, 2),
            "neg_inf": one_of(None, 0, 0, 2),
            "status": one_of("ok", "ok", "ok", "unsupported", "truncated", "malformed", "novel"),
        }
        for i in range(n_rows)
    ]


def moments_told(row: dict[str, Any]) -> list[float]:
    """Return the moments that tell of bad elements, because those were not all counted."""
    if None not in (row["nan"], row["pos_inf"], row["neg_inf"]):
        return []
    moments = [row[name] for name in ("max", "min", "mean", "l2norm")]
    return [x for x in moments if x is not None and not math.isfinite(x)]


def is_bad(row: dict[str, Any]) -> bool:
    counts = (row["nan"] or 0) + (row["pos_inf"] or 0) + (row["neg_inf"] or 0)
    told = bool(moments_told(row))
    return counts > 0 or told or row["status"] not in ("ok", "unsupported")


def test_bad_rows(make_arrow: Any) -> None:
    rows = random_rows(300)
    bad = StatsTable(make_arrow(rows)).bad
    assert bad.dtype == np.bool_
    assert bad.tolist() == [is_bad(row) for row in rows]


@pytest.mark.parametrize(
    ("conditions", "is_wanted"),
    [
        ({}, lambda row: True),
        ({"op_type": "MatMul*"}, lambda row: fnmatch.fnmatchcase(row["op_type"] or "", "MatMul*")),
        ({"op_type": ["Add", "m?tmul"]}, lambda row: row["op_type"] in ("Add", "matmul")),
        ({"op_name": "a/[bc]"}, lambda row: row["op_name"] in ("a/b", "a/c")),
        ({"op_name": "d[0]"}, lambda row: False),
        ({"op_name": "*"}, lambda row: row["op_name"] is not None),
        ({"dtype": "*float*"}, lambda row: "float" in (row["dtype"] or "")),
        ({"step": 0}, lambda row: row["step"] == 0),
        ({"step": range(1, 3)}, lambda row: row["step"] in (1, 2)),
        ({"step": "1-2"}, lambda row: row["step"] in (1, 2)),
        ({"rank": {np.int32(2)}}, lambda row: row["rank"] == 2),
        ({"io": "output"}, lambda row: row["io"] == "output"),
        ({"io": ("input", "space")}, lambda row: row["io"] in ("input", "space")),
        ({"bad": True}, is_bad),
        ({"bad": False}, lambda row: not is_bad(row)),
        (
            {"op_type": "Add", "step": 1, "bad": True},
            lambda row: row["op_type"] == "Add" and row["step"] == 1 and is_bad(row),
        ),
    ],
)
def test_filter_keeps_what_meets_all_conditions(
    make_arrow: Any, conditions: dict[str, Any], is_wanted: Any
) -> None:
    rows = random_rows(300)
    filtered = StatsTable(make_arrow(rows)).filter(**conditions)
    assert filtered["index"].tolist() == [row["index"] for row in rows if is_wanted(row)]


def test_filter_rejects_what_is_no_tensor_kind(table: StatsTable) -> None:
    with pytest.raises(ValueError, match="input, output, buffer, space"):
        table.filter(io="outputs")


def severity(row: dict[str, Any]) -> tuple[int, float]:
    """Return what `worst` sorts by, written down a second time."""
    timestamp = float("inf") if row["timestamp"] is None else row["timestamp"]
    told = moments_told(row)
    if -math.inf in told and math.inf in told and row["l2norm"] == math.inf:
        told.remove(math.inf)  # that of the norm, which -Inf makes infinite
    if row["nan"] or row["pos_inf"] or math.inf in told or any(map(math.isnan, told)):
        return 0, timestamp
    if row["status"] not in ("ok", "unsupported"):
        return 1, timestamp
    if row["neg_inf"] or -math.inf in told:
        return 2, timestamp
    if row["status"] == "unsupported":
        return 5, 0.0
    largest = {"float16": 65504.0, "bfloat16": 255 * 2.0**120, "hifloat8": 2.0**15}
    magnitudes = [abs(row[name]) for name in ("max", "min") if row[name] is not None]
    magnitudes = [magnitude for magnitude in magnitudes if not math.isnan(magnitude)]
    if row["dtype"] in largest and magnitudes:
        return 3, -max(magnitudes) / largest[row["dtype"]]
    return 4, 0.0


def test_worst_first(make_arrow: Any) -> None:
    rows = random_rows(500)
    table = StatsTable(make_arrow(rows))
    expected = [row["index"] for row in sorted(rows, key=severity)]  # sorted is stable
    assert table.worst()["index"].tolist() == expected
    assert table.worst(7)["index"].tolist() == expected[:7]
    assert len(table.worst(0)) == 0
    assert len(table.worst(10_000)) == 500
    with pytest.raises(ValueError, match="-1"):
        table.worst(-1)


def test_a_full_integer_range_is_not_worse_than_a_float_near_overflow(make_arrow: Any) -> None:
    rows = [
        {"index": 0, "dtype": "bool", "max": 1.0, "min": 0.0},
        {"index": 1, "dtype": "int8", "max": 127.0, "min": -128.0},
        {"index": 2, "dtype": "float16", "max": 60000.0, "min": 0.0},
    ]
    assert StatsTable(make_arrow(rows)).worst(1)["index"].tolist() == [2]


def largest_finite(dtype: str) -> float:
    if dtype in ("complex64", "complex128"):
        return float(np.finfo(dtype).max)
    if dtype == "complex32":
        return float(np.finfo("float16").max)
    try:
        return float(ml_dtypes.finfo(np.dtype(getattr(ml_dtypes, dtype, dtype))).max)
    except TypeError:
        # Types of the vendor's own, in neither library: the largest code of each by its definition.
        return {"hifloat8": 2.0**15, "float4_e1m2": 1.75}[dtype]


@pytest.mark.parametrize(
    "dtype",
    [
        "float64",
        "float32",
        "bfloat16",
        "float16",
        "complex128",
        "complex64",
        "complex32",
        "hifloat8",
        "float8_e5m2",
        "float8_e4m3fn",
        "float8_e8m0fnu",
        "float6_e3m2fn",
        "float6_e2m3fn",
        "float4_e2m1fn",
        "float4_e1m2",
    ],
)
def test_worst_measures_by_the_largest_finite_value_of_the_type(
    make_arrow: Any, dtype: str
) -> None:
    # One half of the range lies between 0.49 and 0.51 of that of float64.
    half = largest_finite(dtype) / 2
    limit = sys.float_info.max
    rows = [
        {"index": 0, "dtype": "float64", "max": 0.49 * limit, "min": 0.0},
        {"index": 1, "dtype": dtype, "max": 0.0, "min": -half},
        {"index": 2, "dtype": "float64", "max": 0.51 * limit, "min": 0.0},
    ]
    assert StatsTable(make_arrow(rows)).worst()["index"].tolist() == [2, 1, 0]


def test_worst_at_levels_without_a_range(make_arrow: Any) -> None:
    rows = [{"index": 0, "nan": 0}, {"index": 1, "nan": 1}, {"index": 2, "nan": 0}]
    assert StatsTable(make_arrow(rows), level="health").worst()["index"].tolist() == [1, 0, 2]


def test_summary(make_arrow: Any) -> None:
    rows = [
        {"rank": 1, "step": 7, "op_type": "Add", "op_name": "a", "path": "p", "nbytes": 2**62},
        {"rank": 0, "step": 7, "op_type": "Add", "op_name": "b", "path": "p", "nbytes": 2**62},
        {"rank": 1, "op_type": "Add", "op_name": "a", "path": "q", "nbytes": 2**62 + 3},
        {"path": "r", "status": "malformed"},
        {"op_type": "Add", "path": "s", "source": "csv", "nbytes": 1000, "nan": 1},
    ]
    assert StatsTable(make_arrow(rows)).summary() == {
        "rows": 5,
        "files": 4,
        "bytes": 3 * 2**62 + 3,  # more than an int64 holds
        "ranks": [0, 1],
        "steps": [7],
        "ops": 3,
        "status": {"ok": 4, "malformed": 1},
        "bad": 2,
    }
    assert StatsTable(make_arrow([])).summary() == {
        "rows": 0,
        "files": 0,
        "bytes": 0,
        "ranks": [],
        "steps": [],
        "ops": 0,
        "status": {},
        "bad": 0,
    }


# What people see


HOSTILE = "a\x1b[31m\r\n\x00\u202e\u2028</td><script>alert(1)</script>&\"'"


def test_repr_is_fitted_and_harmless(make_arrow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {
            "op_name": HOSTILE + "long" * 100 + f"{i:02}",
            "op_type": "\x9b31m",
            "io": "output",
            "index": 0,
            "dtype": "float16",
            "shape": [2, 3],
            "max": 65504.0,
            "min": -1.5,
            "mean": 0.25,
            "nan": i % 2,
            "pos_inf": 0,
            "neg_inf": 0,
            "nbytes": 3_000_000,
        }
        for i in range(40)
    ]
    table = StatsTable(make_arrow(rows), skipped={"text\x07": 3, "empty": 1200})
    for width in (60, 80, 100, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = repr(table).split("\n")
        assert all(line.isprintable() for line in lines)
        shown = lines.index("[the 8 worst of 40 rows]")
        assert all(line.startswith("[left out for want of width: ") for line in lines[shown + 1 :])
        lines = lines[:shown]
        assert all(len(line) <= width for line in lines[2:])
        assert "40 rows" in lines[0]
        assert "20 bad" in lines[0]
        assert "1 file" in lines[0]
        assert "120.0 MB" in lines[0]
        assert "level basic" in lines[0]
        assert "1,203 (empty: 1,200, text\\x07: 3)" in lines[1]
        # What is told once, titles, and the worst rows, of which the odd ones have a NaN.
        ends = [re.findall(r"long(\d\d)(?: |$)", line) for line in lines[-8:]]
        assert ends == [["01"], ["03"], ["05"], ["07"], ["09"], ["11"], ["13"], ["15"]]
        assert "output.0" in " ".join(lines[2:])


def test_repr_of_a_table_without_tensors(make_arrow: Any) -> None:
    text = repr(StatsTable(make_arrow([{"status": "malformed", "path": "dir/a-file"}])))
    assert "1 row (1 bad)" in text
    assert "dir/a-file" in text
    assert "malformed" in text
    assert "0 rows" in repr(StatsTable(make_arrow([])))


def test_repr_aligns_wide_characters(make_arrow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    rows = [
        {"op_name": "\u6ce8\u610f\u529b", "dtype": "int8"},
        {"op_name": "abcdef", "dtype": "int8"},
    ]
    wide, narrow = repr(StatsTable(make_arrow(rows))).split("\n")[-2:]
    # Three characters of two cells each take as much room as six of one.
    assert wide.index("int8") + 3 == narrow.index("int8")


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_escapes_names(make_arrow: Any) -> None:
    table = StatsTable(make_arrow([{"op_name": HOSTILE, "nan": 1}]), skipped={"<b>": 1})
    parser = _Tags()
    parser.feed(table._repr_html_())
    text = {"div", "style", "p", "br", "bdi"}
    assert set(parser.tags) == {*text, "table", "thead", "tbody", "tr", "th", "td"}
    assert "<script>" in parser.text
    assert "\x1b" not in parser.text


# Making one


@pytest.mark.parametrize("missing", ["status", "path", "source"])
def test_a_table_must_have_what_has_no_nulls(arrow: pa.Table, missing: str) -> None:
    with pytest.raises(ValueError, match=f"missing column '{missing}'"):
        StatsTable(arrow.drop_columns([missing]))
    i = arrow.column_names.index(missing)
    with pytest.raises(ValueError, match=f"'{missing}' has nulls"):
        StatsTable(arrow.set_column(i, missing, pa.nulls(N_ROWS, pa.string())))


def test_missing_columns_are_null_and_order_does_not_matter(arrow: pa.Table) -> None:
    table = StatsTable(arrow.select(["source", "path", "max", "status"]))
    assert table.columns == [name for name in NAMES if name not in FULL_ONLY]
    np.testing.assert_array_equal(table["max"], arrow["max"].to_pandas().to_numpy())
    assert table["op_name"].tolist() == [None] * N_ROWS
    assert table["shape"].tolist() == [None] * N_ROWS


@pytest.mark.parametrize(
    ("names", "level"),
    [([], "header"), (["nan"], "health"), (["nan", "max"], "basic"), (["zero"], "full")],
)
def test_the_level_shows_in_the_columns(make_arrow: Any, names: list[str], level: str) -> None:
    arrow = make_arrow([{}], full=True).select(["status", "path", "source", *names])
    assert StatsTable(arrow).level == level


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("maximum", pa.array([1.0]), "unknown column 'maximum'"),
        ("\x1b" * 999, pa.array([1.0]), "unknown column"),
        ("count", pa.array([1.5]), "'count' has something"),
        ("count", pa.array([float("inf")]), "'count' has something"),
        ("count", pa.array([2.0**53 + 2]), "'count' has something"),
        ("count", pa.array(["1"]), "'count' has type .*Utf8"),
        ("count", pa.array([True]), "'count' has type .*Boolean"),
        ("count", pa.array([2**63], pa.uint64()), "'count' has something"),
        ("max", pa.array(["1"]), "'max' has type"),
        ("note", pa.array([1]), "'note' has type"),
        ("note", pa.array([b"x"]), "'note' has type"),
        ("note", pa.array([1]).dictionary_encode(), "'note' has type"),
        ("shape", pa.array([1]), "'shape' has type"),
        ("shape", pa.array([[1.5]]), "'shape' has type"),
        ("shape", pa.array([[1, None]]), "'shape' has something"),
        ("shape", pa.array([{"a": 1}]), "'shape' has type"),
    ],
)
def test_columns_of_other_types_are_refused(
    make_arrow: Any, name: str, values: pa.Array, message: str
) -> None:
    arrow = make_arrow([{}])
    if name in arrow.column_names:
        arrow = arrow.drop_columns([name])
    with pytest.raises(ValueError, match=message) as caught:
        StatsTable(arrow.append_column(name, values))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("count", pa.array([1, None, 3], pa.int8())),
        ("count", pa.array([1, None, 3], pa.uint64())),
        ("count", pa.array([1.0, None, -(2.0**53)])),
        ("count", pa.array([1.0, None, 65504.0], pa.float32())),
        ("max", pa.array([1.5, None, -2.0], pa.float32())),
        ("max", pa.array([1, None, -2])),
        ("note", pa.array(["a", None, "\u00e4"], pa.large_string())),
        ("note", pa.array(["a", None, "a"]).dictionary_encode()),
        ("note", pa.nulls(3)),
        ("shape", pa.array([[1, 2], None, []], pa.large_list(pa.int32()))),
        (
            "shape",
            pa.array([[1], None, []], pa.list_(pa.field("element", pa.int64(), nullable=False))),
        ),
        ("shape", pa.nulls(3)),
    ],
)
def test_other_widths_and_layouts_are_converted(
    make_arrow: Any, name: str, values: pa.Array
) -> None:
    arrow = make_arrow([{}, {}, {}])
    table = StatsTable(arrow.set_column(arrow.column_names.index(name), name, values))
    assert pa.table(table)[name].to_pylist() == values.to_pylist()
    assert table.schema == StatsTable(arrow).schema


def test_nan_is_null_where_integers_are_floats(make_arrow: Any) -> None:
    arrow = make_arrow([{}, {}])
    counts = pa.array([float("nan"), 2.0])
    table = StatsTable(arrow.set_column(arrow.column_names.index("count"), "count", counts))
    assert table["count"].tolist() == [None, 2]


def test_chunks_are_combined(arrow: pa.Table) -> None:
    chunked = pa.concat_tables([arrow.slice(0, 7), arrow.slice(7, 0), arrow.slice(7)])
    assert pylist(StatsTable(chunked)) == arrow.to_pylist()
    assert len(StatsTable(arrow.schema.empty_table())) == 0
    assert len(StatsTable(pa.Table.from_batches([], arrow.schema))) == 0


def test_what_is_no_arrow_table_is_refused() -> None:
    with pytest.raises(TypeError):
        StatsTable(5)  # type: ignore[arg-type]


def test_level_and_skipped_are_checked(make_arrow: Any) -> None:
    with pytest.raises(ValueError, match="health, basic, full"):
        StatsTable(make_arrow([]), level="most")
    with pytest.raises(ValueError, match="skipped"):
        StatsTable(make_arrow([]), skipped={"text": "3"})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="level 'full'"):
        StatsTable(make_arrow([], full=True), level="basic")


def test_nothing_optional_is_imported_before_it_is_used() -> None:
    code = """
import sys
import fastdump
assert "numpy" not in sys.modules
fastdump.StatsTable
fastdump.read_stats
fastdump.stats
fastdump.stats_of
optional = {"ml_dtypes", "arro3.io", "click", "rich.console", "pandas", "polars", "pyarrow"}
assert not optional & set(sys.modules), optional & set(sys.modules)
assert set(dir(fastdump)) <= set(fastdump.__all__)
for name in fastdump.__all__:
    getattr(fastdump, name)
try:
    fastdump.nonsense
except AttributeError as error:
    assert "nonsense" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
