"""Files of tables: the suffix decides the format, and a file is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arro3.core import RecordBatch, Table

from fastdump._atomic import replacing
from fastdump._table.arrow_file import read_arrow, read_parquet, write_arrow, write_parquet
from fastdump._table.column import Head, TableKind, head_in
from fastdump._table.csv_file import read_csv, write_csv
from fastdump._table.file_format import format_suffix
from fastdump._table.json_file import read_json, write_json
from fastdump._table.table_limit import TableLimit
from fastdump.errors import DumpFormatError


def write_rows(
    path: str | os.PathLike[str],
    batch: RecordBatch,
    kind: TableKind,
    head: Head,
    csv_names: Sequence[str],
    arrow: Callable[[], Table],
) -> None:
    """Write a table in the format of the path's suffix.

    Parameters
    ----------
    path
        The file, which is replaced when the new one is complete.
    batch, kind, head
        The table.
    csv_names
        The columns that a CSV file gets.
    arrow
        Function that returns the table that Arrow and Parquet files get.

    Raises
    ------
    ValueError
        If the suffix is none of `SUFFIXES`.
    """
    suffix = format_suffix(path)
    with replacing(Path(path)) as file:
        if suffix == ".csv":
            write_csv(batch, csv_names, kind, file)
        elif suffix == ".json":
            write_json(batch, kind, head, file)
        else:
            (write_arrow if suffix == ".arrow" else write_parquet)(arrow(), file)


def read_rows(
    path: str | os.PathLike[str], kind: TableKind
) -> tuple[Table, Mapping[str, Any] | None]:
    """Read a table from a file: its columns, and what the file says beside them.

    Returns
    -------
    arro3.core.Table
        The columns of the file, in its order.
    dict or None
        The head of the table; None if it is in the metadata of its schema.

    Raises
    ------
    ValueError
        If the suffix is none of `SUFFIXES`.
    DumpFormatError
        If the file is not such a table.
    TableTooLargeError
        If the table would take more memory than `TableLimit` allows.
    MissingDependencyError
        If arro3-io is not installed, for ``.arrow`` and ``.parquet``.
    OSError
        If the file cannot be read.
    """
    suffix = format_suffix(path)
    limit = TableLimit(os.fsdecode(path), kind)
    with Path(path).open("rb") as file:
        # Readers raise ValueError for anything that is wrong with the bytes.
        try:
            if suffix == ".csv":
                return read_csv(file, kind, limit), {}
            if suffix == ".json":
                return read_json(file, kind, limit)
            table = (read_arrow if suffix == ".arrow" else read_parquet)(file, kind, limit)
            head_in(table.schema)
            return table, None
        except ValueError as error:
            raise DumpFormatError(f"{os.fspath(path)!r}: {error}") from error
