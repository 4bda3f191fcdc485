"""What `overflow` found, as one object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastdump._json import document
from fastdump._overflow.answer import answer_of
from fastdump._overflow.records import OverflowFinding, OverflowRecord
from fastdump._overflow.text import (
    DEFAULT_ROWS,
    file_remarks,
    join_remarks,
    overflows_table,
    record_remarks,
)
from fastdump._report import Report
from fastdump._table.arrow_column import is_in, is_null
from fastdump._table.row import StatsRow
from fastdump._table.row_text import row_table
from fastdump._table.stats_table import StatsTable
from fastdump._words import catalogue as say
from fastdump._words.answer import Answer, show_command
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell


@dataclass(frozen=True, slots=True, repr=False)
class OverflowReport(Report):
    """All overflow records of a dump. Printing it gives the same text as the command.

    Attributes
    ----------
    sentence
        The first overflow in one sentence, or that there is none.
    findings
        The units that overflowed, in the order of the records.
    records
        All records in the order of their timestamps, over all ranks; those without one last. Ranks
        on several hosts have clocks of their own.
    table
        Statistics, at level "full", of the tensors of all operators that were found; None if none
        was found.
    skipped
        How many files were not read because they are no dumps, by reason.
    pattern
        A shell pattern that selects the name of the first overflow's operator, and no other:
        ``*layers.2*qk``. None if the operator is not known.
    """

    question: ClassVar = "overflow"

    sentence: str
    findings: tuple[OverflowFinding, ...]
    records: tuple[OverflowRecord, ...]
    table: StatsTable | None
    skipped: Mapping[str, int]
    pattern: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """How many records, and how many files of the operators, could not be read, if any."""
        n_records = sum(not record.units for record in self.records)
        n_files = len(self._unread_files())
        unread = [(say.RECORDS_UNREAD, n_records), (say.FILES_NOT_READ, n_files)]
        return tuple(could_not_be_read(n) for could_not_be_read, n in unread if n)

    def _unread_files(self) -> list[StatsRow]:
        """Return the rows of files of operators that gave no tensor."""
        if self.table is None:
            return []
        has_no_tensor = is_null(self.table.batch.column("io"))
        is_ok = is_in(self.table.batch.column("status"), ("ok",))
        return list(self.table[has_no_tensor & ~is_ok])

    def _details(self) -> dict[str, Any]:
        return {
            "records": document(self.records),
            "skipped": dict(self.skipped),
            "pattern": self.pattern,
        }

    def answer(self) -> Answer:
        """Return the first overflow and how its operator looks; or that there is none."""
        return answer_of(self.records, self.findings, self.notes, self._next_command())

    def _next_command(self) -> str:
        """Return the command that shows the operator of the first overflow, "" if none is known."""
        if self.pattern is None or self.table is None:
            return ""
        first = self.findings[0]
        return show_command(self.table.roots, self.pattern, rank=first.rank, step=first.step)

    def in_full(
        self,
        *,
        width: int | None = None,
        ellipsis: str = "...",
        rows: int | None = DEFAULT_ROWS,
    ) -> Iterator[list[Cell]]:
        """Yield all overflows, how they were joined, and odd records.

        Parameters
        ----------
        width, ellipsis
            As in `lines`.
        rows
            How many overflows are shown; None for all.
        """
        shown = self.findings[:rows]
        if shown:
            yield []
            yield from overflows_table(shown, width).lines(ellipsis=ellipsis)
        if self.findings and (operator := self.findings[0].unit.operator) is not None:
            yield []
            yield [Cell(say.THE_FIRST(paths=", ".join(operator.paths)).told(), SUBTLE)]
            yield from row_table(operator.tensors, width=width).lines(ellipsis=ellipsis)
        unread = self._unread_files()[:rows]
        remarks = [*join_remarks(shown), *record_remarks(self.records), *file_remarks(unread)]
        if remarks:
            yield []
        for remark in remarks:
            yield [remark]
        if len(shown) < len(self.findings):
            yield []
            overflows = say.OVERFLOWS(len(self.findings))
            yield [Cell(say.SHOWN_OF(shown=len(shown), things=overflows).told(), SUBTLE)]
