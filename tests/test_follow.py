"""`fastdump.follow`: rounds over a dump that tests write to between them; no time passes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_dumps import write_unusual
from small_dumps import SmallDump
from test_cli_main import on_terminal
from test_concat import assert_same_table, write_random_tree
from test_parts import killed_at

import fastdump
from fastdump import FollowEvent, _core, testing
from fastdump._cli import main
from fastdump._follow import clean_files, follower, rows
from fastdump._follow.arrivals import Arrivals
from fastdump._follow.follower import Pace
from fastdump._table.manifest import NOT_FINISHED

CLEAN = np.arange(1, 25, dtype=np.float32)
BAD = np.where(CLEAN == 7, np.inf, CLEAN).astype(np.float32)


class _OverError(Exception):
    pass


class Script:
    """A clock whose waiting is what tests do between two rounds."""

    def __init__(self, *actions: Callable[[], object]) -> None:
        self._actions = list(actions)
        self._start_s = time.time()
        self._passed_s = 0.0
        self.waits: list[float] = []

    def now_s(self) -> float:
        return self._start_s + self._passed_s

    def steady_s(self) -> float:
        return self._passed_s

    def pass_s(self, seconds: float) -> None:
        self._passed_s += seconds

    def wait(self, seconds: float) -> None:
        if not self._actions:
            raise _OverError
        self.waits.append(seconds)
        self.pass_s(seconds)
        self._actions.pop(0)()

    def stamp(self, path: Path, age_s: float) -> Path:
        """Give a file the time of so many seconds ago."""
        at_ns = int((self.now_s() - age_s) * 1e9)
        os.utime(path, ns=(at_ns, at_ns))
        return path


def nothing() -> None:
    """Let a round pass."""


def followed(
    root: Any, *actions: Callable[[], object], settle: float = 0, **options: Any
) -> list[FollowEvent]:
    """Return the events of as many rounds as there are actions, and one before them."""
    return followed_by(Script(*actions), root, settle=settle, **options)


def followed_by(script: Script, root: Any, **options: Any) -> list[FollowEvent]:
    events = []
    with contextlib.suppress(_OverError):
        for event in fastdump.follow(root, clock=script, **options):
            events.append(event)
    return events


def names(events: list[FollowEvent]) -> list[str]:
    return [event.event for event in events if event.event != "progress"]


def whole(root: Any) -> fastdump.StatsTable:
    return fastdump.stats(root, level="full")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return a list that gets the files of each reading."""
    made: list[list[str]] = []
    original = rows.scan_of_files

    def scan_of_files(index: Any, positions: Any, *arguments: Any, **options: Any) -> Any:
        if len(positions):
            made.append([index.shown_path(position) for position in positions.tolist()])
        return original(index, positions, *arguments, **options)

    monkeypatch.setattr(rows, "scan_of_files", scan_of_files)
    return made


# The same table as one scan


@pytest.mark.parametrize("conditions", [{}, {"step": "0-1", "io": "output"}], ids=["all", "some"])
@pytest.mark.parametrize("output", [None, "run.parquet", "run/"])
@pytest.mark.parametrize("seed", range(3))
def test_rounds_give_the_table_of_one_scan(
    tmp_path: Path, seed: int, output: str | None, conditions: Any
) -> None:
    """Files come in any order; some are written anew."""
    rng = random.Random(seed)
    complete, root = tmp_path / "complete", tmp_path / "dump"
    into = None if output is None else f"{tmp_path}/{output}"
    write_random_tree(complete, seed)
    write_unusual(complete / "unusual")
    (complete / "notes.txt").write_text("no dump")
    (complete / "link").symlink_to("notes.txt")
    files = [path for path in complete.rglob("*") if path.is_symlink() or path.is_file()]
    rng.shuffle(files)
    root.mkdir()

    def come(some: list[Path]) -> None:
        for path in some:
            target = root / path.relative_to(complete)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target, follow_symlinks=False)

    def change() -> None:
        there = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
        for path in rng.sample(there, 5):
            content = path.read_bytes()
            path.write_bytes(content[: rng.randrange(len(content) + 1)] if content else b"1")

    rounds = [lambda some=files[i::6]: come(some) for i in range(6)]
    rounds[3:3] = [change, nothing, change]
    events = followed(root, *rounds, nothing, output=into, **conditions)
    expected = fastdump.stats(root, level="full", **conditions)
    assert_same_table(events[-1].table, expected)
    if into is not None:
        assert_same_table(fastdump.read_stats(into), expected)
    if output == "run/":
        # What one has written, the other goes on from.
        table = fastdump.stats(root, level="full", parts=into, **conditions)
        assert_same_table(table, expected)
        again = followed(root, output=into, **conditions)
        assert_same_table(again[-1].table, expected)
        assert_same_table(fastdump.read_stats(into), expected)
    summary = expected.summary()
    assert events[-1].progress.files == summary["files"]
    assert events[-1].progress.steps == len(summary["steps"])
    assert events[-1].progress.ranks == len(summary["ranks"])


def test_several_directories(tmp_path: Path) -> None:
    roots = [tmp_path / "a", tmp_path / "b"]
    for seed, root in enumerate(roots):
        write_random_tree(root, seed)
    events = followed(roots)
    assert_same_table(events[-1].table, whole(roots))


def test_a_directory_below_another_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(ValueError, match="below another"):
        fastdump.follow([tmp_path, tmp_path / "a"])


