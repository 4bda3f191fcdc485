"""Statistics of dumps: from paths to a table."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

from fastdump import _core
from fastdump._column import INT64_MAX, INT64_MIN
from fastdump._progress import INTERVAL_S, ProgressBar
from fastdump._schema import IO, LEVELS
from fastdump._table import StatsTable
from fastdump.errors import NoDumpError

PathLike: TypeAlias = "str | bytes | os.PathLike[str] | os.PathLike[bytes]"
Level: TypeAlias = Literal["health", "basic", "full"]
Engine: TypeAlias = Literal["auto", "mmap", "read"]

_ENGINES = ("auto", "mmap", "read")
_C_INT_MAX = 2**31 - 1


def stats(
    path: PathLike | Iterable[PathLike],
    *,
    level: Level = "basic",
    logical: bool = False,
    threads: int | None = None,
    io: Engine = "auto",
    progress: bool | Callable[[_core.Progress], object] | None = None,
    follow_links: bool = False,
    op_type: str | Iterable[str] | None = None,
    op_name: str | Iterable[str] | None = None,
    step: int | Iterable[int] | None = None,
    rank: int | Iterable[int] | None = None,
    tensor: str | Iterable[str] | None = None,
) -> StatsTable:
    """Compute statistics of every tensor in a dump.

    A dump can hold statistics instead of tensors, as CSV files that the device's software wrote
    (``dump_data=stats``). They become rows with ``source`` "csv" of the same table. At every
    `level` they have all that was reported, but for ``zero``, a column of level "full".

    Parameters
    ----------
    path
        A dump file, a directory of any depth, or several of them.
    level
        "health" counts elements, NaN and Inf; "basic" adds max, min, mean and l2norm; "full" adds
        zero, subnormal and saturated elements and the first bad one. `StatsRow` defines them.
    logical
        Whether to leave out the padding of private formats: statistics are then those of the host
        array, ``first_bad`` is a flat index of it. Where it cannot be told from the data, padding
        stays in, and the row's note says why.
    threads
        Default: the environment variable ``FASTDUMP_THREADS``, or the CPUs this process may use.
        The result does not depend on it.
    io
        How payloads are read: "mmap", "read", or "auto", which chooses for each file. Large
        tensors of which only the logical elements are wanted are always mapped.
    progress
        True for a progress bar on stderr, if that is a terminal; or a function that is called about
        ten times a second with a `Progress`. An exception that it raises ends the scan.
    follow_links
        Whether to follow symbolic links below `path`. Those that are not followed are counted as
        skipped.
    op_type, op_name
        Shell patterns (``*``, ``?``, ``[abc]``); only operators that match one of them are read.
    step, rank
        Only these; a tensor whose path tells no step or rank is left out.
    tensor
        Only these of "input", "output", "buffer" and "space".

    Returns
    -------
    StatsTable
        One row a tensor, in the order of execution. A file that could not be read is a row too,
        with a status that says so.

    Raises
    ------
    NoDumpError
        If there is not a single row.
    ValueError
        If an argument has a value that it cannot have.
    OSError
        If `path` does not exist or is not readable.

    Examples
    --------
    >>> t = fastdump.stats("dump_dir", op_type="MatMul*", step=3)  # doctest: +SKIP
    >>> t.worst(10)  # doctest: +SKIP
    """
    if level not in LEVELS[1:]:
        raise ValueError(f"level is {level!r}, expected one of {', '.join(LEVELS[1:])}")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is {progress!r}, expected True, None or a function")
    paths = paths_of(path)  # once: it may be an iterator
    scan = new_scan(
        paths,
        level=level,
        logical=logical,
        threads=threads,
        io=io,
        follow_links=follow_links,
        op_type=op_type,
        op_name=op_name,
        step=step,
        rank=rank,
        tensor=tensor,
    )
    if progress is True:
        with ProgressBar() as bar:
            scan.run(bar, INTERVAL_S)
    else:
        scan.run(progress or None, INTERVAL_S)
    table = table_of(scan, level)
    if len(table) == 0:
        conditions = (op_type, op_name, step, rank, tensor)
        selected = any(condition is not None for condition in conditions)
        raise no_dump_error(paths, table.skipped, selected=selected)
    return table


def new_scan(
    path: PathLike | Iterable[PathLike],
    *,
    level: str,
    logical: bool = False,
    threads: int | None = None,
    io: str = "auto",
    follow_links: bool = False,
    op_type: str | Iterable[str] | None = None,
    op_name: str | Iterable[str] | None = None,
    step: int | Iterable[int] | None = None,
    rank: int | Iterable[int] | None = None,
    tensor: str | Iterable[str] | None = None,
) -> _core.Scan:
    """Return a scan that has not been run, with the arguments of `stats` checked.

    Besides those of `stats`, `level` can be "header": tensors are described, no payload is read,
    and rows with ``source`` "csv" have no statistics but their count.
    """
    if level not in LEVELS:
        raise ValueError(f"level is {level!r}, expected one of {', '.join(LEVELS)}")
    if io not in _ENGINES:
        raise ValueError(f"io is {io!r}, expected one of {', '.join(_ENGINES)}")
    return _core.Scan(
        [path_bytes(item) for item in paths_of(path)],
        level=level,
        threads=n_threads(threads),
        io=io,
        logical=logical,
        follow_links=follow_links,
        op_type=texts_of("op_type", op_type),
        op_name=texts_of("op_name", op_name),
        step=integers_of("step", step),
        rank=integers_of("rank", rank),
        tensor=io_of("tensor", tensor),
    )


def table_of(scan: _core.Scan, level: str) -> StatsTable:
    """Return the rows that `scan` has finished; after an interruption those are not all."""
    return StatsTable(scan.table(), level=level, skipped=scan.skipped())


def no_dump_error(
    path: PathLike | Iterable[PathLike], skipped: Mapping[str, int], *, selected: bool
) -> NoDumpError:
    """Return the error for a scan of `path` without a row."""
    paths = ", ".join(repr(os.fspath(item)) for item in paths_of(path))
    wanted = "dump file that was asked for" if selected else "dump file"
    n_skipped = sum(skipped.values())
    if not n_skipped:
        return NoDumpError(f"no {wanted} in {paths}")
    reasons = ", ".join(f"{n_files} {reason}" for reason, n_files in skipped.items())
    files = "1 file" if n_skipped == 1 else f"{n_skipped} files"
    return NoDumpError(f"no {wanted} in {paths}: {files} skipped ({reasons})")


def n_threads(threads: int | None) -> int:
    """Return `threads`, or the default."""
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
    """Return `path` as the system takes it; raise ValueError for one that it would cut."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise ValueError(f"path {path!r} contains a null byte")
    return encoded


