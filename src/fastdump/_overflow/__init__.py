"""Overflow records, decoded, explained and joined with the operators that they name.

From a dump to a report: `record_files` finds and decodes records, `joining` finds the files of the
operators that they name, `status_bits` explains their statuses, `words` and `text` put it in words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fastdump._arguments import Engine, parallelism
from fastdump._core import Progress
from fastdump._dump.absence import no_dump_error
from fastdump._dump.dump import Dump, chosen, open
from fastdump._dump.operator import Operator
from fastdump._op_name.shortest_pattern import shortest_pattern
from fastdump._overflow.answer import finding_sentence, report_sentence
from fastdump._overflow.joining import Join, OperatorFiles
from fastdump._overflow.record_files import FoundRecord, record_files
from fastdump._overflow.records import (
    OverflowFinding,
    OverflowOperator,
    OverflowRecord,
    OverflowUnit,
)
from fastdump._overflow.report import OverflowReport
from fastdump._overflow.status_bits import StatusBit, meaning_of, status_bits
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._stats import What
from fastdump._table.row import StatsRow
from fastdump._table.stats_table import StatsTable
from fastdump._tensor.op_debug import UnitOverflow

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "OverflowFinding",
    "OverflowOperator",
    "OverflowRecord",
    "OverflowReport",
    "OverflowUnit",
    "StatusBit",
    "overflow",
]

_NOT_OVERFLOWED = Join(None, "")
_OF_RECORDS = ("rank", "time", "device", "model", "model_id", "step")


@takes_conditions
def overflow(
    what: What,
    *,
    threads: int | None = None,
    io_depth: int | None = None,
    engine: Engine = "auto",
    progress: bool | Callable[[Progress], object] | None = None,
    follow_links: bool = False,
    **conditions: Unpack[Conditions],
) -> OverflowReport:
    """Decode the overflow records of a dump and tell which operators they are about.

    Besides records, only the files of the operators that they name are read.

    Parameters
    ----------
    what
        A directory of any depth, a file, several of them, or a `Dump`; or a `StatsTable` or the
        file of one, whose dump is looked at.
    threads, io_depth, engine, progress, follow_links
        How to read the operators' tensors; as for `stats`.
    **conditions
        `rank`, `time`, `device`, `model`, `model_id` and `step` select the records to look at, the
        others the operators whose overflows are reported, and their tensors. `Selection` says what
        each means.

    Returns
    -------
    OverflowReport
        Also if there are no records.

    Raises
    ------
    NoDumpError
        If there is no dump file at all, or none of those that the conditions choose.
    TypeError, ValueError
        If an argument has a value that it cannot have.
    OSError
        If a path does not exist or is not readable.

    Examples
    --------
    >>> report = fastdump.overflow("dump_dir")  # doctest: +SKIP
    >>> print(report.sentence)  # doctest: +SKIP
    >>> for finding in report.findings:  # doctest: +SKIP
    ...     print(finding.step, finding.unit.meaning, finding.unit.operator)
    """
    at_once = parallelism(threads, io_depth)
    selection = Selection.of(conditions)
    of_records = selection.only(_OF_RECORDS)
    of_operators = selection.without(_OF_RECORDS)
    dump = open(what, follow_links=follow_links).selected(of_records)
    if not len(dump.selected(of_operators)):
        raise chosen(dump).no_tensor_error(of_operators)
    found = sorted(record_files(dump), key=_when)
    # A dump has a file that was itself given, whatever that is.
    if not found and len(dump) == 1 and dump[0].kind == "unknown":
        raise no_dump_error(repr(dump[0].path), {"not a dump file": 1})
    joins = _joins(dump, found)
    positions = sorted({p for unit_joins in joins for join in unit_joins for p in join.positions})
    table = None
    if positions:
        scan = chosen(dump[positions]).scan(of_operators, level="full", engine=engine, **at_once)
        scan.run(progress)
        table = scan.table()
    operators = _operators(dump, positions, table)
    records = tuple(
        _record(one, unit_joins, operators) for one, unit_joins in zip(found, joins, strict=True)
    )
    findings = tuple(
        OverflowFinding(finding_sentence(record, unit), record, unit)
        for record in records
        for unit in record.units
        if unit.overflowed and (not of_operators or (unit.operator and unit.operator.tensors))
    )
    return OverflowReport(
        report_sentence(records, findings),
        findings,
        records,
        table,
        dump.skipped,
        _pattern(dump, findings),
    )


def _pattern(dump: Dump, findings: tuple[OverflowFinding, ...]) -> str | None:
    """Return what selects the operator of the first overflow alone; None if it is not known."""
    operator = findings[0].unit.operator if findings else None
    if operator is None or operator.op_name is None:
        return None
    return shortest_pattern(operator.op_name, chosen(dump).op_names())


def _when(found: FoundRecord) -> tuple[bool, int]:
    # `sorted` is stable: records without a time keep the order of the dump.
    timestamp = found.operator.timestamp
    return timestamp is None, timestamp or 0


def _joins(dump: Dump, found: list[FoundRecord]) -> list[list[Join]]:
    """Return a join for each unit of each record; without files for one that did not overflow."""
    operators = OperatorFiles(dump, found)

    def join(record: FoundRecord, unit: UnitOverflow) -> Join:
        overflowed = record.status == "ok" and any(_statuses(unit))
        return operators.join(record, unit.fields) if overflowed else _NOT_OVERFLOWED

    return [[join(record, unit) for unit in record.units] for record in found]


def _statuses(unit: UnitOverflow) -> tuple[int, ...]:
    status = unit.fields["status"]
    return status if isinstance(status, tuple) else (status,)


def _operators(
    dump: Dump, positions: list[int], table: StatsTable | None
) -> dict[int, tuple[Operator, list[StatsRow]]]:
    """Return each file as an operator, and its rows."""
    rows: dict[str, list[StatsRow]] = defaultdict(list)
    for row in table if table is not None else ():
        rows[row.path].append(row)
    operators = {position: dump[position] for position in positions}
    return {position: (one, rows[one.relative]) for position, one in operators.items()}


def _record(
    found: FoundRecord,
    joins: list[Join],
    operators: Mapping[int, tuple[Operator, list[StatsRow]]],
) -> OverflowRecord:
    own, decoded = found.operator, found.decoded
    layout = version = None
    if decoded is not None:
        version = decoded.version
        layout = "old" if version is None else "new"
    return OverflowRecord(
        rank=own.rank,
        time=own.time,
        device=own.device,
        model=own.model,
        model_id=own.model_id,
        step=own.step,
        timestamp=own.timestamp,
        path=own.relative,
        appended=found.appended,
        layout=layout,
        version=version,
        status=found.status,
        note=found.note,
        units=tuple(
            _unit(unit, join, operators) for unit, join in zip(found.units, joins, strict=True)
        ),
        _decoded=decoded,
    )


def _unit(
    unit: UnitOverflow,
    join: Join,
    operators: Mapping[int, tuple[Operator, list[StatsRow]]],
) -> OverflowUnit:
    statuses = _statuses(unit)
    bits = status_bits(unit.unit, statuses)
    return OverflowUnit(
        unit=unit.unit,
        fields=unit.fields,
        statuses=statuses,
        bits=bits,
        meaning=meaning_of(unit.unit, bits),
        overflowed=join.how is not None,
        join=join.how,
        join_note=join.note,
        operator=_operator([operators[position] for position in join.positions]),
    )


def _operator(files: list[tuple[Operator, list[StatsRow]]]) -> OverflowOperator | None:
    if not files:
        return None
    chosen = files[0][0]
    tensors = tuple(row for _, rows in files for row in rows)
    # The table has the name in the header.
    names = [row.op_name for row in tensors if row.op_name]
    return OverflowOperator(
        op_type=chosen.op_type,
        op_name=names[0] if names else chosen.op_name,
        task_id=chosen.task_id,
        stream_id=chosen.stream_id,
        context_id=chosen.context_id,
        thread_id=chosen.thread_id,
        timestamp=chosen.timestamp,
        paths=tuple(operator.relative for operator, _ in files),
        tensors=tensors,
    )
