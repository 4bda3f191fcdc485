"""Statistics that the device's software wrote as CSV, as rows of the one table."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastdump
from fastdump import Selection, StatsTable, testing
from fastdump._cli import main
from fastdump._stats import new_scan

TS = 1_700_000_000_000_000
DEFAULT = (
    "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,"
    "Nan Count,Negative Inf Count,Positive Inf Count\n"
)
MINDSPORE = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,"
TIME = "20260101120000"


def name(op_type: str = "Add", op_name: str = "a", *, ts: int = TS) -> str:
    return f"{op_type}.{op_name}.1.2.{ts}.csv"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def rows_of(table: StatsTable, *names: str) -> list[tuple[Any, ...]]:
    """Return some columns of all rows as pyarrow sees them: None is null, a NaN is a NaN."""
    return [tuple(row[name] for name in names) for row in pa.table(table).to_pylist()]


STATISTICS = ("count", "max", "min", "mean", "l2norm", "nan", "pos_inf", "neg_inf")


@pytest.fixture(scope="session")
def reference_statistics() -> Path:
    """Return the folder of statistics quoted from the writers' own tests."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "reference-stats-csv"
    if not folder.is_dir():
        pytest.skip(f"there are no reference statistics in {folder}")
    return folder


# The reference files, with the values typed from them


def test_default_statistics_of_the_reference(reference_statistics: Path, tmp_path: Path) -> None:
    text = (reference_statistics / "stats_expected_aicpu_ut.csv").read_text()
    write(tmp_path / TIME / "3" / name("Conv2D", "conv1"), text)
    (row,) = fastdump.stats(tmp_path)
    assert (row.op_type, row.op_name, row.task_id, row.stream_id) == ("Conv2D", "conv1", 1, 2)
    assert (row.time, row.device, row.timestamp) == (TIME, 3, TS)
    assert (row.io, row.index, row.dtype, row.format) == ("output", 0, "float32", "NHWC")
    assert (row.shape, row.origin_shape, row.nbytes) == ((4, 50, 50, 16), None, 640_000)
    assert (row.count, row.max, row.min, row.mean) == (160_000, 1.99999, 1, 1.50004)
    assert (row.nan, row.pos_inf, row.neg_inf, row.l2norm) == (0, 0, 0, None)
    assert (row.status, row.note, row.offset, row.source) == ("ok", None, None, "csv")
    assert row.path == f"{TIME}/3/Conv2D.conv1.1.2.{TS}.csv"


def test_other_types_of_the_reference(reference_statistics: Path, tmp_path: Path) -> None:
    text = (reference_statistics / "stats_expected_from_adump_ut.csv").read_text()
    write(tmp_path / name(), text)
    table = fastdump.stats(tmp_path)
    assert rows_of(table, "dtype", "format", "shape", "status") == [
        ("int64", "ND", [100, 20, 40], "ok"),
        ("bfloat16", "ND", [100, 20, 40], "ok"),
        ("float32", None, [100, 20, 40], "ok"),
        ("int32", "ALL", [100, 20, 40], "ok"),
        ("int32", "ALL", [100, 20, 40], "unsupported"),
    ]
    assert rows_of(table, *STATISTICS) == [
        (80_000, 100, 200, 10.1, None, 400, 600, 500),
        (80_000, 1.4013e-43, 2.8026e-43, 10.1, None, 400, 600, 500),
        (80_000, 12.34, 56.7897, 10.1, None, 400, 600, 500),
        (80_000, 1234, 5678, 10.1, None, 400, 600, 500),
        (80_000, None, None, None, None, None, None, None),
    ]
    # What the device could not compute is no damage.
    assert table.bad.tolist() == [True] * 4 + [False]
    # Five times the same input: five dumps that were written to one file.
    assert set(table["note"][1:4]) == {"dumped more than once"}


def test_chosen_statistics_of_the_reference(reference_statistics: Path, tmp_path: Path) -> None:
    text = (reference_statistics / "stats_expected_l2norm_selection.csv").read_text()
    write(tmp_path / name(), text)
    # The header announces a count that the row does not have.
    assert rows_of(fastdump.stats(tmp_path), *STATISTICS) == [
        (None, 1234, 5678, None, 90.3005, None, None, None)
    ]


