"""How `fastdump.convert` begins, goes on, fails and ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conversions import TIME, X, names, tree, write, write_tree

import fastdump
from fastdump import ConvertFailure, ConvertNote
from fastdump._convert import new_conversion
from fastdump._convert.ledger import Ledger
from fastdump._convert.options import FILE_TYPES, Options
from fastdump._convert.source_file import BUFFER_NBYTES, SourceFile
from fastdump._convert.stored import StoredTensors
from fastdump._convert.work_list import Task, WorkList


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "dump")


@pytest.fixture
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no tensor to the core, as if each had to be converted."""
    monkeypatch.setattr(StoredTensors, "copy", lambda *_: None)


# Complete files, incomplete files


def modified(root: Path) -> dict[str, int]:
    return {name: (root / name).lstat().st_mtime_ns for name in tree(root)}


@pytest.mark.parametrize("file_type", FILE_TYPES)
def test_complete_files_are_kept(file_type: Any, dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = fastdump.convert(dump, out, type=file_type)
    for name in tree(out):
        later = (out / name).stat().st_mtime_ns + 10**9
        os.utime(out / name, ns=(later, later))
    before = modified(out)
    second = fastdump.convert(dump, out, type=file_type)
    assert (second.written, second.kept, second.nbytes) == (0, first.written, 0)
    assert modified(out) == before
    third = fastdump.convert(dump, out, type=file_type, overwrite=True)
    assert (third.written, third.kept) == (first.written, 0)
    assert all(time != before[name] for name, time in modified(out).items())


def test_what_is_missing_or_incomplete_is_written(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fastdump.convert(dump, out)
    expected = tree(out)
    npy = sorted(name for name in expected if name.endswith(".npy"))
    (out / npy[0]).unlink()
    (out / npy[1]).write_bytes(expected[npy[1]][:-1])
    (out / npy[2]).write_bytes(expected[npy[2]].replace(b"<", b">", 1))
    (out / npy[3]).unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(expected[npy[3]])
    (out / npy[3]).symlink_to(elsewhere)
    old = next(path for path in dump.rglob("Add.loose*")).stat().st_mtime_ns - 1
    loose = next(name for name in npy if "loose" in name)
    os.utime(out / loose, ns=(old, old))
    report = fastdump.convert(dump, out)
    assert report.written == 5
    assert tree(out) == expected
    assert not (out / npy[3]).is_symlink()
    assert elsewhere.read_bytes() == expected[npy[3]]


def test_other_options_are_other_files(tmp_path: Path) -> None:
    array = np.zeros((2, 2), ml_dtypes.bfloat16)
    path = write(tmp_path / "dump", outputs=[array])
    out = tmp_path / "out"
    fastdump.convert(path, out)
    assert fastdump.convert(path, out, bf16_as_float32=True).written == 1
    assert np.load(next(out.iterdir())).dtype == np.float32


def leftovers(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.name.endswith(".part")]


def test_a_disk_that_is_full_leaves_no_part_of_a_file(
    tmp_path: Path, run_python: Callable[..., str]
) -> None:
    dump, out = tmp_path / "dump", tmp_path / "out"
    small = write(dump, "small", outputs=[X])
    large = write(dump, "large", outputs=[np.zeros(300_000, np.uint8), X])
    program = """
import resource, sys, fastdump
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
report = fastdump.convert(sys.argv[1], sys.argv[2])
for failure in report.findings:
    print(failure.path, failure.tensor, failure.reason, sep="|")
print(report.written)
"""
    *failures, written = run_python(program, dump, out).splitlines()
    (failure,) = failures
    file = out / f"{large.name}.output.0.npy"
    assert failure == f"{large}|output.0|{os.strerror(errno.EFBIG)}: {file}"
    assert written == "2"
    assert names(out) == [f"{large.name}.output.1.npy", f"{small.name}.output.0.npy"]
    # With room again the rest follows.
    report = fastdump.convert(dump, out)
    assert (report.written, report.kept) == (1, 2)
    assert file.stat().st_size == 300_000 + 128


def test_a_table_that_cannot_be_written_is_as_it_was(
    tmp_path: Path, run_python: Callable[..., str]
) -> None:
    path = write(tmp_path / "dump", "n" * 230, outputs=[np.zeros(3, np.uint8)])
    out = tmp_path / "out"
    out.mkdir()
    (out / "mapping.csv").write_bytes(b"1,one\n" * 100)
    program = """
import resource, sys, fastdump
resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
(failure,) = fastdump.convert(sys.argv[1], sys.argv[2]).findings
print(failure.reason)
"""
    assert run_python(program, path, out).startswith(os.strerror(errno.EFBIG))
    assert tree(out) == {"mapping.csv": b"1,one\n" * 100}


def test_a_directory_that_cannot_be_made_fails_its_files_only(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "other dir").write_text("in the way")
    report = fastdump.convert(dump, out)
    assert report.written == 12
    (failure,) = report.findings
    assert "loose" in failure.path
    assert (out / "other dir").read_text() == "in the way"


def test_a_directory_in_the_place_of_a_file_fails_it(tmp_path: Path) -> None:
    path = write(tmp_path / "dump", inputs=[X], outputs=[X])
    (tmp_path / "out" / f"{path.name}.output.0.npy").mkdir(parents=True)
    report = fastdump.convert(path, tmp_path / "out")
    assert report.written == 1
    (failure,) = report.findings
    assert failure.tensor == "output.0"
    assert not leftovers(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_to(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "other dir").mkdir(parents=True)
    (out / "other dir").chmod(0o500)
    report = fastdump.convert(dump, out)
    (failure,) = report.findings
    assert failure.reason.startswith(os.strerror(errno.EACCES))


def test_an_output_directory_that_is_a_file_is_an_error(dump: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(FileExistsError):
        fastdump.convert(dump, tmp_path / "out")


@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize("times", [1, 3])
def test_an_interruption_leaves_whole_files_only(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = write(tmp_path / "dump", "a", outputs=[X])
    write(tmp_path / "dump", "b", outputs=[np.zeros(3 * BUFFER_NBYTES, np.uint8)])
    write(tmp_path / "dump", "c", outputs=[X])
    out = tmp_path / "out"
    conversion = new_conversion(
        [tmp_path / "dump"], out, Options(), {}, threads=1, io_depth=None, follow_links=False
    )
    answered = threading.Event()
    stopped = threading.Event()
    answers = []  # what is asserted in a thread, nobody hears of
    pieces, stop = SourceFile.pieces, WorkList.stop

    def raise_in_the_main_thread(number: int, frame: FrameType | None) -> None:
        answered.set()
        raise KeyboardInterrupt

    def interrupted(self: SourceFile, offset: int, nbytes: int) -> Iterator[memoryview]:
        for number, piece in enumerate(pieces(self, offset, nbytes)):
            if number == 2:
                answers.append(bool(leftovers(out)))
                for _ in range(times):
                    answered.clear()
                    os.kill(os.getpid(), signal.SIGINT)
                    answers.append(answered.wait(60))
                    answers.append(stopped.wait(60))
            yield piece

    def stop_and_go_on(self: WorkList) -> None:
        self._stopped = True
        stopped.set()
        stop(self)

    monkeypatch.setattr(SourceFile, "pieces", interrupted)
    monkeypatch.setattr(WorkList, "stop", stop_and_go_on)
    before = signal.signal(signal.SIGINT, raise_in_the_main_thread)
    try:
        with pytest.raises(KeyboardInterrupt):
            conversion.run(None)
    finally:
        signal.signal(signal.SIGINT, before)
    assert answers == [True] * (1 + 2 * times)
    assert names(out) == [f"{done.name}.output.0.npy"]
    report = conversion.report()
    assert (report.written, report.findings) == (1, ())
    monkeypatch.undo()
    report = fastdump.convert(tmp_path / "dump", out)
    assert (report.written, report.kept) == (2, 1)


# Python looks for signals where a function begins and where one of C returns, so also between
# taking the lock of a condition and the block that gives it back. One interruption at each of
# these places in turn, in a process of its own, which may be left hanging.
INTERRUPTED_ANYWHERE = """
import faulthandler
import itertools
import sys
import threading

from fastdump._convert.work_list import WorkList

faulthandler.dump_traceback_later(600, exit=True)

def interruption(place):
    places = itertools.count()
    def profile(frame, event, argument):
        if event in ("call", "c_return") and next(places) == place:
            raise KeyboardInterrupt
    return profile

for place in itertools.count():
    until = threading.Event()
    working = []
    def task(buffer):
        working.append(None)
        while not work.stopped:
            until.wait(0.001)
        working.pop()
    work = WorkList([task] * 4, 2)
    try:
        sys.setprofile(interruption(place))
        work.start()
        work.wait(0)
        work.wait(0)
        work.stop()
        sys.setprofile(None)
    except KeyboardInterrupt:
        interrupted = True
        work.stop()
    else:
        interrupted = False
    assert not working, place
    if not interrupted:
        print(place)
        break
"""


def test_an_interruption_anywhere_in_the_main_thread_leaves_no_thread_working() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_ANYWHERE],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 10  # places


@pytest.mark.usefixtures("one_at_a_time")
def test_a_fault_of_the_program_ends_the_conversion(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: SourceFile, offset: int, nbytes: int) -> Iterator[memoryview]:
        raise ZeroDivisionError

    monkeypatch.setattr(SourceFile, "pieces", broken)
    with pytest.raises(ZeroDivisionError):
        fastdump.convert(dump, tmp_path / "out", threads=3)
    assert names(tmp_path / "out") == []


def test_two_conversions_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    dump, out = tmp_path / "dump", tmp_path / "out"
    rng = np.random.default_rng(0)
    for i in range(20):
        array = rng.integers(0, 256, BUFFER_NBYTES + i, np.uint8)
        write(dump, f"{'n' * 230}{i}" if i % 7 == 0 else f"a{i}", outputs=[array, X])
    reports = []
    runs = [
        threading.Thread(
            target=lambda: reports.append(fastdump.convert(dump, out, overwrite=True, threads=2))
        )
        for _ in range(3)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert all(report.written == 40 and not report.findings for report in reports)
    fastdump.convert(dump, tmp_path / "alone", threads=1)
    one, other = tree(tmp_path / "alone"), tree(out)
    tables = [set(content.pop("mapping.csv").splitlines()) for content in (one, other)]
    assert tables[0] == tables[1]
    assert one == other


# How it is done


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_do_not_change_anything(threads: int, dump: Path, tmp_path: Path) -> None:
    (dump / "other dir" / f"Bad.bad.1.7.{TIME}").write_bytes(b"bad")
    report = fastdump.convert(dump, tmp_path / "out", threads=threads)
    other = fastdump.convert(dump, tmp_path / "one", threads=1)
    assert report == replace(other, out=report.out)
    assert tree(tmp_path / "out") == tree(tmp_path / "one")


@pytest.mark.usefixtures("one_at_a_time")
def test_large_files_are_shared_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastdump._convert.conversion._SHARED_NBYTES", 0)
    arrays = [np.full(1000 + i, i, np.int16) for i in range(20)]
    path = write(tmp_path / "dump", outputs=arrays)
    report = fastdump.convert(path, tmp_path / "out", threads=3)
    assert report.written == 20
    for i, array in enumerate(arrays):
        loaded = np.load(tmp_path / "out" / f"{path.name}.output.{i}.npy")
        np.testing.assert_array_equal(loaded, array)


def test_threads_wait_for_tasks_that_a_task_adds() -> None:
    both = threading.Barrier(2, timeout=600)
    has_nothing_to_do = threading.Event()

    def meet(buffer: memoryview) -> None:
        both.wait()

    def first(buffer: memoryview) -> None:
        assert has_nothing_to_do.wait(600)
        work.add([meet, meet])

    def tasks() -> Iterator[Task]:
        yield first
        has_nothing_to_do.set()

    work = WorkList(tasks(), 2)
    work.start()
    assert work.wait(60)
    work.stop()


def test_a_report_is_in_the_order_of_execution() -> None:
    ledger = Ledger(3, Counter())
    for place in ((2, 0), (0, 2), (0, 1), (1, 0)):
        with ledger:
            ledger.findings.append((place, ConvertFailure(str(place), None, "")))
            ledger.noted.append((place, ConvertNote(str(place), None, "noted", "")))
    expected = ["(0, 1)", "(0, 2)", "(1, 0)", "(2, 0)"]
    assert [failure.path for failure in ledger.report("out").findings] == expected
    assert [note.path for note in ledger.report("out").noted] == expected


@pytest.mark.usefixtures("one_at_a_time")
def test_progress_is_reported(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported = threading.Event()
    seen = []
    pieces = SourceFile.pieces

    def slow(self: SourceFile, offset: int, nbytes: int) -> Iterator[memoryview]:
        assert reported.wait(60)
        yield from pieces(self, offset, nbytes)

    def on_progress(progress: fastdump.ConvertProgress) -> None:
        seen.append(progress)
        reported.set()

    monkeypatch.setattr(SourceFile, "pieces", slow)
    fastdump.convert(dump, tmp_path / "out", progress=on_progress)
    assert seen[0].files_found == 5
    assert not seen[0].walking
    assert 0 <= seen[0].files_done < 5


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"type": "pt"}, ValueError),
        ({"order": "FRACTAL_NZ"}, ValueError),
        ({"io": "weight"}, ValueError),
        ({"threads": 0}, ValueError),
        ({"progress": 3}, TypeError),
        ({"step": "x"}, ValueError),
    ],
)
def test_wrong_arguments(
    arguments: dict[str, Any], error: type[Exception], dump: Path, tmp_path: Path
) -> None:
    with pytest.raises(error):
        fastdump.convert(dump, tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()
