"""What a person has to know first of a comparison: where two runs part, on one screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fastdump._compare.limits import (
    NO_PARTNER,
    ComparisonSummary,
    Explained,
    RetypedOperators,
)
from fastdump._compare.operators import DivergentOperator
from fastdump._compare.schema import ComparisonRow
from fastdump._op_name import in_layer
from fastdump._words import catalogue as say
from fastdump._words.answer import Answer
from fastdump._words.enumeration import enumerated
from fastdump._words.places import operator_text, ranks_and_steps_text, where_text
from fastdump._words.quantities import number_text
from fastdump._words.sentence import Filled, Sentence
from fastdump._words.shown import answer_about
from fastdump._words.styles import BAD, DOUBTFUL, GOOD

_OWN = ("here", "replaced", "parameter")
_NOT_COMPARED = "not_compared"


def answer_of(
    summary: ComparisonSummary,
    divergences: Sequence[DivergentOperator],
    first: ComparisonRow | None,
    notes: Sequence[str],
    *,
    explained: Explained | None,
    retyped: RetypedOperators | None,
    casts: Mapping[str, int],
    next_command: str,
) -> Answer:
    """Return the answer of a comparison.

    Parameters
    ----------
    summary
        The numbers.
    divergences
        The diverging operators, in the order of execution.
    first
        The row of the first of them.
    notes
        Remarks on what limits the answer.
    explained
        What precision explains, None if there is nothing.
    retyped
        What computes in another type in the other run, None if there is nothing.
    casts
        By status, how many tensors without a partner are of casts and copies.
    next_command
        The command that shows where the runs part, "" if there is none.
    """
    remarks = [*notes, *_remarks(summary, retyped, casts)]
    facts: list[tuple[str, str]] = []
    headline: str
    if not summary["compared"]:
        reason = say.PAIRS_NOT_COMPARED if summary["pairs"] else say.NO_PAIRS
        headline, style = reason(pairs=say.PAIRS(summary["pairs"])), DOUBTFUL
    elif first is None:
        headline, style = _agreement(summary["verdict"], explained), GOOD
        if explained is not None:
            facts += _explained_facts(explained)
    else:
        headline, style = _headline(divergences[0], say.RUNS_PART), BAD
        facts += _facts(divergences, first)
    if len(summary["verdict"]) > 1:
        remarks.insert(0, _pairs(summary))
    if summary["status"].get(_NOT_COMPARED):
        headline, style = say.INTERRUPTED(answer=headline), DOUBTFUL
    return Answer(headline, style, tuple(facts), next_command, tuple(remarks))


@answer_about.register
def divergence_answer(one: DivergentOperator) -> Answer:
    """Return the answer that a divergent operator is alone."""
    operator = operator_text(one.op_type, one.op_name or one.path_a)
    facts = [
        (say.ABOUT_OPERATOR(), say.OPERATOR_TENSOR(operator=operator, tensor=one.tensor)),
        (say.ABOUT_WHY(), _why(one)),
    ]
    if one.added_error is not None:
        facts.append((say.ABOUT_ADDED_ERROR(), number_text(one.added_error)))
    return Answer(_headline(one, say.OPERATOR_DIVERGES), BAD, tuple(facts))


def _headline(one: DivergentOperator, happened: Sentence) -> str:
    name = in_layer(one.op_name) if one.op_name else one.op_type or one.path_a or ""
    headline = happened(operator=name)
    place = where_text(rank=one.rank, step=one.step)
    return say.AT_PLACE(place=place, answer=headline) if place else headline


def _facts(
    divergences: Sequence[DivergentOperator], row: ComparisonRow
) -> Iterator[tuple[str, str]]:
    first, *later = divergences
    operator = operator_text(first.op_type, first.op_name or first.path_a)
    yield say.ABOUT_OPERATOR(), say.OPERATOR_TENSOR(operator=operator, tensor=first.tensor)
    yield say.ABOUT_WHAT(), _distance(row) or _measure_text(row)
    yield say.ABOUT_WHY(), _why(first)
    name = _identity(first)
    yield say.ABOUT_REACH(), _reach([other for other in later if _identity(other) != name])
    again = [other for other in later if _identity(other) == name]
    if again:
        times, places = say.TIMES(len(again)), ranks_and_steps_text(again)
        yield say.ABOUT_REPEATS(), say.AGAIN(times=times, places=places) if places else times


def _distance(row: ComparisonRow) -> str:
    """Return how far two tensors are apart, "" if only their statistics were compared."""
    if row.relative_euclidean_distance is None or not row.count:
        return ""
    n_bad = (row.only_a_bad or 0) + (row.only_b_bad or 0)
    if n_bad:
        return say.BAD_ON_ONE_SIDE(n=n_bad, size=row.count)
    return say.DISTANCE(
        distance=f"{row.relative_euclidean_distance:.3g}",
        cosine="-" if row.cosine_similarity is None else f"{row.cosine_similarity:.6g}",
        n=row.mismatched or 0,
        size=row.count,
    )


def _measure_text(row: ComparisonRow) -> str:
    """Return the numbers that tell how far the tensors of a pair are apart."""
    if row.statistics_difference is not None or row.bit_equal is None:
        difference = row.statistics_difference
        texts = []
        if difference is not None:
            texts.append(say.STATISTICS_DIFFER(difference=f"{difference:.3g}"))
        return enumerated([*texts, *_bad_on_one_side(row)]) or say.BAD_COUNTS_DIFFER()
    texts = _bad_on_one_side(row)
    if row.relative_euclidean_distance is not None:
        distance = f"{row.relative_euclidean_distance:.3g}"
        texts.append(say.RELATIVE_DISTANCE(distance=distance))
    if row.cosine_similarity is not None:
        texts.append(say.COSINE(cosine=f"{row.cosine_similarity:.6g}"))
    if row.mismatched is not None and row.count:
        texts.append(say.MISMATCHES(n=row.mismatched, size=row.count))
    return enumerated(texts)


def _bad_on_one_side(row: ComparisonRow) -> list[Filled]:
    bad = ((say.BAD_ONLY_IN_A, row.only_a_bad), (say.BAD_ONLY_IN_B, row.only_b_bad))
    return [only(n=n) for only, n in bad if n]


def _identity(operator: DivergentOperator) -> tuple[str | None, str | None]:
    return operator.op_type, operator.op_name or operator.path_a


def _why(first: DivergentOperator) -> str:
    suspects = [name for name in (first.suspect_a, first.suspect_b) if name]
    if first.cause == "replaced":
        return say.REPLACED(operator=suspects[-1])
    if first.cause == "unpaired":
        made = {"operator": suspects[0], "other": suspects[-1]}
        if len(suspects) == 2:
            return say.UNPAIRED(**made)
        return (say.UNPAIRED_IN_A if first.suspect_a else say.UNPAIRED_IN_B)(operator=suspects[0])
    if first.cause == "rewired":
        return say.REWIRED(operator=suspects[0], other=suspects[1])
    return _CAUSES[first.cause]()


_CAUSES = {
    "here": say.DIVERGES_BY_ITSELF,
    "parameter": say.PARAMETER_DIFFERS,
    "inherited": say.INPUTS_DIVERGE,
    "unknown": say.INPUTS_NOT_COMPARED,
    "input": say.INPUT_DIVERGES,
}


def _reach(later: Sequence[DivergentOperator]) -> str:
    """Return how many other operators diverge, each counted once over ranks and steps."""
    operators = {_identity(operator) for operator in later}
    own = {_identity(operator) for operator in later if operator.cause in _OWN}
    if not operators:
        return say.NO_OTHER_DIVERGES()
    counted = say.OTHER_OPERATORS(len(operators))
    if not own:
        return say.OTHERS_DIVERGE(operators=counted)
    return say.OTHERS_DIVERGE_THEMSELVES(operators=counted, own=len(own))


def _agreement(verdict: Mapping[str, int], explained: Explained | None) -> str:
    n_pairs = sum(verdict.values())
    pairs = say.PAIRS(n_pairs)
    if explained is not None:
        return say.AGREE_BUT_FOR_PRECISION(pairs=pairs, dtype=explained.dtype)
    if verdict.get("equal", 0) == n_pairs:
        return say.BIT_EQUAL(pairs=pairs)
    if verdict.get("similar"):
        return say.STATISTICS_AGREE(pairs=pairs)
    return say.AGREE(pairs=pairs)


def _explained_facts(explained: Explained) -> Iterator[tuple[str, str]]:
    row = explained.row
    operator = operator_text(row.op_type, row.op_name or row.path_a)
    place = where_text(rank=row.rank, step=row.step)
    largest = say.LARGEST_ADDED_ERROR(
        error=number_text(explained.added_error), operator=operator, tensor=row.tensor_name
    )
    yield say.ABOUT_LARGEST(), say.AT_PLACE(place=place, answer=largest) if place else largest


def _pairs(summary: ComparisonSummary) -> str:
    """Return how many pairs were compared, and with which verdicts."""
    verdicts = (_VERDICTS[name](n=n) for name, n in summary["verdict"].items())
    return say.COMPARED(pairs=say.PAIRS(summary["compared"]), verdicts=enumerated(verdicts))


_VERDICTS = {
    "equal": say.N_EQUAL,
    "close": say.N_CLOSE,
    "similar": say.N_SIMILAR,
    "explained": say.N_EXPLAINED,
    "diverges": say.N_DIVERGE,
}


def _remarks(
    summary: ComparisonSummary, retyped: RetypedOperators | None, casts: Mapping[str, int]
) -> Iterator[str]:
    if retyped is not None:
        row = retyped.row
        yield say.RETYPED(
            operators=say.OPERATORS(retyped.n_operators),
            dtype=row.dtype_a or "",
            other=row.dtype_b or "",
        )
    for status, n in summary["status"].items():
        if status == _NOT_COMPARED:
            yield say.NOT_REACHED(pairs=say.PAIRS(n))
        elif status not in ("ok", *NO_PARTNER):
            yield say.OF_STATUS(tensors=say.TENSORS(n), status=status)
    for status, only, only_casts in zip(NO_PARTNER, _ONLY, _ONLY_CASTS, strict=True):
        n_casts = casts.get(status, 0)
        n_others = summary["status"].get(status, 0) - n_casts
        if n_others:
            yield only(tensors=say.TENSORS(n_others))
        if n_casts:
            yield only_casts(tensors=say.TENSORS(n_casts))


_ONLY = (say.ONLY_IN_A, say.ONLY_IN_B)
_ONLY_CASTS = (say.ONLY_CASTS_IN_A, say.ONLY_CASTS_IN_B)