def test_every_file_is_read_once(tmp_path: Path, reads: list[list[str]]) -> None:
    write_random_tree(tmp_path, 1)
    write_unusual(tmp_path / "unusual")
    (tmp_path / "notes.txt").write_text("no dump")
    followed(tmp_path, nothing, lambda: SmallDump(tmp_path).op("Add a", [CLEAN], [CLEAN]), nothing)
    read = [path for paths in reads for path in paths]
    # Bytes that are no UTF-8 are shown as other text, and the files are there once each.
    assert len(read) == len(set(read)) == len([p for p in tmp_path.rglob("*") if p.is_file()])
    assert len(reads[-1]) == 1


# What is complete


def test_a_file_that_is_half_written(tmp_path: Path, reads: list[list[str]]) -> None:
    """It is waited for; when it is quiet it is damaged, and when it is complete it is not."""
    path = SmallDump(tmp_path).op("Add a", [CLEAN], [CLEAN])
    content = path.read_bytes()
    script: Script

    def write(n: int, age_s: float) -> None:
        path.write_bytes(content[:n])
        script.stamp(path, age_s)

    script = Script(
        lambda: script.stamp(path, 1),  # written to again
        lambda: script.stamp(path, 11),  # quiet
        nothing,
        lambda: write(len(content), 11),  # damaged once: it is waited for longer
        lambda: script.stamp(path, 21),
        nothing,
    )
    write(len(content) - 8, 1)
    events = followed_by(script, tmp_path, settle=10, every=1)
    said = [(one.progress.files, one.progress.waiting, one.progress.damaged) for one in events]
    assert said == [(0, 1, 0), (1, 0, 1), (1, 1, 1), (1, 0, 0)]
    assert len(reads) == 2
    assert_same_table(events[-1].table, whole(tmp_path))


def test_the_clock_of_a_file_server_that_is_ahead(tmp_path: Path) -> None:
    path = SmallDump(tmp_path).op("Add a", [CLEAN], [CLEAN])
    script = Script(nothing, nothing, nothing)
    script.stamp(path, -3600)
    events = followed_by(script, tmp_path, settle=10, every=6)
    assert [one.progress.files for one in events] == [0, 1]


def test_what_cannot_be_read_is_tried_again_later(tmp_path: Path) -> None:
    """But it is no news, which would keep following from its end."""
    path = SmallDump(tmp_path).op("Add a", [CLEAN], [CLEAN])
    shown = str(path.relative_to(tmp_path))
    script = Script(nothing)
    arrivals = Arrivals(5, script)
    index = _core.Index([os.fsencode(tmp_path)], follow_links=False, every_file=True)
    positions = np.arange(len(index), dtype=np.uint32)
    script.stamp(path, 6)
    found = arrivals.look(index, positions)
    assert (len(found.positions), found.is_news) == (1, True)
    arrivals.were_read([shown], with_rows={shown}, damaged=set(), unread={shown})
    assert len(arrivals.look(index, positions).positions) == 0
    script.wait(10)
    found = arrivals.look(index, positions)
    assert (len(found.positions), found.is_news) == (1, False)
    arrivals.were_read([shown], with_rows={shown}, damaged=set(), unread=set())
    assert len(arrivals.look(index, positions).positions) == 0


def test_a_file_that_is_replaced(tmp_path: Path) -> None:
    path = SmallDump(tmp_path).op("Add a", [CLEAN], [CLEAN])

    def replace() -> None:
        other = SmallDump(tmp_path / "other").op("Add a", [BAD], [BAD])
        times = path.stat()
        os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
        other.replace(path)
        shutil.rmtree(tmp_path / "other")

    events = followed(tmp_path, replace)
    assert_same_table(events[-1].table, whole(tmp_path))
    assert [one.progress.bad for one in events if one.event == "progress"] == [0, 2]


