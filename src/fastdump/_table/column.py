"""Columns of tables: their types, and the columns that one kind of table has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from arro3.core import DataType, Field, Schema

if TYPE_CHECKING:
    from arro3.core import Array

ColumnType: TypeAlias = Literal["integer", "real", "text", "shape", "boolean"]
Head: TypeAlias = dict[str, Any]
"""Everything that a table says beside its rows, as JSON has it."""

MAX_EXACT_INTEGER: Final = 2**53
"""The largest integer up to which float64 holds every integer."""

_HEAD_KEY = "fastdump.head"

_NONE: Mapping[str, Any] = {}


class Column(NamedTuple):
    """One column of a schema; `level` is the lowest level at which it can have a value."""

    name: str
    type: ColumnType
    nullable: bool = True
    level: str = "header"


@dataclass(frozen=True)
class TableKind:
    """What all tables of one kind have in common.

    Attributes
    ----------
    noun
        The name of such a table in messages.
    columns
        All columns that it can have, by name, in order.
    checked_head
        Function that checks and completes the head of a file. It takes the head and the names of
        the file's columns, and raises ValueError.
    names
        Function that returns the columns of a table with a certain head. Default: all.
    level_only
        What to say about a column that this table lacks, by name.
    derived
        Functions that compute a missing column from other columns, by name.
    beside
        Columns of integers that a file may have and that no table shows.
    """

    noun: str
    columns: Mapping[str, Column]
    checked_head: Callable[[Mapping[str, Any], Sequence[str]], Head]
    names: Callable[[Head], Sequence[str]]
    level_only: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, Callable[[Mapping[str, Array]], Array]] = field(default_factory=dict)
    beside: Sequence[str] = ()

    def schema(self, head: Head, long: Mapping[str, DataType] = _NONE) -> Schema:
        """Return the Arrow schema of a table with this head, which becomes its metadata.

        Parameters
        ----------
        head
            The head.
        long
            Types of the columns that have more text, or more items of lists, than 32-bit offsets
            reach, by name: see `long_types`.
        """
        columns = [self.columns[name] for name in self.names(head)]
        fields = [
            Field(column.name, long.get(column.name, ARROW_TYPE[column.type]), column.nullable)
            for column in columns
        ]
        return Schema(fields, metadata={_HEAD_KEY: json.dumps(head)})


def is_long(type: DataType) -> bool:
    """Tell whether a type of texts or lists has 64-bit offsets."""
    return DataType.is_large_string(type) or DataType.is_large_list(type)


def long_types(schema: Schema) -> dict[str, DataType]:
    """Return the types of the columns that have 64-bit offsets, by name."""
    types = zip(schema.names, schema.types, strict=True)
    return {name: type for name, type in types if is_long(type)}


def head_in(schema: Schema) -> Mapping[str, Any]:
    """Return the head in the metadata of a schema, empty if there is none.

    Raises
    ------
    ValueError
        If the metadata is not what `TableKind.schema` writes.
    """
    try:
        head = json.loads(schema.metadata_str.get(_HEAD_KEY, "{}"))
    except RecursionError as error:
        raise ValueError(f"metadata {_HEAD_KEY!r} is nested too deeply") from error
    if not isinstance(head, dict):
        raise ValueError(f"metadata {_HEAD_KEY!r} is {head!r:.80}, expected an object")
    return head


ARROW_TYPE: Final[dict[ColumnType, DataType]] = {
    "integer": DataType.int64(),
    "real": DataType.float64(),
    "text": DataType.utf8(),
    "shape": DataType.list(Field("item", DataType.int64())),
    "boolean": DataType.bool(),
}

EXPECTED: Final[dict[ColumnType, str]] = {
    "integer": "a 64-bit integer",
    "real": "a number",
    "text": "text",
    "shape": "a list of 64-bit integers",
    "boolean": "true or false",
}
"""The name of a value of each type in messages."""
