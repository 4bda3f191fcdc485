"""The typed schema of comparisons, and one row of it as a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from arro3.core import Field, Schema

from fastdump._column import ARROW_TYPE, Column, TableKind

WHERE: Final = ("rank", "time", "device", "model", "model_id", "step", "timestamp")

METRICS: Final = (
    Column("cosine_similarity", "real"),
    Column("max_abs_error", "real"),
    Column("mean_abs_error", "real"),
    Column("rmse", "real"),
    Column("relative_euclidean_distance", "real"),
    Column("max_rel_error", "real"),
    Column("mean_rel_error", "real"),
    Column("accumulated_relative_error", "real"),
    Column("kl_divergence", "real"),
    Column("mismatched", "integer"),
    Column("ulp_max", "integer"),
    Column("only_a_bad", "integer"),
    Column("only_b_bad", "integer"),
    Column("both_bad", "integer"),
    Column("bit_equal", "boolean"),
    Column("count", "integer"),
    Column("max_abs_error_index", "integer"),
    Column("first_mismatch", "integer"),
    Column("mean_a", "real"),
    Column("mean_b", "real"),
    Column("standard_deviation_a", "real"),
    Column("standard_deviation_b", "real"),
    Column("max_a", "real"),
    Column("max_b", "real"),
    Column("min_a", "real"),
    Column("min_b", "real"),
    Column("l2norm_a", "real"),
    Column("l2norm_b", "real"),
    Column("statistics_difference", "real"),
)
"""What a comparison computes."""

COLUMNS: Final = (
    Column("rank", "integer"),
    Column("time", "text"),
    Column("device", "integer"),
    Column("model", "text"),
    Column("model_id", "integer"),
    Column("step", "integer"),
    Column("timestamp", "integer"),
    Column("op_type", "text"),
    Column("op_name", "text"),
    Column("io", "text"),
    Column("index", "integer"),
    Column("path_a", "text"),
    Column("path_b", "text"),
    Column("dtype_a", "text"),
    Column("dtype_b", "text"),
    Column("format_a", "text"),
    Column("format_b", "text"),
    Column("shape_a", "shape"),
    Column("shape_b", "shape"),
    Column("rank_b", "integer"),
    Column("step_b", "integer"),
    Column("op_type_b", "text"),
    Column("op_name_b", "text"),
    Column("paired_by", "text"),
    *METRICS,
    Column("verdict", "text"),
    Column("status", "text", nullable=False),
    Column("note", "text"),
)

KIND: Final = TableKind("comparison", {column.name: column for column in COLUMNS}, {})

_KEY = "fastdump.comparison"


def schema_of(head: Mapping[str, Any]) -> Schema:
    """Return the Arrow schema of a comparison; `head` travels as its metadata."""
    fields = [Field(column.name, ARROW_TYPE[column.kind], column.nullable) for column in COLUMNS]
    return Schema(fields, metadata={_KEY: json.dumps(head)})


def head_of(schema: Schema) -> dict[str, Any]:
    """Return what the metadata of `schema` says, empty if nothing.

    Raises
    ------
    ValueError
        If the metadata is there and is not what `schema_of` writes.
    """
    try:
        head = json.loads(schema.metadata_str.get(_KEY, "{}"))
    except RecursionError as error:
        raise ValueError(f"metadata {_KEY!r} is nested too deeply") from error
    if not isinstance(head, dict):
        raise ValueError(f"metadata {_KEY!r} is {head!r:.80}, expected an object")
    return head


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One row of a `ComparisonTable`: two tensors, or one that has no partner. None is null.

    Every moment is over the pairs of elements of which both are finite. `b` is the reference.

    Attributes
    ----------
    rank, time, device, model, model_id, step, timestamp
        Where and when the tensor of `a` was dumped; that of `b` if it is only there.
    op_type, op_name
        The operator of `a`. The type is that of `b`, and the name None, if it is only there.
    io, index
        "input", "output", "buffer" or "space", and the position among those, of `a` if it is there.
    path_a, path_b
        Files, relative to the directories that were given.
    dtype_a, dtype_b, format_a, format_b, shape_a, shape_b
        Element types, memory layouts and stored shapes.
    rank_b, step_b, op_type_b, op_name_b
        The same of the tensor of `b`.
    paired_by
        How the two were found to belong together: "name", "normalised", "original", "order" or
        "map".
    cosine_similarity
        Of the elements as two vectors.
    max_abs_error, mean_abs_error, rmse
        Largest, mean and root mean square of |a - b|.
    relative_euclidean_distance
        sqrt(sum (a - b)^2 / sum b^2).
    max_rel_error, mean_rel_error, accumulated_relative_error
        Largest, mean and sum of |a / b - 1|, which counts as 0 where b is next to 0.
    kl_divergence
        Kullback-Leibler divergence of the values as distributions, in nats, if it was asked for.
    mismatched
        Number of elements that are not close: |a - b| > atol + rtol |b|, or NaN or Inf in one.
    ulp_max
        Largest distance in representable values (of integers, |a - b|), if both have one type;
        at most 2^63 - 1.
    only_a_bad, only_b_bad, both_bad
        Number of elements that are NaN or Inf in one, or in both.
    bit_equal
        Whether both have one type and all bits alike.
    count
        Number of pairs of elements.
    max_abs_error_index, first_mismatch
        Flat indices of the largest error and of the first mismatch.
    mean_a, mean_b, standard_deviation_a, standard_deviation_b, max_a, max_b, min_a, min_b
        Of either side's elements.
    l2norm_a, l2norm_b, statistics_difference
        Only where statistics were compared instead of elements. The last is a lower bound of how
        much the tensors differ; docs/compare.md defines it.
    verdict
        "equal" (bit for bit), "close" or "diverges"; of statistics "similar" or "diverges"; None if
        nothing was compared.
    status
        "ok"; "only_in_a" or "only_in_b"; "truncated"; "absent"; "size_mismatch"; "unsupported";
        "malformed"; "unreadable"; "not_compared".
    note
        Why the status is not "ok", and what else is odd, in words.
    """

    rank: int | None
    time: str | None
    device: int | None
    model: str | None
    model_id: int | None
    step: int | None
    timestamp: int | None
    op_type: str | None
    op_name: str | None
    io: str | None
    index: int | None
    path_a: str | None
    path_b: str | None
    dtype_a: str | None
    dtype_b: str | None
    format_a: str | None
    format_b: str | None
    shape_a: tuple[int, ...] | None
    shape_b: tuple[int, ...] | None
    rank_b: int | None
    step_b: int | None
    op_type_b: str | None
    op_name_b: str | None
    paired_by: str | None
    cosine_similarity: float | None
    max_abs_error: float | None
    mean_abs_error: float | None
    rmse: float | None
    relative_euclidean_distance: float | None
    max_rel_error: float | None
    mean_rel_error: float | None
    accumulated_relative_error: float | None
    kl_divergence: float | None
    mismatched: int | None
    ulp_max: int | None
    only_a_bad: int | None
    only_b_bad: int | None
    both_bad: int | None
    bit_equal: bool | None
    count: int | None
    max_abs_error_index: int | None
    first_mismatch: int | None
    mean_a: float | None
    mean_b: float | None
    standard_deviation_a: float | None
    standard_deviation_b: float | None
    max_a: float | None
    max_b: float | None
    min_a: float | None
    min_b: float | None
    l2norm_a: float | None
    l2norm_b: float | None
    statistics_difference: float | None
    verdict: str | None
    status: str
    note: str | None
