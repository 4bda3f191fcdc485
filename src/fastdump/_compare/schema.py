"""One row of a comparison as a record, and the columns of the table that follow from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from fastdump._arguments import PathLike
from fastdump._table.column import Column, ColumnType, Head, TableKind
from fastdump._table.row import file_of_row, tensor_of_row
from fastdump._table.schema import layer_column
from fastdump._words.places import tensor_name
from fastdump.errors import NoTensorError

if TYPE_CHECKING:
    from fastdump._tensor.tensor import Tensor

WHERE: Final = ("rank", "time", "device", "model", "model_id", "step", "timestamp")


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One row of a `ComparisonTable`: two tensors, or one that has no partner. None is null.

    Every moment is over the pairs of elements of which both are finite. `b` is the reference.

    Attributes
    ----------
    rank, time, device, model, model_id, step, timestamp
        Where and when the tensor of `a` was dumped; of `b` if only `b` has the tensor.
    op_type, op_name
        The operator of `a`. If only `b` has the tensor, the type is that of `b` and the name None.
    io, index
        "input", "output", "buffer" or "space", and the position among those, in `a` if it is there.
    layer
        Number of the block in the operator's name: 3 for ``model.layers.3/Add``.
    path_a, path_b
        Files, relative to the directories that were given.
    offset_a, offset_b
        Positions of the tensors' first bytes in their files; None where there are only statistics.
    dtype_a, dtype_b, format_a, format_b, shape_a, shape_b
        Element types, memory layouts and stored shapes.
    rank_b, step_b, op_type_b, op_name_b, io_b, index_b
        The same for the tensor of `b`.
    execution_b
        Number of the execution in `b`, in the order in which they ran, from 0.
    paired_by
        How the two were found to belong together: "name", "sequence", "normalised", "original",
        "order", "replaced" or "map".
    cosine_similarity
        Cosine similarity of the elements as two vectors.
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
        Statistics of the elements of each side.
    l2norm_a, l2norm_b, statistics_difference
        Known only where statistics were compared instead of elements. `statistics_difference` is a
        lower bound of how much the tensors differ; docs/compare.md defines it.
    verdict
        "equal" (bit for bit), "close" (within tolerance), "explained" (beyond the tolerance, but
        not beyond `expected_error`) or "diverges"; of statistics "similar", "explained" or
        "diverges"; None if nothing was compared.
    expected_error
        Largest error that the element types which took part explain, where the pair is beyond its
        tolerance; docs/compare.md defines it. None if nothing explains an error.
    status
        "ok"; "only_in_a" or "only_in_b"; "truncated"; "absent"; "size_mismatch"; "unsupported";
        "malformed"; "unreadable"; "changed" (while the files were read); "not_compared".
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
    layer: int | None
    io: str | None
    index: int | None
    path_a: str | None
    path_b: str | None
    offset_a: int | None
    offset_b: int | None
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
    io_b: str | None
    index_b: int | None
    execution_b: int | None
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
    expected_error: float | None
    status: str
    note: str | None
    _root_a: str | None = field(default=None, repr=False, compare=False)
    _root_b: str | None = field(default=None, repr=False, compare=False)

    @property
    def tensor_name(self) -> str:
        """`io` and `index`, as in "output.0"; '' for a file that gave no tensor."""
        return tensor_name(self.io, self.index)

    def tensor_a(self, root: PathLike | None = None) -> Tensor:
        """Return the tensor of `a`; arguments and errors are those of `StatsRow.tensor`."""
        place = (self.path_a, self.io, self.index, self.offset_a)
        return tensor_of_row(*place, self._root_a, root)

    def file_a(self, root: PathLike | None = None) -> str:
        """Return the path to open the file of `a` with; arguments and errors as in `tensor_a`."""
        if self.path_a is None:
            raise NoTensorError("the row has no tensor on this side")
        return file_of_row(self._root_a, self.path_a, root)

    def tensor_b(self, root: PathLike | None = None) -> Tensor:
        """Return the tensor of `b`; arguments and errors are those of `StatsRow.tensor`."""
        place = (self.path_b, self.io_b, self.index_b, self.offset_b)
        return tensor_of_row(*place, self._root_b, root)


_TYPES: Final[dict[str, ColumnType]] = {
    "int": "integer",
    "float": "real",
    "str": "text",
    "bool": "boolean",
    "tuple[int, ...]": "shape",
}


def _columns() -> Iterator[Column]:
    """Yield a column for each public field of `ComparisonRow`."""
    for field_ in fields(ComparisonRow):
        if not field_.name.startswith("_"):
            of_values = str(field_.type).removesuffix(" | None")
            yield Column(field_.name, _TYPES[of_values], nullable=of_values != field_.type)


COLUMN: Final = {column.name: column for column in _columns()}

_NAMES: Final = tuple(COLUMN)
METRICS: Final = _NAMES[_NAMES.index("cosine_similarity") : _NAMES.index("verdict")]
"""Names of the columns that a comparison computes."""


def checked_head(said: Mapping[str, Any], names: Sequence[str]) -> Head:
    """Return what a comparison says beside its rows; a file of another program may say nothing."""
    return dict(said)


KIND: Final = TableKind(
    noun="comparison",
    columns=COLUMN,
    checked_head=checked_head,
    names=lambda head: _NAMES,
    derived={"layer": layer_column},
)
