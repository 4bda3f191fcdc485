"""Dumps on the disks of dask's workers: each host scans its own.

Where all workers see the same files, `fastdump.stats(..., executor=client.get_executor())` shares
out the files of one dump.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fastdump._arguments import PathLike
from fastdump._stats import stats as stats_here
from fastdump._table.concat import concat
from fastdump._table.stats_table import StatsTable
from fastdump.errors import NoDumpError

if TYPE_CHECKING:
    from typing import Protocol

    class Client(Protocol):
        """What is used of `distributed.Client`."""

        def nthreads(self) -> Mapping[str, int]:
            """Return the threads of each worker, by its address."""

        def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Any:
            """Return the future of a call."""

        def gather(self, futures: list[Any]) -> list[Any]:
            """Return the results of futures; raise the first error."""


__all__ = ["stats"]


def stats(
    what: PathLike | list[PathLike],
    client: Client,
    *,
    ranks: Mapping[str, int] | None = None,
    **options: Any,
) -> StatsTable:
    """Compute statistics of the dumps that hosts of a dask cluster have under one path.

    One worker of each host scans what is there, with all CPUs that its process may use.

    Parameters
    ----------
    what
        A dump directory or file, or several, as each host sees it.
    client
        A `distributed.Client`.
    ranks
        The rank of the tensors of each host, by the host's name in the addresses of its workers,
        where paths do not tell ranks.
    **options
        As of `fastdump.stats`, conditions too.

    Returns
    -------
    StatsTable
        The rows of all hosts, as `concat` joins them. A host of which no tensor is selected adds
        none. A row's file is on its own host.

    Raises
    ------
    NoDumpError
        If no host has a row.
    ValueError
        If two hosts have a row about the same tensor; or if `ranks` lacks a host.
    OSError
        If a host lacks the path, or cannot read it.

    Examples
    --------
    >>> hosts = ["10.0.0.1", "10.0.0.2"]  # doctest: +SKIP
    >>> fastdump.dask.stats("/local/dump", client, ranks=dict(zip(hosts, (0, 1))))  # doctest: +SKIP
    """
    workers: dict[str, str] = {}  # the first of each host
    for address in sorted(client.nthreads()):
        workers.setdefault(urlsplit(address).hostname or address, address)
    if ranks is not None and (unknown := workers.keys() - ranks.keys()):
        raise ValueError(f"ranks lacks {', '.join(sorted(unknown))}")
    futures = [
        client.submit(
            _stats_there,
            what,
            options if ranks is None else {**options, "as_rank": ranks[host]},
            workers=[address],
            allow_other_workers=False,
            pure=False,
        )
        for host, address in workers.items()
    ]
    found = client.gather(futures)
    tables = [table for table in found if isinstance(table, StatsTable)]
    if not tables:
        raise next(iter(found), NoDumpError("the cluster has no worker"))
    return concat(tables)


def _stats_there(what: Any, options: dict[str, Any]) -> StatsTable | NoDumpError:
    try:
        return stats_here(what, **options)
    except NoDumpError as error:
        return error
