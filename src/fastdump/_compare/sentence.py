"""The result of a comparison as one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

from fastdump._compare.operators import DivergentOperator
from fastdump._compare.schema import ComparisonRow
from fastdump._words import catalogue as say
from fastdump._words.enumeration import enumerated
from fastdump._words.places import operator_text, where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import counted
from fastdump._words.sentence import Filled

NO_PARTNER = ("only_in_a", "only_in_b")


class ComparisonSummary(TypedDict):
    """The dict that `ComparisonTable.summary` returns."""

    rows: int
    pairs: int
    compared: int
    verdict: dict[str, int]
    paired_by: dict[str, int]
    status: dict[str, int]


class Explained(NamedTuple):
    """What precision explains.

    Attributes
    ----------
    dtype
        The coarsest element type that took part.
    row
        The output that adds most to the error of its operator's inputs.
    added_error
        How much that is.
    """

    dtype: str
    row: ComparisonRow
    added_error: float


class RetypedOperators(NamedTuple):
    """Operators that compute in another type in the other run, although most do not.

    Attributes
    ----------
    row
        The first output of them.
    n_operators
        How many there are.
    """

    row: ComparisonRow
    n_operators: int


def sentence_of(
    summary: ComparisonSummary,
    divergences: Sequence[DivergentOperator],
    first: ComparisonRow | None,
    notes: Sequence[str],
    *,
    explained: Explained | None,
    retyped: RetypedOperators | None,
    casts: Mapping[str, int],
) -> str:
    """Return one sentence that a person can act on.

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
    """
    if not summary["compared"]:
        why = counted(summary["pairs"], "pair") + " found, but none could be compared"
        if not summary["pairs"]:
            why = "no tensor of a has a partner in b"
        return "; ".join(["Nothing was compared: " + why, *notes]) + "."
    parts = [
        _agreement(summary["verdict"], explained)
        if first is None
        else _divergence(divergences, first)
    ]
    if retyped is not None:
        parts.append(_retyped(retyped))
    unpaired = []
    for status in NO_PARTNER:
        n_casts = casts.get(status, 0)
        for n, what in ((summary["status"].get(status, 0) - n_casts, ""), (n_casts, " of casts")):
            if n:
                unpaired.append(f"{counted(n, 'tensor')}{what} only in {status[-1]}")
    damaged = summary["pairs"] - summary["status"].get("ok", 0)
    if damaged:
        parts.append(f"{counted(damaged, 'pair')} could not be fully compared")
    return "; ".join([*parts, *unpaired]) + "."


def _agreement(verdict: dict[str, int], explained: Explained | None) -> str:
    n = sum(verdict.values())
    equal, similar = verdict.get("equal", 0), verdict.get("similar", 0)
    if explained is not None:
        n_beyond, row = verdict.get("explained", 0), explained.row
        operator = operator_text(row.op_type, row.op_name or row.path_a)
        where = where_text(rank=row.rank, step=row.step)
        place = f"{where}: {operator}" if where else operator
        return (
            f"The runs agree within what {explained.dtype} explains: {counted(n, 'pair')}, "
            f"{n_beyond:,} of them beyond the tolerance; the largest added error is "
            f"{explained.added_error:.3g}, in {row.tensor_name} of {place}"
        )
    if equal == n:
        return f"No divergence: all {counted(n, 'pair')} {'is' if n == 1 else 'are'} bit-equal"
    if similar:
        return f"Statistics of {counted(n, 'pair')} show no divergence; no element was compared"
    return (
        f"No divergence: {counted(n, 'pair')} agree within tolerance, {equal:,} of them bit-equal"
    )


def _retyped(operators: RetypedOperators) -> str:
    first, n = operators
    operator = operator_text(first.op_type, first.op_name or first.path_a)
    verb = "computes" if n == 1 else "compute"
    return (
        f"{counted(n, 'operator')} {verb} in another type, first {operator}: {first.dtype_a} in a, "
        f"{first.dtype_b} in b"
    )


def _divergence(divergences: Sequence[DivergentOperator], row: ComparisonRow) -> str:
    first, *later = divergences
    n_here = sum(op.cause in ("here", "replaced", "parameter") for op in later)
    sentence = _first_text(first, row)
    if not later:
        return f"{sentence}; no other operator diverges"
    verb = "diverges" if len(later) == 1 else "diverge"
    sentence += f"; {counted(len(later), 'later operator')} {verb}"
    return f"{sentence}, {n_here:,} of their own" if n_here else sentence


def _first_text(first: DivergentOperator, row: ComparisonRow) -> str:
    """Return what the first operator that diverges is, why, and how far it is off."""
    place, measured = _place_text(first), f"{first.tensor} has {measure_text(row)}"
    suspects = [printable(name) for name in (first.suspect_a, first.suspect_b) if name]
    if first.cause == "replaced":
        return f"{place} of a has {suspects[-1]} of b in its place: its inputs agree, {measured}"
    if first.cause == "parameter":
        return f"{place} reads a parameter that differs, and its other inputs agree: {measured}"
    if first.cause == "unpaired":
        side = "both sides have" if len(suspects) == 2 else f"only {_side(first)} has"
        made = " and ".join(suspects)
        return f"{place} reads what {made}, which {side} there, made: {measured}"
    if first.cause == "rewired":
        return f"{place} reads the output of {suspects[0]} in a, of {suspects[1]} in b: {measured}"
    return f"{place} is the first operator to diverge, {_CAUSES[first.cause]}: {measured}"


def _side(op: DivergentOperator) -> str:
    return "a" if op.suspect_a else "b"


_CAUSES = {
    "here": "although its inputs agree",
    "inherited": "and its inputs do already, which nothing compared before explains",
    "unknown": "of which not all inputs were compared",
    "input": "by an input, which nothing compared before explains",
}


def _place_text(op: DivergentOperator) -> str:
    """Return ``Rank 1, step 1: Add layers.0/Add``."""
    where = where_text(rank=op.rank, step=op.step).capitalize()
    operator = operator_text(op.op_type, op.op_name or op.path_a)
    return f"{where}: {operator}" if where else operator


def measure_text(row: ComparisonRow) -> str:
    """Return the numbers that tell how far the tensors of a pair are apart."""
    if row.statistics_difference is not None or row.bit_equal is None:
        difference = row.statistics_difference
        texts = []
        if difference is not None:
            texts.append(say.STATISTICS_DIFFER(difference=f"{difference:.3g}"))
        return enumerated([*texts, *_bad(row)]) or say.BAD_COUNTS_DIFFER()
    texts = _bad(row)
    if row.relative_euclidean_distance is not None:
        distance = f"{row.relative_euclidean_distance:.3g}"
        texts.append(say.RELATIVE_DISTANCE(distance=distance))
    if row.cosine_similarity is not None:
        texts.append(say.COSINE(cosine=f"{row.cosine_similarity:.6g}"))
    if row.mismatched is not None and row.count:
        texts.append(say.MISMATCHES(n=row.mismatched, size=row.count))
    return enumerated(texts)


def _bad(row: ComparisonRow) -> list[Filled]:
    bad = ((say.BAD_ONLY_IN_A, row.only_a_bad), (say.BAD_ONLY_IN_B, row.only_b_bad))
    return [only(n=n) for only, n in bad if n]
