"""Several tables, patterns and directories of parts, wherever one table is an input."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sample_dumps import Demos
from test_concat import assert_same_table

import fastdump
from fastdump import DumpFormatError, testing
from fastdump._cli import main


@pytest.fixture(scope="module")
def parts(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the tables of three shards of a dump, and what else such a directory may have."""
    directory = tmp_path_factory.mktemp("parts") / "parts"
    directory.mkdir()
    for i in range(3):
        table = fastdump.stats(demos.overflow, level="full", shard=(i, 3))
        table.write(directory / f"{i}.{'arrow' if i == 1 else 'parquet'}")
    (directory / "_SUCCESS").write_bytes(b"")
    (directory / ".3.parquet.tmp").write_bytes(b"half")
    return directory


def all_of(parts: Path) -> Iterator[Any]:
    """Yield all that stands for the parts in a directory."""
    files = [parts / "2.parquet", parts / "1.arrow", parts / "0.parquet"]
    yield parts
    yield str(parts).encode()
    yield [parts]
    yield files
    yield map(str, files)
    yield f"{parts}/[0-9].*"
    yield [f"{parts}/*.parquet", f"{parts}/*.arrow"]
    yield str(parts.parent / "**" / "?.*")


def test_read_stats(demos: Demos, parts: Path) -> None:
    whole = fastdump.stats(demos.overflow, level="full")
    for what in all_of(parts):
        assert_same_table(fastdump.read_stats(what), whole)
    moved = fastdump.read_stats(parts, root="/elsewhere")
    assert (moved.root, moved.roots) == ("/elsewhere", ["/elsewhere"])


def test_questions(demos: Demos, parts: Path) -> None:
    triage = fastdump.triage(demos.overflow).to_dict()
    for what in (
        *all_of(parts),
        [fastdump.read_stats(parts / "1.arrow"), *parts.glob("?.parquet")],
    ):
        assert fastdump.triage(what).to_dict() == triage
    assert len(fastdump.stats(parts, op_type="BatchMatMulV2")) == len(
        fastdump.stats(demos.overflow, op_type="BatchMatMulV2")
    )
    assert [op.path for op in fastdump.open(parts)] == [
        op.path for op in fastdump.open(demos.overflow)
    ]
    table = fastdump.stats(demos.overflow, level="full")
    compared = fastdump.compare(parts, table)
    assert compared.clean
    assert len(compared) == len(fastdump.compare(table, table))
    assert fastdump.overflow(parts).to_dict() == fastdump.overflow(demos.overflow).to_dict()


