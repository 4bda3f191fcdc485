"""What happened, in one sentence that a person can act on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from fastdump._overflow.report import OverflowFinding, OverflowOperator, OverflowRecord
from fastdump._printable import printable
from fastdump._quantities import counted, is_integer, shape_text, value_text
from fastdump._schema import StatsRow
from fastdump._severity import LARGEST_FINITE

_MAX_TENSORS = 3


def sentence_of(records: Sequence[OverflowRecord], findings: Sequence[OverflowFinding]) -> str:
    """Return the sentence that leads the report."""
    if findings:
        return finding_text(findings[0])
    if not records:
        return "No overflow record."
    unread = sum(not record.units for record in records)
    told = f"No overflow in {counted(len(records) - unread, 'record')}."
    return told + (f" {counted(unread, 'record')} could not be read." if unread else "")


def finding_text(finding: OverflowFinding) -> str:
    """Return where it happened, what the status means and how the tensors look."""
    record, unit = finding
    places = [
        f"{name} {value}"
        for name, value in (("rank", record.rank), ("step", record.step))
        if value is not None
    ]
    place = ", ".join(places) or printable(record.path)
    masks = " + ".join(f"{bit.mask:#x}" for bit in unit.bits)
    on = f"{_unit_text(finding)}: {unit.meaning} ({masks})"
    if unit.operator is None:
        ids = f"task {unit.fields['task_id']}, stream {unit.fields['stream_id']}"
        return f"{place}: an operator ({ids}) overflowed on {on}. Not joined: {unit.join_note}."
    hedge = " (probably)" if unit.join == "ambiguous" else ""
    return f"{place}: {operator_text(unit.operator)}{hedge} overflowed on {on}. " + tensors_text(
        unit.operator
    )


def operator_text(operator: OverflowOperator) -> str:
    """Return type and name."""
    return printable(f"{operator.op_type or '?'} {operator.op_name or '?'}")


def tensors_text(operator: OverflowOperator) -> str:
    """Return how the inputs and outputs of an operator look, as sentences."""
    texts = []
    for io in ("input", "output"):
        rows = [row for row in operator.tensors if row.io == io]
        if rows:
            texts.append(_side_text(rows, f"{io}s"))
        else:
            texts.append(f"Its {io}s were not dumped.")
    broken = [row for row in operator.tensors if row.io is None]
    texts += [f"{printable(row.path)}: {row.status}." for row in broken]
    return " ".join(texts)


def _side_text(rows: Sequence[StatsRow], side: str) -> str:
    odd = [row for row in rows if oddity_text(row)]
    if not odd:
        return f"Its {side} are finite{_reach_text(rows)}."
    told = [
        f"{row.io}.{row.index} ({row.dtype} {shape_text(row.shape)}) {oddity_text(row)}"
        for row in odd[:_MAX_TENSORS]
    ]
    more = f"; and {counted(len(odd) - len(told), 'more tensor')}" if len(odd) > len(told) else ""
    return f"Its {side}: {'; '.join(told)}{more}."


def oddity_text(row: StatsRow) -> str:
    """Return what is not as it should be with one tensor, "" if nothing is."""
    parts = [
        f"{number:,} {name}"
        for name, number in (("NaN", row.nan), ("+Inf", row.pos_inf), ("-Inf", row.neg_inf))
        if number
    ]
    # Integers come to their limit without any overflow.
    if row.saturated and row.dtype in LARGEST_FINITE:
        parts.append(f"{row.saturated:,} at the largest finite value of {row.dtype}")
    text = f"has {' and '.join(parts)}" if parts else ""
    place = _index_text(row.first_bad, row.shape or ())
    if place:
        text += f", the first at {place}"
    if row.status != "ok":
        text += f"{', ' if text else ''}is {row.status}"
    return text


def _index_text(flat: int | None, shape: tuple[int, ...]) -> str:
    """Return ``[2, 1]``, "" for what is not an element of the shape."""
    if flat is None or min(shape, default=0) < 1 or flat >= math.prod(shape):
        return ""
    return f"[{', '.join(str(i) for i in np.unravel_index(flat, shape))}]"


def _reach_text(rows: Iterable[StatsRow]) -> str:
    """Return how near to the limit of its type the largest value comes."""
    reaches = [
        (max(abs(row.max), abs(row.min)) / limit, max(abs(row.max), abs(row.min)), row)
        for row in rows
        if row.max is not None
        and row.min is not None
        and (limit := LARGEST_FINITE.get(row.dtype or "")) is not None
    ]
    if not reaches:
        return ""
    reach, magnitude, row = max(reaches, key=lambda item: item[0])
    value = value_text(magnitude, integer=is_integer(row.dtype))
    return f" (largest magnitude {value}, {reach:.2g} of the limit of {row.dtype})"


def _unit_text(finding: OverflowFinding) -> str:
    fields = finding.unit.fields
    parts = [
        f"{label} {fields[name]}"
        for name, label in (
            ("core_id", "core"),
            ("block_id", "block"),
            ("block_idx", "block"),
            ("cpu_id", "CPU"),
            ("channel_id", "channel"),
        )
        if name in fields
    ]
    return f"{finding.unit.unit} ({', '.join(parts)})" if parts else finding.unit.unit