def test_rows_of_what_others_delete_stay(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    paths = [dump.op("Add a", [CLEAN], [CLEAN], step=step) for step in range(3)]
    cut = dump.op("Add cut", [CLEAN], [CLEAN])
    os.truncate(cut, cut.stat().st_size - 8)
    complete = whole(tmp_path)

    def delete() -> None:
        paths[1].unlink()
        cut.unlink()  # a temporary file that was renamed, for example

    events = followed(tmp_path, delete, nothing)
    assert_same_table(events[-1].table, complete[complete["status"] == "ok"])


def test_what_is_skipped_is_counted_once(tmp_path: Path) -> None:
    SmallDump(tmp_path).op("Add a", [CLEAN], [CLEAN])
    texts = [tmp_path / f"{i}.txt" for i in range(4)]
    for path in texts[:2]:
        path.write_text("text")
    events = followed(
        tmp_path,
        lambda: texts[2].write_text("text"),
        lambda: texts[0].write_text("another text"),
        lambda: texts[1].unlink(),
        lambda: texts[3].write_text("text"),
        lambda: SmallDump(tmp_path).op("Add b", [CLEAN], [CLEAN]),
    )
    assert events[-1].table.skipped == whole(tmp_path).skipped != {}


def test_names_that_a_mapping_tells_later(tmp_path: Path) -> None:
    path = SmallDump(tmp_path).op("Add a", [CLEAN], [CLEAN])
    number = path.rename(path.with_name("4338953403593015049"))
    mapping = number.with_name("mapping.csv")
    events = followed(
        tmp_path,
        lambda: mapping.write_text(f"{number.name},{path.name}\n"),
        lambda: mapping.write_text(f"{number.name},{path.name.replace('Add', 'Mul')}\n"),
    )
    assert_same_table(events[-1].table, whole(tmp_path))
    assert set(events[-1].table["op_type"]) == {"Mul"}


def test_a_directory_that_goes_away_for_a_while(tmp_path: Path) -> None:
    root, away = tmp_path / "run", tmp_path / "away"
    SmallDump(root).op("Add a", [CLEAN], [CLEAN])
    events = followed(root, lambda: root.rename(away), nothing, lambda: away.rename(root))
    assert names(events) == ["trouble"]
    assert str(root) in events[-1].sentence
    with pytest.raises(FileNotFoundError):
        followed(tmp_path / "never")


# Findings


def test_the_origin_is_told_once_and_as_triage_says_it(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    dump.op("Add a", [CLEAN], [CLEAN])
    events = followed(
        tmp_path,
        lambda: dump.op("Mul b", [CLEAN], [BAD], step=1),
        lambda: dump.op("Relu c", [BAD], [BAD], step=1),
        lambda: dump.op("Mul b", [CLEAN], [BAD], step=2),
        nothing,
    )
    assert names(events) == ["origin"]
    (told,) = [event for event in events if event.event == "origin"]
    assert told.is_new_finding
    report = fastdump.triage(tmp_path, step="0-1", op_name=["a", "b"])
    assert told.sentence == report.sentence
    assert told.report is not None
    assert told.report.findings == report.findings


def test_an_earlier_origin_that_comes_late(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path, n_ranks=2)
    early = dump.op("Mul b", [CLEAN], [BAD], rank=1, step=3)
    hidden = early.rename(tmp_path / "hidden")
    dump.op("Mul a", [CLEAN], [BAD], rank=0, step=4)
    hidden.rename(tmp_path.parent / "hidden")
    events = followed(tmp_path, nothing, lambda: (tmp_path.parent / "hidden").rename(early))
    assert names(events) == ["origin", "earlier origin"]
    found = [event.finding.origin.operator for event in events if event.finding]  # type: ignore[union-attr]
    assert [(one.rank, one.step, one.op_name) for one in found] == [(0, 4, "a"), (1, 3, "b")]


def test_another_operator_and_an_origin_that_goes(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    first = dump.op("Mul a", [CLEAN], [BAD])

    def mend() -> None:
        shutil.copy(SmallDump(tmp_path.parent / "mended").op("Mul a", [CLEAN], [CLEAN]), first)

    events = followed(tmp_path, lambda: dump.op("Mul b", [CLEAN], [BAD], step=1), mend)
    assert names(events) == ["origin", "finding", "other origin"]
    assert "Mul b" in events[-1].sentence


def test_what_is_no_finding_is_not_told(tmp_path: Path) -> None:
    """Another rank that lags, and a mask."""
    mask = np.where(CLEAN > 4, -np.inf, 0).astype(np.float32)
    dump = SmallDump(tmp_path, n_ranks=2)

    def step(number: int) -> None:
        dump.op("Add a", [CLEAN], [CLEAN], rank=0, step=number)
        dump.op("Add mask", [CLEAN, mask], [CLEAN + mask], rank=0, step=number)

    dump.op("Add a", [CLEAN], [CLEAN], rank=1, step=0)
    assert names(followed(tmp_path, *[lambda n=n: step(n) for n in range(3)])) == []


def test_files_that_are_written_again_change_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While some of them are read, the rows of the others stay."""
    monkeypatch.setattr(follower, "_FIRST_FILES", 1)
    dump = SmallDump(tmp_path)
    paths = [dump.op("Add a", [CLEAN], [CLEAN], step=step) for step in range(4)]
    paths += [dump.op("Sub z", [CLEAN], [BAD], step=4), dump.op("Add b", [BAD], [BAD], step=5)]
    events = followed(tmp_path, lambda: [path.touch() for path in paths], nothing)
    assert names(events) == ["origin"]
    assert_same_table(events[-1].table, whole(tmp_path))


def test_rounds_without_bad_rows_are_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = []
    original = fastdump._follow.findings.tell  # type: ignore[attr-defined]
    monkeypatch.setattr(
        "fastdump._follow.findings.tell", lambda table: judged.append(1) or original(table)
    )
    dump = SmallDump(tmp_path)
    dump.op("Mul a", [CLEAN], [BAD])
    followed(tmp_path, nothing, lambda: dump.op("Mul b", [CLEAN], [CLEAN], step=1), nothing)
    assert len(judged) == 1


def test_a_backlog_is_read_in_the_order_of_execution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However files are named, no operator is read before what it read."""
    monkeypatch.setattr(follower, "_FIRST_FILES", 16)
    dump = SmallDump(tmp_path)
    dump.op("Sub z", [CLEAN], [BAD])
    for i in range(60):
        dump.op(f"Relu y{i}", [BAD], [BAD])
    events = followed(tmp_path)
    assert names(events) == ["origin"]
    assert [one.progress.waiting for one in events if one.event == "progress"] == [45, 13, 0]
    assert events[1].event == "origin"
    assert "Sub z" in events[1].sentence


# A table that is gone on from


def test_going_on_from_a_table(tmp_path: Path, reads: list[list[str]]) -> None:
    root, output = tmp_path / "run", tmp_path / "run.parquet"
    dump = SmallDump(root)
    dump.op("Mul a", [CLEAN], [BAD])
    for step in range(5):
        dump.op("Add a", [CLEAN], [CLEAN], step=step)
    dump.op("Mul c", [CLEAN], [BAD], step=1)
    assert names(followed(root, output=output)) == ["origin", "finding"]
    new = dump.op("Add a", [CLEAN], [CLEAN], step=5)
    reads.clear()
    events = followed(root, output=output)
    assert names(events) == ["known origin"]
    assert not any(event.is_new_finding for event in events)
    assert reads == [[str(new.relative_to(root))]]
    assert_same_table(fastdump.read_stats(output), whole(root))
    assert len(fastdump.stats(root, level="full", since=output)) == len(whole(root))


def test_whoever_stops_iterating_has_the_table(tmp_path: Path) -> None:
    root, output = tmp_path / "run", tmp_path / "run.arrow"
    SmallDump(root).op("Mul a", [CLEAN], [BAD])
    events = fastdump.follow(root, settle=0, output=output, clock=Script())
    assert next(event for event in events if event.is_new_finding)
    events.close()
    assert_same_table(fastdump.read_stats(output), whole(root))


def test_tables_that_cannot_be_gone_on_from(tmp_path: Path) -> None:
    root = tmp_path / "run"
    SmallDump(root).op("Mul a", [CLEAN], [BAD])
    with pytest.raises(ValueError, match=r"not a \.parquet or \.arrow file"):
        fastdump.follow(root, output=tmp_path / "t.csv")
    with pytest.raises(ValueError, match="is below what is followed"):
        fastdump.follow(root, output=root / "t.parquet")
    other = tmp_path / "other.parquet"
    fastdump.stats(root, level="basic").write(other)
    before = other.read_bytes()
    with pytest.raises(ValueError, match="level 'basic'"):
        fastdump.follow(root, output=other)
    assert other.read_bytes() == before


def part_names(directory: Path) -> set[str]:
    return {path.name for path in directory.glob("part-*")}


def test_parts_are_written_of_what_is_new(tmp_path: Path) -> None:
    """Each row is written a few times, into a few parts, however many rounds there are."""
    root, output = tmp_path / "run", tmp_path / "parts"
    root.mkdir()
    output.mkdir()
    dump = SmallDump(root)
    n_written: list[int] = []
    n_parts: list[int] = []
    write = fastdump.StatsTable.write

    def counted(self: Any, path: Any) -> None:
        n_written.append(len(self))
        write(self, path)

    def come(step: int) -> None:
        n_parts.append(len(part_names(output)))
        dump.op("Add a", [CLEAN], [CLEAN], step=step)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fastdump.StatsTable, "write", counted)
        followed(root, *[lambda n=n: come(n) for n in range(64)], nothing, output=output)
    assert_same_table(fastdump.read_stats(output), whole(root))
    assert sum(n_written) < 128 * 8  # 128 rows; a file would have been written 64 times
    assert max(n_parts) < 8


def test_parts_of_files_that_change_or_go(tmp_path: Path) -> None:
    root, output = tmp_path / "run", tmp_path / "parts"
    dump = SmallDump(root)
    paths = [dump.op("Add a", [CLEAN], [CLEAN], step=step) for step in range(4)]
    cut = dump.op("Add cut", [CLEAN], [CLEAN], step=1)
    os.truncate(cut, cut.stat().st_size - 8)
    complete = whole(root)
    kept = complete[complete["status"] == "ok"]

    def seen() -> fastdump.StatsTable:
        return fastdump.read_stats(output)

    def change() -> None:
        assert_same_table(seen(), complete)
        cut.unlink()
        paths[0].unlink()
        shutil.copy(SmallDump(tmp_path / "other").op("Add a", [CLEAN], [BAD], step=2), paths[2])

    events = followed(root, change, nothing, output=f"{output}/")
    assert_same_table(seen(), events[-1].table)
    assert len(seen()) == len(kept)
    assert set(seen()["status"]) == {"ok"}
    assert [row.pos_inf for row in seen() if row.io == "output"] == [0, 0, 1, 0]


@pytest.mark.threads_after_fork
def test_parts_of_a_follower_that_was_killed(tmp_path: Path) -> None:
    """At any moment, they are a table; and what they have is not read again."""
    root = tmp_path / "run"
    root.mkdir()
    dump = SmallDump(root)
    n = 0

    def follow_all(output: Path) -> None:
        new = [lambda s=s: dump.op("Add a", [CLEAN], [CLEAN], step=s) for s in range(6)]
        followed(root, *new, nothing, output=f"{output}/")

    for n in range(1, 1000, 9):
        output = tmp_path / f"parts{n}"
        is_killed = killed_at(n, lambda output=output: follow_all(output))
        if part_names(output) and (output / "_fastdump.json").exists():
            table = fastdump.read_stats(output)
            assert set(table["path"]) <= set(whole(root)["path"])
        events = followed(root, output=output)
        assert_same_table(events[-1].table, whole(root))
        assert_same_table(fastdump.read_stats(output), whole(root))
        if not is_killed:
            break
        shutil.rmtree(root)
        root.mkdir()
    assert 50 < n < 900


def test_parts_say_what_is_waited_for(tmp_path: Path) -> None:
    root, output = tmp_path / "run", tmp_path / "parts"
    dump = SmallDump(root)
    os.utime(dump.op("Add a", [CLEAN], [CLEAN]), (1, 1))
    young = dump.op("Add b", [CLEAN], [CLEAN])
    os.utime(young, (time.time() + 3600,) * 2)
    followed(root, nothing, settle=60, every=1, output=f"{output}/")
    assert fastdump.read_stats(output).skipped[NOT_FINISHED] == 1
    os.utime(young, (1, 1))
    followed(root, nothing, settle=60, every=1, output=f"{output}/")
    assert_same_table(fastdump.read_stats(output), whole(root))


@pytest.mark.parametrize("name", ["run.parquet", "run.arrow", "parts/"])
def test_one_follower_writes_to_one_output(tmp_path: Path, name: str) -> None:
    root, output = tmp_path / "run", f"{tmp_path}/{name}"
    SmallDump(root).op("Mul a", [CLEAN], [BAD])
    first = fastdump.follow(root, settle=0, output=output, clock=Script())
    with pytest.raises(ValueError, match="another"):
        fastdump.follow(root, output=output)
    followed(root, output=f"{tmp_path}/other{name}")
    next(first)
    with pytest.raises(ValueError, match="another"):
        fastdump.follow(root, output=output)
    first.close()
    assert_same_table(fastdump.read_stats(output), whole(root))
    followed(root, output=output)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"run", name.rstrip("/"), f"other{name}".rstrip("/")}


def test_a_follower_that_never_began_lets_others_write(tmp_path: Path) -> None:
    root, output = tmp_path / "run", tmp_path / "run.parquet"
    SmallDump(root).op("Mul a", [CLEAN], [BAD])
    events = fastdump.follow(root, output=output)
    del events
    fastdump.stats(root, level="basic").write(output)
    with pytest.raises(ValueError, match="level 'basic'"):
        fastdump.follow(root, output=output)
    with pytest.raises(ValueError, match="level 'basic'"):
        fastdump.follow(root, output=output)


def test_nothing_is_written_of_nothing(tmp_path: Path) -> None:
    root, output = tmp_path / "run", tmp_path / "run.parquet"
    root.mkdir()
    followed(root, nothing, output=output)
    assert not output.exists()


# Time


def test_following_ends_when_nothing_comes(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path)
    script = Script(
        *(nothing, lambda: dump.op("Add a", [CLEAN], [CLEAN])),
        *[nothing] * 9,
    )
    events = followed_by(script, tmp_path, settle=0, every=1, until_idle=4)
    assert len(events[-1].table) == 2
    assert script.waits == [1] * 6


def test_files_that_are_waited_for_are_not_idle(tmp_path: Path) -> None:
    path = SmallDump(tmp_path).op("Add a", [CLEAN], [CLEAN])
    script = Script(*[nothing] * 9)
    script.stamp(path, 0)
    events = followed_by(script, tmp_path, settle=5, every=1, until_idle=0)
    assert len(events[-1].table) == 2
    assert script.waits == [1] * 5


def test_looking_takes_a_small_share_of_the_time() -> None:
    pace = Pace(2.0, None)
    assert pace.wait_s(0.001) == 2.0
    assert pace.wait_s(0.3) / (pace.wait_s(0.3) + 0.3) == pytest.approx(0.95)
    assert pace.wait_s(100.0) == 60.0
    assert Pace(90.0, None).wait_s(100.0) == 90.0


def test_reading_is_not_counted_as_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dump = SmallDump(tmp_path)
    dump.op("Add a", [CLEAN], [CLEAN])
    script = Script(lambda: dump.op("Add a", [CLEAN], [CLEAN], step=1), nothing)
    look, read = rows.GrowingRows.look, rows.GrowingRows.read

    def slow_look(self: Any) -> Any:
        script.pass_s(1)
        return look(self)

    def slow_read(self: Any, *arguments: Any) -> Any:
        script.pass_s(1000)
        return read(self, *arguments)

    monkeypatch.setattr(rows.GrowingRows, "look", slow_look)
    monkeypatch.setattr(rows.GrowingRows, "read", slow_read)
    followed_by(script, tmp_path, settle=0)
    assert script.waits == pytest.approx([19, 19])


def test_writing_takes_a_small_share_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, output = tmp_path / "run", tmp_path / "run.parquet"
    dump = SmallDump(root)
    dump.op("Add a", [CLEAN], [CLEAN])
    new = [lambda n=n: dump.op("Add a", [CLEAN], [CLEAN], step=n) for n in range(1, 30)]
    script = Script(*new)
    lengths: list[int] = []
    write = fastdump.StatsTable.write

    def slow_write(self: Any, path: Any) -> None:
        script.pass_s(1)
        lengths.append(len(self))
        write(self, path)

    monkeypatch.setattr(fastdump.StatsTable, "write", slow_write)
    followed_by(script, root, settle=0, every=2, output=output)
    # Once in twenty seconds, which are ten rounds; the end is written whatever the time is.
    assert lengths == [2, 22, 42, 60]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settle": -1}, "settle"),
        ({"every": float("nan")}, "every"),
        ({"until_idle": float("inf")}, "until_idle"),
        ({"keep_steps": 0}, "keep_steps"),
        ({"dry_run": True}, "dry_run"),
        ({"delete_clean": True}, "output"),
        ({"delete_clean": True, "dry_run": True, "follow_links": True}, "follow_links"),
        ({"delete_clean": True, "dry_run": True, "rank": 1}, "conditions"),
        ({"step": "x"}, "step"),
    ],
)
def test_arguments_are_checked_at_once(tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastdump.follow(tmp_path, **options)


# Files that are deleted


class Run:
    """A run of two ranks with a clean operator in each of eight steps."""

    def __init__(self, tmp_path: Path) -> None:
        self.root, self.output = tmp_path / "run", tmp_path / "run.parquet"
        self.dump = SmallDump(self.root, n_ranks=2)
        self.paths = {
            (rank, step): self.dump.op("Add a", [CLEAN], [CLEAN], rank=rank, step=step)
            for step in range(8)
            for rank in (0, 1)
        }

    def follow(self, *actions: Callable[[], object], **options: Any) -> list[FollowEvent]:
        options = {"output": self.output, "delete_clean": True, "keep_steps": 3, **options}
        return followed(self.root, *(actions or (nothing, nothing)), **options)

    def gone(self) -> set[tuple[int, int]]:
        return {place for place, path in self.paths.items() if not path.exists()}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def steps(*numbers: int) -> set[tuple[int, int]]:
    """Return files of steps on both ranks."""
    return {(rank, step) for step in numbers for rank in (0, 1)}


@pytest.mark.parametrize("name", ["run.parquet", "parts"])
def test_clean_files_are_deleted_and_their_rows_stay(run: Run, name: str) -> None:
    run.output = run.output.with_name(name)
    if name == "parts":
        run.output.mkdir()
    complete = whole(run.root)
    events = run.follow()
    assert run.gone() == steps(0, 1, 2, 3, 4)
    (deleted,) = [event for event in events if event.event == "deleted"]
    paths = {str(run.paths[place].relative_to(run.root)) for place in run.gone()}
    assert set(deleted.paths) == paths
    assert_same_table(fastdump.read_stats(run.output), complete)
    # Once more from the table: nothing is lost, and nothing else is deleted.
    assert "deleted" not in names(run.follow())
    assert_same_table(fastdump.read_stats(run.output), complete)
    assert run.gone() == steps(0, 1, 2, 3, 4)


def test_nothing_is_deleted_unless_asked(run: Run) -> None:
    run.follow(delete_clean=False)
    assert run.gone() == set()
    events = run.follow(dry_run=True)
    assert run.gone() == set()
    assert [(one.event, len(one.paths)) for one in events if one.paths] == [("would delete", 10)]


def test_steps_that_a_rank_has_not_come_to_are_kept(run: Run) -> None:
    for step in range(4, 8):
        run.paths.pop((1, step)).unlink()
    run.follow()
    assert run.gone() == steps(0)


def test_a_rank_that_begins_anew_is_not_taken_for_complete(run: Run) -> None:
    for step in range(2):
        directory = testing.model_dump_dir(
            testing.rank_dir(run.root, world_size=2, rank=1),
            **{"time": "20260115000000", "device": 1, "model": "net", "model_id": 1, "step": step},
        )
        shutil.copytree(run.paths[1, step].parent, directory, dirs_exist_ok=True)
    run.follow()
    assert run.gone() == set()


def cut(run: Run) -> Path:
    path = run.dump.op("Add cut", [CLEAN], [CLEAN], rank=1, step=2)
    os.truncate(path, path.stat().st_size - 8)
    return path


def young(run: Run) -> Path:
    path = run.dump.op("Add young", [CLEAN], [CLEAN], rank=1, step=2)
    at_s = time.time() + 3600
    os.utime(path, (at_s, at_s))
    return path


def bad(run: Run) -> Path:
    return run.dump.op("Add bad", [CLEAN], [BAD], rank=1, step=2)


def test_steps_around_bad_values_are_kept(run: Run) -> None:
    kept = bad(run)
    run.follow()
    assert kept.exists()
    assert run.gone() == steps(0, 4)


def test_steps_of_damaged_files_are_kept(run: Run) -> None:
    kept = cut(run)
    run.follow()
    assert kept.exists()
    assert run.gone() == steps(0, 1, 3, 4)


def test_steps_of_files_that_are_not_complete_are_kept(run: Run) -> None:
    kept = young(run)
    run.follow(settle=1000, every=1)
    assert kept.exists()
    assert run.gone() == set()  # all are young
    for path in run.paths.values():
        os.utime(path, (1, 1))
    run.follow(settle=1000, every=1)
    assert kept.exists()
    assert run.gone() == steps(0, 4)


def test_a_bad_file_that_comes_late_keeps_its_step(run: Run) -> None:
    """It is there, and not read yet, when others of its step could be deleted."""
    late: list[Path] = []
    run.follow(lambda: late.append(bad(run)), nothing)
    assert late[0].exists()
    assert run.gone() == steps(0, 4)


MASK = np.where(CLEAN > 4, -np.inf, CLEAN).astype(np.float32)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(MASK, id="mask"),
        pytest.param(np.zeros(24, np.float32), id="zeros"),
        pytest.param(np.full(24, 65504, np.float16), id="saturated"),
        pytest.param(np.full(24, 40000, np.float16), id="headroom"),
    ],
)
def test_suspicious_files_are_kept(run: Run, values: Any) -> None:
    kept = run.dump.op("Add odd", [CLEAN], [values], rank=0, step=0)
    run.follow()
    assert kept.exists()


