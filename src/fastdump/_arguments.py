"""Arguments that many functions share, and their checks."""

from __future__ import annotations

import operator
import os
import stat
from collections.abc import Iterable
from typing import Literal, TypeAlias, TypedDict, get_args

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
    return _core.default_threads() if threads is None else _number("threads", threads, "threads")


class Parallelism(TypedDict):
    """How much is done at a time: arguments of the core.

    Attributes
    ----------
    threads
        Number of threads that work.
    io_depth
        Number of reads under way; None leaves it to the core, which measures.
    """

    threads: int
    io_depth: int | None


def parallelism(threads: int | None, io_depth: int | None) -> Parallelism:
    """Return how much to do at a time; errors are those of `n_threads`, for both."""
    depth = None if io_depth is None else _number("io_depth", io_depth, "reads under way")
    return {"threads": n_threads(threads), "io_depth": depth}


def _number(name: str, given: int, what: str) -> int:
    number = operator.index(given)
    if not 1 <= number <= _C_INT_MAX:
        raise ValueError(f"{name} is {given}, expected a number of {what}, 1 or more")
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


_RANK_VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")
"""Where launchers tell a process its rank: torchrun, Slurm, Open MPI."""


def rank_given(as_rank: int | str | None) -> int | None:
    """Return the rank that the dumps of a call have; "env" stands for that of this process.

    Raises
    ------
    TypeError
        If `as_rank` is neither an integer nor a text.
    ValueError
        If it is negative, another text, or the environment does not tell a rank.
    """
    if as_rank is None:
        return None
    if isinstance(as_rank, str):
        return _rank_of_process(as_rank)
    rank = operator.index(as_rank)
    if not 0 <= rank <= INT64_MAX:
        raise ValueError(f"as_rank is {rank}, expected a rank, 0 or more")
    return rank


def _rank_of_process(as_rank: str) -> int:
    if as_rank != "env":
        raise ValueError(f"as_rank is {as_rank!r}, expected a number, or 'env'")
    for name in _RANK_VARIABLES:
        text = os.environ.get(name, "")
        if text.isascii() and text.isdecimal() and len(text) < 19:
            return int(text)
        if text:
            raise ValueError(f"{name} is {text!r}, expected a rank")
    raise ValueError(f"as_rank is 'env', but none of {', '.join(_RANK_VARIABLES)} is set")


def shard_given(shard: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return a shard as (number, number of shards); raise ValueError if there is no such shard."""
    if shard is None:
        return None
    i, n = map(operator.index, shard)
    if not 0 <= i < n <= _C_INT_MAX:
        raise ValueError(f"shard is {shard}, expected (i, n) with i from 0 to n - 1")
    return i, n


def directory_given(base: PathLike | None) -> str | None:
    """Return a directory as an absolute path, with links as they were given."""
    return None if base is None else os.path.abspath(os.fsdecode(base))  # noqa: PTH100
