"""Tables as files: the format by the suffix, complete or not there at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from fastdump._table import StatsTable
from fastdump._table_arrow import read_arrow, read_parquet, write_arrow, write_parquet
from fastdump._table_csv import read_csv, write_csv
from fastdump._table_json import read_json, write_json
from fastdump.errors import DumpFormatError

_WRITERS: dict[str, Callable[[StatsTable, IO[bytes]], None]] = {
    ".csv": write_csv,
    ".json": write_json,
    ".arrow": write_arrow,
    ".parquet": write_parquet,
}
# A reader raises ValueError for whatever is wrong with the bytes.
_READERS: dict[str, Callable[[IO[bytes]], StatsTable]] = {
    ".csv": read_csv,
    ".json": read_json,
    ".arrow": read_arrow,
    ".parquet": read_parquet,
}


def write_table(table: StatsTable, path: str | os.PathLike[str]) -> None:
    """Do what `StatsTable.write` promises."""
    write = _WRITERS[format_suffix(path)]
    with _replacing(Path(path)) as file:
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
    read = _READERS[format_suffix(path)]
    with Path(path).open("rb") as file:
        try:
            return read(file)
        except ValueError as error:
            raise DumpFormatError(f"{os.fspath(path)!r}: {error}") from error


def format_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of `path` if it says a format; raise ValueError otherwise."""
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise ValueError(f"{os.fspath(path)!r} does not end in one of {', '.join(_WRITERS)}")
    return suffix


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
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
