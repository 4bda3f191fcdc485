"""stats: its arguments, what it raises, and how it reports progress."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import NoDumpError, Progress, StatsTable, stats
from fastdump._progress import ProgressBar, working
from fastdump.testing import dump_name, write_dump

N_STEPS = 3


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a dump of two ranks, three steps, two operators, and a file that is no dump."""
    root = tmp_path_factory.mktemp("dump")
    for rank in range(2):
        for step in range(N_STEPS):
            directory = root / f"rank_{rank}" / "20240102030405" / "0" / "model" / "1" / str(step)
            directory.mkdir(parents=True)
            for op_type, task_id in (("MatMul", 1), ("Add", 2)):
                name = dump_name(
                    op_type, f"layer/{op_type}", task_id=task_id, stream_id=0,
                    timestamp=1_700_000_000_000_000 + task_id,
                )  # fmt: skip
                write_dump(
                    directory / name,
                    inputs=[np.full((2, 3), step, np.float16)],
                    outputs=[np.array([1.0, np.nan], np.float32)],
                )
    (root / "readme.md").write_text("no dump")
    return root


def keys(table: StatsTable) -> set[tuple[Any, ...]]:
    return {(row.rank, row.step, row.op_type, row.io) for row in table}


def test_paths_of_every_kind(dump: Path) -> None:
    expected = keys(stats(dump))
    assert len(expected) == 2 * N_STEPS * 2 * 2
    for path in (str(dump), os.fsencode(dump), [dump], (str(dump / "rank_0"), dump / "rank_1")):
        assert keys(stats(path)) == expected
    file = next((dump / "rank_1").rglob("MatMul*"))
    assert len(stats(file)) == 2
    assert len(stats(iter([file]))) == 2


def test_names_that_are_not_utf8(dump: Path, tmp_path: Path) -> None:
    directory = tmp_path / os.fsdecode(b"\xff\xfe")
    try:
        directory.mkdir()
    except OSError:
        pytest.skip("this file system has only UTF-8 names")
    file = next(dump.rglob("Add*"))
    (directory / file.name).write_bytes(file.read_bytes())
    for path in (directory, str(directory), os.fsencode(directory)):
        assert len(stats(path)) == 2


