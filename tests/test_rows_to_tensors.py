"""From a row of a table, or of a report, to the tensor that it is about."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from sample_dumps import Demos, dump_name, same, write_unusual

import fastdump
from fastdump import DumpFormatError, NoTensorError, StatsRow, StatsTable, Tensor, testing

FORMATS = ("csv", "json", "arrow", "parquet")
STATISTICS = (
    *("count", "max", "min", "mean", "l2norm", "nan", "pos_inf", "neg_inf"),
    *("zero", "subnormal", "saturated", "min_abs", "first_bad"),
)


@pytest.fixture(scope="module")
def unusual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_unusual(tmp_path_factory.mktemp("unusual"))


def bytes_at(root: Path | str, row: StatsRow, n_bytes: int) -> bytes:
    """Return what the file of a row has where the row says; paths as the tests write them."""
    shown = row.path.replace(r"\xff", "\udcff") if row.path.endswith("18") else row.path
    with Path(root, shown).open("rb") as file:
        file.seek(row.offset or 0)
        return file.read(n_bytes)


def has_tensor(row: StatsRow) -> bool:
    return row.io is not None and row.source == "tensor"


def assert_is_of(tensor: Tensor, row: StatsRow, root: Path | str) -> None:
    """Check that a tensor is the one that a row describes."""
    described = (f"{row.io}.{row.index}", row.offset, row.dtype, row.status, row.format)
    found = (tensor.name, tensor.offset, tensor.dtype_name, tensor.status, tensor.format)
    assert found == described, row
    assert row.shape is None or tensor.declared_shape == row.shape, row
    raw = tensor.raw().tobytes()
    assert raw == bytes_at(root, row, len(raw)), row


# Rows of tables


def test_each_row_of_the_demo_dump(demos: Demos) -> None:
    table = fastdump.stats(demos.model)
    dump = fastdump.open(demos.model)
    assert len(table) > 1000
    for row in table:
        assert row.file() == str(demos.model / row.path)
        tensor = row.tensor()
        assert_is_of(tensor, row, demos.model)
        assert_is_of(dump.tensor(row), row, demos.model)
        # What numpy counts in the bytes of the file is what the row says.
        dtype = np.dtype(getattr(ml_dtypes, row.dtype or "", row.dtype))
        values = np.frombuffer(bytes_at(demos.model, row, tensor.stored_nbytes), dtype)
        values = values.astype(np.float64)
        assert (row.count, row.nan) == (values.size, np.isnan(values).sum()), row
        finite = values[np.isfinite(values)]
        assert row.max == (finite.max() if finite.size else None), row


def test_each_row_of_unusual_files(unusual: Path) -> None:
    table = fastdump.stats(unusual)
    dump = fastdump.open(unusual)
    statuses = Counter(row.status for row in table if has_tensor(row))
    assert statuses.keys() == {"ok", "truncated", "absent", "size_mismatch", "unsupported"}
    for row in filter(has_tensor, table):
        assert_is_of(row.tensor(), row, unusual)
        assert_is_of(dump.tensor(row), row, unusual)


@pytest.mark.parametrize("level", ["health", "basic", "full"])
def test_a_tensor_s_statistics_are_its_row_s(demos: Demos, unusual: Path, level: Any) -> None:
    names = [name for name in STATISTICS if level != "basic" or STATISTICS.index(name) < 8]
    n_refused = 0
    tables = [fastdump.stats(unusual, level=level), fastdump.stats(demos.overflow, level=level)]
    for row in (row for table in tables for row in table if has_tensor(row)):
        try:
            found = row.tensor().stats(level)
        except (fastdump.UnsupportedDTypeError, DumpFormatError):
            assert row.count is None or row.status == "absent" or row.io in ("buffer", "space"), row
            n_refused += 1
            continue
        of_tensor = {name: getattr(found, name) for name in names if hasattr(found, name)}
        of_row = {name: getattr(row, name) for name in of_tensor}
        assert all(same(of_row[name], of_tensor[name]) for name in of_row), (row, of_tensor)
        assert found.count is not None
    assert 0 < n_refused < 10


def test_dumps_that_were_appended_are_told_apart(unusual: Path) -> None:
    rows = fastdump.stats(unusual, op_name="net/appended", io="output")
    dump = fastdump.open(unusual)
    assert len(rows) == 3
    first = np.linspace(-4, 4, 24, dtype=np.float32).reshape(2, 3, 4)
    for times, row in enumerate(rows, start=1):
        np.testing.assert_array_equal(row.tensor(), first * times)
        np.testing.assert_array_equal(dump.tensor(row), first * times)


def test_rows_without_a_tensor_say_why(unusual: Path) -> None:
    table = fastdump.stats(unusual)
    dump = fastdump.open(unusual)
    without = [row for row in table if not has_tensor(row)]
    assert {Path(row.path).name.split(".")[1] for row in without} == {
        *("net_statistics", "net_rubbish", "net_empty"),
    }
    for row in without:
        with pytest.raises(NoTensorError) as caught:
            row.tensor()
        message = str(caught.value)
        assert repr(row.path) in message
        if row.source == "csv":
            assert f"statistics of {row.tensor_name} that the device computed" in message
        else:
            assert message == f"{row.path!r} gave no tensor: {row.note}"
        with pytest.raises(NoTensorError) as of_dump:
            dump.tensor(row)
        assert str(of_dump.value) == message
        assert Path(row.file()).exists()


def test_a_dump_tells_what_it_does_not_have(demos: Demos, unusual: Path) -> None:
    dump = fastdump.open(unusual)
    foreign = fastdump.stats(demos.overflow)[0]
    with pytest.raises(NoTensorError, match="is not a file of Dump"):
        dump.tensor(foreign)
    row = fastdump.stats(unusual, op_name="net/nano")[0]
    moved = dataclasses.replace(row, offset=row.offset + 1)
    with pytest.raises(NoTensorError, match=r"does not have input\.0"):
        dump.tensor(moved)
    with pytest.raises(DumpFormatError, match=r"input\.0 is no longer there"):
        moved.tensor()
    dump.close()
    with pytest.raises(fastdump.ClosedDumpError):
        dump.tensor(row)
    assert row.tensor().shape == (2, 3, 4)  # needs no dump


def test_a_dump_finds_rows_of_all_its_files_also_after_a_selection(demos: Demos) -> None:
    row = next(row for row in fastdump.stats(demos.model) if row.op_type == "RmsNorm")
    dump = fastdump.open(demos.model)
    assert_is_of(dump.select(op_type="RmsNorm").tensor(row), row, demos.model)
    assert_is_of(dump[:0].tensor(row), row, demos.model)


# Where files are


@pytest.mark.parametrize("suffix", FORMATS)
def test_after_writing_and_reading(unusual: Path, tmp_path: Path, suffix: str) -> None:
    table = fastdump.stats(unusual)
    table.write(tmp_path / f"table.{suffix}")
    if suffix == "csv":  # has no place for what is said of the table as a whole
        without = fastdump.read_stats(tmp_path / "table.csv")
        assert (without.root, without.roots) == (None, [])
        with pytest.raises(ValueError, match="give the directory as root=") as caught:
            without[0].tensor()
        assert repr(without[0].path) in str(caught.value)
        assert_is_of(without[0].tensor(unusual), without[0], unusual)
        read = fastdump.read_stats(tmp_path / "table.csv", root=unusual)
    else:
        read = fastdump.read_stats(tmp_path / f"table.{suffix}")
    assert (read.root, read.roots) == (str(unusual), [str(unusual)])
    n_tensors = 0
    for row in filter(has_tensor, read):
        assert_is_of(row.tensor(), row, unusual)
        n_tensors += 1
    assert n_tensors == sum(map(has_tensor, table)) > 30


@pytest.mark.parametrize("suffix", FORMATS)
def test_after_the_dump_has_moved(tmp_path: Path, suffix: str) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    write_unusual(before)
    table = fastdump.stats(before)
    table.write(tmp_path / f"table.{suffix}")
    shutil.move(before, after)
    for row in filter(has_tensor, table):
        with pytest.raises(FileNotFoundError):
            row.tensor()
    there = fastdump.read_stats(tmp_path / f"table.{suffix}", root=after)
    dump = fastdump.open(after)
    for row, moved in zip(table, there, strict=True):
        if has_tensor(row):
            assert_is_of(row.tensor(after), row, after)
            assert_is_of(row.tensor(root=os.fsencode(after)), row, after)
            assert_is_of(moved.tensor(), row, after)
            assert_is_of(dump.tensor(row), row, after)
    assert_is_of(table.moved_to(after)[0].tensor(), table[0], after)
    assert table.root == str(before)  # a table is immutable
    assert table[0].file(after) == str(after / table[0].path)
    assert_is_of(fastdump.open(there)[0].tensors[0], there[0], after)


def test_rows_know_their_way_however_they_were_taken(demos: Demos) -> None:
    table = fastdump.stats(demos.overflow)
    rows: list[StatsRow] = [
        table[3],
        table[2:5][1],
        table[[0, 3]][1],
        table[np.arange(len(table)) == 3][0],
        table.head(4)[3],
        table.sort("op_name").filter(op_name=table[3].op_name, io=table[3].io)[0],
        *(row for row in table.worst() if row == table[3]),
        dataclasses.replace(table[3]),
    ]
    for row in rows:
        assert_is_of(row.tensor(), row, demos.overflow)


def test_rows_of_several_directories(
    demos: Demos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths of several directories begin with these as they were given: here as relative ones."""
    monkeypatch.chdir(demos.model.parent)
    given = ["overflow", "watcher"]
    table = fastdump.stats(given)
    table.write(tmp_path / "table.parquet")
    dump = fastdump.open(given)
    assert {row.path.split("/")[0] for row in table} == set(given)
    monkeypatch.chdir(tmp_path)
    for row in (table[0], table[-1], *fastdump.read_stats(tmp_path / "table.parquet")[::20]):
        assert_is_of(row.tensor(), row, demos.model.parent)
    monkeypatch.chdir(demos.model.parent)
    for row in table[::20]:
        assert_is_of(dump.tensor(row), row, demos.model.parent)


