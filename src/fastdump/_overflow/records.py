"""Overflow records, their units and the operators that they name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fastdump._json import NOT_IN_JSON
from fastdump._overflow.status_bits import StatusBit
from fastdump._table.row import StatsRow
from fastdump._tensor.op_debug import OpDebugRecord
from fastdump._words.shown import Shown


@dataclass(frozen=True, slots=True)
class OverflowOperator:
    """The operator that a unit names, as its dump files have it.

    Attributes
    ----------
    op_type, op_name, task_id, stream_id, context_id, thread_id, timestamp
        As in `StatsRow`.
    paths
        Its dump file, relative to the dump; of a collective operator the file of its inputs and
        that of its outputs.
    tensors
        Statistics of its tensors at level "full"; of a file that could not be read the row that
        says so.
    """

    op_type: str | None
    op_name: str | None
    task_id: int | None
    stream_id: int | None
    context_id: int | None
    thread_id: int | None
    timestamp: int | None
    paths: tuple[str, ...]
    tensors: tuple[StatsRow, ...]


@dataclass(frozen=True, slots=True)
class OverflowUnit:
    """What one unit of the device reports in a record.

    Attributes
    ----------
    unit
        "DHA Atomic Add", "L2 Atomic Add", "AI Core" (old layout); "AIC", "AIV", "AICPU" or "SDMA"
        (new layout).
    fields
        All that the record says of it, by the vendor's names: ``model_id``, ``stream_id``,
        ``task_id``, ``task_type``, ... , ``status``.
    statuses
        The status; four of them for a core in version 1 of the new layout.
    bits
        Those that are set in it.
    meaning
        What they mean together, in words.
    overflowed
        Whether this is a finding: a status other than 0, in a record that says that it is valid.
    join
        How the operator is known: "exact" (one file has this task and stream), "nearest" (several
        have; the one nearest in time), "ambiguous" (several, and time does not tell them apart:
        the first of them), "name" (by the name of the record's file), "none". None if nothing
        overflowed: then no operator is looked for.
    join_note
        Why there is none, which others there are, what else is odd; "" if nothing is.
    operator
        The operator, or None.
    """

    unit: str
    fields: Mapping[str, int | tuple[int, ...]]
    statuses: tuple[int, ...]
    bits: tuple[StatusBit, ...]
    meaning: str
    overflowed: bool
    join: str | None = None
    join_note: str = ""
    operator: OverflowOperator | None = None


@dataclass(frozen=True, slots=True)
class OverflowRecord:
    """One overflow record, or one file that should hold one.

    Attributes
    ----------
    rank, time, device, model, model_id, step
        Where it was dumped, as far as the path tells.
    timestamp
        When, as in the file's name; usually microseconds since 1970.
    path
        The file, relative to the dump.
    appended
        0, or its number among the records that were appended to the first in this file.
    layout
        "old", "new", or None if it could not be read.
    version
        Of the new layout.
    status
        "ok"; "not_valid" (the record says so of itself); "truncated", "malformed" or "unreadable".
    note
        Why it is not "ok".
    units
        Three in the old layout, one in the new one, none if the record could not be read.
    """

    also_in_json: ClassVar = ("document",)

    rank: int | None
    time: str | None
    device: int | None
    model: str | None
    model_id: int | None
    step: int | None
    timestamp: int | None
    path: str
    appended: int
    layout: str | None
    version: int | None
    status: str
    note: str
    units: tuple[OverflowUnit, ...]
    _decoded: OpDebugRecord | None = field(default=None, repr=False)

    @property
    def document(self) -> dict[str, Any] | None:
        """What the vendor's converter makes of the record, None if it could not be read."""
        return None if self._decoded is None else self._decoded.document()


@dataclass(frozen=True, slots=True, repr=False)
class OverflowFinding(Shown):
    """One unit that overflowed.

    Attributes
    ----------
    sentence
        Where it happened, what the status means and how the operator's tensors look.
    record
        The record that says so.
    unit
        The unit.
    """

    also_in_json: ClassVar = ("rank", "step", "path")

    sentence: str
    record: OverflowRecord = field(metadata=NOT_IN_JSON)
    unit: OverflowUnit

    @property
    def rank(self) -> int | None:
        """Rank of the record."""
        return self.record.rank

    @property
    def step(self) -> int | None:
        """Step of the record."""
        return self.record.step

    @property
    def path(self) -> str:
        """File of the record, relative to the dump."""
        return self.record.path
