"""Triage: which operator made the first bad value, and what followed from it.

From a table to a report: `rows`, `executions`, `links`, `collectives` and `other_runs` make arrays
of the table, once; `evidence` holds them. `counters` tells where names do not say which operators
are the same in all steps. `kinds` says which rows show what, `harmless` what is meant to be so. An
`infection` is what is bad in one way; `makers`, `readers` and `origins` find where it began,
`senders` on which rank, and `beginnings` does this for each kind. `chain` follows what an infection
reached, `replicas` compares ranks, `causes` looks inside one operator. `story` makes records of all
this; `answer` and `text` put them in words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from fastdump._arguments import Engine, PathLike
from fastdump._core import Progress
from fastdump._selection import Conditions, takes_conditions
from fastdump._stats import Since, What, source_of, stats
from fastdump._table.stats_table import StatsTable
from fastdump._triage.report import TriageReport
from fastdump._triage.story import tell

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from typing_extensions import Unpack

__all__ = ["TriageReport", "triage"]


@takes_conditions
def triage(
    what: What,
    *,
    root: PathLike | None = None,
    threads: int | None = None,
    io_depth: int | None = None,
    engine: Engine = "auto",
    progress: bool | Callable[[Progress], object] | None = None,
    follow_links: bool = False,
    as_rank: int | Literal["env"] | None = None,
    base: PathLike | None = None,
    executor: Executor | None = None,
    since: Since | None = None,
    trust_directories: bool = False,
    settle: float | None = None,
    **conditions: Unpack[Conditions],
) -> TriageReport:
    """Find which operator made the first bad value, and what followed from it.

    Statistics of all tensors are computed, or taken from a table. After that, files are opened only
    for the few tensors between an origin and the last operator that it reached: for their device
    addresses, hashes and elements.

    Parameters
    ----------
    what
        A dump file, a directory, several of them, or a `Dump`; or a `StatsTable`, or files of one
        as `read_stats` takes them, best of level "full". The vendor's statistics
        (``dump_data=stats``) will do.
    root
        The directory that the paths of a table are relative to, if the dump was moved.
    threads, io_depth, engine, progress, follow_links, executor
        How to read a dump; as for `stats`. They do not matter for a table.
    since, trust_directories, settle
        For a dump that grows: as for `stats`.
    as_rank, base
        Where a dump or a table belongs; as for `stats`.
    **conditions
        Which tensors to look at; `Selection` says what each condition means. Tensors that are left
        out cannot be origins, and what they infected seems to come from outside.

    Raises
    ------
    NoDumpError
        If there is no tensor at all in a dump, or the conditions select no row of a table.
    TypeError, ValueError
        If an argument has a value that it cannot have, or a table has no statistics.
    OSError
        If a path does not exist or is not readable.

    Notes
    -----
    docs/triage.md explains the kinds of findings, the verdicts, and how links are known.

    Examples
    --------
    >>> report = fastdump.triage("dump_dir")  # doctest: +SKIP
    >>> print(report.sentence)  # doctest: +SKIP
    >>> report.origins[0].tensor.tensor()[:8]  # doctest: +SKIP
    """
    table = full_table(
        what,
        root=root,
        threads=threads,
        io_depth=io_depth,
        engine=engine,
        progress=progress,
        follow_links=follow_links,
        as_rank=as_rank,
        base=base,
        executor=executor,
        since=since,
        trust_directories=trust_directories,
        settle=settle,
        **conditions,
    )
    return tell(table)


def full_table(what: What, *, root: PathLike | None, **options: Any) -> StatsTable:
    """Return the statistics that a triage looks at; parameters and errors are those of `triage`."""
    found = source_of(what)
    if isinstance(found, StatsTable):
        found = found.moved_to(root)
    elif root is not None:
        raise ValueError("root is for tables; the files of a dump are where it is")
    table = stats(found, level="full", **options)
    if table.level == "header":
        raise ValueError("the table has level 'header': triage needs statistics")
    return table
