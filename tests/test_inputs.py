"""What a question is asked about: paths, dumps, tables and their files, with the same answer."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from elsewhere import Elsewhere
from sample_dumps import Demos, assert_same_rows, dump_name, keys

import fastdump
from fastdump import NoDumpError, StatsTable, testing
from fastdump._cli import main

FORMATS = ("csv", "json", "arrow", "parquet")
WITH_ROOT = ("json", "arrow", "parquet")  # csv has no place for it


@pytest.fixture(scope="module")
def tables(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the table of each demo dump in each format: ``{dump}.{format}``."""
    directory = tmp_path_factory.mktemp("tables")
    for root in (demos.model, demos.overflow, demos.watcher):
        table = fastdump.stats(root, level="full")
        for suffix in FORMATS:
            table.write(directory / f"{root.name}.{suffix}")
    return directory


def dumps_of(root: Path) -> Iterator[Any]:
    """Yield all that stands for the whole dump in a directory, and is read."""
    yield root
    yield str(root)
    yield str(root).encode()
    yield [root]
    yield (str(part) for part in (root,))
    yield fastdump.open(root)
    yield fastdump.open(root)[:]
    yield fastdump.open(root).select(op_type="*")


def tables_of(root: Path, tables: Path) -> Iterator[Any]:
    """Yield all that stands for the table of a dump, of level "full"."""
    yield fastdump.stats(root, level="full")
    yield fastdump.open(root).stats(level="full")
    yield fastdump.read_stats(tables / f"{root.name}.csv", root=root)
    for suffix in WITH_ROOT:
        yield tables / f"{root.name}.{suffix}"
    yield str(tables / f"{root.name}.json")


# Things


def test_stats(demos: Demos, tables: Path) -> None:
    expected = fastdump.stats(demos.overflow, level="full")
    for what in dumps_of(demos.overflow):
        assert_same_rows(fastdump.stats(what, level="full"), expected)
    for what in (*tables_of(demos.overflow, tables), tables / "overflow.csv"):
        table = fastdump.stats(what)
        assert_same_rows(table, expected)
        assert table.level == "full"


def test_a_table_is_not_computed_again(demos: Demos) -> None:
    table = fastdump.stats(demos.overflow, level="health")
    assert fastdump.stats(table, level="full") is table
    assert fastdump.stats(table, io="output", level="full").level == "health"


def test_open(demos: Demos, tables: Path) -> None:
    expected = list(fastdump.open(demos.model))
    for what in (*dumps_of(demos.model), *tables_of(demos.model, tables)):
        dump = fastdump.open(what)
        assert [op.path for op in dump] == [op.path for op in expected]
        assert dump.root == str(demos.model)
    dump = fastdump.open(demos.model)
    assert fastdump.open(dump) is dump


def test_open_a_part_of_a_table(demos: Demos) -> None:
    table = fastdump.stats(demos.model)
    part = table.filter(op_type="RmsNorm", io="output")[3:9]
    dump = fastdump.open(part)
    assert [op.relative for op in dump] == list(dict.fromkeys(row.path for row in part))
    assert [(t.io, t.index, t.offset) for t in dump.tensors()] == [
        (row.io, row.index, row.offset) for row in part
    ]
    assert keys(list(fastdump.stats(dump))) == keys(list(part))
    assert keys(list(dump.select(rank=0).stats())) == keys([r for r in part if r.rank == 0])
    assert len(dump[0].tensors) > 1  # an operator has all that is its own


def test_open_of_tables_of_several_directories(
    demos: Demos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demos.model.parent)
    for given in (
        ["overflow", "watcher"],
        ["./watcher", "overflow/"],
        [demos.overflow, demos.watcher],
        ["watcher", demos.overflow],
    ):
        table = fastdump.stats(given)
        assert [op.path for op in fastdump.open(table)] == [
            str(Path(op.path).absolute()) for op in fastdump.open(given)
        ]
        monkeypatch.chdir(tmp_path)
        part = fastdump.open(table.filter(io="output"))
        assert len(list(part.tensors())) == len(table.filter(io="output"))
        monkeypatch.chdir(demos.model.parent)