def test_commands(demos: Demos, parts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def output(*arguments: object) -> str:
        main([*map(str, arguments), "--json"])
        return capsys.readouterr().out

    for command in ("triage", "ls", "overflow"):
        expected = output(command, demos.overflow)
        for what in (
            [parts],
            [f"{parts}/?.*"],
            [parts / "2.parquet", parts / "0.parquet", parts / "1.arrow"],
        ):
            assert output(command, *what) == expected, command
    assert main(["stats", str(parts), "-n", "1"]) == main(["stats", str(demos.overflow), "-n", "1"])
    text = capsys.readouterr().out
    hints = [line for line in text.splitlines() if line.startswith("fastdump triage")]
    assert [Path(hint.split()[2]).resolve() for hint in hints] == [parts, demos.overflow]


def test_a_pattern_of_dumps(demos: Demos) -> None:
    both = f"{demos.overflow.parent}/[ow]*"
    assert_same_table(fastdump.stats(both), fastdump.stats([demos.overflow, demos.watcher]))
    with pytest.raises(FileNotFoundError):
        fastdump.stats(f"{demos.overflow.parent}/x*")


def test_a_name_that_looks_like_a_pattern(demos: Demos, tmp_path: Path) -> None:
    root = shutil.copytree(demos.overflow, tmp_path / "run[1]")
    (tmp_path / "run1").mkdir()
    assert fastdump.stats(root).root == str(root)


@pytest.mark.parametrize("names", [("rank", "step"), ("step",)])
def test_partitions(demos: Demos, tmp_path: Path, names: tuple[str, ...]) -> None:
    """As other programs write them: columns are in the names of directories, and nowhere else."""
    whole = fastdump.stats(demos.model)
    frame = pl.DataFrame(whole)
    for values, part in frame.partition_by(names, as_dict=True).items():
        place = tmp_path.joinpath(*(f"{n}={value}" for n, value in zip(names, values, strict=True)))
        place.mkdir(parents=True)
        part.drop(names).write_parquet(place / "part-0.parquet")
    table = fastdump.read_stats(tmp_path, root=demos.model)
    assert_same_table(table, whole)
    assert fastdump.triage(tmp_path, root=demos.model).sentence == fastdump.triage(whole).sentence


def test_partitions_of_other_kinds(demos: Demos, tmp_path: Path) -> None:
    table = fastdump.stats(demos.overflow).head(3)
    frame = pl.DataFrame(table)
    for directory in ("model=a%2Fb/step=__HIVE_DEFAULT_PARTITION__/day=3", "rank=x"):
        (tmp_path / directory).mkdir(parents=True)
        frame.drop("model", "step").write_parquet(tmp_path / directory / "0.parquet")
    read = fastdump.read_stats(tmp_path / "model=a%2Fb")
    assert set(read["model"]) == {"a/b"}
    assert read["step"].mask.all()
    with pytest.raises(DumpFormatError, match=r"rank=x.* 'x', expected a number"):
        fastdump.read_stats(tmp_path / "rank=x" / "0.parquet")
    # What a file tells of itself counts.
    (tmp_path / "op_type=Other").mkdir()
    table.write(tmp_path / "op_type=Other" / "0.parquet")
    assert "Other" not in set(fastdump.read_stats(tmp_path / "op_type=Other")["op_type"])


def test_a_partition_that_is_a_link(demos: Demos, tmp_path: Path) -> None:
    table = fastdump.stats(demos.overflow)
    for name in ("parts/rank=0", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
        table.write(tmp_path / name / "0.parquet")
    link = tmp_path / "parts" / "rank=1"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match=r"'.*/rank=1' is a link to a directory"):
        fastdump.read_stats(tmp_path / "parts")
    assert main(["merge", str(tmp_path / "parts"), "-o", str(tmp_path / "all.parquet")]) == 2
    # A pattern gives the directories themselves.
    assert len(fastdump.read_stats(f"{link}*")) == len(table)
    link.rename(link.with_name("_rank=1"))  # no part, as other programs have it
    assert len(fastdump.read_stats(tmp_path / "parts")) == len(table)


def test_a_partition_that_cannot_be_listed(
    demos: Demos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = fastdump.stats(demos.overflow)
    for rank in (0, 1):
        place = tmp_path / f"rank={rank}"
        place.mkdir()
        table.write(place / "0.parquet")
    open_any = os.open

    def open_readable(path: Any, *arguments: Any, **options: Any) -> int:
        if os.fspath(path) == str(place):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return open_any(path, *arguments, **options)

    monkeypatch.setattr(os, "open", open_readable)  # root may list everything
    with pytest.raises(PermissionError, match="/rank=1'"):
        fastdump.read_stats(tmp_path)


def test_a_dump_with_a_table_in_it_is_a_dump(demos: Demos, tmp_path: Path) -> None:
    root = shutil.copytree(demos.overflow, tmp_path / "dump")
    whole = fastdump.stats(root)
    whole.head(2).write(root / "stats.parquet")
    assert len(fastdump.stats(root)) == len(whole)
    (tmp_path / "empty").mkdir()
    with pytest.raises(fastdump.NoDumpError):
        fastdump.stats(tmp_path / "empty")
    with pytest.raises(DumpFormatError, match=r"no file in \.parquet or \.arrow"):
        fastdump.read_stats(tmp_path / "empty")


def test_tables_and_dumps_are_not_mixed(
    demos: Demos, parts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in ([parts / "0.parquet", demos.overflow], [demos.overflow, parts / "0.parquet"]):
        for question in (fastdump.stats, fastdump.open, fastdump.triage):
            with pytest.raises(ValueError, match=r"0\.parquet' is a table and .*overflow' is none"):
                question(given)
        assert main(["triage", *map(str, given)]) == 2
        assert "is a table and" in capsys.readouterr().err


# merge


def test_merge(
    demos: Demos, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = fastdump.stats(demos.overflow, level="full")
    for suffix in ("parquet", "arrow", "json"):
        out = tmp_path / f"all.{suffix}"
        assert main(["merge", str(out), str(parts)]) == 0
        assert f"{len(whole):,} rows" in capsys.readouterr().out
        assert_same_table(fastdump.read_stats(out), whole)
    assert main(["merge", str(out), f"{parts}/0.parquet", "--overwrite", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == len(fastdump.read_stats(out))
    assert document["level"] == "full"


def test_merge_refuses(
    demos: Demos, parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refusal(*arguments: object) -> str:
        assert main(["merge", *map(str, arguments)]) == 2
        return capsys.readouterr().err

    before = (parts / "0.parquet").read_bytes()
    # As a shell expands merge parts/*
    assert "--overwrite" in refusal(*sorted(parts.glob("?.*")))
    assert (parts / "0.parquet").read_bytes() == before
    assert "scanned twice" in refusal(tmp_path / "a.csv", parts, parts / "0.parquet")
    fastdump.stats(demos.watcher).write(tmp_path / "basic.json")
    assert "'basic'" in refusal(tmp_path / "a.csv", parts, tmp_path / "basic.json")
    assert "nowhere" in refusal(tmp_path / "a.csv", tmp_path / "nowhere.parquet")
    assert ".txt" in refusal(tmp_path / "a.txt", parts)
    assert not (tmp_path / "a.csv").exists()


def test_merge_says_what_was_not_read_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for i in range(2):
        root = tmp_path / str(i)
        place = testing.model_dump_dir(
            root, time="20260114093042", device=0, model="net", model_id=1, step=0
        )
        path = testing.write_dump(place / "Add.op.7.3.1768383043000000", outputs=[np.ones(9)])
        path.write_bytes(path.read_bytes()[: -8 * i or None])
        fastdump.stats(root).write(tmp_path / f"{i}.parquet")
    assert (
        main(["merge", str(tmp_path / "all.csv"), *(f"{tmp_path}/{i}.parquet" for i in "01")]) == 3
    )
    assert "as_rank=" in capsys.readouterr().err


# Ranks, bases and shards on the command line


def test_shards_of_a_job(demos: Demos, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(4):
        out = tmp_path / f"{i}.parquet"
        assert main(["stats", str(demos.overflow), "--shard", f"{i}/4", "-o", str(out)]) in (0, 3)
    assert_same_table(fastdump.read_stats(tmp_path), fastdump.stats(demos.overflow))
    for wrong in ("4/4", "-1/4", "1", "a/b", "0/0"):
        assert main(["stats", str(demos.overflow), "--shard", wrong]) == 2
    assert main(["stats", str(tmp_path), "--shard", "0/2"]) == 2
    with pytest.raises(ValueError, match="shard"):
        fastdump.stats(tmp_path, shard=(0, 2))
    with pytest.raises(ValueError, match="shard"):
        fastdump.stats(fastdump.open(demos.overflow), shard=(0, 2))
    with pytest.raises(ValueError, match=r"shard is \(2, 2\)"):
        fastdump.stats(demos.overflow, shard=(2, 2))


def test_a_shard_without_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    testing.write_dump(tmp_path / "d" / "Add.op.7.3.1768383043000000", outputs=[np.ones(2)])
    tables = [fastdump.stats(tmp_path / "d", shard=(i, 5)) for i in range(5)]
    assert sorted(map(len, tables)) == [0, 0, 0, 0, 1]
    for i in range(5):
        assert main(["stats", str(tmp_path / "d"), "--shard", f"{i}/5"]) == 0
    (tmp_path / "empty").mkdir()
    with pytest.raises(fastdump.NoDumpError):
        fastdump.stats(tmp_path / "empty", shard=(0, 5))


def test_rank_and_base(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = tmp_path / "node" / "dump"
    testing.write_dump(dump / "Add.op.7.3.1768383043000000", outputs=[np.ones(2)])
    place = ["--base", str(tmp_path), "--as-rank"]
    monkeypatch.setenv("RANK", "8")
    expected = fastdump.stats(dump, as_rank=8, base=tmp_path)
    assert (expected["rank"][0], expected["path"][0].partition("/")[0]) == (8, "node")
    for rank in ("8", "env"):
        out = tmp_path / f"{rank}.arrow"
        assert main(["stats", str(dump), "-o", str(out), *place, rank]) == 0
        assert_same_table(fastdump.read_stats(out), expected)
    capsys.readouterr()
    for wrong in ("-1", "one"):
        assert main(["stats", str(dump), "--as-rank", wrong]) == 2
        assert "as_rank is" in capsys.readouterr().err
    assert main(["ls", str(dump), "--base", str(tmp_path / "nowhere")]) == 2
    assert "is not below" in capsys.readouterr().err


def test_the_next_command_is_triage_of_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = tmp_path / "node" / "dump"
    testing.write_dump(dump / "Add.op.7.3.1768383043000000", outputs=[np.full(2, np.nan)])
    assert main(["stats", str(dump), "--base", str(tmp_path)]) == 0
    hint = capsys.readouterr().out.splitlines()[-1]
    command = shlex.split(hint)
    assert command[:2] == ["fastdump", "triage"]
    assert Path(command[2]).resolve() == dump
    assert main(command[1:]) == 1
    assert "NaN" in capsys.readouterr().out.splitlines()[0]
