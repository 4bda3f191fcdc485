"""Following a run while it is dumped.

`follower` goes round: `rows` lists all files and holds the table so far, `arrivals` says which are
complete and new, `findings` which findings were not told yet, `table_file` and `table_parts` write
the table, when `written_table` says so, and `clean_files` deletes what nobody needs any more.
`events` are what comes out; `command` runs a command of the user for a finding. The time comes from
a `clock`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from fastdump._arguments import Engine, PathLike, path_bytes
from fastdump._follow.arrivals import Arrivals
from fastdump._follow.clock import Clock, SystemClock
from fastdump._follow.events import FollowEvent, FollowProgress
from fastdump._follow.follower import Deletion, Follower, Pace
from fastdump._follow.rows import GrowingRows
from fastdump._follow.table_file import SUFFIXES, TableFile
from fastdump._follow.table_parts import TableParts
from fastdump._parts.directory import PartsDirectory
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._since import Asked, roots_overlap

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["FollowEvent", "FollowProgress", "follow"]


@takes_conditions
def follow(
    what: PathLike | Iterable[PathLike],
    *,
    settle: float = 2.0,
    every: float = 2.0,
    until_idle: float | None = None,
    output: PathLike | None = None,
    delete_clean: bool = False,
    dry_run: bool = False,
    keep_steps: int = 2,
    threads: int | None = None,
    io_depth: int | None = None,
    engine: Engine = "auto",
    follow_links: bool = False,
    clock: Clock | None = None,
    **conditions: Unpack[Conditions],
) -> Generator[FollowEvent, None, None]:
    """Follow a run while it is dumped: read each file once, tell where bad values begin.

    Parameters
    ----------
    what
        Directories, which are there, that the run dumps to.
    settle
        Seconds: a file is complete when nobody has written to it for so long. One that lacks what
        its header promises is read again when it has changed.
    every
        Seconds between two rounds, at least. Looking at files takes at most a twentieth of the
        time, as long as that does not make more than a minute of it.
    until_idle
        Seconds after which following ends if nothing new has come; 0 for as soon as all files
        there are were read. Default: it does not end.
    output
        A .parquet or .arrow file that the table, of level "full", is written to: now and then, and
        in the end. Or a directory, which is there or whose name ends with a slash: what is new is
        written to it as a further part. What is there already is gone on from.
    delete_clean
        Whether to delete files that are clean, complete and no longer needed. Needs `output`, which
        keeps their rows; and does not go with `conditions`, as files have to be read whole.
    dry_run
        With `delete_clean`: whether to name these files only.
    keep_steps
        With `delete_clean`: how many of the last steps of each rank are kept; at least 1.
    threads, io_depth, engine, follow_links
        How to read; as for `stats`.
    clock
        Something with ``now_s()``, ``steady_s()`` and ``wait(seconds)``: the time, for those who
        have their own. Default: that of the machine.
    **conditions
        Which tensors to read, as for `stats`.

    Yields
    ------
    FollowEvent
        What happens, until nothing new comes, or whoever iterates ends it. The table is written
        then, with all files that were read.

    Raises
    ------
    TypeError, ValueError
        If an argument has a value that it cannot have, `output` has a table of something else, or
        somebody else who follows writes to it.
    OSError
        If a directory does not exist or is not readable, or the table cannot be written in the end.

    Notes
    -----
    docs/follow.md says what counts as complete, and which files are never deleted.

    Examples
    --------
    >>> for event in fastdump.follow("dump_dir"):  # doctest: +SKIP
    ...     if event.is_new_finding:
    ...         print(event.sentence)
    """
    seconds = {"settle": settle, "every": every, "until_idle": until_idle}
    for name, value in seconds.items():
        if value is not None and not 0 <= value < math.inf:
            raise ValueError(f"{name} is {value!r}, expected seconds")
    if keep_steps < 1:
        raise ValueError(f"keep_steps is {keep_steps!r}, expected 1 or more")
    if dry_run and not delete_clean:
        raise ValueError("dry_run is about delete_clean: give both")
    if delete_clean and follow_links:
        raise ValueError("delete_clean does not go with follow_links: links lead anywhere")
    if delete_clean and output is None and not dry_run:
        raise ValueError("delete_clean needs output, a table that keeps the rows of what is gone")
    selection = Selection.of(conditions)
    if delete_clean and selection:
        raise ValueError("delete_clean does not go with conditions: files have to be read whole")
    given = [what] if isinstance(what, (str, bytes, os.PathLike)) else list(what)
    paths = [path_bytes(path) for path in given]
    if roots_overlap(paths):
        raise ValueError("a path is below another: their files would be read twice")
    clock = SystemClock() if clock is None else clock
    reading: dict[str, Any] = {"threads": threads, "io_depth": io_depth, "engine": engine}
    asked = Asked(selection, "full")
    rows = GrowingRows(paths, asked, follow_links=follow_links, **reading)
    table = None
    if output is not None:
        if roots_overlap([*paths, path_bytes(output)]):
            raise ValueError(
                f"{os.fsdecode(output)!r} is below what is followed, which would then never come "
                "to rest: give a file elsewhere"
            )
        table = _output(os.fsdecode(output), rows, asked, clock, follow_links=follow_links)
    return Follower(
        rows,
        Arrivals(settle, clock),
        clock,
        Pace(every, until_idle),
        output=table,
        deletion=Deletion(keep_steps, dry_run) if delete_clean else None,
    ).events()


def _output(
    path: str, rows: GrowingRows, asked: Asked, clock: Clock, *, follow_links: bool
) -> TableFile | TableParts:
    """Return what the table is written to, after the rows have gone on from what it has."""
    output: TableFile | TableParts
    if path.endswith("/") or (os.path.isdir(path) and not path.endswith(SUFFIXES)):  # noqa: PTH112
        where = PartsDirectory(path, asked, rows.place, shard=None, follow_links=follow_links)
        output = TableParts(where, clock)
        rows.on_change(output.change)
    else:
        output = TableFile(path, clock)
    with ExitStack() as on_failure:
        on_failure.callback(output.close)
        earlier = output.earlier()
        if earlier is not None:
            rows.go_on_from(earlier, f"the table in {path!r}")
        on_failure.pop_all()
    return output
