"""What a shell completes: paths, and the names, types and places in a dump that was given.

A shell waits for the answer, so nothing is completed from a dump that takes long to list; and
whatever goes wrong, there is nothing to complete.
"""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import click
from click.shell_completion import CompletionItem

Completion: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_MAX_ITEMS = 300
_MAX_ENTRIES = 50_000
"""Of directories below the paths: of a larger dump nothing is completed."""
_MAX_SECONDS = 0.4
_MAX_TABLE_NBYTES = 32 << 20

# Bash expands what it is given; other characters would need quotes, which shells write differently.
_PLAIN = re.compile(r"[\w./@%+,=-]+")


def complete_path(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Let the shell complete a path."""
    return [CompletionItem(incomplete, type="file")]


def complete_target(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete a path; behind a dump, the name or type of an operator, if there is such a one."""
    found = _complete_name(context, parameter, incomplete) if _given(context) else []
    return found or complete_path(context, parameter, incomplete)


def completion_of(condition: str) -> Completion | None:
    """Return the completion of a condition's option; None if there is none."""
    if condition == "op_name":
        return _complete_name
    if condition == "op_type":
        return _complete_type
    if condition in ("rank", "step", "device"):

        def complete_number(
            context: click.Context, _parameter: click.Parameter, incomplete: str
        ) -> list[CompletionItem]:
            numbers = _known(context).summary.get(f"{condition}s", ())
            return _items(map(str, numbers), incomplete)

        return complete_number
    return None


def _complete_name(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    known = _known(context)
    types = () if parameter.name == "op_name" else known.summary.get("op_types", ())
    # Dots and slashes may be typed for what is _ in file names, and stay as they were typed.
    from fastdump._op_name import in_file_name

    typed = in_file_name(incomplete)
    matching = {
        incomplete + name[len(incomplete) :]
        for name in (*known.names, *types)
        if name.startswith(typed)
    }
    return _items(_short_enough(matching), incomplete)


def _complete_type(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return _items(_known(context).summary.get("op_types", ()), incomplete)


def _items(texts: Iterable[str], incomplete: str) -> list[CompletionItem]:
    found = [text for text in texts if text.startswith(incomplete) and _PLAIN.fullmatch(text)]
    return [CompletionItem(text) for text in found[:_MAX_ITEMS]]


def _short_enough(names: Iterable[str]) -> list[str]:
    """Return names; of too many, their beginnings of as many words as there is room for."""
    shown = sorted(set(names))
    n_words = max((name.count("_") for name in shown), default=0)
    while len(shown) > _MAX_ITEMS and n_words > 0:
        shown = sorted({"_".join(name.split("_")[:n_words]) for name in shown})
        n_words -= 1
    return shown if len(shown) <= _MAX_ITEMS else []


class _Known(NamedTuple):
    """What file names tell of a dump: operators, and the keys of `Dump.summary`."""

    names: Sequence[str] = ()
    summary: Mapping[str, Any] = {}


def _known(context: click.Context) -> _Known:
    """Return what is known of the dump on the command line, if it can be listed in a moment."""
    try:
        paths = _given(context)
        if not paths or not _is_small(paths):
            return _Known()
        import fastdump
        from fastdump._dump.dump import chosen

        with fastdump.open(paths) as dump:
            return _Known(chosen(dump).op_names(), dump.summary())
    except Exception:
        return _Known()


def _given(context: click.Context) -> list[str]:
    """Return the paths that were typed so far."""
    # With an option that lacks its value yet, click leaves arguments where they are.
    typed: list[Any] = [*context.args]
    for parameter in context.command.params:
        if isinstance(parameter, click.Argument):
            value = context.params.get(parameter.name or "")
            typed += value if isinstance(value, (tuple, list)) else [value]
    return [text for text in typed if isinstance(text, str) and os.path.exists(text)]  # noqa: PTH110


def _is_small(paths: Iterable[str]) -> bool:
    """Tell whether paths can be listed in a moment."""
    end = time.monotonic() + _MAX_SECONDS
    n_entries = 0
    waiting = deque(paths)
    while waiting:
        path = waiting.popleft()
        if not os.path.isdir(path):  # noqa: PTH112
            if os.path.getsize(path) > _MAX_TABLE_NBYTES and _may_be_table(path):  # noqa: PTH202
                return False
            continue
        with os.scandir(path) as entries:
            for entry in entries:
                n_entries += 1
                if n_entries > _MAX_ENTRIES or time.monotonic() > end:
                    return False
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return True


def _may_be_table(path: str) -> bool:
    from fastdump._table.file_format import SUFFIXES

    return path.endswith(SUFFIXES)
