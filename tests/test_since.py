"""Scans that take over rows of an earlier table: always the table of a whole scan."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sample_dumps import Demos, write_unusual
from test_concat import assert_same_table, write_random_tree

import fastdump
from fastdump import StatsTable
from fastdump._cli import main
from fastdump._table import merged


def write_all_kinds(root: Path) -> Path:
    """Write a dump with files of all kinds, some of which give no row."""
    write_random_tree(root, seed=2)
    write_unusual(root / "unusual")
    (root / "notes.txt").write_text("no dump")
    (root / "link").symlink_to(root / "notes.txt")
    return root


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_all_kinds(tmp_path / "tree")


def files_read(what: Any, **options: Any) -> tuple[StatsTable, int]:
    """Return a table, and how many files were opened for it."""
    reports: list[Any] = []
    table = fastdump.stats(what, progress=reports.append, **options)
    return table, reports[-1].files_done


def dump_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def remove(path: Path, _rng: random.Random) -> None:
    path.unlink()


def cut(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size + 1))


def replace(path: Path, _rng: random.Random) -> None:
    """Put another file of the same size and times in the place of one."""
    times = path.stat()
    content = bytearray(path.read_bytes())
    content[-1:] = bytes([content[-1] ^ 1]) if content else b""
    other = path.with_name("other")
    other.write_bytes(content)
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)


def rewrite(path: Path, _rng: random.Random) -> None:
    """Write other bytes into a file, and give it its old times."""
    times = path.stat()
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if content else b"")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def touch(path: Path, _rng: random.Random) -> None:
    os.utime(path)


def rename(path: Path, rng: random.Random) -> None:
    path.rename(path.with_name(f"Add.renamed.1.2.{rng.randrange(10**15, 10**16)}"))


def copy(path: Path, rng: random.Random) -> None:
    directory = path.parent / f"more{rng.randrange(9)}"
    directory.mkdir(exist_ok=True)
    shutil.copy(path, directory)


CHANGES: list[Callable[[Path, random.Random], None]] = [
    *(remove, cut, replace, rewrite, touch, rename, copy)
]


# The same table


@pytest.mark.parametrize("level", ["health", "full"])
@pytest.mark.parametrize("suffix", ["", ".parquet", ".arrow"])
def test_nothing_changed(tree: Path, tmp_path: Path, level: Any, suffix: str) -> None:
    whole = fastdump.stats(tree, level=level)
    assert whole.skipped
    earlier: Any = whole
    if suffix:
        earlier = tmp_path / f"earlier{suffix}"
        whole.write(earlier)
    table, n_read = files_read(tree, level=level, since=earlier)
    assert_same_table(table, whole)
    # Read again: files without a row, and the two whose names mapping.csv tells.
    names = {path.name for path in dump_files(tree)}
    assert n_read < len(dump_files(tree)) / 2
    assert n_read >= sum(name.isdecimal() for name in names)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_one_kind_of_change(tree: Path, change: Callable[[Path, random.Random], None]) -> None:
    rng = random.Random(3)
    earlier = fastdump.stats(tree, level="full")
    for path in rng.sample(dump_files(tree), 12):
        change(path, rng)
    whole = fastdump.stats(tree, level="full")
    assert_same_table(fastdump.stats(tree, level="full", since=earlier), whole)


@pytest.mark.parametrize("min_piece", [0, 10**9], ids=["pieces", "row by row"])
@pytest.mark.parametrize("seed", range(8))
def test_a_dump_that_goes_on_changing(
    tmp_path: Path, seed: int, min_piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each table is made from the one before, whichever way rows are put among others."""
    monkeypatch.setattr(merged, "_MIN_PIECE", min_piece)
    rng = random.Random(seed)
    root = tmp_path / "tree"
    write_random_tree(root, seed)
    table = fastdump.stats(root)
    for _ in range(6):
        for path in rng.sample(dump_files(root), 3):
            rng.choice(CHANGES)(path, rng)
        whole = fastdump.stats(root)
        table = fastdump.stats(root, since=table)
        assert_same_table(table, whole)


def test_a_new_step_and_a_new_rank(demos: Demos, tmp_path: Path) -> None:
    root = shutil.copytree(demos.model, tmp_path / "model")
    for condition in ("step", "rank"):
        whole = fastdump.stats(root)
        for number in sorted(set(whole[condition].tolist())):
            paths = set(whole.filter(**{condition: number})["path"])
            away = tmp_path / "away"
            for path in paths:
                (away / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).rename(away / path)
            earlier = fastdump.stats(root)
            for path in paths:
                (away / path).rename(root / path)
            table, n_read = files_read(root, since=earlier)
            assert_same_table(table, fastdump.stats(root))
            # Names that stand for others are always looked up again.
            stand_ins = [path for path in dump_files(root) if path.name.isdecimal()]
            mappings = list(root.rglob("mapping.csv"))
            assert len(paths) <= n_read <= len(paths) + len(stand_ins) + len(mappings)


