"""Overflows in sentences that a person can act on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastdump._array.elements import LARGEST_FINITE
from fastdump._overflow.records import (
    OverflowFinding,
    OverflowOperator,
    OverflowRecord,
    OverflowUnit,
)
from fastdump._table.row import StatsRow
from fastdump._words.places import bad_text, index_text, where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import counted, shape_text, value_text

_MAX_TENSORS = 3
_LABELS = {
    "core_id": "core",
    "block_id": "block",
    "block_idx": "block",
    "cpu_id": "CPU",
    "channel_id": "channel",
}


def sentence_of(records: Sequence[OverflowRecord], findings: Sequence[OverflowFinding]) -> str:
    """Return the sentence that leads the report."""
    if findings:
        return findings[0].sentence
    if not records:
        return "No overflow record."
    unread = sum(not record.units for record in records)
    told = f"No overflow in {counted(len(records) - unread, 'record')}."
    return told + (f" {counted(unread, 'record')} could not be read." if unread else "")


def finding_text(record: OverflowRecord, unit: OverflowUnit) -> str:
    """Return where a unit overflowed, what its status means and how the tensors look."""
    place = where_text(rank=record.rank, step=record.step) or printable(record.path)
    masks = " + ".join(f"{bit.mask:#x}" for bit in unit.bits)
    on = f"{_unit_text(unit)}: {unit.meaning} ({masks})"
    operator = unit.operator
    if operator is None:
        ids = f"task {unit.fields['task_id']}, stream {unit.fields['stream_id']}"
        return f"{place}: an operator ({ids}) overflowed on {on}. Not joined: {unit.join_note}."
    hedge = " (probably)" if unit.join == "ambiguous" else ""
    name = printable(f"{operator.op_type or '?'} {operator.op_name or '?'}")
    return f"{place}: {name}{hedge} overflowed on {on}. {tensors_text(operator)}"


def tensors_text(operator: OverflowOperator) -> str:
    """Return how the inputs and outputs of an operator look, as sentences."""
    texts = []
    for io in ("input", "output"):
        rows = [row for row in operator.tensors if row.io == io]
        texts.append(_side_text(rows, f"{io}s"))
    broken = [row for row in operator.tensors if row.io is None]
    texts += [f"{printable(row.path)}: {row.status}." for row in broken]
    return " ".join(texts)


def _side_text(rows: Sequence[StatsRow], side: str) -> str:
    if not rows:
        return f"Its {side} were not dumped."
    odd = [row for row in rows if oddity_text(row)]
    if not odd:
        return f"Its {side} are finite{_reach_text(rows)}."
    told = [
        f"{row.tensor_name} ({row.dtype} {shape_text(row.shape)}) {oddity_text(row)}"
        for row in odd[:_MAX_TENSORS]
    ]
    more = f"; and {counted(len(odd) - len(told), 'more tensor')}" if len(odd) > len(told) else ""
    return f"Its {side}: {'; '.join(told)}{more}."


def oddity_text(row: StatsRow) -> str:
    """Return what is wrong with one tensor, "" if nothing is."""
    bad = bad_text(row.nan, row.pos_inf, row.neg_inf)
    parts = [bad.replace(", ", " and ")] if bad else []
    # Integers reach their limits without any overflow.
    if row.saturated and row.dtype in LARGEST_FINITE:
        parts.append(f"{row.saturated:,} at the largest finite value of {row.dtype}")
    text = f"has {' and '.join(parts)}" if parts else ""
    place = index_text(row.first_bad, row.shape)
    if place:
        text += f", the first at {place}"
    if row.status != "ok":
        text += f"{', ' if text else ''}is {row.status}"
    return text


def _reach_text(rows: Iterable[StatsRow]) -> str:
    """Return how near the largest value comes to the limit of its type."""
    reaches = []
    for row in rows:
        limit = LARGEST_FINITE.get(row.dtype or "")
        if limit is not None and row.max is not None and row.min is not None:
            magnitude = max(abs(row.max), abs(row.min))
            reaches.append((magnitude / limit, magnitude, row.dtype))
    if not reaches:
        return ""
    reach, magnitude, dtype = max(reaches, key=lambda item: item[0])
    value = value_text(magnitude, integer=False)
    return f" (largest magnitude {value}, {reach:.2g} of the limit of {dtype})"


def _unit_text(unit: OverflowUnit) -> str:
    fields = unit.fields
    parts = [f"{label} {fields[name]}" for name, label in _LABELS.items() if name in fields]
    return f"{unit.unit} ({', '.join(parts)})" if parts else unit.unit