def texts_of(name: str, texts: str | Iterable[str] | None) -> list[str]:
    """Return the argument `name` as a list, empty for None; raise TypeError or ValueError."""
    if texts is None:
        return []
    listed = [texts] if isinstance(texts, str) or not isinstance(texts, Iterable) else list(texts)
    if not all(isinstance(text, str) for text in listed):
        raise TypeError(f"{name} is {texts!r}, expected a str or several")
    if not listed:
        raise ValueError(f"{name} is empty, expected at least one; None selects all")
    return listed


def io_of(name: str, io: str | Iterable[str] | None) -> list[str]:
    """Return the argument `name` as a list, empty for None; raise TypeError or ValueError."""
    listed = texts_of(name, io)
    if not set(listed).issubset(IO):
        raise ValueError(f"{name} is {io!r}, expected some of {', '.join(IO)}")
    return listed


def integers_of(name: str, integers: int | Iterable[int] | None) -> list[int]:
    """Return the argument `name` as a list, empty for None; raise TypeError or ValueError."""
    if integers is None:
        return []
    given = integers if isinstance(integers, Iterable) else [integers]
    try:
        listed = [operator.index(integer) for integer in given]
    except TypeError as error:
        raise TypeError(f"{name} is {integers!r}, expected an integer or several") from error
    if not listed:
        raise ValueError(f"{name} is empty, expected at least one; None selects all")
    if min(listed) < INT64_MIN or max(listed) > INT64_MAX:
        raise ValueError(f"{name} is {integers!r}, expected 64-bit integers")
    return listed