def test_mindspore_statistics_of_the_reference(reference_statistics: Path, tmp_path: Path) -> None:
    text = (reference_statistics / "mindspore-statistic.csv").read_text()
    write(tmp_path / "rank_1" / "Net" / "0" / "5" / "statistic.csv", text)
    table = fastdump.stats(tmp_path)
    assert rows_of(table, "op_type", "op_name", "timestamp", "io", "index", "dtype", "nbytes") == [
        ("Sub", "Default_Sub-op0", 1733905446819790, "input", 0, "float32", 4),
        ("Sub", "Default_Sub-op0", 1733905446820357, "input", 1, "float32", 4),
        ("Sub", "Default_Sub-op0", 1733905446820495, "output", 0, "float32", 4),
        ("Add", "Default_Add-op0", 1733905446822806, "input", 0, "float32", 4),
        ("Cast", "Default_Cast-op0", 1733905446824053, "input", 1, "int64", 8),
        ("Cast", "Default_Cast-op0", 1733905446824184, "output", 0, "bool", 1),
        ("Div", "Default_Div-op0", 1733905446828341, "output", 0, "float32", 4),
    ]
    for moment in ("max", "min", "l2norm"):
        assert table[moment].tolist() == [3, 1, 2, 2, 30, 1, 0.5]
    assert rows_of(table, "count", "mean", "nan", "format")[0] == (None,) * 4
    assert set(rows_of(table, "rank", "step", "task_id", "stream_id", "source")) == {
        (1, 5, 0, 0, "csv")
    }
    assert table["shape"].tolist() == [()] * 7
    assert not table.bad.any()


# In trees


def test_a_mapped_name_of_digits(tmp_path: Path) -> None:
    text = DEFAULT + "Output,0,8,DT_FLOAT,ND,2x1,1,1,1,2,0,0,0\n"
    write(tmp_path / "9134657216587341217", text)
    write(tmp_path / "mapping.csv", f"9134657216587341217,{name('MatMul', 'x' * 300)}\n")
    (row,) = fastdump.stats(tmp_path)
    assert (row.op_type, row.op_name, row.timestamp) == ("MatMul", "x" * 300, TS)
    assert (row.path, row.source, row.max) == ("9134657216587341217", "csv", 1)


def test_tensors_and_statistics_in_one_tree(tmp_path: Path) -> None:
    array = np.array([1, 2, 3], np.float32)
    for ts in (TS + 1, TS + 3):
        dump_name = testing.dump_name("Mul", "m", task_id=1, stream_id=2, timestamp=ts)
        testing.write_dump(tmp_path / dump_name, op_name="net/m", outputs=[array])
    text = DEFAULT + "Output,0,24,DT_FLOAT,ND,6,3,1,2,6,0,0,0\nInput,1,8,DT_FLOAT,ND,2,,,,,,,\n"
    for ts in (TS, TS + 2):
        write(tmp_path / name(ts=ts), text)
    table = fastdump.stats(tmp_path)
    assert rows_of(table, "op_name", "io", "index", "source", "max") == [
        ("a", "input", 1, "csv", None),
        ("a", "output", 0, "csv", 3),
        ("net/m", "output", 0, "tensor", 3),
        ("a", "input", 1, "csv", None),
        ("a", "output", 0, "csv", 3),
        ("net/m", "output", 0, "tensor", 3),
    ]
    # The bytes that the CSV speaks of are not there.
    assert table.summary()["bytes"] == 2 * array.nbytes
    assert table.skipped == {}


def test_rows_of_many_operators_are_in_the_order_of_execution(tmp_path: Path) -> None:
    def line(op_name: str, ts: int, io: str, slot: int, value: int) -> str:
        return f'T,{op_name},0,0,{ts},{io},{slot},4,float32,"()",{value},\n'

    # Written by several processes, and a dump of tensors between them.
    text = MINDSPORE + "Max Value\n"
    text += line("c", TS + 30, "output", 0, 6) + line("b", TS + 10, "output", 1, 3)
    text += line("b", TS + 10, "input", 0, 2) + line("a", TS, "input", 0, 1)
    text += line("a", TS + 30, "input", 0, 7) + 'T,z,0,0,,input,0,4,float32,"()",8,\n'
    write(tmp_path / TIME / "0" / "statistic.csv", text)
    dump_name = testing.dump_name("T", "tensor", task_id=0, stream_id=0, timestamp=TS + 20)
    testing.write_dump(tmp_path / TIME / "0" / dump_name, outputs=[np.array([4], np.float32)])
    # Elsewhere, and so later.
    earlier = MINDSPORE + "Max Value\n" + line("x", 1, "input", 0, 9)
    write(tmp_path / TIME / "1" / "statistic.csv", earlier)
    expected = [("a", 1), ("b", 2), ("b", 3), ("tensor", 4), ("c", 6), ("a", 7), ("z", 8), ("x", 9)]
    for threads in (1, 2, 7):
        table = fastdump.stats(tmp_path, threads=threads)
        assert rows_of(table, "op_name", "max") == expected


