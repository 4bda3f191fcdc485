"""``fastdump config``: check, explain or write the acl.json that makes a dump."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import click
from rich.console import Console
from rich.text import Text

from fastdump import StatsTable, config
from fastdump._cli import exit_codes
from fastdump._cli.console import stdout_console
from fastdump._cli.json_document import print_json
from fastdump._cli.options import json_option
from fastdump._cli.scanning import scan_paths
from fastdump._printable import printable
from fastdump._quantities import counted, ranges_text
from fastdump._styles import BAD, DOUBTFUL, GOOD, SUBTLE
from fastdump._table_files import written_table
from fastdump.config._dump_step import MAX_ITEMS, step_text

_MAX_REPORT_BYTES = 1 << 28
_DUMP_TABLE_SUFFIXES = (".csv", ".arrow", ".parquet")
_VERDICTS = {
    "accept": ("accepted", GOOD),
    "off": ("accepted, but nothing is dumped", DOUBTFUL),
    "reject": ("refused", BAD),
}
_STYLES = {"error": BAD, "warning": DOUBTFUL}


@click.group("config", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> int:
    """Check, explain or write an acl.json, the configuration that makes a dump.

    \b
    Examples:
      fastdump config check acl.json
      fastdump config explain acl.json
      fastdump config new model /data/dump --layer conv1 -o acl.json
    """  # noqa: D301 (\b is for click: do not wrap)
    return _help_without_command(context)


def _help_without_command(context: click.Context) -> int:
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
    return exit_codes.SUCCESS


@command.command("check", short_help="What the vendor's code does with an acl.json.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--here",
    is_flag=True,
    help="The configuration is for this machine: a dump_path that is missing here is an error.",
)
@json_option
def _check(files: tuple[str, ...], here: bool, as_json: bool) -> int:
    """Say what the vendor's code does with each FILE, and what is wrong or surprising in it.

    An error is what the vendor's code refuses, a warning what it takes without a word although it
    does not do what one would expect. All of them are reported, not only the first.

    \b
    Examples:
      fastdump config check acl.json
      fastdump config check acl.json --here
      fastdump config check configs/*.json --json

    \b
    Exit codes: 0 no errors; 1 errors; 2 no file could be read; 3 no errors, but some files could
    not be read.
    """  # noqa: D301 (\b is for click: do not wrap)
    reports: dict[str, config.Report] = {}
    unread: dict[str, str] = {}
    for file in files:
        try:
            reports[file] = config.check(file, here=here)
        except OSError as error:
            unread[file] = error.strerror or str(error)
    if as_json:
        documents = [{"path": file, **_report_document(reports[file])} for file in reports]
        print_json({"files": documents, "unread": unread})
    else:
        console = stdout_console()
        for file, report in reports.items():
            _print_report(console, file, report)
    for file, reason in unread.items():
        print(f"fastdump: error: {printable(file)}: {reason}", file=sys.stderr)
    if not reports:
        return exit_codes.NOTHING_READ
    if any(report.errors for report in reports.values()):
        return exit_codes.FINDINGS
    return exit_codes.INCOMPLETE if unread else exit_codes.SUCCESS


def _report_document(report: config.Report) -> dict[str, Any]:
    return {
        "verdict": report.verdict,
        "graph_engine": report.graph_engine,
        "findings": [
            {
                "severity": finding.severity,
                "rule": finding.rule,
                "code": finding.code,
                "message": finding.message,
                **dataclasses.asdict(finding.place),
            }
            for finding in report.findings
        ],
    }


def _print_report(console: Console, file: str, report: config.Report) -> None:
    verdict, style = _VERDICTS[report.verdict]
    counts = [
        counted(len(findings), noun)
        for findings, noun in ((report.errors, "error"), (report.warnings, "warning"))
        if findings
    ]
    suffix = f" ({', '.join(counts)})" if counts else ""
    console.print(Text.assemble(f"{printable(file)}: ", (verdict, style), suffix))
    _print_findings(console, report)


def _print_findings(console: Console, report: config.Report) -> None:
    for finding in report.findings:
        severity, _, text = printable(str(finding)).partition(": ")
        console.print(Text.assemble("  ", (severity, _STYLES[severity]), f": {text}"))


@command.command("explain", short_help="What an acl.json dumps, or what a dump is.")
@click.argument("path", metavar="PATH")
@click.option(
    "--like",
    metavar="DUMP",
    help="A dump, or a table of one, of the same model: tells how large the dump may become.",
)
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    help="With a dump for PATH: the acl.json that made it; tells what is missing.",
)
@json_option
def _explain(path: str, like: str | None, config_file: str | None, as_json: bool) -> int:
    """Say what the acl.json at PATH will dump, where to, and which calls that takes.

    If PATH is a dump, or a table of one, say what it is; with --config, what of it is missing that
    was promised.

    \b
    Examples:
      fastdump config explain acl.json
      fastdump config explain acl.json --like earlier_dump
      fastdump config explain dump_dir --config acl.json

    \b
    Exit codes: 0 explained; 1 the configuration is refused, or something is missing from the dump;
    2 nothing could be read; 3 some files of the dump could not be read.
    """  # noqa: D301 (\b is for click: do not wrap)
    if Path(path).is_dir() or path.endswith(_DUMP_TABLE_SUFFIXES):
        if like is not None:
            raise click.UsageError("--like is for a configuration, not for a dump")
        return _explain_dump(path, config_file, as_json)
    if config_file is not None:
        raise click.UsageError("--config is for a dump, not for a configuration")
    report = config.check(path)
    if report.config is None:
        return _refuse(path, report, as_json)
    explanation = config.explain(report.config, like=None if like is None else _table(like)[0])
    if as_json:
        warnings = _report_document(report)["findings"]
        print_json({"path": path, **dataclasses.asdict(explanation), "warnings": warnings})
    else:
        console = stdout_console()
        _print_explanation(console, explanation)
        if report.warnings:
            console.print()
            _print_findings(console, report)
    return exit_codes.SUCCESS


def _refuse(path: str, report: config.Report, as_json: bool) -> int:
    if as_json:
        print_json({"path": path, **_report_document(report)})
    else:
        _print_report(stdout_console(), path, report)
    return exit_codes.FINDINGS


def _print_explanation(console: Console, explanation: config.Explanation) -> None:
    for line in str(explanation).split("\n"):
        console.print(Text(printable(line), "" if line.startswith(" ") else "bold"))


def _table(path: str) -> tuple[StatsTable, int]:
    """Return the table of a dump, or the one that is written there, and an exit code."""
    table = written_table(path)
    if table is not None:
        return table, exit_codes.SUCCESS
    outcome = scan_paths((path,), level="header", threads=None, io="auto", follow_links=False)
    return outcome.table, outcome.exit_code


def _explain_dump(path: str, config_file: str | None, as_json: bool) -> int:
    promise = None
    if config_file is not None:
        report = config.check(config_file)
        if report.config is None:
            return _refuse(config_file, report, as_json)
        promise = report.config
    table, exit_code = _table(path)
    contents = config.describe_dump(table)
    missing = None if promise is None else config.missing(promise, table)
    if as_json:
        found = {**dataclasses.asdict(contents), "skipped": table.skipped, "missing": missing}
        print_json({"path": path, **found})
    else:
        _print_contents(contents, table.skipped, missing)
    return exit_code or (exit_codes.FINDINGS if missing else exit_codes.SUCCESS)


def _print_contents(
    contents: config.DumpContents, skipped: dict[str, int], missing: list[str] | None
) -> None:
    facts = {
        "kind": ", ".join(contents.kinds),
        "data": ", ".join(contents.data),
        "mode": contents.mode or "",
        "models": ", ".join(contents.models),
        "ranks": ranges_text(list(contents.ranks)),
        "devices": ranges_text(list(contents.devices)),
        "steps": ranges_text(list(contents.steps)),
        "times": ", ".join(contents.times),
        "files": f"{contents.n_files:,}",
        "skipped": ", ".join(f"{n_files:,} {reason}" for reason, n_files in skipped.items()),
    }
    if contents.n_operators:
        facts["files"] += f" of {counted(contents.n_operators, 'operator')}"
    console = stdout_console()
    for name, fact in facts.items():
        if fact:
            console.print(Text.assemble((f"{name:<9}", SUBTLE), printable(fact)))
    for line in missing or ():
        console.print(Text.assemble(("missing  ", DOUBTFUL), printable(line)))
    if missing == []:
        console.print(Text.assemble(f"{'missing':<9}", ("nothing", GOOD)))


@command.group("new", invoke_without_command=True, short_help="Write an acl.json.")
@click.pass_context
def _new(context: click.Context) -> int:
    """Write an acl.json that the vendor's code accepts, to stdout or to a file.

    \b
    Examples:
      fastdump config new model /data/dump --stats
      fastdump config new model /data/dump --from-triage report.json -o acl.json
      fastdump config new overflow /data/dump --for-torchair -o acl.json
    """  # noqa: D301 (\b is for click: do not wrap)
    return _help_without_command(context)


def _output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "--for-torchair",
            is_flag=True,
            help="Print Python that sets the same up through torchair: by its options, or, with"
            " -o, by the file.",
        ),
        click.option("-o", "--output", metavar="FILE", help="Write there instead of to stdout."),
    ):
        function = option(function)
    return function


def _content_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--step", metavar="STEPS", help="Only these steps: '0|3-5|10'. Default: all."),
        click.option(
            "--statistic",
            "statistics",
            multiple=True,
            type=click.Choice(config.STATISTICS),
            help="With --stats: only these (Atlas A2). May be repeated.",
        ),
        click.option("--stats", is_flag=True, help="Dump statistics instead of tensors."),
        click.option(
            "--level",
            type=click.Choice(["op", "kernel", "all"]),
            help="Operators of graphs, kernels of the single-operator API, or both.",
        ),
        click.option(
            "--mode",
            type=click.Choice(["input", "output", "all"]),
            help="Which tensors. Default: output.",
        ),
    ):
        function = option(function)
    return function


def _content(
    mode: str | None, level: str | None, stats: bool, statistics: tuple[str, ...], step: str | None
) -> dict[str, Any]:
    if statistics and not stats:
        raise click.UsageError("--statistic needs --stats")
    return {
        "dump_mode": mode,
        "dump_level": level,
        "dump_data": "stats" if stats else None,
        "dump_stats": statistics or None,
        "dump_step": step,
    }


@_new.command("model")
@click.argument("dump_path", metavar="DUMP_PATH")
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
    output: str | None,
    for_torchair: bool,
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
        wanted = {"dump_mode": "all", "dump_level": "op", "dump_step": _step_text(suspects.steps)}
        keys.update((name, value) for name, value in wanted.items() if keys[name] is None)
    entry = config.ListEntry(
        layer=layers or None,
        optype_blacklist=_blacklist(without_type),
        opname_blacklist=_blacklist(without_op),
        opname_range=tuple(config.OpnameRange(begin=begin, end=end) for begin, end in ranges)
        or None,
    )
    if keys["dump_level"] is None and (without_type or without_op or ranges):
        keys["dump_level"] = "op"  # the only one with which they are allowed
    entries = [dataclasses.replace(entry, model_name=model) for model in models] or [entry]
    return _write(output, for_torchair, dump_path=dump_path, dump_list=entries, **keys)


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
        reason = "names no operator at which bad values began"
        if suspects.unselectable:
            reason = (
                "has only operators that are run one by one, which cannot be selected; see"
                " 'fastdump config new single-op'"
            )
        raise click.ClickException(f"{report.name}: the report {reason}")
    where = [counted(len(suspects.layer), "operator")]
    for noun, numbers in (("step", suspects.steps), ("rank", suspects.ranks)):
        if numbers:
            where.append(f"{noun}{'' if len(numbers) == 1 else 's'} {ranges_text(list(numbers))}")
    print(f"fastdump: {', '.join(where)}", file=sys.stderr)
    if suspects.unselectable:
        _warn(f"run one by one, so not selected: {', '.join(suspects.unselectable)}")
    if suspects.file_names:
        _warn("names come from statistics files, in which _ may stand for / . \\ or a blank")
    return suspects


def _warn(message: str) -> None:
    print(f"fastdump: warning: {printable(message)}", file=sys.stderr)


def _step_text(steps: tuple[int, ...]) -> str | None:
    """Return the first of the steps, as many as are allowed."""
    items = (step_text(steps) or "").split("|")
    if len(items) > MAX_ITEMS:
        _warn(f"only the first {MAX_ITEMS} of {len(items):,} ranges of steps")
    return "|".join(items[:MAX_ITEMS]) or None


@_new.command("single-op")
@click.argument("dump_path", metavar="DUMP_PATH")
@_content_options
@_output_options
def _new_single_operator(
    dump_path: str, output: str | None, for_torchair: bool, **content: Any
) -> int:
    """Dump operators that are run one by one into DUMP_PATH.

    \b
    Example:
      fastdump config new single-op /data/dump --mode all
    """  # noqa: D301 (\b is for click: do not wrap)
    keys = _content(**content)
    return _write(output, for_torchair, dump_path=dump_path, dump_op_switch="on", **keys)


@_new.command("overflow")
@click.argument("dump_path", metavar="DUMP_PATH")
@_output_options
def _new_overflow(dump_path: str, output: str | None, for_torchair: bool) -> int:
    """Dump operators that overflow into DUMP_PATH, and what the status registers say.

    \b
    Example:
      fastdump config new overflow /data/dump
    """  # noqa: D301 (\b is for click: do not wrap)
    return _write(output, for_torchair, dump_path=dump_path, dump_debug="on")


@_new.command("watcher")
@click.argument("dump_path", metavar="DUMP_PATH")
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
    dump_path: str,
    watch: tuple[str, ...],
    after: tuple[str, ...],
    output: str | None,
    for_torchair: bool,
) -> int:
    """Dump outputs again after other operators have run, to find who overwrites them.

    \b
    Example:
      fastdump config new watcher /data/dump --watch softmax3 --after conv7 --after conv8
    """  # noqa: D301 (\b is for click: do not wrap)
    entry = config.ListEntry(layer=after or None, watcher_nodes=watch)
    return _write(
        output,
        for_torchair,
        dump_path=dump_path,
        dump_list=[entry],
        dump_mode="output",  # the default, but release 8.5.0 wants it said
        dump_scene="watcher",
    )


@_new.command("exception")
@click.argument("dump_path", required=False, metavar="[DUMP_PATH]")
@click.option(
    "--detail",
    type=click.Choice(["brief", "norm", "detail"]),
    default="norm",
    show_default=True,
    help="How much: bytes; with shapes and types; with the state of the AI Cores as well.",
)
@_output_options
def _new_exception(
    dump_path: str | None, detail: str, output: str | None, for_torchair: bool
) -> int:
    """Dump operators that end in an AI Core error.

    \b
    Example:
      fastdump config new exception /data/dump --detail brief
    """  # noqa: D301 (\b is for click: do not wrap)
    scene = f"aic_err_{detail}_dump"
    return _write(output, for_torchair, dump_path=dump_path, dump_scene=scene)


def _write(output: str | None, for_torchair: bool, **keys: Any) -> int:
    try:
        text = config.build(**keys)
    except config.ConfigError as error:
        raise click.UsageError(str(error)) from error
    report = config.check_text(text)
    for finding in report.warnings:
        # The directory is for the machine with the device.
        if finding.rule != "path-exists":
            print(f"fastdump: {printable(str(finding))}", file=sys.stderr)
    if output is not None:
        Path(output).write_text(text, encoding="utf-8")
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
