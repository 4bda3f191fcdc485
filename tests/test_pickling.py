"""Pickling and copying what users hold: small, and of the same worth elsewhere."""

from __future__ import annotations

import copy
import dataclasses
import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_dumps import Demos, assert_same_rows, dump_name, keys, write_unusual

import fastdump
from fastdump import Dump, Report, StatsTable, config, testing

COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "pickle 2": lambda value: pickle.loads(pickle.dumps(value, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}

copied = pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)


@pytest.fixture(scope="module")
def unusual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_unusual(tmp_path_factory.mktemp("unusual"))


def write_op(root: Path, n_elements: int, at: int = 0, name: str = "net/op") -> Path:
    path = root / dump_name(name, at)
    values = np.arange(n_elements, dtype=np.float32)
    return testing.write_dump(path, op_name=name, inputs=[values], outputs=[values * 2])


# Tensors and operators


@copied
def test_tensors(unusual: Path, copied: Callable[[Any], Any]) -> None:
    n_tensors = 0
    for op in fastdump.open(unusual).select(status=["ok", "truncated", "size_mismatch", "absent"]):
        for tensor in (t for dump in (op.tensors, *op.appended) for t in dump):
            other = copied(tensor)
            n_tensors += 1
            for name in ("name", "path", "offset", "status", "note", "shape", "dtype", "format"):
                assert getattr(other, name) == getattr(tensor, name), name
            assert repr(other) == repr(tensor)
            assert other.raw().tobytes() == tensor.raw().tobytes()
            if tensor.status != "absent":
                assert np.asarray(other).tobytes() == np.asarray(tensor).tobytes()
    assert n_tensors > 30


@copied
def test_operators(demos: Demos, copied: Callable[[Any], Any]) -> None:
    dump = fastdump.open(demos.model)
    joined = dump.select(rank=0, step=1)["loss/AllReduce"]
    assert len(joined.paths) == 2
    for op in (dump[0], dump[-1], joined):
        for _ in range(2):  # before the header is read, and after
            other = copied(op)
            assert other == op
            assert hash(other) == hash(op)
            for name in ("paths", "relative", "kind", "rank", "step", "op_type", "timestamp"):
                assert getattr(other, name) == getattr(op, name)
            assert [t.name for t in other.tensors] == [t.name for t in op.tensors]
            np.testing.assert_array_equal(other[op.tensors[0].name], op.tensors[0])
            assert other.op_name == op.op_name


def test_a_tensor_of_a_closed_dump_is_of_use_again(unusual: Path) -> None:
    with fastdump.open(unusual) as dump:
        tensor = dump["net/nano"]["input.0"]
        op = dump["net/nano"]
    with pytest.raises(fastdump.ClosedDumpError):
        np.asarray(tensor)
    # What is closed is one holder of files, not the files.
    assert pickle.loads(pickle.dumps(tensor)).shape == (2, 3, 4)
    assert np.asarray(pickle.loads(pickle.dumps(tensor))).sum() == pytest.approx(0, abs=1e-5)
    assert len(pickle.loads(pickle.dumps(op)).tensors) == 2


def test_paths_are_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_op(tmp_path / "dump", 8)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    dump = fastdump.open("dump")
    pickled = [pickle.dumps(value) for value in (dump, dump[0], dump[0]["output.0"])]
    monkeypatch.chdir(tmp_path / "elsewhere")
    again, op, tensor = map(pickle.loads, pickled)
    np.testing.assert_array_equal(tensor, np.arange(8) * 2)
    np.testing.assert_array_equal(op["output.0"], tensor)
    np.testing.assert_array_equal(again[0]["output.0"], tensor)


# Dumps


def parts_of(dump: Dump) -> list[Dump]:
    row_table = dump.select(op_type="RmsNorm").stats()[5:25]
    return [
        dump,
        dump.select(step=1),
        dump.select(io="output", dtype="float16"),  # which headers decide
        dump[3:200:7],
        dump[::-1],
        dump[[5, 3, 400]],
        dump[np.array([-1, 0])],
        dump[:0],
        dump.select(op_type="MatMul*")[1:50].select(io="input")[::2],
        dump.select(step=9),
        fastdump.open(row_table),
        fastdump.open(row_table).select(io="input")[1:],
    ]


