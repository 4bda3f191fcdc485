"""``fastdump compare``: where two runs part."""

from __future__ import annotations

import dataclasses
import math
import shlex
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from fastdump import ComparisonTable, FastdumpError
from fastdump._cli import exit_codes
from fastdump._cli.console import stdout_console, stdout_width
from fastdump._cli.json_document import print_json
from fastdump._cli.options import filter_options, json_option, scan_options
from fastdump._cli.output_file import check_output, write_outputs
from fastdump._compare import names_of
from fastdump._compare.operators import DivergentOperator
from fastdump._compare.progress import CompareProgress, pair_bar
from fastdump._compare.run import Comparing
from fastdump._compare.table import FAIL_METRICS
from fastdump._compare.text import operator_table, pair_table
from fastdump._compare.tolerances import Tolerances
from fastdump._printable import printable
from fastdump._quantities import counted, duration_text, size_text
from fastdump._styles import BAD, DOUBTFUL, GOOD, SUBTLE
from fastdump._table_json import json_real
from fastdump._text_table import TextTable

_DEFAULT_ROWS = 10
_UNREAD = ("malformed", "unreadable")


def _limits(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, float]:
    """Return what ``cosine_similarity=0.999`` and ``mismatched=1%`` say."""
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
            raise click.BadParameter(f"{value!r} is not a number", ctx, param) from None
        if math.isnan(number):
            raise click.BadParameter(f"{value!r} is not a number", ctx, param)
        limits["mismatched_share" if percent else name] = number / 100 if percent else number
    return limits


@click.command("compare")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--rtol", type=float, metavar="X", help="Relative tolerance of an element.")
@click.option("--atol", type=float, metavar="X", help="Absolute tolerance of an element.")
@click.option(
    "--max-mismatched", type=float, metavar="SHARE", help="Share of elements that may be beyond it."
)
@click.option(
    "--min-cosine", "min_cosine", type=float, metavar="X", help="Smallest cosine similarity."
)
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
@filter_options
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
    "-n",
    "--rows",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"Print N rows of each list; 0 prints all. Default: {_DEFAULT_ROWS}, with --json all.",
)
@json_option
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all rows to FILE: .csv, .json, .arrow, .parquet or .html. May be repeated.",
)
@scan_options
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
    op_type: tuple[str, ...],
    op_name: tuple[str, ...],
    step: tuple[int, ...],
    rank: tuple[int, ...],
    tensor: tuple[str, ...],
    limits: dict[str, float],
    rows: int | None,
    as_json: bool,
    outputs: tuple[Path, ...],
    threads: int | None,
    io: str,
    follow_links: bool,
) -> int:
    """Compare two dumps of one model, A with the reference B, and say where they part.

    A and B are dump directories, dump files, .npy files converted from dumps, or two tables that
    `fastdump stats -o` has written. Tensors are paired by name, or what is left of it, or by type,
    shape and order. What counts as close depends on the element type; docs/compare.md has the
    defaults.

    \b
    Examples:
      fastdump compare run1 run2
      fastdump compare dump/rank0 dump/rank1 --tensor output
      fastdump compare device golden_npy --fail-over cosine_similarity=0.999
      fastdump compare stats1.parquet stats2.parquet -o report.html

    \b
    Exit codes: 0 no divergence; 1 divergence (with --fail-over: a pair beyond a limit);
    2 wrong usage, or nothing to compare; 3 no divergence, but some files could not be read.
    """  # noqa: D301 (\b is for click: do not wrap)
    for output in outputs:
        check_output(output, also=(".html",))
    try:
        comparing = Comparing(
            a,
            b,
            tolerances=Tolerances(rtol, atol, max_mismatched, min_cosine, max_distance),
            kl=kl,
            logical=logical,
            names=names_of(map_file),
            threads=threads,
            io=io,
            follow_links=follow_links,
            conditions={
                "op_type": op_type or None,
                "op_name": op_name or None,
                "step": step or None,
                "rank": rank or None,
                "tensor": tensor or None,
            },
        )
    except FastdumpError:
        raise
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    outcome = _run(comparing)
    table = outcome.table
    failed = table[table.failures(limits)] if limits else None
    failure = write_outputs(table, outputs)
    if as_json:
        print_json(_document(table, failed, limits, rows))
    else:
        _print(outcome, failed, _DEFAULT_ROWS if rows is None else rows, Path(a))
    if failure is not None:
        raise failure
    return _exit_code(outcome, failed)


@dataclasses.dataclass(frozen=True)
class _Outcome:
    table: ComparisonTable
    nbytes: int
    seconds: float
    interrupted: bool


def _run(comparing: Comparing) -> _Outcome:
    """Compare, and return what was done even if that is not all."""
    start = time.monotonic()
    interrupted = False
    reached: list[CompareProgress] = []
    try:
        with pair_bar() as bar:

            def on_progress(progress: CompareProgress) -> None:
                reached[:] = [progress]
                bar(progress)

            comparing.run(on_progress)
    except KeyboardInterrupt:
        interrupted = True
        done = reached[0].pairs_done if reached else 0
        print(f"fastdump: interrupted after {counted(done, 'pair')}", file=sys.stderr)
    return _Outcome(comparing.table(), comparing.nbytes, time.monotonic() - start, interrupted)


