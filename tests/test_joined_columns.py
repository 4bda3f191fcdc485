"""Columns put one behind the other, against pyarrow, and how much memory that takes."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from arro3.core import Array, RecordBatch
from scan_apart import RunPython

from fastdump._table import arrow_column
from fastdump._table.joined_columns import GrowingBatch, joined, joined_rows

COLUMNS: dict[str, pa.Array] = {
    "integers": pa.array([*range(-50, 50)], pa.int64()),
    "some integers": pa.array([i if i % 3 else None for i in range(100)], pa.int64()),
    "reals": pa.array([0.0] * 50 + [-0.0, float("nan"), float("inf"), 1e-310] * 12, pa.float64()),
    "booleans": pa.array([(True, False, None)[i % 7 % 3] for i in range(100)], pa.bool_()),
    "texts": pa.array(["", "a", "\u00e4\u4e2d", "b" * 50] * 25, pa.utf8()),
    "some texts": pa.array([None, "x", None, None, ""] * 20, pa.utf8()),
    "long texts": pa.array(["one", None, "three"] * 30, pa.large_utf8()),
    "shapes": pa.array([[1, 2], [], None, [3]] * 25, pa.list_(pa.int64())),
    "long shapes": pa.array([[1, 2], [], None] * 30, pa.large_list(pa.int64())),
    "zeros": pa.array([0] * 90, pa.int64()),
    "zeros, then not": pa.array([0] * 80 + [1] * 3 + [0] * 17, pa.int64()),
    "nulls": pa.array([None] * 90, pa.utf8()),
    "null numbers": pa.array([None] * 90, pa.float64()),
    "empty texts": pa.array([""] * 90, pa.utf8()),
    "null shapes": pa.array([None] * 90, pa.list_(pa.int64())),
    # What other programs write
    "shapes with null items": pa.array([[1, None], [], None] * 30, pa.list_(pa.int64())),
    "32 bits": pa.array([1, None, 3] * 30, pa.int32()),
    "coded": pa.array(["a", None, "b"] * 30).dictionary_encode(),
    "short shapes": pa.array([[1], None] * 40, pa.list_(pa.int32())),
    "nothing": pa.array([None] * 90, pa.null()),
}


def cut(column: pa.Array, seed: int) -> list[pa.Array]:
    """Return slices of a column, some of them empty, and not all of it."""
    numbers = random.Random(seed)
    places = sorted(numbers.choices(range(len(column)), k=12))
    pieces = [column[a:b] for a, b in itertools.pairwise(places)]
    numbers.shuffle(pieces)
    return [*pieces, column[3:3], column[7:11]]


def assert_equal(found: Array, expected: pa.Array) -> None:
    column = pa.array(found)
    column.validate(full=True)
    assert column.null_count == expected.null_count
    if pa.types.is_floating(column.type):  # NaN is not equal to itself, and -0.0 is to 0.0
        assert column.is_null().equals(expected.is_null())
        column, expected = (
            pa.array(c.fill_null(0).to_numpy(zero_copy_only=False).view(np.int64))
            for c in (column, expected)
        )
    assert column.equals(expected)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("seed", range(5))
def test_pieces_of_a_column(name: str, seed: int) -> None:
    pieces = cut(COLUMNS[name], seed)
    assert_equal(joined([Array.from_arrow(piece) for piece in pieces]), pa.concat_arrays(pieces))


@pytest.mark.parametrize("name", COLUMNS)
def test_pieces_without_rows(name: str) -> None:
    empty = COLUMNS[name][:0]
    assert_equal(joined([Array.from_arrow(empty)] * 3), empty)


@pytest.mark.parametrize("names", [("texts", "long texts"), ("long texts", "texts")])
def test_a_long_column_makes_all_of_it_long(names: Sequence[str]) -> None:
    pieces = [COLUMNS[name][1:] for name in names]
    expected = pa.concat_arrays([piece.cast(pa.large_utf8()) for piece in pieces])
    assert_equal(joined([Array.from_arrow(piece) for piece in pieces]), expected)


@pytest.mark.parametrize("name", ["texts", "shapes"])
@pytest.mark.parametrize("n_short", [0, 40, 500, 5000])
def test_a_column_becomes_long_where_it_has_to(
    name: str, n_short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_column, "MAX_SHORT_PARTS", n_short)
    pieces = cut(COLUMNS[name], 1)
    expected = pa.concat_arrays(pieces)
    parts = "".join(expected.to_pylist()).encode() if name == "texts" else expected.flatten()
    if len(parts) > n_short:
        long_type = {"texts": pa.large_utf8(), "shapes": pa.large_list(pa.int64())}[name]
        expected = expected.cast(long_type)
    assert_equal(joined([Array.from_arrow(piece) for piece in pieces]), expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n_short", [0, 40, 500, 5000])
def test_columns_of_batches_become_long_where_they_have_to(
    n_short: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_column, "MAX_SHORT_PARTS", n_short)
    n = min(len(COLUMNS["texts"]), len(COLUMNS["shapes"]))
    table = pa.table({name: COLUMNS[name][:n] for name in ("texts", "shapes")})
    batches = [RecordBatch.from_arrow(b) for b in table.to_batches(max_chunksize=7)]
    found = joined_rows(batches, threads)
    for name in table.column_names:
        assert found.column(name).to_pylist() == table[name].to_pylist()


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("n_rows", [1, 7, 90])
def test_batches_that_come_one_by_one(at_once: bool, n_rows: int) -> None:
    n = min(map(len, COLUMNS.values()))
    table = pa.table({name: column[:n] for name, column in COLUMNS.items()})
    table = table.replace_schema_metadata({"of": "the first"})
    batches = [RecordBatch.from_arrow(b) for b in table.to_batches(max_chunksize=n_rows)]
    rows = GrowingBatch()
    for batch in batches:
        rows.append(batch)
    found = joined_rows(batches, threads=2) if at_once else rows.finish()
    assert found.schema.metadata_str == {"of": "the first"}
    assert found.column_names == table.column_names
    for name in table.column_names:
        assert_equal(found.column(name), table.column(name).combine_chunks())


def test_what_is_joined_is_nobody_elses_memory() -> None:
    numbers = np.arange(1000)
    column = joined([Array.from_numpy(numbers), Array.from_numpy(numbers[::-1].copy())])
    again = joined([column, column])
    del column, numbers
    expected = [*range(1000), *range(999, -1, -1)]
    assert again.to_pylist() == expected * 2


MEMORY = """
import sys
import numpy as np
import fastdump
from arro3.core import Array, DataType, Field, RecordBatch, Schema
from pathlib import Path