def test_rows_of_one_file(unusual: Path) -> None:
    (path,) = unusual.rglob("*net_nano*")
    (first, second) = fastdump.stats(path)
    assert first.path == path.name
    for row in (first, second):
        assert_is_of(row.tensor(), row, path.parent)
        assert_is_of(fastdump.open(path).tensor(row), row, path.parent)


def test_a_file_that_is_gone_or_is_another(tmp_path: Path) -> None:
    path = tmp_path / dump_name("net/op", 1)
    testing.write_dump(path, inputs=[np.ones(3)], outputs=[np.ones(4)])
    fastdump.stats(path).write(tmp_path / "table.json")
    first, second = fastdump.read_stats(tmp_path / "table.json")
    testing.write_dump(path, inputs=[np.ones(3)], outputs=[np.zeros(4), np.ones(1)])
    with pytest.raises(DumpFormatError, match=r"output\.0 is no longer there"):  # but elsewhere
        second.tensor()
    path.write_bytes(b"rubbish")
    with pytest.raises(DumpFormatError, match="eight bytes"):
        first.tensor()
    path.unlink()
    with pytest.raises(FileNotFoundError) as caught:
        first.tensor()
    assert caught.value.filename == str(path)


# Rows of reports


def origin_rows(report: fastdump.TriageReport) -> Iterable[StatsRow]:
    for finding in report.findings:
        if finding.origin is not None:
            yield finding.origin.tensor
            yield from finding.origin.inputs
        for infected in (*finding.chain, *finding.received):
            yield from (row for row in (infected.read, infected.made) if row is not None)
    yield from (suppressed.example for suppressed in report.suppressed)


