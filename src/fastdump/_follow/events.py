"""What following a run tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from fastdump._json import NOT_IN_JSON, document
from fastdump._table.arrow_column import integer_array, is_in, is_null, n_distinct
from fastdump._table.stats_table import StatsTable
from fastdump._triage.records import Finding
from fastdump._triage.report import TriageReport
from fastdump._words import catalogue as say
from fastdump._words.enumeration import enumerated
from fastdump._words.sentence import told

What: TypeAlias = Literal[
    "progress",
    "known origin",
    "origin",
    "earlier origin",
    "other origin",
    "finding",
    "deleted",
    "would delete",
    "trouble",
]
"""The kinds of events; docs/follow.md says when each comes."""


@dataclass(frozen=True, slots=True)
class FollowProgress:
    """How far a run was followed.

    Attributes
    ----------
    files, tensors
        How many were read.
    ranks, steps
        How many there are.
    last_step
        The largest step; None if no path tells one.
    bad
        How many tensors have NaN or +Inf. -Inf alone is often a mask, and not counted.
    damaged
        How many tensors lack what their header promises, or cannot be read.
    waiting
        How many files are to be read still: they are not complete, or it is not their turn.
    """

    files: int
    tensors: int
    ranks: int
    steps: int
    last_step: int | None
    bad: int
    damaged: int
    waiting: int

    @classmethod
    def of(cls, table: StatsTable, n_waiting: int) -> FollowProgress:
        """Return that of a table."""
        batch, bad = table.batch, table.bad_values
        steps = _distinct(table, "step")
        statuses = ("truncated", "malformed", "unreadable", "changed")
        return cls(
            files=n_distinct(batch.column("path")),
            tensors=len(table) - batch.column("io").null_count,
            ranks=len(_distinct(table, "rank")),
            steps=len(steps),
            last_step=int(steps[-1]) if len(steps) else None,
            bad=int(np.count_nonzero(bad.nan_or_pos_inf)),
            damaged=int(np.count_nonzero(is_in(batch.column("status"), statuses))),
            waiting=n_waiting,
        )

    def __str__(self) -> str:
        """Return it as one line."""
        parts = [say.FILES(self.files), say.TENSORS(self.tensors)]
        if self.ranks:
            parts.append(say.RANKS(self.ranks))
        if self.steps > 1:
            steps = say.STEPS(self.steps)
            parts.append(say.STEPS_SO_FAR(steps=steps, last=str(self.last_step)))
        elif self.steps:
            parts.append(say.STEPS(self.steps))
        parts.append(say.N_BAD(n=self.bad))
        if self.damaged:
            parts.append(say.N_DAMAGED(n=self.damaged))
        if self.waiting:
            parts.append(say.N_WAITING(n=self.waiting))
        return told(enumerated(parts))


def _distinct(table: StatsTable, name: str) -> Any:
    column = table.batch.column(name)
    return np.unique(integer_array(column)[~is_null(column)])


@dataclass(frozen=True, slots=True)
class FollowEvent:
    """Something that happened while a run was followed.

    Attributes
    ----------
    event
        "progress" when files were read, or are waited for; "origin", "earlier origin" and "other
        origin" when it is known where bad values began, and when that changes; "known origin" when
        an earlier following had found it; "finding" for each further operator that bad values began
        in; "deleted" and "would delete" for clean files; "trouble" for what went wrong and is tried
        again.
    sentence
        It in words.
    progress
        How far the run was followed.
    finding
        What was found, of events that are about a finding.
    paths
        The files that were, or would be, deleted, relative to the table's root.
    table
        All rows so far.
    report
        What `triage` says of the table, of events that are about a finding.
    """

    event: What
    sentence: str
    progress: FollowProgress
    table: StatsTable = field(repr=False, metadata=NOT_IN_JSON)
    finding: Finding | None = None
    paths: tuple[str, ...] = ()
    report: TriageReport | None = field(default=None, repr=False, metadata=NOT_IN_JSON)

    @property
    def is_new_finding(self) -> bool:
        """Whether the event is about a finding that was not told before."""
        return self.finding is not None and self.event != "known origin"

    def to_dict(self) -> dict[str, Any]:
        """Return the event in JSON's form, without the table and the report."""
        said: dict[str, Any] = document(self)
        return said
