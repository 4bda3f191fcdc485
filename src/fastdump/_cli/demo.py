"""``fastdump demo``: a realistic dump on which to try the other commands."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import click

from fastdump._cli import exit_codes
from fastdump._cli.console import print_lines, stdout_console
from fastdump._cli.usage import refusing
from fastdump._words.printable import printable
from fastdump._words.quantities import counted, size_text
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell
from fastdump.demo import (
    DemoDump,
    OverflowDemo,
    WatcherDemo,
    write_demo,
    write_overflow_demo,
    write_watcher_demo,
)
from fastdump.demo._write import check_op_name


@click.command("demo")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["model", "overflow", "watcher"]),
    default="model",
    show_default=True,
    help="model: all tensors; overflow: overflow records and their operators (dump_debug); "
    "watcher: outputs that were recorded again after other operators (dump_scene=watcher).",
)
@click.option(
    "--size",
    default="small",
    show_default=True,
    metavar="SIZE",
    help="small (about 12 MB), or how much to write: 500MB, 2GiB.",
)
@click.option(
    "--files",
    "n_files",
    type=click.IntRange(min=1),
    metavar="N",
    help="About how many files to write; more files are more steps.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Of the weights and the tokens.",
)
@click.option(
    "--wrong",
    metavar="OP_NAME",
    help="Let this operator compute values a sixteenth too large: a run to compare with another.",
)
@click.option("--force", is_flag=True, help="Replace an earlier demo dump in DIR.")
def command(
    directory: Path,
    kind: str,
    size: str,
    n_files: int | None,
    seed: int,
    wrong: str | None,
    force: bool,
) -> int:
    """Write the dump of a small transformer on two ranks into DIR, which must be new or empty.

    In one step an attention score overflows and turns into NaN on the way to the loss; a collective
    operator spreads that to the other rank. There are also harmless -Inf in a mask, a file that was
    cut short, and names that were too long for a file.

    \b
    Examples:
      fastdump demo demo_dump
      fastdump demo demo_dump --force --size 2GB --files 20000
      fastdump demo overflow_dump --kind overflow
      fastdump demo other_dump --wrong model.layers.1.mlp.act_fn/Swish
    """  # noqa: D301 (\b is for click: do not wrap)
    if kind != "model" and (size != "small" or n_files is not None or wrong is not None):
        raise click.UsageError(f"--size, --files and --wrong are for --kind model, not {kind}")
    if wrong is not None:
        # Before an earlier dump is removed.
        with refusing(click.UsageError):
            check_op_name(wrong)
    _make_room(directory, force=force)
    if kind == "overflow":
        _print_overflow(write_overflow_demo(directory, seed=seed))
    elif kind == "watcher":
        _print_watcher(write_watcher_demo(directory, seed=seed))
    else:
        with refusing(click.UsageError):
            demo = write_demo(directory, size=size, n_files=n_files, seed=seed, wrong=wrong)
        _print(demo)
    return exit_codes.SUCCESS


def _make_room(directory: Path, *, force: bool) -> None:
    """Remove an earlier demo dump if that is wanted, and nothing else.

    Raises
    ------
    click.UsageError
        Something is there that may not be removed, or does not look like a part of a demo dump.
    """
    if not directory.is_dir():
        return
    entries = list(directory.iterdir())
    # A slip such as `fastdump demo --force ~` must do no harm.
    for entry in entries:
        if entry.is_symlink() or not entry.match("worldsize2_global_rank[01]"):
            option = "--force: " if force else ""
            raise click.UsageError(
                f"{option}{entry} is not part of a demo dump: name an empty directory"
            )
    if entries and not force:
        raise click.UsageError(f"{directory} is not empty: --force replaces the demo dump in it")
    for entry in entries:
        shutil.rmtree(entry)


def _print(demo: DemoDump) -> None:
    facts = (
        f"{counted(demo.n_files, 'file')}, {size_text(demo.n_bytes)}, "
        f"{counted(demo.n_ranks, 'rank')}, {counted(demo.n_steps, 'step')}; planted:"
    )
    origin = demo.overflow
    planted = {
        "overflow": f"rank {origin.rank}, step {origin.step}: {origin.op_type} {origin.op_name},"
        " finite inputs, Inf in its output",
        "spread": f"NaN by the all-reduce of step {origin.step} to all ranks",
        "truncated": str(demo.truncated.relative_to(demo.directory)),
        "long names": f"{counted(len(demo.long_named), 'file')} with digits for a name",
    }
    lines = [
        [Cell(f"  {name:<12}", SUBTLE), Cell(printable(text))] for name, text in planted.items()
    ]
    print_lines(stdout_console(), [[Cell(facts)], *lines])
    _print_hints(demo.directory, "triage", "stats", "ls")


def _print_overflow(demo: OverflowDemo) -> None:
    lines = [[Cell(f"{counted(len(demo.records), 'overflow record')} and their operators:")]]
    for record, operator in zip(demo.records, demo.operators, strict=True):
        path = operator.relative_to(demo.directory)
        lines.append([Cell(printable(f"  {record.name}  {path}"))])
    print_lines(stdout_console(), lines)
    _print_hints(demo.directory, "overflow")


def _print_watcher(demo: WatcherDemo) -> None:
    last = demo.first_byte + demo.n_bytes - 1
    fact = (
        f"rank {demo.rank}, step {demo.step}: bytes {demo.first_byte:,} to {last:,} of "
        f"output 0 of {demo.watched} are overwritten after {demo.culprit}"
    )
    print_lines(stdout_console(), [[Cell(fact)]])
    _print_hints(demo.directory, "watcher")


def _print_hints(directory: Path, *commands: str) -> None:
    quoted = printable(shlex.quote(str(directory)))
    lines = (f"  fastdump {command} {quoted}" for command in commands)
    stdout_console().print("\n".join(["\nTry:", *lines]))
