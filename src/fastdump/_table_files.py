"""Tables as files: the format by the suffix, complete or not there at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fastdump._column_table import AnyTable, ColumnTable
from fastdump._table import StatsTable
from fastdump._table_arrow import read_arrow, read_parquet, write_arrow, write_parquet
from fastdump._table_csv import read_csv, write_csv
from fastdump._table_json import read_json, write_json
from fastdump.errors import DumpFormatError

_WRITERS: dict[str, Callable[[ColumnTable[Any], IO[bytes]], None]] = {
    ".csv": write_csv,
    ".json": write_json,
    ".arrow": write_arrow,
    ".parquet": write_parquet,
}


def write_table(table: ColumnTable[Any], path: str | os.PathLike[str]) -> None:
    """Do what `ColumnTable.write` promises."""
    write = _WRITERS[format_suffix(path)]
    with replacing(Path(path)) as file:
        write(table, file)


def read_stats(path: str | os.PathLike[str]) -> StatsTable:
    """Read a table that `StatsTable.write` has written.

    A file that another program has written can be read too if its columns are named and typed as
    in `StatsRow`, in any order. Of those, ``status``, ``path`` and ``source`` must be there;
    others that are missing become null.

    Parameters
    ----------
    path
        Its suffix says the format: ``.csv``, ``.json``, ``.arrow`` (also known as Feather 2) or
        ``.parquet``.

    Returns
    -------
    StatsTable

    Raises
    ------
    ValueError
        If the suffix is another one.
    DumpFormatError
        If the file is not such a table. The message names the file, the place and what is wrong.
    MissingDependencyError
        If arro3-io is not installed, for ``.arrow`` and ``.parquet``.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> fastdump.read_stats("run1.csv").worst(10)  # doctest: +SKIP
    """
    return read_table(path, StatsTable)


def written_table(path: str | os.PathLike[str]) -> StatsTable | None:
    """Return the table that `StatsTable.write` has put into a file, None if there is none in it.

    Raises
    ------
    DumpFormatError
        If the suffix is that of a table alone, and the content is not.
    MissingDependencyError, OSError
        As `read_stats`.
    """
    try:
        suffix = format_suffix(path)
    except ValueError:
        return None
    if not Path(path).is_file():
        return None
    try:
        return read_stats(path)
    except DumpFormatError:
        if suffix == ".csv":
            return None  # the vendor's statistics of a dump are CSV too
        raise


def read_table(path: str | os.PathLike[str], table_type: type[AnyTable]) -> AnyTable:
    """Read a table of this type that was written; raise as `read_stats` does."""
    suffix = format_suffix(path)
    with Path(path).open("rb") as file:
        # A reader raises ValueError for whatever is wrong with the bytes.
        try:
            if suffix == ".csv":
                return read_csv(file, table_type)
            if suffix == ".json":
                return read_json(file, table_type)
            return (read_arrow if suffix == ".arrow" else read_parquet)(file, table_type)
        except ValueError as error:
            raise DumpFormatError(f"{os.fspath(path)!r}: {error}") from error


def format_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of `path` if it says a format; raise ValueError otherwise."""
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise ValueError(f"{os.fspath(path)!r} does not end in one of {', '.join(_WRITERS)}")
    return suffix


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Give a file that takes the place of `path` at the end, and vanishes if there is an error."""
    target = path.resolve()  # replaces what a link points to, not the link
    temporary = target.with_name(f".fastdump-{secrets.token_hex(8)}.tmp")
    try:
        # Not tempfile, whose files nobody else may read.
        with temporary.open("xb") as file:
            yield file
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
