"""The C++ compiler that the package `ziglang` of the index brings, for CMake."""

from __future__ import annotations

import importlib.util
import platform
from pathlib import Path

REQUIREMENT = "ziglang>=0.17.1"


def target(machine: str | None = None, glibc: str = "2.17") -> str:
    """Return zig's name of Linux on a machine (this one, if None is named) with a glibc."""
    return f"{machine or platform.machine()}-linux-gnu.{glibc}"


def definitions(target: str) -> dict[str, str]:
    """Return the variables with which CMake compiles for a target.

    Raises
    ------
    ModuleNotFoundError
        If `ziglang` is not installed for this Python.
    """
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("ziglang is not installed", name="ziglang")
    return {
        "CMAKE_TOOLCHAIN_FILE": str(Path(__file__).with_name("zig.cmake")),
        "ZIG": str(Path(package.origin).with_name("zig")),
        "ZIG_TARGET": target,
    }
