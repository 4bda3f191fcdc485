"""Parts of an overflow report as text: the overflows, how they were joined, odd records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fastdump._overflow.answer import oddities_of
from fastdump._overflow.records import OverflowFinding, OverflowRecord
from fastdump._table.row import StatsRow
from fastdump._words import catalogue as say
from fastdump._words.enumeration import clauses
from fastdump._words.printable import printable
from fastdump._words.sentence import told
from fastdump._words.styles import BAD, DOUBTFUL, SUBTLE, number_cell
from fastdump._words.text_table import Cell, Column, TextTable

DEFAULT_ROWS = 20


def join_remarks(shown: Sequence[OverflowFinding]) -> Iterator[Cell]:
    """Yield how overflows were joined with operators, if that is not certain."""
    for finding in shown:
        unit = finding.unit
        if unit.join_note:
            style = DOUBTFUL if unit.join in ("none", "ambiguous") else SUBTLE
            remark = say.JOIN_REMARK(path=finding.path, join=unit.join or "", note=unit.join_note)
            if unit.join == "none":
                remark = say.NOT_JOINED_REMARK(path=finding.path, note=unit.join_note)
            yield Cell(remark.told(), style)


def record_remarks(records: Sequence[OverflowRecord]) -> Iterator[Cell]:
    """Yield which records could not be read, and how many report nothing."""
    for record in records:
        if record.status != "ok":
            style = DOUBTFUL if record.status == "not_valid" else BAD
            yield Cell(_status_text(record.path, record.status, record.note), style)
    n_silent = sum(
        record.status == "ok" and not any(unit.overflowed for unit in record.units)
        for record in records
    )
    if n_silent:
        yield Cell(say.SILENT_RECORDS(n_silent).told(), SUBTLE)


def file_remarks(unread: Iterable[StatsRow]) -> Iterator[Cell]:
    """Yield which files of operators could not be read."""
    for row in unread:
        yield Cell(_status_text(row.path, row.status, row.note), BAD)


def _status_text(path: str, status: str, note: str | None) -> str:
    if not note:
        return say.STATUS_OF_FILE(path=path, status=status).told()
    return say.STATUS_OF_FILE_BECAUSE(path=path, status=status, note=note).told()


_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("unit"),
    Column("task", right=True, drop_order=1),
    Column("stream", right=True, drop_order=0),
    Column("op_type", drop_order=3),
    Column("op_name", min_width=18, names=True),
    Column("status", right=True),
    Column("meaning", min_width=16),
    Column("inputs", min_width=10, drop_order=2),
    Column("outputs", min_width=10, drop_order=4),
)


def overflows_table(findings: Iterable[OverflowFinding], width: int | None) -> TextTable:
    """Return a table of overflows, one a line, for a terminal of some width."""
    return TextTable(_COLUMNS, map(_cells, findings), width=width)


def _cells(finding: OverflowFinding) -> list[Cell]:
    unit, operator = finding.unit, finding.unit.operator
    style = "" if operator else DOUBTFUL
    return [
        number_cell(finding.rank),
        number_cell(finding.step),
        Cell(unit.unit),
        Cell(str(unit.fields["task_id"])),
        Cell(str(unit.fields["stream_id"])),
        Cell(printable((operator and operator.op_type) or "")),
        Cell(printable(operator.op_name or "") if operator else say.NOT_JOINED().told(), style),
        Cell(" ".join(hex(status) for status in unit.statuses), BAD),
        Cell(told(unit.meaning)),
        _side_cell(finding, "input"),
        _side_cell(finding, "output"),
    ]


def _side_cell(finding: OverflowFinding, io: str) -> Cell:
    """Return ``finite``, or the oddities of the tensors."""
    operator = finding.unit.operator
    rows = [row for row in operator.tensors if row.io == io] if operator is not None else []
    if not rows:
        return Cell("")
    odd = [text for row in rows for text in oddities_of(row)]
    return Cell(told(clauses(odd)), BAD) if odd else Cell(say.FINITE().told(), SUBTLE)
