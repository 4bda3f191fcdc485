"""Tables as files: what is written is read back exactly, and what is no table is an error."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import os
import stat
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastdump
from fastdump import DumpFormatError, MissingDependencyError, StatsTable, read_stats

SUFFIXES = (".csv", ".json", ".arrow", ".parquet")
LEVELS = ("header", "health", "basic", "full")

INT64 = st.integers(-(2**63), 2**63 - 1)
# The csv module of Python 3.10 reads no null character.
TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="" if sys.version_info >= (3, 11) else "\0")
)
# CSV has no empty text that is not null.
FILLED_TEXT = TEXT.filter(bool)
ODD_TEXT = st.sampled_from(
    ["a,b", 'a"b', '"', "a\nb", "a\r\nb", "\r", "\n", " a ", "'", "=1+1", "\ufeff", "nan", "null"]
)
SHAPE = st.lists(INT64, max_size=4)


def a_row(text: st.SearchStrategy[str], *, level: str) -> st.SearchStrategy[dict[str, Any]]:
    optional: dict[str, st.SearchStrategy[Any]] = {
        "rank": INT64,
        "time": text,
        "step": INT64,
        "op_type": text,
        "op_name": text | ODD_TEXT,
        "timestamp": INT64,
        "io": st.sampled_from(["input", "output", "buffer", "space"]),
        "dtype": st.sampled_from(["float16", "bfloat16"]),
        "shape": SHAPE,
        "origin_shape": SHAPE,
        "nbytes": INT64,
        "note": text | ODD_TEXT,
        "offset": INT64,
    }
    if level != "header":
        optional |= dict.fromkeys(["count", "nan", "pos_inf", "neg_inf"], INT64)
    if level in ("basic", "full"):
        optional |= dict.fromkeys(["max", "min", "mean", "l2norm"], st.floats())
    if level == "full":
        optional |= dict.fromkeys(["zero", "subnormal", "saturated", "first_bad"], INT64)
        optional |= {"min_abs": st.floats()}
    required = {
        "status": st.sampled_from(["ok", "truncated"]),
        "path": TEXT | ODD_TEXT,
        "source": st.sampled_from(["tensor", "csv"]),
    }
    nullable = {name: st.none() | values for name, values in optional.items()}
    return st.fixed_dictionaries(nullable | required)


@st.composite
def any_table(draw: st.DrawFn, text: st.SearchStrategy[str]) -> tuple[list[dict[str, Any]], str]:
    level = draw(st.sampled_from(LEVELS))
    return draw(st.lists(a_row(text, level=level), max_size=4)), level


def bits(value: Any) -> Any:
    """Return what is equal only for the same bits, but for those of a NaN, which text has not."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    return value


def rows_of(table: StatsTable) -> list[dict[str, Any]]:
    """Return the rows as pyarrow sees them."""
    return [{k: bits(v) for k, v in row.items()} for row in pa.table(table).to_pylist()]


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.mark.parametrize("suffix", [".json", ".arrow", ".parquet"])
@given(case=any_table(TEXT), skipped=st.dictionaries(TEXT, st.integers(0, 2**70), max_size=3))
def test_what_is_written_is_read_back(
    make_arrow: Any, directory: Path, suffix: str, case: Any, skipped: dict[str, int]
) -> None:
    rows, level = case
    table = StatsTable(make_arrow(rows, full=level == "full"), level=level, skipped=skipped)
    table.write(directory / f"table{suffix}")
    back = read_stats(directory / f"table{suffix}")
    assert rows_of(back) == rows_of(table)
    assert back.schema == table.schema
    assert back.level == level
    assert back.skipped == skipped


@given(case=any_table(FILLED_TEXT))
def test_what_is_written_is_read_back_from_csv(make_arrow: Any, directory: Path, case: Any) -> None:
    rows, level = case
    table = StatsTable(make_arrow(rows, full=level == "full"), level=level, skipped={"text": 3})
    table.write(directory / "table.csv")
    back = read_stats(directory / "table.csv")
    assert rows_of(back) == rows_of(table)
    assert back.level == level


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_more_rows_than_are_converted_at_a_time(
    make_arrow: Any, tmp_path: Path, suffix: str
) -> None:
    rows = [
        {"index": i, "max": i / 7, "shape": [i] * (i % 3), "op_name": f"op{i}"}
        for i in range(20_000)
    ]
    table = StatsTable(make_arrow(rows))
    path = tmp_path / f"table{suffix}"
    table.write(path)
    assert rows_of(read_stats(path)) == rows_of(table)


