"""``fastdump convert``: dumps as files that other programs read."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import click
from rich.text import Text

from fastdump._cli import exit_codes
from fastdump._cli.console import stdout_console
from fastdump._cli.json_document import print_json
from fastdump._cli.options import (
    filter_options,
    follow_links_option,
    json_option,
    threads_option,
)
from fastdump._cli.vendor_options import (
    FAILED_LIST,
    BilingualCommand,
    VendorArguments,
    vendor_options,
)
from fastdump._convert import new_conversion
from fastdump._convert.options import FILE_TYPES, LAYOUTS, FileType, Options
from fastdump._convert.output_file import write_atomically
from fastdump._convert.report import ConvertReport
from fastdump._convert.sources import Conditions
from fastdump._printable import printable
from fastdump._progress import INTERVAL_S, ProgressBar
from fastdump._quantities import counted, duration_text, size_text, skipped_text
from fastdump._stats import no_dump_error
from fastdump._styles import BAD, SUBTLE, status_style

# Enough to see what is odd; --json has them all.
_MAX_NOTES = 3


@dataclass(frozen=True, slots=True)
class _Request:
    """What is to be converted, where to, and how; `flat` is as in `new_conversion`."""

    paths: tuple[str, ...]
    out: str
    options: Options
    flat: bool


@click.command("convert", cls=BilingualCommand)
@click.argument("paths", nargs=-1, metavar="PATH... OUT")
@click.option(
    "-t",
    "--type",
    "file_type",
    type=click.Choice(FILE_TYPES),
    default="npy",
    show_default=True,
    help="What to write. bin: elements without a header; raw: bytes as the dump has them; "
    "safetensors: one file a dump; msnpy: npy files named as MindSpore does.",
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    help="Bring tensors in formats of the device into the order of axes that they had in the "
    "framework (host), or into this one, without padding. Default: as they are stored.",
)
@click.option("--bf16-as-float32", is_flag=True, help="Write bfloat16 as float32.")
@click.option("--overwrite", is_flag=True, help="Write files again that are there, complete.")
@filter_options
@json_option
@threads_option
@follow_links_option
@vendor_options
def command(
    paths: tuple[str, ...],
    file_type: FileType,
    layout: str | None,
    bf16_as_float32: bool,
    overwrite: bool,
    op_type: tuple[str, ...],
    op_name: tuple[str, ...],
    step: tuple[int, ...],
    rank: tuple[int, ...],
    tensor: tuple[str, ...],
    as_json: bool,
    threads: int | None,
    follow_links: bool,
    **vendor: Any,
) -> int:
    """Convert the tensors of PATH..., files or directories of any depth, into the directory OUT.

    Names are those of the vendor's converter: {dump}.output.0.npy, {dump}.l1buffer.0.bin; overflow
    records become {dump}.output.0.json. Directories keep their structure. Files that are complete
    already are kept, so that an interrupted conversion goes on; none is ever half written under
    its name. numpy lacks bfloat16 and 8-bit floats: numpy.load(f).view(ml_dtypes.bfloat16).

    With -d this is the vendor's command (msaccucmp.py convert): directories are not descended,
    types that numpy lacks are written as float32, scalars have the shape (1,), and files that
    failed are listed in OUT/convert_failed_file_list.txt. On purpose it differs from the vendor's:
    8-bit floats have their right values, -f never cuts off a wrong corner, all types of element and
    truncated files are converted, complete files are kept, and exit codes are those of fastdump.

    \b
    Examples:
      fastdump convert dump_dir out
      fastdump convert dump_dir out --step 3 --op-type 'MatMul*' -t safetensors
      fastdump convert dump_dir out --layout host --bf16-as-float32
      fastdump convert -d dump_dir/20240101000000/0/net/1/0 -out out -v 2 -f NCHW
    """  # noqa: D301 (\b is for click: do not wrap)
    options = Options(
        type=file_type,
        layout=layout,
        bf16_as_float32=bf16_as_float32,
        io=frozenset(tensor),
        overwrite=overwrite,
    )
    request = _request(paths, options, VendorArguments(**vendor))
    given = {"op_type": op_type, "op_name": op_name, "step": step, "rank": rank}
    conditions = {name: value for name, value in given.items() if value}
    try:
        conversion = new_conversion(
            request.paths,
            request.out,
            request.options,
            cast("Conditions", conditions),
            threads=threads,
            follow_links=follow_links,
            flat=request.flat,
        )
    except ValueError as error:
        # FASTDUMP_THREADS, or directories of one name: options were checked by click.
        raise click.ClickException(str(error)) from error
    interrupted = False
    start = time.monotonic()
    try:
        with ProgressBar(bad="failed") as bar:
            conversion.run(bar, INTERVAL_S)
    except KeyboardInterrupt:
        interrupted = True
    seconds = time.monotonic() - start
    report = conversion.report()
    if interrupted:
        progress = conversion.progress()
        found = counted(progress.files_found, "file")
        print(
            f"fastdump: interrupted after {progress.files_done:,} of {found}; the same command "
            "goes on from here",
            file=sys.stderr,
        )
    elif report.files == 0 and not report.failed:
        raise no_dump_error(request.paths, report.skipped, selected=bool(conditions))
    if request.flat:
        _write_failed_list(Path(request.out), report)
    if as_json:
        print_json({"out": request.out, "interrupted": interrupted, **asdict(report)})
    else:
        _print(report, request.out, seconds)
    if interrupted:
        return exit_codes.INTERRUPTED
    return exit_codes.INCOMPLETE if report.failed else exit_codes.SUCCESS


def _request(paths: tuple[str, ...], options: Options, vendor: VendorArguments) -> _Request:
    """Return what is asked for, in either spelling.

    Raises
    ------
    click.UsageError
        If something is missing, or both spellings are mixed.
    """
    vendor.check()
    if vendor.dump_file is None:
        if len(paths) < 2:
            raise click.UsageError("PATH... and OUT are needed")
        return _Request(paths[:-1], paths[-1], options, flat=False)
    if paths:
        raise click.UsageError(f"{paths[0]!r}: with -d, paths are given to -d and -out")
    if options.layout is not None:
        raise click.UsageError("--layout: with -d, this is -f")
    options = replace(
        options,
        layout=vendor.format,
        layout_shape=vendor.shape or None,
        only=vendor.only,
        only_numpy_types=True,
        scalars_have_a_dimension=True,
    )
    return _Request(vendor.paths, vendor.output_path or ".", options, flat=True)


def _write_failed_list(out: Path, report: ConvertReport) -> None:
    """List the files that failed, one a line; remove a list of an earlier conversion."""
    path = out / FAILED_LIST
    failed = dict.fromkeys(os.path.abspath(failure.path) for failure in report.failed)  # noqa: PTH100
    if not failed:
        path.unlink(missing_ok=True)
        return
    # A name with a line feed would be two.
    lines = [file.replace("\n", "\\n") + "\n" for file in failed]
    write_atomically(path, [os.fsencode(line) for line in lines])


def _print(report: ConvertReport, out: str, seconds: float) -> None:
    console = stdout_console()
    speed = size_text(report.nbytes / max(seconds, 1e-9))
    console.print(
        printable(
            f"{counted(report.files, 'dump file')}: {counted(report.written, 'file')} written to "
            f"{out}, {size_text(report.nbytes)} in {duration_text(seconds)} ({speed}/s)"
        )
    )
    if report.kept:
        console.print(f"{counted(report.kept, 'file')} kept: complete already")
    if report.renamed:
        n_renamed = counted(len(report.renamed), "file")
        console.print(f"{n_renamed} named with digits; mapping.csv beside them says which is which")
    for line in _note_lines(report):
        console.print(line)
    if report.skipped:
        console.print(f"skipped: {skipped_text(report.skipped)}", style=SUBTLE)
    if report.failed:
        console.print(Text(f"failed: {len(report.failed):,}", BAD))
    for failure in report.failed:
        tensor = f": {failure.tensor}" if failure.tensor else ""
        console.print(printable(f"  {failure.path}{tensor}: {failure.reason}"))


def _note_lines(report: ConvertReport) -> Iterator[Text]:
    by_status: dict[str, list[str]] = {}
    for note in report.noted:
        tensor = f": {note.tensor}" if note.tensor else ""
        by_status.setdefault(note.status, []).append(f"  {note.path}{tensor}: {note.note}")
    for status, lines in by_status.items():
        style = SUBTLE if status == "noted" else status_style(status)
        yield Text(f"{status}: {len(lines):,}", style)
        for line in lines[:_MAX_NOTES]:
            yield Text(printable(line))
        if len(lines) > _MAX_NOTES:
            yield Text(f"  ... and {len(lines) - _MAX_NOTES:,} more", SUBTLE)
