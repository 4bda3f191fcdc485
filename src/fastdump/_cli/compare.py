"""``fastdump compare``: where two runs diverge."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from fastdump import ComparisonTable
from fastdump._cli import exit_codes
from fastdump._cli.compared import exit_code_of
from fastdump._cli.completion import complete_path
from fastdump._cli.console import print_fitted, print_hints, speed_text
from fastdump._cli.json_document import print_json
from fastdump._cli.language import language_option
from fastdump._cli.messages import say
from fastdump._cli.options import (
    is_given,
    json_option,
    json_rows_option,
    outputs_option,
    reading_options,
    selection_options,
    verbose_option,
)
from fastdump._cli.output_file import check_output, write_outputs
from fastdump._cli.pager import paged
from fastdump._cli.unread import say_skipped
from fastdump._cli.usage import refusing
from fastdump._compare import names_of
from fastdump._compare.progress import reporting_pairs
from fastdump._compare.run import Comparing
from fastdump._compare.table import FAIL_METRICS
from fastdump._compare.tolerances import Tolerances
from fastdump._figures.on_page import check_drawable
from fastdump._json import document
from fastdump._progress import working
from fastdump._selection import Selection
from fastdump._words.quantities import counted

_DEFAULT_ROWS = 10


def _limits(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, float]:
    """Return the limits in texts such as ``cosine_similarity=0.999`` and ``mismatched=1%``."""
    limits = {}
    for text in texts:
        name, equals, value = text.partition("=")
        percent = value.endswith("%")
        if name not in FAIL_METRICS or not equals or (percent and name != "mismatched"):
            known = ", ".join(FAIL_METRICS)
            raise click.BadParameter(f"{text!r} is not METRIC=VALUE; metrics: {known}", ctx, param)
        try:
            number = float(value.rstrip("%"))
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise click.BadParameter(f"{value!r} is not a number", ctx, param)
        limits["mismatched_share" if percent else name] = number / 100 if percent else number
    return limits


@click.command("compare")
@click.argument("a", metavar="A", shell_complete=complete_path)
@click.argument("b", metavar="B", shell_complete=complete_path)
@click.option("--rtol", type=float, metavar="X", help="Relative tolerance of an element.")
@click.option("--atol", type=float, metavar="X", help="Absolute tolerance of an element.")
@click.option(
    "--max-mismatched", type=float, metavar="SHARE", help="Share of elements that may be beyond it."
)
@click.option("--min-cosine", type=float, metavar="X", help="Smallest cosine similarity.")
@click.option(
    "--max-distance", type=float, metavar="X", help="Largest relative Euclidean distance."
)
@click.option("--kl", is_flag=True, help="Kullback-Leibler divergence too, in a second pass.")
@click.option(
    "--logical", is_flag=True, help="Without the padding of private formats, where both have it."
)
@click.option(
    "--map",
    "map_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Names in A and what they are in B: .csv with two columns, or a .json object.",
)
@selection_options
@click.option(
    "--fail-over",
    "limits",
    multiple=True,
    callback=_limits,
    metavar="METRIC=VALUE",
    help="Exit with 1 if, and only if, a pair is beyond this: rmse=1e-3, mismatched=1%, "
    "cosine_similarity=0.999 (below). May be repeated.",
)
@click.option(
    "--allow-unpaired",
    is_flag=True,
    help="Tensors that only one side has do not make the exit code 3.",
)
@verbose_option
@json_rows_option("As -v, with N rows of each list", _DEFAULT_ROWS)
@json_option
@outputs_option("Write all rows to FILE: .csv, .json, .arrow, .parquet or .html. May be repeated.")
@reading_options
@language_option
def command(
    a: str,
    b: str,
    rtol: float | None,
    atol: float | None,
    max_mismatched: float | None,
    min_cosine: float | None,
    max_distance: float | None,
    kl: bool,
    logical: bool,
    map_file: Path | None,
    conditions: dict[str, Any],
    limits: dict[str, float],
    allow_unpaired: bool,
    verbose: bool,
    rows: int | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    **reading: Any,
) -> int:
    """Compare two dumps of one model, A with the reference B, and say where they part.

    A and B are dump directories, dump files, .npy files converted from dumps, or two tables that
    `fastdump stats -o` has written. Tensors are paired by name, or what is left of it, or by type,
    shape and order. What counts as close depends on the element type, unless a tolerance is given;
    what is further apart, but no further than rounding to the coarser type explains, does not
    diverge. docs/compare.md has the defaults and the rules.

    The answer has at most eight lines; -v goes on with operators and pairs, in tables.

    \b
    Examples:
      fastdump compare run1 run2
      fastdump compare run1 run2 -v
      fastdump compare dump/rank0 dump/rank1 --io output
      fastdump compare device golden_npy --fail-over cosine_similarity=0.999
      fastdump compare stats1.parquet stats2.parquet -o report.html

    Exit codes: 0 no divergence; 1 divergence (with --fail-over: a pair beyond a limit);
    2 wrong usage, or nothing to compare; 3 no divergence, but not all was compared as a whole
    (casts that only one run has do not count).
    """  # noqa: D301 (\b is for click: do not wrap)
    for output in outputs:
        check_output(output, also=(".html",))
        if output.suffix.lower() == ".html":
            check_drawable()
    start = time.monotonic()
    with working(), refusing(click.UsageError):
        comparing = Comparing(
            a,
            b,
            tolerances=Tolerances(rtol, atol, max_mismatched, min_cosine, max_distance),
            kl=kl,
            logical=logical,
            names=names_of(map_file),
            selection=Selection.of(conditions),
            header_progress=True,
            **reading,
        )
    outcome = _run(comparing, start)
    table = outcome.table
    failed = table[table.failures(limits)] if limits else None
    failure = write_outputs(table, outputs)
    if as_json:
        print_json(_content(table, failed, limits, rows))
    else:
        is_verbose = verbose or is_given("rows") or bool(failed)
        n_rows = _DEFAULT_ROWS if rows is None else rows or None
        with paged():
            _print(outcome, failed, n_rows, verbose=is_verbose)
    for side in ("skipped_a", "skipped_b"):
        say_skipped(table.about[side])
    if failure is not None:
        raise failure
    if outcome.interrupted:
        return exit_codes.INTERRUPTED
    return exit_code_of(table, failed, allow_unpaired=allow_unpaired)


@dataclass(frozen=True)
class _Outcome:
    table: ComparisonTable
    nbytes: int
    seconds: float
    interrupted: bool


def _run(comparing: Comparing, start: float) -> _Outcome:
    """Compare, and return what was done since `start` even if that is not all."""
    interrupted = False
    try:
        with reporting_pairs(progress=True) as on_progress:
            comparing.run(on_progress)
    except KeyboardInterrupt:
        interrupted = True
        n_pairs = counted(comparing.done.pairs_done, "pair")
        say(f"interrupted after {n_pairs}")
    with working("judging pairs"):
        table = comparing.table()
    seconds = time.monotonic() - start
    return _Outcome(table, comparing.done.bytes_done, seconds, interrupted)


def _print(
    outcome: _Outcome, failed: ComparisonTable | None, rows: int | None, *, verbose: bool
) -> None:
    table = outcome.table
    print_fitted(table.lines, verbose=verbose, rows=rows, failed=failed)
    if not verbose:
        return
    hints = []
    if rows is not None and table.longest_list(failed) > rows:
        hints.append("-n 0 prints all, -o FILE writes all pairs")
    if outcome.nbytes:
        hints.append(speed_text(outcome.nbytes, outcome.seconds))
    print_hints(hints)


def _content(
    table: ComparisonTable,
    failed: ComparisonTable | None,
    limits: dict[str, float],
    rows: int | None,
) -> dict[str, Any]:
    shown = table if rows is None else table.worst(rows or None)
    content = table.to_dict()
    if failed is not None:
        content |= {"fail_over": limits, "failures": len(failed)}
    return content | {"rows": document(list(shown))}
