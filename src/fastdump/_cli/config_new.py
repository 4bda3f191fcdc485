"""``fastdump config new``: write an acl.json."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, BinaryIO

import click

from fastdump import config
from fastdump._atomic import replacing
from fastdump._cli import exit_codes
from fastdump._cli.completion import complete_path
from fastdump._cli.messages import say
from fastdump._cli.options import all_of
from fastdump.config._text import (
    first_steps,
    suspects_text,
    suspects_warnings,
    why_no_suspects,
)

_MAX_REPORT_BYTES = 1 << 28


def help_without_command(context: click.Context) -> int:
    """Print the help of a group if none of its commands is called."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    return exit_codes.SUCCESS


@click.group("new", invoke_without_command=True, short_help="Write an acl.json.")
@click.pass_context
def command(context: click.Context) -> int:
    """Write an acl.json that the vendor's code accepts, to stdout or to a file.

    \b
    Examples:
      fastdump config new model /data/dump --stats
      fastdump config new model /data/dump --from-triage report.json -o acl.json
      fastdump config new overflow /data/dump --for-torchair -o acl.json
    """  # noqa: D301 (\b is for click: do not wrap)
    return help_without_command(context)


_output_options = all_of(
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        # As with other programs, - is stdout.
        callback=lambda _context, _parameter, name: None if name == "-" else name,
        help="Write there instead of to stdout.",
    ),
    click.option(
        "--for-torchair",
        is_flag=True,
        help="Print Python that sets the same up through torchair: by its options, or, with -o, by"
        " the file.",
    ),
)
"""Where the configuration goes: the command gets the keywords of `_write`."""

_content_options = all_of(
    click.option(
        "--mode",
        "dump_mode",
        type=click.Choice(["input", "output", "all"]),
        help="Which tensors. Default: output.",
    ),
    click.option(
        "--level",
        "dump_level",
        type=click.Choice(["op", "kernel", "all"]),
        help="Operators of graphs, kernels of the single-operator API, or both.",
    ),
    click.option("--stats", is_flag=True, help="Dump statistics instead of tensors."),
    click.option(
        "--statistic",
        "dump_stats",
        multiple=True,
        type=click.Choice(config.STATISTICS),
        help="With --stats: only these (Atlas A2). May be repeated.",
    ),
    click.option(
        "--step",
        "dump_step",
        metavar="STEPS",
        help="Only these steps: '0|3-5|10'. Default: all.",
    ),
)
"""What is dumped: the command gets the arguments of `_content`, and those of `_write`."""


def _content(stats: bool, dump_stats: tuple[str, ...], **keys: Any) -> dict[str, Any]:
    """Return keys of the configuration, and what else was given, for `_write`."""
    if dump_stats and not stats:
        raise click.UsageError("--statistic needs --stats")
    return {**keys, "dump_data": "stats" if stats else None, "dump_stats": dump_stats or None}


@command.command("model")
@click.argument("dump_path", metavar="DUMP_PATH", shell_complete=complete_path)
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="Only this model, by its file name without suffix. May be repeated. Default: all.",
)
@click.option(
    "--layer", "layers", multiple=True, metavar="NAME", help="Only this operator. May be repeated."
)
@click.option(
    "--range",
    "ranges",
    nargs=2,
    multiple=True,
    metavar="BEGIN END",
    help="Only operators from BEGIN to END; needs --model. May be repeated.",
)
@click.option(
    "--without-type",
    nargs=2,
    multiple=True,
    metavar="TYPE POS",
    help="Not these tensors of operators of TYPE; POS is input0 or output0,output1. May be"
    " repeated.",
)
@click.option(
    "--without-op",
    nargs=2,
    multiple=True,
    metavar="NAME POS",
    help="Not these tensors of operator NAME. May be repeated.",
)
@click.option(
    "--from-triage",
    type=click.File("rb"),
    metavar="REPORT",
    help="Only the operators where bad values began and those next to them, inputs and outputs, in"
    " the steps concerned. REPORT is what 'fastdump triage --json' prints; - is stdin.",
)
@click.option(
    "--first",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="With --from-triage: of its first N findings.",
)
@_content_options
@_output_options
def _new_model(
    dump_path: str,
    models: tuple[str, ...],
    layers: tuple[str, ...],
    ranges: tuple[tuple[str, str], ...],
    without_type: tuple[tuple[str, str], ...],
    without_op: tuple[tuple[str, str], ...],
    from_triage: BinaryIO | None,
    first: int,
    **content: Any,
) -> int:
    """Dump operators of models into DUMP_PATH.

    \b
    Examples:
      fastdump config new model /data/dump --stats --mode all
      fastdump triage dump_dir --json | fastdump config new model /data/dump --from-triage -
      fastdump config new model /data/dump --model resnet50 --range conv1 pool1
    """  # noqa: D301 (\b is for click: do not wrap)
    keys = _content(**content)
    if from_triage is not None:
        suspects = _suspects(from_triage, first)
        layers += suspects.layer
        steps, warning = first_steps(suspects.steps)
        if warning:
            _warn(warning)
        wanted = {"dump_mode": "all", "dump_level": "op", "dump_step": steps}
        keys.update((name, value) for name, value in wanted.items() if keys[name] is None)
    entry = config.ListEntry(
        layer=layers or None,
        optype_blacklist=_blacklist(without_type),
        opname_blacklist=_blacklist(without_op),
        opname_range=tuple(config.OpnameRange(begin=begin, end=end) for begin, end in ranges)
        or None,
    )
    if keys["dump_level"] is None and (without_type or without_op or ranges):
        keys["dump_level"] = "op"  # the only level with which these are allowed
    entries = [dataclasses.replace(entry, model_name=model) for model in models] or [entry]
    return _write(dump_path=dump_path, dump_list=entries, **keys)


