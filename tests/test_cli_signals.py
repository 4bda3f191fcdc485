"""Signals that end a command: what was done is kept, nothing half done stays, the code tells."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import fastdump
from fastdump import testing
from fastdump._cli import main
from fastdump._cli.signals import EndingSignals

X = np.arange(4096, dtype=np.float32)
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}

# The process sends itself the signal at a point that a patched function marks, and only there.
PROGRAM = """
import os, signal, sys
from fastdump._cli import main
number = int(sys.argv.pop(1))
where = sys.argv.pop(1)

def kill():
    os.kill(os.getpid(), number)

if where == "scan":
    import fastdump._cli.scanning as scanning
    make = scanning.new_scan
    def new_scan(*arguments, **options):
        scan = make(*arguments, **options)
        class Scan:
            def run(self, progress):
                scan.run(progress)
                kill()
            def __getattr__(self, name):
                return getattr(scan, name)
        return Scan()
    scanning.new_scan = new_scan
elif where == "table":
    import fastdump._table.files as files
    write = files.write_csv
    def write_csv(batch, names, kind, file):
        write(batch, names, kind, file)
        file.flush()
        assert [name for name in os.listdir() if name.endswith(".part")]
        kill()
    files.write_csv = write_csv
elif where == "convert":
    import threading, time
    import fastdump._convert.source_file as source_file
    import fastdump._convert.stored as stored
    stored.StoredTensors.copy = lambda *_: None  # one file at a time
    pieces = source_file.SourceFile.pieces
    n_files = 0
    stopped = threading.Event()
    def slow(self, offset, nbytes):
        global n_files
        n_files += 1
        for piece in pieces(self, offset, nbytes):
            if n_files == 3:
                assert [name for name in os.listdir("out") if name.endswith(".part")]
                kill()
                stopped.wait()
            yield piece
    source_file.SourceFile.pieces = slow
    import fastdump._convert.work_list as work_list
    stop = work_list.WorkList.stop
    def stop_and_go_on(self):
        self._stopped = True
        stopped.set()
        stop(self)
    work_list.WorkList.stop = stop_and_go_on
sys.exit(main(sys.argv[1:]))
"""


def run(
    number: int, where: str, arguments: Sequence[object], cwd: Path, **options: object
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, str(int(number)), where, *map(str, arguments)]
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=900, **options
    )


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    for i in range(8):
        name = testing.dump_name("Add", f"a{i}", task_id=1, stream_id=1, timestamp=10**15 + i)
        testing.write_dump(tmp_path / "dump" / name, outputs=[X])
    return tmp_path


@pytest.mark.parametrize("number", CODES)
def test_a_scan_that_is_ended_writes_what_it_has(number: int, dump: Path) -> None:
    ended = run(number, "scan", ["stats", "dump", "-o", "stats.json", "--json"], dump)
    assert (ended.returncode, ended.stderr) == (
        CODES[signal.Signals(number)],
        "fastdump: interrupted after 8 of 8 files\n",
    )
    assert len(json.loads(ended.stdout)["rows"]) == 8
    assert len(fastdump.read_stats(dump / "stats.json")) == 8


@pytest.mark.parametrize("number", CODES)
def test_a_table_that_is_being_written_leaves_no_part(number: int, dump: Path) -> None:
    (dump / "stats.csv").write_text("before")
    ended = run(number, "table", ["stats", "dump", "-o", "stats.csv"], dump)
    assert (ended.returncode, ended.stderr) == (
        CODES[signal.Signals(number)],
        "fastdump: interrupted\n",
    )
    assert sorted(path.name for path in dump.iterdir()) == ["dump", "stats.csv"]
    assert (dump / "stats.csv").read_text() == "before"


@pytest.mark.parametrize("number", CODES)
def test_a_conversion_that_is_ended_leaves_whole_files(number: int, dump: Path) -> None:
    ended = run(number, "convert", ["convert", "dump", "out", "--threads", "1", "--json"], dump)
    assert ended.returncode == CODES[signal.Signals(number)], ended.stderr
    assert ended.stderr.startswith("fastdump: interrupted after ")
    report = json.loads(ended.stdout)
    assert report["interrupted"]
    assert report["written"] == 2
    files = sorted((dump / "out").iterdir())
    assert [path.suffix for path in files] == [".npy", ".npy"]
    for path in files:
        assert np.array_equal(np.load(path), X)


def test_a_signal_that_is_ignored_stays_ignored(dump: Path) -> None:
    ended = run(
        signal.SIGHUP,
        "scan",
        ["stats", "dump"],
        dump,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in CODES]
    assert main(["info"]) == 0
    assert [signal.getsignal(number) for number in CODES] == before


def test_handlers_of_others_are_left_alone() -> None:
    def handler(number: int, frame: object) -> None:
        raise AssertionError

    before = signal.signal(signal.SIGTERM, handler)
    try:
        with EndingSignals():
            assert signal.getsignal(signal.SIGTERM) is handler
            assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_second_signal_does_not_disturb_unless_it_comes_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with EndingSignals() as signals:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        now += 1.9
        os.kill(os.getpid(), signal.SIGHUP)
        now += 0.2
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGHUP)
        assert signals.exit_code(130) == 143, "the first one is told"
        assert signals.exit_code(3) == 3


def test_another_thread_may_run_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["--version"])))
    thread.start()
    thread.join()
    assert codes == [0]
