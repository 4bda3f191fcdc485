"""Files that commands write tables to."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import click

from fastdump._table_files import format_suffix


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
