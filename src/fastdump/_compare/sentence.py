"""What a comparison says, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastdump._printable import printable
from fastdump._quantities import counted

if TYPE_CHECKING:
    from fastdump._compare.operators import DivergentOperator
    from fastdump._compare.schema import ComparisonRow
    from fastdump._compare.table import ComparisonTable

_NO_PARTNER = ("only_in_a", "only_in_b")


def sentence(table: ComparisonTable) -> str:
    """Return one sentence that a person can act on."""
    summary = table.summary()
    if not summary["compared"]:
        why = counted(summary["pairs"], "pair") + " found, but none could be compared"
        if not summary["pairs"]:
            why = "no tensor of a has a partner in b"
        return "; ".join(["Nothing was compared: " + why, *_notes(table)]) + "."
    first = table.first_divergence
    parts = [_agreement(summary["verdict"]) if first is None else _divergence(table, first)]
    unpaired = [
        f"{counted(n, 'tensor')} only in {status[-1]}"
        for status in _NO_PARTNER
        if (n := summary["status"].get(status, 0))
    ]
    damaged = summary["pairs"] - summary["status"].get("ok", 0)
    if damaged:
        parts.append(f"{counted(damaged, 'pair')} could not be compared or not wholly")
    return "; ".join([*parts, *unpaired]) + "."


def _notes(table: ComparisonTable) -> Iterator[str]:
    notes = table.head.get("notes")
    if isinstance(notes, list):
        yield from map(str, notes)


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


def _divergence(table: ComparisonTable, first: DivergentOperator) -> str:
    row = table[first.row]
    n_later = len(table.divergences()) - 1
    n_here = sum(op.cause == "here" for op in table.divergences()) - (first.cause == "here")
    sentence = (
        f"{place_text(first)} is the first operator to diverge, {_CAUSES[first.cause]}: "
        f"{first.tensor} has {measure_text(row)}"
    )
    if not n_later:
        return f"{sentence}; no other operator diverges"
    later = f"{sentence}; {counted(n_later, 'later operator')} diverge{'s' if n_later == 1 else ''}"
    return f"{later}, {n_here:,} of their own" if n_here else later


_CAUSES = {
    "here": "although its inputs agree",
    "inherited": "and its inputs do already, which nothing compared before explains",
    "unknown": "of which not all inputs were compared",
    "input": "by an input, which nothing compared before explains",
}


def place_text(op: DivergentOperator | ComparisonRow) -> str:
    """Return ``Rank 1, step 1: Add layers.0/Add``."""
    where = [f"{n} {v}" for n, v in (("rank", op.rank), ("step", op.step)) if v is not None]
    name = printable(op.op_name or op.path_a or "")
    operator = f"{printable(op.op_type or '')} {name}".strip()
    return f"{', '.join(where).capitalize()}: {operator}" if where else operator


def measure_text(row: ComparisonRow) -> str:
    """Return the numbers that tell how far a pair is apart."""
    if row.statistics_difference is not None or row.bit_equal is None:
        difference = row.statistics_difference
        texts = [] if difference is None else [f"statistics differ by {difference:.3g}"]
        if row.only_a_bad or row.only_b_bad:
            texts += _bad(row)
        return ", ".join(texts) or "numbers of NaN and Inf differ"
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
