"""The numbers of a comparison, and what else there is to say of them."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from fastdump._compare.schema import ComparisonRow

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
