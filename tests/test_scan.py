"""Scanning trees of dumps: paths and names, order, selection, links, statuses, progress."""

from __future__ import annotations

import _thread
import itertools
import os
import random
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest

import fastdump
from fastdump import _core
from fastdump._scan import TableScan
from fastdump.testing import BufferSpec, TensorSpec, dump_header, write_dump

TS = 1_700_000_000_000_000
ONES = np.ones(4, np.float32)
WHERE = ("rank", "time", "device", "model", "model_id", "step")
NAME = ("op_type", "op_name", "task_id", "stream_id", "timestamp", "context_id", "thread_id")


def name(op: str = "Add.add", task: int = 1, stream: int = 2, ts: int = TS) -> str:
    return f"{op}.{task}.{stream}.{ts}"


def write(path: Path, **content: Any) -> Path:
    return write_dump(path, **(content or {"outputs": [ONES]}))


def column(table: fastdump.StatsTable, column_name: str) -> list[Any]:
    return [getattr(row, column_name) for row in table]


TIME = "20260101120000"
STD = name()
TREES = {
    # acl.json: models, single operators
    f"{TIME}/0/resnet/1/3/{STD}": (None, TIME, 0, "resnet", 1, 3),
    f"{TIME}/7/{STD}": (None, TIME, 7, None, None, None),
    f"{TIME}/0/ge_default_1/12/0/{STD}": (None, TIME, 0, "ge_default_1", 12, 0),
    f"{TIME}/0/2/3/4/{STD}": (None, TIME, 0, "2", 3, 4),
    # levels that a graph does not have
    f"{TIME}/0/resnet/{STD}": (None, TIME, 0, "resnet", None, None),
    f"{TIME}/0/resnet/5/{STD}": (None, TIME, 0, "resnet", 5, None),
    f"{TIME}/0/9/{STD}": (None, TIME, 0, None, None, 9),
    # graph mode; the example of the documentation lacks a zero in the time
    f"worldsize16_global_rank11/{TIME}/3/m/1/0/{STD}": (11, TIME, 3, "m", 1, 0),
    f"worldsize1_global_rank0/2024112145738/0/m/1/0/{STD}": (0, "2024112145738", 0, "m", 1, 0),
    # MindSpore: kernel by kernel, through acl
    f"rank_5/LeNet/7/12/{STD}": (5, None, None, "LeNet", 7, 12),
    f"4/{TIME}/1/LeNet/2/9/{STD}": (None, TIME, 1, "LeNet", 2, 4),
    # msprobe, whole and flattened
    f"rank_6/{TIME}/step_8/20260101120007/1/m/3/0/{STD}": (6, "20260101120007", 1, "m", 3, 8),
    f"rank_6/{TIME}/step_8/{STD}": (6, TIME, None, None, None, 8),
    # exceptions, collections of them
    f"extra-info/data-dump/2/{STD}": (None, None, 2, None, None, None),
    f"x/dfx/data-dump/1/{STD}": (None, None, 1, None, None, None),
    # nothing known; numbers that are not what they look like
    f"a/b/c/{STD}": (None,) * 6,
    f"12345678901234/5/{STD}": (None,) * 6,
    f"rank_x/step_y/{STD}": (None,) * 6,
    STD: (None,) * 6,
}


@pytest.mark.parametrize("path", TREES)
def test_what_directories_tell(path: str, tmp_path: Path) -> None:
    write(tmp_path / path)
    (row,) = fastdump.stats(tmp_path)
    assert tuple(getattr(row, key) for key in WHERE) == TREES[path]
    assert row.path == path
    assert row.count == 4


@pytest.mark.parametrize("path", [path for path in TREES if path.count("/") > 1])
def test_directories_above_the_root_tell_as_much(path: str, tmp_path: Path) -> None:
    file = write(tmp_path / path)
    (row,) = fastdump.stats(file.parent)
    if path.startswith("4/"):  # a step of this layout is a bare number: believed below a root only
        assert row.step in (4, 9)
    else:
        assert tuple(getattr(row, key) for key in WHERE) == TREES[path]
    assert row.path == file.name


NAMES = {
    "Add.add1.5.2.1700000000000000": ("Add", "add1", 5, 2, TS, None, None),
    # older toolkits have no stream
    "Pooling.pool1.1147.1589195081588018": (
        *("Pooling", "pool1", 1147, None, 1589195081588018),
        *(None, None),
    ),
    "aclnnBatchMatMul_0_L2.aclnnBatchMatMul.65535.65535.1725960383079645": (
        *("aclnnBatchMatMul_0_L2", "aclnnBatchMatMul", 65535, 65535, 1725960383079645),
        *(None, None),
    ),
    "Conv2D.op_lxslice3.1.7.1700000000000000.4.11.2.5": (
        *("Conv2D", "op_lxslice3", 1, 7, TS),
        *(11, 2),
    ),
    "Add.A_To_B.3.4.1700000000000000": ("Add", "A_To_B", 3, 4, TS, None, None),
    # exception dumps: stream before task; 17 digits of local time; no operator
    "exception_info.5.1.1706152473105513": (None, None, 1, 5, 1706152473105513, None, None),
    "exception_info.5.1.20260101120000123": (None, None, 1, 5, 20260101120000123, None, None),
    "Add.add.12.20260101120000123": ("Add", "add", 12, None, 20260101120000123, None, None),
    "my.data.custom.20260101120000123": (
        *(None, "my.data", None, None, 20260101120000123),
        *(None, None),
    ),
    "Opdebug.Node_OpDebug.59.1597922031178434": (
        *("Opdebug", "Node_OpDebug", 59, None, 1597922031178434),
        *(None, None),
    ),
    "OpDebug.Node_Opdebug.1.7.1700000000000000": (
        *("OpDebug", "Node_Opdebug", 1, 7, TS),
        *(None, None),
    ),
    "a-b.c=d e.1.2.1700000000000000": ("a-b", "c=d e", 1, 2, TS, None, None),
    # not names of dumps, but dumps by their content
    "whatever": (None,) * 7,
    "Add.add.1.2.170000000000": (None,) * 7,
    "Add.add.1.2.170000000000000000": (None,) * 7,
    "Add.add.x.2.1700000000000000": (None,) * 7,
    ".add.1.2.1700000000000000": (None,) * 7,
    "Add..1.2.1700000000000000": (None,) * 7,
    "Add.a.b.1.2.1700000000000000": (None,) * 7,
    "Add.add.99999999999999999999.2.1700000000000000": (None,) * 7,
}


@pytest.mark.parametrize("file_name", NAMES)
def test_what_file_names_tell(file_name: str, tmp_path: Path) -> None:
    write(tmp_path / file_name)
    (row,) = fastdump.stats(tmp_path)
    assert tuple(getattr(row, key) for key in NAME) == NAMES[file_name]
    assert (row.path, row.count) == (file_name, 4)


def test_an_ffts_name_tells_the_device_where_no_directory_does(tmp_path: Path) -> None:
    write(tmp_path / "Add.a.1.7.1700000000000000.4.11.2.5")
    write(tmp_path / TIME / "3" / "Add.b.1.7.1700000000000000.4.11.2.5")
    devices = {row.op_name: row.device for row in fastdump.stats(tmp_path)}
    assert devices == {"a": 5, "b": 3}


def test_the_header_knows_the_name_of_the_operator(tmp_path: Path) -> None:
    write(tmp_path / name("Add.model_layers_3_Add"), outputs=[ONES], op_name="model/layers.3/Add")
    (row,) = fastdump.stats(tmp_path)
    assert (row.op_type, row.op_name) == ("Add", "model/layers.3/Add")


def test_a_row_describes_its_tensor(tmp_path: Path) -> None:
    path = write(
        tmp_path / STD,
        inputs=[
            TensorSpec(
                np.zeros((2, 1, 3, 16), ml_dtypes.bfloat16),
                format="NC1HWC0",
                origin_shape=(2, 9, 3),
            ),
            TensorSpec(np.zeros((), np.int64), format=200),
        ],
        outputs=[TensorSpec(b"\1\2", "UINT1", "NULL", (3, 5))],
        buffers=[b"abc"],
        spaces=[BufferSpec(b"12345")],
    )
    begin = 8 + int.from_bytes(path.read_bytes()[:8], "little")
    table = fastdump.stats(tmp_path)
    described = [
        (r.io, r.index, r.dtype, r.format, r.shape, r.origin_shape, r.nbytes, r.offset, r.count)
        for r in table
    ]
    assert described == [
        ("input", 0, "bfloat16", "NC1HWC0", (2, 1, 3, 16), (2, 9, 3), 192, begin, 96),
        ("input", 1, "int64", "200", (), (), 8, begin + 192, 1),
        ("output", 0, "uint1", "NULL", (3, 5), (), 2, begin + 200, 15),
        ("buffer", 0, None, None, None, None, 3, begin + 202, None),
        ("space", 0, None, None, None, None, 5, begin + 205, None),
    ]
    assert set(table["status"]) == {"ok"}
    assert set(table["source"]) == {"tensor"}


# mapping.csv


def test_mapping_csv_names_files_of_digits(tmp_path: Path) -> None:
    long = "Cast." + "x" * 300 + ".6.2.1700000000000009"
    names = {
        "9134657216587341217": long,
        "12345678901": "Add.a,b.7.2.1700000000000008",
        "98765432109876543210": "Mul.m.8.2.1700000000000007",
        "11111111111": "no dump's name",
    }
    for digits in names:
        write(tmp_path / digits)
    rows = [f"{digits},{real}" for digits, real in names.items()]
    rows[0] = rows[0].replace(",", ",/usr/local/dump/")  # one writer notes the full path
    rows[2] += "\r"
    rows += [rows[0], "", "no comma", ",", "text,Add.c.1.2.1700000000000000", "5555555555,"]
    (tmp_path / "mapping.csv").write_text("\n".join(rows))
    table = fastdump.stats(tmp_path)
    found = {row.path: (row.op_type, row.op_name, row.task_id) for row in table}
    assert found == {
        "9134657216587341217": ("Cast", "x" * 300, 6),
        "12345678901": ("Add", "a,b", 7),
        "98765432109876543210": ("Mul", "m", 8),
        "11111111111": (None, None, None),
    }
    assert table.skipped == {}


def test_writer_and_reader_agree_on_long_names(tmp_path: Path) -> None:
    long = "Cast." + "y" * 400 + ".6.2.1700000000000009"
    path = write(tmp_path / long)
    assert path.name.isdigit()
    for root in (tmp_path, path):
        (row,) = fastdump.stats(root)
        assert (row.op_name, row.path) == ("y" * 400, path.name)


def test_a_name_of_digits_without_a_mapping(tmp_path: Path) -> None:
    write(tmp_path / "a" / "9134657216587341217")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "9134657216587341218").write_text("no dump\n")
    # A mapping speaks for its own directory only.
    (tmp_path / "mapping.csv").write_text("9134657216587341217,Add.a.1.2.1700000000000000\n")
    first, second = fastdump.stats(tmp_path)
    assert (first.path, first.status, first.op_type) == ("a/9134657216587341217", "ok", None)
    assert (second.path, second.status) == ("b/9134657216587341218", "malformed")


# Order


def test_rows_are_in_the_order_of_execution(tmp_path: Path) -> None:
    other = "20260101120001"
    files = [
        f"worldsize16_global_rank2/{TIME}/0/m/1/9/{name(ts=TS + 5)}",
        f"worldsize16_global_rank2/{TIME}/0/m/1/10/{name(ts=TS)}",
        f"worldsize16_global_rank2/{TIME}/0/m/2/0/{name(ts=TS)}",
        f"worldsize16_global_rank2/{TIME}/0/n/1/0/{name(ts=TS)}",
        f"worldsize16_global_rank2/{TIME}/1/m/1/0/{name(ts=TS)}",
        f"worldsize16_global_rank2/{other}/0/m/1/0/{name(ts=TS - 9)}",
        f"worldsize16_global_rank10/{TIME}/0/m/1/0/{name('Zz.z', ts=TS)}",
        f"worldsize16_global_rank10/{TIME}/0/m/1/0/{name('Mm.m', 9, 1, TS + 1)}",
        f"worldsize16_global_rank10/{TIME}/0/m/1/0/{name('Yy.y', 1, 2, TS + 1)}",
        f"worldsize16_global_rank10/{TIME}/0/m/1/0/{name('Aa.a', 2, 2, TS + 1)}",
        f"worldsize16_global_rank10/{TIME}/0/m/1/0/{name('Aa.a', 10, 2, TS + 1)}",
        f"worldsize16_global_rank10/{TIME}/0/m/1/0/{name('Aa.a', 1, 10, TS + 1)}",
        f"worldsize16_global_rank10/{TIME}/0/m/1/0/Aa.a.0.{TS + 1}",  # without a stream: last
        f"worldsize16_global_rank10/{TIME}/0/m/1/0/{name('Aa.a', ts=TS + 2)}",
        f"worldsize16_global_rank10/{TIME}/0/m/1/0/unnamed",
        name(ts=1),  # nothing tells where: last
    ]
    shuffled = random.Random(3).sample(files, len(files))
    for file in shuffled:
        write(tmp_path / file, outputs=[ONES, ONES], inputs=[ONES], spaces=[b"1"], buffers=[b"2"])
    tensors = [("input", 0), ("output", 0), ("output", 1), ("buffer", 0), ("space", 0)]
    for threads in (1, 4):
        table = fastdump.stats(tmp_path, threads=threads)
        assert column(table, "path") == [file for file in files for _ in tensors]
        assert [(row.io, row.index) for row in table] == tensors * len(files)


def test_many_files_by_many_threads(tmp_path: Path) -> None:
    for i in range(700):
        content = {"outputs": [np.full(i % 7, i, np.int32)]} if i % 10 else {"inputs": []}
        write_dump(tmp_path / f"{i % 13}" / name(f"Add.a{i}", ts=TS + i), **content)
    expected = fastdump.stats(tmp_path, threads=1)
    assert column(expected, "timestamp") == list(range(TS, TS + 700))
    for i, row in enumerate(expected):
        assert row.max == (float(i) if i % 10 and i % 7 else None)
    for threads in (2, 7):
        assert list(fastdump.stats(tmp_path, threads=threads)) == list(expected)


# Selection


@pytest.fixture
def selectable(tmp_path: Path) -> Path:
    """Return two ranks of two steps of two operators, and a file that tells none of them."""
    for rank in (0, 1):
        for step in (0, 12):
            folder = tmp_path / f"worldsize2_global_rank{rank}" / TIME / "0" / "m" / "1" / f"{step}"
            for op in ("MatMul.layer_0_qkv", "Add.layer_0_residual"):
                write(
                    folder / name(op),
                    inputs=[ONES, ONES],
                    outputs=[ONES],
                    buffers=[b"1"],
                    spaces=[b"2"],
                    op_name=op.split(".")[1].replace("_", "/"),
                )
    write(tmp_path / "unnamed", outputs=[ONES])
    return tmp_path


@pytest.mark.parametrize(
    ("selection", "n_rows"),
    [
        ({}, 41),
        ({"op_type": "MatMul"}, 20),
        ({"op_type": "M*l"}, 20),
        ({"op_type": ["MatMul", "A[cd]d"]}, 40),
        ({"op_type": ("???",)}, 20),
        ({"op_type": "matmul"}, 0),
        ({"op_type": "Mat"}, 0),
        ({"op_name": "layer/0/qkv"}, 20),  # the header's
        ({"op_name": "layer_0_qkv"}, 20),  # the file name's
        ({"op_name": "*res*"}, 20),
        ({"op_name": ["*res*", "*qkv"]}, 40),
        ({"step": 12}, 20),
        ({"step": [0, 12]}, 40),
        ({"step": range(1, 12)}, 0),
        ({"step": np.int64(0)}, 20),
        ({"rank": 1}, 20),
        ({"rank": {0, 1}}, 40),
        ({"rank": "0-1"}, 40),
        ({"step": "12|14-20"}, 20),
        ({"rank": -1}, 0),
        ({"io": "output"}, 9),
        ({"io": "input"}, 16),
        ({"io": ["buffer", "space"]}, 16),
        ({"op_type": "Add", "step": 0, "rank": 1, "io": "input"}, 2),
        ({"op_type": "Add", "op_name": "*qkv"}, 0),
    ],
    ids=str,
)
def test_selection(selection: dict[str, Any], n_rows: int, selectable: Path) -> None:
    everything = fastdump.stats(selectable)
    assert len(everything) == 41
    if n_rows == 0:
        with pytest.raises(fastdump.NoDumpError):
            fastdump.stats(selectable, **selection)
        return
    table = fastdump.stats(selectable, **selection)
    assert len(table) == n_rows
    # In the same order, with the same numbers; what was not asked for is not counted as skipped.
    assert list(table) == [row for row in everything if row in set(table)]
    assert table.skipped == {}
    assert list(table) == list(everything.filter(**selection))


def test_unselected_files_are_not_read(tmp_path: Path) -> None:
    write(tmp_path / name("Add.a"))
    (tmp_path / name("Mul.m")).write_bytes(b"rubbish")
    assert set(fastdump.stats(tmp_path)["status"]) == {"ok", "malformed"}
    assert column(fastdump.stats(tmp_path, op_type="Add"), "status") == ["ok"]
    assert column(fastdump.stats(tmp_path, op_name="a"), "status") == ["ok"]
    assert column(fastdump.stats(tmp_path, op_name="m"), "status") == ["malformed"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"engine": "pread"}, ValueError),
        ({"io": "outputs"}, ValueError),
        ({"step": "three"}, ValueError),
        ({"step": "5-3"}, ValueError),
        ({"step": 1.5}, TypeError),
        ({"step": 1 << 63}, ValueError),
        ({"op_type": 3}, TypeError),
        ({"op_name": [b"a"]}, TypeError),
        ({"progress": "yes"}, TypeError),
    ],
    ids=str,
)
def test_arguments_that_cannot_be(
    arguments: dict[str, Any], error: type[Exception], tmp_path: Path
) -> None:
    write(tmp_path / STD)
    with pytest.raises(error, match=next(iter(arguments))):
        fastdump.stats(tmp_path, **arguments)


# Roots


def test_several_roots_keep_their_order_and_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "b" / "x" / name(ts=TS + 1))
    write(tmp_path / "a" / name(ts=TS))
    single = write(tmp_path / "c" / name("Mul.m", ts=TS + 2))
    monkeypatch.chdir(tmp_path)
    table = fastdump.stats(["b", "./a/", Path("c") / single.name])
    assert column(table, "path") == [
        f"./a/{name(ts=TS)}",
        f"b/x/{name(ts=TS + 1)}",
        f"c/{single.name}",
    ]
    table = fastdump.stats([tmp_path / "a", single])
    assert column(table, "path") == [str(tmp_path / "a" / name(ts=TS)), str(single)]


def test_any_kind_of_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "a" / STD)
    monkeypatch.chdir(tmp_path / "a")
    paths = [
        *(tmp_path, str(tmp_path), bytes(tmp_path), f"{tmp_path}/", f"{tmp_path}//a/.", "..", "."),
        *(file, str(file), bytes(file), STD, f"./{STD}", f"../a/{STD}", b"."),
    ]
    for path in paths:
        (row,) = fastdump.stats(path)
        assert row.path in (STD, f"a/{STD}")
        assert (row.op_type, row.max) == ("Add", 1)
    assert len(fastdump.stats(iter([file, file]))) == 2


def test_a_root_without_a_dump(tmp_path: Path) -> None:
    with pytest.raises(fastdump.NoDumpError):
        fastdump.stats(tmp_path)
    (tmp_path / "readme.txt").write_text("hello")
    with pytest.raises(fastdump.NoDumpError, match="1 file"):
        fastdump.stats(tmp_path)
    with pytest.raises(FileNotFoundError):
        fastdump.stats(tmp_path / "readme.txt")


@pytest.mark.parametrize("path", ["nowhere", "readme.txt/nowhere"])
def test_a_root_that_does_not_exist(path: str, tmp_path: Path) -> None:
    write(tmp_path / STD)
    (tmp_path / "readme.txt").write_text("hello")
    for roots in (tmp_path / path, [tmp_path, tmp_path / path]):
        with pytest.raises(OSError, match=re.escape(path)) as error:
            fastdump.stats(roots)
        assert not isinstance(error.value, fastdump.FastdumpError)
        assert error.value.filename == str(tmp_path / path)
        assert isinstance(error.value, FileNotFoundError | NotADirectoryError)


@pytest.mark.parametrize("path", [[], "a\0b", ["."] * 2 + ["a\0b"]])
def test_paths_that_cannot_be(path: Any) -> None:
    with pytest.raises(ValueError, match="path"):
        fastdump.stats(path)


# Links


def test_links_are_followed_only_when_asked(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere"
    write(real / name("Add.outside"))
    root = tmp_path / "root"
    write(root / "sub" / name("Add.inside"))
    (root / "to_dir").symlink_to(real)
    (root / name("Add.linked")).symlink_to(real / name("Add.outside"))
    (root / "dangling").symlink_to("nowhere")
    table = fastdump.stats(root)
    assert column(table, "op_name") == ["inside"]
    assert table.skipped == {"symbolic link": 3}
    table = fastdump.stats(root, follow_links=True)
    assert sorted(column(table, "op_name")) == ["inside", "linked", "outside"]
    assert table.skipped == {"dangling symbolic link": 1}


def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real" / TIME / "0" / STD)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "to_file").symlink_to(tmp_path / "real" / TIME / "0" / STD)
    (row,) = fastdump.stats(tmp_path / "link")
    assert (row.path, row.time) == (f"{TIME}/0/{STD}", TIME)
    (row,) = fastdump.stats(tmp_path / "to_file")
    assert row.max == 1


def test_loops_of_links_end(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / name("Add.one"))
    write(tmp_path / "c" / name("Add.two"))
    (tmp_path / "a" / "b" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "here").symlink_to(".")
    (tmp_path / "a" / "to_c").symlink_to("../c")
    (tmp_path / "c" / "to_a").symlink_to("../a")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "x").symlink_to("y")
    (tmp_path / "y").symlink_to("x")
    table = fastdump.stats(tmp_path, follow_links=True)
    assert sorted(column(table, "op_name")) == ["one", "two"]
    assert table.skipped["symbolic link loop"] == 3
    assert column(fastdump.stats(tmp_path), "op_name").count("one") == 1


# What is no dump


def test_other_files_are_counted_by_reason(tmp_path: Path) -> None:
    write(tmp_path / STD)
    (tmp_path / "notes.txt").write_text("text\twith\r\nlines\n")
    (tmp_path / "empty").touch()
    (tmp_path / "random").write_bytes(bytes(range(255, 0, -1)))
    (tmp_path / "nul").write_bytes(bytes(100))
    (tmp_path / "table.csv").write_text("a,b\n")
    (tmp_path / f"{STD}.input.3.2x3.bin").write_bytes(b"1234")
    (tmp_path / f"{STD}.output.0.pt").write_bytes(b"PK")
    (tmp_path / f"{STD}.output.0.json").write_text("{}")
    (tmp_path / "kernel.1.2.20260101120000123.core").write_bytes(b"\x7fELF")
    (tmp_path / "mapping.csv").write_text("")
    os.mkfifo(tmp_path / "fifo")
    table = fastdump.stats(tmp_path)
    assert column(table, "path") == [STD]
    assert table.skipped == {
        "text file": 1,
        "other CSV file": 1,
        "empty file": 1,
        "not a dump file": 2,
        "converted file": 3,
        "ELF core": 1,
        "FIFO": 1,
    }


@pytest.mark.parametrize("content", [b"", b"x", b"some text, longer than a length", bytes(64)])
def test_a_dumps_name_always_gives_a_row(content: bytes, tmp_path: Path) -> None:
    names = ["exception_info.5.1.1706152473105513", "n.custom.20260101120000123", "1234567890"]
    names += [STD, "Opdebug.Node_OpDebug.59.1597922031178434"]
    names += [f"{STD}.csv", f"{STD}.output.0.npy"]
    for file_name in names:
        (tmp_path / file_name).write_bytes(content)
    table = fastdump.stats(tmp_path, level="full")
    assert sorted(column(table, "path")) == sorted(names)
    assert set(table["status"]) == {"malformed"}
    assert all(table["note"])
    assert table.skipped == {}
    for row in table:
        tensor = ("io", "index", "dtype", "format", "shape", "origin_shape", "nbytes", "offset")
        assert {getattr(row, key) for key in (*tensor, "count", "max", "nan", "zero")} == {None}


# Statuses


def one_file(tmp_path: Path, content: bytes) -> fastdump.StatsTable:
    (tmp_path / STD).write_bytes(content)
    return fastdump.stats(tmp_path, level="full")


def header_and_payload(**content: Any) -> tuple[bytes, bytes]:
    header = dump_header(**content)
    tensors = (*content.get("inputs", ()), *content.get("outputs", ()))
    arrays = (t.data if isinstance(t, TensorSpec) else t for t in tensors)
    return header, b"".join(np.asarray(array).tobytes() for array in arrays)


def test_truncated_file(tmp_path: Path) -> None:
    a = np.array([1, 2, 3, 4], np.float32)
    b = np.array([5, -6, 7, 8], np.float32)
    header, payload = header_and_payload(inputs=[a], outputs=[b, a])
    table = one_file(tmp_path, header + payload[:27])
    assert column(table, "status") == ["ok", "truncated", "truncated"]
    assert column(table, "count") == [4, 2, 0]
    assert column(table, "nbytes") == [16, 16, 16]
    assert [(r.max, r.min, r.mean) for r in table] == [(4, 1, 2.5), (5, -6, -0.5), (None,) * 3]
    assert "27" not in table["note"][1]
    assert "11" in table["note"][1]  # bytes of it that are there
    assert list(table.bad) == [False, True, True]


def test_tensor_whose_bytes_were_never_written(tmp_path: Path) -> None:
    """The device skips the bytes of a tensor without an address, but not its size."""
    a = np.array([1, 2], np.float32)
    b = np.array([5, -6, 7], np.float32)
    specs = [TensorSpec(a, address=4096), TensorSpec(b, address=0), TensorSpec(b, address=8192)]
    header = dump_header(outputs=specs)
    table = one_file(tmp_path, header + a.tobytes() + b.tobytes())
    assert column(table, "status") == ["ok", "absent", "ok"]
    assert column(table, "offset") == [len(header), len(header) + 8, len(header) + 8]
    assert [(r.count, r.max, r.min) for r in table] == [(2, 2, 1), (None, None, None), (3, 7, -6)]
    assert "address" in table["note"][1]


def test_size_and_shape_that_disagree(tmp_path: Path) -> None:
    values = np.array([1, 2, 3, 4, 100], np.float32)
    cases = {
        # shape, size: status, elements, largest
        ((2, 2), 20): ("size_mismatch", 4, 4),
        ((10,), 20): ("size_mismatch", 5, 100),
        ((5,), 20): ("ok", 5, 100),
        ((), 20): ("ok", 5, 100),
        ((), 4): ("ok", 1, 1),
        ((-1, 5), 20): ("ok", 5, 100),
        ((0, 3), 20): ("size_mismatch", 0, None),
        ((0, 3), 0): ("ok", 0, None),
        ((1 << 32, 1 << 32), 20): ("size_mismatch", 5, 100),
        ((1 << 62, 4), 20): ("size_mismatch", 5, 100),
        ((5,), 18): ("size_mismatch", 4, 4),
        ((), 18): ("size_mismatch", 4, 4),
        ((-2,), 20): ("size_mismatch", 5, 100),
        ((2,), 6): ("size_mismatch", 1, 1),
    }
    for (shape, size), expected in cases.items():
        spec = TensorSpec(values.tobytes()[:size], "FLOAT", shape=shape)
        (row,) = one_file(tmp_path, dump_header(outputs=[spec]) + bytes(spec.data))
        assert (row.status, row.count, row.max) == expected, (shape, size)
        if row.status == "size_mismatch" or row.shape != tuple(shape):
            assert row.note, (shape, size)


def test_type_without_an_encoding(tmp_path: Path) -> None:
    specs = [TensorSpec(b"text", "STRING"), TensorSpec(b"1234", 99), TensorSpec(b"12")]
    table = one_file(
        tmp_path, dump_header(inputs=specs, outputs=[ONES]) + b"text123412" + bytes(ONES)
    )
    assert column(table, "status") == ["unsupported"] * 3 + ["ok"]
    assert column(table, "nbytes") == [4, 4, 2, 16]
    assert column(table, "max") == [None, None, None, 1]
    assert all(table["note"][:3])
    assert not table.bad.any()


def test_trailing_bytes_are_noted(tmp_path: Path) -> None:
    content = dump_header(outputs=[ONES]) + bytes(ONES)
    (row,) = one_file(tmp_path, content)
    assert (row.status, row.note) == ("ok", None)
    (row,) = one_file(tmp_path, content + bytes(13))
    assert (row.status, row.count, row.max) == ("ok", 4, 1)
    assert "13 trailing bytes" in row.note


