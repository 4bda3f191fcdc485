"""What is shown of two tensors that were compared: metrics, elements, their difference."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._browse.picture import picture_of
from fastdump._compare.schema import ComparisonRow
from fastdump._words.places import index_text
from fastdump._words.printable import printable
from fastdump._words.quantities import value_text
from fastdump._words.styles import DOUBTFUL, SUBTLE
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._tensor.tensor import Tensor

_METRICS = (
    ("cosine_similarity", "max_abs_error", "mismatched"),
    ("relative_euclidean_distance", "mean_abs_error", "count"),
    ("accumulated_relative_error", "max_rel_error", "ulp_max"),
    ("statistics_difference", "rmse", "expected_error"),
)
_SIDES = ("max", "min", "mean", "standard_deviation")
_N_ELEMENTS = 4
_MOST_ELEMENTS = 1 << 24
"""Of a larger matrix, rows are left out of the picture."""


def pair_lines(row: ComparisonRow, *, width: int, height: int) -> list[list[Cell]]:
    """Return the lines of a pair; what cannot be read is said among them.

    Parameters
    ----------
    row
        The pair.
    width, height
        Cells of the picture.
    """
    lines = [*_metrics(row), [], *_sides(row), []]
    try:
        a, b = row.tensor_a(), row.tensor_b()
        lines += _elements(row, a, b)
        lines += _difference(row, a, b, width, height)
    except Exception as error:  # files may change at any time; no screen ends for that
        lines.append([Cell(printable(str(error)), DOUBTFUL)])
    return lines


def _metrics(row: ComparisonRow) -> Iterator[list[Cell]]:
    for names in _METRICS:
        line = []
        for name in names:
            value = getattr(row, name)
            text = f"{value:,}" if isinstance(value, int) else value_text(value, integer=False)
            line += [Cell(f"{_SHORT.get(name, name):<15}", SUBTLE), Cell(f"{text or '-':<11}")]
        yield line


_SHORT = {
    "cosine_similarity": "cosine",
    "relative_euclidean_distance": "distance",
    "accumulated_relative_error": "sum rel error",
    "statistics_difference": "difference",
    "max_abs_error": "max error",
    "mean_abs_error": "mean error",
    "max_rel_error": "max rel error",
    "expected_error": "expected error",
}


def _sides(row: ComparisonRow) -> Iterator[list[Cell]]:
    yield [Cell(f"{'':<20}{'a':>14}{'b':>14}", SUBTLE)]
    for name in _SIDES:
        values = (getattr(row, f"{name}_{side}") for side in "ab")
        texts = (value_text(value, integer=False) or "-" for value in values)
        yield [Cell(f"{name:<20}", SUBTLE), *(Cell(f"{text:>14}") for text in texts)]


def _elements(row: ComparisonRow, a: Tensor, b: Tensor) -> Iterator[list[Cell]]:
    """Yield the elements of both from the first mismatch on."""
    first = row.first_mismatch
    if first is None or a.shape != b.shape:
        return
    place = index_text(first, a.shape)
    yield [Cell("from the first mismatch on ", SUBTLE), Cell(f"{first:,} {place}")]
    part = slice(first, first + _N_ELEMENTS)
    for side, tensor in (("a", a), ("b", b)):
        with tensor.guarded() as array:
            elements = array.reshape(-1)[part].tolist()
        texts = (f"{value_text(element, integer=False):>14}" for element in elements)
        yield [Cell(f"{side:<6}", SUBTLE), *map(Cell, texts)]
    yield []


def _difference(
    row: ComparisonRow, a: Tensor, b: Tensor, width: int, height: int
) -> Iterator[list[Cell]]:
    """Yield a picture of a - b, of the matrix with the first mismatch."""
    if a.shape != b.shape or a.ndim < 2 or not a.size:
        return
    number = (row.first_mismatch or 0) // prod(a.shape[-2:])
    leading = np.unravel_index(number, a.shape[:-2]) if a.ndim > 2 else ()
    every = -(-prod(a.shape[-2:]) // _MOST_ELEMENTS)
    matrices = []
    for tensor in (a, b):
        with tensor.guarded() as array:
            matrices.append(_real(array[leading][::every]))
    with np.errstate(invalid="ignore", over="ignore"):
        picture = picture_of(matrices[0] - matrices[1], width=width, height=height)
    place = ", ".join([*map(str, leading), ":", ":"])
    scale = value_text(picture.scale, integer=False)
    yield [Cell("a - b  "), Cell(f"[{place}]  at most {scale}", SUBTLE)]
    yield from picture.lines()


def _real(matrix: NDArray[Any]) -> NDArray[np.float64]:
    if np.issubdtype(matrix.dtype, np.complexfloating):
        matrix = np.abs(matrix)
    with np.errstate(invalid="ignore"):  # signalling NaN
        return np.asarray(matrix.astype(np.float64))
