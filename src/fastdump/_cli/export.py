"""``fastdump export``: statistics by rank, layer and step, for programs that draw them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from fastdump._atomic import check_replaceable, replacing
from fastdump._cli import exit_codes
from fastdump._cli.completion import complete_path
from fastdump._cli.console import print_hints, stdout_console
from fastdump._cli.groups import Group
from fastdump._cli.options import (
    growing_options,
    paths_argument,
    placing_options,
    reading_options,
    selection_options,
)
from fastdump._cli.scanning import Outcome, scan_for_triage
from fastdump._cli.unread import say_skipped
from fastdump._export.openmetrics import exposition
from fastdump._export.tensorboard import check_installed, write_runs
from fastdump._progress import working
from fastdump._words.printable import printable
from fastdump._words.quantities import counted


@click.group("export", cls=Group, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> int:
    """Write statistics by rank, layer and step for programs that draw them over time.

    \b
    Examples:
      fastdump export tensorboard dump_dir logs
      fastdump export openmetrics dump_dir -o fastdump.prom
    """  # noqa: D301 (\b is for click: do not wrap)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    return exit_codes.SUCCESS


@command.command("tensorboard", short_help="Event files: a run for each rank.")
@paths_argument
@click.argument(
    "logdir", type=click.Path(path_type=Path, file_okay=False), shell_complete=complete_path
)
@click.option(
    "--append", is_flag=True, help="Add an event file to runs in LOGDIR that have some already."
)
@selection_options
@placing_options
@growing_options
@reading_options
def _tensorboard(
    paths: tuple[str, ...], logdir: Path, append: bool, conditions: dict[str, Any], **reading: Any
) -> int:
    """Write scalars of PATH... by layer and step into LOGDIR, as event files of TensorBoard.

    PATH is a dump, or a table that 'fastdump stats --level full -o' has written. Each rank becomes
    a run, the directory LOGDIR/rank0 with one event file; what tells no rank is in LOGDIR itself.
    Tags are rms/layer_3, rms/no_layer and rms/all; so are max_abs, headroom_ratio, nan_elements and
    others. --io output counts each tensor once, not again as the input of other operators.

    TensorBoard itself is needed: pip install 'fastdump[tensorboard]'.

    \b
    Examples:
      fastdump export tensorboard dump_dir logs
      fastdump export tensorboard stats.parquet logs/monday --io output
      fastdump export tensorboard dump_dir logs --step 5-9 --append

    Exit codes: 0 done; 2 wrong usage, nothing that could be read, or LOGDIR has event files
    already; 3 done, but something could not be read whole; 130 interrupted: nothing was written.
    """  # noqa: D301 (\b is for click: do not wrap)
    check_installed()
    outcome = _scanned(paths, conditions, reading)
    with working("writing event files"):
        written = write_runs(outcome.table, logdir, append=append)
    click.echo(printable(f"{logdir}: event files of {counted(len(written), 'run')}"))
    print_hints([f"tensorboard --logdir {shlex.quote(str(logdir))}"])
    say_skipped(outcome.table.skipped)
    return outcome.exit_code


@command.command("openmetrics", short_help="Text for Prometheus, of the last step.")
@paths_argument
@click.option(
    *("-o", "--output"),
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the text to FILE, which is replaced as a whole. Default: stdout.",
)
@selection_options
@placing_options
@growing_options
@reading_options
def _openmetrics(
    paths: tuple[str, ...], output: Path | None, conditions: dict[str, Any], **reading: Any
) -> int:
    """Write statistics of PATH... by rank and layer as OpenMetrics text, which Prometheus reads.

    PATH is a dump, or a table that 'fastdump stats --level full -o' has written. The text is of the
    last step of each rank; --step chooses another. Samples have the labels rank and layer, as far
    as the dump tells them.

    \b
    Examples:
      fastdump export openmetrics dump_dir
      fastdump export openmetrics dump_dir --io output -o /var/lib/node_exporter/fastdump.prom

    Exit codes: 0 done; 2 wrong usage, or nothing that could be read; 3 done, but something could
    not be read whole; 130 interrupted: nothing was written.
    """  # noqa: D301 (\b is for click: do not wrap)
    if output is not None:
        check_replaceable(output)
    outcome = _scanned(paths, conditions, reading)
    text = exposition(outcome.table)
    if output is None:
        stdout_console().file.write(text)
    else:
        with replacing(output) as file:
            file.write(text.encode())
    say_skipped(outcome.table.skipped)
    return outcome.exit_code


def _scanned(
    paths: tuple[str, ...], conditions: dict[str, Any], reading: dict[str, Any]
) -> Outcome:
    """Return the statistics of all paths; sums over a part of them would look like all."""
    outcome = scan_for_triage(paths, conditions, None, **reading)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome
