"""Scans that take over rows of directories with the same names, without a look at their files."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_dumps import Demos
from test_concat import assert_same_table, write_random_tree
from test_since import (
    copy,
    dump_files,
    files_read,
    remove,
    rename,
    replace,
    rewrite,
    write_all_kinds,
)

import fastdump
from fastdump import StatsTable
from fastdump._cli import main
from fastdump._table.known_directories import KnownDirectory, from_json, to_json, to_trust
from fastdump.testing import write_dump


def directories(root: Path) -> list[Path]:
    return [root, *(path for path in root.rglob("*") if path.is_dir() and not path.is_symlink())]


def let_rest(root: Path) -> None:
    """Let the last change of all directories be an hour ago."""
    hour_ago = time.time() - 3600
    for directory in directories(root):
        os.utime(directory, (hour_ago, hour_ago))


def write_tensor(path: Path, value: float = 1.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_dump(path, outputs=[np.full(8, value, np.float32)])
    return path


def write_steps(root: Path, n_steps: int = 4, n_files: int = 3) -> list[Path]:
    return [
        write_tensor(root / "rank_0" / str(step) / f"Add.op{i}.{i}.0.{1_700_000_000_000_000 + i}")
        for step in range(n_steps)
        for i in range(n_files)
    ]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a dump with files of all kinds, some of which give no row, that nobody writes to."""
    root = write_all_kinds(tmp_path / "tree")
    (root / "empty" / "emptier").mkdir(parents=True)
    write_steps(root / "steps")
    (root / "steps" / "rank_0" / "0" / "notes.txt").write_text("no dump")
    let_rest(root)
    return root


def again(root: Any, earlier: Any, **options: Any) -> tuple[StatsTable, int]:
    return files_read(root, since=earlier, trust_directories=True, **options)


# The same table


@pytest.mark.parametrize("suffix", ["", ".parquet", ".arrow"])
def test_nothing_changed(tree: Path, tmp_path: Path, suffix: str) -> None:
    whole = fastdump.stats(tree)
    assert whole.skipped["text file"] == 2
    earlier: Any = whole
    if suffix:
        earlier = tmp_path / f"earlier{suffix}"
        whole.write(earlier)
    table, n_read = again(tree, earlier)
    assert_same_table(table, whole)
    _, n_read_without = files_read(tree, since=whole)
    assert n_read < n_read_without
    # What it has taken over it hands on.
    after_that, n_read_then = again(tree, table)
    assert_same_table(after_that, whole)
    assert n_read_then == n_read


def test_a_directory_of_sound_files_is_not_read(tmp_path: Path) -> None:
    write_steps(tmp_path)
    (tmp_path / "rank_0" / "1" / "notes.txt").write_text("no dump")
    let_rest(tmp_path)
    whole = fastdump.stats(tmp_path)
    table, n_read = again(tmp_path, whole)
    assert n_read == 0
    assert table.skipped == whole.skipped == {"text file": 1}
    assert_same_table(table, whole)


def new_directory(path: Path, rng: random.Random) -> None:
    write_tensor(path.parent / f"new{rng.randrange(9)}" / "deep" / "Add.a.1.2.1700000000000009")


def remove_directory(path: Path, _rng: random.Random) -> None:
    shutil.rmtree(path.parent, ignore_errors=True)


def move_directory(path: Path, rng: random.Random) -> None:
    if path.parent.is_dir():
        path.parent.rename(path.parent.with_name(f"moved{rng.randrange(10**6)}"))


CHANGES_OF_NAMES: list[Callable[[Path, random.Random], None]] = [
    *(remove, replace, rename, copy, new_directory, remove_directory, move_directory)
]


@pytest.mark.parametrize("change", CHANGES_OF_NAMES, ids=lambda change: change.__name__)
def test_one_kind_of_change(tree: Path, change: Callable[[Path, random.Random], None]) -> None:
    rng = random.Random(3)
    earlier = fastdump.stats(tree, level="full")
    steps = tree / "steps"
    for path in [*rng.sample(dump_files(steps), 2), *rng.sample(dump_files(tree), 3)]:
        if path.exists():
            change(path, rng)
    table, _ = again(tree, earlier, level="full")
    assert_same_table(table, fastdump.stats(tree, level="full"))