def test_filters_look_at_rows(tmp_path: Path) -> None:
    rows = [
        f"MatMul,qkv,0,0,{TS},input,0,4,float32,2,1,",
        f"MatMul,qkv,0,0,{TS},output,0,4,float32,2,2,",
        f"Add,residual,0,0,{TS + 1},output,0,4,float32,2,3,",
    ]
    header = f"{MINDSPORE}Max Value"
    write(tmp_path / "rank_0" / "net" / "0" / "1" / "statistic.csv", "\n".join([header, *rows, ""]))
    write(tmp_path / "rank_1" / "net" / "0" / "2" / name(), DEFAULT + "Input,0,,,,,4,,,,,,\n")

    def found(**conditions: Any) -> list[float]:
        values: list[float] = fastdump.stats(tmp_path, **conditions)["max"].tolist()
        return values

    assert found() == [1, 2, 3, 4]
    assert found(op_type="MatMul") == [1, 2]
    assert found(op_type="A*") == [3, 4]
    assert found(op_name=["residual", "a"]) == [3, 4]
    assert found(op_name="*") == [1, 2, 3, 4]
    assert found(io="input") == [1, 4]
    assert found(op_type="MatMul", io="output") == [2]
    assert found(rank=0) == [1, 2, 3]
    assert found(step=2) == [4]
    for nothing in ({"op_type": "M"}, {"op_name": "x", "rank": 1}, {"io": "space"}):
        with pytest.raises(fastdump.NoDumpError):
            found(**nothing)


def test_a_file_as_the_path(tmp_path: Path) -> None:
    path = write(tmp_path / "statistic.csv", "IO,Slot,Data Type,Max Value\ninput,0,int8,1\n")
    assert fastdump.stats(path)["max"].tolist() == [1]


# Levels


def test_every_level_has_what_was_reported(tmp_path: Path) -> None:
    text = "IO,Slot,Data Type,Count,Max Value,NaN Count,Zero Count,Positive Zero Count\n"
    write(tmp_path / "statistic.csv", text + "input,0,float32,9,2.5,4,3,7\n")
    for level in ("health", "basic"):
        table = fastdump.stats(tmp_path, level=level)
        assert rows_of(table, *STATISTICS) == [(9, 2.5, None, None, None, 4, None, None)]
    full = fastdump.stats(tmp_path, level="full")
    assert rows_of(full, *STATISTICS) == [(9, 2.5, None, None, None, 4, None, None)]
    # MindSpore's other two count what is not zero.
    names = ("zero", "subnormal", "saturated", "min_abs", "first_bad")
    assert rows_of(full, *names) == [(3, None, None, None, None)]


def test_headers_alone_have_no_statistics(tmp_path: Path) -> None:
    write(tmp_path / name(), DEFAULT + LINE)
    write(tmp_path / "statistic.csv", "IO,Slot,Data Type,Max Value\ninput,0,int8,1\n")
    scan = new_scan([tmp_path], Selection(), level="header")
    scan.run()
    table = scan.table()
    # The count tells what is stored, as in a tensor's header.
    assert rows_of(table, "dtype", "format", "shape", "nbytes", *STATISTICS) == [
        ("float32", "ND", [2, 1], 8, 2, *[None] * 7),
        ("int8", None, None, None, None, *[None] * 7),
    ]
    assert not table.bad.any()


