"""``fastdump config``: check or explain the acl.json that makes a dump; `config_new` writes one."""

from __future__ import annotations

from pathlib import Path

import click

from fastdump import config
from fastdump._cli import config_new, exit_codes
from fastdump._cli.completion import complete_path
from fastdump._cli.config_new import help_without_command
from fastdump._cli.console import print_lines, stdout_console, stdout_width
from fastdump._cli.groups import Group
from fastdump._cli.json_document import print_json
from fastdump._cli.language import language_option
from fastdump._cli.messages import say
from fastdump._cli.options import json_option, verbose_option
from fastdump._cli.print_report import print_report
from fastdump._cli.scanning import Outcome, scan_paths
from fastdump._json import document
from fastdump.config._text import dump_lines, explanation_lines

_DUMP_TABLE_SUFFIXES = (".csv", ".arrow", ".parquet")


@click.group("config", cls=Group, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> int:
    """Check, explain or write an acl.json, the configuration that makes a dump.

    \b
    Examples:
      fastdump config check acl.json
      fastdump config explain acl.json
      fastdump config new model /data/dump --layer conv1 -o acl.json
    """  # noqa: D301 (\b is for click: do not wrap)
    return help_without_command(context)


@command.command("check", short_help="What the vendor's code does with an acl.json.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_path)
@click.option(
    "--here",
    is_flag=True,
    help="The configuration is for this machine: a dump_path that is missing here is an error.",
)
@verbose_option
@json_option
@language_option
def _check(files: tuple[str, ...], here: bool, verbose: bool, as_json: bool) -> int:
    """Say what the vendor's code does with each FILE, and what is wrong or surprising in it.

    An error is what the vendor's code refuses, a warning what it takes without a word although it
    does not do what one would expect. The answer has at most eight lines for each FILE, with the
    first of them; -v goes on with all.

    \b
    Examples:
      fastdump config check acl.json
      fastdump config check acl.json --here
      fastdump config check configs/*.json --json

    Exit codes: 0 no errors; 1 errors; 2 no file could be read; 3 no errors, but some files could
    not be read.
    """  # noqa: D301 (\b is for click: do not wrap)
    reports: list[config.ConfigReport] = []
    unread: dict[str, str] = {}
    for file in files:
        try:
            reports.append(config.check(file, here=here))
        except OSError as error:
            unread[file] = error.strerror or str(error)
    if as_json:
        print_json({"files": [report.to_dict() for report in reports], "unread": unread})
    else:
        for i, report in enumerate(reports):
            print_lines(stdout_console(), [[]] if i else [])
            print_report(report, as_json=False, verbose=verbose)
    for file, reason in unread.items():
        say(f"error: {file}: {reason}")
    if not reports:
        return exit_codes.NOTHING_READ
    if any(report.errors for report in reports):
        return exit_codes.FINDINGS
    return exit_codes.INCOMPLETE if unread else exit_codes.SUCCESS


@command.command("explain", short_help="What an acl.json dumps, or what a dump is.")
@click.argument("path", metavar="PATH", shell_complete=complete_path)
@click.option(
    "--like",
    multiple=True,
    metavar="DUMP",
    help="A dump, or a table of one, of the same model: tells how large the dump may become, and"
    " what each rule catches. May be repeated.",
)
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    help="With a dump for PATH: the acl.json that made it; tells what is missing.",
)
@json_option
def _explain(path: str, like: tuple[str, ...], config_file: str | None, as_json: bool) -> int:
    """Say what the acl.json at PATH will dump, where to, and which calls that takes.

    If PATH is a dump, or a table of one, say what it is; with --config, what of it is missing that
    was promised.

    \b
    Examples:
      fastdump config explain acl.json
      fastdump config explain acl.json --like earlier_dump
      fastdump config explain dump_dir --config acl.json

    Exit codes: 0 explained; 1 the configuration is refused, or dumps nothing of the dump of --like,
    or something is missing from the dump; 2 nothing could be read; 3 some files of the dump could
    not be read whole.
    """  # noqa: D301 (\b is for click: do not wrap)
    if Path(path).is_dir() or path.endswith(_DUMP_TABLE_SUFFIXES):
        if like:
            raise click.UsageError("--like is for a configuration, not for a dump")
        return _explain_dump(path, config_file, as_json)
    if config_file is not None:
        raise click.UsageError("--config is for a dump, not for a configuration")
    report = config.check(path)
    if report.config is None:
        return _refuse(report, as_json)
    earlier = _scanned(like) if like else None
    explanation = config.explain(report.config, like=None if earlier is None else earlier.table)
    if as_json:
        warnings = document(report.warnings)
        print_json({"path": path, **document(explanation), "warnings": warnings})
    else:
        console = stdout_console()
        width = stdout_width(console)
        print_lines(console, explanation_lines(explanation, report.warnings, width))
    if earlier is None:
        return exit_codes.SUCCESS
    if explanation.footprint is not None and explanation.footprint.catches_nothing:
        return exit_codes.INTERRUPTED if earlier.interrupted else exit_codes.FINDINGS
    return earlier.exit_code


def _refuse(report: config.ConfigReport, as_json: bool) -> int:
    print_report(report, as_json=as_json)
    return exit_codes.FINDINGS


def _scanned(paths: tuple[str, ...]) -> Outcome:
    """Return the headers of a dump, or the table in a file."""
    return scan_paths(paths, {}, level="header", follow_links=False)


def _explain_dump(path: str, config_file: str | None, as_json: bool) -> int:
    promise = None
    if config_file is not None:
        report = config.check(config_file)
        if report.config is None:
            return _refuse(report, as_json)
        promise = report.config
    outcome = _scanned((path,))
    table = outcome.table
    contents = config.describe_dump(table)
    missing = None if promise is None else config.missing(promise, table)
    if as_json:
        print_json(
            {"path": path, **document(contents), "skipped": table.skipped, "missing": missing}
        )
    else:
        print_lines(stdout_console(), dump_lines(contents, table.skipped, missing))
    if missing and not outcome.interrupted:
        return exit_codes.FINDINGS
    return outcome.exit_code


command.add_command(config_new.command)
