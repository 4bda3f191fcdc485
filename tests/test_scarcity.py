"""What a process lacks: descriptors, threads, and names that a mapping.csv would give."""

from __future__ import annotations

import _thread
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scan_apart import RunPython

import fastdump
from fastdump._convert.work_list import WorkList
from fastdump.testing import TensorSpec, write_dump

SCAN = """
import resource, sys
import fastdump
from fastdump import _core
fastdump.StatsTable
resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
table = fastdump.stats(sys.argv[1], threads=64, engine=sys.argv[2])
print(len(table), table.summary()["status"], table.skipped)
"""


def make_dump(root: Path, n_directories: int, n_files: int) -> None:
    data = np.arange(70_000, dtype=np.float32)
    for step in range(n_directories):
        folder = root / str(step)
        folder.mkdir(parents=True)
        for i in range(n_files):
            # Some files fit one read, some do not.
            spec = TensorSpec(data[: 100 if i % 2 else None], "FLOAT")
            name = f"Add.op{i}.{i}.0.{1_700_000_000_000_000 + i}"
            write_dump(folder / name, outputs=[spec])


@pytest.mark.parametrize("engine", ["read", "mmap"])
def test_few_descriptors_lose_no_row(engine: str, tmp_path: Path, run_python: RunPython) -> None:
    make_dump(tmp_path, 12, 10)
    assert run_python(SCAN, tmp_path, engine) == "120 {'ok': 120} {}\n"


@pytest.mark.parametrize("kind", ["directory", "large"])
def test_a_mapping_that_cannot_be_read_is_told(kind: str, tmp_path: Path) -> None:
    make_dump(tmp_path, 1, 1)
    mapping = tmp_path / "0" / "mapping.csv"
    (tmp_path / "0" / "12345678901234567890").write_bytes(b"x")
    assert not any("mapping.csv" in reason for reason in fastdump.stats(tmp_path).skipped)
    if kind == "directory":
        mapping.mkdir()
    else:
        mapping.touch()
        os.truncate(mapping, (64 << 20) + 1)
    reasons = fastdump.stats(tmp_path).skipped
    [told] = [reason for reason in reasons if "mapping.csv" in reason]
    assert told.endswith("its names are unknown")
    assert reasons[told] == 1


@pytest.mark.parametrize("n_started", [0, 1, 3])
def test_work_is_done_by_the_threads_that_start(
    n_started: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = _thread.start_new_thread
    started: list[int] = []

    def limited(function: Any, arguments: tuple[Any, ...]) -> None:
        if len(started) == n_started:
            raise RuntimeError("can't start new thread")
        started.append(start(function, arguments))

    monkeypatch.setattr(_thread, "start_new_thread", limited)
    done: list[int] = []
    work = WorkList([lambda _, i=i: done.append(i) for i in range(100)], 8)  # type: ignore[misc]
    work.start()
    assert work.wait(60)
    assert sorted(done) == list(range(100))
    assert len(started) == n_started


# Each limit in a child of its own, as an abort would end the process.
FEW_ADDRESSES = """
import os, resource, signal, sys
import fastdump

path, call, out = sys.argv[1:]

def convert(threads):
    return fastdump.convert(path, out + "/" + str(os.getpid()), threads=threads).written

calls = {"scan": lambda threads: list(fastdump.stats(path, threads=threads)), "convert": convert}
expected = calls[call](1)

def end(limit):
    with open("/proc/self/statm") as sizes:
        limit += int(sizes.read().split()[0]) * resource.getpagesize()
    signal.alarm(900)  # one that hangs
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        return 0 if calls[call](64) == expected else 1
    except (OSError, MemoryError):
        return 0

codes = set()
for limit in range(0, 400 << 20, 23_000_000):
    if (child := os.fork()) == 0:
        os._exit(end(limit))
    codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(codes)
"""


@pytest.mark.measures_memory
@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does")
@pytest.mark.parametrize("call", ["scan", "convert"])
def test_few_addresses_end_no_process(call: str, tmp_path: Path, run_python: RunPython) -> None:
    """However many threads there is room for: an abort would be the C library's, for one of them
    that gets no memory for its variables."""
    make_dump(tmp_path / "dump", 3, 10)
    # What cannot be read is an exception in a thread.
    for i in range(10):
        (tmp_path / "dump" / "0" / f"Add.bad{i}.1.0.{1_700_000_000_000_000 + i}").write_bytes(b"x")
    (tmp_path / "out").mkdir()
    assert run_python(FEW_ADDRESSES, tmp_path / "dump", call, tmp_path / "out") == "{0}\n"