@copied
def test_dumps(demos: Demos, copied: Callable[[Any], Any]) -> None:
    for part in parts_of(fastdump.open(demos.model)):
        other = copied(part)
        assert len(other) == len(part)
        assert [op.path for op in other] == [op.path for op in part]
        assert [op.relative for op in other] == [op.relative for op in part]
        assert [(t.path, t.name) for t in other.tensors()] == [
            (t.path, t.name) for t in part.tensors()
        ]
        assert (other.root, other.roots, other.skipped) == (part.root, part.roots, part.skipped)
        assert repr(other) == repr(part)


def test_a_selection_is_made_again(demos: Demos) -> None:
    part = fastdump.open(demos.model).select(io="output", op_type="RmsNorm")[2:9]
    assert_same_rows(pickle.loads(pickle.dumps(part)).stats(), part.stats())


def test_a_dump_of_several_paths(
    demos: Demos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demos.model.parent)
    dump = fastdump.open(["overflow", "watcher"])
    rows = list(fastdump.stats(["overflow", "watcher"]))
    part = fastdump.open(fastdump.stats(["overflow", "watcher"]).filter(io="output"))
    pickled = pickle.dumps(dump)
    other, other_part = pickle.loads(pickled), pickle.loads(pickle.dumps(part))
    assert [op.relative for op in other] == [op.relative for op in dump]
    assert other.tensor(rows[-1]).path == dump.tensor(rows[-1]).path
    assert keys(list(other.stats())) == keys(rows)
    assert len(list(other_part.tensors())) == len(list(part.tensors())) > 0
    monkeypatch.chdir(tmp_path)
    assert [op.path for op in pickle.loads(pickled)] == [
        str(demos.model.parent / op.path) for op in dump
    ]


def test_copies_share_files_and_pickles_do_not(unusual: Path) -> None:
    dump = fastdump.open(unusual)
    shared, other = copy.copy(dump), pickle.loads(pickle.dumps(dump))
    assert shared is not dump
    dump.close()
    assert (shared.closed, other.closed) == (True, False)
    assert pickle.loads(pickle.dumps(dump)).closed is False
    assert len(other[0].tensors) == len(fastdump.open(unusual)[0].tensors)


def test_what_has_vanished_is_an_error_when_it_is_used(tmp_path: Path) -> None:
    root = tmp_path / "dump"
    for at in range(2):
        write_op(root, 8, at, name=f"net/op{at}")
    dump = fastdump.open(root)
    op, tensor = dump[0], dump[0]["output.0"]
    table = fastdump.stats(root)
    pickled = {name: pickle.dumps(value) for name, value in locals().items() if name != "tmp_path"}
    Path(op.path).unlink()
    for name, use in (
        ("op", lambda: pickle.loads(pickled["op"]).tensors),
        ("tensor", lambda: np.asarray(pickle.loads(pickled["tensor"]))),
        ("tensor", lambda: pickle.loads(pickled["tensor"]).stats()),
        ("table", lambda: pickle.loads(pickled["table"])[0].tensor()),
    ):
        with pytest.raises(FileNotFoundError) as caught:
            use()
        assert caught.value.filename == op.path, name
    assert len(pickle.loads(pickled["dump"])) == 1  # files are looked for again
    Path(dump[1].path).unlink()
    root.rmdir()
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled["dump"])
    assert len(pickle.loads(pickled["table"])) == 4


# Sizes