@pytest.mark.parametrize("given", ["path", "dump", "table", "file"])
def test_rows_of_triage(demos: Demos, tmp_path: Path, given: str) -> None:
    what: Any = demos.model
    if given == "dump":
        what = fastdump.open(demos.model)
    elif given != "path":
        what = fastdump.stats(demos.model, level="full")
        if given == "file":
            what.write(tmp_path / "table.json")
            what = tmp_path / "table.json"
    report = fastdump.triage(what)
    (origin,) = report.origins
    values = np.asarray(origin.tensor.tensor()).astype(np.float64)
    assert np.isinf(values).sum() == 4  # what the demo planted
    assert all(np.isfinite(np.asarray(row.tensor(), np.float64)).all() for row in origin.inputs)
    rows = [*origin_rows(report), *report.table]
    assert len(rows) > 30
    for row in rows:
        assert_is_of(row.tensor(), row, demos.model)


def test_rows_of_triage_after_a_move(demos: Demos, tmp_path: Path) -> None:
    table = fastdump.stats(demos.overflow, level="full")
    shutil.copytree(demos.overflow, tmp_path / "moved")
    table.write(tmp_path / "table.parquet")
    for what in (table, tmp_path / "table.parquet"):
        report = fastdump.triage(what, root=tmp_path / "moved")
        for row in (*origin_rows(report), *report.table):
            assert row.file() == str(tmp_path / "moved" / row.path)
            assert_is_of(row.tensor(), row, tmp_path / "moved")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs, in different times: `net/b` differs, `net/a` and `net/c` are in one run only."""
    roots = []
    for i, names in enumerate((("a", "b", "d"), ("b", "c", "d"))):
        root = tmp_path_factory.mktemp(f"run{i}")
        for at, name in enumerate(names):
            values = np.arange(6, dtype=np.float32) + (i if name == "b" else 0)
            path = root / dump_name(f"net/{name}", 100 * i + at)
            testing.write_dump(path, op_name=f"net/{name}", inputs=[values], outputs=[values * 2])
        roots.append(root)
    return roots[0], roots[1]


@pytest.mark.parametrize("suffix", [None, "json", "arrow", "parquet"])
def test_rows_of_compare(pair: tuple[Path, Path], tmp_path: Path, suffix: str | None) -> None:
    table = fastdump.compare(*pair)
    if suffix is not None:
        table.write(tmp_path / f"table.{suffix}")
        table = fastdump.read_comparison(tmp_path / f"table.{suffix}")
    n_sides: Counter[str] = Counter()
    for row in table:
        sides = {"a": (row.tensor_a, row.path_a), "b": (row.tensor_b, row.path_b)}
        for side, ((tensor_of, path), root) in zip(
            sides, zip(sides.values(), pair, strict=True), strict=True
        ):
            if path is None:
                with pytest.raises(NoTensorError, match="no tensor on this side"):
                    tensor_of()
                continue
            tensor = tensor_of()
            n_sides[side] += 1
            assert tensor.path == str(root / path)
            assert tensor.name == row.tensor_name
        if row.paired_by is not None:
            error = np.abs(np.asarray(row.tensor_a()) - np.asarray(row.tensor_b())).max()
            assert row.max_abs_error == error
    assert n_sides == {"a": 6, "b": 6}
    first = table.findings[0]
    assert table[first.row].tensor_a().path == str(pair[0] / str(first.path_a))


def test_rows_of_compare_after_a_move(pair: tuple[Path, Path], tmp_path: Path) -> None:
    fastdump.compare(*pair).write(tmp_path / "table.csv")  # which does not say where the dumps were
    row = next(row for row in fastdump.read_comparison(tmp_path / "table.csv") if row.paired_by)
    with pytest.raises(ValueError, match="root="):
        row.tensor_a()
    np.testing.assert_array_equal(row.tensor_a(pair[0]), np.arange(6))
    assert row.tensor_b(root=pair[1]).path.startswith(str(pair[1]))


def test_rows_of_compare_of_tables_have_offsets_too(pair: tuple[Path, Path]) -> None:
    row = fastdump.compare(*map(fastdump.stats, pair), op_name="net/b", io="output")[0]
    np.testing.assert_array_equal(row.tensor_a(), np.arange(6) * 2)
    np.testing.assert_array_equal(row.tensor_b(), np.arange(1, 7) * 2)


def test_rows_of_compare_of_reported_statistics(tmp_path: Path) -> None:
    for run in ("a", "b"):
        path = tmp_path / run / f"{dump_name('net/op', 1)}.csv"
        path.parent.mkdir()
        testing.write_statistics_csv(path, outputs=[np.ones(3, np.float32)])
    (row,) = fastdump.compare(tmp_path / "a", tmp_path / "b")
    for tensor_of in (row.tensor_a, row.tensor_b):
        with pytest.raises(NoTensorError, match="the device computed"):
            tensor_of()


def test_rows_of_overflow(demos: Demos) -> None:
    report = fastdump.overflow(demos.overflow)
    assert report.table is not None
    rows = [row for finding in report.findings for row in finding.unit.operator.tensors]
    assert len(rows) >= len(report.findings) * 3
    for row in (*rows, *report.table):
        assert_is_of(row.tensor(), row, demos.overflow)
    (output,) = (row for row in report.findings[0].unit.operator.tensors if row.io == "output")
    assert np.isinf(np.asarray(output.tensor(), np.float64)).any()


@pytest.mark.parametrize("check", ["watcher", "addresses"])
def test_rows_of_watcher(demos: Demos, check: Any) -> None:
    report = fastdump.watcher(demos.watcher if check == "watcher" else demos.model, check=check)
    root = demos.watcher if check == "watcher" else demos.model
    assert report.check == check
    for row in report.comparisons:
        own, seen = row.tensor(), row.seen_tensor()
        assert (own.path, own.name) == (str(root / str(row.path)), f"output.{row.output}")
        assert (seen.path, seen.name) == (str(root / row.seen_path), row.seen_as)
        if row.status in ("same", "changed"):
            n_different = int((own.raw() != seen.raw()).sum())
            assert n_different == (row.change.n_bytes if row.change else 0)
        else:
            assert row.status == "truncated"
    assert check == "addresses" or len(report.comparisons) > 50


def test_rows_of_watcher_that_have_no_tensor(tmp_path: Path) -> None:
    values = np.ones(4, np.float32)
    for at, name in enumerate(("net/C", "net/X_To_net/C")):
        testing.write_dump(tmp_path / dump_name(name, at), op_name=name, outputs=[values])
    (tmp_path / dump_name("net/Y_To_net/C", 3)).write_bytes(b"rubbish")
    (tmp_path / dump_name("net/rubbish", 4)).write_bytes(b"rubbish")
    recorded = fastdump.watcher(tmp_path, check="watcher").comparisons
    unread = next(row for row in recorded if row.status == "malformed")
    assert unread.tensor().name == "output.0"
    with pytest.raises(DumpFormatError, match="eight bytes"):
        unread.seen_tensor()
    by_address = fastdump.watcher(tmp_path, check="addresses").comparisons
    unread = next(row for row in by_address if row.seen_path.endswith(dump_name("net/rubbish", 4)))
    with pytest.raises(NoTensorError, match=r"gave no tensor: .*eight bytes"):
        unread.seen_tensor()
    with pytest.raises(NoTensorError, match="no file of its own"):
        unread.tensor()


def test_rows_of_watcher_after_a_move(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    values = np.arange(4, dtype=np.float32)
    for at, name in enumerate(("net/C", "net/X_To_net/C")):
        path = before / dump_name(name, at)
        testing.write_dump(path, op_name=name, outputs=[values * (1 + at)])
    (changed,) = fastdump.watcher(before).findings
    shutil.move(before, after)
    with pytest.raises(FileNotFoundError):
        changed.tensor()
    np.testing.assert_array_equal(changed.tensor(after), values)
    np.testing.assert_array_equal(changed.seen_tensor(root=after), values * 2)


def test_what_convert_tells_of_leads_to_the_tensor(unusual: Path, tmp_path: Path) -> None:
    report = fastdump.convert(unusual, tmp_path / "out")
    of_tensors = [note for note in report.noted if note.tensor is not None]
    assert {note.status for note in of_tensors} >= {"truncated", "unsupported", "size_mismatch"}
    for note in of_tensors:
        tensor = note.open()
        assert (tensor.name, tensor.status, tensor.note) == (note.tensor, note.status, note.note)
    assert len(report.findings) == 2
    for failure in report.findings:
        with pytest.raises(NoTensorError, match="not one of its tensors"):
            failure.open()


def test_a_table_of_another_program_has_no_way_to_files(unusual: Path) -> None:
    bare = StatsTable(pa.table(fastdump.stats(unusual)).replace_schema_metadata(None))
    assert bare.root is None
    with pytest.raises(ValueError, match="root="):
        bare[0].tensor()
    there = StatsTable(bare, root=unusual)
    assert_is_of(there[0].tensor(), there[0], unusual)
