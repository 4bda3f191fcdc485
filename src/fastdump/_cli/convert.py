"""``fastdump convert``: dumps as files that other programs read."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from fastdump import NoDumpError
from fastdump._cli import exit_codes
from fastdump._cli.completion import complete_path
from fastdump._cli.console import speed_text
from fastdump._cli.messages import say
from fastdump._cli.options import (
    follow_links_option,
    io_depth_option,
    json_option,
    root_option,
    selection_options,
    threads_option,
)
from fastdump._cli.print_report import print_report
from fastdump._cli.scanning import moved_source
from fastdump._cli.unread import is_unread
from fastdump._cli.usage import refusing
from fastdump._cli.vendor_options import (
    FAILED_LIST,
    BilingualCommand,
    VendorArguments,
    vendor_options,
)
from fastdump._convert import new_conversion
from fastdump._convert.options import FILE_TYPES, ORDERS, FileType, Options
from fastdump._convert.output_directory import opened
from fastdump._convert.report import ConvertReport
from fastdump._dump.dump import open
from fastdump._progress import ProgressBar, working
from fastdump._selection import Selection
from fastdump._words.quantities import counted


@dataclass(frozen=True, slots=True)
class _Request:
    """The arguments of a conversion, in either spelling; `flat` is as in `new_conversion`."""

    paths: tuple[str, ...]
    out: str
    options: Options
    flat: bool


@click.command("convert", cls=BilingualCommand)
@click.argument("paths", nargs=-1, metavar="PATH... OUT", shell_complete=complete_path)
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
    "--logical",
    is_flag=True,
    help="Bring tensors in formats of the device into their logical order, without padding. "
    "Default: as they are stored.",
)
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    help="The order of axes to bring them into; implies --logical.",
)
@click.option("--bf16-as-float32", is_flag=True, help="Write bfloat16 as float32.")
@click.option("--overwrite", is_flag=True, help="Write files again that are there, complete.")
@root_option
@selection_options
@json_option
@threads_option
@io_depth_option
@follow_links_option
@vendor_options
def command(
    paths: tuple[str, ...],
    file_type: FileType,
    logical: bool,
    order: str | None,
    bf16_as_float32: bool,
    overwrite: bool,
    root: Path | None,
    conditions: dict[str, Any],
    as_json: bool,
    threads: int | None,
    io_depth: int | None,
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
      fastdump convert dump_dir out --logical --bf16-as-float32
      fastdump convert -d dump_dir/20240101000000/0/net/1/0 -out out -v 2 -f NCHW
    """  # noqa: D301 (\b is for click: do not wrap)
    options = Options(
        type=file_type,
        logical=logical or order is not None,
        order=order,
        bf16_as_float32=bf16_as_float32,
        overwrite=overwrite,
    )
    request = _request(paths, options, VendorArguments(**vendor))
    start = time.monotonic()
    selection = Selection.of(conditions)
    source = moved_source(request.paths, root)
    try:
        with working(), refusing():
            conversion = new_conversion(
                source,
                request.out,
                request.options,
                selection,
                threads=threads,
                io_depth=io_depth,
                follow_links=follow_links,
                flat=request.flat,
            )
    except NoDumpError as error:
        if request.flat and (n_below := _n_below(request.paths, selection, follow_links)):
            raise NoDumpError(_descending_text(error, request, n_below)) from error
        raise
    interrupted = False
    try:
        with ProgressBar(bad="failed") as bar:
            conversion.run(bar)
    except KeyboardInterrupt:
        interrupted = True
    seconds = time.monotonic() - start
    report = conversion.report()
    if interrupted:
        progress = conversion.progress()
        found = counted(progress.files_found, "file")
        say(
            f"interrupted after {progress.files_done:,} of {found}; the same command goes on from "
            "here"
        )
    if request.flat:
        _write_failed_list(Path(request.out), report)
    print_report(report, as_json=as_json, more={"interrupted": interrupted})
    if not as_json and report.nbytes:
        print(speed_text(report.nbytes, seconds))
    if interrupted:
        return exit_codes.INTERRUPTED
    unread = is_unread((note.status for note in report.noted), report.skipped)
    return exit_codes.INCOMPLETE if report.findings or unread else exit_codes.SUCCESS


def _request(paths: tuple[str, ...], options: Options, vendor: VendorArguments) -> _Request:
    """Return the arguments of the conversion, given in either spelling.

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
    if options.logical:
        raise click.UsageError("--logical, --order: with -d, this is -f")
    options = replace(
        options,
        logical=vendor.format is not None,
        order=vendor.format,
        logical_shape=vendor.shape or None,
        only=vendor.only,
        only_numpy_types=True,
        scalars_have_a_dimension=True,
    )
    return _Request(vendor.paths, vendor.output_path or ".", options, flat=True)


def _n_below(paths: tuple[str, ...], selection: Selection, follow_links: bool) -> int:
    """Return how many selected dump files lie in directories at any depth."""
    try:
        return len(open(paths, follow_links=follow_links).selected(selection))
    except NoDumpError:
        return 0


def _descending_text(error: NoDumpError, request: _Request, n_below: int) -> str:
    command = shlex.join(["fastdump", "convert", *request.paths, request.out])
    n_files = counted(n_below, "file")
    return f"{error}, as -d does not descend; to convert {n_files} below it: {command}"


def _write_failed_list(out: Path, report: ConvertReport) -> None:
    """List the files that failed, one a line; remove a list of an earlier conversion."""
    failed = dict.fromkeys(os.path.abspath(failure.path) for failure in report.findings)  # noqa: PTH100
    if not failed:
        (out / FAILED_LIST).unlink(missing_ok=True)
        return
    # A name with a line feed would look like two names.
    with opened(out) as directory, directory.replacing(FAILED_LIST) as file:
        file.writelines(os.fsencode(name.replace("\n", "\\n") + "\n") for name in failed)
