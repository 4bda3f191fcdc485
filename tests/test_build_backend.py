"""Builds from source: which compiler they take, what they say without one, how far they are.

Compilers of these tests are scripts on a PATH that has nothing else; only that of the probe itself
is real.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

PACKAGING = Path(__file__).resolve().parents[1] / "packaging"
if not PACKAGING.is_dir():
    pytest.skip("the source tree is not here", allow_module_level=True)

SUITS, FAILS = "exit 0", "echo 'probe.cpp:7:2: error: #error \"too old\"' >&2; exit 1"

Install = Callable[..., Path]


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(PACKAGING))
    for name in ("CXX", "CMAKE_ARGS", "CMAKE_TOOLCHAIN_FILE"):
        monkeypatch.delenv(name, raising=False)
    module = importlib.import_module("compiler")
    monkeypatch.setattr(module.sys, "platform", "linux")
    monkeypatch.setattr(module.platform, "libc_ver", lambda: ("glibc", "2.28"))
    yield module
    for name in ("compiler", "zig_compiler", "terminal_progress"):
        sys.modules.pop(name, None)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what puts a compiler on a PATH that is empty but for such."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def written(name: str, does: str, version: str = "1.0") -> Path:
        path = tmp_path / "bin" / name
        path.write_text(
            f'#!/bin/sh\ncase "$*" in *--version) echo "{name} {version}"; exit;; esac\n{does}\n'
        )
        path.chmod(0o755)
        return path

    return written


# Which compiler


def test_without_a_compiler_the_index_has_one(compiler: ModuleType, install: Install) -> None:
    chosen = compiler.choose()
    assert chosen.requirement.startswith("ziglang>=")
    assert "no C++ compiler here" in chosen.words


def test_a_compiler_that_is_too_old_is_as_none(compiler: ModuleType, install: Install) -> None:
    install("g++", FAILS, "10.2.1")
    chosen = compiler.choose()
    assert chosen.requirement.startswith("ziglang>=")
    assert chosen.words.endswith("as g++ 10.2.1 is too old")


def test_what_cmake_would_take_is_taken_if_it_suits(compiler: ModuleType, install: Install) -> None:
    taken = install("c++", SUITS, "12.2.0")
    install("g++", SUITS)
    install("g++-14", SUITS)
    chosen = compiler.choose()
    assert chosen.definitions == {"CMAKE_CXX_COMPILER": str(taken)}
    assert chosen.words == "c++ 12.2.0"
    assert chosen.requirement is None


def test_beside_an_old_compiler_the_newest_is_taken(compiler: ModuleType, install: Install) -> None:
    install("c++", FAILS)
    install("g++", FAILS)
    install("g++-9", SUITS)
    newest = install("clang++-15", SUITS)
    install("clang++-18", FAILS)
    assert compiler.choose().definitions == {"CMAKE_CXX_COMPILER": str(newest)}


@pytest.mark.parametrize("command", ["g++-13", "g++-13 -m64"])
def test_the_users_compiler_is_taken(
    command: str, compiler: ModuleType, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("g++", SUITS)
    install("g++-13", SUITS, "13.2")
    monkeypatch.setenv("CXX", command)
    chosen = compiler.choose()
    assert chosen.words == "g++-13 13.2, which CXX names"
    assert not chosen.definitions  # CMake reads CXX itself
    assert chosen.requirement is None


@pytest.mark.parametrize("command", ["g++-10", "not-here"])
def test_the_users_compiler_is_never_replaced(
    command: str, compiler: ModuleType, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("g++", SUITS)
    install("g++-10", FAILS)
    monkeypatch.setenv("CXX", command)
    with pytest.raises(compiler.UnusableError, match=re.escape(f"CXX={command} is none")):
        compiler.choose()


def test_what_cmake_is_told_is_not_asked_about(
    compiler: ModuleType, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("g++", FAILS)
    told = {"cmake.define.CMAKE_TOOLCHAIN_FILE": "zig.cmake"}
    assert compiler.choose(told).requirement is None
    assert compiler.choose({"cmake.define.CMAKE_CXX_COMPILER_LAUNCHER": "ccache"}).requirement
    monkeypatch.setenv("CMAKE_ARGS", "-GNinja -DCMAKE_CXX_COMPILER=g++")
    assert compiler.choose().requirement is None


def test_no_compiler_of_the_index_for_other_libraries_of_c(
    compiler: ModuleType, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler.platform, "libc_ver", lambda: ("", ""))
    with pytest.raises(compiler.UnusableError, match="GCC 11, clang 14 or a newer"):
        compiler.choose()


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler here")
def test_the_probe_tells_compilers_apart(compiler: ModuleType) -> None:
    assert compiler.probe(["c++"]) is None
    older = ["-U__GNUC__", "-D__GNUC__=10", "-U__clang_major__", "-D__clang_major__=13"]
    complaint = compiler.probe(["c++", *older])
    assert complaint is not None
    assert "error" in complaint


# Headers of Python


def test_headers_of_python_are_missed_at_once(
    compiler: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(compiler.UnusableError, match=r"Python\.h.*\n.*apt install python3-dev"):
        compiler.requirements()


# Progress


def test_progress_says_what_is_compiled_and_leaves_the_output_as_it_is(
    compiler: ModuleType, tmp_path: Path
) -> None:
    progress = importlib.import_module("terminal_progress")
    log = (
        b"-- Configuring done\n"
        b"[3/31] Building CXX object CMakeFiles/fastdump_core.dir/Unity/unity_3_cxx.cxx.o\n"
        b"[31/31] Linking CXX shared module _core.so\n"
    )
    reader, writer = os.pipe()
    os.write(writer, log)
    os.close(writer)
    terminal = io.StringIO()
    with (tmp_path / "output").open("wb") as output:
        progress.forward(reader, output.fileno(), terminal, "g++ 12")
    assert (tmp_path / "output").read_bytes() == log
    shown = terminal.getvalue()
    assert "3/31 fastdump_core, g++ 12" in shown
    assert shown.count("31") == 1
    # The cursor is where it was.
    assert shown.startswith("\x1b7")
    assert shown.endswith("\x1b8")
    assert "\n" not in shown
