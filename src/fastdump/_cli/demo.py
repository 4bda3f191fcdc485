"""``fastdump demo``: a realistic dump on which to try the other commands."""

from __future__ import annotations

import secrets
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

_HIDDEN = ".fastdump-"
"""What is written has such a name until it is whole; one is left only if the process was killed."""


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
    with _replacing(directory, force=force) as new:
        if kind == "overflow":
            lines, commands = _overflow_lines(write_overflow_demo(new, seed=seed)), ["overflow"]
        elif kind == "watcher":
            lines, commands = _watcher_lines(write_watcher_demo(new, seed=seed)), ["watcher"]
        else:
            with refusing(click.UsageError):
                demo = write_demo(new, size=size, n_files=n_files, seed=seed, wrong=wrong)
            lines, commands = _model_lines(demo), ["triage", "stats", "ls"]
    print_lines(stdout_console(), lines)
    _print_hints(directory, commands)
    return exit_codes.SUCCESS


@contextmanager
def _replacing(directory: Path, *, force: bool) -> Iterator[Path]:
    """Provide a directory whose content takes the place of that of `directory`, or nothing does.

    Raises
    ------
    click.UsageError
        As `_earlier` does.
    """
    earlier = _earlier(directory, force=force)
    is_new = not directory.is_dir()
    directory.mkdir(parents=True, exist_ok=True)
    new, old = (directory / f"{_HIDDEN}{secrets.token_hex(8)}" for _ in range(2))
    try:
        yield new
        # Moving takes no time in which something could happen, as removing does.
        old.mkdir()
        for entry in earlier:
            entry.rename(old / entry.name)
        for entry in new.iterdir():
            entry.rename(directory / entry.name)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
        if is_new:
            with suppress(OSError):  # there is something in it
                directory.rmdir()


def _earlier(directory: Path, *, force: bool) -> list[Path]:
    """Return what an earlier demo dump in a directory consists of, if it may be removed.

    Raises
    ------
    click.UsageError
        Something is there that may not be removed, or does not look like a part of a demo dump.
    """
    if not directory.is_dir():
        return []
    entries = list(directory.iterdir())
    # A slip such as `fastdump demo --force ~` must do no harm.
    for entry in entries:
        is_part = entry.match("worldsize2_global_rank[01]") or entry.match(f"{_HIDDEN}*")
        if entry.is_symlink() or not is_part:
            option = "--force: " if force else ""
            raise click.UsageError(
                f"{option}{entry} is not part of a demo dump: name an empty directory"
            )
    if entries and not force:
        raise click.UsageError(f"{directory} is not empty: --force replaces the demo dump in it")
    return entries


def _model_lines(demo: DemoDump) -> list[list[Cell]]:
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
    return [[Cell(facts)], *lines]


def _overflow_lines(demo: OverflowDemo) -> list[list[Cell]]:
    lines = [[Cell(f"{counted(len(demo.records), 'overflow record')} and their operators:")]]
    for record, operator in zip(demo.records, demo.operators, strict=True):
        path = operator.relative_to(demo.directory)
        lines.append([Cell(printable(f"  {record.name}  {path}"))])
    return lines


def _watcher_lines(demo: WatcherDemo) -> list[list[Cell]]:
    last = demo.first_byte + demo.n_bytes - 1
    fact = (
        f"rank {demo.rank}, step {demo.step}: bytes {demo.first_byte:,} to {last:,} of "
        f"output 0 of {demo.watched} are overwritten after {demo.culprit}"
    )
    return [[Cell(fact)]]


def _print_hints(directory: Path, commands: list[str]) -> None:
    quoted = printable(shlex.quote(str(directory)))
    lines = (f"  fastdump {command} {quoted}" for command in commands)
    stdout_console().print("\n".join(["\nTry:", *lines]))
