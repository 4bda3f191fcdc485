"""Conversion of dumps to files of other formats: from paths to a report.

`sources` finds the dump files, and `outputs` decides which files each becomes (`naming`,
`elements`, `npy`, `safetensors`). `payload` makes their bytes. `conversion` writes them all in
threads (`work_list`), each file whole or not at all; `by_workers` has the workers of an executor
convert a part each. A `ledger` collects what the `report` tells.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fastdump._arguments import PathLike, parallelism, path_bytes
from fastdump._convert.by_workers import ConversionByWorkers
from fastdump._convert.conversion import Conversion
from fastdump._convert.options import FILE_TYPES, ORDERS, FileType, Options
from fastdump._convert.records import ConvertFailure, ConvertNote, ConvertProgress
from fastdump._convert.report import ConvertReport
from fastdump._convert.sources import Sources
from fastdump._progress import reporting
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._stats import What

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from typing_extensions import Unpack

__all__ = [
    "ConvertFailure",
    "ConvertNote",
    "ConvertProgress",
    "ConvertReport",
    "FileType",
    "convert",
    "new_conversion",
]


@takes_conditions
def convert(
    what: What,
    out: PathLike,
    *,
    type: FileType = "npy",
    logical: bool = False,
    order: str | None = None,
    bf16_as_float32: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    io_depth: int | None = None,
    progress: bool | Callable[[ConvertProgress], object] | None = None,
    follow_links: bool = False,
    executor: Executor | None = None,
    **conditions: Unpack[Conditions],
) -> ConvertReport:
    """Convert the tensors of a dump to files that other programs read.

    A file gets its name when it is complete. Files that are there already, complete and not older
    than the dump file, are kept; so a conversion that was interrupted goes on where it stopped.
    What cannot be converted does not end the conversion.

    Parameters
    ----------
    what
        A dump file, a directory of any depth, several of them, or a `Dump`; or a `StatsTable` or
        its file, to convert the tensors of its rows.
    out
        The output directory; it is made if need be. It keeps the structure of a directory; several
        directories get one each. The names of files begin with the dump file's name.
    type
        ====================  ==================================================================
        "npy"                 ``{dump}.output.0.npy``. bfloat16 and the 8-bit floats are stored
                              as they are, for which numpy has no type:
                              ``numpy.load(file).view(ml_dtypes.bfloat16)``
        "msnpy"               the same, named as MindSpore does:
                              ``{dump}.output.0.{FORMAT}.npy``, with the last component of the
                              operator's name
        "bin"                 ``{dump}.output.0.{elements}.{dtype}.{FORMAT}.bin``: the elements as
                              in npy files, without a header
        "raw"                 ``{dump}.output.0.bin``: the bytes as the dump has them
        "safetensors"         ``{dump}.safetensors``: all tensors of a dump, ``output.0``
        ====================  ==================================================================

        Element types are those of `Tensor`. Fusion buffers (``{dump}.l1buffer.0.bin``), workspaces
        (``{dump}.space.0.bin``) and types of unknown encoding are written as bytes. An overflow
        record (OpDebug) becomes ``{dump}.output.0.json``, except with "raw".
    logical
        Whether to bring tensors in formats of the device into their logical order, without padding,
        as `Tensor.logical` does. Names of npy files then contain the shape:
        ``{dump}.output.0.2x19x3x5.npy``. Default: all tensors as they are stored.
    order
        The order of axes of the logical tensors, "NCHW" for example. Implies `logical`.
    bf16_as_float32
        Whether to write bfloat16 as float32, as the vendor's converter does.
    overwrite
        Whether to write complete files again.
    threads, io_depth
        How much is done at once; as for `stats`.
    progress
        True for a progress bar on stderr, if that is a terminal; or a function that is called about
        ten times a second with a `ConvertProgress`. An exception that it raises ends the
        conversion.
    follow_links
        Whether to follow symbolic links below directories.
    executor
        Anything that is a `concurrent.futures.Executor`, whose workers convert the files. They see
        the same files and the same output directory under the same absolute paths, and have one
        thread each unless `threads` says another number. The report is the same.
    **conditions
        Which tensors to convert; `Selection` says what each condition means.

    Returns
    -------
    ConvertReport
        What was written, what was kept, what failed and why.

    Raises
    ------
    NoDumpError
        If there is nothing to convert.
    TypeError, ValueError
        If an argument has a value that it cannot have.
    OSError
        If a path does not exist or is not readable, or `out` cannot be made.

    Notes
    -----
    Dumps that were appended to another one in its file get the names
    ``{dump}.output.0.appended1.npy`` and ``{dump}.appended1.safetensors``. A name of more than 255
    bytes becomes digits; ``mapping.csv`` beside the file gives the name that they stand for, and
    also the names behind digits of the dump's own files.

    The safetensors format lacks some types: integers of less than 8 bits become I8 or U8, types
    that numpy and ml_dtypes lack become F32, and complex128 becomes F64 with one more dimension,
    for real and imaginary part. The metadata have the types and formats of the dump.

    Examples
    --------
    >>> report = fastdump.convert("dump_dir", "out", step=3)  # doctest: +SKIP
    >>> [failure.path for failure in report.findings]  # doctest: +SKIP
    """
    if type not in FILE_TYPES:
        raise ValueError(f"type is {type!r}, expected one of {', '.join(FILE_TYPES)}")
    options = Options(
        type=type,
        logical=logical or order is not None,
        order=order,
        bf16_as_float32=bf16_as_float32,
        overwrite=overwrite,
    )
    with reporting(progress, bad="failed") as on_progress:
        conversion = new_conversion(
            what,
            out,
            options,
            Selection.of(conditions),
            threads=threads,
            io_depth=io_depth,
            follow_links=follow_links,
            executor=executor,
        )
        conversion.run(on_progress)
    return conversion.report()


def new_conversion(
    what: What,
    out: PathLike,
    options: Options,
    selection: Selection,
    *,
    threads: int | None,
    io_depth: int | None,
    follow_links: bool,
    flat: bool = False,
    executor: Executor | None = None,
) -> Conversion | ConversionByWorkers:
    """Return a conversion that has not been run; arguments and errors are those of `convert`.

    If `flat`, only files directly in the directories are converted, all into `out` itself.
    """
    if options.order is not None and options.order not in ORDERS:
        raise ValueError(f"order is {options.order!r}, expected one of {', '.join(ORDERS)}")
    path_bytes(out)
    at_once = parallelism(threads, io_depth)
    sources = Sources.found(what, selection, follow_links=follow_links, flat=flat)
    to = Path(os.fsdecode(out))
    if executor is None:
        return Conversion(sources, to, options, at_once)
    return ConversionByWorkers(executor, sources, to, options, threads=threads, io_depth=io_depth)