def test_pickles_grow_with_neither_payload_nor_files(tmp_path: Path) -> None:
    sizes: dict[str, list[int]] = {"tensor": [], "op": [], "dump": [], "selected": [], "sliced": []}
    for n_elements, n_files in ((10, 1), (100_000, 1), (10, 200)):
        root = tmp_path / f"dump{len(sizes['tensor'])}"
        for at in range(n_files):
            write_op(root, n_elements, at)
        dump = fastdump.open(root)
        for name, value in {
            "tensor": dump[0]["output.0"],
            "op": dump[0],
            "dump": dump,
            "selected": dump.select(op_type="A*", io="output"),
            "sliced": dump[-50:],
        }.items():
            len(value.tensors if name == "op" else value)  # what is known is not taken along
            sizes[name].append(len(pickle.dumps(value)))
    for name, found in sizes.items():
        assert max(found) - min(found) <= 16, (name, found)  # numbers have more digits
        assert max(found) < 2_000, (name, found)


def test_a_table_is_about_as_large_as_its_rows(demos: Demos) -> None:
    table = fastdump.stats(demos.model)
    whole, part = len(pickle.dumps(table)), len(pickle.dumps(table[100:110]))
    assert part < whole / 20  # not the buffers of the table that it is a part of
    assert whole < 600 * len(table)
    assert len(pickle.dumps(table[:0])) < 10_000


# Tables and rows


@copied
@pytest.mark.parametrize("level", ["health", "basic", "full"])
def test_tables(demos: Demos, unusual: Path, level: Any, copied: Callable[[Any], Any]) -> None:
    table = fastdump.stats(unusual, level=level)
    for part in (
        table,
        table.filter(io="output"),
        table[5:9],
        table[::-2],
        table[[3, 1]],
        table[:0],
        table.worst(3),
        table.filter(op_name="nothing"),  # which says why it has no row
        fastdump.stats(demos.overflow, level=level),
    ):
        other = copied(part)
        assert isinstance(other, StatsTable)
        assert_same_rows(other, part)
        for name in ("level", "skipped", "roots", "root", "schema", "columns", "remark"):
            assert getattr(other, name) == getattr(part, name), name
        assert repr(other) == repr(part)
        for row in (row for row in other if row.offset is not None and row.io is not None):
            assert row.tensor().offset == row.offset


@pytest.mark.parametrize("suffix", ["csv", "json", "arrow", "parquet"])
def test_tables_of_files(unusual: Path, tmp_path: Path, suffix: str) -> None:
    fastdump.stats(unusual, level="full").write(tmp_path / f"table.{suffix}")
    table = fastdump.read_stats(tmp_path / f"table.{suffix}")
    for copied in COPIES.values():
        other = copied(table)
        assert_same_rows(other, table)
        assert (other.root, other.level) == (table.root, table.level)
    moved = pickle.loads(pickle.dumps(fastdump.read_stats(tmp_path / f"table.{suffix}", root="/x")))
    assert moved[0].file() == f"/x/{moved[0].path}"


@copied
def test_rows(demos: Demos, copied: Callable[[Any], Any]) -> None:
    row = fastdump.stats(demos.overflow)[1]
    other = copied(row)
    assert other == row
    assert other.file() == row.file()
    np.testing.assert_array_equal(other.tensor(), row.tensor())


# Reports


def reports_of(demos: Demos, tmp_path: Path) -> list[Report]:
    return [
        fastdump.triage(demos.model),
        fastdump.compare(demos.overflow, demos.watcher),
        fastdump.compare(demos.overflow, demos.overflow),
        fastdump.overflow(demos.overflow),
        fastdump.watcher(demos.watcher),
        fastdump.watcher(demos.model),
        fastdump.convert(demos.overflow, tmp_path / "out"),
        config.check_text('{"dump": {"dump_path": "/tmp", "dump_mode": "out"}}'),
        config.check_text("no JSON"),
    ]


def test_reports(demos: Demos, unusual: Path, tmp_path: Path) -> None:
    reports = [*reports_of(demos, tmp_path), fastdump.convert(unusual, tmp_path / "unusual")]
    assert {report.question for report in reports} == {
        *("triage", "compare", "overflow", "watcher", "convert", "config"),
    }
    for report in reports:
        for name, copied in COPIES.items():
            other = copied(report)
            where = (report.question, name)
            assert type(other) is type(report), where
            assert other.to_dict() == report.to_dict(), where
            assert str(other) == str(report), where
            assert repr(other) == repr(report), where
            assert other.clean == report.clean, where
            assert tuple(other.findings) == tuple(report.findings), where