def test_norms_that_jump_are_kept(run: Run) -> None:
    """A step whose values are ten thousand times larger than those before and on other ranks."""
    usual = [run.dump.op("Mul j", [CLEAN], [CLEAN], rank=r, step=1) for r in (0, 1)]
    kept = run.dump.op("Mul j", [CLEAN], [CLEAN * 10_000], rank=0, step=2)
    run.dump.op("Mul j", [CLEAN], [CLEAN], rank=1, step=2)
    run.follow()
    assert kept.exists()
    assert not usual[0].exists()


def test_other_files_are_kept(run: Run) -> None:
    text = run.paths[0, 0].with_name("notes.txt")
    text.write_text("no dump")
    reported = run.dump.op("Add csv", [CLEAN], [CLEAN], rank=0, step=0, csv=True)
    elsewhere = run.root.parent / "elsewhere"
    shutil.copy(run.paths[0, 0], elsewhere)
    run.paths[0, 0].unlink()
    run.paths[0, 0].symlink_to(elsewhere)
    run.follow()
    assert text.exists()
    assert reported.exists()
    assert elsewhere.exists()
    assert run.paths[0, 0].is_symlink()


def test_a_table_that_cannot_be_written_keeps_all_files(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_self: Any, path: Any) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(fastdump.StatsTable, "write", fail)
    events: list[FollowEvent] = []
    options = {"output": run.output, "delete_clean": True, "clock": Script(nothing, nothing)}
    with pytest.raises(OSError, match="No space left"):
        events.extend(fastdump.follow(run.root, settle=0, **options))
    assert names(events) == ["trouble"]
    assert run.gone() == set()


