"""Tables of any length, and files of tables that would take more memory than they may."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arro3.core import Array, DataType, Field, Schema, Table
from arro3.io import write_ipc, write_parquet

import fastdump
from fastdump import StatsTable, TableTooLargeError, testing
from fastdump._cli import main
from fastdump._table import arrow_column, table_limit
from fastdump._table.checksum import KEY, PLACEHOLDER, add_checksum
from fastdump._table.ipc_blocks import check_batches
from fastdump._table.schema import KIND
from fastdump._table.table_limit import TableLimit
from fastdump.testing import TensorSpec, dump_header

SUFFIXES = (".csv", ".json", ".arrow", ".parquet")
UTF8, LARGE_UTF8 = DataType.utf8(), DataType.large_utf8()
N_ROWS = 3000


def arrow_table(n_rows: int = N_ROWS) -> Table:
    """Return the columns that a table needs, and one with nulls."""
    names = [None if i % 3 == 0 else f"op{i % 50}" for i in range(n_rows)]
    columns: dict[str, list[Any]] = {
        "status": ["ok"] * n_rows,
        "path": [f"step{i % 7}/file{i}" for i in range(n_rows)],
        "source": ["tensor"] * n_rows,
        "op_name": names,
    }
    return table_of({name: Array(values, UTF8) for name, values in columns.items()})


def table_of(columns: Mapping[str, Any]) -> Table:
    """Return columns as a table that may have nulls in each."""
    schema = Schema([Field(name, column.type, nullable=True) for name, column in columns.items()])
    return Table.from_arrays(list(columns.values()), schema=schema)


@pytest.fixture
def short_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let 32-bit offsets reach no further than 10,000 bytes."""
    monkeypatch.setattr(arrow_column, "MAX_SHORT_PARTS", 10_000)


def text_types(table: StatsTable) -> dict[str, DataType]:
    """Return the types of the columns of text that have a text in some row."""
    return {name: table.schema.field(name).type for name in ("status", "path", "op_name")}


# Columns beyond 32-bit offsets


def test_only_columns_that_are_too_long_get_long_offsets(short_offsets: None) -> None:
    types = text_types(StatsTable(arrow_table()))
    assert types == {"status": UTF8, "path": LARGE_UTF8, "op_name": UTF8}


def test_batches_become_one_long_column(short_offsets: None) -> None:
    # Each batch is short enough, all of them are not.
    [batch] = arrow_table(400).to_batches()
    table = StatsTable(Table.from_batches([batch] * 3))
    assert text_types(table)["path"] == LARGE_UTF8
    assert list(table["path"]) == list(batch.column("path").to_pylist()) * 3


