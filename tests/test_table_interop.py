"""Tables in pandas, polars, DuckDB and pyarrow, and back."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fastdump import MissingDependencyError, StatsTable

ROWS: list[dict[str, Any]] = [
    {
        "rank": 0,
        "step": 2**53 + 1,  # not representable in float64
        "op_type": "MatMul",
        "op_name": "layer0/\u6ce8\u610f",
        "shape": [2, 3],
        "count": 6,
        "max": 0.1,
        "l2norm": float("inf"),
        "nan": 0,
    },
    {"rank": None, "op_type": "Add", "shape": [], "count": 1, "max": -0.0, "nan": 3},
    {"status": "malformed", "note": 'a "note", with commas'},
]
SKIPPED = {"text": 3}


@pytest.fixture
def arrow(make_arrow: Any) -> pa.Table:
    return make_arrow(ROWS)


@pytest.fixture
def table(arrow: pa.Table) -> StatsTable:
    return StatsTable(arrow, level="basic", skipped=SKIPPED)


def test_pyarrow_reads_a_table(table: StatsTable, arrow: pa.Table) -> None:
    read = pa.table(table)
    assert read.cast(arrow.schema).equals(arrow)
    assert read.schema.names == arrow.schema.names
    assert pa.schema(table).equals(read.schema, check_metadata=True)
    reader = pa.RecordBatchReader.from_stream(table)
    assert reader.read_all().equals(read)
    assert pa.table(table[1:2]).to_pylist() == arrow.slice(1, 1).to_pylist()
    assert pa.table(table.arrow).equals(read)


def test_back_from_pyarrow_with_level_and_skipped(table: StatsTable) -> None:
    back = StatsTable(pa.table(table))
    assert back.schema == table.schema
    assert back.level == "basic"
    assert back.skipped == SKIPPED
    assert StatsTable(table).skipped == SKIPPED


def test_polars_reads_a_table(table: StatsTable, arrow: pa.Table) -> None:
    expected = pl.from_arrow(arrow)
    assert isinstance(expected, pl.DataFrame)
    for frame in (table.to_polars(), pl.DataFrame(table)):
        assert frame.equals(expected)
        assert frame.schema["shape"] == pl.List(pl.Int64)
    assert table.to_polars().filter(pl.col("nan") > 0)["op_type"].to_list() == ["Add"]
    assert table[:0].to_polars().shape == (0, len(arrow.column_names))


def test_back_from_polars(table: StatsTable, arrow: pa.Table) -> None:
    back = StatsTable(table.to_polars(), skipped=SKIPPED)
    assert pa.table(back).to_pylist() == arrow.to_pylist()
    filtered = StatsTable(table.to_polars().filter(pl.col("op_type") == "MatMul"))
    assert filtered["step"].tolist() == [2**53 + 1]


def test_duckdb_finds_a_table_by_its_variable(table: StatsTable) -> None:
    t = table  # noqa: F841  DuckDB looks for it
    assert duckdb.sql("select count(*) from t").fetchall() == [(3,)]


def test_duckdb_queries_a_table(table: StatsTable) -> None:
    connection = duckdb.connect()
    connection.register("t", table)
    query = 'select op_type, sum("count"), max(nan), any_value(shape) from t group by 1 order by 1'
    assert connection.sql(query).fetchall() == [
        ("Add", 1, 3, []),
        ("MatMul", 6, 0, [2, 3]),
        (None, None, None, None),
    ]


def test_back_from_duckdb(table: StatsTable) -> None:
    connection = duckdb.connect()
    connection.register("t", table)
    back = StatsTable(connection.sql("select * from t where status = 'ok' order by nan desc"))
    assert back["op_type"].tolist() == ["Add", "MatMul"]
    assert back["shape"].tolist() == [(), (2, 3)]


def test_pandas_dtypes_do_not_depend_on_values(table: StatsTable) -> None:
    for part in (table, table[:1], table[:0]):
        frame = part.to_pandas()
        assert list(frame.columns) == part.columns
        assert len(frame) == len(part)
        assert frame["step"].dtype == "Int64"
        assert frame["max"].dtype == "float64"
        assert frame["op_name"].dtype == "string"
        assert frame["shape"].dtype == object


def test_pandas_values(table: StatsTable) -> None:
    frame = table.to_pandas()
    assert frame["step"].tolist() == [2**53 + 1, pd.NA, pd.NA]
    assert frame["op_name"].fillna("").tolist() == ["layer0/\u6ce8\u610f", "", ""]
    np.testing.assert_array_equal(frame["max"], [0.1, -0.0, np.nan])
    assert np.signbit(frame["max"][1])
    assert frame["l2norm"][0] == np.inf
    assert frame["shape"].tolist() == [(2, 3), (), None]
    assert frame[frame["nan"] > 0]["op_type"].tolist() == ["Add"]
    assert frame[frame["op_name"].str.startswith("layer")]["rank"].tolist() == [0]


def test_back_from_pandas(table: StatsTable, arrow: pa.Table) -> None:
    assert pa.table(StatsTable(table.to_pandas())).to_pylist() == arrow.to_pylist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_without_the_library(
    table: StatsTable, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependencyError, match=f"pip install {library}") as caught:
        getattr(table, f"to_{library}")()
    assert caught.value.name == library
    assert isinstance(caught.value, ImportError)


def test_to_pandas_needs_no_pyarrow(table: StatsTable) -> None:
    code = """
import sys
class NoPyarrow:
    def find_spec(self, name, path=None, target=None):
        if name == "pyarrow":
            raise ImportError(name)
sys.meta_path.insert(0, NoPyarrow())
from arro3.core import Array, DataType, Field, Schema, Table
from fastdump import StatsTable
names = ["status", "path", "source"]
schema = Schema([Field(name, DataType.utf8()) for name in names])
columns = [Array([name], DataType.utf8()) for name in names]
frame = StatsTable(Table.from_arrays(columns, schema=schema)).to_pandas()
assert frame["path"].tolist() == ["path"], frame
assert frame["rank"].isna().all()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_memory_outlives_the_table(arrow: pa.Table) -> None:
    read = pa.table(StatsTable(arrow)[1:])
    frame = StatsTable(arrow)[1:].to_polars()
    assert read.to_pylist() == arrow.slice(1).to_pylist()
    assert frame["op_type"].to_list() == ["Add", None]
