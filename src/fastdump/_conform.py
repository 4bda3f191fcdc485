"""Data from elsewhere brought into a schema, or a message that says why they cannot be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from arro3.core import Array, DataType, RecordBatch, Schema, list_flatten

from fastdump._arrow_column import column_of, real_array
from fastdump._column import ARROW_TYPE, EXPECTED, MAX_EXACT_INTEGER, Kind, TableKind

_SHOWN_NAMES = 5


def check_names(names: Sequence[str], kind: TableKind) -> None:
    """Check that a table with columns `names` can be one of `kind`.

    Raises
    ------
    ValueError
        If a name is unknown or occurs twice, or a column that has no nulls is missing.
    """
    unknown = [name for name in names if name not in kind.columns]
    if unknown:
        raise ValueError(f"unknown {_columns(unknown)}, so this is not a {kind.noun}")
    if len(set(names)) < len(names):
        repeated = [name for name in kind.columns if names.count(name) > 1]
        raise ValueError(f"repeated {_columns(repeated)}")
    needed = (name for name, column in kind.columns.items() if not column.nullable)
    missing = [name for name in needed if name not in names]
    if missing:
        raise ValueError(f"missing {_columns(missing)}, so this is not a {kind.noun}")


def _columns(names: Collection[str]) -> str:
    shown = ", ".join(f"{name!r:.60}" for name in list(names)[:_SHOWN_NAMES])
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return f"column{'' if len(names) == 1 else 's'} {shown}{more}"


def conform(
    columns: Mapping[str, Array], n_rows: int, schema: Schema, kind: TableKind
) -> RecordBatch:
    """Return `columns` of length `n_rows` as one batch of `schema`.

    Missing columns become null. Other widths of numbers, floats that are integers, and the other
    layouts that Arrow has for text and lists are converted; `check_names` and `check_types` say
    which.

    Raises
    ------
    ValueError
        If there is a column that `schema` does not have, a value that does not fit its type, or a
        null where it allows none.
    """
    extra = [name for name in columns if name not in schema.names]
    if extra:
        raise ValueError(f"{_columns(extra)}, which {kind.level_only[extra[0]]}, not at this one")
    arrays = []
    for name in schema.names:
        column = kind.columns[name]
        if name in columns:
            array = _cast(columns[name], name, column.kind)
        else:
            array = column_of([None] * n_rows, column.kind)
        if array.null_count and not column.nullable:
            raise ValueError(f"column {name!r} has nulls")
        arrays.append(array)
    return RecordBatch.from_arrays(arrays, schema=schema)


def check_types(schema: Schema, kind: TableKind) -> None:
    """Check that columns of these types can be those of a table of `kind`.

    Raises
    ------
    ValueError
        If a column has another type.
    """
    for name, data_type in zip(schema.names, schema.types, strict=True):
        expected = kind.columns[name].kind
        if not (DataType.is_null(data_type) or _is_of_kind(data_type, expected)):
            found = str(data_type).strip()
            raise ValueError(
                f"column {name!r} has type {found:.200}: not {EXPECTED[expected]} a row"
            )


def _cast(array: Array, name: str, kind: Kind) -> Array:
    if DataType.is_null(array.type):
        return column_of([None] * len(array), kind)
    if kind == "integer" and DataType.is_floating(array.type):
        _check_integral(array, name)
        return array.cast(ARROW_TYPE[kind])
    # Even if the type is equal, as it is for arro3 if only the name of a list's items differs.
    # A cast puts a null in place of a value that does not fit.
    cast = array.cast(ARROW_TYPE[kind])
    if cast.null_count != array.null_count or (kind == "shape" and list_flatten(cast).null_count):
        raise ValueError(f"column {name!r} has something that is not {EXPECTED[kind]}")
    return cast


def _check_integral(array: Array, name: str) -> None:
    # Integers with nulls are floats after a way through pandas, NaN for null.
    reals = real_array(array.cast(ARROW_TYPE["real"]))
    known = reals[~np.isnan(reals)]
    if (np.abs(known) > MAX_EXACT_INTEGER).any() or (known != np.floor(known)).any():
        raise ValueError(f"column {name!r} has something that is not {EXPECTED['integer']}")


def _is_of_kind(data_type: DataType, kind: Kind) -> bool:
    if kind in ("integer", "real"):
        return DataType.is_integer(data_type) or DataType.is_floating(data_type)
    if kind == "text":
        text = data_type.value_type if DataType.is_dictionary(data_type) else data_type
        return text is not None and (
            DataType.is_string(text)
            or DataType.is_large_string(text)
            or DataType.is_string_view(text)
        )
    if kind == "boolean":
        return DataType.is_boolean(data_type)
    if DataType.is_list(data_type) or DataType.is_large_list(data_type):
        item = data_type.value_type
        return item is not None and (DataType.is_integer(item) or DataType.is_null(item))
    return False
