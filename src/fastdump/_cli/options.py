"""Options that several commands share, each defined once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

# Far more than any run has steps; keeps `--step 0-9999999999` from filling the memory.
_MAX_INTEGERS = 1_000_000


def _integers(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[int, ...]:
    """Return what ``3``, ``3-5``, ``1,4`` and the vendor's ``0|3-5|10`` say, sorted.

    Raises
    ------
    click.BadParameter
        A value says something else, or far too much.
    """
    integers: set[int] = set()
    for value in values:
        for part in value.replace("|", ",").split(","):
            first, dash, last = (text.strip() for text in part.partition("-"))
            if not _is_number(first) or (dash and not _is_number(last)):
                message = f"{value!r} is not an integer, a range (3-5) or a list (1,4)."
                raise click.BadParameter(message, ctx, param)
            low, high = int(first), int(last if dash else first)
            if low > high:
                raise click.BadParameter(f"{part.strip()!r} is an empty range.", ctx, param)
            if high - low >= _MAX_INTEGERS:
                message = f"{part.strip()!r} is more than {_MAX_INTEGERS:,} integers."
                raise click.BadParameter(message, ctx, param)
            integers.update(range(low, high + 1))
    return tuple(sorted(integers))


def _is_number(text: str) -> bool:
    # 18 digits fit an int64; str.isdigit alone accepts digits that int() does not.
    return text.isascii() and text.isdigit() and len(text) <= 18


def all_of(*decorators: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return one decorator that does what several do."""
    # Decorators apply from the last to the first; reversed, the help lists options as written.
    return lambda function: functools.reduce(lambda f, d: d(f), reversed(decorators), function)


paths_argument = click.argument("paths", nargs=-1, required=True, metavar="PATH...")

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document, for programs."
)

threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many threads work. Default: FASTDUMP_THREADS, or the CPUs this process may use.",
)

follow_links_option = click.option(
    "--follow-links",
    is_flag=True,
    help="Follow symbolic links below PATH. Without it they are skipped and counted.",
)

scan_options = all_of(
    threads_option,
    click.option(
        "--io",
        type=click.Choice(["auto", "mmap", "read"]),
        default="auto",
        show_default=True,
        help="How files are read; the numbers do not depend on it.",
    ),
    follow_links_option,
)

filter_options = all_of(
    click.option(
        "--op-type",
        multiple=True,
        metavar="GLOB",
        help="Only operators of this type, e.g. 'MatMul*'. May be repeated: any may match.",
    ),
    click.option(
        "--op-name",
        multiple=True,
        metavar="GLOB",
        help="Only operators of this name, e.g. '*layer7*'. May be repeated.",
    ),
    click.option(
        "--step",
        multiple=True,
        callback=_integers,
        metavar="STEPS",
        help="Only these steps: 3, 3-5, 1,4 or '0|3-5|10'. May be repeated.",
    ),
    click.option(
        "--rank",
        multiple=True,
        callback=_integers,
        metavar="RANKS",
        help="Only these ranks, written like steps. May be repeated.",
    ),
    click.option(
        "--tensor",
        multiple=True,
        type=click.Choice(["input", "output", "buffer", "space"]),
        help="Only tensors of this kind. May be repeated.",
    ),
)
