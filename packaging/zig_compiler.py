"""The C++ compiler that the package `ziglang` of the index brings, for CMake."""

from __future__ import annotations

import importlib.util
import platform
import re
from pathlib import Path

REQUIREMENT = "ziglang>=0.17.1"


def root() -> Path:
    """Return the folder of the package.

    Raises
    ------
    ModuleNotFoundError
        If `ziglang` is not installed for this Python.
    """
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("ziglang is not installed", name="ziglang")
    return Path(package.origin).parent


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
    return {
        "CMAKE_TOOLCHAIN_FILE": str(Path(__file__).with_name("zig.cmake")),
        "ZIG": str(root() / "zig"),
        "ZIG_TARGET": target,
    }


def llvm_version() -> str:
    """Return the version of LLVM of which its clang and its C++ library are."""
    config = (root() / "lib/libcxx/include/__config").read_text()
    number = re.search(r"define _LIBCPP_VERSION (\d\d)(\d\d)(\d\d)", config)
    if number is None:
        raise ValueError(f"no version in {root()}/lib/libcxx/include/__config")
    return ".".join(str(int(part)) for part in number.groups())
