"""Columns whose rows repeat few values, such as texts and shapes, without an object a row."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from arro3.core import list_flatten, list_offsets

from fastdump._compare.keys import Keys, combined, first_rows, ranks
from fastdump._table.arrow_column import (
    NULL_CODE,
    coded_column,
    codes_of,
    is_null,
    values,
)

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray

_Value = TypeVar("_Value", bound=Hashable)
_Other = TypeVar("_Other", bound=Hashable)


class Coded(Generic[_Value]):
    """A column as an index for each row into its distinct values; None is no value.

    Parameters
    ----------
    codes : ndarray of int, shape (rows,)
        Indices into `values`, `NULL_CODE` for None.
    values
        Each once.
    """

    __slots__ = ("codes", "values")

    def __init__(self, codes: NDArray[np.signedinteger], values: list[_Value]) -> None:
        # Half the memory: a table of 2^31 rows has other limits.
        self.codes: NDArray[np.int32] = codes.astype(np.int32, copy=False)
        self.values = values

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> _Value | None:
        code = self.codes[row]
        return None if code == NULL_CODE else self.values[code]

    @property
    def is_null(self) -> NDArray[np.bool_]:
        """Which rows have None."""
        return np.asarray(self.codes == NULL_CODE)

    def where(self, meets: Callable[[_Value | None], object]) -> NDArray[np.bool_]:
        """Return which rows have a value that meets a condition, which is asked once for each."""
        # The last element is the one that NULL_CODE selects.
        return np.array([bool(meets(value)) for value in (*self.values, None)])[self.codes]

    def rewritten(self, changed: Callable[[_Value], _Other | None]) -> Coded[_Other]:
        """Return the column of what a function, which is called once for each, makes of values."""
        numbers: dict[_Other | None, int] = {None: NULL_CODE}
        found = [numbers.setdefault(changed(value), len(numbers) - 1) for value in self.values]
        codes = np.array([*found, NULL_CODE], np.int32)[self.codes]
        return Coded(codes, [value for value in numbers if value is not None])

    def take(self, rows: NDArray[np.int64]) -> Coded[_Value]:
        """Return some rows."""
        return Coded(self.codes[rows], self.values)


def coded_text(column: Array) -> Coded[str]:
    """Return a column of text."""
    return Coded(*codes_of(column))


def coded_shapes(column: Array) -> Coded[tuple[int, ...]]:
    """Return a column of shapes."""
    ends = np.asarray(list_offsets(column)).astype(np.int64)
    dims = values(list_flatten(column), np.int64)
    n_axes = np.diff(ends)
    n_axes[is_null(column)] = -1
    columns = [n_axes]
    for axis in range(int(n_axes.max(initial=0))):
        has_axis = np.flatnonzero(n_axes > axis)
        of_axis = np.zeros(len(n_axes), np.int64)
        of_axis[has_axis], _ = ranks(dims[ends[has_axis] + axis])
        columns.append(of_axis)
    codes, first = _distinct(*columns)
    shapes = [
        None if n_axes[row] < 0 else tuple(dims[ends[row] : ends[row] + n_axes[row]].tolist())
        for row in first.tolist()
    ]
    return Coded(codes, list(range(len(shapes)))).rewritten(shapes.__getitem__)


def _distinct(*columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each row the number of the distinct one that it is, and the first row of each."""
    none = np.empty(0, np.int64)
    codes, n = ranks(combined(*(Keys(column, none) for column in columns)).a)
    return codes, first_rows(codes, n)


def coded_rows(*columns: Coded[_Value]) -> Coded[tuple[_Value | None, ...]]:
    """Return rows of several columns as values."""
    codes, first = _distinct(*(column.codes.astype(np.int64) for column in columns))
    return Coded(codes, [tuple(column[row] for column in columns) for row in first.tolist()])


def coded_numbers(numbers: NDArray[np.int64]) -> Coded[int]:
    """Return a column of integers."""
    found, codes = np.unique(numbers, return_inverse=True)
    return Coded(codes, found.tolist())


def alike(a: Coded[_Value], b: Coded[_Value]) -> Keys:
    """Return keys of two columns that are equal where their values are."""
    numbers = {value: number for number, value in enumerate(a.values)}
    of_b = [numbers.setdefault(value, len(numbers)) for value in b.values]
    # The last element is the one that NULL_CODE selects.
    in_a = np.array([*of_b, NULL_CODE], np.int64)
    return Keys(a.codes.astype(np.int64), in_a[b.codes])


def replaced(
    column: Array, rows: NDArray[np.int64], changed: Callable[[str | None], str | None]
) -> Array:
    """Return a column of text in which a function has changed the texts of some rows."""
    codes, texts = codes_of(column)
    found = np.unique(codes[rows])
    of_code = np.full(len(texts) + 1, NULL_CODE)
    of_code[found] = len(texts) + np.arange(len(found))
    codes[rows] = of_code[codes[rows]]
    others = [changed(text) for text in map([*texts, None].__getitem__, found.tolist())]
    return coded_column(codes, [*texts, *others], "text")