def test_inventory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = tmp_path / TIME / "0" / "net" / "1"
    text = DEFAULT + "Input,0,64,DT_FLOAT,ND,16,1,1,1,16,0,0,0\n"
    write(where / "0" / name(), text)
    write(where / "1" / name(ts=TS + 1), text)
    dump_name = testing.dump_name("Mul", "m", task_id=1, stream_id=2, timestamp=TS)
    testing.write_dump(where / "1" / dump_name, outputs=[np.zeros(8, np.float32)])
    assert main(["ls", "--json", str(tmp_path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["tensors"], document["reported"], document["bytes"]) == (3, 2, 32)
    assert [(step["step"], step["bytes"]) for step in document["steps"]] == [(0, 0), (1, 32)]
    assert document["empty"] == []
    assert main(["ls", str(tmp_path)]) == 0
    assert "3 tensors (2 as statistics), 32 B" in capsys.readouterr().out


# Values


def chosen_row(tmp_path: Path, header: str, cells: str) -> Any:
    write(tmp_path / name(), f"Input/Output,Index,Data Type,{header}\nInput,0,DT_FLOAT,{cells}\n")
    table = fastdump.stats(tmp_path)
    assert len(table) == 1
    return table


@pytest.mark.parametrize("suffix", [".csv", ".json", ".arrow", ".parquet"])
def test_null_is_not_nan(suffix: str, tmp_path: Path) -> None:
    table = chosen_row(tmp_path, "Max Value,Min Value,Avg Value,L2Norm Value", "-inf,nan,NA,inf")
    table.write(tmp_path / f"t{suffix}")
    for read in (table, StatsTable(table), fastdump.read_stats(tmp_path / f"t{suffix}")):
        ((max_, min_, mean, norm),) = rows_of(read, "max", "min", "mean", "l2norm")
        assert (max_, mean, norm) == (-math.inf, None, math.inf)
        assert math.isnan(min_)
        assert read.bad.tolist() == [True]
        (row,) = read
        assert (row.max, row.mean, row.l2norm) == (-math.inf, None, math.inf)
        assert math.isnan(row.min)
    # numpy and pandas have one word for both.
    assert np.isnan(table["min"][0])
    assert np.isnan(table["mean"][0])
    frame = table.to_pandas()
    assert frame["mean"].dtype == np.float64
    assert frame[["min", "mean"]].isna().all(axis=None)
    assert pd.isna(frame["nan"][0])


@pytest.mark.parametrize(
    ("header", "cells", "bad"),
    [
        ("Max Value,Min Value,Avg Value", "1,-1,0", False),
        ("Max Value,Min Value", "NA,NA", False),
        ("Max Value", "nan", True),
        ("Max Value", "-nan", True),
        ("Max Value", "inf", True),
        ("Min Value", "-inf", True),
        ("Avg Value", "nan", True),
        ("L2Norm Value", "inf", True),
        ("Nan Count", "0", False),
        ("Nan Count", "1", True),
        ("Avg Value,Nan Count", "inf,0", True),
        # The device's float32 sums overflow although no element is infinite.
        ("L2Norm Value,Nan Count,Negative Inf Count,Positive Inf Count", "inf,0,0,0", False),
        ("L2Norm Value,Nan Count,Negative Inf Count,Positive Inf Count", "1,0,1,0", True),
    ],
)
def test_bad_rows(header: str, cells: str, bad: bool, tmp_path: Path) -> None:
    seen: list[fastdump.Progress] = []
    table = chosen_row(tmp_path, header, cells)
    assert table.bad.tolist() == [bad]
    assert len(table.filter(bad=True)) == table.summary()["bad"] == int(bad)
    fastdump.stats(tmp_path, progress=seen.append)
    assert seen[-1].bad == int(bad)


def test_worst_takes_moments_for_counts(tmp_path: Path) -> None:
    header = "IO,Slot,Data Type,Max Value,Min Value,L2Norm Value\n"
    for i, cells in enumerate(
        ["1,1,1", "1,-inf,inf", "65504,0,1", "nan,1,1", "1,1,inf", "NA,NA,NA"]
    ):
        write(tmp_path / name(ts=TS + i), f"{header}input,{i},DT_FLOAT16,{cells}\n")
    assert fastdump.stats(tmp_path).worst()["index"].tolist() == [3, 4, 1, 2, 0, 5]


def test_integers_that_float64_rounds(tmp_path: Path) -> None:
    header = "IO,Slot,Data Type,Max Value,Min Value,Count\n"
    cells = "9223372036854775807,-9007199254740993,18446744073709551615"
    write(tmp_path / name(), f"{header}output,0,DT_INT64,{cells}\n")
    (row,) = fastdump.stats(tmp_path)
    assert (row.max, row.min) == (2.0**63, -(2.0**53))
    assert row.count == 2**63 - 1  # as large as a column holds
    assert row.status == "ok"
    assert row.note == ("max is exactly 9223372036854775807; min is exactly -9007199254740993")


FORMATS = ["{:.6g}", "{:.17g}", "{!r}", "{:e}", "{:f}"]


@given(
    values=st.lists(
        st.tuples(
            st.floats(), st.floats(width=32), st.integers(0, 2**63 - 1), st.sampled_from(FORMATS)
        ),
        max_size=20,
    )
)
def test_values_are_those_that_python_reads(
    tmp_path_factory: pytest.TempPathFactory, values: Sequence[tuple[float, float, int, str]]
) -> None:
    directory = tmp_path_factory.mktemp("values")
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["IO", "Slot", "Data Type", "Max Value", "Min Value", "Nan Count"])
    cells = [(f.format(a), f.format(b), str(n)) for a, b, n, f in values]
    for i, (a, b, n) in enumerate(cells):
        writer.writerow(["output", i, "float32", a, b, n])
    write(directory / "statistic.csv", file.getvalue())
    table = fastdump.stats(directory)
    expected = [(float(a), float(b), int(n)) for a, b, n in cells]
    if not expected:
        expected = [(None, None, None)]  # the file's own row
    np.testing.assert_equal(rows_of(table, "max", "min", "nan"), expected)


# Damage


LINE = "Input,0,8,DT_FLOAT,ND,2x1,1,1,1,2,0,0,0\n"


def test_lines_that_are_no_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / name(), DEFAULT + LINE + "\x1b[31m\x00 words\n" + LINE.replace("0,8", "1,8"))
    table = fastdump.stats(tmp_path)
    assert rows_of(table, "io", "index", "status", "source") == [
        ("input", 0, "ok", "csv"),
        ("input", 1, "ok", "csv"),
        (None, None, "malformed", "csv"),
    ]
    assert table[2].op_name == "a"
    at = len(DEFAULT + LINE)
    assert table[2].note == (
        f'line 3, at byte {at}, is no row: it begins with "\\x1b[31m\\x00 words"'
    )
    assert table.bad.tolist() == [False, False, True]
    assert main(["stats", str(tmp_path)]) == 3
    assert "\x1b[31m" not in capsys.readouterr().out


