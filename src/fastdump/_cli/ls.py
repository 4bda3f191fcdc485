"""``fastdump ls``: what a dump holds, from headers only."""

from __future__ import annotations

from typing import Any

import click

from fastdump._cli.console import print_fitted
from fastdump._cli.json_document import print_json
from fastdump._cli.options import (
    json_option,
    paths_argument,
    placing_options,
    reading_options,
    selection_options,
)
from fastdump._cli.pager import paged
from fastdump._cli.scanning import scan_paths
from fastdump._inventory.inventory import Inventory
from fastdump._inventory.text import inventory_lines


@click.command("ls")
@paths_argument
@selection_options
@click.option(
    "-n",
    "--rows",
    type=click.IntRange(min=0),
    metavar="N",
    help="Print the first N steps of ranks, and N dtypes; 0 prints all. Default: all, or a line "
    "for each rank if there are more than 40 steps.",
)
@json_option
@placing_options
@reading_options
def command(
    paths: tuple[str, ...],
    conditions: dict[str, Any],
    rows: int | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """List what PATH... holds without reading any tensor.

    Prints files, operators, tensors, bytes and times of each rank and step, the dtypes, and then
    what is odd: truncated, absent, malformed and unsupported tensors, sizes that disagree,
    trailing bytes, dumps that were appended to others, steps that are empty or that one rank lacks,
    ranks of which there is nothing, and files that were skipped.

    \b
    Examples:
      fastdump ls dump_dir
      fastdump ls dump_dir --rank 0 --json
    """  # noqa: D301 (\b is for click: do not wrap)
    outcome = scan_paths(paths, conditions, level="header", **reading)
    inventory = Inventory(outcome.table, all_ranks="rank" not in conditions)
    if as_json:
        print_json(inventory.document())
    else:
        with paged():
            print_fitted(inventory_lines, inventory, rows=rows)
    return outcome.exit_code
