"""``fastdump show``: header, statistics and elements of one file or one tensor."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

import fastdump
from fastdump import Dump, Operator, StatsTable, Tensor
from fastdump._arguments import Engine, PathLike
from fastdump._cli import exit_codes
from fastdump._cli.completion import complete_target
from fastdump._cli.console import print_fitted
from fastdump._cli.json_document import print_json
from fastdump._cli.options import json_option, reading_options, root_option, selection_options
from fastdump._cli.pager import paged
from fastdump._cli.scanning import Outcome, moved, scan_paths
from fastdump._cli.unread import is_unread
from fastdump._cli.usage import refusing
from fastdump._dump.addressed import addressed
from fastdump._dump.dump import chosen
from fastdump._dump.named import name_and_tensor
from fastdump._progress import working
from fastdump._selection import Selection
from fastdump._show.matches import Matches
from fastdump._show.text import MAX_ROWS, file_lines
from fastdump._show.view import TensorView, row_document
from fastdump._stats import source_of

# An error names at most so many of a file's tensors.
_MAX_NAMES = 20


@click.command("show")
@click.argument(
    "targets",
    nargs=-1,
    required=True,
    metavar="PATH... [NAME[:TENSOR]]",
    shell_complete=complete_target,
)
@root_option
@selection_options
@click.option(
    "--slice",
    "elements",
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
    targets: tuple[str, ...],
    root: Path | None,
    conditions: dict[str, Any],
    as_json: bool,
    follow_links: bool,
    **viewing: Any,
) -> int:
    """Show one operator of a dump, or one TENSOR of it ("output.0"): header, statistics, elements.

    PATH is a dump file, or FILE:TENSOR; or a dump, or a table whose dump is at hand, in which NAME
    and the conditions choose the operator. NAME is a shell pattern of the operator's name
    ('*layers.2*qk'), of its type ('SoftmaxV2') or of both ('Add *layers.2*'); the first of these
    that finds an operator counts, and if none does, NAME is looked for at the end of names. Several
    operators are listed, with the command that shows one of them.

    The offset is where a tensor begins in its file, the address where it was on the device.
    min_abs is the smallest magnitude that is not 0, dynamic_range log2 of the largest magnitude
    divided by it. first_bad is the first NaN or Inf, as a flat index and as an index into the
    stored shape; below it is told which shape the bad values have (rows, columns, a block, one
    run), and which indices of the first dimension hold them. Of a file with statistics, the rows of
    the operators that were chosen are shown, the first 1,000.

    \b
    Examples:
      fastdump show dump_dir 'layers.2*SoftmaxV2' --rank 1 --step 1
      fastdump show dump_dir 'layers.2*SoftmaxV2:output.0' --rank 1 --step 1 --slice '0, :8'
      fastdump show stats.parquet '*lm_head*' --rank 0 --step 0
      fastdump show dump_dir/0/model/1/3/MatMul.layer7_qkv.12.3.1700000000000000
      fastdump show FILE:output.0 --json

    Exit codes: 0 done; 2 wrong usage, nothing that could be read, no operator found or several;
    3 done, but something could not be read whole.
    """  # noqa: D301 (\b is for click: do not wrap)
    paths, name, tensor = _parsed(targets)
    with refusing():
        source = source_of(paths)
    table = source if isinstance(source, StatsTable) else None
    if root is not None:
        source = table = moved(table, root)
    if name is None and not conditions:
        _check_one_file(paths, table)
    with working():
        opened = _opened(source, follow_links=follow_links)
    with opened as dump:
        with working("looking for the operator"):
            found = addressed(dump, name, Selection.of(conditions), tensor)
        if len(found) == 1:
            viewing |= {"as_json": as_json, "follow_links": follow_links}
            # A file that was named itself is shown as it was named.
            target = targets[0] if found[0].path == paths[0] else None
            return _show(found, found[0], target, tensor, **viewing)
        given = [*paths, *(["--root", str(root)] if root else [])]
        given += ["--follow-links"] if follow_links else []
        matches = Matches.of(found, dump, given, name, tensor, table)
    if as_json:
        print_json(matches.document())
    else:
        with paged():
            print_fitted(matches.lines)
    return exit_codes.NOTHING_READ


def _parsed(targets: Sequence[str]) -> tuple[list[str], str | None, str | None]:
    """Return paths, the name of an operator and that of a tensor.

    The last argument is a name if there is no such file.
    """
    *paths, last = targets
    if os.path.exists(last):  # noqa: PTH110 (also for what can be no path)
        return [*paths, last], None, None
    text, tensor = name_and_tensor(last)
    return (paths, text, tensor) if paths else ([text], None, tensor)


def _check_one_file(paths: Sequence[str], table: StatsTable | None) -> None:
    """Raise ClickException if paths without a name and conditions are not of one file."""
    if table is not None:
        raise click.ClickException(
            f"{paths[0]} is a table: try 'fastdump stats', or name an operator behind it"
        )
    if Path(paths[0]).is_dir():
        raise click.ClickException(
            f"{paths[0]} is a directory: try 'fastdump ls' or 'fastdump stats', or name an "
            "operator behind it"
        )


def _opened(source: StatsTable | Dump | list[PathLike], *, follow_links: bool) -> Dump:
    """Open a dump, or the dump of a table."""
    if isinstance(source, StatsTable) and not source.roots:
        raise click.ClickException("the table does not tell where its dump is: --root DIR does")
    try:
        with refusing():
            return fastdump.open(source, follow_links=follow_links, safe=True)
    except FileNotFoundError as error:
        if not isinstance(source, StatsTable):
            raise
        raise click.ClickException(
            f"{error.filename or error}: the dump of the table is not there; --root DIR says "
            "where it is now"
        ) from error


def _show(
    found: Dump,
    operator: Operator,
    target: str | None,
    name: str | None,
    *,
    elements: str | None,
    bins: int,
    as_json: bool,
    **reading: Any,
) -> int:
    """Print an operator, or a tensor of it, and return the exit code."""
    file = operator.path
    target = target or (f"{file}:{name}" if name else file)
    is_statistics = operator.header["kind"] == "statistics"
    # A table of statistics has no tensors; its rows are shown instead, those that were chosen.
    shown = [] if is_statistics else _tensors(found, operator, name)
    outcome = (
        Outcome(_chosen(found, **reading))
        if is_statistics
        else scan_paths((file,), {}, level="full", **reading)
    )
    table = _rows(outcome.table, file, name) if is_statistics else outcome.table
    # A dump that is appended to another has tensors of the same names.
    of_tensors = outcome.table if shown else ()
    rows = {(row.io, row.index, row.offset): row for row in of_tensors}
    if shown and outcome.table.file_states.of(outcome.table[0].path) != shown[0].file.known[0]:
        raise shown[0].file.changed()
    with refusing():
        views = [TensorView(tensor, rows, elements, bins if name else 0) for tensor in shown]
    if as_json:
        header: Mapping[str, Any] = operator.header
        document = {**header, "tensors": [view.document() for view in views]}
        attrs = [{"name": key, "value": value} for key, value in header["attrs"]]
        if is_statistics:
            document["rows"] = [row_document(row) for row in table.head(MAX_ROWS)]
            document["rows_left_out"] = max(len(table) - MAX_ROWS, 0)
        print_json({"path": file, **document, "attrs": attrs})
    else:
        with paged():
            print_fitted(file_lines, target, operator, table, views, is_whole=name is None)
    if outcome.interrupted or name is None or is_statistics:
        return outcome.exit_code
    # What else is in the file is not shown.
    statuses = [view.tensor.status if view.row is None else view.row.status for view in views]
    return exit_codes.INCOMPLETE if is_unread(statuses, {}) else exit_codes.SUCCESS


def _tensors(found: Dump, operator: Operator, name: str | None) -> list[Tensor]:
    tensors = chosen(found).tensors(operator)
    if name is None:
        return tensors
    named = [tensor for tensor in tensors if tensor.name == name]
    if not named:
        raise _no_tensor(operator.path, name, [tensor.name for tensor in tensors])
    return named


def _chosen(
    found: Dump, *, follow_links: bool, threads: int | None, io_depth: int | None, engine: Engine
) -> StatsTable:
    """Return the rows of a table of statistics that were chosen; its file was found already."""
    return found.stats(level="full", threads=threads, io_depth=io_depth, engine=engine)


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