def a_table(make_arrow: Any, **values: Any) -> StatsTable:
    row = {
        "rank": 0,
        "op_type": "MatMul",
        "op_name": "a",
        "shape": [2, 3],
        "count": 6,
        "max": 1.5,
        "timestamp": 1_725_960_383_079_645,
    }
    return StatsTable(make_arrow([row | values]), level="basic", skipped={"text": 3})


FORMULA_LIKE = st.text("'=+-@\t\r\n\uff1d a,\"1", min_size=1, max_size=6) | FILLED_TEXT


@given(texts=st.lists(FORMULA_LIKE, min_size=1, max_size=5))
def test_no_cell_of_a_csv_file_is_a_formula(
    texts: list[str], make_arrow: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "formulas.csv"
    rows = [{"op_name": text, "note": text, "path": text, "min": -1.5, "rank": 3} for text in texts]
    StatsTable(make_arrow(rows), level="basic").write(path)
    with path.open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    for cell, text in zip(cells, texts, strict=True):
        assert cell["min"] == "-1.5", "numbers stay numbers"
        assert cell["op_name"] == cell["note"] == cell["path"]
        assert cell["op_name"] in (text, f"'{text}")
        assert cell["op_name"][0] not in "=+-@\t\r\n"
    assert [row.op_name for row in read_stats(path)] == texts
    assert [row.path for row in read_stats(path)] == texts


def test_how_a_formula_looks_in_a_csv_file(make_arrow: Any, tmp_path: Path) -> None:
    cells = {
        "=1+1": "'=1+1",
        "'=1+1": "''=1+1",
        "''=": "'''=",
        "'a": "'a",
        "'": "'",
        "a=b": "a=b",
        "-x": "'-x",
        "@SUM(A1)": "'@SUM(A1)",
        "\tx": "'\tx",
    }
    StatsTable(make_arrow([{"op_name": text} for text in cells])).write(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        assert [row["op_name"] for row in csv.DictReader(file)] == list(cells.values())


# Other readers


def test_csv_as_pandas_reads_it(make_arrow: Any, tmp_path: Path) -> None:
    texts = ["plain", 'quote"comma,', "line\nbreak", "carriage\rreturn", "\u6ce8\u610f"]
    rows = [
        {"op_name": text, "max": 0.5 + i, "count": None if i == 1 else i, "shape": [2, 8]}
        for i, text in enumerate(texts)
    ]
    StatsTable(make_arrow([*rows, {"op_name": None, "shape": []}])).write(tmp_path / "t.csv")
    frame = pd.read_csv(tmp_path / "t.csv")
    assert frame["op_name"].tolist()[:5] == texts
    assert pd.isna(frame["op_name"][5])
    assert frame["max"].tolist()[:5] == [0.5 + i for i in range(5)]
    assert frame["count"].isna().tolist() == [False, True, False, False, False, True]
    assert frame["shape"].tolist() == ["2x8"] * 5 + ["()"]
    assert (frame["status"] == "ok").all()


@pytest.mark.parametrize(
    ("level", "absent", "present"),
    [
        ("header", ["count", "nan", "max", "zero"], ["nbytes"]),
        ("health", ["max", "mean", "zero"], ["count", "neg_inf"]),
        ("basic", ["zero"], ["count", "max"]),
        ("full", [], ["count", "max", "zero"]),
    ],
)
def test_csv_has_the_columns_of_its_level(
    make_arrow: Any, tmp_path: Path, level: str, absent: list[str], present: list[str]
) -> None:
    for rows in ([], [{}]):
        StatsTable(make_arrow(rows, full=level == "full"), level=level).write(tmp_path / "t.csv")
        with (tmp_path / "t.csv").open(newline="") as file:
            header = next(csv.reader(file))
        assert not set(absent) & set(header)
        assert set(present) <= set(header)


def test_csv_keeps_values_that_the_level_does_not_compute(make_arrow: Any, tmp_path: Path) -> None:
    rows = [{"max": 1.5, "source": "csv"}]
    StatsTable(make_arrow(rows), level="health").write(tmp_path / "t.csv")
    assert read_stats(tmp_path / "t.csv")["max"].tolist() == [1.5]


def test_json_is_valid_and_says_what_it_is(make_arrow: Any, tmp_path: Path) -> None:
    rows = [
        {"op_name": "\x1b\u2028\0", "max": math.inf, "min": -math.inf, "mean": math.nan},
        {"l2norm": 0.1, "shape": [], "origin_shape": [1, 2]},
    ]
    StatsTable(make_arrow(rows), level="basic", skipped={"text": 3}).write(tmp_path / "t.json")

    def refuse(token: str) -> None:
        raise AssertionError(token)

    text = (tmp_path / "t.json").read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=refuse)
    assert document["fastdump"] == fastdump.__version__
    assert document["level"] == "basic"
    assert document["skipped"] == {"text": 3}
    first, second = document["rows"]
    assert [first[name] for name in ("max", "min", "mean")] == ["inf", "-inf", "nan"]
    assert first["op_name"] == "\x1b\u2028\0"
    assert first["shape"] is None
    assert second["shape"] == []
    assert second["origin_shape"] == [1, 2]
    assert second["l2norm"] == 0.1
    assert len(text.splitlines()) >= 2 + len(rows)  # one row a line


def test_arrow_and_parquet_as_pyarrow_reads_them(make_arrow: Any, tmp_path: Path) -> None:
    table = a_table(make_arrow)
    for suffix in (".arrow", ".parquet"):
        table.write(tmp_path / f"t{suffix}")
    with pa.OSFile(str(tmp_path / "t.arrow")) as file:
        from_arrow = pa.ipc.open_file(file).read_all()
    from_parquet = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    for read in (from_arrow, from_parquet):
        assert read.to_pylist() == pa.table(table).to_pylist()
        metadata = read.schema.metadata
        head = json.loads(metadata[b"fastdump.head"])
        assert (head["level"], head["skipped"]) == ("basic", {"text": 3})
        assert metadata[b"fastdump.version"].decode() == fastdump.__version__


# Other writers


def write_text(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_csv_of_a_spreadsheet(tmp_path: Path) -> None:
    # A byte order mark, CRLF, reordered columns, most of them gone, an empty line at the end.
    lines = ["path,max,status,source,count,shape", "f,1.5E+3,ok,tensor,7,2x3", "g,,ok,tensor,,", ""]
    text = "".join(f"{line}\r\n" for line in lines)
    table = read_stats(write_text(tmp_path / "t.CSV", "\ufeff" + text))
    assert table.level == "basic"
    assert table["path"].tolist() == ["f", "g"]
    assert table["max"][0] == 1500.0
    assert table["count"].tolist() == [7, None]
    assert table["shape"].tolist() == [(2, 3), None]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_tables_that_went_through_pandas(make_arrow: Any, tmp_path: Path, suffix: str) -> None:
    table = StatsTable(make_arrow([{"count": 5, "max": 0.1, "op_name": "a"}, {}]), level="basic")
    path = tmp_path / f"t{suffix}"
    table.write(path)
    if suffix == ".csv":
        # Integers with nulls are floats there.
        pd.read_csv(path).to_csv(path, index=False)
        assert "5.0" in path.read_text()
    elif suffix == ".json":
        document = json.loads(path.read_text())
        document["rows"] = [
            {key: value for key, value in row.items() if value is not None}
            for row in document["rows"]
        ]
        path.write_text(json.dumps(document))
    else:
        pd.read_parquet(path).to_parquet(path, index=False)
    assert rows_of(read_stats(path)) == rows_of(table)


def test_arrow_files_of_others_are_read_by_others(make_arrow: Any, tmp_path: Path) -> None:
    table, path = a_table(make_arrow), tmp_path / "t.arrow"
    for compression in (None, "lz4", "zstd"):
        arrow = pa.table(table)
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with (
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_file(file, arrow.schema, options=options) as writer,
        ):
            writer.write_table(arrow)
        # Without a checksum, damage could end the process.
        with pytest.raises(DumpFormatError, match=r"no checksum of fastdump.*polars\.read_ipc"):
            read_stats(path)
        assert rows_of(StatsTable(polars.read_ipc(path))) == rows_of(table)


# What is not a table

HEADER = "rank,max,shape,note,status,path,source"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "missing columns 'status', 'path', 'source'"),
        ("\n", "missing"),
        ("rank,status,source\n", "missing column 'path'"),
        ("rank,maximum,status,path,source\n", "unknown column 'maximum'"),
        ("rank,rank,status,path,source\n", "repeated column 'rank'"),
        (",,\n", "unknown columns '', '', ''"),
        ("Input/Output,Index,Data Size\nInput,0,4\n", "stats\\(\\) reads them"),
        ("Op Type,Op Name,IO,Slot,Data Type,Count\nAdd,a,input,0,int8,4\n", "stats\\(\\) reads"),
        (f"{HEADER}\n1,2,3,n,ok,p\n", "line 2: 6 fields, the header has 7"),
        (f"{HEADER}\n1,2,3,n,ok,p,t,\n", "line 2: 8 fields"),
        (f"{HEADER}\n,,,,ok,p,t\nx,2,3,n,ok,p,t\n", "line 3, column 'rank': 'x' is not a 64-bit"),
        (f"{HEADER}\n1.5,2,3,n,ok,p,t\n", "line 2, column 'rank': '1.5'"),
        (f"{HEADER}\n{2**63},2,3,n,ok,p,t\n", "line 2, column 'rank'"),
        (f"{HEADER}\n{'9' * 9999},2,3,n,ok,p,t\n", "line 2, column 'rank'"),
        (f"{HEADER}\n1e300,2,3,n,ok,p,t\n", "line 2, column 'rank'"),
        (f"{HEADER}\n1,two,3,n,ok,p,t\n", "line 2, column 'max': 'two' is not a number"),
        (f"{HEADER}\n1,2,3x,n,ok,p,t\n", "line 2, column 'shape': '3x'"),
        (f"{HEADER}\n1,2,{2**63}x1,n,ok,p,t\n", "line 2, column 'shape'"),
        (f'{HEADER}\n1,2,3,"n\nn",ok,p,t\n1,2,3,n,ok,p\n', "line 4: 6 fields"),
        (f'{HEADER}\n1,2,3,"n,ok,p,t\n', "line 2: unexpected end of data"),
        (f'{HEADER}\n1,2,3,"n"n,ok,p,t\n', "line 2: .*expected"),
        (f"{HEADER}\n1,2,3,{'n' * 200_000},ok,p,t\n", "line 2: field larger than field limit"),
        (f'{HEADER}\n1,2,3,"{"n" * 200_000}', "line 2: field larger than field limit"),
    ],
)
def test_csv_that_is_no_table(tmp_path: Path, text: str, message: str) -> None:
    path = write_text(tmp_path / "t.csv", text)
    with pytest.raises(DumpFormatError, match=message) as caught:
        read_stats(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_csv_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"{HEADER}\n1,2,3,n,ok,p,t\n1,2,3,\xff,ok,p,t\n".encode("latin-1"))
    with pytest.raises(DumpFormatError, match="line 3 is not UTF-8"):
        read_stats(path)
    path.write_bytes(bytes(1000))
    with pytest.raises(DumpFormatError):
        read_stats(path)


