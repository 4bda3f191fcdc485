"""Commands of the whole program, each in a process of its own, that lacks something: a call to the
system fails, or the address space has an end.

A server process imports the package once and is forked for each command: a case takes some
hundredths of a second. ``fault_shim.c`` says what can fail.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 900
"""After so many seconds a command is taken to hang, also on a machine with ten times more work than
CPUs, and ended by SIGALRM."""


@dataclass(frozen=True)
class Case:
    """One command, and what goes wrong: "read:3:EIO"; nothing if empty."""

    arguments: tuple[str, ...]
    fault: str = ""
    address_space: int | None = None
    """How many bytes beyond those of the server there may be."""


@dataclass(frozen=True)
class Ended:
    """How a command has ended."""

    code: int
    """Negative: the signal that ended it."""
    stdout: str
    stderr: str
    counts: dict[str, int]
    """Calls of each kind."""


def c_compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def build_shim(directory: Path, name: str = "fault_shim") -> Path:
    """Compile a library beside this file that is to be preloaded."""
    compiler = c_compiler()
    assert compiler is not None
    source, shim = Path(__file__).with_name(f"{name}.c"), directory / f"{name}.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-pthread", "-o", shim, source, "-ldl"]
    subprocess.run(command, check=True)
    return shim


def preloaded(shim: Path) -> str:
    """Return what LD_PRELOAD has to be."""
    # Behind what is preloaded already: the libraries of a sanitizer have to be first.
    return " ".join([*os.environ.get("LD_PRELOAD", "").split(), str(shim)])


class FaultyCommands:
    """Runs commands; with a shim, calls may fail for files below `under`."""

    def __init__(
        self,
        scratch: Path,
        shim: Path | None = None,
        under: Sequence[Path] = (),
        threads: int = 2,
    ) -> None:
        self._scratch = scratch
        environment = {"FASTDUMP_THREADS": str(threads)}
        if shim is not None:
            environment["LD_PRELOAD"] = preloaded(shim)
            environment["FAULT_UNDER"] = ":".join(map(str, under))
        self._server = subprocess.Popen(
            [sys.executable, __file__, str(scratch)],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> FaultyCommands:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.stdout.close()
        self._server.wait()

    def run(self, case: Case) -> Ended:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        print(json.dumps(asdict(case)), file=self._server.stdin, flush=True)
        return Ended(**json.loads(self._server.stdout.readline()))


def faults(counts: dict[str, int], errors: dict[str, Iterable[str]]) -> Iterator[str]:
    """Every call of a command, with every error that it may have."""
    for call, names in errors.items():
        for number in range(1, counts[call] + 1):
            for name in names:
                yield f"{call}:{number}:{name}"


def _serve(scratch: Path) -> None:
    import fastdump._cli as cli

    # Modules that commands import when they are called are none of their faults.
    for command in cli._COMMANDS:
        __import__(f"fastdump._cli.{command}")
    for line in sys.stdin:
        case: dict[str, Any] = json.loads(line)
        child = os.fork()
        if child == 0:
            sys.exit(_run(case, scratch))
        _, status = os.waitpid(child, 0)
        # A process that a signal has ended has counted nothing.
        path = scratch / "counts"
        counts = path.read_text().split() if path.exists() else []
        ended = {
            "code": os.waitstatus_to_exitcode(status),
            "stdout": (scratch / "stdout").read_text(errors="replace"),
            "stderr": (scratch / "stderr").read_text(errors="replace"),
            "counts": dict(zip(counts[::2], map(int, counts[1::2]), strict=True)),
        }
        print(json.dumps(ended), flush=True)


def _run(case: dict[str, Any], scratch: Path) -> int:
    """In the child: the command, as if it were the process's own."""
    import resource
    import signal

    import fastdump._cli as cli

    signal.alarm(LIMIT_S)  # a command that hangs ends by a signal
    (scratch / "counts").unlink(missing_ok=True)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        opened = os.open(scratch / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if (address_space := case["address_space"]) is not None:
        n_pages = int(Path("/proc/self/statm").read_text().split()[0])
        address_space += n_pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    os.environ["FAULT"] = case["fault"]
    os.environ["FAULT_COUNTS"] = str(scratch / "counts")
    return cli.main(case["arguments"])


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
