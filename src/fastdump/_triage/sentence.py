"""One sentence for each finding, with what a person needs to act on it."""

from __future__ import annotations

from collections.abc import Sequence

from fastdump._printable import printable
from fastdump._quantities import counted, is_integer, ranges_text, shape_text, value_text
from fastdump._schema import StatsRow
from fastdump._severity import LARGEST_FINITE
from fastdump._triage import findings
from fastdump._triage.findings import Jump, Kind
from fastdump._triage.report import Finding, OperatorRun, Origin

_MAX_INPUTS = 3


def place_text(operator: OperatorRun) -> str:
    """Return ``rank 1, step 3``, as far as it is known."""
    names = ("rank", "step") if operator.rank is not None else ("device", "step")
    where = [(name, getattr(operator, name)) for name in names]
    return ", ".join(f"{name} {number}" for name, number in where if number is not None)


def operator_text(operator: OperatorRun) -> str:
    """Return type and name."""
    texts = (operator.op_type, operator.op_name)
    named = " ".join(printable(text) for text in texts if text)
    return named or ", ".join(map(printable, operator.paths)) or "an operator without a name"


def bad_text(row: StatsRow) -> str:
    """Return ``3 NaN, 1 +Inf``; in words where they were not counted."""
    counts = (("NaN", row.nan), ("+Inf", row.pos_inf), ("-Inf", row.neg_inf))
    told = [f"{number:,} {name}" for name, number in counts if number]
    return ", ".join(told) or "NaN or Inf"


def tensor_text(row: StatsRow) -> str:
    """Return ``output.0 (float16 2x8, from -3 to 4)``."""
    facts = " ".join(filter(None, (printable(row.dtype or ""), shape_text(row.shape))))
    low, high = (value_text(v, integer=is_integer(row.dtype)) for v in (row.min, row.max))
    finite = "the finite ones " if row.nan or row.pos_inf or row.neg_inf else ""
    if low and high:
        facts += f", {finite}from {low} to {high}" if low != high else f", {finite}all {low}"
    if row.status not in ("ok", "unsupported"):
        facts += f", {row.status}"
    return f"{row.io}.{row.index} ({facts})" if facts else f"{row.io}.{row.index}"


def origin_sentence(kind: Kind, origin: Origin, *, is_first: bool, jump: Jump | None) -> str:
    """Return the sentence of a finding that has an origin.

    Parameters
    ----------
    kind
        Of the finding.
    origin
        Where it began.
    is_first
        Whether no NaN or Inf of the dump was before it.
    jump
        For "norm_jump".
    """
    where = place_text(origin.operator)
    sentence = f"{where}: " if where else ""
    sentence += f"{operator_text(origin.operator)} {_happened(kind, origin, is_first, jump)}"
    if origin.cause:
        sentence += f": {origin.cause}"
    if origin.operator.paths:
        files = ", ".join(map(printable, dict.fromkeys(origin.operator.paths)))
        sentence += f"; file{'s'[: len(set(origin.operator.paths)) > 1]} {files}"
    return sentence


def _happened(kind: Kind, origin: Origin, is_first: bool, jump: Jump | None) -> str:
    tensor = origin.tensor
    if origin.verdict == "missing":
        bad = _bad_words(kind, tensor, jump)
        return f"is not in the dump, and {origin.reason}: {bad} in {tensor_text(tensor)}"
    if origin.verdict == "overwritten":
        bad = _bad_words(kind, tensor, jump)
        return f"read {bad} in {tensor_text(tensor)}, but {origin.reason}: something overwrote it"
    if origin.verdict == "data":
        verb = "brought in" if tensor.io == "output" else "read"
        words = f"{verb} {_bad_words(kind, tensor, jump)} in {tensor_text(tensor)}"
        return words if tensor.io == "output" else f"{words}, and {origin.reason}"
    shown = f"{_bad_words(kind, tensor, jump)} in {tensor_text(tensor)}"
    if tensor.path not in origin.operator.paths:
        # Of the operator that reads it.
        return f"made {shown}, as far as is known: {origin.reason}"
    if tensor.io == "input":
        if origin.verdict == "unknown":
            return f"is the first that is known to read {shown}: {origin.reason}"
        return f"read {shown}; {origin.reason}"
    first = "the first bad values, " if is_first else ""
    made = f"made {first}{shown}"
    if origin.verdict == "unknown":
        clean = origin.last_clean
        before = f"; {operator_text(clean)} before it was clean" if clean else ""
        return f"{made}, as far as is known: {origin.reason}{before}"
    return made + _inputs_words(kind, origin.inputs)


def _bad_words(kind: Kind, row: StatsRow, jump: Jump | None) -> str:
    largest = LARGEST_FINITE.get(row.dtype or "", 0.0)
    reach = max(abs(row.max or 0.0), abs(row.min or 0.0))
    if kind is findings.SATURATED:
        number = "values" if row.saturated is None else counted(row.saturated, "value")
        of = "" if row.saturated is None or row.count is None else f" of {row.count:,}"
        return f"{number}{of} at the limit of {row.dtype}, {largest:.5g},"
    if kind is findings.ZEROS:
        return "only zeros"
    if kind is findings.HEADROOM:
        return f"values of {reach / largest:.0%} of what {row.dtype} holds"
    if kind is findings.NORM_JUMP:
        assert jump is not None
        is_up = jump.ratio > 1
        times, compared = (jump.ratio, "larger") if is_up else (1 / jump.ratio, "smaller")
        return f"values {times:,.0f} times {compared} than {jump.usual}"
    if kind is findings.REPLICAS_DIFFER:
        return "values that differ from those of the other ranks"
    return bad_text(row)


def _inputs_words(kind: Kind, inputs: Sequence[StatsRow]) -> str:
    if not inputs:
        return " without any input"
    clean = {findings.ZEROS: "that are not", findings.NORM_JUMP: "of the usual size"}
    adjective = clean.get(kind, "that are clean")
    if kind in (findings.INF, findings.NAN) and not any(row.neg_inf for row in inputs):
        adjective = "that are finite"
    shown = ", ".join(tensor_text(row) for row in inputs[:_MAX_INPUTS])
    more = f" and {len(inputs) - _MAX_INPUTS} more" if len(inputs) > _MAX_INPUTS else ""
    return f" from inputs {adjective}: {shown}{more}"


def also_text(also: Sequence[OperatorRun]) -> str:
    """Return ``also on ranks 2-3, in steps 4-9``: where else a finding was made."""
    ranks = sorted({run.rank for run in also if run.rank is not None})
    steps = sorted({run.step for run in also if run.step is not None})
    parts = []
    if ranks:
        parts.append(f"rank{'s'[: len(ranks) > 1]} {ranges_text(ranks)}")
    if steps:
        parts.append(f"step{'s'[: len(steps) > 1]} {ranges_text(steps)}")
    return f"{counted(len(also), 'more time')} ({', '.join(parts)})" if parts else ""


def report_sentence(found: Sequence[Finding], n_tensors: int, n_suppressed: int) -> str:
    """Return the sentence that a report leads with."""
    if found:
        return found[0].sentence
    if n_tensors == 0:
        return "there is no tensor to look at"
    suppressed = f" ({n_suppressed:,} are bad on purpose)" if n_suppressed else ""
    return f"nothing bad in {counted(n_tensors, 'tensor')}{suppressed}"
