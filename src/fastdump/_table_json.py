"""Tables as JSON: one object a row, one row a line."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator
from typing import IO, Any

from arro3.core import Array, Table

from fastdump._arrow_column import column_of
from fastdump._chunks import chunks
from fastdump._column import EXPECTED, INT64_MAX, INT64_MIN, Column, Kind
from fastdump._column_table import AnyTable, ColumnTable
from fastdump._conform import check_names, conform

# What JSON has no number for.
_NON_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def write_json(table: ColumnTable[Any], file: IO[bytes]) -> None:
    """Write `table` as one object with all its columns."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
    text.writelines(json_text(table, ensure_ascii=False))
    text.flush()
    text.detach()


def json_text(table: ColumnTable[Any], *, ensure_ascii: bool) -> Iterator[str]:
    """Yield what `write_json` writes, piece by piece."""
    from fastdump._core import __version__

    encode = json.JSONEncoder(ensure_ascii=ensure_ascii, allow_nan=False).encode
    head = {"fastdump": __version__, **table.head}
    yield encode(head)[:-1] + ', "rows": ['
    separator = "\n"
    names = table.column_names
    for lists in chunks(table.arrow.to_batches()[0]):
        columns = [
            map(json_real, lists[name]) if table.kind.columns[name].kind == "real" else lists[name]
            for name in names
        ]
        for values in zip(*columns, strict=True):
            yield separator + encode(dict(zip(names, values, strict=True)))
            separator = ",\n"
    yield "\n]}\n"


def json_real(value: float | None) -> float | str | None:
    """Return `value`, as the text "inf", "-inf" or "nan" if JSON has no number for it."""
    return value if value is None or math.isfinite(value) else repr(value)


def read_json(file: IO[bytes], table_type: type[AnyTable]) -> AnyTable:
    """Read what `write_json` has written; raise ValueError if it is not that."""
    kind = table_type.kind
    try:
        document = json.loads(file.read().decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(document, dict) or not isinstance(document.get("rows"), list):
        raise ValueError(f"not an object with a list of rows, so this is not a {kind.noun}")
    rows = document["rows"]
    names: dict[str, None] = {}  # in order of appearance
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise ValueError(f"row {i} is {row!r:.80}, expected an object")
        names.update(dict.fromkeys(row))
    if rows:
        check_names(list(names), kind)
    schema = table_type.schema_for(list(names), document)
    columns = {name: _column(rows, kind.columns[name]) for name in names}
    batch = conform(columns, len(rows), schema, kind)
    return table_type(Table.from_batches([batch], schema=schema))


def _column(rows: list[dict[str, Any]], column: Column) -> Array:
    values = [row.get(column.name) for row in rows]
    is_valid = _IS_VALID[column.kind]
    for i, value in enumerate(values):
        if not (column.nullable if value is None else is_valid(value)):
            raise ValueError(
                f"row {i}, {column.name!r}: {value!r:.80} is not {EXPECTED[column.kind]}"
            )
    if column.kind == "real":
        values = [_NON_FINITE.get(v, v) if isinstance(v, str) else v for v in values]
    try:
        return column_of(values, column.kind)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{column.name!r}: {error}") from error


def _is_integer(value: object) -> bool:
    return type(value) is int and INT64_MIN <= value <= INT64_MAX


def _is_real(value: object) -> bool:
    if isinstance(value, str):
        return value in _NON_FINITE
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool)


def _is_shape(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_integer, value))


_IS_VALID: dict[Kind, Callable[[object], bool]] = {
    "integer": _is_integer,
    "real": _is_real,
    "text": _is_text,
    "shape": _is_shape,
    "boolean": _is_boolean,
}