def rewrite(path: Path) -> None:
    times = path.stat()
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def swap(path: Path) -> None:
    shutil.copy2(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


@pytest.mark.parametrize("change", [rewrite, swap, link], ids=lambda change: change.__name__)
def test_a_file_that_changes_before_it_is_deleted_stays(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    paths = [tmp_path / name for name in ("changed", "same", "other")]
    for path in paths:
        path.write_bytes(b"content")

    def are_unchanged() -> set[str]:
        change(paths[0])
        return {"changed", "same"}

    assert clean_files.delete(str(tmp_path), [path.name for path in paths], are_unchanged) == [
        "same"
    ]
    assert [path.exists() for path in paths] == [True, False, True]


def test_a_directory_that_is_a_link_is_not_entered(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("real")
    assert clean_files.delete(str(tmp_path), ["link/file"], lambda: {"link/file"}) == []
    assert (real / "file").exists()


# The command


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["follow", "--settle", "0", "--until-idle", "0", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = SmallDump(tmp_path)
    code, _, err = told(capsys, tmp_path)
    assert code == 2
    assert "no file of a dump" in err
    dump.op("Add a", [CLEAN], [CLEAN])
    assert told(capsys, tmp_path) == (0, "1 file, 2 tensors, 1 step, 0 bad\n", "")
    path = dump.op("Add b", [CLEAN], [CLEAN])
    os.truncate(path, path.stat().st_size - 8)
    assert told(capsys, tmp_path)[0] == 3
    dump.op("Mul a", [CLEAN], [BAD], step=1)
    code, out, _ = told(capsys, tmp_path)
    assert code == 1
    assert "+Inf first appears in a" in out
    assert told(capsys, tmp_path / "nothing")[0] == 2
    code, _, err = told(capsys, tmp_path, "--delete-clean")
    assert code == 2
    assert "output" in err


def test_what_could_not_be_read_is_told_beside_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    SmallDump(tmp_path).op("Mul a", [CLEAN], [BAD])
    testing.write_dump(tmp_path / "mapped" / "9134657216587341217", outputs=[CLEAN])
    (tmp_path / "mapped" / "mapping.csv").mkdir()
    code, out, err = told(capsys, tmp_path)
    assert code == 1
    assert "+Inf first appears in a" in out
    assert "not everything could be read: " in err
    assert "mapping.csv that cannot be read: its names are unknown" in " ".join(err.split())


def test_lines_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SmallDump(tmp_path).op("Mul a\x1b[31m", [CLEAN], [BAD])
    code, out, _ = told(capsys, tmp_path, "--json")
    assert code == 1
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["event"] for event in events] == ["progress", "origin"]
    assert events[0]["progress"]["bad"] == 1
    assert events[1]["finding"]["origin"]["operator"]["op_type"] == "Mul"
    assert events[1]["finding"]["sentence"] == events[1]["sentence"]
    assert set(events[1]) == {"fastdump", "event", "sentence", "progress", "finding", "paths"}


def test_one_line_changes_on_a_terminal(tmp_path: Path) -> None:
    SmallDump(tmp_path).op("Mul a", [CLEAN], [BAD])
    arguments = ["follow", tmp_path, "--settle", 0, "--until-idle", 0]
    out, err, code = on_terminal(arguments, width=60)
    assert (err, code) == ("", 1)
    progress = "1 file, 2 tensors, 1 step, 1 bad"
    *before, last, _ = re.split("\n", out)
    # What is erased does not stay: the line above is the end of the answer.
    assert last.endswith(progress)
    stays = [re.split("\x1b\\[2K", line)[-1] for line in before]
    assert any("+Inf first appears in a" in line for line in stays)
    assert out.endswith("\x1b[2K" + progress + "\n")
    out, _, _ = on_terminal(arguments, width=60, TERM="dumb")
    assert out.startswith(progress + "\n")
    assert "\x1b" not in out


HOSTILE = "a'; touch injected; echo \"$(touch injected)`touch injected`\x1b[31m"


def test_a_command_on_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FASTDUMP_RANK", "of another time")
    path = testing.write_dump(
        tmp_path / "run" / "Mul.x.1.2.1700000000000000",
        inputs=[CLEAN],
        outputs=[BAD],
        op_name=HOSTILE,
    )
    code, _, err = told(
        capsys,
        *("run", "--on-finding"),
        'printf "%s|" "$FASTDUMP_EVENT" "$FASTDUMP_KIND" "$FASTDUMP_RANK" "$FASTDUMP_OP_TYPE" '
        '"$FASTDUMP_OPERATOR" "$FASTDUMP_TENSOR" "$FASTDUMP_FILE" "$FASTDUMP_SENTENCE" >> facts',
    )
    assert code == 1
    assert err == ""
    shown = HOSTILE.replace("\x1b", r"\x1b")
    facts = Path("facts").read_text().split("|")
    assert facts[:7] == ["origin", "inf", "", "Mul", shown, "output.0", str(path)]
    assert shown in facts[7]
    assert not Path("injected").exists()


def test_a_command_that_fails_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    SmallDump(tmp_path).op("Mul a", [CLEAN], [BAD])
    code, out, err = told(capfd, tmp_path, "--on-finding", "echo from the command; exit 7")
    assert code == 1
    assert "from the command" not in out
    assert "the command of --on-finding ended with 7: echo from the command; exit 7" in err


@pytest.mark.parametrize(
    ("which", "ran"),
    [
        ([], ["origin inf", "finding nan", "finding saturated"]),
        (["origin"], ["origin inf"]),
        (["nan"], ["finding nan"]),
        (["origin", "saturated"], ["origin inf", "finding saturated"]),
    ],
)
def test_a_command_for_some_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], which: list[str], ran: list[str]
) -> None:
    dump = SmallDump(tmp_path / "run")
    dump.op("Mul a", [CLEAN], [BAD])
    dump.op("Mul b", [CLEAN], [np.where(np.isinf(BAD), np.nan, BAD)], step=1)
    saturated = np.where(CLEAN > 5, 65504, CLEAN).astype(np.float16)
    dump.op("Mul c", [CLEAN], [saturated], step=1)
    file = tmp_path / "ran"
    some = [argument for word in which for argument in ("--on", word)]
    command = f'echo "$FASTDUMP_EVENT $FASTDUMP_KIND" >> {file}'
    told(capsys, tmp_path / "run", "--on-finding", command, *some)
    assert sorted(file.read_text().splitlines()) == sorted(ran)
    assert told(capsys, tmp_path / "run", "--on", "nan")[0] == 2


def test_a_command_prints_above_the_line_that_changes(tmp_path: Path) -> None:
    SmallDump(tmp_path).op("Mul a", [CLEAN], [BAD])
    command = "echo one; echo two >&2; printf 'no end'; exit 7"
    arguments = ["--settle", "0", "--until-idle", "0", "--on-finding", command]
    screen, code = on_one_terminal(["follow", str(tmp_path), *arguments])
    assert code == 1
    progress = "1 file, 2 tensors, 1 step, 1 bad"
    lines = screen.splitlines()
    assert lines[-1] == progress
    assert lines.count(progress) == 1
    told = [line for line in lines if line in ("one", "two", "no end")]
    assert told == ["one", "two", "no end"]
    assert any(line.startswith("fastdump: the command of --on-finding ended") for line in lines)


def on_one_terminal(arguments: list[str]) -> tuple[str, int]:
    """Run with stdout and stderr on one terminal; return what stays on it, and the exit code."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "fastdump", *arguments],
        stdout=child,
        stderr=child,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": "1"},
    )
    os.close(child)
    chunks = []
    with os.fdopen(parent, "rb", buffering=0) as terminal, contextlib.suppress(OSError):
        while chunk := terminal.read(65536):
            chunks.append(chunk)
    code = process.wait()
    lines = [""]
    for piece in re.split(r"(\r|\n|\x1b\[[0-9;?]*[a-zA-Z])", b"".join(chunks).decode()):
        if piece == "\n":
            lines.append("")
        elif piece == "\x1b[2K" or piece == "\x1b[1A":
            assert piece == "\x1b[2K" or lines.pop() == ""
            lines[-1] = "" if piece == "\x1b[2K" else lines[-1]
        elif piece != "\r" and not piece.startswith("\x1b"):
            lines[-1] += piece
    return "\n".join(lines), code


def test_a_known_origin_runs_no_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root, output, ran = tmp_path / "run", tmp_path / "t.parquet", tmp_path / "ran"
    SmallDump(root).op("Mul a", [CLEAN], [BAD])
    for _ in range(2):
        code, out, _ = told(capsys, root, "-o", output, "--on-finding", f"echo >> {ran}")
        assert code == 1
        assert "+Inf first appears in a" in out
    assert ran.read_text() == "\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    root, output = tmp_path / "run", tmp_path / "run.parquet"
    dump = SmallDump(root)
    dump.op("Add a", [CLEAN], [CLEAN])
    arguments = ["--settle", "0", "--every", "0.01", "-o", str(output)]
    process = subprocess.Popen(
        [sys.executable, "-m", "fastdump", "follow", str(root), *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1 file, 2 tensors, 1 step, 0 bad\n"
        hidden = SmallDump(tmp_path / "aside").op("Mul a", [CLEAN], [BAD], step=1)
        target = root / hidden.relative_to(tmp_path / "aside")
        target.parent.mkdir(parents=True)
        hidden.rename(target)
        assert process.stdout.readline() == "2 files, 4 tensors, 2 steps (last: 1), 1 bad\n"
        assert "+Inf first appears in a" in process.stdout.readline()
        process.send_signal(number)
        process.stdout.read()
        assert process.wait() == 1
    assert_same_table(fastdump.read_stats(output), whole(root))
