"""``fastdump show``: one file or one tensor: header, statistics, elements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.text import Text

import fastdump
from fastdump import FastdumpError, Operator, StatsRow, StatsTable, Tensor
from fastdump._bad_values import BadRows, bad_rows
from fastdump._cli.console import stdout_console, stdout_width
from fastdump._cli.index_text import parse_index
from fastdump._cli.json_document import print_json
from fastdump._cli.options import json_option, scan_options
from fastdump._cli.scanning import scan_paths
from fastdump._cli.tensor_text import (
    COUNTS,
    MOMENTS,
    bad_rows_lines,
    damage_line,
    elements_lines,
    histogram_lines,
    json_values,
    statistics_lines,
)
from fastdump._damage import describe_damage
from fastdump._histogram import histogram
from fastdump._printable import printable
from fastdump._quantities import counted, shape_text, time_text
from fastdump._row_text import row_table
from fastdump._styles import SUBTLE, status_cell
from fastdump._text_table import Cell, Column, TextTable

_TENSOR_SUFFIX = re.compile(r"(?P<file>.+):(?P<tensor>(?:input|output|buffer|space)\.\d+)", re.S)
_NARROWEST = 60


@click.command("show")
@click.argument("target", metavar="FILE[:TENSOR]")
@click.option(
    "--slice",
    "index",
    metavar="INDEX",
    help="Print these elements, e.g. '0, :8' or '..., -1'. Default: some of the first.",
)
@click.option(
    "--bins",
    type=click.IntRange(0, 200),
    default=16,
    show_default=True,
    metavar="N",
    help="Intervals of the histogram, which is drawn for a single tensor; 0 draws none.",
)
@json_option
@scan_options
def command(
    target: str,
    index: str | None,
    bins: int,
    as_json: bool,
    threads: int | None,
    io: str,
    follow_links: bool,
) -> int:
    """Show one dump FILE, or one TENSOR of it ("output.0"): header, statistics, elements.

    The offset is where a tensor begins in FILE, the address where it was on the device.
    first_bad is the first NaN or Inf, as a flat index and as an index into the stored shape; below
    it is told which shape the bad values have (rows, columns, a block, one run), and which indices
    of the first dimension hold them.

    \b
    Examples:
      fastdump show dump_dir/0/model/1/3/MatMul.layer7_qkv.12.3.1700000000000000
      fastdump show FILE:output.0 --slice '0, :8'
      fastdump show FILE --json
    """  # noqa: D301 (\b is for click: do not wrap)
    file, name = _parse_target(target)
    if Path(file).is_dir():
        raise click.ClickException(f"{file} is a directory: try 'fastdump ls' or 'fastdump stats'")
    with fastdump.open(file) as dump:
        operator = dump[0]
        is_statistics = operator.header["kind"] == "statistics"
        # Of a table of statistics its rows are shown; it has no tensors.
        shown = [] if is_statistics else _tensors(operator, name)
        outcome = scan_paths(
            (file,), level="full", threads=threads, io=io, follow_links=follow_links
        )
        # A dump that is appended to another has tensors of the same names.
        rows = {(row.io, row.index, row.offset): row for row in outcome.table}
        views = [_View(tensor, rows, index, bins if name else 0) for tensor in shown]
        if as_json:
            header: Mapping[str, Any] = operator.header
            document = {**header, "tensors": [view.document() for view in views]}
            attrs = [{"name": key, "value": value} for key, value in header["attrs"]]
            if is_statistics:
                document["rows"] = [_row_document(row) for row in outcome.table]
            print_json({"path": file, **document, "attrs": attrs})
        else:
            _print(target, operator, outcome.table, views, is_whole=name is None)
    return outcome.exit_code


def _parse_target(target: str) -> tuple[str, str | None]:
    """Return the file and the name of the tensor, if there is one."""
    match = None if Path(target).exists() else _TENSOR_SUFFIX.fullmatch(target)
    return (match["file"], match["tensor"]) if match else (target, None)


def _tensors(operator: Operator, name: str | None) -> list[Tensor]:
    tensors = [*operator.tensors, *(t for dump in operator.appended for t in dump)]
    if name is None:
        return tensors
    found = [tensor for tensor in tensors if tensor.name == name]
    if not found:
        names = ", ".join(tensor.name for tensor in tensors) or "none"
        raise click.ClickException(f"{operator.path} has no {name}; its tensors: {names}")
    return found


class _View:
    """What is shown of one tensor: computed once, printed or written as JSON."""

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
        is_bad = self.elements is not None and self._has_statistics and self._has_bad_values
        self.damage = None
        self.bad_rows: list[BadRows] = []
        if is_bad:
            array = np.asarray(tensor)
            itemsize = tensor.stored_nbytes // tensor.size
            self.damage = describe_damage(array, itemsize=itemsize)
            self.bad_rows = bad_rows(array) if array.ndim >= 2 else []
        self.histogram = None
        if bins and self.elements is not None and self._has_statistics:
            self.histogram = histogram(np.asarray(tensor), bins=bins)

    @property
    def _has_statistics(self) -> bool:
        return self.row is not None and self.row.source == "tensor" and self.row.nan is not None

    @property
    def _has_bad_values(self) -> bool:
        assert self.row is not None
        return bool(self.row.nan or self.row.pos_inf or self.row.neg_inf)

    def lines(self, width: int) -> Iterator[Text]:
        """Yield what is printed below the header."""
        if self.row is not None and (self.row.nan is not None or self.row.source == "csv"):
            yield from statistics_lines(self.row)
        if self.elements is not None:
            yield from elements_lines(self.elements, self.index_text, width=width)
        if self.damage is not None:
            yield damage_line(self.damage)
        if self.bad_rows:
            yield from bad_rows_lines(self.bad_rows, len(self.tensor))
        if self.histogram is not None:
            yield from histogram_lines(self.histogram, self.tensor.size)

    def document(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        document = dict(self.tensor.description)
        document["statistics"] = _statistics_document(self.row) if self.row else None
        document["elements"] = None
        if self.elements is not None:
            document["elements"] = {
                "index": self.index_text,
                "values": json_values(self.elements),
            }
        document["damage"] = asdict(self.damage) if self.damage else None
        document["bad_rows"] = [rows._asdict() for rows in self.bad_rows]
        document["histogram"] = None
        if self.histogram is not None:
            document["histogram"] = {
                "counts": self.histogram.counts.tolist(),
                "edges": self.histogram.edges.tolist(),
                "sampled": self.histogram.n_sampled,
            }
        return document


def _elements(tensor: Tensor, index: str | None) -> tuple[str, Any]:
    """Return the elements that are shown and what selects them; None where there is no array.

    Raises
    ------
    click.ClickException
        If `index` is given and is none, or none of this tensor.
    """
    if index is not None:
        try:
            return f"[{index.strip().strip('[]')}]", tensor[parse_index(index)]
        except (ValueError, IndexError, FastdumpError) as error:
            raise click.ClickException(f"{tensor.name}: --slice {index!r}: {error}") from error
    if not tensor.ndim:
        key: tuple[Any, ...] = ()
        text = "[()]"
    else:
        leading = "0, " * (tensor.ndim - 1)
        key = (*(0,) * (tensor.ndim - 1), slice(8))
        text = f"[{leading}:8]"
    if not tensor.size or tensor.dtype_name is None:
        return text, None
    try:
        return text, tensor[key]
    except FastdumpError:  # never written, or of a packing that is not documented: the note says it
        return text, None


def _statistics_document(row: StatsRow) -> dict[str, Any]:
    document = {name: getattr(row, name) for name in ("count", *MOMENTS, *COUNTS, "first_bad")}
    # A norm may overflow, and the vendor's moments be NaN: JSON has no number for that.
    for name in MOMENTS:
        if document[name] is not None and not math.isfinite(document[name]):
            document[name] = str(document[name])
    return document


def _row_document(row: StatsRow) -> dict[str, Any]:
    """Return a row of a table of statistics, which may be of many operators."""
    what = ("op_type", "op_name", "task_id", "stream_id", "timestamp", "io", "index", "dtype")
    described = {name: getattr(row, name) for name in (*what, "format", "shape", "nbytes")}
    return {**described, **_statistics_document(row), "status": row.status, "note": row.note}


def _print(
    target: str, operator: Operator, table: StatsTable, views: list[_View], *, is_whole: bool
) -> None:
    console = stdout_console()
    console.print(Text(printable(target), "bold"))
    facts = _facts(operator, table) if is_whole else _tensor_facts(views[0].tensor)
    for name, value in facts:
        if value:
            console.print(Text.assemble((f"  {name:<14}", SUBTLE), printable(value)))
    if operator.header["kind"] == "statistics":
        console.print()
        row_table(table, width=stdout_width(console)).print_to(console)
    if is_whole and views:
        console.print()
        _tensor_table(console, views)
    width = max(stdout_width(console) or 10**4, _NARROWEST)
    for i, view in enumerate(views):
        lines = list(view.lines(width))
        if lines and (i == 0 or not is_whole):
            console.print()
        for line in lines:
            console.print(line, soft_wrap=True)


def _facts(operator: Operator, table: StatsTable) -> Iterator[tuple[str, str]]:
    """Yield what the header and the file's name tell; empty where they do not."""
    header: Mapping[str, Any] = operator.header
    if header["kind"] != "standard":
        yield "kind", header["kind"]
    yield "version", header["version"]
    if time := header["dump_time"]:
        yield "dump time", f"{time_text(time)} ({time})"
    yield "op type", (operator.op_type or "")
    yield "op name", header["op_name"]
    # Rows of a table of statistics differ in where they are from.
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
    where = [(name, getattr(row, name)) for name in names]
    return ", ".join(f"{name} {value}" for name, value in where if value is not None)


def _tensor_facts(tensor: Tensor) -> Iterator[tuple[str, str]]:
    """Yield what the header tells of one tensor."""
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
    """Yield what few tensors have."""
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


def _tensor_table(console: Console, views: list[_View]) -> None:
    cells = (_tensor_cells(view.tensor) for view in views)
    TextTable(_TENSOR_COLUMNS, cells, width=stdout_width(console)).print_to(console)
    rare = [(view.tensor.name, fact) for view in views for fact in _rare_facts(view.tensor)]
    for name, (what, value) in rare:
        line = Text.assemble((f"{name:<10}", ""), (f"{what} ", SUBTLE), printable(value))
        console.print(line)


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
