"""Scans that write parts: ended at any moment and begun again, they give the table of one scan."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_dumps import write_unusual
from test_concat import assert_same_table, write_random_tree
from test_since import CHANGES, dump_files, files_read, touch

import fastdump
from fastdump import DumpFormatError, StatsTable, _parts
from fastdump._cli import main
from fastdump._table.manifest import NAME, NOT_FINISHED

KILLED = -signal.SIGKILL


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    write_random_tree(root, seed=4)
    write_unusual(root / "unusual")
    (root / "notes.txt").write_text("no dump")
    (root / "link").symlink_to(root / "notes.txt")
    return root


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let parts be of nine files, however long these take."""
    monkeypatch.setattr(_parts, "_FIRST_FILES", 9)
    monkeypatch.setattr(_parts, "_GROWTH", 1)
    monkeypatch.setattr(_parts, "_MIN_S", 1e9)
    monkeypatch.setattr(_parts, "_MAX_S", 1e9)


def part_names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if path.name.startswith("part-"))


def check_directory(directory: Path, whole: StatsTable) -> None:
    """Check that a directory has the parts of a whole scan, and nothing else."""
    assert_same_table(fastdump.read_stats(directory), whole)
    manifest = json.loads((directory / NAME).read_bytes())
    assert manifest["complete"]
    assert part_names(directory) == sorted(manifest["parts"])
    assert {path.name for path in directory.iterdir()} == {
        *(NAME, "_fastdump.lock"),
        *manifest["parts"],
    }


