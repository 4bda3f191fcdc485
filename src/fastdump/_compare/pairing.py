"""Which tensor of one dump belongs to which of the other, and how that is known."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastdump._arrow_column import integer_array, shape_list, text_list
from fastdump._compare.fusion import original_outputs, parts_of
from fastdump._compare.keys import Keys, Masks, codes, combined, joined
from fastdump._compare.mapping import tensor_of
from fastdump._compare.names import dump_file_name, in_file_name, normalised, without_counter
from fastdump._compare.order import in_order
from fastdump._compare.where import NULL, aligned
from fastdump._row_path import row_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._compare.side import Side

HOW = ("map", "name", "normalised", "original", "order")


class Pairs(NamedTuple):
    """Rows that belong together, and `HOW` that is known; in the order of `a`."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    how: NDArray[np.int64]
    notes: list[str]


def pair(a: Side, b: Side, names: Mapping[str, str] | None) -> Pairs:
    """Pair the rows of two tables: first those that are certain, then those that are likely.

    Parameters
    ----------
    a, b
        What is compared.
    names
        The user's names: of an operator, or a tensor, of `a` that of `b`.
    """
    matching = _Matching(_Columns(a), _Columns(b))
    if names is not None:
        matching.by_map(names)
    matching.by_name()
    matching.by_file_name()
    matching.by_normalised_name()
    matching.by_original()
    matching.by_order()
    return matching.pairs()


class _Columns:
    """What pairing looks at, of one side."""

    def __init__(self, side: Side) -> None:
        self.side = side
        batch = side.table.arrow.to_batches()[0]
        self._batch = batch
        self.n = batch.num_rows
        self.op_name = text_list(batch.column("op_name"))
        self.op_type = text_list(batch.column("op_type"))
        self.io = text_list(batch.column("io"))
        self.index = integer_array(batch.column("index"), null=NULL)
        self.is_tensor = np.array([io is not None for io in self.io], np.bool_)
        self.is_named = np.array([bool(name) for name in self.op_name], np.bool_) & self.is_tensor

    def integers(self, name: str) -> NDArray[np.int64]:
        return integer_array(self._batch.column(name), null=NULL)

    def texts(self, name: str) -> list[str | None]:
        return text_list(self._batch.column(name))

    @cached_property
    def host_shape(self) -> list[tuple[int, ...] | None]:
        """Shapes that do not depend on the memory layout."""
        shapes = shape_list(self._batch.column("shape"))
        origins = shape_list(self._batch.column("origin_shape"))
        return [origin or shape for origin, shape in zip(origins, shapes, strict=True)]

    @cached_property
    def execution(self) -> NDArray[np.int64]:
        """Which execution of an operator each row is of."""
        named = self.is_named
        paths = [
            None if is_named else path
            for is_named, path in zip(named, self.texts("path"), strict=True)
        ]
        nothing: list[Any] = []
        columns = [
            *(
                codes(self.integers(name).tolist(), nothing)
                for name in ("rank", "step", "task_id", "stream_id", "timestamp")
            ),
            codes(self.op_type, nothing),
            codes(self.op_name, nothing),
            codes(paths, nothing),
        ]
        return combined(*columns).a