def test_vanished_rows(tree: Path) -> None:
    earlier = fastdump.stats(tree)
    shutil.rmtree(tree / "unusual")
    table, n_read = files_read(tree, since=earlier)
    assert not [path for path in table["path"] if path.startswith("unusual/")]
    assert_same_table(table, fastdump.stats(tree))
    assert n_read < 5


def test_all_that_stats_takes(demos: Demos, tree: Path, tmp_path: Path) -> None:
    for what, options in [
        ([tree, demos.overflow], {}),
        (tree, {"as_rank": 3}),
        (tree, {"base": tmp_path}),
        (tree, {"base": tmp_path, "as_rank": 4}),
        (tree, {"shard": (1, 3)}),
        (tree, {"logical": True, "threads": 1, "engine": "read"}),
        (tree, {"io": "output", "status": "ok"}),
        (tree, {"follow_links": True}),
    ]:
        earlier, n_first = files_read(what, **options)
        table, n_read = files_read(what, **options, since=earlier)
        assert_same_table(table, earlier)
        assert n_read < n_first / 2 or "status" in options
        changed = sorted(set(earlier["path"]))[0]
        file = Path(earlier.root or "", changed)
        file.write_bytes(file.read_bytes())
        assert_same_table(fastdump.stats(what, **options, since=earlier), earlier)


def test_tables_that_were_joined(tree: Path) -> None:
    parts = [fastdump.stats(tree, shard=(i, 4)) for i in range(4)]
    whole = fastdump.stats(tree)
    assert_same_table(fastdump.stats(tree, since=fastdump.concat(parts)), whole)
    # One that lacks a part: its files are read.
    assert_same_table(fastdump.stats(tree, since=fastdump.concat(parts[1:])), whole)


def test_rows_find_their_files(tree: Path) -> None:
    earlier = fastdump.stats(tree)
    name = next(row.path for row in earlier if row.status == "ok" and row.source == "tensor")
    rewrite(tree / name, random.Random())
    table = fastdump.stats(tree, since=earlier)
    rows = [row for row in table if row.path == name]
    assert rows[0].tensor().stats().count == rows[0].count
    rewrite(tree / name, random.Random())
    with pytest.raises(fastdump.FileChangedError):
        rows[0].tensor().stats()


def test_triage(demos: Demos) -> None:
    table = fastdump.stats(demos.overflow, level="full")
    report = fastdump.triage(demos.overflow, since=table)
    assert report.to_dict() == fastdump.triage(demos.overflow).to_dict()


# Files that are being written


def test_files_that_are_perhaps_still_being_written(demos: Demos, tmp_path: Path) -> None:
    root = shutil.copytree(demos.overflow, tmp_path / "dump")
    young, old, empty = dump_files(root)[:3]
    for path, age_s in [(young, 5), (old, 500), (empty, 5)]:
        os.truncate(path, 0 if path == empty else path.stat().st_size - 1)
        os.utime(path, (time.time() - age_s,) * 2)
    plain = fastdump.stats(root)
    table = fastdump.stats(root, settle=100)
    text = "perhaps still being written"
    said = {row.path for row in table if text in (row.note or "")}
    assert said == {str(path.relative_to(root)) for path in (young, empty)}
    assert table.notes == [f"2 damaged files changed less than 100 s before: {text}"]
    # All else is as it is without.
    assert table["status"].tolist() == plain["status"].tolist()
    notes = [note and note.removesuffix(f"; {text}") for note in table["note"]]
    assert notes == plain["note"].tolist()
    # They are asked for again, though they have not changed.
    again, n_read = files_read(root, since=table, settle=100)
    assert_same_table(again, table)
    assert n_read == 2
    for path in (young, empty):
        os.utime(path, (time.time() - 500,) * 2)
    settled, n_read = files_read(root, since=again, settle=100)
    assert_same_table(settled, plain)
    assert n_read == 2
    _, n_read = files_read(root, since=settled, settle=100)
    assert n_read == 0
    report = fastdump.triage(root, settle=1000)
    assert text in "".join(report.notes) + str(report)


def test_settle_is_a_number_of_seconds(tree: Path) -> None:
    for settle in (-1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="settle is"):
            fastdump.stats(tree, settle=settle)


# The command line


