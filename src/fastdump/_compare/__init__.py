"""Comparison of two dumps of one model, tensor by tensor.

`side` holds one input, `pairing` finds the tensors that belong together (`sequence` where names
are numbered, `replacement` where operators were exchanged), `elements` compares those of dumps and
`statistics` those of tables, both into `metrics`. `verdict` judges the metrics by `tolerances`, and
`explained` judges what is beyond them by `error_growth`. `run` makes the table, `operators` tells
where divergence began, `suspects` what stands behind it, and `answer` puts it in words.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fastdump._arguments import Engine
from fastdump._compare.mapping import checked_map, read_map
from fastdump._compare.operators import DivergentOperator
from fastdump._compare.progress import CompareProgress, reporting_pairs
from fastdump._compare.run import Comparing
from fastdump._compare.schema import ComparisonRow
from fastdump._compare.table import ComparisonTable, read_comparison
from fastdump._compare.tolerances import Tolerances
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._stats import What

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from typing_extensions import Unpack

__all__ = [
    "CompareProgress",
    "ComparisonRow",
    "ComparisonTable",
    "DivergentOperator",
    "compare",
    "read_comparison",
]


@takes_conditions
def compare(
    a: What,
    b: What,
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
    io_depth: int | None = None,
    engine: Engine = "auto",
    progress: bool | Callable[[CompareProgress], object] | None = None,
    follow_links: bool = False,
    executor: Executor | None = None,
    **conditions: Unpack[Conditions],
) -> ComparisonTable:
    """Compare two dumps of one model: two versions, a device and a reference, two ranks.

    Tensors are paired by the names of their operators, by what versions and frameworks leave of
    these names, or by type, shape and order; docs/compare.md says how. Both tensors of a pair are
    streamed once; their types and layouts may differ. Only Fortran-order arrays, FFTS+ slices
    against whole tensors, and packed elements that a layout takes out of their bytes are held in
    memory, both tensors of one pair at a time.

    Parameters
    ----------
    a, b
        What to compare; `b` is the reference. Dump directories, dump files, ``.npy`` files
        converted from a dump or directories of them, several paths, or a `Dump`; or two tables of
        statistics, each a `StatsTable` or its file, for which no tensor is opened.
    rtol, atol
        Two elements are close if ``|a - b| <= atol + rtol * |b|``. Default: by element type.
    max_mismatched
        Largest share of elements that may not be close in a pair that does not diverge. Default: by
        element type.
    min_cosine_similarity, max_relative_distance
        Smallest cosine similarity and largest relative Euclidean distance of a pair that does not
        diverge. Default: by element type. Where no tolerance is given, errors that rounding
        explains are no divergence: see `ComparisonRow.expected_error`.
    kl
        Whether to compute the Kullback-Leibler divergence too, which takes a second pass.
    logical
        Whether to leave out the padding of private formats even where both tensors have the same.
    map
        Names of operators in `a` and their names in `b`, or a file of these: ``.csv`` with two
        columns, or a JSON object. ``name:output.0`` means one tensor. The map comes before all
        other ways of pairing.
    threads, io_depth, engine
        How to read dumps; as for `stats`. The result does not depend on them.
    progress
        True for a progress bar on stderr, if that is a terminal; or a function that is called about
        ten times a second with a `CompareProgress`. An exception that it raises ends everything.
    follow_links
        Whether to follow symbolic links below directories.
    executor
        Any `concurrent.futures.Executor`, whose workers read headers and tensors; as for `stats`.
        Tensors are paired here, and so are the headers of a `Dump` read. It does not matter for
        tables.
    **conditions
        Which tensors of `a`, with their partners, and which tensors without a partner; `Selection`
        says what each condition means.

    Returns
    -------
    ComparisonTable
        One row for each pair and for each tensor without a partner.

    Raises
    ------
    NoDumpError
        If there is not a single tensor on one side, or none is selected.
    DumpFormatError
        If a table or the map in a file is damaged.
    TypeError, ValueError
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
    with reporting_pairs(progress) as on_progress:
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
            io_depth=io_depth,
            engine=engine,
            follow_links=follow_links,
            executor=executor,
            selection=Selection.of(conditions),
            header_progress=progress is True,
        )
        comparing.run(on_progress)
    return comparing.table()


def names_of(names: Mapping[str, str] | str | os.PathLike[str] | None) -> dict[str, str] | None:
    """Return the user's map of names, read from a file if that is given."""
    if names is None:
        return None
    return checked_map(names) if isinstance(names, Mapping) else read_map(names)