def test_an_appended_dump_gives_rows_too(tmp_path: Path) -> None:
    """The writer appends to a file that exists."""
    first = dump_header(outputs=[ONES]) + bytes(ONES)
    second = dump_header(inputs=[5 * ONES], outputs=[7 * ONES]) + bytes(5 * ONES) + bytes(7 * ONES)
    (tmp_path / STD).write_bytes(first + second + first + b"rest")
    table = fastdump.stats(tmp_path)
    assert column(table, "io") == ["output", "input", "output", "output"]
    assert column(table, "max") == [1, 5, 7, 1]
    assert set(column(table, "status")) == {"ok"}
    assert column(table, "offset")[-1] == 2 * len(first) + len(second) - ONES.nbytes
    notes = column(table, "note")
    assert [f"dump {i} of 3" in note for i, note in zip((1, 2, 2, 3), notes, strict=True)] == [
        False,  # "of dump 1 of 3" would be news to nobody
        True,
        True,
        True,
    ]
    assert all("4 trailing bytes" in note for note in notes)


def test_header_only(tmp_path: Path) -> None:
    (row,) = one_file(tmp_path, dump_header(op_name="a/b", dfx_message="log"))
    assert (row.status, row.op_name, row.io, row.nbytes) == ("ok", "a/b", None, None)
    assert row.note
    (row,) = one_file(tmp_path, dump_header(op_name="a/b") + b"12345")
    assert "5 trailing bytes" in row.note


@pytest.mark.parametrize("length", [0, 1000, (1 << 31) - 1, 1 << 31, 1 << 63, (1 << 64) - 1])
def test_header_length_that_cannot_be(length: int, tmp_path: Path) -> None:
    (row,) = one_file(tmp_path, length.to_bytes(8, "little") + bytes(100))
    assert (row.status, row.op_type, row.timestamp) == ("malformed", "Add", TS)
    assert str(length) in row.note


def test_header_larger_than_any_real_one(tmp_path: Path) -> None:
    path = tmp_path / STD
    path.write_bytes((1 << 30).to_bytes(8, "little"))
    os.truncate(path, 2 << 30)
    (row,) = fastdump.stats(tmp_path)
    assert row.status == "malformed"
    assert str(1 << 30) in row.note


