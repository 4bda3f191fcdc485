"""The schema of tables of statistics: columns with types, and what is said beside the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from fastdump._op_name import layer_numbers
from fastdump._table.arrow_column import coded_column, codes_of, column_of
from fastdump._table.column import Column, ColumnType, Head, TableKind
from fastdump._table.provenance import STATE
from fastdump._table.row import StatsRow

if TYPE_CHECKING:
    from arro3.core import Array

LEVELS: Final = ("header", "health", "basic", "full")
"""Levels of a table, each a superset of the one before; "header" has no statistics."""

_LEVEL_OF: Final = {
    **dict.fromkeys(("count", "nan", "pos_inf", "neg_inf"), "health"),
    **dict.fromkeys(("max", "min", "mean", "l2norm"), "basic"),
    **dict.fromkeys(("zero", "subnormal", "saturated", "min_abs", "first_bad"), "full"),
}

# The type of a column and whether it may have nulls, by the type of the record's field.
_TYPE_OF: Final[dict[object, tuple[ColumnType, bool]]] = {
    int | None: ("integer", True),
    float | None: ("real", True),
    str | None: ("text", True),
    tuple[int, ...] | None: ("shape", True),
    str: ("text", False),
}

COLUMN: Final = {
    name: Column(name, *_TYPE_OF[field_type], _LEVEL_OF.get(name, "header"))
    for name, field_type in get_type_hints(StatsRow).items()
    if not name.startswith("_")
}
"""The columns by name, in order: the public fields of `StatsRow`."""

FULL_ONLY: Final = frozenset(name for name, column in COLUMN.items() if column.level == "full")
"""Columns that only a table of level "full" has; all others exist at every level."""


def level_of(names: Iterable[str]) -> str:
    """Return the lowest level that has all columns in `names`."""
    return max((COLUMN[name].level for name in names), key=LEVELS.index, default=LEVELS[0])


def checked_head(said: Mapping[str, Any], names: Sequence[str]) -> Head:
    """Check what is said of a table of statistics beside its rows, and add defaults.

    Parameters
    ----------
    said
        The content of a file beside the rows, or of Arrow metadata.
    names
        The columns, from which the level follows if `said` does not tell it.

    Returns
    -------
    dict
        ``level``; ``skipped``, the number of files by reason; ``roots``, the absolute paths that
        were scanned; ``root``, the directory that paths are relative to, or None; ``notes``, what
        the reader of the table should know.

    Raises
    ------
    ValueError
        If `said` has something else under these names.
    """
    level, skipped = said.get("level"), said.get("skipped", {})
    if level is not None and (not isinstance(level, str) or level not in LEVELS):
        raise ValueError(f"level is {level!r:.80}, expected one of {', '.join(LEVELS)}")
    if not isinstance(skipped, Mapping) or not all(
        isinstance(reason, str) and type(n_files) is int for reason, n_files in skipped.items()
    ):
        raise ValueError(f"skipped is {skipped!r:.80}, expected the number of files by reason")
    roots, root = said.get("roots", ()), said.get("root")
    if not isinstance(roots, (list, tuple)) or not all(isinstance(path, str) for path in roots):
        raise ValueError(f"roots is {roots!r:.80}, expected paths")
    if not (root is None or isinstance(root, str)):
        raise ValueError(f"root is {root!r:.80}, expected a path")
    notes = said.get("notes", ())
    if not isinstance(notes, (list, tuple)) or not all(isinstance(note, str) for note in notes):
        raise ValueError(f"notes is {notes!r:.80}, expected texts")
    return {
        "level": level or level_of(names),
        "skipped": dict(skipped),
        "roots": list(roots),
        "root": root,
        "notes": list(notes),
    }


def names_of(head: Head) -> list[str]:
    """Return the columns of a table with this head, in order."""
    is_full = head["level"] == "full"
    return [name for name in COLUMN if is_full or name not in FULL_ONLY]


def layer_column(columns: Mapping[str, Array]) -> Array:
    """Return the column of layers, read from the names of operators."""
    n_rows = len(next(iter(columns.values()), ()))
    if "op_name" not in columns:
        return column_of([None] * n_rows, "integer")
    codes, names = codes_of(columns["op_name"])
    return coded_column(codes, layer_numbers(names), "integer")


KIND: Final = TableKind(
    noun="table of statistics",
    columns=COLUMN,
    checked_head=checked_head,
    names=names_of,
    level_only=dict.fromkeys(FULL_ONLY, "is computed at level 'full'"),
    derived={"layer": layer_column},
    beside=(STATE,),
)