def killed_at(n: int, work: Callable[[], object]) -> bool:
    """Do some work in a child, which is killed around its `n`-th change of a directory.

    Return whether it was: else there are fewer changes.
    """
    child = os.fork()
    if child == 0:
        left = [n]

        def counted(call: Callable[..., Any]) -> Callable[..., Any]:
            def around(*arguments: Any, **more: Any) -> Any:
                for moment in ("before", "after"):
                    left[0] -= 1
                    if left[0] == 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                    if moment == "before":
                        result = call(*arguments, **more)
                return result

            return around

        for name in ("replace", "unlink", "fsync"):
            setattr(os, name, counted(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == KILLED


# The same table


def test_one_scan(tree: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    whole = fastdump.stats(tree, level="full")
    assert whole.skipped
    assert_same_table(fastdump.stats(tree, level="full", parts=parts), whole)
    check_directory(parts, whole)
    assert len(part_names(parts)) > 5
    # Parts alone, as other programs read them, add up to the same.
    assert_same_table(fastdump.read_stats(f"{parts}/part-*.parquet"), whole)
    names = part_names(parts)
    table, n_read = files_read(tree, level="full", parts=parts)
    assert_same_table(table, whole)
    assert n_read < len(dump_files(tree)) / 3
    assert len(set(names) & set(part_names(parts))) >= 3
    check_directory(parts, whole)


@pytest.mark.threads_after_fork
def test_killed_at_any_moment(tree: Path, tmp_path: Path) -> None:
    whole = fastdump.stats(tree)
    n, n_kept = 0, []
    parts = tmp_path / "parts"
    fastdump.stats(tree, parts=parts)
    _, n_always = files_read(tree, parts=parts)  # such as broken files
    shutil.rmtree(parts)
    while True:
        n += 7
        if not killed_at(n, lambda: fastdump.stats(tree, parts=parts)):
            break
        manifest = json.loads((parts / NAME).read_bytes()) if (parts / NAME).exists() else {}
        kept = set()
        if manifest.get("parts"):
            seen = fastdump.read_stats(parts)
            assert (NOT_FINISHED in seen.skipped) is not manifest["complete"]
            kept = set(seen["path"])
            assert kept <= set(whole["path"])
        table, n_read = files_read(tree, parts=parts)
        assert_same_table(table, whole)
        check_directory(parts, whole)
        # Files of complete parts are not read again.
        assert n_read <= len(dump_files(tree)) - len(kept) + n_always
        n_kept.append(len(kept))
        shutil.rmtree(parts)
    assert len(n_kept) > 10
    assert max(n_kept) > n_always


@pytest.mark.threads_after_fork
@pytest.mark.parametrize("seed", range(6))
def test_killed_again_and_again_while_the_dump_changes(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    root, parts = tmp_path / "tree", tmp_path / "parts"
    write_random_tree(root, seed)
    for _ in range(8):
        killed_at(rng.randrange(1, 40), lambda: fastdump.stats(root, parts=parts))
        for path in rng.sample(dump_files(root), 2):
            rng.choice(CHANGES)(path, rng)
    whole = fastdump.stats(root)
    assert_same_table(fastdump.stats(root, parts=parts), whole)
    check_directory(parts, whole)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_dump_that_changed(tree: Path, tmp_path: Path, change: Callable[..., None]) -> None:
    rng = random.Random(1)
    fastdump.stats(tree, parts=tmp_path / "parts")
    for path in rng.sample(dump_files(tree), 5):
        change(path, rng)
    whole = fastdump.stats(tree)
    assert_same_table(fastdump.stats(tree, parts=tmp_path / "parts"), whole)
    check_directory(tmp_path / "parts", whole)


def test_all_that_stats_takes(tree: Path, tmp_path: Path) -> None:
    for i, options in enumerate(
        [
            {"as_rank": 5},
            {"base": tmp_path},
            {"base": tmp_path, "as_rank": 6},
            {"shard": (1, 3)},
            {"io": "output"},
            {"logical": True, "follow_links": True},
        ]
    ):
        whole = fastdump.stats(tree, **options)
        for _ in range(2):
            table = fastdump.stats(tree, parts=tmp_path / f"parts{i}", **options)
            assert_same_table(table, whole)
            check_directory(tmp_path / f"parts{i}", whole)
            touch(Path(whole.root or "", whole["path"][0]), random.Random())


def test_since_parts(tree: Path, tmp_path: Path) -> None:
    whole = fastdump.stats(tree, parts=tmp_path / "parts")
    table, n_read = files_read(tree, since=tmp_path / "parts")
    assert_same_table(table, whole)
    assert n_read < len(dump_files(tree)) / 3


def test_shards(tree: Path, tmp_path: Path) -> None:
    whole = fastdump.stats(tree)
    for i in range(3):
        fastdump.stats(tree, shard=(i, 3), parts=tmp_path / f"parts/shard={i}")
    assert_same_table(fastdump.read_stats(tmp_path / "parts"), whole)
    assert_same_table(fastdump.stats(tmp_path / "parts"), whole)
    manifest = tmp_path / "parts/shard=1" / NAME
    said = json.loads(manifest.read_bytes())
    manifest.write_text(json.dumps(said | {"complete": False, "left": 5}))
    assert fastdump.read_stats(tmp_path / "parts").skipped[NOT_FINISHED] == 5


# Ended in order


def test_an_exception_keeps_what_is_complete(tree: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    reached = []

    def stop(progress: Any) -> None:
        reached.append(progress.files_done)
        if progress.files_done > 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fastdump.stats(tree, parts=parts, progress=stop)
    seen = fastdump.read_stats(parts)
    assert len(seen)
    assert seen.skipped[NOT_FINISHED] > 1
    table, n_read = files_read(tree, parts=parts)
    assert_same_table(table, fastdump.stats(tree))
    # How many parts were complete depends on the machine; one was.
    assert n_read <= len(dump_files(tree)) - _parts._FIRST_FILES


def test_sigterm(tree: Path, tmp_path: Path) -> None:
    """The command ends as signals end it, and says what it has done; the next one goes on."""
    program = """
import os, signal, sys
from fastdump import _parts
from fastdump._cli import main
_parts._FIRST_FILES, _parts._GROWTH = 9, 1
write = _parts.PartsScan._write_part
def written(scan, *arguments, **more):
    write(scan, *arguments, **more)
    if len(scan._parts) == 3:
        os.kill(os.getpid(), signal.SIGTERM)
_parts.PartsScan._write_part = written
sys.exit(main(sys.argv[1:]))
"""
    arguments = ["stats", str(tree), "--rows", "0", "-o", f"{tmp_path}/parts/"]
    ended = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 128 + signal.SIGTERM, ended.stderr
    assert "interrupted after" in ended.stderr
    assert fastdump.read_stats(tmp_path / "parts").skipped[NOT_FINISHED] > 1
    whole = fastdump.stats(tree)
    main(arguments)
    check_directory(tmp_path / "parts", whole)


# The command line


def test_command(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = tmp_path / "parts"
    code = main(["stats", str(tree), "--rows", "0"])
    expected = capsys.readouterr()
    for output in (f"{parts}/", str(parts)):
        assert main(["stats", str(tree), "--rows", "0", "-o", output]) == code
        found = capsys.readouterr()
        assert found.out.splitlines()[1:] == expected.out.splitlines()[1:]
    check_directory(parts, fastdump.stats(tree))
    assert main(["stats", str(parts), "--rows", "0"]) == code
    assert main(["stats", str(tree), "-o", f"{parts}/", "-o", f"{tmp_path}/b/"]) == 2
    assert "one directory" in capsys.readouterr().err
    assert main(["stats", str(tree), "--level", "full", "-o", f"{parts}/"]) == 2
    assert "level 'basic'" in capsys.readouterr().err
    assert main(["stats", str(parts), "-o", f"{tmp_path}/b/"]) == 2


# What cannot go on


def test_another_scan_is_refused(tree: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    fastdump.stats(tree, parts=parts)
    for options, words in [
        ({"level": "full"}, "level 'basic', and this one has 'full'"),
        ({"logical": True}, "logical False"),
        ({"as_rank": 7}, "as_rank None"),
        ({"step": 3}, "selection"),
        ({"shard": (0, 2)}, "shard None"),
        ({"follow_links": True}, "follow_links False"),
        ({"base": tmp_path}, "root "),
    ]:
        with pytest.raises(ValueError, match=words):
            fastdump.stats(tree, parts=parts, **options)
    with pytest.raises(ValueError, match="roots"):
        fastdump.stats(tree / "unusual", parts=parts)
    with pytest.raises(ValueError, match="since or parts"):
        fastdump.stats(tree, parts=parts, since=parts)
    with pytest.raises(ValueError, match="is below another"):
        fastdump.stats([tree, tree / "unusual"], parts=tmp_path / "other")
    check_directory(parts, fastdump.stats(tree))


def test_two_scans_at_once(tree: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    refused = []

    def second(_progress: Any) -> None:
        with pytest.raises(ValueError, match="another scan is writing"):
            fastdump.stats(tree, parts=parts)
        refused.append(True)

    table = fastdump.stats(tree, parts=parts, progress=second)
    assert refused
    assert_same_table(table, fastdump.stats(tree))


def test_a_directory_of_something_else(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.parquet").write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"mine\.parquet"):
        fastdump.stats(tree, parts=other)
    assert (other / "mine.parquet").read_bytes() == b"mine"
    (other / "mine.parquet").unlink()
    assert_same_table(fastdump.stats(tree, parts=other), fastdump.stats(tree))


# Damage


def test_damaged_parts_are_read_again(tree: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    whole = fastdump.stats(tree, parts=parts)
    names = part_names(parts)
    sizes = {name: (parts / name).stat().st_size for name in names}
    os.truncate(parts / names[0], sizes[names[0]] - 1)
    flipped = bytearray((parts / names[1]).read_bytes())
    flipped[len(flipped) // 2] ^= 1
    (parts / names[1]).write_bytes(flipped)
    (parts / names[2]).unlink()
    (parts / names[3]).write_bytes(b"")
    (parts / names[4]).write_bytes((parts / names[5]).read_bytes())  # of other files
    (parts / f"part-{0:016x}.parquet").write_bytes((parts / names[5]).read_bytes())  # not listed
    with pytest.raises(DumpFormatError, match="scan into the directory again"):
        fastdump.read_stats(parts)
    assert_same_table(fastdump.stats(tree, parts=parts), whole)
    check_directory(parts, whole)


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "{", '{"scan": {}}', "[" * 100_000),
        '{"scan": 1, "parts": {}, "left": 0, "complete": true}',
        '{"scan": {}, "parts": {"../x.parquet": 1}, "left": 0, "complete": true}',
        '{"scan": {}, "parts": {"part-0.parquet": 1}, "left": 0, "complete": true}',
        '{"scan": {}, "parts": {"part-0123456789abcdef.parquet": ""}, "left": 0, "complete": true}',
        '{"scan": {}, "parts": {}, "left": -1, "complete": true}',
        '{"scan": {}, "parts": {}, "left": 0, "complete": 1}',
    ],
)
def test_hostile_manifests(tree: Path, tmp_path: Path, text: str) -> None:
    parts = tmp_path / "parts"
    fastdump.stats(tree, parts=parts)
    names = part_names(parts)
    (parts / NAME).write_text(text)
    for call in (lambda: fastdump.stats(tree, parts=parts), lambda: fastdump.read_stats(parts)):
        with pytest.raises(DumpFormatError, match=re.escape(NAME)):
            call()
    assert part_names(parts) == names


def test_a_manifest_that_lies(tree: Path, tmp_path: Path) -> None:
    """Parts of another scan under the manifest of this one give no rows."""
    parts, others = tmp_path / "parts", tmp_path / "others"
    whole = fastdump.stats(tree, parts=parts)
    fastdump.stats(tree, level="full", parts=others)
    manifest = json.loads((parts / NAME).read_bytes())
    for name in part_names(others):
        shutil.copy(others / name, parts)
        manifest["parts"][name] = (parts / name).stat().st_size
    (parts / NAME).write_text(json.dumps(manifest))
    assert_same_table(fastdump.stats(tree, parts=parts), whole)
    check_directory(parts, whole)
    # The same part twice.
    manifest = json.loads((parts / NAME).read_bytes())
    twin = f"part-{1:016x}.parquet"
    shutil.copy(parts / next(iter(manifest["parts"])), parts / twin)
    manifest["parts"][twin] = (parts / twin).stat().st_size
    (parts / NAME).write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="is in table"):
        fastdump.read_stats(parts)
    with pytest.raises(ValueError, match="twice"):
        fastdump.stats(tree, parts=parts)
