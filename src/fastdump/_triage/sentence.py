"""Findings in one sentence each, with what a person needs to act on them."""

from __future__ import annotations

from collections.abc import Sequence

from fastdump._array.elements import LARGEST_FINITE
from fastdump._table.row import StatsRow
from fastdump._triage import kinds
from fastdump._triage.kinds import Jump, Kind
from fastdump._triage.records import Finding, OperatorRun, Origin
from fastdump._words.places import bad_text, operator_text, where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import (
    counted,
    is_integer,
    listed,
    numbered,
    shape_text,
    value_text,
)

_MAX_INPUTS = 3


def place_text(operator: OperatorRun) -> str:
    """Return ``rank 1, step 3``, as far as it is known."""
    if operator.rank is None:
        return where_text(device=operator.device, step=operator.step)
    return where_text(rank=operator.rank, step=operator.step)


def operator_words(operator: OperatorRun) -> str:
    """Return type and name, or the files."""
    named = operator_text(operator.op_type, operator.op_name)
    return named or ", ".join(map(printable, operator.paths)) or "an operator without a name"


def bad_words(row: StatsRow) -> str:
    """Return ``3 NaN, 1 +Inf``; in words where they were not counted."""
    return bad_text(row.nan, row.pos_inf, row.neg_inf) or "NaN or Inf"


def tensor_text(row: StatsRow) -> str:
    """Return ``output.0 (float16 2x8, from -3 to 4)``."""
    facts = " ".join(filter(None, (printable(row.dtype or ""), shape_text(row.shape))))
    low, high = (value_text(v, integer=is_integer(row.dtype)) for v in (row.min, row.max))
    finite = "the finite ones " if row.nan or row.pos_inf or row.neg_inf else ""
    if low and high:
        facts += f", {finite}from {low} to {high}" if low != high else f", {finite}all {low}"
    if row.status not in ("ok", "unsupported"):
        facts += f", {row.status}"
    return f"{row.tensor_name} ({facts})" if facts else row.tensor_name


def origin_sentence(kind: Kind, origin: Origin, *, is_first: bool) -> str:
    """Return the sentence of a finding that has an origin.

    Parameters
    ----------
    kind
        Kind of the finding.
    origin
        Where it began.
    is_first
        Whether it is the first NaN or Inf of the dump.
    """
    where = place_text(origin.operator)
    sentence = f"{where}: " if where else ""
    sentence += f"{operator_words(origin.operator)} {_happened(kind, origin, is_first)}"
    if origin.cause:
        sentence += f": {origin.cause}"
    paths = origin.operator.paths
    if paths:
        sentence += f"; file{'s' if len(paths) > 1 else ''} {', '.join(map(printable, paths))}"
    return sentence


def _happened(kind: Kind, origin: Origin, is_first: bool) -> str:
    tensor = origin.tensor
    shown = f"{_bad_words(kind, tensor, origin.jump)} in {tensor_text(tensor)}"
    if origin.verdict == "missing":
        return f"is not in the dump, and {origin.reason}: {shown}"
    if origin.verdict == "overwritten":
        return f"read {shown}, but {origin.reason}: something overwrote it"
    if origin.verdict == "data":
        brings_in = tensor.io == "output"
        return f"brought in {shown}" if brings_in else f"read {shown}, and {origin.reason}"
    if tensor.path not in origin.operator.paths:
        # The tensor is an input of the operator that reads it.
        return f"made {shown}, as far as is known: {origin.reason}"
    if tensor.io == "input":
        if origin.verdict == "unknown":
            return f"is the first that is known to read {shown}: {origin.reason}"
        return f"read {shown}; {origin.reason}"
    first = "the first bad values, " if is_first else ""
    made = f"made {first}{shown}"
    if origin.verdict == "unknown":
        clean = origin.last_clean
        before = f"; {operator_words(clean)} before it was clean" if clean else ""
        return f"{made}, as far as is known: {origin.reason}{before}"
    return made + _inputs_words(kind, origin.inputs)


def _bad_words(kind: Kind, row: StatsRow, jump: Jump | None) -> str:
    largest = LARGEST_FINITE.get(row.dtype or "", 0.0)
    reach = max(abs(row.max or 0.0), abs(row.min or 0.0))
    if kind is kinds.SATURATED:
        number = "values" if row.saturated is None else counted(row.saturated, "value")
        of = "" if row.saturated is None or row.count is None else f" of {row.count:,}"
        return f"{number}{of} at the limit of {row.dtype}, {largest:.5g},"
    if kind is kinds.ZEROS:
        return "only zeros"
    if kind is kinds.HEADROOM:
        return f"values of {reach / largest:.0%} of what {row.dtype} holds"
    if kind is kinds.NORM_JUMP:
        assert jump is not None
        if jump.ratio > 1:
            return f"values {jump.ratio:,.0f} times larger than {jump.usual}"
        return f"values {1 / jump.ratio:,.0f} times smaller than {jump.usual}"
    if kind is kinds.REPLICAS_DIFFER:
        return "values that differ from those of the other ranks"
    return bad_words(row)


def _inputs_words(kind: Kind, inputs: Sequence[StatsRow]) -> str:
    if not inputs:
        return " without any input"
    clean = {kinds.ZEROS: "that are not", kinds.NORM_JUMP: "of the usual size"}
    adjective = clean.get(kind, "that are clean")
    if kind in (kinds.INF, kinds.NAN) and not any(row.neg_inf for row in inputs):
        adjective = "that are finite"
    return f" from inputs {adjective}: {listed(map(tensor_text, inputs), _MAX_INPUTS)}"


def also_text(also: Sequence[OperatorRun]) -> str:
    """Return where else a finding was made: ``3 more times (ranks 2-3, steps 4-9)``."""
    ranks = sorted({run.rank for run in also if run.rank is not None})
    steps = sorted({run.step for run in also if run.step is not None})
    parts = [numbered(noun, of) for noun, of in (("rank", ranks), ("step", steps)) if of]
    where = f" ({', '.join(parts)})" if parts else ""
    return counted(len(also), "more time") + where


def report_sentence(found: Sequence[Finding], n_tensors: int, n_suppressed: int) -> str:
    """Return the sentence that a report leads with."""
    if found:
        return found[0].sentence
    if n_tensors == 0:
        return "there is no tensor to look at"
    suppressed = f" ({n_suppressed:,} are bad on purpose)" if n_suppressed else ""
    return f"nothing bad in {counted(n_tensors, 'tensor')}{suppressed}"
