"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from fastdump._cli.completion import complete_path, completion_of
from fastdump._selection import IO, STATUSES, Selection
from fastdump._table.file_format import SUFFIXES

Command = TypeVar("Command", bound=Callable[..., Any])


def all_of(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return one decorator that applies several."""
    # Decorators apply from the last to the first; reversed, the help lists options as written.
    return lambda function: functools.reduce(lambda f, d: d(f), reversed(decorators), function)


paths_argument = click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_path
)


root_option = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the files of a table are now, if they were moved.",
)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, for programs."
)


def _rows_option(help: str, **options: Any) -> Callable[[Command], Command]:
    return click.option(
        "-n", "--rows", type=click.IntRange(min=0), metavar="N", help=help, **options
    )


def rows_option(help: str, default: int) -> Callable[[Command], Command]:
    """Return an option for how many rows are printed; the command gets None for all."""
    return _rows_option(
        help,
        default=default,
        show_default=True,
        callback=lambda _context, _parameter, number: number or None,
    )


verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Print after the answer all that there is to say, in tables.",
)


def is_given(name: str) -> bool:
    """Tell whether the user has given an option of the command that runs."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def json_rows_option(help: str, default: int) -> Callable[[Command], Command]:
    """Return an option for how many rows are printed, also as JSON.

    The command gets 0 for all, and None if the option is not given.
    """
    return _rows_option(f"{help}; 0 prints all. Default: {default}, with --json all.")


class OutputDirectory(type(Path())):  # type: ignore[misc]
    """A directory that a table is written to in parts."""


class _Output(click.Path):
    """A file; or a directory, whose name ends with a slash, or which is there.

    What has the name of a table's file is to be one.
    """

    def convert(self, value: Any, parameter: Any, context: Any) -> Any:
        path = super().convert(value, parameter, context)
        is_there = Path(value).is_dir() and not str(value).endswith(SUFFIXES)
        return OutputDirectory(path) if is_there or str(value).endswith("/") else path


def outputs_option(help: str, *, directories: bool = False) -> Callable[[Command], Command]:
    """Return an option for files that tables are written to; the command gets `outputs`.

    With `directories`, some may be an `OutputDirectory`.
    """
    return click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        type=(_Output if directories else click.Path)(path_type=Path),
        metavar="FILE",
        help=help,
    )


threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many threads work. Default: FASTDUMP_THREADS, or the CPUs this process may use.",
)

io_depth_option = click.option(
    "--io-depth",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many files are read at once while storage is waited for. Default: "
    "FASTDUMP_IO_DEPTH, or what measuring suggests, up to 64.",
)

follow_links_option = click.option(
    "--follow-links",
    is_flag=True,
    help="Follow symbolic links below PATH. Without it they are skipped and counted.",
)

reading_options = all_of(
    threads_option,
    io_depth_option,
    click.option(
        "--engine",
        type=click.Choice(["auto", "mmap", "read"]),
        default="auto",
        show_default=True,
        help="How files are read; the numbers do not depend on it.",
    ),
    follow_links_option,
)
"""Options for reading: the command gets `threads`, `io_depth`, `engine` and
`follow_links`."""


def _rank(_context: click.Context, _parameter: click.Parameter, text: str | None) -> Any:
    return int(text) if text and text.isdecimal() else text


placing_options = all_of(
    click.option(
        "--as-rank",
        metavar="N",
        callback=_rank,
        help="The rank of all tensors whose path does not tell one; 'env' takes it from RANK, "
        "SLURM_PROCID or OMPI_COMM_WORLD_RANK.",
    ),
    click.option(
        "--base",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Show paths relative to DIR, which is above every PATH: tables of several directories "
        "can be merged then.",
    ),
)
"""Options for where a dump belongs: the command gets `as_rank` and `base`."""

growing_options = all_of(
    click.option(
        "--settle",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="Say of damaged files that were written to less than so long ago that they are "
        "perhaps still being written, and read them again with --since.",
    ),
    click.option(
        "--since",
        type=click.Path(exists=True),
        metavar="TABLE",
        help="Read only files that are new or have changed since TABLE was made of the same PATH, "
        "with the same options: a .parquet or .arrow file of -o, or a directory of parts.",
    ),
    click.option(
        "--trust-directories",
        is_flag=True,
        help="With --since, look at nothing in directories whose names have not changed: files "
        "that were written to in place are not seen.",
    ),
)
"""Options for dumps that grow: the command gets `since`, `trust_directories` and `settle`."""

_NUMBERS = {
    "rank": "Only these ranks",
    "step": "Only these steps",
    "device": "Only these devices",
    "model_id": "Only these models, by number",
    "index": "Only the inputs, outputs, ... at these positions",
}
_PATTERNS = {
    "op_type": "Only operators of this type, e.g. 'MatMul*'.",
    "op_name": "Only operators of this name, e.g. 'model.layers.7*', as the model or file names "
    "spell it.",
    "dtype": "Only tensors of this element type, e.g. 'bfloat16' or 'float8*'.",
    "model": "Only models of this name.",
    "time": "Only dumps of this time, as directories have it.",
}
_WORDS = {"io": (IO, "Only tensors of this kind."), "status": (STATUSES, "Only this status.")}
_ORDER = (
    *("op_type", "op_name", "io", "index", "dtype", "step", "rank"),
    *("device", "model", "model_id", "time", "status"),
)


def _condition(name: str) -> Callable[[Command], Command]:
    option = "--" + name.replace("_", "-")
    options: dict[str, Any] = {"multiple": True, "shell_complete": completion_of(name)}
    if name in _WORDS:
        words, help = _WORDS[name]
        return click.option(
            option, name, multiple=True, type=click.Choice(words), help=f"{help} May be repeated."
        )
    if name in _NUMBERS:
        help = f"{_NUMBERS[name]}: 3, 3-5, 1,4 or '0|3-5|10'. May be repeated."
        return click.option(option, name, metavar="NUMBERS", help=help, **options)
    help = f"{_PATTERNS[name]} May be repeated: any may match."
    return click.option(option, name, metavar="GLOB", help=help, **options)


def selection_options(command: Command) -> Command:
    """Add an option for each condition on tensors; the command gets them as `conditions`.

    Raises
    ------
    click.UsageError
        If a condition has a value that it cannot have.
    """

    @functools.wraps(command)
    def with_conditions(**arguments: Any) -> Any:
        given = {name: arguments.pop(name) for name in _ORDER}
        conditions = {name: values for name, values in given.items() if values}
        for name, values in conditions.items():
            try:
                Selection.of({name: values})
            except ValueError as error:
                option = "--" + name.replace("_", "-")
                raise click.UsageError(f"{option}{str(error).removeprefix(name)}") from error
        return command(conditions=conditions, **arguments)

    return all_of(*map(_condition, _ORDER))(with_conditions)  # type: ignore[return-value]