@pytest.mark.parametrize(
    ("conditions", "is_wanted"),
    [
        ({"op_type": "Mat*"}, lambda rank, step, op_type, io: op_type == "MatMul"),
        ({"op_type": ["Mat*", "Add"]}, lambda rank, step, op_type, io: True),
        ({"op_name": "layer*Add"}, lambda rank, step, op_type, io: op_type == "Add"),
        ({"step": 2}, lambda rank, step, op_type, io: step == 2),
        ({"step": range(2)}, lambda rank, step, op_type, io: step < 2),
        ({"step": np.array([0, 2])}, lambda rank, step, op_type, io: step != 1),
        ({"rank": [1, 7]}, lambda rank, step, op_type, io: rank == 1),
        ({"io": "input"}, lambda rank, step, op_type, io: io == "input"),
        ({"io": ["input", "output"]}, lambda rank, step, op_type, io: True),
    ],
)
def test_conditions_select_what_filter_selects(
    dump: Path, conditions: dict[str, Any], is_wanted: Callable[..., bool]
) -> None:
    everything = stats(dump)
    selected = stats(dump, **conditions)
    assert keys(selected) == {key for key in keys(everything) if is_wanted(*key)}
    assert keys(everything.filter(**conditions)) == keys(selected)


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("level", "most", ValueError),
        ("level", "header", ValueError),
        ("engine", "direct", ValueError),
        ("threads", 0, ValueError),
        ("threads", 10**9, ValueError),
        ("threads", "2", TypeError),
        ("threads", 1.5, TypeError),
        ("progress", 5, TypeError),
        ("io", "outputs", ValueError),
        ("io", [], ValueError),
        ("step", [], ValueError),
        ("step", 2**63, ValueError),
        ("step", "one", ValueError),
        ("tensor", "output", TypeError),
        ("rank", 1.5, TypeError),
        ("op_type", [], ValueError),
        ("op_type", 5, TypeError),
        ("op_name", [b"a"], TypeError),
    ],
)
def test_arguments_are_checked(
    dump: Path, argument: str, value: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        stats(dump, **{argument: value})


@pytest.mark.parametrize("path", [[], b"a\0b", "a\0b"])
def test_paths_are_checked(path: Any) -> None:
    with pytest.raises(ValueError, match="path"):
        stats(path)


def test_a_path_that_does_not_exist(dump: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    for path in (missing, [dump, missing]):
        with pytest.raises(FileNotFoundError) as caught:
            stats(path)
        assert caught.value.errno == errno.ENOENT
        assert os.fsdecode(caught.value.filename) == str(missing)
        assert not isinstance(caught.value, NoDumpError)


def test_nothing_that_is_a_dump(tmp_path: Path) -> None:
    with pytest.raises(NoDumpError, match="no dump file in") as caught:
        stats(tmp_path)
    assert str(tmp_path) in str(caught.value)
    for i in range(3):
        (tmp_path / f"notes{i}.txt").write_text("text")
    with pytest.raises(NoDumpError, match="3 files skipped"):
        stats(iter([tmp_path]))
    with pytest.raises(NoDumpError, match="3 files skipped") as caught:
        stats(tmp_path)
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, fastdump.FastdumpError)


def test_nothing_that_was_asked_for(dump: Path) -> None:
    with pytest.raises(NoDumpError, match=r"no step 99 \(steps present: 0-2\)"):
        stats(dump, step=99)
    with pytest.raises(NoDumpError, match=r"no op_type 'Nothing' \(op_types present: "):
        stats(dump, op_type="Nothing", step=1)
    with pytest.raises(NoDumpError, match=r"no dtype 'int7' \(dtypes present: "):
        stats(dump, dtype="int7")


def test_level_and_skipped_are_in_the_table(dump: Path) -> None:
    for level in ("health", "basic", "full"):
        table = stats(dump, level=level)  # type: ignore[arg-type]
        assert table.level == level
        assert sum(table.skipped.values()) == 1
    assert (table["zero"] >= 0).all()


def test_progress_is_reported_to_a_function(dump: Path) -> None:
    last: list[int] = []

    def report(progress: Progress) -> None:
        last[:] = [progress.files_done, progress.files_found, progress.tensors, progress.bad]

    table = stats(dump, progress=report)
    assert keys(table) == keys(stats(dump, progress=False))
    n_files = 2 * N_STEPS * 2 + 1
    assert last == [n_files, n_files, len(table), int(table.bad.sum())]


def test_an_exception_in_the_report_ends_the_scan(dump: Path) -> None:
    reports = 0

    def report(progress: Progress) -> None:
        nonlocal reports
        reports += 1
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        stats(dump, progress=report)
    assert reports == 1


class Reported:
    """What a scan reports."""

    files_found = 1200
    files_done = 300
    bytes_done = 5_000_000_000
    tensors = 600
    bad = 7
    walking = False


def terminal_for(monkeypatch: pytest.MonkeyPatch, *, terminal: bool = True) -> io.StringIO:
    """Return what stands in for stderr, with the environment of a terminal."""

    class Stderr(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    stderr = Stderr()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stderr


def drawn(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    stderr = terminal_for(monkeypatch, terminal=terminal)
    with ProgressBar() as bar:
        bar(Reported())  # type: ignore[arg-type]
    return stderr.getvalue()


def test_a_bar_on_a_terminal_says_how_far_a_scan_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawn(monkeypatch, terminal=True)
    assert "300/1,200 files" in text
    assert "5.00 GB" in text
    assert "7 NaN/Inf/damaged" in text
    assert text.rstrip().endswith("\x1b[2K")  # the line is erased at the end


def test_what_is_done_is_told_at_once_and_between_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = terminal_for(monkeypatch)
    with working("pairing tensors"):
        assert "pairing tensors" in stderr.getvalue()
        with ProgressBar(first="reading names") as bar:
            assert "reading names" in stderr.getvalue()
            bar(Reported())  # type: ignore[arg-type]
        after_the_bar = stderr.getvalue().rpartition("300/1,200 files")[2]
        assert "pairing tensors" in after_the_bar
    assert stderr.getvalue().rstrip().endswith("\x1b[2K")


def test_a_terminal_that_cannot_erase_a_line_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = terminal_for(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    with ProgressBar() as bar:
        bar(Reported())  # type: ignore[arg-type]
    assert stderr.getvalue() == ""


@pytest.mark.parametrize("without_rich", [False, True])
def test_no_bar_where_there_is_nothing_to_draw_on(
    monkeypatch: pytest.MonkeyPatch, without_rich: bool
) -> None:
    if without_rich:
        for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
            monkeypatch.setitem(sys.modules, name, None)
    assert drawn(monkeypatch, terminal=without_rich) == ""


def test_progress_true_prints_nothing_into_a_file(
    dump: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stats(dump, progress=True)
    assert capfd.readouterr() == ("", "")


def test_what_lays_out_and_writes_tables_is_imported_only_when_needed(dump: Path) -> None:
    code = (
        "import sys, fastdump\n"
        f"fastdump.stats({os.fspath(dump)!r})\n"
        "heavy = {'rich', 'ml_dtypes', 'fastdump._table.files', 'fastdump._table.table_text'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert process.stdout == b"[]\n"
