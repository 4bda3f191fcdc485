"""The hooks of a build (PEP 517): scikit-build-core's, with a compiler that suits and progress."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import compiler
import terminal_progress
import zig_compiler
from scikit_build_core import build as scikit_build
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, Any] | None


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what else has to be installed, which is a compiler where there is none."""
    with in_words():
        needed = compiler.requirements(config_settings)
    return [*scikit_build.get_requires_for_build_wheel(config_settings), *needed]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return what else has to be installed, which is a compiler where there is none."""
    with in_words():
        needed = compiler.requirements(config_settings)
    return [*scikit_build.get_requires_for_build_editable(config_settings), *needed]


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Compile, and make a wheel."""
    return build(scikit_build.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Compile, and make a wheel that leads to this source tree."""
    return build(scikit_build.build_editable, wheel_directory, config_settings, metadata_directory)


def build(
    hook: Callable[..., str], wheel_directory: str, given: Settings, metadata_directory: str | None
) -> str:
    """Run one of the two hooks that compile."""
    with in_words():
        compiler.check_python()
        chosen = compiler.choose(given)
        settings = {f"cmake.define.{name}": value for name, value in chosen.definitions.items()}
        if chosen.requirement:
            settings |= of_zig(chosen)
    print(f"*** compiling with {chosen.words}", flush=True)
    with terminal_progress.shown(chosen.words):
        return hook(wheel_directory, {**settings, **(given or {})}, metadata_directory)


def of_zig(chosen: compiler.Compiler) -> dict[str, str]:
    """Return the settings for a build by the compiler of `ziglang`."""
    try:
        definitions = zig_compiler.definitions(zig_compiler.target())
    except ModuleNotFoundError:
        raise compiler.UnusableError(
            f"{compiler.NEEDED}. Without build isolation there has to be one, or ziglang:\n"
            f"  pip install '{chosen.requirement}'"
        ) from None
    # What zig compiles of its own libraries is kept with what it compiles of fastdump.
    os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(Path("build/zig").resolve()))
    # CMake remembers a compiler for as long as there is its build directory.
    settings = {"build-dir": "build/{state}-{wheel_tag}-zig"}
    return settings | {f"cmake.define.{name}": value for name, value in definitions.items()}


@contextmanager
def in_words() -> Iterator[None]:
    """End the process with the message alone where a build is not possible."""
    try:
        yield
    except compiler.UnusableError as error:
        sys.exit(f"\n{error}\n")
