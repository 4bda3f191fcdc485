"""What a person has to know first of overflow records: the first overflow on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fastdump._array.elements import LARGEST_FINITE
from fastdump._op_name import in_layer
from fastdump._overflow.records import (
    OverflowFinding,
    OverflowOperator,
    OverflowRecord,
    OverflowUnit,
)
from fastdump._table.row import StatsRow
from fastdump._words import catalogue as say
from fastdump._words.answer import Answer
from fastdump._words.enumeration import clauses
from fastdump._words.places import (
    bad_text,
    index_text,
    operator_text,
    ranks_and_steps_text,
    where_text,
)
from fastdump._words.quantities import number_text
from fastdump._words.shown import answer_about
from fastdump._words.styles import BAD, DOUBTFUL, GOOD


def answer_of(
    records: Sequence[OverflowRecord],
    findings: Sequence[OverflowFinding],
    notes: Sequence[str],
    next_command: str,
) -> Answer:
    """Return the answer to what overflow records say.

    Parameters
    ----------
    records, findings, notes
        As in `OverflowReport`.
    next_command
        The command that shows the operator of the first overflow, "" if there is none.
    """
    n_read = sum(bool(record.units) for record in records)
    if findings:
        return Answer(
            _headline(findings[0]), BAD, tuple(_facts(findings)), next_command, tuple(notes)
        )
    if not records:
        return Answer(say.NO_RECORD(), GOOD, remarks=tuple(notes))
    headline = say.NO_OVERFLOW(records=say.RECORDS(n_read))
    return Answer(headline, GOOD if n_read else DOUBTFUL, remarks=tuple(notes))


def finding_sentence(record: OverflowRecord, unit: OverflowUnit) -> str:
    """Return where a unit overflowed, what its status means and how the tensors look."""
    return finding_answer(OverflowFinding("", record, unit)).sentence


def report_sentence(records: Sequence[OverflowRecord], findings: Sequence[OverflowFinding]) -> str:
    """Return the sentence that leads the report: the first overflow, or that there is none."""
    if findings:
        return findings[0].sentence
    answer = answer_of(records, (), (), "").headline
    n_unread = sum(not record.units for record in records)
    return clauses([answer, say.RECORDS_UNREAD(n_unread)]) if n_unread else answer


@answer_about.register
def finding_answer(finding: OverflowFinding) -> Answer:
    """Return the answer that a finding is alone."""
    return answer_of((), [finding], (), "")


def _headline(finding: OverflowFinding) -> str:
    unit, operator = finding.unit, finding.unit.operator
    if operator is None:
        headline = say.UNKNOWN_OVERFLOWED(
            task=str(unit.fields["task_id"]), stream=str(unit.fields["stream_id"]), unit=unit.unit
        )
    else:
        name = in_layer(operator.op_name) if operator.op_name else operator.op_type or "?"
        happened = say.MAY_HAVE_OVERFLOWED if unit.join == "ambiguous" else say.OVERFLOWED
        headline = happened(operator=name, unit=unit.unit)
    place = where_text(rank=finding.rank, step=finding.step) or finding.path
    return say.AT_PLACE(place=place, answer=headline)


def _facts(findings: Sequence[OverflowFinding]) -> Iterator[tuple[str, str]]:
    first = findings[0]
    unit, operator = first.unit, first.unit.operator
    if operator is not None:
        yield say.ABOUT_OPERATOR(), operator_text(operator.op_type, operator.op_name)
    masks = " + ".join(f"{bit.mask:#x}" for bit in unit.bits)
    status = say.STATUS(meaning=unit.meaning, masks=masks) if masks else unit.meaning
    yield say.ABOUT_STATUS(), status
    if operator is None:
        yield say.ABOUT_WHY(), unit.join_note
    else:
        yield say.ABOUT_INPUTS(), _side(operator, "input")
        yield say.ABOUT_OUTPUTS(), _side(operator, "output")
    if len(findings) > 1:
        yield say.ABOUT_REACH(), _reach(findings)


def _side(operator: OverflowOperator, io: str) -> str:
    """Return how the inputs or the outputs of an operator look."""
    rows = [row for row in operator.tensors if row.io == io]
    if not rows:
        return say.NOT_DUMPED()
    odd = [text for row in rows if (text := next(oddities_of(row), ""))]
    if odd:
        first, n_more = odd[0], len(odd) - 1
        if not n_more:
            return first
        return say.AND_MORE_TENSORS(tensor=first, tensors=say.MORE_TENSORS(n_more))
    return _finite(rows)


def oddities_of(row: StatsRow) -> Iterator[str]:
    """Yield what is odd about one tensor, the worst first."""
    tensor = row.tensor_name
    counts = bad_text(row.nan, row.pos_inf, row.neg_inf)
    if counts:
        where = index_text(row.first_bad, row.shape)
        if where:
            yield say.TENSOR_BAD_AT(tensor=tensor, counts=counts, where=where)
        else:
            yield say.TENSOR_BAD(tensor=tensor, counts=counts)
    # Integers reach their limits without any overflow.
    if row.saturated and row.dtype in LARGEST_FINITE:
        yield say.TENSOR_SATURATED(tensor=tensor, n=row.saturated, dtype=row.dtype)
    if row.status != "ok":
        yield say.TENSOR_STATUS(tensor=tensor, status=row.status)


def _finite(rows: Sequence[StatsRow]) -> str:
    """Return how near finite values come to the limit of their type."""
    reaches = []
    for row in rows:
        limit = LARGEST_FINITE.get(row.dtype or "")
        if limit is not None and row.max is not None and row.min is not None:
            reach = max(abs(row.max), abs(row.min))
            reaches.append((reach / limit, reach, limit, row.dtype or ""))
    if not reaches:
        return say.FINITE()
    _, reach, limit, dtype = max(reaches)
    return say.FINITE_UP_TO(reach=number_text(reach), dtype=dtype, largest=number_text(limit))


def _reach(findings: Sequence[OverflowFinding]) -> str:
    """Return how often operators overflowed, and where; repeats of one are counted once."""
    operators = {
        (operator.op_type, operator.op_name)
        for finding in findings
        if (operator := finding.unit.operator) is not None
    }
    overflows, places = say.OVERFLOWS(len(findings)), ranks_and_steps_text(findings)
    if not operators or not places:
        return overflows
    return say.OVERFLOWS_REACH(
        overflows=overflows, operators=say.OPERATORS(len(operators)), places=places
    )
