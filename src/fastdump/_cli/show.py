"""``fastdump show``: one file, its header, its tensors and their statistics."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.text import Text

from fastdump import StatsRow, StatsTable
from fastdump._cli.console import stdout_console, stdout_width
from fastdump._cli.json_document import print_json
from fastdump._cli.options import json_option, scan_options
from fastdump._cli.scanning import scan_paths
from fastdump._header import describe_file
from fastdump._printable import printable
from fastdump._quantities import is_integer, shape_text, time_text, value_text
from fastdump._styles import SUBTLE, inf_style, moment_style, nan_style, status_cell
from fastdump._table_json import json_real
from fastdump._text_table import Cell, Column, TextTable


@click.command("show")
@click.argument("file", metavar="FILE")
@json_option
@scan_options
def command(file: str, as_json: bool, threads: int | None, io: str, follow_links: bool) -> int:
    """Show one dump FILE: its header, its tensors and their statistics.

    The offset is where a tensor begins in FILE, the address where it was on the device.
    first_bad is the first NaN or Inf, as a flat index and as an index into the stored shape.

    \b
    Examples:
      fastdump show dump_dir/0/model/1/3/MatMul.layer7_qkv.12.3.1700000000000000
      fastdump show FILE --json
    """  # noqa: D301 (\b is for click: do not wrap)
    if Path(file).is_dir():
        raise click.ClickException(f"{file} is a directory: try 'fastdump ls' or 'fastdump stats'")
    header: dict[str, Any] = describe_file(file)
    outcome = scan_paths((file,), level="full", threads=threads, io=io, follow_links=follow_links)
    if as_json:
        print_json({"path": file, **_document(header, outcome.table)})
    else:
        _print(file, header, outcome.table)
    return outcome.exit_code


_MOMENTS = ("max", "min", "mean", "l2norm")
_COUNTS = ("nan", "pos_inf", "neg_inf", "zero", "subnormal", "saturated")


def _document(header: dict[str, Any], table: StatsTable) -> dict[str, Any]:
    rows = {(row.io, row.index): row for row in table}
    tensors = []
    for tensor in header["tensors"]:
        row = rows.get((tensor["io"], tensor["index"]))
        tensors.append({**tensor, "statistics": _statistics_document(row) if row else None})
    attrs = [{"name": name, "value": value} for name, value in header["attrs"]]
    return {**header, "attrs": attrs, "tensors": tensors}


def _statistics_document(row: StatsRow) -> dict[str, Any]:
    document = {name: getattr(row, name) for name in ("count", *_MOMENTS, *_COUNTS, "first_bad")}
    # The norm of a float64 tensor may overflow, and a reported moment may be anything.
    return document | {name: json_real(document[name]) for name in _MOMENTS}


def _print(file: str, header: dict[str, Any], table: StatsTable) -> None:
    console = stdout_console()
    console.print(Text(printable(file), "bold"))
    for name, value in _facts(header, table):
        if value:
            console.print(Text.assemble((f"  {name:<12}", SUBTLE), printable(value)))
    if not header["tensors"]:
        return
    console.print()
    TextTable(
        _TENSOR_COLUMNS,
        map(_tensor_cells, header["tensors"]),
        width=stdout_width(console),
    ).print_to(console)
    console.print()
    for row in table:
        if any(getattr(row, name) is not None for name in (*_MOMENTS, *_COUNTS)):
            console.print(_moments_line(row))
            console.print(_counts_line(row))


def _facts(header: dict[str, Any], table: StatsTable) -> Iterator[tuple[str, str]]:
    """Yield what the header and the file's name tell; empty where they do not."""
    yield "version", header["version"]
    if time := header["dump_time"]:
        yield "dump time", f"{time_text(time)} ({time})"
    if len(table):
        yield "op type", table[0].op_type or ""
    yield "op name", header["op_name"]
    if len(table):
        yield "where", _where_text(table[0])
    yield "bytes", f"{header['file_nbytes']:,}, of these {header['header_nbytes']:,} of header"
    for name, value in header["attrs"]:
        yield "attribute", f"{name} = {value}"
    # An exception dump has log lines here.
    for line in header["dfx_message"].splitlines():
        yield "dfx message", line
    yield "note", header["note"]


def _where_text(row: StatsRow) -> str:
    names = ["rank", "device", "model", "model_id", "step"]
    names += ["task_id", "stream_id", "context_id", "thread_id"]
    where = [(name, getattr(row, name)) for name in names]
    return ", ".join(f"{name} {value}" for name, value in where if value is not None)


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


def _tensor_cells(tensor: dict[str, Any]) -> list[Cell]:
    return [
        Cell(f"{tensor['io']}.{tensor['index']}"),
        Cell(printable(tensor["dtype"] or "")),
        Cell(printable(tensor["format"] or "")),
        # Buffers and workspaces have neither format nor shape.
        Cell(shape_text(tensor["shape"]) if tensor["format"] else ""),
        Cell(shape_text(tensor["origin_shape"] or None)),
        Cell(f"{tensor['nbytes']:,}"),
        Cell(f"{tensor['offset']:,}"),
        Cell(f"{tensor['address']:#x}" if tensor["address"] else ""),
        status_cell(tensor["status"], tensor["note"]),
    ]


def _moments_line(row: StatsRow) -> Text:
    line = Text(f"{row.io}.{row.index}".ljust(10))
    line.append("count ", SUBTLE).append(_count_text(row.count))
    for name in _MOMENTS:
        value = getattr(row, name)
        text = value_text(value, integer=is_integer(row.dtype), digits=9)
        line.append(f"  {name} ", SUBTLE).append(text or "-", moment_style(value))
    return line


def _counts_line(row: StatsRow) -> Text:
    styles = {
        "nan": nan_style(row.nan or 0),
        "pos_inf": inf_style(row.pos_inf or 0, 0),
        "neg_inf": inf_style(0, row.neg_inf or 0),
    }
    line = Text(" " * 8)
    for name in _COUNTS:
        text = _count_text(getattr(row, name))
        line.append(f"  {name} ", SUBTLE).append(text, styles.get(name, ""))
    if row.first_bad is not None:
        line.append("  first_bad ", SUBTLE).append(_index_text(row.first_bad, row.shape))
    return line


def _count_text(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _index_text(flat: int, shape: tuple[int, ...] | None) -> str:
    """Return ``17 [2, 1]``; only the flat index if the stored shape does not hold it."""
    # A shape with an unknown dimension (-1) or of less elements than bytes.
    if not shape or min(shape) < 1 or flat >= math.prod(shape):
        return f"{flat:,}"
    return f"{flat:,} [{', '.join(str(i) for i in np.unravel_index(flat, shape))}]"