def test_rows_of_reports_know_their_way_elsewhere(demos: Demos) -> None:
    triage = pickle.loads(pickle.dumps(fastdump.triage(demos.overflow)))
    assert np.isinf(np.asarray(triage.origins[0].tensor.tensor(), np.float64)).any()
    assert triage.table[0].tensor().offset == triage.table[0].offset
    watcher = pickle.loads(pickle.dumps(fastdump.watcher(demos.watcher)))
    own, seen = watcher.findings[0].tensor(), watcher.findings[0].seen_tensor()
    assert (own.raw() != seen.raw()).sum() == watcher.findings[0].change.n_bytes
    compared = pickle.loads(pickle.dumps(fastdump.compare(demos.overflow, demos.overflow)))
    assert compared[0].tensor_a().path.startswith(str(demos.overflow))
    assert compared[0].tensor_b().path.startswith(str(demos.overflow))
    overflow = pickle.loads(pickle.dumps(fastdump.overflow(demos.overflow)))
    assert overflow.findings[0].unit.operator.tensors[0].tensor().name == "input.0"


# How far a call is, and what it was asked for


@copied
def test_progress_and_selections(demos: Demos, copied: Callable[[Any], Any]) -> None:
    seen: list[Any] = []
    fastdump.stats(demos.overflow, progress=seen.append)
    fastdump.compare(demos.overflow, demos.overflow, progress=seen.append)
    fastdump.watcher(demos.watcher, progress=seen.append)
    assert len({type(progress) for progress in seen}) == 3
    seen.append(fastdump.ConvertProgress(*range(len(dataclasses.fields(fastdump.ConvertProgress)))))
    for progress in seen:
        names = [name for name in dir(progress) if not name.startswith("_")]
        assert len(names) > 2
        other = copied(progress)
        for name in names:
            assert getattr(other, name) == getattr(progress, name)
    assert seen[0].files_found >= 0
    for selection in (fastdump.Selection(), fastdump.Selection.of({"rank": "1-3", "io": "input"})):
        assert copied(selection) == selection


# Other processes


def what_a_child_finds(things: dict[str, Any]) -> dict[str, Any]:
    """Compute in a child process what the test computes itself."""
    statistics = things["tensor"].stats("full")
    return {
        "mean": statistics.mean,
        "zero": statistics.zero,
        "elements": np.asarray(things["tensor"]).tobytes(),
        "inputs": [tensor.name for tensor in things["op"].inputs],
        "operators": len(things["dump"]),
        "selected": [(t.path, t.name) for t in things["selected"].tensors()],
        "max": things["table"]["max"].tobytes(),
        "row": things["row"].tensor().name,
        "triage": things["triage"].sentence,
        "compare": things["compare"].to_dict()["summary"],
    }


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_in_another_process(demos: Demos, method: str) -> None:
    dump = fastdump.open(demos.overflow)
    table = fastdump.stats(dump, level="full")
    things = {
        "tensor": dump[1]["output.0"],
        "op": dump[1],
        "dump": dump,
        "selected": dump.select(io="output")[::-1],
        "table": table.filter(io="output"),
        "row": table[2],
        "triage": fastdump.triage(table),
        "compare": fastdump.compare(dump, dump),
    }
    for tensor in (things["tensor"], dump[0].tensors[0]):
        np.asarray(tensor)  # mapped before the child is made
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(what_a_child_finds, (things,)) == what_a_child_finds(things)


def _statistics_of(tensor: fastdump.Tensor) -> tuple[str, int]:
    return tensor.name, int(tensor.stats("health").count)


def test_tensors_are_shared_out(demos: Demos) -> None:
    tensors = list(fastdump.open(demos.watcher).tensors())
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(_statistics_of, tensors)
    assert found == [(tensor.name, tensor.size) for tensor in tensors]