@pytest.mark.parametrize("seed", range(3))
def test_a_dump_that_goes_on_changing(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    root = tmp_path / "tree"
    write_random_tree(root, seed)
    write_steps(root / "steps")
    table = fastdump.stats(root)
    for _ in range(6):
        if rng.random() < 0.5:
            let_rest(root)
        for path in rng.sample(dump_files(root), 2):
            if path.exists():
                rng.choice(CHANGES_OF_NAMES[:-2])(path, rng)
        table, _ = again(root, table)
        assert_same_table(table, fastdump.stats(root))


def test_files_come_into_a_directory_that_was_empty(tree: Path) -> None:
    earlier = fastdump.stats(tree)
    write_tensor(tree / "empty" / "emptier" / "Add.a.1.2.1700000000000009")
    table, _ = again(tree, earlier)
    assert len(table) == len(earlier) + 1
    assert_same_table(table, fastdump.stats(tree))


def test_names_that_are_no_text(tmp_path: Path) -> None:
    r"""Rows have ``\xff`` for the byte, which may be a name, too: neither is lost or mixed up."""
    odd = os.fsdecode(b"\xff")
    for i, name in enumerate(("plain", odd, r"\xff", f"deep/{odd}/er")):
        write_tensor(tmp_path / name / f"Add.a.1.2.{1_700_000_000_000_000 + i}", i)
    let_rest(tmp_path)
    whole = fastdump.stats(tmp_path)
    assert len(whole) == 4
    table, n_read = again(tmp_path, whole)
    assert_same_table(table, whole)
    assert n_read == 3


def test_several_roots_and_a_base(tmp_path: Path) -> None:
    for name in ("a", "b/c"):
        write_steps(tmp_path / name)
    let_rest(tmp_path)
    both: Any = [tmp_path / "a", tmp_path / "b"]
    for what, options in ((both, {}), (both, {"base": tmp_path}), (both[0], {"base": tmp_path})):
        whole = fastdump.stats(what, **options)
        table, n_read = again(what, whole, **options)
        assert_same_table(table, whole)
        assert n_read == 0
    # Rows lie in the same places, but the roots do not.
    earlier = fastdump.stats(tmp_path / "a", base=tmp_path)
    table, _ = again(tmp_path, earlier, base=tmp_path)
    assert_same_table(table, fastdump.stats(tmp_path, base=tmp_path))


def test_conditions(demos: Demos, tmp_path: Path) -> None:
    root = tmp_path / "dump"
    shutil.copytree(demos.model, root)
    let_rest(root)
    conditions: Any
    for conditions in ({"step": 1}, {"op_type": "MatMul*"}, {"status": "ok"}, {"dtype": "float16"}):
        whole = fastdump.stats(root, **conditions)
        table, _ = again(root, whole, **conditions)
        assert_same_table(table, whole)


def test_ranks_of_all(tree: Path) -> None:
    whole = fastdump.stats(tree, as_rank=77)
    assert_same_table(again(tree, whole, as_rank=77)[0], whole)


def test_roots_that_overlap(tmp_path: Path) -> None:
    first = write_steps(tmp_path / "a")[0]
    let_rest(tmp_path)
    for what in ([tmp_path, tmp_path / "a"], [tmp_path, first]):
        whole = fastdump.stats(what)
        assert_same_table(again(what, whole)[0], whole)


# What is seen, and what is not


def test_what_is_written_in_place_is_not_seen(tmp_path: Path) -> None:
    """The price, as it is documented."""
    first = write_steps(tmp_path)[0]
    let_rest(tmp_path)
    earlier = fastdump.stats(tmp_path)
    rewrite(first, random.Random(0))
    now = fastdump.stats(tmp_path)
    assert now["min"].tolist() != earlier["min"].tolist()
    table, n_read = again(tmp_path, earlier)
    assert n_read == 0
    assert table["min"].tolist() == earlier["min"].tolist()
    assert_same_table(fastdump.stats(tmp_path, since=table), now)


def test_directories_that_files_came_into_a_moment_ago_are_not_trusted(tmp_path: Path) -> None:
    first = write_steps(tmp_path)[0]
    earlier = fastdump.stats(tmp_path)
    rewrite(first, random.Random(0))
    table, n_read = again(tmp_path, earlier)
    assert n_read == 1
    assert_same_table(table, fastdump.stats(tmp_path))


def test_damaged_files_are_looked_at_until_they_are_whole(tmp_path: Path) -> None:
    first, *others = write_steps(tmp_path)
    content = first.read_bytes()
    os.truncate(first, len(content) - 8)
    let_rest(tmp_path)
    earlier = fastdump.stats(tmp_path)
    # Rows that were taken over tell it as well as those that were read.
    for _ in range(3):
        earlier, n_read = again(tmp_path, earlier)
        assert n_read == 0
        assert "truncated" in set(earlier["status"])
    rewrite(others[-1], random.Random(0))  # in a directory that is sound
    times = first.parent.stat()
    first.write_bytes(content)
    assert first.parent.stat().st_mtime_ns == times.st_mtime_ns
    table, n_read = again(tmp_path, earlier)
    assert n_read == 1
    assert set(table["status"]) == {"ok"}


@pytest.mark.parametrize("condition", ["status", "io"])
def test_conditions_may_hide_damage(tmp_path: Path, condition: str) -> None:
    """A file that meets a condition when it is whole has no row before."""
    conditions: Any = {condition: {"status": "ok", "io": "output"}[condition]}
    first = write_steps(tmp_path)[0]
    content = first.read_bytes()
    os.truncate(first, len(content) - 8 if condition == "status" else 2)
    let_rest(tmp_path)
    earlier = fastdump.stats(tmp_path, **conditions)
    first.write_bytes(content)
    table, _ = again(tmp_path, earlier, **conditions)
    assert len(table) == len(earlier) + 1 == 12


def test_a_table_without_directories_will_do(tmp_path: Path) -> None:
    """Joined tables have none: then all is looked at, and what damage was joined is known."""
    first = write_steps(tmp_path)[0]
    content = first.read_bytes()
    os.truncate(first, len(content) - 8)
    let_rest(tmp_path)
    shards = fastdump.concat([fastdump.stats(tmp_path, shard=(i, 2)) for i in range(2)])
    table, n_read = again(tmp_path, shards)
    assert n_read == 0
    assert_same_table(table, fastdump.stats(tmp_path))
    os.truncate(first, len(content) - 16)
    table, n_read = again(tmp_path, table)
    assert n_read == 1
    assert_same_table(table, fastdump.stats(tmp_path))


def test_a_shard_says_nothing_of_directories(tmp_path: Path) -> None:
    write_steps(tmp_path)
    let_rest(tmp_path)
    shard = fastdump.stats(tmp_path, shard=(0, 2))
    table, _ = again(tmp_path, shard)
    assert_same_table(table, fastdump.stats(tmp_path))


# Where it is given


def test_triage_and_commands(
    demos: Demos, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "dump"
    shutil.copytree(demos.model, root)
    let_rest(root)
    earlier = tmp_path / "earlier.parquet"
    fastdump.stats(root, level="full").write(earlier)
    report = fastdump.triage(root, since=earlier, trust_directories=True)
    assert report.sentence == fastdump.triage(root).sentence
    main(["triage", str(root)])
    expected = capsys.readouterr().out
    main(["triage", str(root), "--since", str(earlier), "--trust-directories"])
    assert capsys.readouterr().out == expected


def test_it_is_about_since(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_steps(tmp_path)
    earlier = fastdump.stats(tmp_path)
    with pytest.raises(ValueError, match="give both"):
        fastdump.stats(tmp_path, trust_directories=True)
    with pytest.raises(ValueError, match="without shard"):
        fastdump.stats(tmp_path, since=earlier, trust_directories=True, shard=(0, 2))
    with pytest.raises(ValueError, match="a table is read already"):
        fastdump.stats(earlier, trust_directories=True)
    assert main(["stats", str(tmp_path), "--trust-directories"]) == 2
    assert "give both" in capsys.readouterr().err


# What a file says of them


def test_a_written_table_is_the_same_with_any_threads(tmp_path: Path) -> None:
    for i in range(200):  # enough directories that threads list them in another order each time
        write_tensor(tmp_path / "dump" / f"{i % 7}" / f"{i}" / f"Add.op{i}.0.0.1700000000000000")
    let_rest(tmp_path / "dump")

    def written(threads: int) -> bytes:
        out = tmp_path / "table.parquet"
        fastdump.stats(tmp_path / "dump", threads=threads).write(out)
        return out.read_bytes()

    assert {written(threads) for threads in (1, 2, 8, 8, 8, 8)} == {written(1)}


ONE = KnownDirectory("a/b", 5, True, {"text file": 2})


def test_files_tell_directories() -> None:
    told = json.loads(json.dumps(to_json([ONE], 1)))
    assert from_json(told) == [ONE]
    assert to_json([ONE] * 2000, 10_000) is None
    assert to_json([ONE] * 2000, 20_000) is not None
    assert from_json(None) is None


@pytest.mark.parametrize(
    "told",
    [5, [5], [["a"]], [["a", 2**63, False, {}]], [["a", 1, 1, {}]], [["a", 1, True, {"x": -1}]]],
)
def test_files_that_tell_nonsense(told: object) -> None:
    with pytest.raises(ValueError, match="directories are"):
        from_json(told)


def test_what_lies_above_a_name_that_is_no_text_is_listed() -> None:
    known = [KnownDirectory(name, 7, False, {}) for name in ("", "a/", "a/b", r"a/b/\xff", "c")]
    states = {name: state for name, state, _ in to_trust(known)}
    assert states == {"": 0, "a": 0, "a/b": 0, "c": 7}
