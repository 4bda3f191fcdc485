"""Files that commands write tables to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastdump import FastdumpError
from fastdump._atomic import check_replaceable
from fastdump._cli.usage import refusing
from fastdump._table.file_format import format_suffix

if TYPE_CHECKING:
    from fastdump._table.column_table import ColumnTable


def check_output(path: Path, *, also: tuple[str, ...] = ()) -> None:
    """Raise before the work what would fail after it; `also` are further suffixes.

    Raises
    ------
    click.UsageError
        The suffix is not that of a format.
    OSError
        The directory does not exist or is not writable, or the path is that of something else than
        a file, a pipe or a character device.
    """
    if path.suffix.lower() not in also:
        with refusing(click.UsageError):
            format_suffix(path)
    check_replaceable(path)


def write_outputs(table: ColumnTable[Any], outputs: Iterable[Path]) -> Exception | None:
    """Write a table to each file that can be written; return the last failure.

    Called before printing, because the pipe may go away; a full disk must not prevent printing.
    """
    failure: Exception | None = None
    for output in outputs:
        try:
            table.write(output)
        except (OSError, FastdumpError) as error:
            failure = error
    return failure