def _blacklist(
    exclusions: tuple[tuple[str, str], ...],
) -> tuple[config.BlacklistItem, ...] | None:
    items = (
        config.BlacklistItem(name=name, pos=tuple(positions.split(",")))
        for name, positions in exclusions
    )
    return tuple(items) or None


def _suspects(report: BinaryIO, first: int) -> config.Suspects:
    try:
        text = report.read(_MAX_REPORT_BYTES + 1)
        if len(text) > _MAX_REPORT_BYTES:
            raise click.ClickException(f"{report.name}: more than {_MAX_REPORT_BYTES:,} bytes")
        suspects = config.suspects(text, first)
    except config.ConfigError as error:
        raise click.ClickException(f"{report.name}: {error}") from error
    if not suspects.layer:
        raise click.ClickException(f"{report.name}: {why_no_suspects(suspects)}")
    say(suspects_text(suspects))
    for warning in suspects_warnings(suspects):
        _warn(warning)
    return suspects


def _warn(message: str) -> None:
    say(f"warning: {message}")


@command.command("single-op")
@click.argument("dump_path", metavar="DUMP_PATH", shell_complete=complete_path)
@_content_options
@_output_options
def _new_single_operator(dump_path: str, **content: Any) -> int:
    """Dump operators that are run one by one into DUMP_PATH.

    \b
    Example:
      fastdump config new single-op /data/dump --mode all
    """  # noqa: D301 (\b is for click: do not wrap)
    return _write(dump_path=dump_path, dump_op_switch="on", **_content(**content))


@command.command("overflow")
@click.argument("dump_path", metavar="DUMP_PATH", shell_complete=complete_path)
@_output_options
def _new_overflow(dump_path: str, **target: Any) -> int:
    """Dump operators that overflow into DUMP_PATH, and what the status registers say.

    \b
    Example:
      fastdump config new overflow /data/dump
    """  # noqa: D301 (\b is for click: do not wrap)
    return _write(dump_path=dump_path, dump_debug="on", **target)


@command.command("watcher")
@click.argument("dump_path", metavar="DUMP_PATH", shell_complete=complete_path)
@click.option(
    "--watch",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Operator whose output may be overwritten. May be repeated.",
)
@click.option(
    "--after",
    multiple=True,
    metavar="NAME",
    help="Operator that may be the culprit. May be repeated. Default: all.",
)
@_output_options
def _new_watcher(
    dump_path: str, watch: tuple[str, ...], after: tuple[str, ...], **target: Any
) -> int:
    """Dump outputs again after other operators have run, to find who overwrites them.

    \b
    Example:
      fastdump config new watcher /data/dump --watch softmax3 --after conv7 --after conv8
    """  # noqa: D301 (\b is for click: do not wrap)
    entry = config.ListEntry(layer=after or None, watcher_nodes=watch)
    return _write(
        dump_path=dump_path,
        dump_list=[entry],
        dump_mode="output",  # the default, but release 8.5.0 requires the key
        dump_scene="watcher",
        **target,
    )


@command.command("exception")
@click.argument("dump_path", required=False, metavar="[DUMP_PATH]", shell_complete=complete_path)
@click.option(
    "--detail",
    type=click.Choice(["brief", "norm", "detail"]),
    default="norm",
    show_default=True,
    help="How much: bytes; with shapes and types; with the state of the AI Cores as well.",
)
@_output_options
def _new_exception(dump_path: str | None, detail: str, **target: Any) -> int:
    """Dump operators that end in an AI Core error.

    \b
    Example:
      fastdump config new exception /data/dump --detail brief
    """  # noqa: D301 (\b is for click: do not wrap)
    return _write(dump_path=dump_path, dump_scene=f"aic_err_{detail}_dump", **target)


def _write(*, output: str | None, for_torchair: bool, **keys: Any) -> int:
    """Write the configuration with these keys, or Python for torchair, and print warnings."""
    try:
        text = config.build(**keys)
    except config.ConfigError as error:
        raise click.UsageError(str(error)) from error
    report = config.check_text(text)
    for finding in report.warnings:
        # The directory has to exist on the machine with the device, not here.
        if finding.rule != "path-exists":
            say(str(finding))
    if output is not None:
        with replacing(Path(output)) as file:
            file.write(text.encode())
    if not for_torchair:
        if output is None:
            click.echo(text, nl=False)
        return exit_codes.SUCCESS
    if output is not None:
        options: dict[str, Any] = {"dump_config_path": str(Path(output).resolve())}
    else:
        assert report.config is not None
        try:
            options = dict(config.torchair_options(report.config))
        except config.ConfigError as error:
            message = f"{error}; with -o FILE torchair takes the file itself"
            raise click.UsageError(message) from error
    click.echo(config.torchair_code(options), nl=False)
    return exit_codes.SUCCESS