class _Matching:
    """Rows paired so far, and ways to pair more."""

    def __init__(self, a: _Columns, b: _Columns) -> None:
        self._a, self._b = a, b
        self._partner = Keys(np.full(a.n, -1, np.int64), np.full(b.n, -1, np.int64))
        self._how = np.zeros(a.n, np.int64)
        # Rows that no further way may pair.
        self._taken = Masks(~a.is_tensor, ~b.is_tensor)
        rank, rank_note = aligned(
            "rank", a.integers("rank"), b.integers("rank"), may_be_untold=False
        )
        step, step_note = aligned(
            "step", a.integers("step"), b.integers("step"), may_be_untold=True
        )
        self.notes = [note for note in (rank_note, step_note) if note is not None]
        columns = [rank, step]
        models = a.texts("model"), b.texts("model")
        if set(models[0]) == set(models[1]):
            columns.append(codes(*models))
        threads = a.integers("thread_id"), b.integers("thread_id")
        if all((thread != NULL).any() for thread in threads):
            columns.append(Keys(*threads))
        self._where = combined(*columns)
        self._tensor = combined(codes(a.io, b.io), Keys(a.index, b.index))

    def pairs(self) -> Pairs:
        a = np.flatnonzero(self._partner.a >= 0)
        return Pairs(a, self._partner.a[a], self._how[a], self.notes)

    def by_map(self, names: Mapping[str, str]) -> None:
        a, b = self._a, self._b
        operators: dict[str | None, str | None] = {}
        tensors: dict[tuple[str | None, str | None, int], tuple[Any, ...]] = {}
        for name, partner in names.items():
            (op_a, tensor_a), (op_b, tensor_b) = tensor_of(name), tensor_of(partner)
            if tensor_a is None or tensor_b is None:
                operators[in_file_name(op_a)] = in_file_name(op_b)
            else:
                tensors[(in_file_name(op_a), *tensor_a)] = (in_file_name(op_b), *tensor_b)

        def wanted(name: str | None, io: str | None, index: int) -> tuple[Any, ...] | None:
            known = in_file_name(name)
            if (known, io, index) in tensors:
                return tensors[known, io, index]
            return (operators[known], io, index) if known in operators else None

        targets = list(map(wanted, a.op_name, a.io, a.index.tolist()))
        mapped_b = {*operators.values(), *(target[0] for target in tensors.values())}
        sources = [
            (known, io, index) if (known := in_file_name(op_name)) in mapped_b else None
            for op_name, io, index in zip(b.op_name, b.io, b.index.tolist(), strict=True)
        ]
        keys = combined(self._where, codes(targets, sources))
        among = Masks(
            np.array([target is not None for target in targets], np.bool_),
            np.array([source is not None for source in sources], np.bool_),
        )
        if not among.a.any() or not among.b.any():
            side = "a" if not among.a.any() else "b"
            raise ValueError(f"map: no operator of {side} has a name that is in it")
        self._join(keys, "map", among)
        # What the user has paired is not guessed at.
        of_operators = np.array([in_file_name(name) in operators for name in a.op_name], np.bool_)
        partners = set(operators.values())
        of_partners = np.array([in_file_name(name) in partners for name in b.op_name], np.bool_)
        self._taken.a[of_operators] = True
        self._taken.b[of_partners] = True

    def by_name(self) -> None:
        for rewrite in (None, in_file_name):
            self._join_names(rewrite, "name", with_type=True)

    def by_file_name(self) -> None:
        """Pair tensors of one dump file, of which one side may be converted.

        Names that were too long for a file are digits, from which a converted file cannot tell the
        operator.
        """
        left = self._left
        if left.both():
            stems = (list(map(dump_file_name, side.texts("path"))) for side in (self._a, self._b))
            self._join(combined(self._where, self._tensor, codes(*stems)), "name", left)

    def by_normalised_name(self) -> None:
        self._join_names(normalised, "normalised", with_type=False)
        # Numbers that differ between runs: only where there are as many on both sides.
        left = self._left_named()
        if not left.both():
            return
        keys = self._name_keys(without_counter, with_type=True)
        keys = combined(keys, codes(self._a.host_shape, self._b.host_shape))
        n = max(keys.a.max(initial=0), keys.b.max(initial=0)) + 1
        n_a = np.bincount(keys.a[left.a], minlength=n)
        n_b = np.bincount(keys.b[left.b], minlength=n)
        same = n_a == n_b
        self._join(keys, "normalised", Masks(left.a & same[keys.a], left.b & same[keys.b]))

    def by_original(self) -> None:
        if not self._left_named().both():
            return
        self._by_parts(self._a, self._b, swapped=False)
        self._by_parts(self._b, self._a, swapped=True)
        if self._a.side.is_dump and self._b.side.is_dump:
            self._by_header(swapped=False)
            self._by_header(swapped=True)

    def _by_parts(self, fused: _Columns, other: _Columns, *, swapped: bool) -> None:
        """Pair the tensors of fused operators with those of the first and last of their parts."""
        left_fused, left_other = self._left_named()[:: -1 if swapped else 1]
        names = {fused.op_name[i] for i in np.flatnonzero(left_fused).tolist()}
        others = {other.op_name[i] for i in np.flatnonzero(left_other).tolist()}
        parts = parts_of(_texts(names), _texts(others))
        if not parts:
            return
        targets: list[Hashable] = [None] * fused.n
        for i in np.flatnonzero(left_fused).tolist():
            part = parts.get(fused.op_name[i] or "")
            if part is not None:
                targets[i] = part[0] if fused.io[i] == "input" else part[1]
        sources: list[Hashable] = list(other.op_name)
        keys = codes(*((sources, targets) if swapped else (targets, sources)))
        keys = combined(
            self._where, self._tensor, keys, codes(self._a.host_shape, self._b.host_shape)
        )
        is_part = np.array([target is not None for target in targets], np.bool_)
        among = [left_fused & is_part, left_other]
        self._join(keys, "original", Masks(*among[:: -1 if swapped else 1]))

    def _by_header(self, *, swapped: bool) -> None:
        """Pair outputs with those of the operators that their headers say they stem from."""
        fused, other = (self._b, self._a) if swapped else (self._a, self._b)
        left_fused, left_other = self._left_named()[:: -1 if swapped else 1]
        paths = fused.texts("path")
        outputs = {
            i: (row_path(fused.side.root, paths[i] or ""), int(fused.index[i]))
            for i in np.flatnonzero(left_fused).tolist()
            if fused.io[i] == "output"
        }
        if not outputs or not left_other.any():
            return
        targets: list[Hashable] = [None] * fused.n
        for row, name, index in original_outputs(outputs):
            targets[row] = (name, "output", index)
        sources: list[Hashable] = [
            (in_file_name(name), io, index)
            for name, io, index in zip(other.op_name, other.io, other.index.tolist(), strict=True)
        ]
        keys = combined(
            self._where, codes(*((sources, targets) if swapped else (targets, sources)))
        )
        is_known = np.array([target is not None for target in targets], np.bool_)
        among = [left_fused & is_known, left_other]
        self._join(keys, "original", Masks(*among[:: -1 if swapped else 1]))

    def by_order(self) -> None:
        """Pair operators of one type with tensors of the same shapes, in the order of execution.

        Only between the same neighbours: what runs before them must have been paired already, or
        nothing at all.
        """
        if not self._left.both():
            return
        if all(side.side.is_file for side in (self._a, self._b)):
            self._by_place()
            return
        groups = [
            self._operators(side, left)
            for side, left in zip((self._a, self._b), self._left, strict=True)
        ]
        for key, operators_a in groups[0].items():
            operators_b = groups[1].get(key, [])
            tokens_a, tokens_b = ([op.token for op in ops] for ops in (operators_a, operators_b))
            for i, j in in_order(tokens_a, tokens_b):
                self._set(operators_a[i].rows, operators_b[j].rows, "order")

    def _by_place(self) -> None:
        """Pair the tensors of two files by what they are to the operator, then by their order."""
        for keys in (self._tensor, codes(self._a.host_shape, self._b.host_shape)):
            self._join(keys, "order", self._left)

    def _operators(self, side: _Columns, left: NDArray[np.bool_]) -> dict[Any, list[_Operator]]:
        """Return operators of which no tensor has a partner, by where they are."""
        is_a = side is self._a
        where = self._where.a if is_a else self._where.b
        partner = self._partner.a if is_a else self._partner.b
        # The execution, as numbered in a, of what was paired last before each row.
        rows = np.arange(side.n)
        last = np.maximum.accumulate(np.where(partner >= 0, rows, -1))
        in_a = last if is_a else np.where(last >= 0, partner[last], -1)
        neighbour = np.where(in_a >= 0, self._a.execution[in_a], -1)
        neighbour[last >= 0] = np.where(
            where[last[last >= 0]] == where[last >= 0], neighbour[last >= 0], -1
        )
        has_partner = np.zeros(side.execution.max(initial=0) + 1, np.bool_)
        has_partner[side.execution[partner >= 0]] = True
        left_rows = np.flatnonzero(left & ~has_partner[side.execution])
        rows_of: dict[int, list[int]] = {}
        for row, execution in zip(
            left_rows.tolist(), side.execution[left_rows].tolist(), strict=True
        ):
            rows_of.setdefault(execution, []).append(row)
        groups: dict[Any, list[_Operator]] = {}
        for rows_of_one in rows_of.values():
            first = rows_of_one[0]
            token = (
                side.op_type[first],
                *((side.io[i], int(side.index[i]), side.host_shape[i]) for i in rows_of_one),
            )
            key = (int(where[first]), int(neighbour[first]))
            groups.setdefault(key, []).append(_Operator(token, rows_of_one))
        return groups

    # Steps that the ways share

    @property
    def _left(self) -> Masks:
        return Masks((self._partner.a < 0) & ~self._taken.a, (self._partner.b < 0) & ~self._taken.b)

    def _left_named(self) -> Masks:
        left = self._left
        return Masks(left.a & self._a.is_named, left.b & self._b.is_named)

    def _name_keys(
        self, rewrite: Callable[[str | None], str | None] | None, *, with_type: bool
    ) -> Keys:
        columns = []
        for name in ("op_name", "op_type") if with_type else ("op_name",):
            sides = [getattr(side, name) for side in (self._a, self._b)]
            if rewrite is not None and not (name == "op_type" and rewrite is without_counter):
                sides = [list(map(rewrite, texts)) for texts in sides]
            columns.append(codes(*sides))
        return combined(self._where, self._tensor, *columns)

    def _join_names(
        self,
        rewrite: Callable[[str | None], str | None] | None,
        how: str,
        *,
        with_type: bool,
    ) -> None:
        left = self._left_named()
        if left.both():
            self._join(self._name_keys(rewrite, with_type=with_type), how, left)

    def _join(self, keys: Keys, how: str, among: Masks) -> None:
        rows = Keys(np.flatnonzero(among.a), np.flatnonzero(among.b))
        found = joined(Keys(keys.a[rows.a], keys.b[rows.b]))
        self._set(rows.a[found.a], rows.b[found.b], how)

    def _set(self, a: Any, b: Any, how: str) -> None:
        self._partner.a[a] = b
        self._partner.b[b] = a
        self._how[a] = HOW.index(how)


class _Operator(NamedTuple):
    token: Hashable
    rows: Sequence[int]


def _texts(values: Iterable[str | None]) -> list[str]:
    return sorted(value for value in values if value)
