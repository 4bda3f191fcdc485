"""Counts of what a dump holds, from a table that was made from headers only."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._inventory.groups import Group, groups
from fastdump._inventory.oddities import oddities
from fastdump._inventory.rows import NONE, Rows
from fastdump._table.arrow_column import rows_of
from fastdump._table.distinct_codes import runs_of
from fastdump._table.path_column import PathColumn, occurs
from fastdump._table.stats_table import StatsTable

if TYPE_CHECKING:
    from arro3.core import Array

_TELLS_WORLD_SIZE = b"worldsize"
_WORLD_SIZE = re.compile(r"(?:^|/)worldsize(\d{1,6})_global_rank\d+/")


class Inventory:
    """The counts of a table.

    Parameters
    ----------
    table
        A table made from headers.
    all_ranks
        Whether the table has all ranks of the dump, so that ranks can be missing.

    Attributes
    ----------
    total : Group
        All rows.
    ranks : dict of rank to Group
        In order; null first.
    steps : dict of (rank, step) to Group
        Ranks in order, then steps; null first.
    dtypes : dict of dtype to Group
        Most bytes first.
    odd : dict of str to Oddity
        By status, or by `NOTED` or `APPENDED`.
    missing : dict of rank to list of int
        Steps that other ranks have and this one lacks.
    missing_ranks : list of int
        Ranks of which there is nothing: of the number that a directory's name tells, or else those
        between others.
    empty : list of (rank, step)
        Steps whose files hold neither a byte nor a statistic of any tensor.
    skipped : dict of str to int
        Number of skipped files, by reason.
    """

    def __init__(self, table: StatsTable, *, all_ranks: bool) -> None:
        rows = Rows(table.batch)
        (self.total,) = groups(rows, np.zeros(len(table), np.int64), 1)
        begins = runs_of(rows.rank)
        ranks, rank = np.unique(rows.rank[begins], return_inverse=True)
        rank = np.repeat(rank, np.diff(begins, append=len(table)))
        self.ranks = dict(
            zip(map(_known, ranks.tolist()), groups(rows, rank, len(ranks)), strict=True)
        )
        self.steps = _steps(rows)
        self.dtypes = _dtypes(rows)
        self.odd = oddities(rows, table.batch)
        self.missing = _missing_steps(self.steps)
        self.missing_ranks = _missing_ranks(self.ranks, rows, table) if all_ranks else []
        self.empty = [where for where, group in self.steps.items() if group.is_empty]
        self.skipped = table.skipped

    def steps_of(self, rank: int | None) -> list[int]:
        """Return the steps that a rank has, in order."""
        return [step for r, step in self.steps if r == rank and step is not None]

    def document(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            **self.total.document(),
            "steps": [
                {"rank": rank, "step": step, **group.document()}
                for (rank, step), group in self.steps.items()
            ],
            "dtypes": [
                {"dtype": dtype, "tensors": group.tensors, "bytes": group.bytes}
                for dtype, group in self.dtypes.items()
            ],
            "odd": {kind: oddity.document() for kind, oddity in self.odd.items()},
            "missing": [{"rank": rank, "steps": steps} for rank, steps in self.missing.items()],
            "missing_ranks": self.missing_ranks,
            "empty": [{"rank": rank, "step": step} for rank, step in self.empty],
            "skipped": self.skipped,
        }


def _known(number: int) -> int | None:
    return None if number == NONE else number


def _steps(rows: Rows) -> dict[tuple[int | None, int | None], Group]:
    # Rows of a step follow each other.
    begins = runs_of(rows.rank, rows.step)
    ranks, rank = np.unique(rows.rank[begins], return_inverse=True)
    steps, step = np.unique(rows.step[begins], return_inverse=True)
    pairs, number = np.unique(rank * len(steps) + step, return_inverse=True)
    where = [
        (_known(r), _known(s))
        for r, s in zip(
            ranks[pairs // len(steps)].tolist(), steps[pairs % len(steps)].tolist(), strict=True
        )
    ]
    number = np.repeat(number, np.diff(begins, append=len(rows.rank)))
    return dict(zip(where, groups(rows, number, len(pairs)), strict=True))


def _dtypes(rows: Rows) -> dict[str | None, Group]:
    """Return the groups of tensors by dtype, most bytes first, then what comes first."""
    of_tensors = np.flatnonzero(rows.is_tensor)
    codes, first, of_code = np.unique(
        rows.dtype[of_tensors], return_index=True, return_inverse=True
    )
    number = np.full(len(rows.dtype), NONE)
    number[of_tensors] = of_code
    names = [None if code == NONE else rows.dtypes[code] for code in codes.tolist()]
    found = zip(names, groups(rows, number, len(codes)), first.tolist(), strict=True)
    in_order = sorted(found, key=lambda item: (-item[1].bytes, item[2]))
    return {name: group for name, group, _ in in_order}


def _missing_ranks(ranks: Iterable[int | None], rows: Rows, table: StatsTable) -> list[int]:
    present = {rank for rank in ranks if rank is not None}
    if not present:
        return []
    world_size = _world_size(table.batch.column("path"), rows)
    # Without a world size, a dump that begins or ends with other ranks may be meant to.
    wanted = range(world_size) if world_size else range(min(present), max(present))
    return [rank for rank in wanted if rank not in present]


def _world_size(paths: Array, rows: Rows) -> int:
    """Return how many ranks the names of directories tell of; 0 if none does."""
    if not occurs(_TELLS_WORLD_SIZE, paths):
        return 0
    # Files have several rows, which mostly follow each other.
    paths = rows_of(paths, np.flatnonzero(np.diff(rows.path, prepend=NONE)))
    found = map(_WORLD_SIZE.search, PathColumn(paths).directories)
    return max((int(match[1]) for match in found if match), default=0)


def _missing_steps(steps: Iterable[tuple[int | None, int | None]]) -> dict[int, list[int]]:
    by_rank: dict[int, set[int]] = defaultdict(set)
    for rank, step in steps:
        if rank is not None and step is not None:
            by_rank[rank].add(step)
    everywhere = set().union(*by_rank.values())
    return {
        rank: sorted(everywhere - present)
        for rank, present in by_rank.items()
        if present != everywhere
    }