def _exit_code(outcome: _Outcome, failed: ComparisonTable | None) -> int:
    if outcome.interrupted:
        return exit_codes.INTERRUPTED
    summary = outcome.table.summary()
    if not summary["compared"]:
        print("fastdump: error: nothing was compared", file=sys.stderr)
        return exit_codes.NOTHING_READ
    if len(failed) if failed is not None else outcome.table.diverges.any():
        return exit_codes.FINDINGS
    unread = any(summary["status"].get(status) for status in _UNREAD)
    return exit_codes.INCOMPLETE if unread else exit_codes.SUCCESS


def _print(outcome: _Outcome, failed: ComparisonTable | None, rows: int, a: Path) -> None:
    table = outcome.table
    console = stdout_console()
    style = BAD if table.diverges.any() else GOOD if table.summary()["compared"] else DOUBTFUL
    console.print(Text(printable(table.sentence), style))
    console.print(_facts(outcome))
    for note in _notes(table):
        console.print(printable(note), style=DOUBTFUL)
    width = stdout_width(console)
    dropped: dict[str, None] = {}

    def print_list(title: str, n_rows: int, text_table: TextTable) -> None:
        if not n_rows:
            return
        shown = f", {rows:,} of {n_rows:,}" if rows and rows < n_rows else ""
        console.print(f"\n{title}{shown}:")
        text_table.print_to(console)
        dropped.update(dict.fromkeys(text_table.dropped))

    limit = rows or None
    operators = table.by_added_error()
    print_list(
        "operators, by the error that they add",
        len(operators),
        operator_table(operators[:limit], width=width),
    )
    pairs = table[~table.unpaired] if failed is None else failed
    to_see = pairs[_needs_a_look(pairs)] if failed is None else pairs
    title = "worst pairs" if failed is None else "pairs beyond a limit"
    print_list(title, len(to_see), pair_table(to_see.worst(limit), width=width))
    alone = table[table.unpaired]
    print_list("without a partner", len(alone), pair_table(alone[:limit], width=width))
    hints = []
    if rows and max(len(operators), len(to_see), len(alone)) > rows:
        hints.append("-n 0 prints all, -o FILE writes all pairs")
    if dropped:
        hints.append(f"left out for want of width: {', '.join(dropped)}")
    first = table.first_divergence
    if first is not None and table.head.get("compared") == "elements":
        path = str(a / (first.path_a or "")) if a.is_dir() else str(a)
        hints.append(f"fastdump show {shlex.quote(f'{path}:{first.tensor}')}")
    if hints:
        console.print()
    for hint in hints:
        console.print(printable(hint), style=SUBTLE)


def _facts(outcome: _Outcome) -> Text:
    summary = outcome.table.summary()
    found = ", ".join(f"{n:,} by {how}" for how, n in summary["paired_by"].items())
    read = ""
    if outcome.nbytes:
        speed = size_text(outcome.nbytes / max(outcome.seconds, 1e-9))
        read = f", {size_text(outcome.nbytes)} in {duration_text(outcome.seconds)} ({speed}/s)"
    text = Text(f"{counted(summary['pairs'], 'pair')}{f' ({found})' if found else ''}{read}")
    verdicts = [f"{n:,} {verdict}" for verdict, n in summary["verdict"].items()]
    statuses = [f"{n:,} {status}" for status, n in summary["status"].items() if status != "ok"]
    return text.append("\n" + printable("; ".join([*verdicts, *statuses])), SUBTLE)


def _needs_a_look(pairs: ComparisonTable) -> Any:
    """Return which pairs are not bit-equal and whole."""
    return (pairs["verdict"] != "equal") | (pairs["status"] != "ok")


def _notes(table: ComparisonTable) -> list[str]:
    notes = table.head.get("notes")
    return [str(note) for note in notes] if isinstance(notes, list) else []


def _document(
    table: ComparisonTable,
    failed: ComparisonTable | None,
    limits: dict[str, float],
    rows: int | None,
) -> dict[str, Any]:
    first = table.first_divergence
    document: dict[str, Any] = {
        **table.head,
        "sentence": table.sentence,
        "summary": table.summary(),
        "first_divergence": None if first is None else _operator(first),
        "operators": [_operator(op) for op in table.by_added_error()[: rows or None]],
    }
    if failed is not None:
        document["fail_over"] = limits
        document["failures"] = len(failed)
    shown = table if rows is None else table.worst(rows or None)
    names = table.column_names
    document["rows"] = [{name: _value(getattr(row, name)) for name in names} for row in shown]
    return document


def _operator(operator: DivergentOperator) -> dict[str, Any]:
    # Without the number of the row, which means nothing once rows are sorted.
    fields: Iterable[str] = (f.name for f in dataclasses.fields(operator) if f.name != "row")
    return {name: _value(getattr(operator, name)) for name in fields}


def _value(value: Any) -> Any:
    return json_real(value) if isinstance(value, float) else value
