"""Commands for which there are too few addresses: each ends with an exit code that says so, in a
line, or does all of its work. None is ended by a library that got no memory.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from faulty_commands import Case, FaultyCommands
from small_dumps import SmallDump

import fastdump
from fastdump import demo
from fastdump._cli import _COMMANDS
from fastdump._cli.address_space import NEEDED_NBYTES

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="limits the address space as Linux does"),
    pytest.mark.measures_memory,
]

MIB = 1 << 20
N_THREADS = 16  # far more than there is room for
COMMANDS = {
    "ls": ["ls {a}"],
    "stats": ["stats {a} --level full", "stats {a} -o {out}/t.parquet"],
    "show": ["show {tensor}:output.0"],
    "triage": ["triage {a}"],
    "follow": ["follow {a} --settle 0 --until-idle 0 -o {out}/run.arrow"],
    "browse": ["browse {a}"],  # which needs a terminal
    "report": ["report {a} -o {out}/r.html"],
    "compare": ["compare {a} {b} -o {out}/t.csv"],
    "overflow": ["overflow {overflow}"],
    "watcher": ["watcher {watcher}"],
    "convert": ["convert {a} {out}/npy", "convert {a} {out}/tensors --type safetensors"],
    "export": ["export tensorboard {a} {out}/logs", "export openmetrics {a} -o {out}/m.prom"],
    "merge": ["merge {out}/t.json {table}"],
    "config": ["config check {config}"],
    "info": ["info"],
    "demo": ["demo {out}/demo"],
}
# Beyond what the process has: too little to begin, just enough, and room for ever more threads.
ADDRESS_SPACES = [0, *(NEEDED_NBYTES + n * MIB for n in (1, 72, 200, 500))]


def write_run(root: Path, factor: float) -> Path:
    run = SmallDump(root)
    x = np.arange(1, 41, dtype=np.float32)
    run.op("MatMul layer1/matmul", [x], [x * factor])
    path = run.op("Add layer1/add", [x], [np.where(x == 7, np.nan, x)])
    # More than the first read takes.
    run.op("Cast layer2/cast", [np.full(70_000, factor, np.float32)], [x.astype(np.int8)])
    (path.parent / "Add.bad.1.2.1700000000000000").write_bytes(b"no dump")
    return path


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("few_addresses")
    tensor = write_run(root / "a", 2.0)
    write_run(root / "b", 2.5)
    demo.write_overflow_demo(root / "overflow")
    demo.write_watcher_demo(root / "watcher")
    (root / "acl.json").write_text('{"dump": {"dump_path": "/tmp", "dump_list": []}}')
    (root / "out").mkdir()
    fastdump.stats(root / "a").write(root / "table.json")
    names = ("a", "b", "overflow", "watcher", "out")
    return {
        **{name: str(root / name) for name in names},
        "tensor": str(tensor),
        "table": str(root / "table.json"),
        "config": str(root / "acl.json"),
    }


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyCommands]:
    with FaultyCommands(tmp_path_factory.mktemp("server"), threads=N_THREADS) as server:
        yield server


def test_all_commands_are_here() -> None:
    assert set(COMMANDS) == set(_COMMANDS)


@pytest.mark.parametrize("command", [line for lines in COMMANDS.values() for line in lines])
def test_a_command_with_few_addresses(
    command: str, commands: FaultyCommands, places: dict[str, str], tmp_path: Path
) -> None:
    arguments = command.split()

    def run(case: str, address_space: int | None) -> tuple[int, str]:
        out = tmp_path / case
        out.mkdir()
        words = tuple(word.format(**(places | {"out": str(out)})) for word in arguments)
        ended = commands.run(Case(words, address_space=address_space))
        return ended.code, ended.stderr

    expected, _ = run("all", None)
    assert expected in (0, 1, 2, 3)
    for address_space in ADDRESS_SPACES:
        code, stderr = run(str(address_space), address_space)
        assert code == (2 if address_space < NEEDED_NBYTES else expected), (address_space, stderr)
        assert "Traceback" not in stderr
        if address_space < NEEDED_NBYTES:
            assert len(stderr.splitlines()) == 1
            assert "ulimit -v" in stderr


def test_a_command_begins_only_where_its_libraries_can_be_loaded(places: dict[str, str]) -> None:
    """From where there is room for the command line alone, to where there is enough."""
    program = "import fastdump._cli; print(open('/proc/self/statm').read().split()[0])"
    begun = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    begins = int(begun.stdout) * resource.getpagesize() + 4 * MIB
    codes = []
    for beyond in (0, 16, 48, 96, 128, 144, 160, 224, 320):
        limit = str(begins + beyond * MIB)
        program = (
            "import resource, runpy, sys; limit = int(sys.argv.pop(1));"
            "resource.setrlimit(resource.RLIMIT_AS, (limit, limit));"
            "runpy.run_module('fastdump', run_name='__main__', alter_sys=True)"
        )
        ended = subprocess.run(
            [sys.executable, "-c", program, limit, "compare", places["a"], places["b"]],
            env=os.environ | {"FASTDUMP_THREADS": str(N_THREADS)},
            capture_output=True,
            text=True,
            check=False,
        )
        codes.append(ended.returncode)
        assert (ended.returncode == 2) == (len(ended.stderr.splitlines()) == 1), ended.stderr
    assert codes == [2] * 8 + [1]
