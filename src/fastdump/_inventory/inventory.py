"""Counts of what a dump holds, from a table that was made from headers only."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fastdump._table.row import StatsRow
from fastdump._table.stats_table import StatsTable

# These are enough to see what is wrong; `fastdump stats --bad` lists all.
_MAX_EXAMPLES = 3

# Kinds of oddity beside the statuses: whole tensors that carry a note, and tensors of a dump that
# was appended to another one in its file.
NOTED = "noted"
APPENDED = "appended"

_WORLD_SIZE = re.compile(r"(?:^|/)worldsize(\d{1,6})_global_rank\d+/")

# Times have sixteen digits; names of exception dumps have a local time in their place.
_MICROSECONDS = range(10**15, 10**16)


@dataclass
class Group:
    """Counts of rows that belong together: of a step of a rank, of a dtype, or of the dump."""

    tensors: int = 0
    reported: int = 0
    """Tensors of which the dump has the device's statistics instead of their bytes."""
    nbytes: int = 0
    """Bytes of the other tensors."""
    paths: set[str] = field(default_factory=set)
    ops: set[tuple[str | None, str | None]] = field(default_factory=set)
    first_timestamp: int | None = None
    last_timestamp: int | None = None

    def add(self, row: StatsRow) -> None:
        """Count one row."""
        self.paths.add(row.path)
        if row.op_type is not None or row.op_name is not None:
            self.ops.add((row.op_type, row.op_name))
        if row.io is not None:
            self.tensors += 1
            if row.source == "csv":
                self.reported += 1
            else:
                self.nbytes += row.nbytes or 0
        # For None, `in` would try each number of the range.
        if row.timestamp is not None and row.timestamp in _MICROSECONDS:
            self.first_timestamp = min(self.first_timestamp or row.timestamp, row.timestamp)
            self.last_timestamp = max(self.last_timestamp or row.timestamp, row.timestamp)

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a byte nor a statistic of any tensor."""
        return self.nbytes == 0 and self.reported == 0

    def document(self) -> dict[str, Any]:
        """Return the counts for JSON."""
        return {
            "files": len(self.paths),
            "ops": len(self.ops),
            "tensors": self.tensors,
            "reported": self.reported,
            "bytes": self.nbytes,
            "first_timestamp": self.first_timestamp,
            "last_timestamp": self.last_timestamp,
        }


@dataclass
class Oddity:
    """Rows that are odd in the same way: of one status, noted, or appended."""

    rows: int = 0
    examples: dict[str, str | None] = field(default_factory=dict)
    """Notes of the first few files, by path."""
    paths: set[str] = field(default_factory=set)

    def add(self, row: StatsRow) -> None:
        """Count one row."""
        self.rows += 1
        self.paths.add(row.path)
        if len(self.examples) < _MAX_EXAMPLES:
            self.examples.setdefault(row.path, row.note)


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
        self.total = Group()
        ranks: dict[int | None, Group] = defaultdict(Group)
        steps: dict[tuple[int | None, int | None], Group] = defaultdict(Group)
        dtypes: dict[str | None, Group] = defaultdict(Group)
        odd: dict[str, Oddity] = defaultdict(Oddity)
        # Rows of one file follow each other. These are facts about the file of the last row.
        path, places = "", set[tuple[object, ...]]()
        world_size = 0
        for row in table:
            if row.path != path:
                path, places = row.path, set()
                if found := _WORLD_SIZE.search(path):
                    world_size = max(world_size, int(found[1]))
            place = (row.io, row.index, row.op_type, row.op_name, row.timestamp)
            is_appended = row.io is not None and place in places
            places.add(place)
            self.total.add(row)
            ranks[row.rank].add(row)
            steps[row.rank, row.step].add(row)
            if row.io is not None:
                dtypes[row.dtype].add(row)
            if is_appended:
                odd[APPENDED].add(row)
            if row.status != "ok" or (row.note and not is_appended):
                odd[NOTED if row.status == "ok" else row.status].add(row)
        self.ranks = dict(sorted(ranks.items(), key=lambda item: _nulls_first([item[0]])))
        self.steps = dict(sorted(steps.items(), key=lambda item: _nulls_first(item[0])))
        self.dtypes = dict(sorted(dtypes.items(), key=lambda item: -item[1].nbytes))
        self.odd = dict(odd)
        self.missing = _missing_steps(self.steps)
        self.missing_ranks = _missing_ranks(self.ranks, world_size) if all_ranks else []
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
                {"dtype": dtype, "tensors": group.tensors, "bytes": group.nbytes}
                for dtype, group in self.dtypes.items()
            ],
            "odd": {
                kind: {
                    "rows": oddity.rows,
                    "files": len(oddity.paths),
                    "examples": [
                        {"path": path, "note": note} for path, note in oddity.examples.items()
                    ],
                }
                for kind, oddity in self.odd.items()
            },
            "missing": [{"rank": rank, "steps": steps} for rank, steps in self.missing.items()],
            "missing_ranks": self.missing_ranks,
            "empty": [{"rank": rank, "step": step} for rank, step in self.empty],
            "skipped": self.skipped,
        }


def _nulls_first(where: Iterable[int | None]) -> tuple[int, ...]:
    # Ranks and steps are never negative.
    return tuple(-1 if number is None else number for number in where)


def _missing_ranks(ranks: Iterable[int | None], world_size: int) -> list[int]:
    present = {rank for rank in ranks if rank is not None}
    if not present:
        return []
    # Without a world size, a dump that begins or ends with other ranks may be meant to.
    wanted = range(world_size) if world_size else range(min(present), max(present))
    return [rank for rank in wanted if rank not in present]


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
