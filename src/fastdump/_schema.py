"""The typed schema of tables of statistics, and one row of it as a record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from arro3.core import Field, Schema

from fastdump._column import ARROW_TYPE, Column, TableKind

LEVELS: Final = ("header", "health", "basic", "full")
"""What was computed, each a superset of the one before; "header" computes no statistic."""

IO: Final = ("input", "output", "buffer", "space")

COLUMNS: Final = (
    Column("rank", "integer"),
    Column("time", "text"),
    Column("device", "integer"),
    Column("model", "text"),
    Column("model_id", "integer"),
    Column("step", "integer"),
    Column("op_type", "text"),
    Column("op_name", "text"),
    Column("task_id", "integer"),
    Column("stream_id", "integer"),
    Column("timestamp", "integer"),
    Column("context_id", "integer"),
    Column("thread_id", "integer"),
    Column("io", "text"),
    Column("index", "integer"),
    Column("dtype", "text"),
    Column("format", "text"),
    Column("shape", "shape"),
    Column("origin_shape", "shape"),
    Column("nbytes", "integer"),
    Column("count", "integer", level="health"),
    Column("max", "real", level="basic"),
    Column("min", "real", level="basic"),
    Column("mean", "real", level="basic"),
    Column("l2norm", "real", level="basic"),
    Column("nan", "integer", level="health"),
    Column("pos_inf", "integer", level="health"),
    Column("neg_inf", "integer", level="health"),
    Column("zero", "integer", level="full"),
    Column("subnormal", "integer", level="full"),
    Column("saturated", "integer", level="full"),
    Column("first_bad", "integer", level="full"),
    Column("status", "text", nullable=False),
    Column("note", "text"),
    Column("path", "text", nullable=False),
    Column("offset", "integer"),
    Column("source", "text", nullable=False),
)

COLUMN: Final = {column.name: column for column in COLUMNS}

FULL_ONLY: Final = frozenset(column.name for column in COLUMNS if column.level == "full")
"""Columns that only a table of level "full" has; the others exist at every level."""

KIND: Final = TableKind(
    "table of statistics", COLUMN, dict.fromkeys(FULL_ONLY, "is computed at level 'full'")
)

_LEVEL_KEY = "fastdump.level"
_SKIPPED_KEY = "fastdump.skipped"


def level_of(names: Iterable[str]) -> str:
    """Return the lowest level that has all columns in `names`."""
    return max((COLUMN[name].level for name in names), key=LEVELS.index, default=LEVELS[0])


def columns_of(level: str) -> list[Column]:
    """Return the columns of a table of `level`, in order."""
    return [column for column in COLUMNS if level == "full" or column.name not in FULL_ONLY]


def schema_of(level: str, skipped: Mapping[str, int]) -> Schema:
    """Return the Arrow schema of a table of `level`; both arguments travel as its metadata."""
    fields = [
        Field(column.name, ARROW_TYPE[column.kind], column.nullable) for column in columns_of(level)
    ]
    metadata = {_LEVEL_KEY: level, _SKIPPED_KEY: json.dumps(dict(skipped))}
    return Schema(fields, metadata=metadata)


def level_and_skipped(schema: Schema) -> tuple[str | None, dict[str, int]]:
    """Return what the metadata of `schema` says: level (None if nothing) and skipped files.

    Raises
    ------
    ValueError
        If the metadata is there and is not what `schema_of` writes.
    """
    metadata = schema.metadata_str
    level = metadata.get(_LEVEL_KEY)
    try:
        skipped = json.loads(metadata.get(_SKIPPED_KEY, "{}"))
    except RecursionError as error:
        raise ValueError(f"metadata {_SKIPPED_KEY!r} is nested too deeply") from error
    return checked_level(level), checked_skipped(skipped)


def checked_level(level: object) -> str | None:
    """Return `level` if it is one, or None.

    Raises
    ------
    ValueError
        If it is something else.
    """
    if level is None or (isinstance(level, str) and level in LEVELS):
        return level
    raise ValueError(f"level is {level!r:.80}, expected one of {', '.join(LEVELS)}")


def checked_skipped(skipped: object) -> dict[str, int]:
    """Return `skipped` if it maps reasons to numbers of files.

    Raises
    ------
    ValueError
        If it is something else.
    """
    if isinstance(skipped, dict) and all(
        isinstance(reason, str) and type(n_files) is int for reason, n_files in skipped.items()
    ):
        return skipped
    raise ValueError(f"skipped is {skipped!r:.80}, expected the number of files by reason")


@dataclass(frozen=True, slots=True)
class StatsRow:
    """One row of a `StatsTable`: one tensor, or one file that gave none. None stands for null.

    The statistics are described as fastdump computes them, in rows with `source` "tensor". Those
    with `source` "csv" were read from the vendor's CSV files and mean what the vendor's software
    meant: its moments are over all elements, so that they may be NaN or infinite, and were
    rounded; what it did not report is None. docs/statistics.md says more.

    Attributes
    ----------
    rank, time, device, model, model_id, step
        Where the tensor was dumped, as far as the path tells.
    op_type, op_name, task_id, stream_id, timestamp, context_id, thread_id
        The operator and its execution; `timestamp` is in microseconds.
    io
        "input", "output", "buffer" or "space".
    index
        Position among the operator's inputs, outputs, buffers or spaces.
    dtype
        Element type by its numpy or ml_dtypes name.
    format
        The vendor's name of the memory layout: "ND", "NCHW", "FRACTAL_NZ".
    shape, origin_shape
        Stored shape (padding included) and the shape before the layout was changed.
    nbytes
        Size of the tensor in bytes, as declared.
    count
        Number of elements in the tensor.
    max, min
        Over the finite elements; None if there is none. Of the magnitude for complex types.
    mean
        Sum of the finite elements divided by their number. Of the magnitude for complex types.
    l2norm
        Square root of the sum of the squares of the finite elements.
    nan, pos_inf, neg_inf
        Number of elements that are NaN, +Inf, -Inf.
    zero, subnormal, saturated
        Number of elements that are zero, subnormal, at plus or minus the largest finite value.
        Level "full".
    first_bad
        Flat index of the first NaN or Inf; None if there is none. Level "full".
    status
        "ok", "truncated", "absent", "size_mismatch", "unsupported", "malformed" or "unreadable".
    note
        Why the status is not "ok", and what else is odd, in words.
    path
        File, relative to the directory that was given.
    offset
        Of the tensor's first byte in the file; None for `source` "csv".
    source
        "tensor" if computed from the elements, "csv" if read from the vendor's statistics. Of the
        latter the bytes are not in the dump, whatever `nbytes` and `count` say.
    """

    rank: int | None
    time: str | None
    device: int | None
    model: str | None
    model_id: int | None
    step: int | None
    op_type: str | None
    op_name: str | None
    task_id: int | None
    stream_id: int | None
    timestamp: int | None
    context_id: int | None
    thread_id: int | None
    io: str | None
    index: int | None
    dtype: str | None
    format: str | None
    shape: tuple[int, ...] | None
    origin_shape: tuple[int, ...] | None
    nbytes: int | None
    count: int | None
    max: float | None
    min: float | None
    mean: float | None
    l2norm: float | None
    nan: int | None
    pos_inf: int | None
    neg_inf: int | None
    zero: int | None
    subnormal: int | None
    saturated: int | None
    first_bad: int | None
    status: str
    note: str | None
    path: str
    offset: int | None
    source: str