def test_a_file_that_ends_early(tmp_path: Path) -> None:
    write(tmp_path / name(), DEFAULT + LINE + LINE.replace("0,8", "1,8")[:-8])
    (first, second) = fastdump.stats(tmp_path)
    assert (first.status, first.max) == ("ok", 1)
    assert (second.index, second.shape, second.max, second.status) == (1, (2, 1), None, "truncated")
    assert second.note == "the file ends within line 3: its statistics are left out"


def test_every_prefix_of_the_references(reference_statistics: Path, tmp_path: Path) -> None:
    for path in sorted(reference_statistics.iterdir()):
        text = path.read_bytes()
        (tmp_path / path.stem).mkdir()
        for n in range(0, len(text), 7):
            (tmp_path / path.stem / name(ts=TS + n)).write_bytes(text[:n])
    table = fastdump.stats(tmp_path, level="full")
    # No prefix vanishes, and what is left of its last line says so.
    n_files = sum(1 for _ in tmp_path.rglob("*.csv"))
    assert len(set(table["path"])) == n_files
    assert (
        {"ok", "truncated", "malformed"}
        <= set(table["status"])
        <= {*("ok", "truncated", "malformed", "unsupported")}
    )


def test_another_csv_is_skipped_and_a_dump_s_is_a_row(tmp_path: Path) -> None:
    write(tmp_path / "results.csv", "a,b\n1,2\n")
    write(tmp_path / name(), "a,b\n1,2\n")
    table = fastdump.stats(tmp_path)
    assert rows_of(table, "path", "status", "source", "op_type") == [
        (name(), "malformed", "csv", "Add")
    ]
    assert 'is "a,b", expected the columns of statistics' in table[0].note
    assert sum(table.skipped.values()) == 1


