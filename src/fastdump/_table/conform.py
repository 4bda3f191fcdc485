"""Data from other programs brought into the schema of a table, or the reason why that fails."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from arro3.core import Array, DataType, RecordBatch, Schema, Table, list_flatten

from fastdump._table.arrow_column import column_of, real_array, shortened
from fastdump._table.column import (
    ARROW_TYPE,
    EXPECTED,
    MAX_EXACT_INTEGER,
    ColumnType,
    Head,
    TableKind,
    is_long,
)
from fastdump._table.joined_columns import joined

_SHOWN_NAMES = 5


def check_names(names: Sequence[str], kind: TableKind) -> None:
    """Check that a table with these columns can be one of `kind`.

    Raises
    ------
    ValueError
        If a name is unknown or occurs twice, or if a column that never has nulls is missing.
    """
    unknown = [name for name in names if name not in kind.columns and name not in kind.beside]
    if unknown:
        raise ValueError(f"unknown {_columns(unknown)}, so this is not a {kind.noun}")
    if len(set(names)) < len(names):
        repeated = [name for name in (*kind.columns, *kind.beside) if names.count(name) > 1]
        raise ValueError(f"repeated {_columns(repeated)}")
    needed = (name for name, column in kind.columns.items() if not column.nullable)
    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(f"missing {_columns(missing)}, so this is not a {kind.noun}")


def _columns(names: Collection[str]) -> str:
    shown = ", ".join(f"{name!r:.60}" for name in list(names)[:_SHOWN_NAMES])
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return f"column{'' if len(names) == 1 else 's'} {shown}{more}"


def check_schema(schema: Schema, kind: TableKind) -> None:
    """Check that a table with these columns and types can be one of `kind`.

    Raises
    ------
    ValueError
        If `check_names` does, or if a column has another type.
    """
    check_names(schema.names, kind)
    for name, data_type in zip(schema.names, schema.types, strict=True):
        expected = "integer" if name in kind.beside else kind.columns[name].type
        if not (DataType.is_null(data_type) or _is_of_type(data_type, expected)):
            found = str(data_type).strip()
            raise ValueError(
                f"column {name!r} has type {found:.200}, expected {EXPECTED[expected]} in each row"
            )


def conform(table: Table, kind: TableKind, head: Head) -> RecordBatch:
    """Return the columns of a table that `check_schema` accepts, as a batch with the right schema.

    Missing columns are derived from others or become null. Other widths of numbers, floats that are
    integers, and the other layouts that Arrow has for text and lists are converted.

    Raises
    ------
    ValueError
        If there is a column that a table with this head does not have, a value that does not fit
        its type, or a null where the schema allows none.
    """
    if table.num_rows == 0:
        table = table.combine_chunks()  # one without a batch gets one without a row
    names = kind.names(head)
    given = [name for name in table.column_names if name not in kind.beside]
    extra = [name for name in given if name not in names]
    if extra:
        raise ValueError(f"{_columns(extra)}, which {kind.level_only[extra[0]]}, not at this one")
    columns = {
        name: _cast(joined(table.column(name).chunks), name, kind.columns[name].type)
        for name in given
    }
    for name in names:
        column = kind.columns[name]
        if name not in columns:
            columns[name] = _made(name, columns, table.num_rows, kind)
        if columns[name].null_count and not column.nullable:
            raise ValueError(f"column {name!r} has nulls")
    long = {name: column.type for name, column in columns.items() if is_long(column.type)}
    return RecordBatch.from_arrays(
        [columns[name] for name in names], schema=kind.schema(head, long)
    )


def _made(name: str, columns: Mapping[str, Array], n_rows: int, kind: TableKind) -> Array:
    """Return a column that the data lack."""
    derive = kind.derived.get(name)
    return (
        column_of([None] * n_rows, kind.columns[name].type) if derive is None else derive(columns)
    )


def _cast(array: Array, name: str, type: ColumnType) -> Array:
    if DataType.is_null(array.type):
        return column_of([None] * len(array), type)
    if type == "integer" and DataType.is_floating(array.type):
        _check_integral(array, name)
        return array.cast(ARROW_TYPE[type])
    if type in ARROW_TYPE and type != "shape" and array.type == ARROW_TYPE[type]:
        return array
    # Types that arro3 calls equal may differ in the name of a list's items, so lists are always
    # cast. A cast turns a value that does not fit into null.
    cast = shortened(array, type) if type in ("text", "shape") else array.cast(ARROW_TYPE[type])
    if cast.null_count != array.null_count or (type == "shape" and list_flatten(cast).null_count):
        raise ValueError(f"column {name!r} has something that is not {EXPECTED[type]}")
    return cast


def _check_integral(array: Array, name: str) -> None:
    # pandas turns integers with nulls into floats, NaN for null.
    reals = real_array(array.cast(ARROW_TYPE["real"]))
    known = reals[~np.isnan(reals)]
    if (np.abs(known) > MAX_EXACT_INTEGER).any() or (known != np.floor(known)).any():
        raise ValueError(f"column {name!r} has something that is not {EXPECTED['integer']}")


def _is_of_type(data_type: DataType, type: ColumnType) -> bool:
    if type in ("integer", "real"):
        return DataType.is_integer(data_type) or DataType.is_floating(data_type)
    if type == "text":
        text = data_type.value_type if DataType.is_dictionary(data_type) else data_type
        return text is not None and (
            DataType.is_string(text)
            or DataType.is_large_string(text)
            or DataType.is_string_view(text)
        )
    if type == "boolean":
        return DataType.is_boolean(data_type)
    if DataType.is_list(data_type) or DataType.is_large_list(data_type):
        item = data_type.value_type
        return item is not None and (DataType.is_integer(item) or DataType.is_null(item))
    return False