def nbytes(what):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(what))

def part(rank, n_rows):
    numbers = np.arange(n_rows)
    names = [f"worldsize8_global_rank{rank}/step{i}/Add.op.{i}" for i in range(n_rows)]
    columns = {
        "rank": np.full(n_rows, rank), "step": numbers, "timestamp": 10**15 + numbers,
        "nbytes": numbers + 1, "count": numbers + 1, "task_id": numbers + 7,
        "max": np.sqrt(numbers), "min": -np.sqrt(numbers), "mean": np.cos(numbers),
    }
    arrays = {name: Array.from_numpy(values) for name, values in columns.items()}
    arrays |= {name: Array([text] * n_rows, DataType.utf8()) for name, text in
               (("status", "ok"), ("source", "tensor"), ("op_name", "model/layers.0/mlp/Op"))}
    arrays["path"] = Array(names, DataType.utf8())
    schema = Schema([Field(name, array.type) for name, array in arrays.items()])
    return fastdump.StatsTable(RecordBatch.from_arrays([*arrays.values()], schema=schema))

def peak(make):
    Path("/proc/self/clear_refs").write_text("5")
    before = nbytes("VmRSS")
    table = make()
    size = sum(table.batch.column(name).nbytes for name in table.columns)
    return len(table), (nbytes("VmHWM") - before) / size

directory, suffix, numbers = sys.argv[1:]
for i, rank in enumerate(map(int, numbers)):
    part(rank, 40_000).write(f"{directory}/{i}{suffix}")
fastdump.concat([part(0, 10), part(1, 10)])  # imports
fastdump.read_stats(f"{directory}/0{suffix}")[:1]
print(*peak(lambda: fastdump.read_stats(directory)))
"""


@pytest.mark.measures_memory
@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells of a process")
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("order", ["01234567", "71234560"], ids=["in order", "not in order"])
def test_parts_are_not_in_memory_beside_the_whole(
    suffix: str, order: str, tmp_path: Path, run_python: RunPython
) -> None:
    """Rows lay in the tables of all parts, joined, and then in order: up to three times."""
    n_rows, times_table = run_python(MEMORY, tmp_path, suffix, order).split()
    assert int(n_rows) == 8 * 40_000
    assert float(times_table) < 1.5
