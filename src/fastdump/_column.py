"""Columns of tables: their kinds, and the columns that one kind of table has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from arro3.core import DataType, Field

Kind: TypeAlias = Literal["integer", "real", "text", "shape", "boolean"]

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
MAX_EXACT_INTEGER: Final = 2**53
"""Up to here a float64 that is an integer is the one that was meant."""


class Column(NamedTuple):
    """One column of a schema; `level` is the lowest at which it can have a value."""

    name: str
    kind: Kind
    nullable: bool = True
    level: str = "header"


@dataclass(frozen=True)
class TableKind:
    """What all tables of one kind have in common.

    Attributes
    ----------
    noun
        What a message calls such a table.
    columns
        All that it can have, by name, in order.
    level_only
        What to say of a column in `columns` that a table lacks, by name.
    """

    noun: str
    columns: Mapping[str, Column]
    level_only: Mapping[str, str]


ARROW_TYPE: Final[dict[Kind, DataType]] = {
    "integer": DataType.int64(),
    "real": DataType.float64(),
    "text": DataType.utf8(),
    "shape": DataType.list(Field("item", DataType.int64())),
    "boolean": DataType.bool(),
}

EXPECTED: Final[dict[Kind, str]] = {
    "integer": "a 64-bit integer",
    "real": "a number",
    "text": "text",
    "shape": "a list of 64-bit integers",
    "boolean": "true or false",
}
"""What a message calls a value of each kind."""
