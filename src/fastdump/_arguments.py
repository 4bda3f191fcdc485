"""Arguments that many functions share, and their checks."""

from __future__ import annotations

import operator
import os
import stat
from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from fastdump import _core

PathLike: TypeAlias = "str | bytes | os.PathLike[str] | os.PathLike[bytes]"
Level: TypeAlias = Literal["health", "basic", "full"]
Engine: TypeAlias = Literal["auto", "mmap", "read"]

LEVELS: tuple[str, ...] = get_args(Level)
"""Levels of statistics, each a superset of the one before."""

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1

_C_INT_MAX = 2**31 - 1


def is_directory(path: str) -> bool:
    """Tell whether a path leads to a directory; raise OSError if that cannot be told."""
    return stat.S_ISDIR(_mode_of(path))


def is_regular_file(path: str) -> bool:
    """Tell whether a path leads to a regular file; raise OSError if that cannot be told."""
    return stat.S_ISREG(_mode_of(path))


def _mode_of(path: str) -> int:
    # os.path.isdir and os.path.isfile take a disk that fails for a path that leads nowhere.
    try:
        return os.stat(path).st_mode  # noqa: PTH116 (pathlib is slow to import)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return 0


def check_level(level: str) -> None:
    """Raise ValueError unless `level` is a level of statistics."""
    _check_word("level", level, LEVELS)


def check_engine(engine: str) -> None:
    """Raise ValueError unless `engine` is a way of reading files."""
    _check_word("engine", engine, get_args(Engine))


def _check_word(name: str, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        raise ValueError(f"{name} is {word!r}, expected one of {', '.join(words)}")


def n_threads(threads: int | None) -> int:
    """Return the number of threads to use: `threads`, or the default for None.

    Raises
    ------
    TypeError
        If `threads` is not an integer.
    ValueError
        If `threads` is not positive.
    """
    if threads is None:
        return _core.default_threads()
    number = operator.index(threads)
    if not 1 <= number <= _C_INT_MAX:
        raise ValueError(f"threads is {threads}, expected a number of threads, 1 or more")
    return number


def paths_of(path: PathLike | Iterable[PathLike]) -> list[PathLike]:
    """Return one path or several as a list; raise ValueError if there is none."""
    if isinstance(path, (str, bytes, os.PathLike)):
        return [path]
    paths = list(path)
    if not paths:
        raise ValueError("path is empty, expected at least one path")
    return paths


def path_bytes(path: PathLike) -> bytes:
    """Return `path` as bytes for the system; raise ValueError if it contains a null byte."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"path {path!r} contains a null byte")
    return encoded


def paths_text(paths: Iterable[PathLike]) -> str:
    """Return paths as messages show them, quoted and separated by commas."""
    return ", ".join(repr(os.fspath(path)) for path in paths)
