"""Files that commands write tables to."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastdump import FastdumpError
from fastdump._table_files import format_suffix

if TYPE_CHECKING:
    from fastdump._column_table import ColumnTable


def check_output(path: Path, *, also: tuple[str, ...] = ()) -> None:
    """Find out before the work what would fail after it; `also` are further suffixes.

    Raises
    ------
    click.UsageError
        The suffix says no format.
    OSError
        There is no such directory, or it may not be written to.
    """
    if path.suffix.lower() not in also:
        try:
            format_suffix(path)
        except ValueError as error:
            raise click.UsageError(str(error)) from error
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path.parent))


def write_outputs(table: ColumnTable[Any], outputs: Iterable[Path]) -> Exception | None:
    """Write a table to each file that can be written; return the last failure.

    Before printing, for the pipe may go away; a full disk is no reason not to print.
    """
    failure: Exception | None = None
    for output in outputs:
        try:
            table.write(output)
        except (OSError, FastdumpError) as error:
            failure = error
    return failure
