"""The result of a comparison as one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from fastdump._compare.operators import DivergentOperator
from fastdump._compare.schema import ComparisonRow
from fastdump._words.places import operator_text, where_text
from fastdump._words.quantities import counted

_NO_PARTNER = ("only_in_a", "only_in_b")


class ComparisonSummary(TypedDict):
    """The dict that `ComparisonTable.summary` returns."""

    rows: int
    pairs: int
    compared: int
    verdict: dict[str, int]
    paired_by: dict[str, int]
    status: dict[str, int]


def sentence_of(
    summary: ComparisonSummary,
    divergences: Sequence[DivergentOperator],
    first: ComparisonRow | None,
    notes: Sequence[str],
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
    """
    if not summary["compared"]:
        why = counted(summary["pairs"], "pair") + " found, but none could be compared"
        if not summary["pairs"]:
            why = "no tensor of a has a partner in b"
        return "; ".join(["Nothing was compared: " + why, *notes]) + "."
    parts = [_agreement(summary["verdict"]) if first is None else _divergence(divergences, first)]
    unpaired = [
        f"{counted(n, 'tensor')} only in {status[-1]}"
        for status in _NO_PARTNER
        if (n := summary["status"].get(status, 0))
    ]
    damaged = summary["pairs"] - summary["status"].get("ok", 0)
    if damaged:
        parts.append(f"{counted(damaged, 'pair')} could not be fully compared")
    return "; ".join([*parts, *unpaired]) + "."


def _agreement(verdict: dict[str, int]) -> str:
    n = sum(verdict.values())
    equal, similar = verdict.get("equal", 0), verdict.get("similar", 0)
    if equal == n:
        return f"No divergence: all {counted(n, 'pair')} {'is' if n == 1 else 'are'} bit-equal"
    if similar:
        return f"Statistics of {counted(n, 'pair')} show no divergence; no element was compared"
    return (
        f"No divergence: {counted(n, 'pair')} agree within tolerance, {equal:,} of them bit-equal"
    )


def _divergence(divergences: Sequence[DivergentOperator], row: ComparisonRow) -> str:
    first, *later = divergences
    n_here = sum(op.cause == "here" for op in later)
    sentence = (
        f"{_place_text(first)} is the first operator to diverge, {_CAUSES[first.cause]}: "
        f"{first.tensor} has {measure_text(row)}"
    )
    if not later:
        return f"{sentence}; no other operator diverges"
    verb = "diverges" if len(later) == 1 else "diverge"
    sentence += f"; {counted(len(later), 'later operator')} {verb}"
    return f"{sentence}, {n_here:,} of their own" if n_here else sentence


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
        texts = [] if difference is None else [f"statistics that differ by {difference:.3g}"]
        if row.only_a_bad or row.only_b_bad:
            texts += _bad(row)
        return ", ".join(texts) or "other numbers of NaN and Inf"
    texts = _bad(row)
    if row.relative_euclidean_distance is not None:
        texts.append(f"relative distance {row.relative_euclidean_distance:.3g}")
    if row.cosine_similarity is not None:
        texts.append(f"cosine {row.cosine_similarity:.6g}")
    if row.mismatched is not None and row.count:
        texts.append(f"{row.mismatched:,} of {row.count:,} elements mismatch")
    return ", ".join(texts)


def _bad(row: ComparisonRow) -> list[str]:
    bad = (("a", row.only_a_bad), ("b", row.only_b_bad))
    return [f"{n:,} NaN or Inf only in {side}" for side, n in bad if n]
