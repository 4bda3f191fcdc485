"""fastdump.open: which files are listed, in which order, how they are found, and what is read."""

from __future__ import annotations

import _thread
import ctypes
import gc
import os
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import Dump, Operator
from fastdump._tensor.dump_file import DumpFile
from fastdump.testing import BufferSpec, dump_header, write_dump

TS = 1_700_000_000_000_000
TIME = "20260101120000"
ONES = np.ones(4, np.float32)
HALF = np.ones((2, 3), np.float16)
WHERE = ("rank", "time", "device", "model", "model_id", "step")
NAME = ("op_type", "op_name", "task_id", "stream_id", "timestamp", "context_id", "thread_id")


def name(op: str = "Add.add", task: int = 1, stream: int = 2, ts: int = TS) -> str:
    return f"{op}.{task}.{stream}.{ts}"


def write(path: Path, **content: Any) -> Path:
    return write_dump(path, **(content or {"outputs": [ONES]}))


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def relative(dump: Dump) -> list[str]:
    return [op.relative for op in dump]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return the dump of two ranks, two steps and three operators, with real headers."""
    for rank in (1, 0):
        for step in (10, 9):
            where = tmp_path / f"worldsize2_global_rank{rank}/{TIME}/{rank}/net/1/{step}"
            ts = TS + 1000 * step + rank
            write(where / name("MatMulV2.layers_1_q", ts=ts + 1), inputs=[HALF], outputs=[ONES])
            write(
                where / name("Add.layers_1_Add", ts=ts + 2), op_name="layers.1/Add", inputs=[HALF]
            )
            write(where / name("Cast.layers_2_Cast", ts=ts), outputs=[HALF])
    return tmp_path


# What names and directories tell

TREES = {
    # acl.json: models, single operators
    f"{TIME}/0/resnet/1/3": (None, TIME, 0, "resnet", 1, 3),
    f"{TIME}/7": (None, TIME, 7, None, None, None),
    # torchair: graph mode, FX graphs
    f"worldsize16_global_rank11/{TIME}/3/m/1/0": (11, TIME, 3, "m", 1, 0),
    "worldsize16_global_rank11/graph_2/5": (11, None, None, "graph_2", None, 5),
    # exceptions
    "extra-info/data-dump/2": (None, None, 2, None, None, None),
    # MindSpore: kernel by kernel, through acl; msprobe
    "rank_5/LeNet/7/12": (5, None, None, "LeNet", 7, 12),
    f"4/{TIME}/1/LeNet/2/9": (None, TIME, 1, "LeNet", 2, 4),
    f"rank_6/{TIME}/step_8": (6, TIME, None, None, None, 8),
    "a/b": (None,) * 6,
    "": (None,) * 6,
}


@pytest.mark.parametrize("directory", TREES)
def test_what_directories_tell(directory: str, tmp_path: Path) -> None:
    file = touch(tmp_path / directory / name())
    (op,) = fastdump.open(tmp_path)
    assert tuple(getattr(op, key) for key in WHERE) == TREES[directory]
    assert op.path == str(file)
    assert op.relative == str(file.relative_to(tmp_path))


NAMES = {
    name(): ("operator", ("Add", "add", 1, 2, TS, None, None)),
    "Pooling.pool1.1147.1589195081588018": (
        "operator",
        ("Pooling", "pool1", 1147, None, 1589195081588018, None, None),
    ),
    f"Conv2D.op.1.7.{TS}.4.11.2.5": ("operator", ("Conv2D", "op", 1, 7, TS, 11, 2)),
    # aic_err_norm_dump
    "Add.add.12.20260101120000123": (
        "operator",
        ("Add", "add", 12, None, 20260101120000123, None, None),
    ),
    f"OpDebug.Node_Opdebug.1.7.{TS}": (
        "op_debug",
        ("OpDebug", "Node_Opdebug", 1, 7, TS, None, None),
    ),
    # stream before task, no operator
    "exception_info.5.1.20260101120000123": (
        "exception",
        (None, None, 1, 5, 20260101120000123, None, None),
    ),
    "my.data.custom.20260101120000123": (
        "custom",
        (None, "my.data", None, None, 20260101120000123, None, None),
    ),
    "9134657216587341217": ("digits", (None,) * 7),
    f"{name()}.csv": ("statistics", ("Add", "add", 1, 2, TS, None, None)),
    "statistic.csv": ("statistics", (None,) * 7),
    f"{name()}.output.0.npy": ("converted", ("Add", "add", 1, 2, TS, None, None)),
    f"{name('Add.Default_Add-op0')}.input.1.DefaultFormat.float32.npy": (
        "converted",
        ("Add", "Default_Add-op0", 1, 2, TS, None, None),
    ),
    "add_1-aten.add.Tensor.INPUT.0.20260101120000123456.npy": (
        "converted",
        ("aten.add.Tensor", "add_1", None, None, 20260101120000123, None, None),
    ),
    "9134657216587341217.output.0.npy": ("converted", (None,) * 7),
}


@pytest.mark.parametrize("file_name", NAMES)
def test_what_file_names_tell(file_name: str, tmp_path: Path) -> None:
    touch(tmp_path / file_name)
    (op,) = fastdump.open(tmp_path)
    assert (op.kind, tuple(getattr(op, key) for key in NAME)) == NAMES[file_name]


def test_the_device_is_in_some_names_too(tmp_path: Path) -> None:
    touch(tmp_path / f"Conv2D.op.1.7.{TS}.4.11.2.5")
    touch(tmp_path / TIME / "3" / f"Conv2D.op.1.7.{TS}.4.11.2.5")
    assert {op.device for op in fastdump.open(tmp_path)} == {3, 5}


def test_other_files_are_counted(tmp_path: Path) -> None:
    touch(tmp_path / name())
    for other in ("notes.txt", "model.onnx", "a.output.0.bin", "a.output.0.pt", "mapping.csv"):
        touch(tmp_path / other)
    touch(tmp_path / "k.1.2.20260101120000123.core")
    (tmp_path / "link").symlink_to(tmp_path / name())
    os.mkfifo(tmp_path / name("Add.fifo"))
    dump = fastdump.open(tmp_path)
    assert relative(dump) == [name()]
    assert dump.skipped == {
        "ELF core": 1,
        "FIFO": 1,
        "converted file": 2,
        "name of no known kind": 2,
        "symbolic link": 1,
    }
    assert dump.select(op_type="Mul").skipped == dump.skipped


def test_links_are_followed_on_request(tmp_path: Path) -> None:
    touch(tmp_path / "a" / name())
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "link").symlink_to(tmp_path / "a")
    with pytest.raises(fastdump.NoDumpError, match="1 symbolic link"):
        fastdump.open(tmp_path / "b")
    assert relative(fastdump.open(tmp_path / "b", follow_links=True)) == [f"link/{name()}"]


@pytest.mark.parametrize("file_name", ["whatever", "mapping.csv", "a.output.0.bin"])
def test_a_path_that_is_a_file_is_listed_whatever_its_name(file_name: str, tmp_path: Path) -> None:
    path = write(tmp_path / file_name)
    (op,) = fastdump.open(path)
    assert op.relative == file_name
    assert [t.shape for t in op.outputs] == [(4,)]


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "d" / TIME / "0" / name())
    monkeypatch.chdir(tmp_path)
    (op,) = fastdump.open("d")
    assert (op.path, op.device) == (f"d/{TIME}/0/{name()}", 0)
    assert len(op.outputs) == 1
    monkeypatch.chdir(tmp_path / "d" / TIME / "0")
    (op,) = fastdump.open(name())
    assert (op.path, op.device, len(op.outputs)) == (name(), 0, 1)


def test_several_paths(tmp_path: Path) -> None:
    paths = [touch(tmp_path / folder / name()).parent for folder in "ba"]
    dump = fastdump.open(iter(paths))
    assert relative(dump) == [str(tmp_path / folder / name()) for folder in "ba"]
    assert len({*dump}) == 2


def test_nothing_to_open(tmp_path: Path) -> None:
    with pytest.raises(fastdump.NoDumpError, match=r"no dump file in '.*'$"):
        fastdump.open(tmp_path)
    touch(tmp_path / "notes.txt")
    with pytest.raises(fastdump.NoDumpError, match="1 name of no known kind"):
        fastdump.open(str(tmp_path))
    with pytest.raises(FileNotFoundError, match="absent"):
        fastdump.open(tmp_path / "absent")
    with pytest.raises(ValueError, match="null byte"):
        fastdump.open("a\0b")
    with pytest.raises(ValueError, match="empty"):
        fastdump.open([])


# Names from mapping.csv, hostile names


def test_long_names_are_resolved(tmp_path: Path) -> None:
    long_name = name(f"Add.{'layers_' * 40}Add")
    assert len(long_name) > 255
    stored = write(tmp_path / long_name)
    assert stored.name.isdecimal()
    (op,) = fastdump.open(tmp_path)
    assert (op.kind, op.op_type, op.task_id) == ("operator", "Add", 1)
    assert op.op_name == "layers_" * 40 + "Add"
    assert op.path == str(stored)
    assert fastdump.open(tmp_path)[op.op_name] == op


def test_names_of_255_bytes(tmp_path: Path) -> None:
    file_name = name(f"Add.{'n' * (255 - len(name('Add.')))}")
    assert len(file_name) == 255
    write(tmp_path / file_name)
    (op,) = fastdump.open(tmp_path)
    assert op.relative == file_name
    assert len(op.outputs) == 1


def test_a_mapping_leads_nowhere_else(tmp_path: Path) -> None:
    root = tmp_path / "root"
    outside = write(tmp_path / name("Add.outside"))
    names = [f"../{outside.name}", str(outside), "..", ".", "mapping.csv", "", "notes"]
    lines = [f"{1111111111 * (i + 1)},{mapped}" for i, mapped in enumerate(names)]
    for line in lines:
        write(root / line.partition(",")[0], inputs=[HALF])
    (root / "mapping.csv").write_text("\n".join(lines) + "\n")
    dump = fastdump.open(root)
    assert len(dump) == len(names)
    for op in dump:
        assert Path(op.path).parent == root
        assert Path(op.path).name.isdecimal()
        assert len(op.inputs) == 1
    assert sum(op.kind == "digits" for op in dump) == len(names) - 2


HOSTILE = [
    b"Add.esc\x1b[31mred.1.2.1700000000000000",
    b"Add.line\nfeed\ttab.1.2.1700000000000000",
    b"Add.not\xff\xfeutf8.1.2.1700000000000000",
    "Add.\u202eevil\u2028.1.2.1700000000000000".encode(),
    b"Add.$(reboot);'\".1.2.1700000000000000",
]


@pytest.mark.parametrize("file_name", HOSTILE, ids=repr)
def test_hostile_names(file_name: bytes, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/" + file_name
    try:
        Path(os.fsdecode(path)).write_bytes(dump_header(outputs=[ONES]) + ONES.tobytes())
    except OSError as error:
        pytest.skip(f"no file of this name here: {error}")
    (op,) = dump = fastdump.open(tmp_path)
    assert os.fsencode(op.path) == path
    assert op.op_name is not None
    assert op.op_name.encode()  # it is text
    assert repr(op).isprintable()
    assert [t.shape for t in op.outputs] == [(4,)]
    assert dump[op.op_name] is op
    assert op.op_name in dump
    assert len(dump.select(op_name="*")) == 1
    (row,) = fastdump.stats(tmp_path)
    assert (row.path, row.op_name) == (op.relative, op.op_name)


def test_a_root_named_dot_dot(tree: Path) -> None:
    inside = next(path for path in tree.rglob("9") if path.is_dir())
    (op, *_) = fastdump.open(inside / ".." / "9")
    assert op.step == 9
    assert len(op.outputs) == 1


# A sequence


def test_the_order_is_that_of_execution(tree: Path) -> None:
    dump = fastdump.open(tree)
    assert [(op.rank, op.step, op.op_type) for op in dump] == [
        (rank, step, op_type)
        for rank in (0, 1)
        for step in (9, 10)
        for op_type in ("Cast", "MatMulV2", "Add")
    ]
    table = fastdump.stats(tree)
    assert relative(dump) == list(dict.fromkeys(table["path"]))


def test_sequence(tree: Path) -> None:
    dump = fastdump.open(tree)
    ops = list(dump)
    assert len(dump) == 12
    assert [dump[i] for i in range(-12, 12)] == ops * 2
    assert dump[np.int64(3)] is dump[3]
    assert list(reversed(dump)) == ops[::-1]
    assert dump.index(ops[5]) == 5
    assert dump.count(ops[5]) == 1
    for key in (slice(2, 5), slice(None, None, -1), slice(-3, None), slice(1, 11, 3), slice(5, 2)):
        part = dump[key]
        assert isinstance(part, Dump)
        assert list(part) == ops[key]
        assert len(part) == len(ops[key])
    backwards = dump[::-2]
    assert list(backwards.select(rank=0)) == ops[::-2][3:]
    assert backwards.summary()["files"] == 6
    assert ops[2] in dump
    assert ops[2] not in dump[3:]
    assert ops[2] in fastdump.open(tree)
    assert 7 not in dump
    for number in (12, -13, 1 << 40):
        with pytest.raises(IndexError, match=rf"no operator {number}\b.* 12$"):
            dump[number]
    with pytest.raises(TypeError):
        dump[1.5]  # type: ignore[call-overload]


def test_an_operator_that_is_in_use_is_made_once(tree: Path) -> None:
    dump = fastdump.open(tree)
    op = dump[4]
    assert dump[4] is op
    assert dump.select(step=op.step)[1] is op
    gone = weakref.ref(op)
    del op
    gc.collect()
    assert gone() is None


def test_headers_that_nobody_uses_are_not_kept(tree: Path) -> None:
    dump = fastdump.open(tree)
    assert sum(len(op.tensors) for op in dump) == 16
    gc.collect()
    # By type(): isinstance() asks lazy modules of other packages for their class.
    assert not [known for known in gc.get_objects() if type(known) is DumpFile]


# Selecting by names


def test_select(tree: Path) -> None:
    touch(tree / "rank_7" / "exception_info.2.1.20260101120000123")
    dump = fastdump.open(tree)

    def count(**conditions: Any) -> int:
        selected = dump.select(**conditions)
        ops = list(dump)
        assert list(selected) == [op for op in ops if op in set(selected)]  # the order stays
        return len(selected)

    assert count() == 13
    assert count(rank=0) == 6
    assert count(rank=[0, 7]) == 7
    assert count(rank=5) == 0
    assert count(device=(1,)) == 6
    assert count(model="n?t") == 12
    assert count(model=["x", "net"]) == 12
    assert count(model_id=1) == 12
    assert count(step=range(10)) == 6
    assert count(time=f"{TIME[:4]}*") == 12
    assert count(op_type="MatMul*") == 4
    assert count(op_type="matmul*") == 0
    assert count(op_type=["Add", "Cast"], rank=1, step=9) == 2
    assert count(op_name="layers_1_*") == 8
    assert count(op_name="layers.1/*") == 8
    assert count(op_name=["layers.1/Add", "layers 2 Cast"]) == 8
    assert count(op_name="[a-m]*") == 12
    assert len(dump.select(rank=0).select(step=9).select(op_name="*q")) == 1
    assert not dump.select(rank=5)
    assert dump.select(rank=5).summary()["files"] == 0


@pytest.mark.parametrize(
    ("conditions", "error"),
    [
        ({"rank": "first"}, ValueError),
        ({"tensor": "input"}, TypeError),
        ({"rank": []}, ValueError),
        ({"step": 1 << 63}, ValueError),
        ({"step": 1.5}, TypeError),
        ({"op_type": 3}, TypeError),
        ({"op_name": []}, ValueError),
        ({"io": "outputs"}, ValueError),
        ({"dtype": [1]}, TypeError),
    ],
    ids=str,
)
def test_select_refuses(conditions: dict[str, Any], error: type[Exception], tree: Path) -> None:
    with pytest.raises(error, match=next(iter(conditions))):
        fastdump.open(tree).select(**conditions)


def test_summary(tree: Path) -> None:
    touch(tree / "rank_7" / "exception_info.2.1.20260101120000123")
    touch(tree / f"{name('Add.x', ts=TS - 5)}.csv")
    dump = fastdump.open(tree)
    assert dump.summary() == {
        "files": 14,
        "operators": 4,
        "ranks": [0, 1, 7],
        "times": [TIME],
        "devices": [0, 1],
        "models": ["net"],
        "steps": [9, 10],
        "op_types": {"Add": 5, "Cast": 4, "MatMulV2": 4},
        "kinds": {"exception": 1, "operator": 12, "statistics": 1},
        "first_timestamp": TS - 5,
        "last_timestamp": TS + 10003,
    }
    exceptions = dump.select(rank=7).summary()
    assert exceptions["first_timestamp"] == exceptions["last_timestamp"] == 20260101120000123
    assert dump[:0].summary()["first_timestamp"] is None


def test_repr(tree: Path) -> None:
    dump = fastdump.open(tree)
    assert repr(dump) == f"Dump({str(tree)!r}, 12 files, 3 operators, ranks 0-1, steps 9-10)"
    assert repr(dump[:1]) == f"Dump({str(tree)!r}, 1 file, 1 operator, rank 0, step 9)"
    unread = dump.select(dtype="float16")
    assert repr(unread) == f"Dump({str(tree)!r}, up to 12 files: headers unread)"
    op = dump[0]
    assert (
        repr(op)
        == f"Operator({op.relative!r}, op_type='Cast', op_name='layers_2_Cast', rank=0, step=9)"
    )


# By name


def test_by_name(tree: Path) -> None:
    step = fastdump.open(tree).select(rank=0, step=9)
    op = step["layers_1_Add"]
    assert (op.op_type, op.op_name) == ("Add", "layers_1_Add")
    assert step["layers.1/Add"] is op
    assert step["layers.1.Add"] is op  # one in file names, and nothing was read to tell
    assert op.header["op_name"] == "layers.1/Add"
    assert op.op_name == "layers.1/Add"
    assert step["layers.1/Add"] is op
    assert "layers.1/Add" in step
    assert "layers_1_Ad" not in step
    assert "" not in step


def test_a_name_in_several_places(tree: Path) -> None:
    dump = fastdump.open(tree)
    with pytest.raises(fastdump.OperatorNotFoundError, match="4 times") as caught:
        dump["layers.1/Add"]
    # The message shows a selection that works.
    selection = str(caught.value).partition("as in ")[2]
    assert eval(selection, {"dump": dump}) == dump.select(rank=0, step=9)["layers.1/Add"]
    assert "layers.1/Add" in dump


def test_several_executions_at_one_place(tmp_path: Path) -> None:
    for ts in (TS + 7, TS + 3, TS + 5):
        write(tmp_path / name("Add.a", ts=ts))
    touch(tmp_path / f"{name('Add.a', ts=TS + 3)}.csv")
    dump = fastdump.open(tmp_path)
    with pytest.raises(fastdump.OperatorNotFoundError, match="4 files") as caught:
        dump["a"]
    # The message shows how to choose.
    choice = str(caught.value).partition("as in ")[2]
    assert eval(choice, {"dump": dump}).relative == name("Add.a", ts=TS + 3)


def test_real_names_that_are_one_in_file_names(tmp_path: Path) -> None:
    for i, real in enumerate(["a.b", "a/b", "a b", "a_b"]):
        write(tmp_path / name("Add.a_b", ts=TS + i), op_name=real, outputs=[ONES[:i]])
    touch(tmp_path / name("Add.a_b", ts=TS + 9))  # no dump: tells no name
    dump = fastdump.open(tmp_path)
    for i, real in enumerate(["a.b", "a/b", "a b"]):
        assert dump[real].timestamp == TS + i
        assert dump[real].op_name == real
    assert dump["a_b"].timestamp == TS + 3
    # No such real name: it is not known which of those that files spell so is meant.
    with pytest.raises(fastdump.OperatorNotFoundError, match="several executions"):
        dump["a\\b"]


def test_names_that_only_headers_tell(tmp_path: Path) -> None:
    write(tmp_path / "1234567890", op_name="layers.1/Add")
    write(tmp_path / "1234567891", op_name="layers.2/Add")
    touch(tmp_path / "1234567892")
    dump = fastdump.open(tmp_path)
    assert dump["layers.2/Add"].relative == "1234567891"
    assert dump["layers_1_Add"].relative == "1234567890"
    assert "layers.3/Add" not in dump
    assert "" not in dump
    file = fastdump.open(write(tmp_path / "whatever", op_name="x/y"))
    assert file["x/y"].kind == "unknown"


def test_near_names(tree: Path) -> None:
    dump = fastdump.open(tree)
    with pytest.raises(KeyError) as caught:
        dump["layers.1/Adt"]
    assert isinstance(caught.value, fastdump.FastdumpError)
    message = str(caught.value)
    assert message.startswith("no operator is called 'layers.1/Adt'")
    assert "'layers_1_Add'" in message
    with pytest.raises(KeyError, match=r"near it are 'layers_2_Cast'$"):
        dump["2/cast"]  # a part of it
    with pytest.raises(KeyError, match=r"steps 9-10\)$"):
        dump["nothing like it"]


# Headers


def test_what_headers_tell(tmp_path: Path) -> None:
    write(
        tmp_path / name(),
        inputs=[HALF, ONES],
        outputs=[ONES],
        buffers=[BufferSpec(b"abc")],
        spaces=[BufferSpec(b"de")],
        op_name="layers.1/Add",
    )
    (op,) = fastdump.open(tmp_path)
    assert op.op_name == "add"
    assert [(t.io, t.index) for t in op.inputs] == [("input", 0), ("input", 1)]
    assert op.op_name == "layers.1/Add"
    assert [t.io for t in op.outputs + op.buffers + op.spaces] == ["output", "buffer", "space"]
    assert [t.io for t in op.tensors] == ["input", "input", "output", "buffer", "space"]
    assert op.appended == []
    assert op.header["file_nbytes"] == Path(op.path).stat().st_size
    assert "tensors" not in op.header
    with pytest.raises(TypeError):
        op.header["version"] = "3"  # type: ignore[index]
    assert op.inputs[0] is op.inputs[0]
    op.inputs.clear()
    assert len(op.inputs) == 2


def test_a_header_without_a_name_leaves_that_of_the_file(tmp_path: Path) -> None:
    write(tmp_path / name())
    (op,) = fastdump.open(tmp_path)
    assert op.header["op_name"] == ""
    assert op.op_name == "add"


def test_select_by_tensors(tree: Path) -> None:
    dump = fastdump.open(tree)
    assert {op.op_type for op in dump.select(io="input")} == {"MatMulV2", "Add"}
    assert {op.op_type for op in dump.select(io="output", dtype="float16")} == {"Cast"}
    assert {op.op_type for op in dump.select(dtype="float32")} == {"MatMulV2"}
    assert len(dump.select(dtype=["float16", "float32"])) == 12
    assert len(dump.select(dtype="float*", rank=0, op_type="Cast")) == 2
    assert len(dump.select(io="buffer")) == 0
    assert len(dump.select(rank=5, dtype="*")) == 0
    # One after the other, as at once: one tensor has to meet both.
    both = dump.select(io="output").select(dtype="float16")
    assert {op.op_type for op in both} == {"Cast"}
    assert len(dump.select(io="input", dtype="float32")) == 0
    some = dump[::-2].select(io="output")
    assert [op for op in dump[::-2] if op.outputs] == list(some)
    assert some.summary()["files"] == len(some) > 0


def test_files_that_cannot_be_read_have_no_tensors(tree: Path) -> None:
    dump = fastdump.open(tree)
    Path(dump[0].path).write_bytes(b"rubbish")
    Path(dump[1].path).unlink()
    assert list(dump.select(dtype="*")) == list(dump)[2:]
    assert list(dump.select(io="input")) == [op for op in list(dump)[2:] if op.inputs]
    with pytest.raises(fastdump.DumpFormatError, match="layers_2_Cast"):
        _ = dump[0].outputs
    with pytest.raises(FileNotFoundError) as caught:
        _ = dump[1].header
    assert caught.value.filename == dump[1].path
    assert dump[1].op_name == "layers_1_q"


# Operators are records


def test_operators_are_frozen(tree: Path) -> None:
    op = fastdump.open(tree)[0]
    for attribute in (*WHERE, *NAME, "path", "relative", "kind", "header", "new"):
        with pytest.raises(AttributeError):
            setattr(op, attribute, 1)
    with pytest.raises(AttributeError):
        del op.path
    with pytest.raises(AttributeError):
        _ = op.__dict__


def test_operators_are_compared_by_their_files(tree: Path) -> None:
    first, second = fastdump.open(tree)[:2]
    again = fastdump.open(tree)[0]
    assert first == again
    assert hash(first) == hash(again)
    assert first != second
    assert first != first.path
    (file,) = fastdump.open(os.path.relpath(first.path))
    assert file.path != first.path
    assert file == first
    assert hash(file) == hash(first)


# Closing


def test_closing(tree: Path) -> None:
    dump = fastdump.open(tree)
    part = dump.select(rank=0)
    unread = dump.select(dtype="float16")
    op, other = dump[0], dump[1]
    tensor = op.outputs[0]
    with part as entered:
        assert entered is part
    assert dump.closed
    assert part.closed
    for use in (
        lambda: dump[0],
        lambda: dump[:1],
        lambda: dump["layers_1_q"],
        lambda: next(iter(dump)),
        lambda: dump.select(rank=0),
        lambda: dump.summary(),
        lambda: "x" in dump,
        lambda: len(unread),
        lambda: op.header,
        lambda: op.outputs,
        lambda: other.inputs,
        lambda: tensor.raw(),
        lambda: dump.__enter__(),
    ):
        with pytest.raises(fastdump.ClosedDumpError, match="closed"):
            use()
    assert len(dump) == 12
    assert dump.skipped == {}
    assert repr(dump) == f"Dump({str(tree)!r}, closed)"
    assert (op.step, op.op_name) == (9, "layers_2_Cast")
    dump.close()
    assert issubclass(fastdump.ClosedDumpError, (fastdump.FastdumpError, ValueError))


def test_arrays_stay_valid_after_closing(tree: Path) -> None:
    with fastdump.open(tree) as dump:
        tensor = dump[0].outputs[0]
        array = np.asarray(tensor)
    assert array.tolist() == HALF.tolist()
    with pytest.raises(fastdump.ClosedDumpError):
        np.asarray(tensor)


def test_a_tensor_outlives_its_operator_and_is_closed_all_the_same(tree: Path) -> None:
    dump = fastdump.open(tree)
    tensor = dump[0].outputs[0]
    gc.collect()
    dump.close()
    with pytest.raises(fastdump.ClosedDumpError):
        tensor.raw()


# What is opened

IN_OPEN = 0x20
IN_ISDIR = 0x40000000


class Inotify:
    """Tells what is opened below a directory."""

    def __init__(self, libc: ctypes.CDLL, root: Path) -> None:
        self._descriptor = libc.inotify_init1(0)
        for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
            assert libc.inotify_add_watch(self._descriptor, os.fsencode(folder), IN_OPEN) >= 0

    def wait(self) -> bytes:
        """Return events, when there are some."""
        return os.read(self._descriptor, 1 << 16)

    def files(self) -> set[str]:
        """Return the names of the files that were opened since the last call."""
        os.set_blocking(self._descriptor, False)
        names = set()
        while True:
            try:
                events = self.wait()
            except BlockingIOError:
                return names
            while events:
                _, mask, _, length = struct.unpack_from("iIII", events)
                if not mask & IN_ISDIR:
                    names.add(events[16 : 16 + length].rstrip(b"\0").decode())
                events = events[16 + length :]

    def close(self) -> None:
        os.close(self._descriptor)


@pytest.fixture
def inotify() -> Iterator[Callable[[Path], Inotify]]:
    """Return a function that watches a directory."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "inotify_init1"):
        pytest.skip("this system has no inotify")
    watches: list[Inotify] = []

    def watch(root: Path) -> Inotify:
        watches.append(Inotify(libc, root))
        return watches[-1]

    yield watch
    for each in watches:
        each.close()


