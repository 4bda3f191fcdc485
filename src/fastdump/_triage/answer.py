"""What a person has to know first of a triage: the first finding on one screen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from fastdump._array.elements import LARGEST_FINITE
from fastdump._op_name import in_layer
from fastdump._table.row import StatsRow
from fastdump._triage.harmless import ABSORBED, MASK, PADDING, UNINITIALISED
from fastdump._triage.kinds import (
    HEADROOM,
    INF,
    NAN,
    NORM_JUMP,
    SATURATED,
    SMALLEST_NORMAL,
    ZEROS,
)
from fastdump._triage.records import Finding, OperatorRun, Origin, Suppressed
from fastdump._words import catalogue as say
from fastdump._words.answer import Answer
from fastdump._words.enumeration import clauses, enumerated
from fastdump._words.places import bad_text, operator_text, ranks_and_steps_text, where_text
from fastdump._words.quantities import (
    is_integer,
    number_text,
    shape_text,
    value_text,
)
from fastdump._words.shown import answer_about
from fastdump._words.styles import BAD, DOUBTFUL, GOOD

SEVERITY_STYLES = {"error": BAD, "warning": DOUBTFUL}

_BAD = (INF.name, NAN.name)
_HARMLESS = {
    MASK: say.MASKS,
    UNINITIALISED: say.UNINITIALISED_TENSORS,
    PADDING: say.BAD_PADDINGS,
    ABSORBED: say.ABSORBED_TENSORS,
}


def answer_of(
    findings: Sequence[Finding],
    suppressed: Sequence[Suppressed],
    notes: Sequence[str],
    *,
    n_tensors: int,
    is_whole: bool,
    next_command: str,
) -> Answer:
    """Return the answer of a triage.

    Parameters
    ----------
    findings, suppressed, notes
        As in `TriageReport`.
    n_tensors
        How many tensors were looked at.
    is_whole
        Whether that were all, and not those of an interrupted scan.
    next_command
        The command that shows where the first finding began, "" if there is none.
    """
    remarks = [*notes, *_suppressed_remarks(suppressed)]
    if not findings:
        headline, style = report_sentence(findings, n_tensors), GOOD
        facts: tuple[tuple[str, str], ...] = ()
    else:
        first, *others = findings
        headline, style = _headline(first), SEVERITY_STYLES[first.severity]
        facts = tuple(_facts(first))
        if others:
            remarks.insert(0, say.MORE_FINDINGS(len(others)))
    if not is_whole:
        headline, style = say.INTERRUPTED(answer=headline), DOUBTFUL
    return Answer(headline, style, facts, next_command, tuple(remarks))


@answer_about.register
def finding_answer(finding: Finding) -> Answer:
    """Return the answer that a finding is alone."""
    return answer_of([finding], (), (), n_tensors=1, is_whole=True, next_command="")


def summary_of(finding: Finding) -> str:
    """Return what is wrong and why, in one line."""
    origin = finding.origin
    if origin is None:
        return finding.sentence
    return clauses([_what(finding.kind, origin), _why(finding.kind, origin)])


def report_sentence(findings: Sequence[Finding], n_tensors: int) -> str:
    """Return the sentence of a report: that of the first finding, or that there is none."""
    if findings:
        return findings[0].sentence
    return say.NOTHING_BAD(tensors=say.TENSORS(n_tensors)) if n_tensors else say.NO_TENSOR()


def origin_sentence(kind: str, origin: Origin) -> str:
    """Return the sentence of a finding of some kind that began somewhere."""
    return Answer(_happened_where(kind, origin), facts=tuple(_facts_of(kind, origin))).sentence


def place_text(operator: OperatorRun) -> str:
    """Return ``rank 1, step 3``, as far as it is known."""
    if operator.rank is None:
        return where_text(device=operator.device, step=operator.step)
    return where_text(rank=operator.rank, step=operator.step)


def operator_words(operator: OperatorRun) -> str:
    """Return type and name, or the files."""
    named = operator_text(operator.op_type, operator.op_name)
    return named or enumerated(operator.paths) or say.WITHOUT_NAME()


def _headline(finding: Finding) -> str:
    origin = finding.origin
    return finding.sentence if origin is None else _happened_where(finding.kind, origin)


def _happened_where(kind: str, origin: Origin) -> str:
    operator = origin.operator
    name = in_layer(operator.op_name) if operator.op_name else operator.op_type
    headline = _happened(kind, origin, name or operator_words(operator))
    place = place_text(operator)
    return say.AT_PLACE(place=place, answer=headline) if place else headline


def _happened(kind: str, origin: Origin, operator: str) -> str:
    dtype = origin.tensor.dtype or ""
    if kind == SATURATED.name:
        return say.SATURATED(operator=operator, dtype=dtype)
    if kind == ZEROS.name:
        return say.ZEROS(operator=operator)
    if kind == NORM_JUMP.name:
        return say.JUMP(operator=operator)
    if kind == HEADROOM.name:
        return say.NEAR_LIMIT(operator=operator, dtype=dtype)
    if kind not in _BAD:
        return say.REPLICAS_DIFFER(operator=operator)
    bad = _names_of_bad(origin.tensor)
    if origin.verdict == "data":
        brings_in = origin.tensor.io == "output"
        happened = say.BAD_FROM_OUTSIDE if brings_in else say.BAD_WHEN_READ
        return happened(bad=bad, operator=operator)
    verdicts = {
        "unknown": say.BAD_OF_UNKNOWN_ORIGIN,
        "missing": say.BAD_OF_MISSING,
        "overwritten": say.BAD_BY_OVERWRITING,
    }
    return verdicts.get(origin.verdict, say.FIRST_BAD)(bad=bad, operator=operator)


def _facts(finding: Finding) -> Iterator[tuple[str, str]]:
    if finding.origin is None:
        return
    yield from _facts_of(finding.kind, finding.origin)
    if reach := _reach(finding):
        yield say.ABOUT_REACH(), reach
    if finding.also:
        yield say.ABOUT_REPEATS(), again_text(finding.also)


def _facts_of(kind: str, origin: Origin) -> Iterator[tuple[str, str]]:
    operator = operator_text(origin.operator.op_type, origin.operator.op_name)
    if operator:
        tensor = origin.tensor.tensor_name
        yield say.ABOUT_OPERATOR(), say.OPERATOR_TENSOR(operator=operator, tensor=tensor)
    yield say.ABOUT_WHAT(), _what(kind, origin)
    yield say.ABOUT_WHY(), _why(kind, origin)


def _near_limit(row: StatsRow, dtype: str, largest: float) -> str:
    """Tell how near the largest value is, and whether scaling down would cost the smallest."""
    share = f"{max(abs(row.max or 0.0), abs(row.min or 0.0)) / largest:.0%}"
    if row.min_abs is None or dtype != "float16":
        return say.VALUES_NEAR_LIMIT(share=share, dtype=dtype)
    least = number_text(row.min_abs)
    if row.min_abs < 2 * SMALLEST_NORMAL:
        return say.VALUES_MAY_NOT_BE_SCALED(share=share, dtype=dtype, least=least)
    factor = 2 ** math.floor(math.log2(row.min_abs / SMALLEST_NORMAL))
    return say.VALUES_MAY_BE_SCALED(share=share, dtype=dtype, factor=factor)


def _what(kind: str, origin: Origin) -> str:
    row, damage = origin.tensor, origin.damage
    dtype = row.dtype or ""
    largest = LARGEST_FINITE.get(dtype, 0.0)
    if kind == SATURATED.name and row.saturated is not None and row.count is not None:
        return say.VALUES_AT_LIMIT(
            n=row.saturated, size=row.count, dtype=dtype, largest=number_text(largest)
        )
    if kind == HEADROOM.name:
        return _near_limit(row, dtype, largest)
    if origin.jump is not None:
        ratio, usual = origin.jump
        if ratio > 1:
            return say.VALUES_LARGER(ratio=round(ratio), usual=usual)
        return say.VALUES_SMALLER(ratio=round(1 / ratio), usual=usual)
    if kind not in _BAD:
        low, high = (value_text(v, integer=is_integer(row.dtype)) for v in (row.min, row.max))
        return say.VALUES_BETWEEN(dtype=dtype, shape=shape_text(row.shape), low=low, high=high)
    counts = bad_text(row.nan, row.pos_inf, row.neg_inf)
    if not counts or row.count is None:
        bad = _names_of_bad(row)
        return say.VALUES_BAD(dtype=dtype, shape=shape_text(row.shape), bad=counts or bad)
    n_bad = sum(n or 0 for n in (row.nan, row.pos_inf, row.neg_inf))
    is_mixed = sum(bool(n) for n in (row.nan, row.pos_inf, row.neg_inf)) > 1
    places: dict[str, str | int] = {"n": n_bad, "size": row.count, "dtype": dtype}
    places |= {"counts": counts} if is_mixed else {"bad": _names_of_bad(row)}
    if damage is None:
        return (say.ELEMENTS_BAD_MIXED if is_mixed else say.ELEMENTS_BAD)(**places)
    at = say.ELEMENTS_BAD_MIXED_AT if is_mixed else say.ELEMENTS_BAD_AT
    return at(**places, where=damage.where)


def _why(kind: str, origin: Origin) -> str:
    return origin.cause or _inputs(kind, origin) or origin.reason


def _inputs(kind: str, origin: Origin) -> str:
    """Return how far finite inputs reach; "" if that explains nothing."""
    rows = origin.inputs
    if kind not in _BAD or origin.verdict != "origin" or not rows:
        return ""
    if any(row.nan or row.pos_inf or row.neg_inf for row in rows):
        return ""
    reach = max(max(abs(row.max or 0.0), abs(row.min or 0.0)) for row in rows)
    return say.FINITE_INPUTS(reach=number_text(reach))


def _reach(finding: Finding) -> str:
    n_operators = sum(on_rank.operators for on_rank in finding.infected)
    if not finding.infected:
        return ""
    if n_operators < 2 or not finding.chain:
        return say.ONLY_HERE()
    last = finding.chain[-1].operator
    places = {
        "operators": say.OPERATORS(n_operators),
        "ranks": say.RANKS(len(finding.infected)),
        "last": last.op_name or last.op_type or ", ".join(last.paths),
    }
    if not finding.received:
        return say.REACH(**places)
    sender = finding.received[0].operator
    return say.REACH_ACROSS(**places, sender=sender.op_name or sender.op_type or "")


def again_text(also: Sequence[OperatorRun]) -> str:
    """Return where else a finding was made: ``3 more times: ranks 2-3, steps 4-9``."""
    times, places = say.TIMES(len(also)), ranks_and_steps_text(also)
    return say.AGAIN(times=times, places=places) if places else times


def _suppressed_remarks(suppressed: Sequence[Suppressed]) -> Iterator[str]:
    number: Counter[str] = Counter()
    for one in suppressed:
        number[one.pattern] += one.tensors
    for pattern, n_tensors in number.items():
        yield say.NOT_FINDINGS(things=_HARMLESS[pattern](n_tensors))


def _names_of_bad(row: StatsRow) -> str:
    """Return ``NaN/+Inf``, the kinds of bad values that a tensor has."""
    counts = (("NaN", row.nan), ("+Inf", row.pos_inf), ("-Inf", row.neg_inf))
    return "/".join(name for name, number in counts if number) or say.NAN_OR_INF()
