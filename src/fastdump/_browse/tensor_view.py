"""What is shown of one tensor, read from its file: statistics, bad places, elements, a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from fastdump._browse.picture import Picture, picture_of
from fastdump._dump.dump import open
from fastdump._show.tensor_text import (
    SPREAD,
    bad_rows_lines,
    damage_line,
    elements_lines,
    histogram_lines,
)
from fastdump._show.view import TensorView
from fastdump._table.row import StatsRow
from fastdump._table.stats_table import StatsTable
from fastdump._tensor.tensor import Tensor
from fastdump._words.places import index_text, operator_text, tensor_name, where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import is_integer, shape_text, value_text
from fastdump._words.styles import BAD, DOUBTFUL, SUBTLE, moment_style, status_cell
from fastdump._words.text_table import Cell
from fastdump.errors import FileChangedError, NoTensorError

_BINS = 12
_INDENT = " " * 10


@dataclass(frozen=True)
class Asked:
    """What is to be shown of a tensor.

    Attributes
    ----------
    index
        Which elements, as typed; None for some of the first.
    matrix
        Number of the matrix that is drawn, in the order of the leading dimensions; None for the
        first with a bad element.
    width, height
        Cells of the picture, and `width` of the texts.
    """

    width: int
    height: int
    index: str | None = None
    matrix: int | None = None


@dataclass(frozen=True, eq=False)
class Shown:
    """The lines of a tensor.

    Attributes
    ----------
    lines
        Lines of styled text.
    matrix, n_matrices
        Number of the matrix that is drawn, and how many there are; 0 if nothing can be drawn.
    """

    lines: list[list[Cell]]
    matrix: int = 0
    n_matrices: int = 0


def heading(row: StatsRow) -> list[list[Cell]]:
    """Return what a row says of its tensor: operator, place, type, status, file."""
    place = where_text(rank=row.rank, step=row.step, layer=row.layer)
    facts = (row.tensor_name, row.dtype, shape_text(row.shape), row.format, place)
    named = operator_text(row.op_type, row.op_name) or printable(row.path)
    lines = [
        [Cell(named, "bold")],
        [Cell("  ".join(printable(fact) for fact in facts if fact))],
    ]
    if row.status != "ok" or row.note:
        lines.append([status_cell(row.status, row.note)])
    return [*lines, [Cell(printable(row.path), SUBTLE)]]


def read_tensor(table: StatsTable, number: int, asked: Asked) -> Shown:
    """Return the lines of the tensor of a row; what cannot be read is said among them."""
    row = table[number]
    lines: list[list[Cell]] = []
    matrix = n_matrices = 0
    try:
        tensor = _opened(table, row)
        rows = {(row.io, row.index, row.offset): row}
        view = TensorView(tensor, rows, asked.index, _BINS)
        lines += [*_statistics(row), [], *_sections(view, asked.width)]
        n_matrices = _n_matrices(tensor)
        if view.elements is not None and n_matrices:
            wanted = _first_bad_matrix(row, tensor) if asked.matrix is None else asked.matrix
            matrix = wanted % n_matrices
            lines += [[], *_picture_lines(tensor, matrix, asked)]
    except Exception as error:  # files may change at any time; no screen ends for that
        lines = lines or [*_statistics(row), []]
        lines.append([Cell(printable(_why(error)), DOUBTFUL)])
    return Shown(lines, matrix, n_matrices)


def _opened(table: StatsTable, row: StatsRow) -> Tensor:
    """Return the tensor of a row, whose arrays are copies: files may change at any time."""
    if row.source != "tensor" or row.io is None:
        row.tensor()  # says why there is none
        raise NoTensorError(f"{row.path!r} gave no tensor")
    state = table.file_states.of(row.path)
    operator = open(row.file(), safe=True)[0]
    for tensor in [*operator.tensors, *(t for dump in operator.appended for t in dump)]:
        if (tensor.io, tensor.index, tensor.offset) == (row.io, row.index, row.offset):
            if state is not None and state != tensor.file.known[0]:
                raise tensor.file.changed()
            return tensor
    name = tensor_name(row.io, row.index)
    raise FileChangedError(f"{row.path!r}: {name} is no longer where the table has it")


# Statistics in columns: the moments, then what is bad and how values spread, then what may be bad.
_STATISTICS = (
    ("count", "nan", "zero"),
    ("max", "pos_inf", "subnormal"),
    ("min", "neg_inf", "saturated"),
    ("mean", "std", "min_abs"),
    ("l2norm", "dynamic_range"),
)
_LABEL_WIDTHS = (10, 14, 10)
_COLUMN_WIDTH = 28


def _statistics(row: StatsRow) -> Iterator[list[Cell]]:
    """Yield the statistics of a row, nothing if it has none."""
    if row.nan is None and row.max is None:
        return
    for names in (*_STATISTICS, *([("first_bad",)] if row.first_bad is not None else [])):
        line = []
        for name, width in zip(names, _LABEL_WIDTHS, strict=False):
            text, style = _statistic(name, getattr(row, name), row)
            line += [Cell(name.ljust(width), SUBTLE)]
            line += [Cell(text.ljust(_COLUMN_WIDTH - width), style)]
        yield line


def _statistic(name: str, value: float | int | None, row: StatsRow) -> tuple[str, str]:
    if value is None:
        return "-", SUBTLE
    if name == "first_bad":
        return f"{value:,} {index_text(int(value), row.shape)}", ""
    if name in SPREAD:
        return value_text(value, integer=False, digits=6), ""
    if name in ("max", "min", "mean", "l2norm"):
        return value_text(value, integer=is_integer(row.dtype), digits=9), moment_style(value)
    style = {"nan": BAD, "pos_inf": BAD, "neg_inf": DOUBTFUL, "saturated": DOUBTFUL}.get(name, "")
    return f"{value:,}", style if value else ""


def _sections(view: TensorView, width: int) -> Iterator[list[Cell]]:
    """Yield what was read of the elements."""
    if view.damage is not None:
        yield damage_line(view.damage)
    if view.bad_rows:
        yield from bad_rows_lines(view.bad_rows, len(view.tensor))
    if view.elements is not None:
        yield from elements_lines(view.elements, view.index_text, width=width)
    if view.histogram is not None:
        yield []
        yield from histogram_lines(view.histogram, view.tensor.size, width=width)


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror is not None:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _n_matrices(tensor: Tensor) -> int:
    if tensor.ndim < 2 or not tensor.size:
        return 0
    return prod(tensor.shape[:-2])


def _first_bad_matrix(row: StatsRow, tensor: Tensor) -> int:
    return 0 if row.first_bad is None else row.first_bad // prod(tensor.shape[-2:])


def _picture_lines(tensor: Tensor, number: int, asked: Asked) -> Iterator[list[Cell]]:
    """Yield the picture of one matrix of a tensor, with what its colours mean."""
    leading = np.unravel_index(number, tensor.shape[:-2]) if tensor.ndim > 2 else ()
    with tensor.guarded() as array:
        picture = picture_of(array[leading], width=asked.width - 1, height=asked.height)
    place = ", ".join([*(str(one) for one in leading), ":", ":"])
    scale = value_text(picture.scale, integer=False)
    yield [
        Cell("picture".ljust(len(_INDENT))),
        Cell(f"[{place}]  ", SUBTLE),
        *_legend(picture, scale),
    ]
    yield from picture.lines()


def _legend(picture: Picture, scale: str) -> Iterator[Cell]:
    yield Cell("\u2588", "#ffaa3c")
    yield Cell(f" to {scale}  ", SUBTLE)
    yield Cell("\u2588", "#5096ff")
    yield Cell(f" to -{scale}", SUBTLE)
    kinds = (("N", "NaN", picture.nan), ("+", "+Inf", picture.pos_inf))
    for letter, name, found in kinds:
        if found.any():
            yield Cell(f"  {letter}", BAD)
            yield Cell(f" {name}", SUBTLE)
    if picture.neg_inf.any():
        yield Cell("  -", DOUBTFUL)
        yield Cell(" -Inf", SUBTLE)
    if picture.every > 1:
        yield Cell(f"  one of {picture.every:,} rows", DOUBTFUL)
