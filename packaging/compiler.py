"""Which C++ compiler builds fastdump: one that is here, or else the one of the index.

``python packaging/compiler.py`` prints what has to be installed for a build, in words of pip, and
fails at once where a build would.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import zig_compiler

PROBE = Path(__file__).with_name("probe.cpp")
NEEDED = "fastdump is compiled by GCC 11, clang 14 or a newer C++20 compiler"
# CMake's own words, with which a user says what to compile with.
NAMES_A_COMPILER = re.compile(r"CMAKE_(CXX_COMPILER|TOOLCHAIN_FILE)\b")


class UnusableError(Exception):
    """Nothing here can compile fastdump; the message says what to do."""


@dataclass(frozen=True)
class Compiler:
    """A compiler, or the lack of one.

    Attributes
    ----------
    words
        Which one it is, and why.
    definitions
        What CMake has to be told of it.
    requirement
        What has to be installed first, if anything.
    """

    words: str
    definitions: Mapping[str, str] = field(default_factory=dict)
    requirement: str | None = None


def choose(settings: Mapping[str, object] | None = None) -> Compiler:
    """Return what to compile with.

    Parameters
    ----------
    settings
        Those that the build is given, among which may be definitions for CMake.

    Raises
    ------
    UnusableError
        If the user names a compiler that is too old, or if there is none and the index has none.
    """
    told = f"{settings} {os.environ.get('CMAKE_ARGS')}"
    if NAMES_A_COMPILER.search(told) or "CMAKE_TOOLCHAIN_FILE" in os.environ:
        return Compiler("the compiler that CMake is told to take")
    if command := os.environ.get("CXX"):
        if (complaint := probe(command.split())) is not None:
            raise UnusableError(
                f"{NEEDED}. CXX={command} is none ({version(command.split())}):\n"
                f"  {complaint}\n"
                "Name another one, or none at all: then the build looks for one."
            )
        return Compiler(f"{version(command.split())}, which CXX names")
    refused = []
    for program in installed():
        if probe([program]) is None:
            return Compiler(version([program]), {"CMAKE_CXX_COMPILER": program})
        refused.append(version([program]))
    why = f"{refused[0]} is too old" if refused else "there is no C++ compiler here"
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        raise UnusableError(f"{NEEDED}, and {why}.")
    return Compiler(f"the clang of ziglang, as {why}", requirement=zig_compiler.REQUIREMENT)


def installed() -> Iterator[str]:
    """Yield the C++ compilers of the PATH: those that CMake would take first, then the newest."""
    for name in ("c++", "g++", "clang++"):
        if found := shutil.which(name):
            yield found
    numbered = {
        path
        for folder in os.get_exec_path()
        for path in Path(folder).glob("*++-*")
        if re.fullmatch(r"(g|clang)\+\+-\d+", path.name) and os.access(path, os.X_OK)
    }
    yield from map(str, sorted(numbered, key=lambda path: -int(path.name.rpartition("-")[2])))


def probe(command: list[str]) -> str | None:
    """Return what is wrong with a compiler, None if nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*command, "-std=c++20", str(PROBE), "-o", str(Path(folder) / "probe")]
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace")
        except OSError as error:
            return str(error)
    lines = [line for line in run.stderr.splitlines() if "error" in line] or ["it fails"]
    return None if run.returncode == 0 else lines[0].removeprefix(f"{PROBE}:")


def version(command: list[str]) -> str:
    """Return what a compiler says that it is."""
    try:
        run = subprocess.run([*command, "--version"], capture_output=True, text=True)
    except OSError:
        return "not to be found"
    return next(iter(run.stdout.splitlines()), " ".join(command))


def check_python() -> None:
    """Raise an `UnusableError` if this Python has no C headers."""
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.is_file():
        raise UnusableError(
            f"{sys.executable} has no C headers: {header} is missing.\n"
            "  Debian, Ubuntu:    apt install python3-dev\n"
            "  openEuler, CentOS: yum install python3-devel"
        )


def requirements(settings: Mapping[str, object] | None = None) -> list[str]:
    """Return what has to be installed before a build."""
    check_python()
    compiler = choose(settings)
    return [compiler.requirement] if compiler.requirement else []


if __name__ == "__main__":
    try:
        print(*requirements())
    except UnusableError as error:
        sys.exit(str(error))
