"""``fastdump show``: header, statistics and elements of one file or one tensor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

import fastdump
from fastdump import Operator, StatsTable, Tensor
from fastdump._cli import exit_codes
from fastdump._cli.console import print_fitted
from fastdump._cli.json_document import print_json
from fastdump._cli.options import json_option, reading_options
from fastdump._cli.scanning import scan_paths
from fastdump._cli.unread import is_unread
from fastdump._cli.usage import refusing
from fastdump._show.text import MAX_ROWS, file_lines
from fastdump._show.view import TensorView, row_document
from fastdump._stats import source_of

# An error names at most so many of a file's tensors.
_MAX_NAMES = 20
_TENSOR_SUFFIX = re.compile(r"(?P<file>.+):(?P<tensor>(?:input|output|buffer|space)\.\d+)", re.S)


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
@reading_options
def command(
    target: str,
    index: str | None,
    bins: int,
    as_json: bool,
    **reading: Any,
) -> int:
    """Show one dump FILE, or one TENSOR of it ("output.0"): header, statistics, elements.

    The offset is where a tensor begins in FILE, the address where it was on the device.
    first_bad is the first NaN or Inf, as a flat index and as an index into the stored shape; below
    it is told which shape the bad values have (rows, columns, a block, one run), and which indices
    of the first dimension hold them. Of a table of statistics the first 1,000 rows are shown.

    \b
    Examples:
      fastdump show dump_dir/0/model/1/3/MatMul.layer7_qkv.12.3.1700000000000000
      fastdump show FILE:output.0 --slice '0, :8'
      fastdump show FILE --json
    """  # noqa: D301 (\b is for click: do not wrap)
    file, name = _parse_target(target)
    if Path(file).is_dir():
        raise click.ClickException(f"{file} is a directory: try 'fastdump ls' or 'fastdump stats'")
    if isinstance(source_of(file), StatsTable):
        raise click.ClickException(f"{file} is a table: try 'fastdump stats'")
    with fastdump.open(file, safe=True) as dump:
        operator = dump[0]
        is_statistics = operator.header["kind"] == "statistics"
        # A table of statistics has no tensors; its rows are shown instead.
        shown = [] if is_statistics else _tensors(operator, name)
        outcome = scan_paths((file,), {}, level="full", **reading)
        table = _rows(outcome.table, file, name) if is_statistics else outcome.table
        # A dump that is appended to another has tensors of the same names.
        of_tensors = outcome.table if shown else ()
        rows = {(row.io, row.index, row.offset): row for row in of_tensors}
        if shown and outcome.table.file_states.of(outcome.table[0].path) != shown[0].file.known[0]:
            raise shown[0].file.changed()
        with refusing():
            views = [TensorView(tensor, rows, index, bins if name else 0) for tensor in shown]
        if as_json:
            header: Mapping[str, Any] = operator.header
            document = {**header, "tensors": [view.document() for view in views]}
            attrs = [{"name": key, "value": value} for key, value in header["attrs"]]
            if is_statistics:
                document["rows"] = [row_document(row) for row in table.head(MAX_ROWS)]
                document["rows_left_out"] = max(len(table) - MAX_ROWS, 0)
            print_json({"path": file, **document, "attrs": attrs})
        else:
            is_whole = name is None
            print_fitted(file_lines, target, operator, table, views, is_whole=is_whole)
    if outcome.interrupted or name is None or is_statistics:
        return outcome.exit_code
    # What else is in the file is not shown.
    statuses = [view.tensor.status if view.row is None else view.row.status for view in views]
    return exit_codes.INCOMPLETE if is_unread(statuses, {}) else exit_codes.SUCCESS


def _parse_target(target: str) -> tuple[str, str | None]:
    """Split a target into the file and the name of the tensor, None if it is a whole file."""
    match = None if Path(target).exists() else _TENSOR_SUFFIX.fullmatch(target)
    return (match["file"], match["tensor"]) if match else (target, None)


def _tensors(operator: Operator, name: str | None) -> list[Tensor]:
    tensors = [*operator.tensors, *(t for dump in operator.appended for t in dump)]
    if name is None:
        return tensors
    found = [tensor for tensor in tensors if tensor.name == name]
    if not found:
        raise _no_tensor(operator.path, name, [tensor.name for tensor in tensors])
    return found


def _rows(table: StatsTable, file: str, name: str | None) -> StatsTable:
    """Return the rows of a table of statistics that are shown."""
    if name is None:
        return table
    names = [row.tensor_name for row in table]
    if name not in names:
        raise _no_tensor(file, name, names)
    return table[np.array([one == name for one in names])]


def _no_tensor(file: str, name: str, names: Iterable[str]) -> click.ClickException:
    listed = list(dict.fromkeys(names))
    more = f", ... and {len(listed) - _MAX_NAMES:,} more" if len(listed) > _MAX_NAMES else ""
    known = ", ".join(listed[:_MAX_NAMES]) or "none"
    return click.ClickException(f"{file} has no {name}; its tensors: {known}{more}")
