"""Tables as JSON: one object a row, one row a line."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from arro3.core import Array, Field, RecordBatch, Schema, Table

from fastdump._arguments import INT64_MAX, INT64_MIN
from fastdump._json import json_real
from fastdump._table.arrow_column import column_of
from fastdump._table.chunks import chunks
from fastdump._table.column import ARROW_TYPE, EXPECTED, Column, ColumnType, Head, TableKind
from fastdump._table.conform import check_names
from fastdump._table.table_limit import TableLimit

# Times the memory of its text that a document takes: some six for a table, at the worst twenty.
_MEMORY_PER_BYTE = 16

# Texts of the reals that JSON cannot express as numbers.
_NON_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def write_json(batch: RecordBatch, kind: TableKind, head: Head, file: IO[bytes]) -> None:
    """Write a table as one object with all its columns."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
    text.writelines(json_text(batch, kind, head, ensure_ascii=False))
    text.flush()
    text.detach()


def json_text(
    batch: RecordBatch, kind: TableKind, head: Mapping[str, Any], *, ensure_ascii: bool
) -> Iterator[str]:
    """Yield what `write_json` writes, piece by piece."""
    from fastdump._core import __version__

    encode = json.JSONEncoder(ensure_ascii=ensure_ascii, allow_nan=False).encode
    yield encode({"fastdump": __version__, **head})[:-1] + ', "rows": ['
    separator = "\n"
    names = batch.column_names
    for lists in chunks(batch):
        columns = [
            map(json_real, lists[name]) if kind.columns[name].type == "real" else lists[name]
            for name in names
        ]
        for values in zip(*columns, strict=True):
            yield separator + encode(dict(zip(names, values, strict=True)))
            separator = ",\n"
    yield "\n]}\n"


def read_json(
    file: IO[bytes], kind: TableKind, limit: TableLimit
) -> tuple[Table, Mapping[str, Any]]:
    """Read the rows and the head that `write_json` wrote; raise ValueError for any other file."""
    limit.count_nbytes(_MEMORY_PER_BYTE * file.seek(0, os.SEEK_END))
    file.seek(0)
    try:
        document = json.loads(file.read().decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(document, dict) or not isinstance(document.get("rows"), list):
        raise ValueError(f"not an object with a list of rows, so this is not a {kind.noun}")
    rows = document.pop("rows")
    document.pop("fastdump", None)
    names: dict[str, None] = {}  # in the order of appearance
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise ValueError(f"row {i} is {row!r:.80}, expected an object")
        names.update(dict.fromkeys(row))
    if rows:
        check_names(list(names), kind)
    else:
        names = dict.fromkeys(name for name, column in kind.columns.items() if not column.nullable)
    schema = Schema([Field(name, ARROW_TYPE[kind.columns[name].type], True) for name in names])
    columns = [_column(rows, kind.columns[name]) for name in names]
    batch = RecordBatch.from_arrays(columns, schema=schema)
    return Table.from_batches([batch], schema=schema), document


def _column(rows: list[dict[str, Any]], column: Column) -> Array:
    values = [row.get(column.name) for row in rows]
    is_valid = _IS_VALID[column.type]
    for i, value in enumerate(values):
        if not (column.nullable if value is None else is_valid(value)):
            raise ValueError(
                f"row {i}, {column.name!r}: {value!r:.80} is not {EXPECTED[column.type]}"
            )
    if column.type == "real":
        values = [_NON_FINITE.get(v, v) if isinstance(v, str) else v for v in values]
    try:
        return column_of(values, column.type)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{column.name!r}: {error}") from error


def _is_integer(value: object) -> bool:
    return type(value) is int and INT64_MIN <= value <= INT64_MAX


def _is_real(value: object) -> bool:
    if isinstance(value, str):
        return value in _NON_FINITE
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_IS_VALID: dict[ColumnType, Callable[[object], bool]] = {
    "integer": _is_integer,
    "real": _is_real,
    "text": lambda value: isinstance(value, str),
    "shape": lambda value: isinstance(value, list) and all(map(_is_integer, value)),
    "boolean": lambda value: isinstance(value, bool),
}
