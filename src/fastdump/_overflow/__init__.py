"""Overflow records, decoded, explained and joined with the operators that they name."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping

import numpy as np

from fastdump import _core
from fastdump._op_debug import OpDebugRecord, UnitOverflow
from fastdump._opened_files import OpenedFiles
from fastdump._operator import Operator, Record
from fastdump._overflow.joining import Join, OperatorFiles
from fastdump._overflow.record_files import FoundRecord, record_files
from fastdump._overflow.report import (
    OverflowFinding,
    OverflowOperator,
    OverflowRecord,
    OverflowReport,
    OverflowUnit,
)
from fastdump._overflow.status_bits import StatusBit, meaning_of, status_bits
from fastdump._overflow.words import sentence_of
from fastdump._progress import INTERVAL_S
from fastdump._schema import StatsRow
from fastdump._stats import PathLike, n_threads, no_dump_error, path_bytes, paths_of, table_of
from fastdump._table import StatsTable

__all__ = [
    "OverflowFinding",
    "OverflowOperator",
    "OverflowRecord",
    "OverflowReport",
    "OverflowUnit",
    "StatusBit",
    "overflow",
]


def overflow(
    path: PathLike | Iterable[PathLike],
    *,
    threads: int | None = None,
    follow_links: bool = False,
) -> OverflowReport:
    """Decode the overflow records of a dump and tell which operators they are about.

    Of all files that are not records only those of operators that a record names are read.

    Parameters
    ----------
    path
        A directory of any depth, a file, or several of them.
    threads
        For the statistics of the operators' tensors; as for `stats`.
    follow_links
        As for `stats`.

    Returns
    -------
    OverflowReport
        Also if there is no record.

    Raises
    ------
    NoDumpError
        If there is no dump file at all.
    OSError
        If `path` does not exist or is not readable.

    Examples
    --------
    >>> report = fastdump.overflow("dump_dir")  # doctest: +SKIP
    >>> print(report.sentence)  # doctest: +SKIP
    >>> for record, unit in report.findings:  # doctest: +SKIP
    ...     print(record.step, unit.meaning, unit.operator and unit.operator.op_name)
    """
    paths = paths_of(path)  # once: it may be an iterator
    index = _core.Index([path_bytes(item) for item in paths], follow_links=follow_links)
    if len(index) == 0:
        raise no_dump_error(paths, index.skipped(), selected=False)
    files = OpenedFiles(", ".join(repr(os.fspath(item)) for item in paths))
    found = sorted(record_files(index, files), key=_when)
    # A file that was itself given is in the index whatever it is.
    if not found and len(index) == 1 and Record(*index.record(0)).kind == "unknown":
        raise no_dump_error(paths, {"not a dump file": 1}, selected=False)
    joins = _joins(index, found)
    positions = sorted({p for unit_joins in joins for join in unit_joins for p in join.positions})
    table = _statistics(index, positions, threads)
    operators = _operators(index, files, positions, table)
    records = tuple(
        _record(one, unit_joins, operators) for one, unit_joins in zip(found, joins, strict=True)
    )
    report = OverflowReport(records, "", table, index.skipped())
    return dataclasses.replace(report, sentence=sentence_of(records, report.findings))


def _when(found: FoundRecord) -> tuple[bool, int]:
    # `sorted` is stable: what has no time keeps the order of the index.
    timestamp = found.operator.timestamp
    return timestamp is None, timestamp or 0


def _joins(index: _core.Index, found: list[FoundRecord]) -> list[list[Join]]:
    """Return a join for each unit of each record; of those that did not overflow one of nothing."""
    operators = OperatorFiles.of(index, found)
    nothing = Join("none", "")
    return [
        [
            operators.join(one, unit.fields) if _overflowed(one, unit) else nothing
            for unit in (one.decoded.units if one.decoded is not None else ())
        ]
        for one in found
    ]


def _overflowed(found: FoundRecord, unit: UnitOverflow) -> bool:
    return found.status == "ok" and any(_statuses(unit))


def _statuses(unit: UnitOverflow) -> tuple[int, ...]:
    status = unit.fields["status"]
    return status if isinstance(status, tuple) else (status,)


def _statistics(index: _core.Index, positions: list[int], threads: int | None) -> StatsTable | None:
    number = n_threads(threads)
    if not positions:
        return None
    chosen = np.array(positions, np.uint32)
    scan = _core.Scan(index, chosen.data, level="full", threads=number, io="auto", tensor=[])
    scan.run(None, INTERVAL_S)
    return table_of(scan, "full")


def _operators(
    index: _core.Index, files: OpenedFiles, positions: list[int], table: StatsTable | None
) -> dict[int, tuple[Operator, list[StatsRow]]]:
    """Return each file as an operator and the rows of it."""
    rows: dict[str, list[StatsRow]] = {}
    for row in table if table is not None else ():
        rows.setdefault(row.path, []).append(row)
    return {
        position: (operator, rows.get(operator.relative, []))
        for position in positions
        for operator in [Operator(Record(*index.record(position)), files)]
    }


def _record(
    found: FoundRecord,
    joins: list[Join],
    operators: Mapping[int, tuple[Operator, list[StatsRow]]],
) -> OverflowRecord:
    own, decoded = found.operator, found.decoded
    units = decoded.units if decoded is not None else ()
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
        layout=_layout(decoded),
        version=decoded.version if decoded is not None else None,
        status=found.status,
        note=found.note,
        units=tuple(
            _unit(found, unit, join, operators) for unit, join in zip(units, joins, strict=True)
        ),
        _decoded=decoded,
    )


def _layout(decoded: OpDebugRecord | None) -> str | None:
    if decoded is None:
        return None
    return "old" if decoded.version is None else "new"


def _unit(
    found: FoundRecord,
    unit: UnitOverflow,
    join: Join,
    operators: Mapping[int, tuple[Operator, list[StatsRow]]],
) -> OverflowUnit:
    statuses = _statuses(unit)
    bits = status_bits(unit.unit, statuses)
    overflowed = _overflowed(found, unit)
    return OverflowUnit(
        unit=unit.unit,
        fields=unit.fields,
        statuses=statuses,
        bits=bits,
        meaning=meaning_of(unit.unit, bits),
        overflowed=overflowed,
        join=join.how if overflowed else None,
        join_note=join.note,
        operator=_operator([operators[position] for position in join.positions]),
    )


def _operator(
    files: list[tuple[Operator, list[StatsRow]]],
) -> OverflowOperator | None:
    if not files:
        return None
    chosen = files[0][0]
    tensors = tuple(row for _, rows in files for row in rows)
    # The table has the name of the header.
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
