"""Conversion of dumps to files of other formats: from paths to a report.

`sources` finds dump files, `outputs` says which files one becomes (`naming`, `elements`, `npy`,
`safetensors`), `output_file` writes one so that it is there as a whole or not at all, `conversion`
does that for all of them in threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from fastdump._convert.conversion import Conversion
from fastdump._convert.options import FILE_TYPES, LAYOUTS, FileType, Options
from fastdump._convert.report import ConvertFailure, ConvertNote, ConvertProgress, ConvertReport
from fastdump._convert.sources import Conditions, find_sources
from fastdump._progress import INTERVAL_S, ProgressBar
from fastdump._stats import PathLike, io_of, n_threads, no_dump_error, path_bytes, paths_of

__all__ = [
    "ConvertFailure",
    "ConvertNote",
    "ConvertProgress",
    "ConvertReport",
    "convert",
    "new_conversion",
]


def convert(
    path: PathLike | Iterable[PathLike],
    out: PathLike,
    *,
    type: FileType = "npy",
    layout: str | None = None,
    bf16_as_float32: bool = False,
    overwrite: bool = False,
    threads: int | None = None,
    progress: bool | Callable[[ConvertProgress], object] | None = None,
    follow_links: bool = False,
    op_type: str | Iterable[str] | None = None,
    op_name: str | Iterable[str] | None = None,
    step: int | Iterable[int] | None = None,
    rank: int | Iterable[int] | None = None,
    tensor: str | Iterable[str] | None = None,
) -> ConvertReport:
    """Convert the tensors of a dump to files that other programs read.

    A file is there as a whole or not at all: it gets its name when it is complete. Those that are
    there already, complete and not older than the dump file, are kept; so a conversion that was
    interrupted goes on where it was. What cannot be converted does not end the conversion.

    Parameters
    ----------
    path
        A dump file, a directory of any depth, or several of them.
    out
        The output directory; it is made. The structure of a directory is kept in it; several
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

        Element types are those of `Tensor`. What are no numbers, fusion buffers
        (``{dump}.l1buffer.0.bin``), workspaces (``{dump}.space.0.bin``), types of unknown
        encoding, are bytes. An overflow record (OpDebug) becomes ``{dump}.output.0.json`` in all
        but "raw".
    layout
        "host", or an order of axes, "NCHW" for example: tensors in formats of the device are
        brought into the order that they had in the framework, or into this one, without padding, as
        `Tensor.logical` does. Names of npy files have the shape then:
        ``{dump}.output.0.2x19x3x5.npy``. Default: all as they are stored.
    bf16_as_float32
        Whether to write bfloat16 as float32, as the vendor's converter does.
    overwrite
        Whether to write complete files again.
    threads
        Default: the environment variable ``FASTDUMP_THREADS``, or the CPUs this process may use.
    progress
        True for a progress bar on stderr, if that is a terminal; or a function that is called about
        ten times a second with a `ConvertProgress`. An exception that it raises ends the
        conversion.
    follow_links
        Whether to follow symbolic links below `path`.
    op_type, op_name
        Shell patterns (``*``, ``?``, ``[abc]``) for names as files have them; only operators that
        match one of them are converted.
    step, rank
        Only these.
    tensor
        Only these of "input", "output", "buffer" and "space".

    Returns
    -------
    ConvertReport
        What was written, what was kept, what failed and why.

    Raises
    ------
    NoDumpError
        If there is nothing to convert.
    ValueError
        If an argument has a value that it cannot have.
    OSError
        If `path` does not exist or is not readable, or `out` cannot be made.

    Notes
    -----
    Of dumps that were appended to another one in its file the names are
    ``{dump}.output.0.appended1.npy``, ``{dump}.appended1.safetensors``. A name of more than 255
    bytes becomes digits; ``mapping.csv`` beside the file says what these stand for, and also what
    those do that the dump's own files were named with.

    safetensors files have no names for some types: integers of less than 8 bits are I8 or U8, types
    that numpy and ml_dtypes lack F32, complex128 is F64 with one dimension more, for real and
    imaginary part. Types and formats of the dump are in the metadata.

    Examples
    --------
    >>> report = fastdump.convert("dump_dir", "out", step=3)  # doctest: +SKIP
    >>> [failure.path for failure in report.failed]  # doctest: +SKIP
    """
    if type not in FILE_TYPES:
        raise ValueError(f"type is {type!r}, expected one of {', '.join(FILE_TYPES)}")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is {progress!r}, expected True, None or a function")
    options = Options(
        type=type,
        layout=layout,
        bf16_as_float32=bf16_as_float32,
        overwrite=overwrite,
        io=frozenset(io_of("tensor", tensor)),
    )
    given = {"op_type": op_type, "op_name": op_name, "step": step, "rank": rank}
    conditions = {name: value for name, value in given.items() if value is not None}
    paths = paths_of(path)  # once: it may be an iterator
    conversion = new_conversion(
        paths,
        out,
        options,
        cast("Conditions", conditions),
        threads=threads,
        follow_links=follow_links,
    )
    if progress is True:
        with ProgressBar(bad="failed") as bar:
            conversion.run(bar, INTERVAL_S)
    else:
        conversion.run(progress or None, INTERVAL_S)
    report = conversion.report()
    if report.files == 0 and not report.failed:
        raise no_dump_error(paths, report.skipped, selected=bool(conditions))
    return report


def new_conversion(
    paths: Sequence[PathLike],
    out: PathLike,
    options: Options,
    conditions: Conditions,
    *,
    threads: int | None,
    follow_links: bool,
    flat: bool = False,
) -> Conversion:
    """Return a conversion that has not been run; arguments and errors are those of `convert`.

    If `flat`, only files directly in `paths` are converted, all into `out` itself.
    """
    if options.layout is not None and options.layout not in LAYOUTS:
        raise ValueError(f"layout is {options.layout!r}, expected one of {', '.join(LAYOUTS)}")
    path_bytes(out)
    number = n_threads(threads)
    sources, skipped = find_sources(paths, conditions, follow_links=follow_links, flat=flat)
    return Conversion(sources, skipped, Path(os.fsdecode(out)), options, number)
