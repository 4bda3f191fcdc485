"""``fastdump config new``: write an acl.json."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import click

from fastdump import config
from fastdump._atomic import replacing
from fastdump._cli import exit_codes
from fastdump._cli.completion import complete_path
from fastdump._cli.groups import Group
from fastdump._cli.messages import say
from fastdump._cli.options import all_of
from fastdump._cli.scanning import scan_paths
from fastdump._cli.typed_command import typed_command
from fastdump._table.stats_table import StatsTable
from fastdump.config._text import (
    expansion_lines,
    first_steps,
    number_warnings,
    pattern_text,
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


@click.group("new", cls=Group, invoke_without_command=True, short_help="Write an acl.json.")
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


_like_option = click.option(
    "--like",
    multiple=True,
    metavar="DUMP",
    help="A dump of the same model, or a table of one. Patterns (*, ?, [abc]) and numbers of layers"
    " (3, 3-5) become the names that the vendor's code needs. May be repeated.",
)


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
    "--layer",
    "layers",
    multiple=True,
    metavar="NAME",
    help="Only this operator; with --like also a pattern, or the number of a layer. May be"
    " repeated.",
)
@click.option(
    "--op-type",
    multiple=True,
    metavar="TYPE",
    help="With --like: only operators of this type. May be repeated.",
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
@_like_option
@_content_options
@_output_options
def _new_model(
    dump_path: str,
    models: tuple[str, ...],
    layers: tuple[str, ...],
    op_type: tuple[str, ...],
    ranges: tuple[tuple[str, str], ...],
    without_type: tuple[tuple[str, str], ...],
    without_op: tuple[tuple[str, str], ...],
    from_triage: BinaryIO | None,
    first: int,
    like: tuple[str, ...],
    **content: Any,
) -> int:
    """Dump operators of models into DUMP_PATH.

    \b
    Examples:
      fastdump config new model /data/dump --stats --mode all
      fastdump config new model /data/dump --layer 3 --step 1-5 --stats --like dump_dir
      fastdump triage dump_dir --json | fastdump config new model /data/dump --from-triage -
      fastdump config new model /data/dump --model resnet50 --range conv1 pool1
    """  # noqa: D301 (\b is for click: do not wrap)
    keys = _content(**content)
    if op_type and not like:
        raise click.UsageError("--op-type needs --like: an acl.json selects operators by name")
    entry = config.ListEntry(
        layer=layers or None,
        optype_blacklist=_blacklist(without_type),
        opname_blacklist=_blacklist(without_op),
        opname_range=tuple(config.OpnameRange(begin=begin, end=end) for begin, end in ranges)
        or None,
    )
    entries = [dataclasses.replace(entry, model_name=model) for model in models] or [entry]
    if not like:
        _refuse_patterns(entries)
    if from_triage is not None:
        suspects = _suspects(from_triage, first)
        entries = [dataclasses.replace(entry, layer=layers + suspects.layer) for entry in entries]
        steps, warning = first_steps(suspects.steps)
        if warning:
            _warn(warning)
        wanted = {"dump_mode": "all", "dump_level": "op", "dump_step": steps}
        keys.update((name, value) for name, value in wanted.items() if keys[name] is None)
    if keys["dump_level"] is None and (without_type or without_op or ranges):
        keys["dump_level"] = "op"  # the only level with which these are allowed
    if like and keys["dump_level"] is None and (layers or op_type):
        keys["dump_level"] = "op"  # the kernels of all operators would come on top
    return _write(like=like, op_type=op_type, dump_path=dump_path, dump_list=entries, **keys)


def _refuse_patterns(entries: Iterable[config.ListEntry]) -> None:
    """Raise an error for a pattern, which the vendor's code would take for a name."""
    for entry in entries:
        if (message := pattern_text(entry)) is not None:
            command = typed_command(click.get_current_context())
            raise click.ClickException(f"{message}: {command} --like DUMP")
        for warning in number_warnings(entry):
            _warn(warning)


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
@_like_option
@_output_options
def _new_watcher(
    dump_path: str,
    watch: tuple[str, ...],
    after: tuple[str, ...],
    like: tuple[str, ...],
    **target: Any,
) -> int:
    """Dump outputs again after other operators have run, to find who overwrites them.

    \b
    Example:
      fastdump config new watcher /data/dump --watch softmax3 --after conv7 --after conv8
    """  # noqa: D301 (\b is for click: do not wrap)
    entry = config.ListEntry(layer=after or None, watcher_nodes=watch)
    if not like:
        _refuse_patterns([entry])
    return _write(
        like=like,
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


def _write(
    *,
    output: str | None,
    for_torchair: bool,
    like: tuple[str, ...] = (),
    op_type: tuple[str, ...] = (),
    **keys: Any,
) -> int:
    """Write the configuration with these keys, or Python for torchair, and print warnings."""
    example = _example(like) if like else None
    try:
        if example is not None:
            keys["dump_list"] = _expanded(example, op_type, **keys)
        text = config.build(**keys)
    except config.ConfigError as error:
        raise click.UsageError(str(error)) from error
    report = config.check_text(text)
    assert report.config is not None
    if example is not None:
        for sentence in config.footprint(report.config, example).sentences(report.config):
            say(sentence)
    for finding in report.warnings:
        # The directory has to exist on the machine with the device, not here. What looks like a
        # pattern is a name that the example or the triage has.
        if finding.rule not in ("path-exists", "pattern"):
            say(str(finding))
    options: dict[str, Any] = {}
    if for_torchair:
        options = _torchair_options(report.config, output)
    if output is not None:
        with replacing(Path(output)) as file:
            file.write(text.encode())
    if for_torchair:
        click.echo(config.torchair_code(options), nl=False)
    elif output is None:
        click.echo(text, nl=False)
    return exit_codes.SUCCESS


def _example(paths: tuple[str, ...]) -> StatsTable:
    """Return the headers of a dump, or the table in a file; what is half read is not used."""
    outcome = scan_paths(paths, {}, level="header", follow_links=False)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome.table


def _expanded(
    example: StatsTable,
    op_type: tuple[str, ...],
    *,
    dump_list: Iterable[config.ListEntry],
    dump_step: str | None = None,
    **_others: Any,
) -> list[config.ListEntry]:
    """Return entries with names for patterns, and say what these stand for."""
    expansions = [
        config.expand(entry, example, op_type=op_type, dump_step=dump_step) for entry in dump_list
    ]
    lines = [line for expansion in expansions for line in expansion_lines(expansion)]
    for line in dict.fromkeys(lines):
        say(line)
    return [entry for expansion in expansions for entry in expansion.entries]


def _torchair_options(wanted: config.DumpConfig, output: str | None) -> dict[str, Any]:
    if output is not None:
        return {"dump_config_path": str(Path(output).resolve())}
    try:
        return dict(config.torchair_options(wanted))
    except config.ConfigError as error:
        raise click.UsageError(f"{error}; with -o FILE torchair takes the file itself") from error