def test_no_file_is_opened_before_its_header_is_asked_for(
    tree: Path, inotify: Callable[[Path], Inotify]
) -> None:
    opened = inotify(tree)
    dump = fastdump.open(tree)
    ops = list(dump)
    dump.summary()
    dump.select(rank=0, device=0, step=9, op_type="*", op_name="*", model="*")
    dump.select(rank=0, step=9)["layers.1/Add"]
    assert "nothing" not in dump
    repr((dump, ops))
    dump.select(io="input", dtype="float16")
    assert opened.files() == set()
    assert len(ops[4].outputs) == 1
    assert opened.files() == {Path(ops[4].path).name}
    assert ops[4].header is not None
    assert len(ops[4].inputs) == 1
    assert opened.files() == set()
    assert len(dump.select(rank=1, dtype="float16")) == 6
    assert opened.files() == {Path(op.path).name for op in ops if op.rank == 1}


def test_only_mapping_csv_is_opened(tmp_path: Path, inotify: Callable[[Path], Inotify]) -> None:
    write(tmp_path / "a" / name(f"Add.{'x' * 255}"))
    write(tmp_path / "b" / "1234567890", op_name="from the header")
    write(tmp_path / "b" / name())
    opened = inotify(tmp_path)
    dump = fastdump.open(tmp_path)
    assert dump["x" * 255].op_type == "Add"
    assert opened.files() == {"mapping.csv"}
    # Of digits that mapping.csv does not resolve, only the header tells the name.
    assert len(dump.select(op_name="x*")) == 1
    assert opened.files() == {"1234567890"}
    assert dump["from the header"].kind == "digits"


# The walk answers Ctrl-C and lets other threads run


def test_ctrl_c_ends_the_walk(tmp_path: Path, inotify: Callable[[Path], Inotify]) -> None:
    # Five million directories to list: without an interruption there would be no error, and that
    # much later.
    for i in range(1000):
        (tmp_path / "tree" / str(i)).mkdir(parents=True)
    paths = [tmp_path / "tree"] * 5_000
    opened = inotify(tmp_path / "tree" / "999")

    def interrupt() -> None:
        opened.wait()
        _thread.interrupt_main()

    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        fastdump.open(paths)
    helper.join()
    assert caught.value.__context__ is None


# The package


def test_open_is_not_the_builtin() -> None:
    program = "import fastdump; f = fastdump.open; from fastdump import Dump; print(open is f)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ended.stdout.split() == [b"False"]
    for module in Path(fastdump.__file__).parent.rglob("*.py"):
        assert "from fastdump import *" not in module.read_text()


def test_the_classes_are_exported() -> None:
    assert fastdump.open.__module__ == "fastdump._dump.dump"
    assert fastdump.Dump is Dump
    assert fastdump.Operator is Operator
    assert {"open", "Dump", "Operator", "Tensor"} <= set(dir(fastdump))
