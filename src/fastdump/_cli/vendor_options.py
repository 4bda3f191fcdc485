"""The options of the vendor's converter, ``msaccucmp.py convert -d PATH[,PATH...] -out OUT``."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

import click

from fastdump._cli.options import all_of
from fastdump._convert.options import ORDERS

FAILED_LIST = "convert_failed_file_list.txt"
"""What the vendor calls the list of files that could not be converted."""


class BilingualCommand(click.Command):
    """A command whose help lists the vendor's options below its own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write two sections in place of one."""
        own: list[tuple[str, str]] = []
        vendors: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                (vendors if parameter.name in _NAMES else own).append(record)
        for title, records in (("Options", own), ("The vendor's spelling", vendors)):
            with formatter.section(title):
                formatter.write_dl(records)


@dataclass(frozen=True, slots=True)
class VendorArguments:
    """The values of the vendor's options; None or () for options that were not given."""

    dump_file: str | None
    output_path: str | None
    dump_version: str | None
    format: str | None
    shape: tuple[int, ...]
    output_tensor: int | None
    input_tensor: int | None
    custom_script_path: str | None

    @property
    def paths(self) -> tuple[str, ...]:
        """The files and directories."""
        assert self.dump_file is not None
        # A name may have a comma too.
        if os.path.lexists(self.dump_file):
            return (self.dump_file,)
        return tuple(path for path in self.dump_file.split(",") if path)

    @property
    def only(self) -> tuple[str, int] | None:
        """The tensor to convert of each file; None for all."""
        if self.input_tensor is not None:
            return "input", self.input_tensor
        return None if self.output_tensor is None else ("output", self.output_tensor)

    def check(self) -> None:
        """Check the options as the vendor's command does.

        Raises
        ------
        click.UsageError
            If options are missing, or exclude each other.
        """
        given = [
            parameter.opts[0]
            for parameter in click.get_current_context().command.params
            if parameter.name in _NAMES and getattr(self, parameter.name) not in (None, ())
        ]
        if self.custom_script_path is not None:
            raise click.UsageError(
                "-c: scripts that convert formats are not run; -f knows the formats that are "
                "documented"
            )
        if given and self.dump_file is None:
            raise click.UsageError(f"{given[0]} belongs to the vendor's spelling, which needs -d")
        if self.output_tensor is not None and self.input_tensor is not None:
            raise click.UsageError("-i and -o exclude each other")
        if self.format is None:
            for option in ("-i", "-o", "-s"):
                if option in given:
                    raise click.UsageError(f"{option} needs -f")
        if self.dump_file is not None and not self.paths:
            raise click.UsageError("-d names no path")


_NAMES = {field.name for field in fields(VendorArguments)}


def _shape(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...]:
    if value is None:
        return ()
    parts = value.split(",")
    if not all(part.isascii() and part.isdigit() and len(part) <= 18 for part in parts):
        raise click.BadParameter(f"{value!r} is not a list of numbers (2,35,50).", ctx, param)
    return tuple(map(int, parts))


vendor_options = all_of(
    click.option(
        "-d",
        "--dump_file",
        metavar="PATH[,PATH...]",
        help="Dump files, or directories whose own files are converted, not those below them.",
    ),
    click.option(
        "-out",
        "--output",
        "output_path",
        metavar="OUT",
        help="The output directory. Default: the current one.",
    ),
    click.option(
        "-v",
        "dump_version",
        type=click.Choice(["1", "2"]),
        help="The version of the dump; it makes no difference, files tell theirs.",
    ),
    click.option(
        "-f",
        "--format",
        type=click.Choice(ORDERS),
        help="Bring tensors into this order of axes, without padding.",
    ),
    click.option(
        "-s",
        "--shape",
        callback=_shape,
        metavar="N,N,...",
        help="The shape that a tensor had before it was stored as FRACTAL_NZ. With -f.",
    ),
    click.option(
        "-o",
        "--output_tensor",
        type=click.IntRange(min=0),
        metavar="INDEX",
        help="Only this output. With -f.",
    ),
    click.option(
        "-i",
        "--input_tensor",
        type=click.IntRange(min=0),
        metavar="INDEX",
        help="Only this input. With -f.",
    ),
    click.option(
        "-c",
        "--custom_script_path",
        metavar="PATH",
        help="Refused: scripts that convert formats are not run.",
    ),
)
