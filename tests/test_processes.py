"""Children of a process that is scanning, and other interpreters in it."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faulty_commands import build_shim, c_compiler, preloaded

import fastdump
from fastdump.testing import TensorSpec, dump_header, dump_name, write_dump

HUGE = 1 << 38  # bytes; a sparse file that no machine reads before a test is over


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a small dump, and a file that no machine reads in time."""
    folder = tmp_path_factory.mktemp("dump")
    small, huge = folder / "small", folder / "huge"
    small.mkdir()
    huge.mkdir()
    for i in range(8):
        name = dump_name(
            "Add", f"a{i}", task_id=1, stream_id=2, timestamp=1_700_000_000_000_000 + i
        )
        write_dump(small / name, outputs=[np.full(100_000, i, np.float32)])
    path = huge / dump_name("Add", "huge", task_id=1, stream_id=2, timestamp=1_700_000_000_000_000)
    path.write_bytes(dump_header(outputs=[TensorSpec(b"", "INT8", shape=(HUGE,), size=HUGE)]))
    try:
        os.truncate(path, path.stat().st_size + HUGE)
    except OSError as error:
        pytest.skip(f"no sparse file of {HUGE} bytes here: {error}")
    return small, path


# A child that waits for a thread that it has not got never ends: the alarm ends it, and says where
# it waited.
FORKS = """
import faulthandler, os, signal, sys, threading, warnings
import fastdump
from fastdump import _core

warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
small, huge = sys.argv[1:]
scan = _core.Scan(
    [os.fsencode(huge)], level="basic", threads=1, engine="auto", logical=False,
    follow_links=False, selection=fastdump.Selection().native())

def limit_time():
    faulthandler.register(signal.SIGALRM, chain=True)
    signal.alarm(900)

def use_all():
    table = fastdump.stats(small)
    assert [row.max for row in table] == list(range(8))
    assert not fastdump.compare(small, small).findings
    assert fastdump.open(small)[3].outputs[0].stats().max == 3

def fork(work):
    child = os.fork()
    if child != 0:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == 7, code
        return
    limit_time()
    work()
    sys.exit(7)
"""


@pytest.mark.threads_after_fork
def test_children_of_a_process_that_scans(paths: tuple[Path, Path], run_python: Any) -> None:
    program = f"""{FORKS}
def work():
    use_all()
    # The scan is the other process's.
    for call in (scan.table, scan.skipped, lambda: scan.run(None, 1)):
        try:
            call()
        except RuntimeError:
            pass
        else:
            sys.exit(1)

thread = threading.Thread(target=scan.run, args=(None, 0), daemon=True)
thread.start()
while scan.progress().bytes_done == 0:
    pass
for i in range(3):
    fork(work)
"""
    assert run_python(program, *paths) == ""


@pytest.mark.threads_after_fork
def test_children_that_a_callback_makes(paths: tuple[Path, Path], run_python: Any) -> None:
    """They are in the middle of a scan that nobody goes on with, and end or are told so."""
    program = f"""{FORKS}
parent = os.getpid()

class EnoughError(Exception):
    pass

def on_progress(progress):
    fork(use_all)
    if os.fork() == 0:
        limit_time()
        return  # into the scan
    code = os.waitstatus_to_exitcode(os.wait()[1])
    assert code == 5, code
    raise EnoughError

try:
    scan.run(on_progress, 0)
except RuntimeError as error:
    assert os.getpid() != parent
    assert str(error) == "the scan was begun by another process", error
    use_all()
    del scan
    sys.exit(5)
except EnoughError:
    assert os.getpid() == parent
"""
    assert run_python(program, *paths) == ""


@pytest.mark.threads_after_fork
@pytest.mark.skipif(c_compiler() is None, reason="no C compiler for the shim")
def test_children_that_begin_while_a_thread_holds_a_lock(
    paths: tuple[Path, Path], run_python: Any, tmp_path: Path
) -> None:
    """They need no lock that a thread of their parent holds, and nothing that it has half begun."""
    shim = preloaded(build_shim(tmp_path, "stop_shim"))
    # After so many moments a thread has mapped the file, and takes the same locks chunk by chunk.
    program = f"""{FORKS}
import ctypes

shim = ctypes.CDLL(None)
fastdump.stats, fastdump.compare, fastdump.open  # what they import is not imported in each child

class EnoughError(Exception):
    pass

def on_progress(progress):
    if not shim.has_stopped():
        return
    fork(use_all)
    shim.go_on()
    raise EnoughError

def work():
    shim.stop_at(moment)
    try:
        scan.run(on_progress, 0)
    except EnoughError:
        pass

for moment in range(1, 49):
    print("moment", moment, file=sys.stderr)
    fork(work)  # each has the first thread and the first scan of its process
"""
    assert run_python(program, *paths, LD_PRELOAD=shim, OPENBLAS_NUM_THREADS="1") == ""


def what_a_child_finds(path: Path) -> list[Any]:
    return [
        *[row.max for row in fastdump.stats(path)],
        *[op.outputs[0].stats().max for op in fastdump.open(path)],
        fastdump.compare(path, path).clean,
    ]


@pytest.mark.parametrize(
    "method",
    [pytest.param("fork", marks=pytest.mark.threads_after_fork), "forkserver", "spawn"],
)
def test_processes_of_multiprocessing(paths: tuple[Path, Path], method: str) -> None:
    small, _ = paths
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    expected = what_a_child_finds(small)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(what_a_child_finds, [small] * 4) == [expected] * 4


def test_another_interpreter_refuses_in_words(run_python: Any) -> None:
    program = """
try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters as _interpreters
import fastdump._core

source = '''
import os
try:
    import fastdump._core
except ImportError as error:
    os.write(1, type(error).__name__.encode() + b": " + str(error).encode())
else:
    os.write(1, b"imported")
'''
other = _interpreters.create()
_interpreters.run_string(other, source)
_interpreters.destroy(other)
fastdump._core.data_types()
"""
    assert "interpreter" in run_python(program)
