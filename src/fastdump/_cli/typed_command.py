"""The command that was typed, as text that a shell takes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
from click.core import ParameterSource


def typed_command(context: click.Context) -> str:
    """Return the command of a context with all that was typed: ``fastdump config new model /d``."""
    return " ".join([context.command_path, *map(shlex.quote, _words(context))])


def _words(context: click.Context) -> Iterator[str]:
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        for each in value if parameter.multiple else [value]:
            if isinstance(parameter, click.Option):
                yield max(parameter.opts, key=len)
                if parameter.is_flag:
                    continue
            yield from map(_text, each if parameter.nargs != 1 else [each])


def _text(value: object) -> str:
    # An open file has the name that was typed, but for standard input.
    name = str(getattr(value, "name", value))
    return "-" if name == "<stdin>" else name
