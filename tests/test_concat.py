"""Tables of parts of a dump, joined: the table that one scan of the whole gives."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sample_dumps import Demos, dump_name, write_unusual

import fastdump
from fastdump import StatsTable, concat, testing

TIME = "20260114093042"


@pytest.fixture(scope="module")
def unusual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_unusual(tmp_path_factory.mktemp("unusual") / "dump")
    (root / "notes.txt").write_text("no dump")
    (root / "more").mkdir()
    (root / "more" / "notes.txt").write_text("no dump either")
    return root


def assert_same_table(table: StatsTable, expected: StatsTable, *, roots: bool = True) -> None:
    """Check that two tables are the same bit for bit, and say the same beside their rows."""
    columns, expected_columns = pa.table(table), pa.table(expected)
    assert columns.column_names == expected_columns.column_names
    for name in columns.column_names:
        found, wanted = columns[name].combine_chunks(), expected_columns[name].combine_chunks()
        assert found.type == wanted.type, name
        if pa.types.is_floating(found.type):  # NaN is not equal to itself
            assert found.is_null().equals(wanted.is_null()), name
            found, wanted = (
                pa.array(column.fill_null(0).to_numpy(zero_copy_only=False).view(np.int64))
                for column in (found, wanted)
            )
        assert found.equals(wanted), name
    for said in ("level", "skipped", "root", "notes", *(("roots",) if roots else ())):
        assert getattr(table, said) == getattr(expected, said), said


def shuffled(parts: Sequence[Any], seed: int = 5) -> list[Any]:
    mixed = list(parts)
    random.Random(seed).shuffle(mixed)
    return mixed


# The same as one scan


@pytest.mark.parametrize("level", ["health", "full"])
def test_ranks_and_steps(demos: Demos, level: Any) -> None:
    whole = fastdump.stats(demos.model, level=level)
    for condition, values in (("rank", whole["rank"]), ("step", whole["step"])):
        numbers = sorted(set(values.tolist()))
        assert len(numbers) > 1
        parts = [fastdump.stats(demos.model, level=level, **{condition: n}) for n in numbers]
        for order in itertools.permutations(parts):
            assert_same_table(concat(order), whole)


def test_directories(demos: Demos) -> None:
    whole = fastdump.stats(demos.model)
    directories = sorted(path for path in demos.model.iterdir() if path.is_dir())
    joined = concat(fastdump.stats(path) for path in reversed(directories))
    assert_same_table(joined, whole, roots=False)
    assert joined.roots == [str(path) for path in reversed(directories)]
    assert_same_table(
        concat(fastdump.stats(path, base=demos.model) for path in directories),
        fastdump.stats(directories, base=demos.model),
    )


def test_files(unusual: Path) -> None:
    files = sorted(path for path in unusual.rglob("*") if path.is_file())
    assert len(files) > 15
    whole = fastdump.stats(files, base=unusual)
    # What a single file gives that is no dump is an error, not a table.
    parts = [fastdump.stats(files[i::4], base=unusual) for i in range(4)]
    joined = concat(parts)
    assert_same_table(joined, whole, roots=False)
    assert sorted(joined.roots) == sorted(whole.roots)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_shards(demos: Demos, unusual: Path, n: int) -> None:
    for root in (demos.model, unusual):
        whole = fastdump.stats(root, level="full")
        parts = [fastdump.stats(root, level="full", shard=(i, n)) for i in range(n)]
        assert sum(map(len, parts)) == len(whole)
        assert_same_table(concat(shuffled(parts)), whole)


def test_shards_of_several_roots(demos: Demos, unusual: Path) -> None:
    roots = [unusual, demos.overflow, demos.watcher]
    whole = fastdump.stats(roots)
    assert whole.skipped
    parts = [fastdump.stats(roots, shard=(i, 3)) for i in range(3)]
    assert_same_table(concat(shuffled(parts)), whole)


def shard_of(path: str, n: int) -> int:
    """Return the shard of a file: FNV-1a of its path, mixed as SplitMix64 does."""
    wrap = 2**64 - 1
    hash = 14695981039346656037
    for byte in path.encode():
        hash = (hash ^ byte) * 1099511628211 & wrap
    hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9 & wrap
    hash = (hash ^ hash >> 27) * 0x94D049BB133111EB & wrap
    return (hash ^ hash >> 31) % n


def test_a_shard_depends_on_paths_below_the_root_alone(demos: Demos, tmp_path: Path) -> None:
    moved = shutil.copytree(demos.overflow, tmp_path / "elsewhere")
    files = [set(fastdump.stats(root, shard=(1, 3))["path"]) for root in (demos.overflow, moved)]
    assert files[0] == files[1]
    whole = set(fastdump.stats(demos.overflow)["path"])
    # Other machines and versions have to agree, so the choice is part of the interface.
    for i in range(3):
        expected = {path for path in whole if shard_of(path, 3) == i}
        assert set(fastdump.stats(demos.overflow, shard=(i, 3))["path"]) == expected


def write_random_tree(root: Path, seed: int) -> None:
    """Write operators that few columns tell apart: hardly any timestamp, and the same directories.

    Some names tell a device where directories do not, some files hold several operators.
    """
    rng = random.Random(seed)
    places = ["", "a", "a/b", "a.b", "a/b/c", "b", "rank_1", f"rank_0/{TIME}/2/net/1/3", "dfx"]
    places += [
        f"{TIME}/0",
        f"{TIME}/0/net/1/0",
        f"{TIME}/0/net/1/1",
        f"{TIME}/1/net",
        f"{TIME}/0/0",
    ]
    places += ["step_1", "\udcff", "extra-info/data-dump/3"]
    values = np.arange(6, dtype=np.float32)
    for i in range(60):
        place = root / rng.choice(places)
        at = rng.choice([0, 0, 1, 2])
        task = rng.choice([1, 2])
        name = f"op{rng.randrange(40)}"
        kind = rng.randrange(5)
        if kind == 0:
            testing.write_statistics_csv(
                place / f"{dump_name(name, at, task_id=task)}.csv", outputs=[values * i]
            )
        elif kind == 1:
            thread = (
                f"{dump_name(name, at, task_id=task)}.4.{rng.randrange(2)}.0.{rng.randrange(3)}"
            )
            testing.write_dump(place / thread, inputs=[values], outputs=[values * i])
        elif kind == 2:
            place.mkdir(parents=True, exist_ok=True)
            np.save(place / f"{name}.output.0.npy", values + i)
        else:
            testing.write_dump(
                place / dump_name(name, at, task_id=task), inputs=[values], outputs=[values + i]
            )


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_little_tells_apart(tmp_path: Path, seed: int) -> None:
    write_random_tree(tmp_path, seed)
    whole = fastdump.stats(tmp_path, level="full")
    n = 3
    parts = [fastdump.stats(tmp_path, level="full", shard=(i, n)) for i in range(n)]
    assert_same_table(concat(shuffled(parts, seed)), whole)
    by_tensor = [fastdump.stats(tmp_path, level="full", io=io) for io in ("output", "input")]
    with_tensors = fastdump.stats(tmp_path, level="full", io=["input", "output"])
    # What both left out counts twice.
    skipped = {reason: 2 * n for reason, n in with_tensors.skipped.items()}
    assert_same_table(concat(by_tensor), StatsTable(with_tensors, skipped=skipped))


def test_written_pickled_and_sliced_parts(demos: Demos, tmp_path: Path) -> None:
    whole = fastdump.stats(demos.overflow)
    parts = [whole[i::3] for i in range(3)]
    parts = [StatsTable(part, skipped={}) for part in parts]
    for i, part in enumerate(parts):
        part.write(tmp_path / f"{i}.parquet")
    assert_same_table(concat(parts), whole)
    assert_same_table(concat(fastdump.read_stats(path) for path in tmp_path.iterdir()), whole)


def test_triage_of_joined_ranks(demos: Demos) -> None:
    directories = [path for path in demos.model.iterdir() if path.is_dir()]
    joined = concat(fastdump.stats(path, level="full") for path in shuffled(directories))
    assert fastdump.triage(joined).to_dict() == fastdump.triage(demos.model).to_dict()


# Roots and files


def test_rows_find_their_files(demos: Demos) -> None:
    joined = concat([fastdump.stats(demos.overflow), fastdump.stats(demos.watcher, base="/")])
    assert joined.root == "/"
    for row in joined:
        assert Path(row.file()).is_file()
    assert joined[0].tensor().stats() is not None
    assert {op.path for op in fastdump.open(joined)} == {row.file() for row in joined}
    apart = concat([fastdump.stats(demos.overflow), fastdump.stats(demos.watcher)])
    assert apart.root == str(demos.overflow.parent)
    assert len(fastdump.compare(joined, apart)) == len(apart)


def test_a_file_that_was_written_again_is_known(demos: Demos, tmp_path: Path) -> None:
    for name in ("one", "two"):
        testing.write_dump(tmp_path / name / dump_name(name, 1), outputs=[np.ones(4, np.float32)])
    joined = concat(fastdump.stats(tmp_path / name) for name in ("one", "two"))
    path = Path(joined[1].file())
    path.unlink()
    testing.write_dump(path, outputs=[np.zeros(4, np.float32)])
    np.asarray(joined[0].tensor())
    with pytest.raises(fastdump.FileChangedError):
        np.asarray(joined[1].tensor())


def test_open_of_a_table_with_a_base(demos: Demos) -> None:
    table = fastdump.stats(demos.overflow, base=demos.overflow.parent)
    assert set(table["path"]) == {
        f"overflow/{path}" for path in fastdump.stats(demos.overflow)["path"]
    }
    assert [op.path for op in fastdump.open(table)] == [
        op.path for op in fastdump.open(demos.overflow)
    ]


def test_base(demos: Demos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demos.model.parent)
    for given in ("overflow", ["overflow", "watcher"], ["./watcher/", demos.overflow]):
        table = fastdump.stats(given, base="..")
        assert table.root == str(demos.model.parent.parent)
        assert table["path"][0].startswith(f"{demos.model.parent.name}/")
        assert all(Path(row.file()).is_file() for row in table)
    for what in ("overflow", fastdump.stats("overflow"), fastdump.open("overflow")):
        with pytest.raises(ValueError, match=r"base is .*'overflow' is not below|is not below"):
            fastdump.stats(what, base=tmp_path)
    names = ["\udcff", r"\xfe"]
    for i, name in enumerate(names):
        testing.write_dump(
            tmp_path / name / dump_name("op", i), outputs=[np.full(3, i, np.float32)]
        )
    table = concat(fastdump.stats(tmp_path / name, base=tmp_path) for name in names)
    assert [np.asarray(row.tensor())[0] for row in table] == [0, 1]


# Refused


def test_levels_differ(demos: Demos) -> None:
    tables = [fastdump.stats(demos.overflow, level=level) for level in ("basic", "full")]
    with pytest.raises(ValueError, match=r"table 1 .*'basic'.*table 2 .*'full'"):
        concat(tables)


def plain_trees(tmp_path: Path) -> list[Path]:
    """Write the same tree twice, as two nodes do that know no rank."""
    trees = [tmp_path / name for name in ("node0", "node1")]
    for i, tree in enumerate(trees):
        place = testing.model_dump_dir(tree, time=TIME, device=0, model="net", model_id=1, step=0)
        for at in range(3):
            testing.write_dump(
                place / dump_name(f"op{at}", at), outputs=[np.full(4, i, np.float32)]
            )
    return trees


def test_rows_that_collide(tmp_path: Path) -> None:
    trees = plain_trees(tmp_path)
    # As on two machines, where both have one path.
    tables = [fastdump.stats(tree).moved_to("/dump") for tree in trees]
    with pytest.raises(ValueError, match=r"op0.* output\.0 is in table 1 .*as_rank=.*base="):
        concat(tables)
    with pytest.raises(ValueError, match="scanned twice"):
        concat([tables[0], tables[0][2:3]])
    ranked = concat(fastdump.stats(table, as_rank=i) for i, table in enumerate(tables))
    assert ranked["rank"].tolist() == [0, 0, 0, 1, 1, 1]
    assert ranked["max"].tolist() == [0, 0, 0, 1, 1, 1]


def test_halves_of_one_file_do_not_collide(unusual: Path) -> None:
    whole = fastdump.stats(unusual)
    assert len(concat([whole[:7], whole[7:]])) == len(whole)


def test_nothing_and_other_things(demos: Demos) -> None:
    with pytest.raises(ValueError, match="at least one table"):
        concat([])
    with pytest.raises(TypeError, match="str"):
        concat(["a.parquet"])  # type: ignore[list-item]
    table = fastdump.stats(demos.overflow)
    with pytest.raises(ValueError, match="root="):
        concat([table, StatsTable(pa.table(table).replace_schema_metadata(None)[:1])])
    assert_same_table(concat([table[:0], table]), StatsTable(table, skipped={}))
    assert len(concat([table[:0], table[:0]])) == 0


# Ranks


def test_as_rank(tmp_path: Path, demos: Demos) -> None:
    trees = plain_trees(tmp_path)
    table = fastdump.stats(trees[0], as_rank=3)
    assert table["rank"].tolist() == [3, 3, 3]
    assert table.notes == []
    for what in (fastdump.stats(trees[0]), fastdump.open(trees[0]), [trees[0]]):
        assert_same_table(fastdump.stats(what, as_rank=3), table)
    assert len(fastdump.stats(trees[0], as_rank=3, rank="2-3")) == 3
    with pytest.raises(fastdump.NoDumpError):
        fastdump.stats(trees[0], as_rank=3, rank=4)
    told = fastdump.stats(demos.model, as_rank=1)
    assert sorted(set(told["rank"].tolist())) == [0, 1]
    assert "rank" in told.notes[0]
    for wrong in (-1, "first"):
        with pytest.raises(ValueError, match="as_rank is"):
            fastdump.stats(trees[0], as_rank=wrong)  # type: ignore[arg-type]


def test_as_rank_where_some_paths_tell_one(tmp_path: Path) -> None:
    for place, at in (("rank_5", 0), ("plain", 1), ("rank_1", 2)):
        testing.write_dump(tmp_path / place / dump_name("op", at), outputs=[np.ones(2)])
    table = fastdump.stats(tmp_path, as_rank=3)
    assert table["rank"].tolist() == [1, 3, 5]  # in the order of ranks, as ever
    assert "2 rows" in table.notes[0]


def test_rank_of_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = plain_trees(tmp_path)[0]
    variables = ("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "RANK")
    for name in variables:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK"):
        fastdump.stats(tree, as_rank="env")
    assert fastdump.stats(tree)["rank"].mask.all()  # never without being asked
    for rank, name in enumerate(variables):
        monkeypatch.setenv(name, str(rank))  # the last counts most
        assert fastdump.stats(tree, as_rank="env")["rank"][0] == rank
    monkeypatch.setenv("RANK", "one")
    with pytest.raises(ValueError, match="RANK is 'one'"):
        fastdump.stats(tree, as_rank="env")


def test_two_nodes_that_look_like_one(tmp_path: Path, demos: Demos) -> None:
    trees = plain_trees(tmp_path)
    for table in (fastdump.stats(trees), concat(map(fastdump.stats, trees))):
        (note,) = table.notes
        assert str(trees[0]) in note
        assert str(trees[1]) in note
        assert "as_rank=" in note
        assert note in repr(table)
        assert note in fastdump.triage(table).notes
    ranked = concat(fastdump.stats(tree, as_rank=i) for i, tree in enumerate(trees))
    assert ranked.notes == []
    # Nothing is wrong with several steps, several ranks, or files of one directory.
    place = next(path.parent for path in trees[0].rglob("Add*"))
    steps = [place, shutil.copytree(place, place.parent / "1")]
    for given in (steps, sorted(place.iterdir()), list(demos.model.iterdir())):
        assert fastdump.stats(given).notes == []
        assert concat(fastdump.stats(path) for path in given).notes == []