def test_a_table_that_is_too_large_is_a_row(tmp_path: Path) -> None:
    for file in ("statistic.csv", name()):
        write(tmp_path / file, DEFAULT + LINE)
        os.truncate(tmp_path / file, 1 << 29)
    table = fastdump.stats(tmp_path)
    assert rows_of(table, "path", "status", "source") == [
        (file, "malformed", "csv") for file in (name(), "statistic.csv")
    ]
    assert set(table["note"]) == {"536870912 bytes are too many for a table of statistics"}
    assert fastdump.stats(tmp_path / "statistic.csv")[0].status == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        DEFAULT + "Input," * 1_000_000,
        DEFAULT + "Input,0,8," + "\0" * 1_000_000 + "\n",
        DEFAULT + '"' * 1_000_001 + "\n" + LINE,
        DEFAULT * 1000 + LINE,
        DEFAULT + "9" * 1_000_000 + "\n",
        DEFAULT + LINE.replace("2x1", "x" * 50_000),
        DEFAULT + LINE.replace("2x1", "1x" * 20_000 + "1"),
    ],
)
def test_hostile_tables(text: str, tmp_path: Path) -> None:
    write(tmp_path / name(), text)
    table = fastdump.stats(tmp_path, level="full")
    assert 1 <= len(table) <= 2
    assert all(len(note or "") < 300 for note in table["note"])


def test_hostile_names(tmp_path: Path) -> None:
    names = [b"\x1b[31mred", b"\xff\xfe", b'"quo""ted,\xe6\xb3\xa8"', b"../../etc", b"=1+1"]
    lines = [b"Add,%s,0,0,%d,input,0,4,int8,1,1," % (text, i) for i, text in enumerate(names)]
    header = (MINDSPORE + "Max Value").encode()
    (tmp_path / "statistic.csv").write_bytes(b"\n".join([header, *lines, b""]))
    table = fastdump.stats(tmp_path)
    assert table["op_name"].tolist() == [
        "\x1b[31mred",
        "\\xff\\xfe",
        'quo"ted,\u6ce8',
        "../../etc",
        "=1+1",
    ]
    assert "\x1b" not in repr(table)


# What people see


def test_text_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    header = "IO,Slot,Data Type,Max Value,Min Value,Nan Count,Positive Inf Count,"
    header += "Negative Inf Count\n"
    lines = ["inf,-nan,0,3,NA", "5,,,0,", "5,4,0,0,0", "5,4,0,3,1000", "5,4,0,NA,2"]
    rows = [f"output,{i},DT_INT8,{line}\n" for i, line in enumerate(lines)]
    write(tmp_path / name(), header + "".join(rows))
    text = str(fastdump.stats(tmp_path)).split("\n")[-5:]
    assert sorted(line.split()[2:] for line in text) == [
        ["output.0", "int8", "inf", "nan", "0", "+3", "ok"],
        ["output.1", "int8", "5", "+0", "ok"],
        ["output.2", "int8", "5", "4", "0", "0", "ok"],
        ["output.3", "int8", "5", "4", "0", "+3", "-1,000", "ok"],
        ["output.4", "int8", "5", "4", "0", "-2", "ok"],
    ]


def test_stats_says_what_was_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = "IO,Slot,Data Type,Max Value\n"
    write(tmp_path / "statistic.csv", header + "input,0,int8,1\ninput,1,int8,1\n")
    assert main(["stats", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "2 tensors without a count of NaN or Inf" in out
    assert "no NaN" not in out
    write(tmp_path / "statistic.csv", header + "input,0,int8,nan\ninput,1,int8,-inf\n")
    assert main(["stats", str(tmp_path)]) == 0
    assert "1 tensor with NaN or +Inf; 1 tensor with -Inf\n" in capsys.readouterr().out
    write(tmp_path / name(), DEFAULT + LINE)
    write(tmp_path / "statistic.csv", header + "input,0,int8,1\ninput,1,int8,NA\n")
    assert main(["stats", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "no NaN, no Inf; 1 tensor without a count of NaN or Inf; 1 unsupported\n" in out


def test_json_of_stats_has_no_bare_nan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / name(), "IO,Slot,Data Type,Max Value,Min Value\noutput,0,int8,nan,-inf\n")
    assert main(["stats", "--json", str(tmp_path)]) == 0

    def refuse(token: str) -> None:
        raise AssertionError(token)

    (row,) = json.loads(capsys.readouterr().out, parse_constant=refuse)["rows"]
    assert (row["max"], row["min"], row["mean"]) == ("nan", "-inf", None)