def test_csv_with_a_million_columns(tmp_path: Path) -> None:
    for name in ("x", "rank"):
        path = write_text(tmp_path / "t.csv", ",".join([name] * 1_000_000))
        with pytest.raises(DumpFormatError) as caught:
            read_stats(path)
        assert len(str(caught.value)) < 1000


def test_a_line_without_an_end_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with path.open("wb") as file:
        file.write(f"{HEADER}\n".encode())
        file.truncate(40 << 30)  # a hole: no such disk is needed, only memory if it were read
    with pytest.raises(DumpFormatError, match="line 2 is longer than"):
        read_stats(path)


def json_rows(**values: Any) -> str:
    row = {"status": "ok", "path": "p", "source": "tensor"} | values
    return json.dumps({"fastdump": "1", "level": "basic", "rows": [row]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value: line 1"),
        ("[]", "not an object with a list of rows"),
        ("{}", "not an object with a list of rows"),
        ('{"rows": 5}', "not an object with a list of rows"),
        ('{"rows": [5]}', "row 0 is 5"),
        ('{"rows": [{"status": "ok", "path": "p"}]}', "missing column 'source'"),
        (json_rows(maximum=1), "unknown column 'maximum'"),
        (json_rows(rank="1"), "row 0, 'rank': '1' is not a 64-bit integer"),
        (json_rows(rank=1.5), "row 0, 'rank'"),
        (json_rows(rank=True), "row 0, 'rank'"),
        (json_rows(rank=2**63), "row 0, 'rank'"),
        (json_rows(max="1"), "row 0, 'max': '1' is not a number"),
        (json_rows(max=True), "row 0, 'max'"),
        (json_rows(max=[]), "row 0, 'max'"),
        (json_rows(max=10**400), "'max'"),
        (json_rows(note=5), "row 0, 'note': 5 is not text"),
        (json_rows(note="\ud800"), "'note'"),
        (json_rows(path=None), "row 0, 'path': None is not text"),
        (json_rows(shape=5), "row 0, 'shape'"),
        (json_rows(shape=[1, None]), "row 0, 'shape'"),
        (json_rows(shape=[1.5]), "row 0, 'shape'"),
        (json_rows(shape=[2**63]), "row 0, 'shape'"),
        (json_rows(zero=5), "'zero'.* level 'full'"),
        ('{"level": "most", "rows": []}', "level is 'most'"),
        ('{"level": ["basic"], "rows": []}', "level is"),
        ('{"skipped": 5, "rows": []}', "skipped is 5"),
        ('{"skipped": {"text": "3"}, "rows": []}', "skipped is"),
        ("[" * 100_000, "nested too deeply|Expecting value"),
    ],
)
def test_json_that_is_no_table(tmp_path: Path, text: str, message: str) -> None:
    path = write_text(tmp_path / "t.json", text)
    with pytest.raises(DumpFormatError, match=message) as caught:
        read_stats(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_json_without_level_and_skipped(tmp_path: Path) -> None:
    rows = [{"status": "ok", "path": "p", "source": "tensor", "nan": 1}]
    table = read_stats(write_text(tmp_path / "t.json", json.dumps({"rows": rows})))
    assert table.level == "health"
    assert table.skipped == {}
    assert table["nan"].tolist() == [1]


@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
def test_arrow_and_parquet_cut_short(make_arrow: Any, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    a_table(make_arrow).write(path)
    whole = path.read_bytes()
    for nbytes in itertools.chain(range(16), range(16, len(whole), 97), [len(whole) - 1]):
        path.write_bytes(whole[:nbytes])
        with pytest.raises(DumpFormatError, match="another format, or cut"):
            read_stats(path)
    # The length of the footer is damaged.
    n_magic = {".arrow": 6, ".parquet": 4}[suffix]
    path.write_bytes(whole[: -n_magic - 4] + b"\xff\xff\xff\x7f" + whole[-n_magic:])
    with pytest.raises(DumpFormatError, match="too few"):
        read_stats(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_format_under_the_suffix_of_another(make_arrow: Any, tmp_path: Path, suffix: str) -> None:
    for other in set(SUFFIXES) - {suffix}:
        path = tmp_path / f"t{other}"
        a_table(make_arrow).write(path)
        renamed = path.rename(tmp_path / f"renamed{suffix}")
        with pytest.raises(DumpFormatError):
            read_stats(renamed)


def test_foreign_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(DumpFormatError, match="unknown column 'a'"):
        read_stats(path)


def test_a_panic_in_the_library_below_is_an_error(
    make_arrow: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.parquet"
    a_table(make_arrow).write(path)
    whole = bytearray(path.read_bytes())
    begin = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    whole[begin:-8] = bytes(len(whole) - 8 - begin)
    path.write_bytes(whole)
    with pytest.raises(DumpFormatError, match="damaged"):
        read_stats(path)
    capfd.readouterr()  # Rust reports its panics on stderr


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damage_is_an_error_or_another_table(make_arrow: Any, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    rows = [{"op_name": f"op{i}", "max": i / 7, "shape": [i] * (i % 3)} for i in range(50)]
    StatsTable(make_arrow([*rows, {}], full=True)).write(path)
    # In a process of its own, which a panic of Rust code in a callback would end.
    code = """
import pathlib, random, sys
from fastdump import DumpFormatError, read_stats
path = pathlib.Path(sys.argv[1])
whole = path.read_bytes()
generator = random.Random(1)
outcomes = {"error": 0, "table": 0}
for _ in range(200):
    damaged = bytearray(whole)
    for _ in range(generator.randint(1, 3)):
        damaged[generator.randrange(len(damaged))] = generator.randrange(256)
    path.write_bytes(damaged)
    try:
        list(read_stats(path))
        outcomes["table"] += 1
    except DumpFormatError:
        outcomes["error"] += 1
assert outcomes["error"] > 0, outcomes
"""
    subprocess.run([sys.executable, "-c", code, path], check=True, stderr=subprocess.DEVNULL)


def test_parquet_notices_every_damaged_byte(make_arrow: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    a_table(make_arrow).write(path)
    whole = path.read_bytes()
    begin = whole.index(b"fastdump.checksum")
    size = whole.index(b" of ", begin) + len(b" of ")
    for place in [*range(0, len(whole), 13), *range(begin, whole.index(b"bytes", size) + 5)]:
        if size <= place < size + 12:
            continue  # of another size, the file is one that another program rewrote
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(DumpFormatError):
            read_stats(path)


def test_parquet_that_another_program_rewrote(make_arrow: Any, tmp_path: Path) -> None:
    table = a_table(make_arrow)
    path, rewritten = tmp_path / "t.parquet", tmp_path / "rewritten.parquet"
    table.write(path)
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path), rewritten)
    assert read_stats(rewritten).skipped == {"text": 3}
    metadata = pyarrow.parquet.read_metadata(path).metadata
    kept = pa.table(table).replace_schema_metadata(metadata)
    pyarrow.parquet.write_table(kept, rewritten)  # with a checksum that is not its own
    assert rows_of(read_stats(rewritten)) == rows_of(table)


def test_hostile_arrow_metadata(make_arrow: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    StatsTable(make_arrow([{"op_name": "a"}] * 100)).write(path)
    whole = path.read_bytes()
    # A column's name of the same length with a null character.
    path.write_bytes(whole.replace(b"op_name\0", b"op\0name\0"))
    with pytest.raises(DumpFormatError, match="damaged"):
        read_stats(path)
    # The number of rows, wherever it is.
    for n_rows in (101, 2**40, 2**62, 2**63, 2**64 - 1):
        path.write_bytes(whole.replace((100).to_bytes(8, "little"), n_rows.to_bytes(8, "little")))
        with pytest.raises(DumpFormatError):
            read_stats(path)


# Files


@pytest.mark.parametrize("name", ["t.txt", "t", "csv", ".csv", "t.csv.gz", "t."])
def test_an_unknown_suffix_is_a_value_error(make_arrow: Any, tmp_path: Path, name: str) -> None:
    for use in (a_table(make_arrow).write, read_stats):
        with pytest.raises(ValueError, match=r"\.csv, \.json, \.arrow, \.parquet"):
            use(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_missing_files_and_directories(make_arrow: Any, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_stats(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError):
        a_table(make_arrow).write(tmp_path / "none" / "t.csv")
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        read_stats(tmp_path / "t.csv")
    with pytest.raises(IsADirectoryError):
        a_table(make_arrow).write(tmp_path / "t.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failed_write_leaves_what_was_there(
    make_arrow: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"before")

    class FullDisk(io.FileIO):
        def write(self, data: Any) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", FullDisk)
    with pytest.raises(OSError, match="No space left"):
        a_table(make_arrow).write(path)
    assert path.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_write_replaces_with_ordinary_permissions(
    make_arrow: Any, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"before")
    a_table(make_arrow).write(str(path))
    assert len(read_stats(str(path))) == 1
    assert [path.name for path in tmp_path.iterdir()] == [path.name]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_a_write_goes_through_a_link(make_arrow: Any, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "real" / "t.csv")
    a_table(make_arrow).write(link)
    assert link.is_symlink()
    assert len(read_stats(tmp_path / "real" / "t.csv")) == 1


def test_parquet_without_a_size_of_batches(
    make_arrow: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before version 0.9 arro3-io takes none."""
    import arro3.io

    read = arro3.io.read_parquet
    monkeypatch.setattr(arro3.io, "read_parquet", lambda file: read(file))
    path = tmp_path / "stats.parquet"
    table = a_table(make_arrow)
    table.write(path)
    assert pa.table(read_stats(path)).equals(pa.table(table))


@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
def test_without_arro3_io(
    make_arrow: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    table = a_table(make_arrow)
    table.write(tmp_path / f"t{suffix}")
    monkeypatch.setitem(sys.modules, "arro3.io", None)
    for use in (table.write, read_stats):
        with pytest.raises(MissingDependencyError, match=r"pip install 'fastdump\[parquet\]'"):
            use(tmp_path / f"t{suffix}")
    table.write(tmp_path / "t.csv")
    assert len(read_stats(tmp_path / "t.csv")) == 1
