"""The interpreter ends while a daemon thread is in the extension: quietly, and with its own code.

The thread calls one function again and again and, as Python never takes the GIL away from it here,
lets the main thread run only where the GIL is let go. So the end always comes while the extension
is at work. An object that dies with the interpreter then waits until the thread has asked
for the GIL in vain, for else the process could be gone before.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from fastdump.testing import TensorSpec, device_tensor, dump_header, dump_name, write_dump

HUGE = 1 << 38  # bytes; a sparse file that no machine reads before a test is over

PROGRAM = """
import os, sys, threading, types

import numpy as np

import fastdump
from fastdump import _core

assert not hasattr(sys, "_is_gil_enabled") or sys._is_gil_enabled()
sys.setswitchinterval(1000)
folder, small, huge = map(os.fsencode, sys.argv[2:5])
everything = fastdump.Selection().native()
data = np.zeros(1 << 16, np.uint8)
out = np.zeros(1 << 17, np.uint8)
layout = _core.HostLayout(
    format=29, shape=[2, 2, 16, 16], origin_shape=[32, 32], sub_format=0, order="", origin_format=""
)

states = {path: _core.file_state(os.open(path, os.O_RDONLY)) for path in (small, huge)}

def new_scan(paths):
    return _core.Scan(
        paths, level="basic", threads=2, engine="auto", logical=False, follow_links=False,
        selection=everything)

def new_comparison(path, n):
    place = [(path, states[path], 0, "uint8", n, None)]
    return _core.Comparison(place, place, rtol=0, atol=0, kl=False, threads=2, engine="auto")

def new_index():
    return _core.Index([folder], follow_links=False)

def ask(progress):
    while True:
        os.stat(".")  # lets the GIL go, as most of what a callback would do

class Work:
    def scan(self):
        new_scan([huge]).run(None, 0)
    def scan_in_the_callback(self):
        new_scan([huge]).run(ask, 0)
    def scan_an_index(self):
        scan = _core.Scan(
            index, positions, level="basic", threads=2, engine="auto", logical=False,
            selection=everything)
        scan.run(None, 0)
    def scan_table(self):
        finished_scan.table()
    def compare(self):
        new_comparison(huge, 1 << 38).run(None, 0)
    def comparison_table(self):
        finished_comparison.table()
    def index(self):
        new_index()
    def select(self):
        index.select(positions, everything)
    def describe_file(self):
        _core.describe_file(small)
    def map_file(self):
        _core.MappedFile(small, states[small])
    def read_into(self):
        _core.read_into(small, states[small], 0, out)
    def reduce_file(self):
        _core.reduce_file(huge, states[huge], 0, "int8", 1 << 38, "full", 2)
    def reduce_buffer(self):
        _core.reduce_buffer(data, "int8", data.size, "full", 2)
    def compare_buffers(self):
        _core.compare_buffers(
            data, "int8", data, "int8", data.size, rtol=0, atol=0, kl=True, threads=2)
    def unpack(self):
        _core.unpack(data, "int4", 2 * data.size, out, 2)
    def gather(self):
        layout.gather(data, out, 2, 0, 1024, 2)
    def stats(self):
        fastdump.stats(folder)
    def tensor_stats(self):
        tensor.stats()
    def tensor_logical(self):
        private.logical()

work = getattr(Work(), sys.argv[1])
if "positions" in work.__code__.co_names:
    index = new_index()
    positions = np.arange(len(index), dtype=np.uint32)
finished_scan = new_scan([small])
finished_scan.run(None, 1)
finished_comparison = new_comparison(small, os.path.getsize(small))
finished_comparison.run(None, 1)
operators = fastdump.open(folder)
tensor, private = operators["huge"].outputs[0], operators["small"].outputs[0]

def repeat():
    while True:
        work()

thread = threading.Thread(target=repeat, daemon=True)

class DiesWithTheInterpreter:
    # What modules hold is no longer there when this is called.
    def __init__(self):
        self.waits_in = f"/proc/self/task/{thread.native_id}/syscall"
        self.at_end, self.open, self.write = sys.is_finalizing, open, os.write

    def __del__(self):
        assert self.at_end()
        # The thread waits in pause(), 34 of x86-64, or in ppoll(), 73 of aarch64 and 271 of an
        # x86-64 that emulates it.
        try:
            while self.open(self.waits_in).read().split()[0] not in ("34", "73", "271"):
                pass
        except OSError:
            self.write(1, b"ended")
        else:
            self.write(1, b"asked in vain")

thread.start()
if os.path.exists("/proc/self/syscall"):
    # This module's names live on, as the thread uses them.
    sys.modules["holder"] = types.ModuleType("holder")
    sys.modules["holder"].held = DiesWithTheInterpreter()
else:
    os.write(1, b"asked in vain")
"""

ENTRIES = [
    "scan",
    "scan_in_the_callback",
    "scan_an_index",
    "scan_table",
    "compare",
    "comparison_table",
    "index",
    "select",
    "describe_file",
    "map_file",
    "read_into",
    "reduce_file",
    "reduce_buffer",
    "compare_buffers",
    "unpack",
    "gather",
]
OF_PYTHON_TOO = ["stats", "tensor_stats", "tensor_logical"]


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return a folder, and in it a small file and one that no machine reads in time."""
    folder = tmp_path_factory.mktemp("dump")
    small, huge = (
        folder / dump_name("Add", name, task_id=1, stream_id=2, timestamp=1_700_000_000_000_000)
        for name in ("small", "huge")
    )
    array = np.zeros((2, 19, 3, 5), np.float16)
    write_dump(small, outputs=[device_tensor(array, "NC1HWC0")])
    spec = TensorSpec(b"", "INT8", shape=(HUGE,), size=HUGE)
    huge.write_bytes(dump_header(outputs=[spec]))
    try:
        os.truncate(huge, huge.stat().st_size + HUGE)
    except OSError as error:
        pytest.skip(f"no sparse file of {HUGE} bytes here: {error}")
    return [str(folder), str(small), str(huge)]


@pytest.mark.parametrize("entry", [*ENTRIES, *OF_PYTHON_TOO])
def test_the_end_is_quiet_and_has_its_own_code(entry: str, arguments: list[str]) -> None:
    for code in (0, 3):
        ending = f"sys.exit({code})"
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM + ending, entry, *arguments],
            capture_output=True,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (code, b"")
        # Python ends a thread itself where it lets the GIL go itself.
        assert ended.stdout in (b"asked in vain", b"ended" if entry in OF_PYTHON_TOO else b"")