def test_header_larger_than_the_first_read(tmp_path: Path) -> None:
    for i, size in enumerate((60_000, 70_000, 300_000, 5_000_000)):
        write_dump(
            tmp_path / name(f"Add.a{i}", ts=TS + i),
            outputs=[np.full(1000, i + 1, np.int16)],
            dfx_message="log line\n" * (size // 9),
        )
    table = fastdump.stats(tmp_path)
    assert [(row.status, row.max, row.mean) for row in table] == [
        ("ok", i, i) for i in (1, 2, 3, 4)
    ]


def test_empty_tensors(tmp_path: Path) -> None:
    (row,) = one_file(tmp_path, dump_header(outputs=[np.zeros((3, 0), np.float64)]))
    assert (row.status, row.count, row.shape, row.l2norm) == ("ok", 0, (3, 0), 0)
    assert (row.max, row.min, row.mean, row.first_bad) == (None,) * 4
    assert (row.nan, row.zero) == (0, 0)


# Progress and interruption

HUGE = 1 << 38  # bytes; a sparse file that no machine reads before a test is over


@pytest.fixture
def huge_dump(tmp_path: Path) -> Iterator[Path]:
    """Return a file that takes minutes to scan, unless it is truncated or the scan is stopped."""
    path = tmp_path / STD
    spec = TensorSpec(b"", "FLOAT", shape=(HUGE // 4,), size=HUGE)
    path.write_bytes(dump_header(outputs=[spec]))
    try:
        os.truncate(path, HUGE)
    except OSError as error:
        pytest.skip(f"no sparse file of {HUGE} bytes here: {error}")
    yield path
    os.truncate(path, 0)


def test_progress_ends_with_everything(tmp_path: Path) -> None:
    n_bytes = 0
    for i in range(20):
        path = write(
            tmp_path / name(f"Add.a{i}"), outputs=[ONES, np.full(3, np.nan)], inputs=[ONES]
        )
        n_bytes += path.stat().st_size
    (tmp_path / name("Add.bad")).write_bytes(b"rubbish")
    (tmp_path / "notes").write_text("text")
    seen: list[fastdump.Progress] = []
    table = fastdump.stats(tmp_path, progress=seen.append)
    last = seen[-1]
    assert not last.walking
    assert (last.files_found, last.files_done) == (22, 22)
    assert last.bytes_done >= n_bytes
    assert last.tensors == 60 == len(table) - 1
    assert last.bad == 21 == table.bad.sum()
    for before, after in itertools.pairwise(seen):
        assert before.bytes_done <= after.bytes_done
        assert before.files_done <= after.files_done


class StopHereError(Exception):
    pass


@pytest.mark.parametrize("error", [StopHereError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("engine", ["mmap", "read", "auto"])
def test_an_exception_from_the_callback_stops_the_scan(
    error: type[BaseException], engine: str, huge_dump: Path
) -> None:
    raised = error("enough")
    last: list[fastdump.Progress] = []

    def stop(progress: fastdump.Progress) -> None:
        last.append(progress)
        raise raised

    n_threads, n_tasks = threading.active_count(), count_tasks()
    with pytest.raises(error) as caught:
        fastdump.stats(huge_dump, progress=stop, engine=engine)
    assert caught.value is raised
    assert len(last) == 1
    assert last[0].bytes_done < HUGE
    # Fewer if a thread of something else was still ending.
    assert threading.active_count() <= n_threads
    assert has_at_most(n_tasks)


def has_at_most(n_tasks: int) -> bool:
    """Tell whether so many threads are left; one that was joined may be listed a little longer."""
    for _ in range(1_000_000):
        if count_tasks() <= n_tasks:
            return True
        os.sched_yield()
    return False


def count_tasks() -> int:
    """Return how many threads this process has; 0 if the system does not tell."""
    tasks = Path("/proc/self/task")
    return len(list(tasks.iterdir())) if tasks.is_dir() else 0


def new_table_scan(path: Path) -> TableScan:
    paths = [os.fsencode(path)]
    return TableScan(paths, fastdump.Selection(), level="basic", threads=2, engine="read")


def new_scan(path: Path) -> _core.Scan:
    return new_table_scan(path)._scan


def test_what_was_finished_before_an_interruption_can_be_read(huge_dump: Path) -> None:
    for i in range(5):
        write(huge_dump.with_name(name("Aaa.small", ts=TS + i)))  # before the huge one by name
    table_scan = new_table_scan(huge_dump.parent)
    scan = table_scan._scan

    def stop(progress: _core.Progress) -> None:
        if progress.files_done >= 5 and progress.bytes_done > 1 << 23:
            raise StopHereError

    with pytest.raises(StopHereError):
        scan.run(stop, 0)
    table = table_scan.table()
    assert column(table, "op_type") == ["Aaa"] * 5
    assert column(table, "max") == [1] * 5
    done = scan.progress().bytes_done
    assert done < HUGE
    assert scan.progress().bytes_done == done


def test_ctrl_c_stops_the_scan(huge_dump: Path) -> None:
    scan = new_scan(huge_dump)

    def interrupt() -> None:
        while scan.progress().bytes_done == 0:
            pass
        _thread.interrupt_main()

    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        scan.run(None, 0.1)
    helper.join()
    assert 0 < scan.progress().bytes_done < HUGE


def test_results_are_there_when_the_scan_has_ended(huge_dump: Path) -> None:
    scan = new_scan(huge_dump)
    refused = []

    def ask(progress: _core.Progress) -> None:
        for result in (scan.table, scan.skipped):
            with pytest.raises(RuntimeError, match="has not ended"):
                result()
            refused.append(result)
        raise StopHereError

    with pytest.raises(StopHereError):
        scan.run(ask, 0)
    assert len(refused) == 2
    assert pa.record_batch(scan.table()).num_rows == 0
    assert scan.skipped() == {}
    with pytest.raises(RuntimeError, match="runs once"):
        scan.run(None, 1)


def test_a_scan_whose_table_was_taken_never_runs(huge_dump: Path) -> None:
    scan = new_scan(huge_dump)
    assert pa.record_batch(scan.table()).num_rows == 0
    with pytest.raises(RuntimeError, match="runs once"):
        scan.run(None, 1)


def test_the_table_of_a_scan_can_be_taken_again(tmp_path: Path) -> None:
    """The rows that threads found are gone after the first time; the scan has a table then."""
    for i in range(5):
        write(tmp_path / name(f"op{i}", ts=TS + i))
    table_scan = new_table_scan(tmp_path)
    table_scan.run()
    first = pa.table(table_scan.table())
    assert first.num_rows == 5
    assert pa.table(table_scan.table()).equals(first)


def test_other_python_threads_run_while_a_scan_runs(huge_dump: Path) -> None:
    """Without releasing the GIL this thread would see no progress, or only all of it."""
    table_scan = new_table_scan(huge_dump)
    scan = table_scan._scan
    helper = threading.Thread(target=scan.run, args=(None, 0.1))
    helper.start()
    seen = set()
    while len(seen) < 20 and helper.is_alive():
        seen.add(scan.progress().bytes_done)
    os.truncate(huge_dump, 1 << 20)  # now the rest is soon done
    helper.join()
    assert len(seen) == 20
    (row,) = table_scan.table()
    assert row.status == "changed"


def test_two_scans_at_the_same_time(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for number, path in enumerate(paths):
        for i in range(30):
            write_dump(path / name(f"Add.a{i}", ts=TS + i), outputs=[np.full(50_000, number + i)])
    expected = [list(fastdump.stats(path)) for path in paths]
    found: list[list[fastdump.StatsRow]] = [[], []]

    def scan(k: int) -> None:
        for _ in range(5):
            found[k] = list(fastdump.stats(paths[k], threads=2))

    helpers = [threading.Thread(target=scan, args=(k,)) for k in (0, 1)]
    for helper in helpers:
        helper.start()
    for helper in helpers:
        helper.join()
    assert found == expected
