"""`stats`, and the inputs that every question takes: paths, a dump, a table or its file."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fastdump import _core
from fastdump._arguments import (
    Engine,
    Level,
    PathLike,
    check_level,
    directory_given,
    path_bytes,
    paths_text,
    rank_given,
    shard_given,
)
from fastdump._dump.absence import no_dump_error
from fastdump._dump.dump import Dump, chosen, open
from fastdump._scan import Finish, Place, TableScan
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._table.stats_table import StatsTable
from fastdump._table.table_files import Paths, read_stats, table_or_paths

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from fastdump._parts import PartsScan
    from fastdump._since import SinceScan

What: TypeAlias = "PathLike | Dump | StatsTable | Iterable[PathLike | StatsTable]"
"""The things that a question can be about."""

Since: TypeAlias = "StatsTable | Paths"
"""An earlier table, itself or in files."""


@takes_conditions
def stats(
    what: What,
    *,
    level: Level = "basic",
    logical: bool = False,
    threads: int | None = None,
    io_depth: int | None = None,
    engine: Engine = "auto",
    progress: bool | Callable[[_core.Progress], object] | None = None,
    follow_links: bool = False,
    as_rank: int | Literal["env"] | None = None,
    base: PathLike | None = None,
    shard: tuple[int, int] | None = None,
    executor: Executor | None = None,
    since: Since | None = None,
    trust_directories: bool = False,
    parts: PathLike | None = None,
    settle: float | None = None,
    **conditions: Unpack[Conditions],
) -> StatsTable:
    """Compute statistics of every tensor in a dump.

    A dump can hold statistics instead of tensors, as CSV files that the device's software wrote
    (``dump_data=stats``). They become rows with ``source`` "csv" of the same table. At every
    `level` they have all that was reported, but for ``zero``, a column of level "full".

    Parameters
    ----------
    what
        A dump file, a directory of any depth, or several of them; or a `Dump`. A `StatsTable`, its
        file, or all that `read_stats` takes, is not computed again: its selected rows are returned.
    level
        "health" counts elements, NaN and Inf; "basic" adds max, min, mean and l2norm; "full" adds
        zero, subnormal and saturated elements and the first bad one. `StatsRow` defines them.
    logical
        Whether to leave out the padding of private formats: statistics are then those of the
        logical array, and ``first_bad`` is a flat index of it. Where padding cannot be told from
        the data, it stays in, and the row's note says why.
    threads
        Default: the environment variable ``FASTDUMP_THREADS``, or the CPUs this process may use.
        The result does not depend on it.
    io_depth
        How many files are read at once while storage is waited for, more than `threads`. Default:
        the environment variable ``FASTDUMP_IO_DEPTH``, or what measuring while reading suggests, up
        to 64. The result does not depend on it.
    engine
        How payloads are read: "mmap", "read", or "auto", which chooses for each file. Large
        tensors of which only the logical elements are wanted are always mapped.
    progress
        True for a progress bar on stderr, if that is a terminal; or a function that is called about
        ten times a second with a `Progress`. An exception that it raises ends the scan.
    follow_links
        Whether to follow symbolic links below a directory. Those that are not followed are counted
        as skipped.
    as_rank
        The rank of all tensors whose path does not tell one: on several nodes, trees that look the
        same are told apart by it. "env" takes it from RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK.
    base
        The directory that paths in the table are relative to, above everything that is read; so
        that tables of several directories can be joined by `concat`.
    shard
        ``(i, n)`` reads part `i`, from 0 on, of `n`: each file is in one of them, which its path
        below `what` decides. `concat` joins them. A shard may be without a row.
    executor
        Any `concurrent.futures.Executor`, whose workers read the files: a process pool, or that of
        dask, loky, MPI or ray. They see the same files under the same paths. `threads` and
        `io_depth` are then for each worker, `threads` by default one. The names of files are listed
        here.
    since
        An earlier table of the same dump, asked for the same, or what `read_stats` takes: rows of
        files that are in the same state still are taken from it, and only others are read. The
        result is that of a whole scan. Rows of files that are gone are left out.
    trust_directories
        Whether `since` looks at nothing in a directory that has the same names as then, as the time
        of its last change tells: no file is listed there, or asked for its state. What was written
        to a file in place is not seen. Directories with damaged files, and those into which a file
        had come in the minute before they were listed, are not trusted.
    settle
        Seconds: a damaged file that was written to less than so long ago is perhaps not complete
        yet. Its rows' notes and the table's say so, and a scan with `since` reads it again even if
        it has not changed. Default: nothing is said of that.
    parts
        A directory that the table is written to in parts, as Parquet files, while it is made. A
        scan of the same that was ended, or whose dump has changed, goes on: only what no part tells
        is read. `read_stats` takes the directory. Needs ``fastdump[parquet]``.
    **conditions
        Which tensors to read; `Selection` says what each condition means.

    Returns
    -------
    StatsTable
        One row a tensor, in the order of execution. A file that could not be read is a row too,
        with a status that says so.

    Raises
    ------
    NoDumpError
        If there is not a single row. The message says what is there instead.
    TableTooLargeError
        If the rows take more memory than FASTDUMP_ROWS_MIB allows, or a table in a file takes more
        than FASTDUMP_TABLE_MIB.
    TypeError, ValueError
        If an argument has a value that it cannot have.
    OSError
        If a path does not exist or is not readable.

    Examples
    --------
    >>> t = fastdump.stats("dump_dir", op_type="MatMul*", step="3-5")  # doctest: +SKIP
    >>> t.worst(10)  # doctest: +SKIP
    """
    check_level(level)
    selection = Selection.of(conditions)
    place: dict[str, Any] = {"as_rank": as_rank, "base": base}
    found = source_of(what)
    if isinstance(found, StatsTable):
        for_dumps = {"shard": shard, "executor": executor, "since": since, "parts": parts}
        others = {"settle": settle, "trust_directories": trust_directories or None}
        for name, value in {**for_dumps, **others}.items():
            if value is not None:
                raise ValueError(f"{name} is for dumps; a table is read already")
        return selected_from(placed(found, **place), selection)
    if settle is not None:
        if not 0 <= settle < math.inf:
            raise ValueError(f"settle is {settle!r}, expected seconds")
        place["settle"] = settle
    _check_trust(trust_directories, since)
    if trust_directories:
        place["trust_directories"] = True
    if since is not None or parts is not None:
        if executor is not None:
            raise ValueError("since and parts read in this process: give them without executor")
        place |= {"since": since, "parts": parts}
    scanned = _scanned if executor is None else functools.partial(_scanned_by, executor)
    return scanned(
        found,
        selection,
        progress=progress,
        level=level,
        logical=logical,
        threads=threads,
        io_depth=io_depth,
        engine=engine,
        follow_links=follow_links,
        shard=shard,
        **place,
    )


def _check_trust(trust_directories: bool, since: Since | None) -> None:
    if trust_directories and since is None:
        raise ValueError("trust_directories is about the directories of since: give both")


def source_of(what: What) -> StatsTable | Dump | list[PathLike]:
    """Return the table that was given, itself or in files; or the dump; or the paths."""
    return what if isinstance(what, Dump) else table_or_paths(what)


def placed(
    table: StatsTable, *, as_rank: int | str | None = None, base: PathLike | None = None
) -> StatsTable:
    """Return a table with the rank and base that a scan would have given it."""
    rank, directory = rank_given(as_rank), directory_given(base)
    if rank is not None:
        table = table.with_rank(rank)
    return table if directory is None else table.seen_from(directory)


def selected_from(table: StatsTable, selection: Selection) -> StatsTable:
    """Return the selected rows of a table; raise NoDumpError if there is none."""
    if not selection:
        return table
    chosen = table.selected(selection)
    if len(chosen) == 0:
        raise no_dump_error("the table", {}, chosen.remark or "it has no row")
    return chosen


def new_scan(
    what: Dump | list[PathLike],
    selection: Selection,
    *,
    follow_links: bool = False,
    as_rank: int | str | None = None,
    base: PathLike | None = None,
    shard: tuple[int, int] | None = None,
    since: Since | None = None,
    trust_directories: bool = False,
    parts: PathLike | None = None,
    **options: Any,
) -> TableScan | SinceScan | PartsScan:
    """Return a scan that has not been run, with options of `TableScan`."""
    _check_trust(trust_directories, since)
    options |= {"as_rank": rank_given(as_rank), "base": directory_given(base)}
    i_and_n = shard_given(shard)
    if isinstance(what, Dump):
        if not (i_and_n is None and since is None and parts is None):
            raise ValueError("shard, since and parts are for paths, not for a Dump")
        return chosen(what).scan(selection, **options)
    paths = [path_bytes(path) for path in what]
    if since is not None or parts is not None:
        options["follow_links"] = follow_links
        if trust_directories:
            options["trust_directories"] = True
        return _growing_scan(since, parts, paths, selection, i_and_n, **options)
    if i_and_n is not None:
        options |= _shard_of(paths, *i_and_n, follow_links=follow_links)
    return TableScan(paths, selection, follow_links=follow_links, **options)


def _growing_scan(
    since: Since | None,
    parts: PathLike | None,
    paths: list[bytes],
    selection: Selection,
    shard: tuple[int, int] | None,
    *,
    level: str,
    logical: bool = False,
    as_rank: int | None,
    base: str | None,
    settle: float | None = None,
    **options: Any,
) -> SinceScan | PartsScan:
    """Return a scan of what an earlier table, or parts that are there, do not tell."""
    from fastdump._parts import PartsScan
    from fastdump._since import Asked, SinceScan

    asked = Asked(selection, level, logical, as_rank, base, settle)
    options["choose"] = functools.partial(_chosen, shard)
    if parts is not None:
        if since is not None:
            raise ValueError("parts go on by themselves: give since or parts, not both")
        return PartsScan(os.fsdecode(parts), paths, asked, shard=shard, **options)
    assert since is not None
    table = since if isinstance(since, StatsTable) else read_stats(since)
    return SinceScan(table, paths, asked, is_all=shard is None, **options)


def _chosen(
    shard: tuple[int, int] | None, index: _core.Index
) -> tuple[NDArray[np.uint32], Mapping[str, int]]:
    """Return the files of a shard, or all, and what is skipped of the others."""
    if shard is None or shard[1] == 1:
        return np.arange(len(index), dtype=np.uint32), index.skipped()
    i, n = shard
    # What the walk skips, all shards skip: the first counts it.
    return np.frombuffer(index.shard(i, n), np.uint32), {} if i else index.skipped()


def _shard_of(paths: list[bytes], i: int, n: int, *, follow_links: bool) -> dict[str, Any]:
    """Return options of a scan that reads a part of the files."""
    index = _core.Index(paths, follow_links=follow_links, every_file=True)
    if not len(index):
        raise no_dump_error(paths_text(map(os.fsdecode, paths)), index.skipped())
    positions, skipped = _chosen((i, n), index)
    return {"files": (index, positions), "skipped": skipped}


def _scanned_by(
    executor: Executor,
    what: Dump | list[PathLike],
    selection: Selection,
    *,
    follow_links: bool,
    as_rank: int | str | None,
    base: PathLike | None,
    shard: tuple[int, int] | None,
    settle: float | None = None,
    **options: Any,
) -> StatsTable:
    """Return what `_scanned` does, read by the workers of an executor."""
    from fastdump._executor import scan_parts

    if isinstance(what, Dump):
        raise ValueError("executor is for paths, not for a Dump")
    paths = [path_bytes(path) for path in what]
    place = Place.of(paths, directory_given(base))
    part = _shard_of(paths, *(shard_given(shard) or (0, 1)), follow_links=follow_links)
    finish, selection = Finish.of(
        selection, as_rank=rank_given(as_rank), base=directory_given(base), settle=settle
    )
    table = scan_parts(
        executor, part["files"], selection, finish, place, skipped=part["skipped"], **options
    )
    if len(table) == 0 and shard is None:
        raise chosen(open(what, follow_links=follow_links)).no_tensor_error(selection)
    return table


def _scanned(
    what: Dump | list[PathLike],
    selection: Selection,
    *,
    progress: bool | Callable[[_core.Progress], object] | None = None,
    follow_links: bool,
    **options: Any,
) -> StatsTable:
    """Return the table of a scan; raise NoDumpError if it has no row."""
    scan = new_scan(what, selection, follow_links=follow_links, **options)
    scan.run(progress)
    table = scan.table()
    if len(table) == 0 and options.get("shard") is None:
        raise chosen(open(what, follow_links=follow_links)).no_tensor_error(selection)
    return table


def headers_of(
    what: What,
    *,
    level: str = "header",
    follow_links: bool = False,
    executor: Executor | None = None,
    **options: Any,
) -> StatsTable:
    """Return a table of `what`, made from headers alone unless `level` asks for more.

    The workers of an executor, if there is one, read the files of paths. Other options are those of
    `TableScan`.

    Raises
    ------
    NoDumpError
        If there is not a single row.
    OSError
        If a path does not exist or is not readable.
    """
    source = source_of(what)
    if isinstance(source, StatsTable):
        return source
    options |= {"level": level, "follow_links": follow_links}
    if executor is None or isinstance(source, Dump):
        return _scanned(source, Selection(), **options)
    options |= {"progress": None, "as_rank": None, "base": None, "shard": None}
    return _scanned_by(executor, source, Selection(), **options)
