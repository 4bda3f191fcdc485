"""Tolerances, within which two tensors count as close: by element type, or as the caller asks."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._compare.coded import Coded, coded_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Conditions for two tensors to be close; all must hold.

    Attributes
    ----------
    rtol, atol
        Two elements are close if |a - b| <= atol + rtol |b|.
    max_mismatched
        Largest share of elements that may not be close.
    min_cosine_similarity
        Smallest cosine similarity.
    max_relative_distance
        Largest relative Euclidean distance.
    """

    rtol: float
    atol: float
    max_mismatched: float
    min_cosine_similarity: float
    max_relative_distance: float


_EXACT: Final = Tolerance(0.0, 0.0, 0.0, 1 - 1e-12, 0.0)

# From the finest to the coarsest type. Relative tolerances are some units in the last place of
# the narrow types; float32 has room for sums in another order, as devices compute them.
_DEFAULTS: Final[dict[str, Tolerance]] = {
    "exact": _EXACT,
    "float64": Tolerance(1e-7, 1e-9, 1e-3, 0.999999, 1e-6),
    "float32": Tolerance(1e-4, 1e-5, 1e-3, 0.9999, 1e-3),
    "float16": Tolerance(4e-3, 1e-3, 1e-2, 0.999, 1e-2),
    "bfloat16": Tolerance(3e-2, 1e-2, 1e-2, 0.99, 5e-2),
    "narrow": Tolerance(2.5e-1, 1e-1, 5e-2, 0.97, 2e-1),
}
_COARSENESS: Final = tuple(_DEFAULTS)
_COMPLEX: Final = {"complex128": "float64", "complex64": "float32", "complex32": "float16"}


def _class_of(dtype: str | None) -> str:
    name = _COMPLEX.get(dtype or "", dtype or "exact")
    if name in _DEFAULTS:
        return name
    return "narrow" if "float" in name else "exact"


@dataclass(frozen=True, slots=True)
class Tolerances:
    """The tolerances that the caller asks for; None leaves a tolerance to the element types."""

    rtol: float | None = None
    atol: float | None = None
    max_mismatched: float | None = None
    min_cosine_similarity: float | None = None
    max_relative_distance: float | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is None:
                continue
            if not math.isfinite(value) or (value < 0 and name != "min_cosine_similarity"):
                raise ValueError(f"{name} is {value}, expected a number that is not negative")
        if self.max_mismatched is not None and self.max_mismatched > 1:
            raise ValueError(f"max_mismatched is {self.max_mismatched}, expected a share up to 1")

    @property
    def are_asked(self) -> bool:
        """Whether the caller asks for any."""
        return any(value is not None for value in asdict(self).values())

    def of(self, dtype_a: str | None, dtype_b: str | None) -> Tolerance:
        """Return the tolerance of two tensors: by the coarser of their types."""
        coarser = max(_class_of(dtype_a), _class_of(dtype_b), key=_COARSENESS.index)
        asked = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(_DEFAULTS[coarser], **asked)

    def of_pairs(
        self, dtype_a: Coded[str], dtype_b: Coded[str]
    ) -> tuple[list[Tolerance], NDArray[np.int64]]:
        """Return the distinct tolerances of pairs of tensors, and the index of each pair's own."""
        pairs = coded_rows(dtype_a, dtype_b)
        different: dict[Tolerance, int] = {}
        numbers = [different.setdefault(self.of(*types), len(different)) for types in pairs.values]
        return list(different), np.array(numbers, np.int64)[pairs.codes]
