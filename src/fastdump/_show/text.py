"""One dump file as lines of text: the header, the tensors, and a view of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastdump._dump.operator import Operator
from fastdump._show.view import TensorView
from fastdump._table.row import StatsRow
from fastdump._table.row_text import row_table
from fastdump._table.stats_table import StatsTable
from fastdump._tensor.tensor import Tensor
from fastdump._words.printable import printable
from fastdump._words.quantities import counted, shape_text, time_text
from fastdump._words.styles import SUBTLE, status_cell
from fastdump._words.text_table import Cell, Column, TextTable

MAX_ROWS = 1000
"""Rows of a table of statistics that are shown: a person reads no more, and the rest is told."""

_NARROWEST = 60
_WIDEST = 10**4


def file_lines(
    target: str,
    operator: Operator,
    table: StatsTable,
    views: Sequence[TensorView],
    *,
    is_whole: bool,
    width: int | None,
    ellipsis: str,
) -> Iterator[list[Cell]]:
    """Yield the lines of a file, or of one of its tensors.

    Parameters
    ----------
    target
        The file or tensor, as the user named it.
    operator
        The file.
    table
        Its statistics.
    views
        The tensors that are shown.
    is_whole
        Whether the whole file is shown, and not only one tensor.
    width, ellipsis
        As in `Report.lines`.
    """
    yield [Cell(printable(target), "bold")]
    if is_whole:
        facts = _facts(operator, table)
    else:  # a tensor of which there is only a row of statistics has no other facts
        facts = (fact for view in views[:1] for fact in _tensor_facts(view.tensor))
    for name, value in facts:
        if value:
            yield [Cell(f"  {name:<14}", SUBTLE), Cell(printable(value))]
    if operator.header["kind"] == "statistics":
        yield []
        yield from row_table(table.head(MAX_ROWS), width=width).lines(ellipsis=ellipsis)
        if len(table) > MAX_ROWS:
            more = f"... and {len(table) - MAX_ROWS:,} more rows; 'fastdump stats' has all of them"
            yield [Cell(more, SUBTLE)]
    if is_whole and views:
        yield []
        yield from _tensor_lines(views, width, ellipsis)
    for i, view in enumerate(views):
        lines = list(view.lines(max(width or _WIDEST, _NARROWEST)))
        if lines and (i == 0 or not is_whole):
            yield []
        yield from lines


def _facts(operator: Operator, table: StatsTable) -> Iterator[tuple[str, str]]:
    """Yield facts from the header and the file's name, '' where they tell nothing."""
    header: Mapping[str, Any] = operator.header
    if header["kind"] != "standard":
        yield "kind", header["kind"]
    yield "version", header["version"]
    if time := header["dump_time"]:
        yield "dump time", f"{time_text(time)} ({time})"
    yield "op type", (operator.op_type or "")
    yield "op name", header["op_name"]
    # The rows of a table of statistics come from different places.
    if len(table) and header["kind"] != "statistics":
        yield "where", _where_text(table[0])
    yield "bytes", f"{header['file_nbytes']:,}, of these {header['header_nbytes']:,} of header"
    for name, value in header["attrs"]:
        yield "attribute", f"{name} = {value}"
    # An exception dump has log lines here.
    for line in header["dfx_message"].splitlines():
        yield "dfx message", line
    if operator.appended:
        yield "appended", f"{counted(len(operator.appended), 'more dump')} in this file"
    yield "note", header["note"]


def _where_text(row: StatsRow) -> str:
    names = ["rank", "device", "model", "model_id", "step"]
    names += ["task_id", "stream_id", "context_id", "thread_id"]
    numbers = ((name, getattr(row, name)) for name in names)
    return ", ".join(f"{name} {number}" for name, number in numbers if number is not None)


def _tensor_facts(tensor: Tensor) -> Iterator[tuple[str, str]]:
    """Yield facts about one tensor from the header."""
    yield "dtype", f"{tensor.dtype_name or 'none'} (number {tensor.data_type})"
    yield "shape", shape_text(tensor.declared_shape) if tensor.format else ""
    groups = f", sub-format {tensor.sub_format}" if tensor.sub_format else ""
    yield "format", f"{tensor.format}{groups}" if tensor.format else ""
    yield "origin shape", shape_text(tensor.origin_shape or None)
    yield "bytes", f"{tensor.declared_nbytes:,} from byte {tensor.offset:,} on"
    yield "address", f"{tensor.address:#x}" if tensor.address else ""
    yield from _rare_facts(tensor)
    status, note = tensor.status, tensor.note
    yield "status", (f"{status}: {note}" if note else status)


def _rare_facts(tensor: Tensor) -> Iterator[tuple[str, str]]:
    """Yield facts that few tensors have."""
    description = tensor.description
    if kind := description["input_kind"]:
        yield "argument", f"{description['arg_index']}, {kind}"
    if op := description["original_op"]:
        yield "stems from", f"output {op['output_index']} of {op['name']} ({op['format']})"
    if ranges := description["slice"]:
        part = ", ".join(f"{lower}:{higher}" for lower, higher in ranges)
        yield "part", f"[{part}] of {shape_text(description['full_shape'])}"


_TENSOR_COLUMNS = (
    Column("tensor"),
    Column("dtype"),
    Column("format"),
    Column("shape", min_width=7),
    Column("origin_shape", min_width=7, drop_order=1),
    Column("bytes", right=True),
    Column("offset", right=True),
    Column("address", right=True, drop_order=0),
    Column("status", min_width=12),
)


def _tensor_lines(
    views: Sequence[TensorView], width: int | None, ellipsis: str
) -> Iterator[list[Cell]]:
    cells = (_tensor_cells(view.tensor) for view in views)
    yield from TextTable(_TENSOR_COLUMNS, cells, width=width).lines(ellipsis=ellipsis)
    for view in views:
        for what, value in _rare_facts(view.tensor):
            yield [
                Cell(f"{view.tensor.name:<10}"),
                Cell(f"{what} ", SUBTLE),
                Cell(printable(value)),
            ]


def _tensor_cells(tensor: Tensor) -> list[Cell]:
    return [
        Cell(tensor.name),
        Cell(printable(tensor.dtype_name or "")),
        Cell(printable(tensor.format or "")),
        # Buffers and workspaces have neither format nor shape.
        Cell(shape_text(tensor.declared_shape) if tensor.format else ""),
        Cell(shape_text(tensor.origin_shape or None)),
        Cell(f"{tensor.declared_nbytes:,}"),
        Cell(f"{tensor.offset:,}"),
        Cell(f"{tensor.address:#x}" if tensor.address else ""),
        status_cell(tensor.status, tensor.note),
    ]