def test_commands(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], demos: Demos
) -> None:
    first, second = tmp_path / "first.parquet", tmp_path / "second.parquet"
    codes = [main(["stats", str(tree), "-o", str(first)])]
    touch(dump_files(tree)[0], random.Random())
    codes.append(main(["stats", str(tree), "--since", str(first), "-o", str(second)]))
    assert codes[0] == codes[1]
    assert_same_table(fastdump.read_stats(second), fastdump.stats(tree))
    capsys.readouterr()
    main(["stats", str(demos.overflow), "--level", "full", "-o", str(first)])
    capsys.readouterr()
    code = main(["triage", str(demos.overflow), "--since", str(first)])
    found = capsys.readouterr().out
    assert main(["triage", str(demos.overflow)]) == code
    assert capsys.readouterr().out == found
    assert main(["triage", str(demos.overflow), "--since", str(second)]) == 2
    assert "paths relative to" in capsys.readouterr().err


# Tables whose rows cannot be taken over


def test_another_scan_is_refused(tree: Path, tmp_path: Path) -> None:
    earlier = fastdump.stats(tree)
    for options, words in [
        ({"level": "full"}, "level 'basic', this scan 'full'"),
        ({"logical": True}, "logical False"),
        ({"as_rank": 1}, "as_rank None"),
        ({"io": "output"}, "conditions {}"),
        ({"base": tmp_path}, "paths relative to"),
    ]:
        with pytest.raises(ValueError, match=words):
            fastdump.stats(tree, since=earlier, **options)
    with pytest.raises(ValueError, match="paths relative to"):
        fastdump.stats(tree / "unusual", since=earlier)
    earlier = fastdump.stats(tree, as_rank=3, rank=3)
    with pytest.raises(ValueError, match="as_rank and rank"):
        fastdump.stats(tree, since=earlier, as_rank=3, rank=3)
    earlier = fastdump.stats(tree, as_rank=1)
    with pytest.raises(ValueError, match="a rank that some paths tell, too"):
        fastdump.stats(tree, since=earlier, as_rank=1)
    with pytest.raises(ValueError, match="not for a Dump"):
        fastdump.stats(fastdump.open(tree), since=earlier)
    with pytest.raises(ValueError, match="since is for dumps"):
        fastdump.stats(earlier, since=earlier)


def test_another_version_is_refused(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = fastdump.stats(tree)
    monkeypatch.setattr(fastdump._core, "__version__", "0.0")
    with pytest.raises(ValueError, match=r"this is 0\.0"):
        fastdump.stats(tree, since=earlier)


def test_some_rows_are_no_table(tree: Path, tmp_path: Path) -> None:
    """Of a file of which some rows are left out nobody can tell that they are not all."""
    whole = fastdump.stats(tree)
    whole.write(tmp_path / "whole.parquet")
    whole.write(tmp_path / "whole.csv")
    whole.write(tmp_path / "whole.json")
    data = pl.read_parquet(tmp_path / "whole.parquet")
    data.write_parquet(tmp_path / "without_metadata.parquet")
    fewer = [
        *(whole[1:], whole.filter(bad=True), whole.sort("path"), whole.worst()),
        whole.moved_to(tree),
        StatsTable(data),
        fastdump.read_stats(tmp_path / "whole.parquet", root=tree),
        *(tmp_path / name for name in ("whole.csv", "whole.json", "without_metadata.parquet")),
    ]
    for earlier in fewer:
        with pytest.raises(ValueError, match="does not tell the states of its files"):
            fastdump.stats(tree, since=earlier)


def test_rows_that_another_program_left_out(tree: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    fastdump.stats(tree).write(tmp_path / "whole.parquet")
    data = pq.read_table(tmp_path / "whole.parquet")
    pq.write_table(data[:-1], tmp_path / "fewer.parquet")  # with all metadata
    assert data.schema.metadata == pq.read_schema(tmp_path / "fewer.parquet").metadata
    with pytest.raises(ValueError, match="does not tell the states of its files"):
        fastdump.stats(tree, since=tmp_path / "fewer.parquet")


def test_an_interrupted_scan_is_no_basis(tree: Path) -> None:
    from fastdump._selection import Selection
    from fastdump._stats import new_scan

    scan = new_scan([tree], Selection(), level="basic")

    def stop(_progress: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan.run(stop)
    with pytest.raises(ValueError, match="does not tell the states"):
        fastdump.stats(tree, since=scan.table())


def test_files_without_states_are_as_before(tree: Path, tmp_path: Path) -> None:
    """The column of states is no column of the table."""
    whole = fastdump.stats(tree)
    whole.write(tmp_path / "whole.parquet")
    read = fastdump.read_stats(tmp_path / "whole.parquet")
    assert "state" not in read.columns
    assert_same_table(read, whole)
    data = pl.read_parquet(tmp_path / "whole.parquet")
    assert data.columns == [*whole.columns, "state"]
    assert_same_table(StatsTable(data.drop("state")), StatsTable(data))
