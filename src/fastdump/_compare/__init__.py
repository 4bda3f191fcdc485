"""Two dumps of one model, compared tensor by tensor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from fastdump._compare.mapping import checked_map, read_map
from fastdump._compare.operators import DivergentOperator
from fastdump._compare.progress import CompareProgress, pair_bar
from fastdump._compare.run import Comparing
from fastdump._compare.schema import ComparisonRow
from fastdump._compare.table import ComparisonTable, read_comparison
from fastdump._compare.tolerances import Tolerances
from fastdump._stats import Engine, PathLike
from fastdump._table import StatsTable

__all__ = [
    "CompareProgress",
    "ComparisonRow",
    "ComparisonTable",
    "DivergentOperator",
    "compare",
    "read_comparison",
]


def compare(
    a: PathLike | StatsTable,
    b: PathLike | StatsTable,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    max_mismatched: float | None = None,
    min_cosine_similarity: float | None = None,
    max_relative_distance: float | None = None,
    kl: bool = False,
    logical: bool = False,
    map: Mapping[str, str] | str | os.PathLike[str] | None = None,
    threads: int | None = None,
    io: Engine = "auto",
    progress: bool | Callable[[CompareProgress], object] | None = None,
    follow_links: bool = False,
    op_type: str | Iterable[str] | None = None,
    op_name: str | Iterable[str] | None = None,
    step: int | Iterable[int] | None = None,
    rank: int | Iterable[int] | None = None,
    tensor: str | Iterable[str] | None = None,
) -> ComparisonTable:
    """Compare two dumps of one model: two versions, a device and a reference, two ranks.

    Tensors are paired by the names of their operators, or what is left of them, or by type, shape
    and order; docs/compare.md says how. Every pair is streamed once over both tensors, whose types
    and layouts may differ. Only Fortran-order arrays, FFTS+ slices against whole tensors, and
    packed elements that a layout takes out of their bytes take memory for both tensors of a pair.

    Parameters
    ----------
    a, b
        What is compared, `b` as the reference: dump directories, dump files, ``.npy`` files that
        were converted from a dump or directories of them; or two tables of statistics, as
        `StatsTable` or in files, of which no tensor is opened.
    rtol, atol
        Two elements are close if ``|a - b| <= atol + rtol * |b|``. Default: by element type.
    max_mismatched
        Largest share of elements that may not be close in a pair that does not diverge. Default: by
        element type.
    min_cosine_similarity, max_relative_distance
        Smallest cosine similarity and largest relative Euclidean distance of a pair that does not
        diverge. Default: by element type.
    kl
        Whether to compute the Kullback-Leibler divergence too, which takes a second pass.
    logical
        Whether to leave out the padding of private formats also where both tensors have the same.
    map
        Names of operators in `a` and those that they have in `b`, or a file of them: ``.csv`` with
        two columns, or a JSON object. ``name:output.0`` means one tensor. They come before all
        other ways of pairing.
    threads
        Default: the environment variable ``FASTDUMP_THREADS``, or the CPUs this process may use.
        The result does not depend on it.
    io
        How payloads are read: "mmap", "read", or "auto", which chooses for each file.
    progress
        True for a progress bar on stderr, if that is a terminal; or a function that is called about
        ten times a second with a `CompareProgress`. An exception that it raises ends it all.
    follow_links
        Whether to follow symbolic links below `a` and `b`.
    op_type, op_name, step, rank, tensor
        As of `stats`: only these of `a` with their partners, and of what has none only these.

    Returns
    -------
    ComparisonTable
        A row for each pair and for each tensor without a partner.

    Raises
    ------
    NoDumpError
        If there is not a single tensor on one side.
    DumpFormatError
        If a table or the map in a file is damaged.
    ValueError
        If an argument has a value that it cannot have, or one side is a dump and the other a table
        of statistics.
    OSError
        If `a` or `b` does not exist.

    Examples
    --------
    >>> table = fastdump.compare("run1", "run2")  # doctest: +SKIP
    >>> print(table.sentence)  # doctest: +SKIP
    >>> for op in table.by_added_error()[:5]:  # doctest: +SKIP
    ...     print(op.op_name, op.cause, op.added_error)
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is {progress!r}, expected True, None or a function")
    comparing = Comparing(
        a,
        b,
        tolerances=Tolerances(
            rtol, atol, max_mismatched, min_cosine_similarity, max_relative_distance
        ),
        kl=kl,
        logical=logical,
        names=names_of(map),
        threads=threads,
        io=io,
        follow_links=follow_links,
        conditions={
            "op_type": op_type,
            "op_name": op_name,
            "step": step,
            "rank": rank,
            "tensor": tensor,
        },
    )
    if progress is True:
        with pair_bar() as bar:
            comparing.run(bar)
    else:
        comparing.run(progress or None)
    return comparing.table()


def names_of(names: Mapping[str, str] | str | os.PathLike[str] | None) -> dict[str, str] | None:
    """Return the user's names, from a file if that is given."""
    if names is None:
        return None
    return checked_map(names) if isinstance(names, Mapping) else read_map(names)
