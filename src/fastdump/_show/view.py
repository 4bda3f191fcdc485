"""The view of one tensor: computed once, then printed or written as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastdump._array.bad_rows import BadRows, bad_rows
from fastdump._array.damage import describe_damage
from fastdump._array.histogram import histogram
from fastdump._json import document
from fastdump._show.index_text import parse_index
from fastdump._show.tensor_text import (
    COUNTS,
    MOMENTS,
    SPREAD,
    bad_rows_lines,
    damage_line,
    elements_lines,
    histogram_lines,
    json_values,
    statistics_lines,
)
from fastdump._table.row import StatsRow
from fastdump._tensor.tensor import Tensor
from fastdump._words.text_table import Cell
from fastdump.errors import FastdumpError


class TensorView:
    """One tensor with its statistics, some elements, and where bad values lie.

    Parameters
    ----------
    tensor
        The tensor.
    rows
        The statistics of its file, by io, index and offset.
    index
        The elements to show, as it was typed; None for some of the first.
    bins
        Number of intervals of the histogram; 0 for no histogram.

    Raises
    ------
    ValueError
        If `index` is not an index, or not one of this tensor.
    """

    def __init__(
        self,
        tensor: Tensor,
        rows: Mapping[tuple[str | None, int | None, int | None], StatsRow],
        index: str | None,
        bins: int,
    ) -> None:
        self.tensor = tensor
        key = (tensor.io, tensor.index)
        # Rows of a table of statistics have no offset.
        self.row = rows.get((*key, tensor.offset)) or rows.get((*key, None))
        self.index_text, self.elements = _elements(tensor, index)
        self.damage = None
        self.bad_rows: list[BadRows] = []
        self.histogram = None
        row = self.row
        if self.elements is None or row is None or row.source != "tensor" or row.nan is None:
            return
        with tensor.guarded() as array:
            if row.nan or row.pos_inf or row.neg_inf:
                itemsize = tensor.stored_nbytes // tensor.size
                self.damage = describe_damage(array, itemsize=itemsize)
                self.bad_rows = bad_rows(array) if array.ndim >= 2 else []
            if bins:
                self.histogram = histogram(array, bins=bins)

    def lines(self, width: int) -> Iterator[list[Cell]]:
        """Yield the lines below the header."""
        if self.row is not None and (self.row.nan is not None or self.row.source == "csv"):
            yield from statistics_lines(self.row)
        if self.elements is not None:
            yield from elements_lines(self.elements, self.index_text, width=width)
        if self.damage is not None:
            yield damage_line(self.damage)
        if self.bad_rows:
            yield from bad_rows_lines(self.bad_rows, len(self.tensor))
        if self.histogram is not None:
            yield from histogram_lines(self.histogram, self.tensor.size, width=width)

    def document(self) -> dict[str, Any]:
        """Return the whole view for JSON."""
        elements = intervals = None
        if self.elements is not None:
            elements = {"index": self.index_text, "values": json_values(self.elements)}
        if self.histogram is not None:
            intervals = {
                "counts": self.histogram.counts.tolist(),
                "edges": self.histogram.edges.tolist(),
                "sampled": self.histogram.n_sampled,
            }
        return {
            **self.tensor.description,
            "statistics": None if self.row is None else statistics_document(self.row),
            "elements": elements,
            "damage": document(self.damage),
            "bad_rows": document(self.bad_rows),
            "histogram": intervals,
        }


def _elements(tensor: Tensor, index: str | None) -> tuple[str, Any]:
    """Return the index of the elements to show, and the elements; None where there is no array."""
    if index is not None:
        try:
            return f"[{index.strip().strip('[]')}]", tensor[parse_index(index)]
        except (ValueError, IndexError, FastdumpError) as error:
            raise ValueError(f"{tensor.name}: --slice {index!r}: {error}") from error
    text = f"[{'0, ' * (tensor.ndim - 1)}:8]" if tensor.ndim else "[()]"
    if not tensor.size or tensor.dtype_name is None:
        return text, None
    try:
        return text, tensor[parse_index(text) if tensor.ndim else ()]
    except FastdumpError:  # never written, or packed in an unknown way: the note says so
        return text, None


def statistics_document(row: StatsRow) -> dict[str, Any]:
    """Return the statistics of a row for JSON."""
    names = ("count", *MOMENTS, *COUNTS, *SPREAD, "first_bad")
    return {name: document(getattr(row, name)) for name in names}


def row_document(row: StatsRow) -> dict[str, Any]:
    """Return a row of a table of statistics, which may be of many operators, for JSON."""
    operator = ("op_type", "op_name", "task_id", "stream_id", "timestamp")
    tensor = ("io", "index", "dtype", "format", "shape", "nbytes")
    described = {name: document(getattr(row, name)) for name in (*operator, *tensor)}
    return {**described, **statistics_document(row), "status": row.status, "note": row.note}
