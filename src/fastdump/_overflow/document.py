"""The report as one JSON document; docs/overflow.md describes it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from fastdump._schema import COLUMN, StatsRow
from fastdump._table_json import json_real

if TYPE_CHECKING:
    from fastdump._overflow.report import (
        OverflowOperator,
        OverflowRecord,
        OverflowReport,
        OverflowUnit,
    )

_WHERE = ("rank", "time", "device", "model", "model_id", "step")
_OF_FILE = ("timestamp", "path", "appended", "layout", "version", "status", "note")
_OF_OPERATOR = (
    *("op_type", "op_name", "task_id", "stream_id", "context_id", "thread_id", "timestamp"),
    "paths",
)


def report_document(report: OverflowReport) -> dict[str, Any]:
    """Return the report ready for `json.dumps`."""
    return {
        "sentence": report.sentence,
        "n_records": len(report.records),
        "n_findings": len(report.findings),
        "records": [_record(record) for record in report.records],
        "skipped": dict(report.skipped),
    }


def _record(record: OverflowRecord) -> dict[str, Any]:
    return {
        **{name: getattr(record, name) for name in (*_WHERE, *_OF_FILE)},
        "units": [_unit(unit) for unit in record.units],
        "document": record.document(),
    }


def _unit(unit: OverflowUnit) -> dict[str, Any]:
    return {
        "unit": unit.unit,
        "overflowed": unit.overflowed,
        "fields": dict(unit.fields),
        "statuses": list(unit.statuses),
        "bits": [{**dataclasses.asdict(bit), "mask": hex(bit.mask)} for bit in unit.bits],
        "meaning": unit.meaning,
        "join": unit.join,
        "join_note": unit.join_note,
        "operator": None if unit.operator is None else _operator(unit.operator),
    }


def _operator(operator: OverflowOperator) -> dict[str, Any]:
    return {
        **{name: getattr(operator, name) for name in _OF_OPERATOR},
        "tensors": [_row(row) for row in operator.tensors],
    }


def _row(row: StatsRow) -> dict[str, Any]:
    values = dataclasses.asdict(row)
    return {
        name: json_real(value) if COLUMN[name].kind == "real" else value
        for name, value in values.items()
    }
