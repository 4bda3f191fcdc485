"""Tensors in a table of text, a line each."""

from __future__ import annotations

from collections.abc import Iterable

from fastdump._tensor.tensor import Tensor
from fastdump._words.printable import printable
from fastdump._words.quantities import shape_text
from fastdump._words.styles import DOUBTFUL, SUBTLE
from fastdump._words.text_table import Cell, Column, TextTable

_COLUMNS = (
    Column("tensor"),
    Column("dtype"),
    Column("shape"),
    Column("format"),
    Column("nbytes", right=True),
    Column("status"),
)


def tensor_table(tensors: Iterable[Tensor]) -> TextTable:
    """Lay out tensors in full."""
    return TextTable(_COLUMNS, map(_cells, tensors), width=None)


def _cells(tensor: Tensor) -> list[Cell]:
    return [
        Cell(tensor.name),
        Cell(tensor.dtype_name or "bytes"),
        Cell(shape_text(tensor.shape)),
        Cell(printable(tensor.format or "")),
        Cell(f"{tensor.nbytes:,}"),
        Cell(tensor.status, SUBTLE if tensor.status == "ok" else DOUBTFUL),
    ]
