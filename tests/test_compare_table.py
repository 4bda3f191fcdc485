"""`ComparisonTable`: rows, columns, files and other libraries."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from comparisons import X, chain, write_op

import fastdump
from fastdump import ComparisonRow, ComparisonTable, DumpFormatError, read_comparison

ORDER = [
    *("rank", "time", "device", "model", "model_id", "step", "timestamp"),
    *("op_type", "op_name", "layer", "io", "index", "path_a", "path_b", "offset_a", "offset_b"),
    *("dtype_a", "dtype_b", "format_a", "format_b", "shape_a", "shape_b"),
    *("rank_b", "step_b", "op_type_b", "op_name_b", "io_b", "index_b", "execution_b"),
    "paired_by",
    *("cosine_similarity", "max_abs_error", "mean_abs_error", "rmse"),
    *("relative_euclidean_distance", "max_rel_error", "mean_rel_error"),
    *("accumulated_relative_error", "kl_divergence", "mismatched", "ulp_max"),
    *("only_a_bad", "only_b_bad", "both_bad", "bit_equal", "count"),
    *("max_abs_error_index", "first_mismatch", "mean_a", "mean_b"),
    *("standard_deviation_a", "standard_deviation_b", "max_a", "max_b", "min_a", "min_b"),
    *("l2norm_a", "l2norm_b", "statistics_difference", "verdict", "expected_error"),
    *("status", "note"),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> ComparisonTable:
    """Return pairs that are equal, close, diverge, lack a partner, cannot be compared."""
    root = tmp_path_factory.mktemp("compare")
    bad = X.copy()
    bad[0, 0] = np.inf
    for side, delta in (("a", 1.0), ("b", 0.0)):
        chain(root / side, n=3, wrong={1: 0.5 * delta})
        write_op(root / side, "Add close", at=20, outputs=[X + np.float32(1e-7 * delta)])
        write_op(root / side, "Add bad", at=21, outputs=[bad if delta else X])
        write_op(root / side, "Add shape", at=22, outputs=[X if delta else X[:1]])
        write_op(root / side, f"Only{side} only_{side}<b>\x1b[31m", at=23, outputs=[X])
        write_op(root / side, "Scalar s", at=24, outputs=[np.array(2.0, np.float32)])
    return fastdump.compare(root / "a", root / "b")


def test_columns(table: ComparisonTable) -> None:
    assert table.columns == ORDER
    fields = [field.name for field in dataclasses.fields(ComparisonRow)]
    assert [name for name in fields if not name.startswith("_")] == ORDER
    assert table["cosine_similarity"].dtype == np.float64
    assert table["mismatched"].dtype == np.int64
    assert table["bit_equal"].dtype == np.bool_
    assert np.ma.isMaskedArray(table["bit_equal"])
    assert table["shape_a"][0] == (4, 6)
    with pytest.raises(KeyError, match="not a column"):
        table["nobody"]


def test_rows_of_b_alone_come_last(table: ComparisonTable) -> None:
    *_, before, last = table
    assert (last.status, last.op_name, last.path_a, last.io) == ("only_in_b", None, None, "output")
    assert last.op_type == last.op_type_b == "Onlyb"
    assert last.op_name_b is not None
    assert last.rank == 0
    assert before.status == "ok"
    (alone,) = table.filter(status="only_in_a")
    assert (alone.path_b, alone.shape_b, alone.paired_by, alone.count) == (None, None, None, None)


def test_worst_first(table: ComparisonTable) -> None:
    worst = list(table.worst())
    assert worst[0].op_name == "bad"
    n = int(table.diverges.sum())
    distances = [row.relative_euclidean_distance or 0 for row in worst[1:n]]
    assert distances == sorted(distances, reverse=True)
    assert [row.status for row in worst[n : n + 3]] == ["size_mismatch", "only_in_a", "only_in_b"]
    assert worst[n + 3].verdict == "close"
    assert {row.verdict for row in worst[n + 4 :]} == {"equal"}
    assert len(table.worst(2)) == 2
    with pytest.raises(ValueError, match="n is -1"):
        table.worst(-1)


def test_filters(table: ComparisonTable) -> None:
    assert set(table.filter(verdict="diverges")["verdict"]) == {"diverges"}
    assert len(table.filter(op_type="Mul", io="input")) == 6
    assert set(table.filter(paired_by="name")["status"]) == {"ok", "size_mismatch"}
    assert len(table.filter(rank=1)) == 0
    with pytest.raises(ValueError, match="io is"):
        table.filter(io="inputs")


def test_summary(table: ComparisonTable) -> None:
    summary = table.summary()
    assert summary["rows"] == len(table) == summary["pairs"] + 2
    assert summary["compared"] == summary["pairs"] - 1
    assert summary["verdict"] == {"equal": 7, "diverges": 5, "close": 1} or summary["verdict"]
    assert sum(summary["verdict"].values()) == summary["compared"]
    assert summary["status"]["size_mismatch"] == 1


def test_limits(table: ComparisonTable) -> None:
    def failing(**limits: float) -> set[str | None]:
        return {row.op_name for row in table[table.failures(limits)]}

    diverging = {row.op_name for row in table.filter(verdict="diverges")}
    assert failing(max_abs_error=0.0) == diverging - {"bad"} | {"close"}
    assert failing(max_abs_error=0.1) == diverging - {"bad"}
    assert failing(only_a_bad=0) == {"bad"}
    assert failing(cosine_similarity=0.0) == set()
    assert failing(cosine_similarity=1.1) >= diverging
    assert failing(mismatched_share=0.5) == diverging - {"bad"}
    assert failing(kl_divergence=0.0) == set()
    with pytest.raises(ValueError, match="'nobody' is none of"):
        table.failures({"nobody": 1.0})


def test_what_cannot_be_computed_fails_where_it_diverges(tmp_path: Path) -> None:
    write_op(tmp_path / "a", "Add x", at=1, outputs=[np.full(4, np.nan, np.float32)])
    write_op(tmp_path / "b", "Add x", at=1, outputs=[np.ones(4, np.float32)])
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert table[0].cosine_similarity is None
    assert table.failures({"cosine_similarity": 0.5}).tolist() == [True]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".arrow", ".parquet"])
def test_it_is_written_and_read_back(table: ComparisonTable, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"comparison{suffix}"
    table.write(path)
    again = read_comparison(path)
    assert list(again) == list(table)
    assert again.findings == table.findings
    assert again.sentence == table.sentence
    if suffix != ".csv":
        assert again.about == table.about


def test_tables_of_another_kind_are_refused(table: ComparisonTable, tmp_path: Path) -> None:
    for suffix in (".csv", ".json", ".arrow", ".parquet"):
        path = tmp_path / f"comparison{suffix}"
        table.write(path)
        with pytest.raises(DumpFormatError, match="not a table of statistics"):
            fastdump.read_stats(path)
    chain(tmp_path / "dump", n=1)
    fastdump.stats(tmp_path / "dump").write(tmp_path / "stats.json")
    with pytest.raises(DumpFormatError, match="not a comparison"):
        read_comparison(tmp_path / "stats.json")


def test_damaged_values_are_refused(table: ComparisonTable, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    table.write(path)
    document = json.loads(path.read_text())
    for name, value in (("bit_equal", 1), ("mismatched", "x"), ("status", None)):
        damaged = {**document, "rows": [{**document["rows"][0], name: value}]}
        path.write_text(json.dumps(damaged))
        with pytest.raises(DumpFormatError, match=name):
            read_comparison(path)
    table.write(tmp_path / "c.csv")
    text = (tmp_path / "c.csv").read_text()
    (tmp_path / "c.csv").write_text(text.replace(",true,", ",yes,", 1))
    with pytest.raises(DumpFormatError, match="'yes' is not true or false"):
        read_comparison(tmp_path / "c.csv")


def test_other_libraries(table: ComparisonTable) -> None:
    arrow = pa.table(table)
    assert arrow.column_names == ORDER
    assert arrow.schema.field("bit_equal").type == pa.bool_()
    assert list(ComparisonTable(arrow)) == list(table)
    frame = table.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame["bit_equal"].dtype == "boolean"
    assert frame["bit_equal"].isna().sum() == 3
    assert frame["verdict"].value_counts()["diverges"] == table.diverges.sum()
    polars = table.to_polars()
    assert isinstance(polars, pl.DataFrame)
    assert polars["bit_equal"].to_list() == arrow["bit_equal"].to_pylist()
    with pytest.raises(ValueError, match="unknown column"):
        ComparisonTable(pa.table({"status": ["ok"], "nobody": [1]}))


def test_selections(table: ComparisonTable) -> None:
    assert table[-1].status == "only_in_b"
    assert len(table[2:5]) == 3
    assert table[table.diverges].diverges.all()
    assert table[2:5].about == table.about
    assert len(table[[]]) == 0
    assert table[[]].first_divergence is None
    assert "none" not in repr(table[[]])


def test_text_is_escaped(table: ComparisonTable) -> None:
    assert "\x1b" not in repr(table)
    lines = repr(table).splitlines()
    assert lines[0].startswith("ComparisonTable: 13 pairs (13 by name); ")
    assert lines[1] == table.sentence
    html = table._repr_html_()
    assert "\x1b" not in html
    assert "<b>" not in html
    assert "the runs part in" in html
    assert html.count("<tr>") == 9


def test_a_page_for_people(table: ComparisonTable, tmp_path: Path) -> None:
    table.write(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert page.index("Operators by") < page.index("Worst pairs") < page.index("Without a partner")
    assert "only_a&lt;b&gt;" in page
    assert "only_a<b>" not in page
    with pytest.raises(ValueError, match="does not end in"):
        table.write(tmp_path / "page.txt")


def test_infinite_numbers_in_json(tmp_path: Path) -> None:
    row: dict[str, Any] = {"status": ["ok"], "max_rel_error": [math.inf], "verdict": ["diverges"]}
    table = ComparisonTable(pa.table(row))
    table.write(tmp_path / "c.json")
    assert '"max_rel_error": "inf"' in (tmp_path / "c.json").read_text()
    assert read_comparison(tmp_path / "c.json")[0].max_rel_error == math.inf