def test_absolute_paths_need_no_current_directory(
    demos: Demos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in (demos.overflow, [demos.overflow, demos.watcher]):
        whole = fastdump.stats(given)
        out = tmp_path / str(len(whole))
        with monkeypatch.context() as where:
            (tmp_path / "removed").mkdir()
            where.chdir(tmp_path / "removed")
            (tmp_path / "removed").rmdir()
            for executor in (None, Elsewhere()):
                assert keys(list(fastdump.stats(given, executor=executor))) == keys(list(whole))
                assert fastdump.convert(given, out, executor=executor).files > 0
            table = fastdump.stats(given)
            assert len(list(fastdump.open(table).tensors())) == len(whole)
            assert fastdump.compare(given, given, executor=Elsewhere()).summary()["pairs"] > 0


# Questions


def triage_answer(what: Any, **conditions: Any) -> dict[str, Any]:
    return fastdump.triage(what, **conditions).to_dict()


def overflow_answer(what: Any, **conditions: Any) -> dict[str, Any]:
    return fastdump.overflow(what, **conditions).to_dict()


def watcher_answer(what: Any, **conditions: Any) -> dict[str, Any]:
    return fastdump.watcher(what, **conditions).to_dict()


Ask = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (triage_answer, "model"),
        (triage_answer, "overflow"),
        (overflow_answer, "overflow"),
        (watcher_answer, "watcher"),
        (watcher_answer, "overflow"),
    ],
)
def test_reports(demos: Demos, tables: Path, ask: Ask, name: str) -> None:
    root: Path = getattr(demos, name)
    expected = ask(root)
    assert expected["findings"] or (ask, name) == (watcher_answer, "overflow")
    for what in (*dumps_of(root), *tables_of(root, tables)):
        assert ask(what) == expected


@pytest.mark.parametrize(
    ("ask", "name", "conditions"),
    [
        (triage_answer, "model", {"op_name": "model.layers.2*", "step": 1}),
        (overflow_answer, "overflow", {"step": 3}),
        (watcher_answer, "watcher", {"rank": 0}),
    ],
)
def test_reports_on_a_part(
    demos: Demos, tables: Path, ask: Ask, name: str, conditions: dict[str, Any]
) -> None:
    """A part may be named to the question, or selected before."""
    root: Path = getattr(demos, name)
    expected = ask(root, **conditions)
    assert expected != ask(root)
    parts: list[Any] = [
        fastdump.open(root).select(**conditions),
        fastdump.open(fastdump.open(root).select(**conditions).stats()),
        fastdump.stats(root, level="full", **conditions),
        fastdump.read_stats(tables / f"{name}.json").filter(**conditions),
    ]
    for what in parts:
        assert ask(what) == expected
        assert ask(what, **conditions) == expected
    for what in (fastdump.open(root), tables / f"{name}.parquet"):
        assert ask(what, **conditions) == expected


def test_triage_of_the_reports_own_table(demos: Demos) -> None:
    report = fastdump.triage(demos.model)
    assert fastdump.triage(report.table).sentence == report.sentence


