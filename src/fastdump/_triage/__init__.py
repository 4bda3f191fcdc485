"""Triage: which operator made the first bad value, and what followed from it.

From rows to a report: `rows` and `operators` make executions of a table; `findings` says what is
bad and `harmless` what is so on purpose; `links` finds which output an input was, `collectives`
which executions on several ranks are one; `origins` and `beginnings` find where it began, `chain`
what it reached, `replicas` what differs between ranks; `causes` and `damage` look inside one
operator and one tensor; `analysis` puts it together, `sentence` and `text` into words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fastdump._core import Progress
from fastdump._stats import Engine, PathLike, paths_of, stats
from fastdump._table import StatsTable
from fastdump._triage.analysis import analyse
from fastdump._triage.report import TriageReport

__all__ = ["TriageReport", "triage"]


def triage(
    path_or_table: StatsTable | PathLike | Iterable[PathLike],
    *,
    root: PathLike | None = None,
    threads: int | None = None,
    io: Engine = "auto",
    progress: bool | Callable[[Progress], object] | None = None,
    follow_links: bool = False,
    op_type: str | Iterable[str] | None = None,
    op_name: str | Iterable[str] | None = None,
    step: int | Iterable[int] | None = None,
    rank: int | Iterable[int] | None = None,
    tensor: str | Iterable[str] | None = None,
) -> TriageReport:
    """Find which operator made the first bad value, and what followed from it.

    Statistics of all tensors are computed, or taken from a table. Then files are opened again only
    for what they alone can tell: device addresses, hashes and elements of the few tensors between
    an origin and the last operator that it reached.

    Parameters
    ----------
    path_or_table
        A dump file, a directory, or several of them; or a table of statistics: that of `stats`
        with level "full", or of `read_stats`. The vendor's statistics (``dump_data=stats``) will
        do.
    root
        Of a table: the directory that its paths are relative to, if the dump is at hand.
    threads, io, progress, follow_links
        How to read; as for `stats`. A table is not read.
    op_type, op_name, step, rank, tensor
        Which tensors to look at; as for `stats`. What is left out cannot be an origin, and what it
        infected seems to have come from outside.

    Returns
    -------
    TriageReport

    Raises
    ------
    NoDumpError
        If there is not a single row.
    ValueError
        If an argument has a value that it cannot have, or a table has no statistics.
    OSError
        If a path does not exist or is not readable.

    Notes
    -----
    docs/triage.md says what the kinds of findings and the verdicts are, and what is known how.

    Examples
    --------
    >>> report = fastdump.triage("dump_dir")  # doctest: +SKIP
    >>> print(report.sentence)  # doctest: +SKIP
    >>> report.origins[0].operator.op_name  # doctest: +SKIP
    """
    if isinstance(path_or_table, StatsTable):
        if path_or_table.level == "header":
            raise ValueError("the table has level 'header': triage needs statistics")
        table = path_or_table.filter(
            op_type=op_type, op_name=op_name, step=step, rank=rank, tensor=tensor
        )
        return analyse(table, [] if root is None else [root])
    if root is not None:
        raise ValueError("root is for tables; the files of a dump are where it is")
    paths = paths_of(path_or_table)
    table = stats(
        paths,
        level="full",
        threads=threads,
        io=io,
        progress=progress,
        follow_links=follow_links,
        op_type=op_type,
        op_name=op_name,
        step=step,
        rank=rank,
        tensor=tensor,
    )
    return analyse(table, paths)
