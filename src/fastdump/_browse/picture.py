"""A small picture of a matrix, two elements a cell, in which nothing bad is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._words.styles import BAD, DOUBTFUL
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ELEMENTS_AT_ONCE = 1 << 22
"""Elements that are converted at once."""
_MOST_ELEMENTS = 1 << 26
"""Of a larger matrix, rows are left out."""
_UPPER_HALF = "\u2580"
_POSITIVE = np.array([255, 170, 60])
_NEGATIVE = np.array([80, 150, 255])


@dataclass(frozen=True, eq=False)
class Picture:
    """A matrix in blocks.

    Attributes
    ----------
    values
        float64, shape (rows, columns): of each block the finite element of the largest magnitude;
        NaN if it has none.
    nan, pos_inf, neg_inf
        bool, of the same shape: whether a block has such an element.
    every
        One of so many rows was read.
    """

    values: NDArray[np.float64]
    nan: NDArray[np.bool_]
    pos_inf: NDArray[np.bool_]
    neg_inf: NDArray[np.bool_]
    every: int

    @property
    def scale(self) -> float:
        """The largest magnitude of a finite element."""
        finite = self.values[np.isfinite(self.values)]
        return float(np.abs(finite).max()) if finite.size else 0.0

    def lines(self) -> Iterator[list[Cell]]:
        """Yield lines of half blocks; a block with a bad element has a letter that names it."""
        scale = self.scale or 1.0
        kinds = (self.nan, self.pos_inf, self.neg_inf)
        colours = _colours(self.values / scale)
        for top in range(0, len(self.values), 2):
            rows = slice(top, top + 2)
            bad = [np.any(kind[rows], axis=0).tolist() for kind in kinds]
            yield [
                _cell(colours[rows, column], *(kind[column] for kind in bad))
                for column in range(self.values.shape[1])
            ]


def picture_of(matrix: NDArray[Any], *, width: int, height: int) -> Picture:
    """Return the picture of a matrix of a real or complex type in at most so many cells.

    Parameters
    ----------
    matrix
        Shape (rows, columns), with at least one element.
    width, height
        Cells of the terminal; one cell shows two rows of blocks.
    """
    every = -(-matrix.size // _MOST_ELEMENTS)
    matrix = matrix[::every]
    column_starts = _starts(matrix.shape[1], width)
    row_starts = _starts(len(matrix), 2 * height)
    row_ends = [*row_starts[1:].tolist(), len(matrix)]
    blocks = [
        _blocks(matrix, first, end, column_starts)
        for first, end in zip(row_starts.tolist(), row_ends, strict=True)
    ]
    values, nan, pos_inf, neg_inf = (np.array(rows) for rows in zip(*blocks, strict=True))
    return Picture(values, nan, pos_inf, neg_inf, every)


def _starts(size: int, most: int) -> NDArray[np.int64]:
    n_blocks = min(size, most)
    return np.arange(n_blocks) * size // n_blocks


def _blocks(
    matrix: NDArray[Any], first: int, end: int, column_starts: NDArray[np.int64]
) -> tuple[NDArray[Any], ...]:
    """Return one row of blocks: the four arrays of a `Picture`."""
    n_columns = matrix.shape[1]
    low = np.full(n_columns, np.inf)
    high = np.full(n_columns, -np.inf)
    nan, pos_inf, neg_inf = (np.zeros(n_columns, np.bool_) for _ in range(3))
    step = max(1, _ELEMENTS_AT_ONCE // n_columns)
    for at in range(first, end, step):
        part = matrix[at : min(at + step, end)]
        if np.issubdtype(part.dtype, np.complexfloating):
            part = np.abs(part)
        with np.errstate(invalid="ignore"):  # signalling NaN
            elements = part.astype(np.float64)
        finite = np.isfinite(elements)
        nan |= np.isnan(elements).any(axis=0)
        pos_inf |= (elements == np.inf).any(axis=0)
        neg_inf |= (elements == -np.inf).any(axis=0)
        np.minimum(low, np.where(finite, elements, np.inf).min(axis=0), out=low)
        np.maximum(high, np.where(finite, elements, -np.inf).max(axis=0), out=high)
    low = np.minimum.reduceat(low, column_starts)
    high = np.maximum.reduceat(high, column_starts)
    values = np.where(np.abs(high) >= np.abs(low), high, low)
    values[~np.isfinite(values)] = np.nan
    bad = (np.logical_or.reduceat(kind, column_starts) for kind in (nan, pos_inf, neg_inf))
    return (values, *bad)


def _colours(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return red, green and blue of shares of the scale: orange above zero, blue below it."""
    magnitude = np.sqrt(np.abs(np.nan_to_num(shares)))[..., np.newaxis]
    hue = np.where((shares < 0)[..., np.newaxis], _NEGATIVE, _POSITIVE)
    dark = np.array([24, 24, 24])
    return np.asarray(np.round(dark + (hue - dark) * magnitude), np.int64)


def _cell(colours: NDArray[np.int64], nan: bool, pos_inf: bool, neg_inf: bool) -> Cell:
    if nan or pos_inf:
        return Cell("N" if nan else "+", BAD)
    if neg_inf:
        return Cell("-", DOUBTFUL)
    upper, *lower = (f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in colours.tolist())
    return Cell(_UPPER_HALF, f"{upper} on {lower[0]}" if lower else upper)