def test_convert(demos: Demos, tables: Path, tmp_path: Path) -> None:
    def written(what: Any) -> dict[str, bytes]:
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        report = fastdump.convert(what, out)
        assert report.clean
        return {
            str(path.relative_to(out)): path.read_bytes()
            for path in out.rglob("*")
            if path.is_file()
        }

    expected = written(demos.overflow)
    assert len(expected) == 8  # of two operators, each with three tensors and a record
    for what in (*dumps_of(demos.overflow), *tables_of(demos.overflow, tables)):
        assert written(what) == expected
    part = fastdump.stats(demos.overflow).filter(io="output", op_type="BatchMatMulV2")
    assert written(part) == {
        name: data for name, data in expected.items() if name.endswith(".output.0.npy")
    }
    assert written(fastdump.open(part)) == written(part)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs of three operators, of which one differs."""
    roots = []
    for run in range(2):
        root = tmp_path_factory.mktemp(f"run{run}")
        for at, name in enumerate(("a", "b", "c")):
            values = np.arange(1, 7, dtype=np.float32) * (10 if run and name == "b" else 1)
            path = root / dump_name(f"net/{name}", 100 * run + at)
            testing.write_dump(path, op_name=f"net/{name}", inputs=[values], outputs=[values])
        roots.append(root)
    return roots[0], roots[1]


def verdicts(a: Any, b: Any) -> list[tuple[Any, ...]]:
    table = fastdump.compare(a, b)
    return [(row.op_name, row.tensor_name, row.verdict, row.max_abs_error) for row in table]


def test_compare_takes_dumps_on_both_sides(pair: tuple[Path, Path]) -> None:
    expected = verdicts(*pair)
    assert {verdict for *_, verdict, _ in expected} == {"equal", "diverges"}
    assert max(error for *_, error in expected) == 54
    for a in dumps_of(pair[0]):
        assert verdicts(a, pair[1]) == expected
    for b in dumps_of(pair[1]):
        assert verdicts(fastdump.open(pair[0]), b) == expected
    part = fastdump.open(pair[0]).select(op_name="net/b")
    assert verdicts(part, fastdump.open(pair[1]).select(op_name="net/b")) == [
        one for one in expected if one[0] == "net/b"
    ]


def test_compare_takes_tables_on_both_sides(pair: tuple[Path, Path], tmp_path: Path) -> None:
    sides = []
    for root in pair:
        table = fastdump.stats(root)
        for suffix in FORMATS:
            table.write(tmp_path / f"{root.name}.{suffix}")
        sides.append([table, *(tmp_path / f"{root.name}.{suffix}" for suffix in FORMATS)])
    expected = verdicts(sides[0][0], sides[1][0])
    assert [verdict for *_, verdict, _ in expected] == [
        *("similar", "similar", "diverges", "diverges", "similar", "similar"),
    ]
    for a, b in zip(sides[0], reversed(sides[1]), strict=True):
        assert verdicts(a, b) == expected


def test_compare_tells_how_a_dump_and_a_table_become_alike(pair: tuple[Path, Path]) -> None:
    table = fastdump.stats(pair[1])
    for a, b in ((pair[0], table), (table, fastdump.open(pair[0]))):
        with pytest.raises(ValueError, match="compute those of the dump first") as caught:
            fastdump.compare(a, b)
        assert str(pair[0]) in str(caught.value)


# Tables that do not say where their dump is


@pytest.fixture
def rootless(tables: Path) -> StatsTable:
    return fastdump.read_stats(tables / "overflow.csv")


def test_a_table_without_a_root_says_what_to_do(
    demos: Demos, rootless: StatsTable, tables: Path, tmp_path: Path
) -> None:
    for what in (rootless, tables / "overflow.csv"):
        for ask in (
            fastdump.open,
            fastdump.overflow,
            fastdump.watcher,
            lambda what: fastdump.convert(what, tmp_path / "out"),
        ):
            with pytest.raises(ValueError, match="read it with root="):
                ask(what)
    assert not (tmp_path / "out").exists()
    # What needs no file asks for none.
    assert len(fastdump.stats(rootless)) == len(rootless)
    assert fastdump.compare(rootless, rootless).clean
    report = fastdump.triage(rootless)
    assert report.findings
    assert report.origins[0].damage is None
    there = fastdump.triage(rootless, root=demos.overflow)
    assert there.origins[0].damage is not None
    assert there.to_dict() == fastdump.triage(demos.overflow).to_dict()


def test_root_is_for_tables(demos: Demos) -> None:
    for what in (demos.overflow, fastdump.open(demos.overflow)):
        with pytest.raises(ValueError, match="root is for tables"):
            fastdump.triage(what, root=demos.overflow)


def test_a_moved_dump_is_given_once(demos: Demos, tables: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(demos.overflow, moved)
    for suffix in FORMATS:
        table = fastdump.read_stats(tables / f"overflow.{suffix}", root=moved)
        assert table.root == str(moved)
        assert fastdump.open(table).root == str(moved)
        assert fastdump.overflow(table).table is not None
        assert fastdump.overflow(table).table.root == str(moved)
        assert fastdump.convert(table, tmp_path / suffix).written == 8
        assert fastdump.triage(table).table.root == str(moved)


def test_a_dump_that_is_gone(demos: Demos, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    shutil.copytree(demos.overflow, gone)
    table = fastdump.stats(gone, level="full")
    shutil.rmtree(gone)
    for ask in (fastdump.open, fastdump.overflow, fastdump.watcher):
        with pytest.raises(FileNotFoundError) as caught:
            ask(table)
        assert str(gone) in str(caught.value)
    assert len(fastdump.stats(table)) == len(table)
    assert fastdump.triage(table).findings


def test_a_table_of_which_no_row_is_left(demos: Demos) -> None:
    nothing = fastdump.stats(demos.overflow).filter(step=9)
    assert len(nothing) == 0
    for ask in (fastdump.overflow, fastdump.watcher):
        with pytest.raises(NoDumpError, match="no tensor is left"):
            ask(nothing)
    assert fastdump.triage(nothing).sentence == "there is no tensor to look at"


# Tables of other programs


def test_tables_of_other_programs(demos: Demos, tables: Path, tmp_path: Path) -> None:
    expected = fastdump.read_stats(tables / "overflow.parquet")
    foreign = pq.read_table(tables / "overflow.parquet").replace_schema_metadata(None)
    pq.write_table(foreign, tmp_path / "foreign.parquet")
    with pytest.raises(ValueError, match="read it with root="):
        fastdump.open(tmp_path / "foreign.parquet")
    table = StatsTable(foreign, root=demos.overflow)
    assert_same_rows(table, expected)
    assert len(fastdump.open(table)) == len(fastdump.open(demos.overflow))
    assert fastdump.triage(table).sentence == fastdump.triage(expected).sentence
    picked = StatsTable(pa.table(expected).slice(0, 2))
    assert picked.root == str(demos.overflow)  # Arrow keeps what the table says
    assert len(fastdump.open(picked)) == 1


# The command line


@pytest.mark.parametrize("suffix", WITH_ROOT)
def test_commands_take_the_file_of_a_table(
    demos: Demos, tables: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(*arguments: object) -> tuple[int, str]:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert err == ""
        return code, out

    for command, name in (("triage", "model"), ("overflow", "overflow"), ("watcher", "watcher")):
        of_dump = printed(command, getattr(demos, name))
        assert of_dump[0] == 1
        assert printed(command, tables / f"{name}.{suffix}") == of_dump
    code, out = printed("ls", tables / f"overflow.{suffix}", "--json")
    assert (code, out) == printed("ls", demos.overflow, "--json")
    code, out = printed("convert", tables / f"overflow.{suffix}", tmp_path / "out")
    assert code == 0
    assert "8 files written" in out


def test_commands_tell_of_a_table_without_a_root(
    tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (
        ("overflow", tables / "overflow.csv"),
        ("watcher", tables / "overflow.csv"),
        ("convert", tables / "overflow.csv", tmp_path / "out"),
    ):
        assert main([str(argument) for argument in command]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "the table does not tell where its dump is" in err
        assert err.count("\n") == 1


@pytest.mark.parametrize("name", ["overflow", "watcher", "convert"])
def test_commands_find_a_dump_that_was_moved(
    name: str, demos: Demos, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = {"overflow": demos.overflow, "watcher": demos.watcher, "convert": demos.overflow}
    root, moved, table = tmp_path / "dump", tmp_path / "moved", tmp_path / "t.parquet"
    shutil.copytree(original[name], root)
    fastdump.stats(root, level="full").write(table)

    def answer(source: Path, *options: object) -> tuple[int, str]:
        out = [str(tmp_path / f"out{len(list(tmp_path.iterdir()))}")] if name == "convert" else []
        code = main([name, str(source), *out, *map(str, options), "--json"])
        return code, capsys.readouterr().out.replace(str(source), "").replace("".join(out), "")

    code, expected = answer(root)
    root.rename(moved)
    assert main([name, str(table), *([str(tmp_path / "x")] if name == "convert" else [])]) == 2
    capsys.readouterr()
    again, found = answer(table, "--root", moved)
    assert again == code
    assert found.replace(str(moved), "") == expected
    out = [str(tmp_path / "y")] if name == "convert" else []
    assert main([name, str(moved), *out, "--root", str(moved)]) == 2
    assert "--root is for a table" in capsys.readouterr().err