@pytest.mark.parametrize(
    "of",
    [
        lambda table: table.sort("path", descending=True),
        lambda table: table.filter(op_name="op7"),
        lambda table: table[np.array([5, 2999, 3])],
        lambda table: table[10:20],
        lambda table: table.worst(7),
        lambda table: pickle.loads(pickle.dumps(table)),
        lambda table: StatsTable(table),
        lambda table: StatsTable(table.to_polars()),
    ],
    ids=["sort", "filter", "take", "slice", "worst", "pickle", "arrow", "polars"],
)
def test_a_long_table_is_one_like_any_other(
    of: Callable[[StatsTable], StatsTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    short = StatsTable(arrow_table())
    expected = of(short)
    monkeypatch.setattr(arrow_column, "MAX_SHORT_PARTS", 10_000)
    long = StatsTable(arrow_table())
    assert long.summary() == short.summary()
    assert list(of(long)) == list(expected)
    assert of(long).summary() == expected.summary()


def test_parts_become_one_long_table(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each part is short enough, all of them are not.
    whole = StatsTable(arrow_table(1000))
    parts = [whole[:500], whole[500:]]
    expected = fastdump.concat(parts)
    monkeypatch.setattr(arrow_column, "MAX_SHORT_PARTS", 10_000)
    table = fastdump.concat(parts)
    assert text_types(table) == {"status": UTF8, "path": LARGE_UTF8, "op_name": UTF8}
    assert list(table) == list(expected)


def test_new_rows_make_a_table_a_long_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"Add.a{i}.1.2.{1_700_000_000_000_000 + i}" for i in range(8)]
    for name in names[:4]:
        testing.write_dump(tmp_path / name, outputs=[np.zeros(3, np.float32)])
    earlier = fastdump.stats(tmp_path)
    for name in names[4:]:
        testing.write_dump(tmp_path / name, outputs=[np.ones(3, np.float32)])
    monkeypatch.setattr(arrow_column, "MAX_SHORT_PARTS", sum(map(len, names[:6])))
    table = fastdump.stats(tmp_path, since=earlier)
    assert table.schema.field("path").type == LARGE_UTF8
    assert list(table["path"]) == names
    assert list(table["max"]) == [0] * 4 + [1] * 4


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_long_table_in_a_file(suffix: str, tmp_path: Path, short_offsets: None) -> None:
    table = StatsTable(arrow_table())
    table.write(tmp_path / f"t{suffix}")
    found = fastdump.read_stats(tmp_path / f"t{suffix}")
    assert text_types(found)["path"] == LARGE_UTF8
    for name in ("path", "op_name", "status", "layer"):
        assert list(found[name]) == list(table[name])


def test_long_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[list[int] | None] = [[i, 2, 3] if i % 5 else None for i in range(100)]
    column = arrow_column.column_of(shapes, "shape")
    columns = {name: arrow_table(100).column(name) for name in ("status", "path", "source")}
    short = StatsTable(table_of(columns | {"shape": column}))
    monkeypatch.setattr(arrow_column, "MAX_SHORT_PARTS", 150)
    halves = [short.batch.slice(0, 50), short.batch.slice(50, 50)]
    long = StatsTable(Table.from_batches(halves, schema=short.schema))
    assert DataType.is_large_list(long.schema.field("shape").type)
    expected = [None if shape is None else tuple(shape) for shape in shapes]
    assert list(long["shape"]) == expected
    assert list(pickle.loads(pickle.dumps(long))["shape"]) == expected
    assert [row.shape for row in long[::-1]] == expected[::-1]


# Limits


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_that_is_too_large_is_an_error_that_says_what_to_do(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"t{suffix}"
    StatsTable(arrow_table(40_000)).write(path)
    monkeypatch.setenv("FASTDUMP_TABLE_MIB", "8")
    with pytest.raises(fastdump.TableTooLargeError) as error:
        fastdump.read_stats(path)
    assert isinstance(error.value, MemoryError)
    assert str(path) in str(error.value)
    assert "more than 8 MiB" in str(error.value)
    assert "FASTDUMP_TABLE_MIB" in str(error.value)
    # A command is told, too, although a CSV file might be something else.
    with pytest.raises(fastdump.TableTooLargeError):
        fastdump.stats(path)
    monkeypatch.setenv("FASTDUMP_TABLE_MIB", "1000")
    assert len(fastdump.read_stats(path)) == 40_000


def test_a_limit_that_is_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    StatsTable(arrow_table(1)).write(tmp_path / "t.csv")
    for text in ("", "x", "-1", "1.5", "1" * 13):
        monkeypatch.setenv("FASTDUMP_TABLE_MIB", text)
        with pytest.raises(ValueError, match="FASTDUMP_TABLE_MIB"):
            fastdump.read_stats(tmp_path / "t.csv")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_reading_ends_where_the_limit_is_reached(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"t{suffix}"
    StatsTable(arrow_table(60_000)).write(path)
    n_read: list[int] = []
    count = TableLimit.count_batch

    def counting(self: TableLimit, batch: Any) -> None:
        n_read.append(batch.num_rows)
        count(self, batch)

    monkeypatch.setattr(TableLimit, "count_batch", counting)
    monkeypatch.setenv("FASTDUMP_TABLE_MIB", "2")
    with pytest.raises(fastdump.TableTooLargeError):
        fastdump.read_stats(path)
    # Two MiB have room for no more than 2**21 / 8 / 34 rows of 34 columns.
    assert sum(n_read) < 2 * 8192


@pytest.mark.parametrize("layout", ["dictionary", "view"])
def test_texts_count_as_often_as_they_are_repeated(layout: str) -> None:
    text = "x" * (1 << 20)
    if layout == "dictionary":
        types = DataType.dictionary(DataType.int32(), UTF8)
        column = Array(["a", text, None], UTF8).cast(types)
        repeated = column.take(np.array([1, 2] * 500))
    else:
        column = Array(["a", text, None], UTF8).cast(DataType.string_view())
        repeated = column.take(np.array([1, 2] * 500))
    [batch] = table_of({"path": repeated}).to_batches()
    limit = TableLimit("t.parquet", KIND)
    limit.count_nbytes((4096 - 501) << 20)
    limit.count_batch(batch)
    limit.count_nbytes(0)
    with pytest.raises(fastdump.TableTooLargeError):
        limit.count_nbytes(1 << 20)


def with_checksum(table: Table, **options: Any) -> bytes:
    """Return an Arrow file with the checksum that fastdump asks for."""
    schema = table.schema.with_metadata({KEY: PLACEHOLDER})
    file = io.BytesIO()
    write_ipc(table.with_schema(schema), file, **options)
    encoded = bytearray(file.getbuffer())
    add_checksum(encoded)
    return bytes(encoded)


def test_arrow_files_that_may_hold_more_than_their_size(tmp_path: Path) -> None:
    table = arrow_table(1000)
    path = tmp_path / "t.arrow"
    path.write_bytes(with_checksum(table, compression=None))
    assert len(fastdump.read_stats(path)) == 1000
    path.write_bytes(with_checksum(table, compression="zstd"))
    with pytest.raises(fastdump.DumpFormatError, match="compressed"):
        fastdump.read_stats(path)
    coded = table.column("status").cast(DataType.dictionary(DataType.int32(), UTF8))
    path.write_bytes(with_checksum(table.set_column(0, "status", coded), compression=None))
    with pytest.raises(fastdump.DumpFormatError, match="dictionary"):
        fastdump.read_stats(path)


def test_damaged_metadata_of_batches() -> None:
    whole = with_checksum(arrow_table(3), compression=None)
    begin = len(whole) - 10 - int.from_bytes(whole[-10:-6], "little")
    check_batches(io.BytesIO(whole), begin)
    n_refused = 0
    for at in range(begin, len(whole) - 10):
        changed = bytearray(whole)
        changed[at] ^= 0xFF
        try:
            check_batches(io.BytesIO(changed), begin)
        except ValueError:
            n_refused += 1
    assert n_refused > 10


def test_parquet_of_many_rows_in_few_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n_rows = 500_000
    one = Array(["ok"], UTF8).take(np.zeros(n_rows, np.int64))
    path = tmp_path / "t.parquet"
    table = table_of({"status": one, "path": one, "source": one})
    with path.open("wb") as file:
        write_parquet(table, file, compression="zstd(3)")
    assert path.stat().st_size < 100_000
    monkeypatch.setenv("FASTDUMP_TABLE_MIB", "64")
    with pytest.raises(fastdump.TableTooLargeError):
        fastdump.read_stats(path)


def test_the_default_has_room_for_ten_million_rows() -> None:
    limit = TableLimit("t.parquet", KIND)
    limit.count_rows(10_000_000)
    assert table_limit.VARIABLE == "FASTDUMP_TABLE_MIB"


# The rows of a scan


@pytest.fixture
def many_tensors(tmp_path: Path) -> Path:
    """Return a dump of 80 KiB that has 40,960 tensors."""
    empty = [TensorSpec(b"", "INT8", shape=())] * 4096
    for i in range(10):
        name = testing.dump_name("Add", f"a{i}", task_id=1, stream_id=1, timestamp=10**15 + i)
        (tmp_path / name).write_bytes(dump_header(outputs=empty))
    return tmp_path


def test_rows_that_take_too_much_memory_are_an_error_that_says_what_to_do(
    many_tensors: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FASTDUMP_ROWS_MIB", "100")
    assert len(fastdump.stats(many_tensors)) == 40_960
    monkeypatch.setenv("FASTDUMP_ROWS_MIB", "1")
    for call in (fastdump.stats, fastdump.triage, lambda path: fastdump.compare(path, path)):
        with pytest.raises(TableTooLargeError, match=r"more than 1 MiB.*FASTDUMP_ROWS_MIB"):
            call(many_tensors)
    # What is not selected takes no memory.
    assert len(fastdump.stats(many_tensors, op_name="a3", index=range(100))) == 100
    assert main(["ls", str(many_tensors)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "FASTDUMP_ROWS_MIB" in line
    monkeypatch.setenv("FASTDUMP_ROWS_MIB", "much")
    with pytest.raises(ValueError, match='FASTDUMP_ROWS_MIB is "much"'):
        fastdump.stats(many_tensors)


def test_long_names_count_for_each_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = [np.zeros(1, np.int8)] * 200
    for i in range(4):
        name = testing.dump_name("Add", f"a{i}", task_id=1, stream_id=1, timestamp=10**15 + i)
        testing.write_dump(tmp_path / name, op_name="y" * 4000, outputs=outputs)
    monkeypatch.setenv("FASTDUMP_ROWS_MIB", "2")
    with pytest.raises(TableTooLargeError):
        fastdump.stats(tmp_path)
    monkeypatch.setenv("FASTDUMP_ROWS_MIB", "4")
    assert len(fastdump.stats(tmp_path)) == 800
