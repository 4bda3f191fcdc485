"""Pairs of tensors that belong together in two dumps, and how that is known."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastdump._compare.coded import (
    Coded,
    alike,
    coded_numbers,
    coded_rows,
    coded_shapes,
    coded_text,
)
from fastdump._compare.extent import Extents, are_alike
from fastdump._compare.fusion import original_outputs, parts_of
from fastdump._compare.keys import Keys, Masks, by_appearance, combined, joined
from fastdump._compare.mapping import tensor_of
from fastdump._compare.names import (
    counter_of,
    dump_file_name,
    in_file_name,
    normalised,
    without_counter,
)
from fastdump._compare.order import in_order
from fastdump._compare.replacement import ends_of_replaced
from fastdump._compare.sequence import Execution, in_sequence, where_counters_run
from fastdump._compare.side import Side
from fastdump._compare.where import NULL, aligned
from fastdump._table.arrow_column import NULL_CODE, integer_array, rows_of, text_codes
from fastdump._tensor.shown_path import file_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOW = ("map", "name", "sequence", "normalised", "original", "order", "replaced")


class Pairs(NamedTuple):
    """Rows that belong together, in the order of `a`.

    Attributes
    ----------
    a, b : ndarray of int64, shape (pairs,)
        Rows of either side.
    how : ndarray of int64, shape (pairs,)
        Indices into `HOW`.
    execution_b : ndarray of int64, shape (rows of b,)
        Number of the execution of each row, in the order in which they ran.
    notes
        What a person should know about the choice.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    how: NDArray[np.int64]
    execution_b: NDArray[np.int64]
    notes: list[str]


def pair(a: Side, b: Side, names: Mapping[str, str] | None) -> Pairs:
    """Pair the rows of two tables: first certain pairs, then likely ones.

    Parameters
    ----------
    a, b
        What is compared.
    names
        The user's map of operators, or tensors, from their names in `a` to those in `b`.
    """
    matching = _Matching(_Columns(a), _Columns(b))
    if names is not None:
        matching.by_map(names)
    matching.by_sequence()
    matching.by_name()
    matching.by_file_name()
    matching.by_normalised_name()
    matching.by_original()
    matching.by_order()
    matching.by_replacement()
    return matching.pairs()


class _Columns:
    """The columns of one side by which rows are paired."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.n = side.batch.num_rows
        self.op_name = self.texts("op_name")
        self.op_type = self.texts("op_type")
        self.io = self.texts("io")
        self.index = self.integers("index")
        self.is_tensor = ~self.io.is_null
        self.extents = Extents(side)
        self.is_named = self.op_name.where(bool) & self.is_tensor

    def integers(self, name: str) -> NDArray[np.int64]:
        return integer_array(self.side.batch.column(name), null=NULL)

    def texts(self, name: str) -> Coded[str]:
        return coded_text(self.side.batch.column(name))

    def texts_of(self, name: str, rows: NDArray[np.int64]) -> Coded[str]:
        return coded_text(rows_of(self.side.batch.column(name), rows))

    @cached_property
    def logical_shape(self) -> Coded[tuple[int, ...]]:
        """Shapes that do not depend on the memory layout."""
        columns = (coded_shapes(self.side.batch.column(f"{of}shape")) for of in ("origin_", ""))
        return coded_rows(*columns).rewritten(lambda shapes: shapes[0] or shapes[1])

    @cached_property
    def tensors(self) -> Coded[tuple[Any, ...]]:
        """Of each row the operator's name, "input" or "output", and the index among these."""
        return coded_rows(self.op_name, self.io, coded_numbers(self.index))

    @cached_property
    def execution(self) -> NDArray[np.int64]:
        """For each row the number of the execution of an operator that it belongs to.

        Executions are numbered in the order of their first rows.
        """
        numbers = ("rank", "step", "task_id", "stream_id", "timestamp")
        columns = [self.integers(name) for name in numbers]
        columns += [texts.codes.astype(np.int64) for texts in (self.op_type, self.op_name)]
        unnamed = np.flatnonzero(~self.is_named)
        if len(unnamed):
            paths = np.full(self.n, -1)
            paths[unnamed] = text_codes(rows_of(self.side.batch.column("path"), unnamed))
            columns.append(paths)
        # Rows of one execution lie together, as a rule: runs are far fewer than rows.
        begins = np.ones(self.n, np.bool_)
        if self.n:
            begins[1:] = False
        for column in columns:
            begins[1:] |= column[1:] != column[:-1]
        run = np.cumsum(begins) - 1
        firsts = [column[begins] for column in columns]
        empty = np.zeros(0, np.int64)
        key = combined(*(Keys(first, empty) for first in firsts)).a
        return np.asarray(by_appearance(key)[run], np.int64)

    def tensor(self, row: int) -> tuple[str | None, int]:
        """Return what tells the tensor of a row from others of its operator."""
        return self.io[row], int(self.index[row])

    def executions(
        self,
        rows: NDArray[np.bool_],
        keys: Sequence[NDArray[np.int64]],
        ios: Container[str] | None = None,
    ) -> dict[tuple[int, ...], list[Execution]]:
        """Return executions in their order, by the keys of their first row.

        Parameters
        ----------
        rows
            The rows that they have.
        keys
            Numbers of all rows of the side.
        ios
            What tells one execution from another, of "input", "output" and others; None for all.
        """
        chosen = np.flatnonzero(rows)
        columns = (self.io.take(chosen), self.logical_shape.take(chosen))
        tensors = zip(
            *(map((*column.values, None).__getitem__, column.codes.tolist()) for column in columns),
            self.index[chosen].tolist(),
            strict=True,
        )
        of_one: dict[int, tuple[list[int], list[tuple[Any, ...]]]] = {}
        numbers = self.execution[chosen].tolist()
        for row, number, (io, shape, index) in zip(chosen.tolist(), numbers, tensors, strict=True):
            its_rows, its_tensors = of_one.setdefault(number, ([], []))
            its_rows.append(row)
            if ios is None or io in ios:
                its_tensors.append((io, index, shape))
        found: dict[tuple[int, ...], list[Execution]] = {}
        for its_rows, its_tensors in of_one.values():
            first = its_rows[0]
            execution = Execution(
                self.op_type[first], self.op_name[first], tuple(its_tensors), its_rows
            )
            found.setdefault(tuple(int(key[first]) for key in keys), []).append(execution)
        return found

    def where_counters_run(
        self, rows: NDArray[np.bool_], where: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the numbers in `where` whose operators have names that carry running counters."""
        chosen = np.flatnonzero(rows)
        _, first = np.unique(self.execution[chosen], return_index=True)
        first = chosen[np.sort(first)]
        counters = [-1 if n is None else n for n in map(counter_of, self.op_name.values)]
        counter = np.array([*counters, -1], np.int64)[self.op_name.codes[first]]
        return where_counters_run(where[first], counter)


class _Matching:
    """The rows paired so far, and ways to pair more."""

    def __init__(self, a: _Columns, b: _Columns) -> None:
        self._a, self._b = a, b
        self._partner = Keys(np.full(a.n, -1, np.int64), np.full(b.n, -1, np.int64))
        self._how = np.zeros(a.n, np.int64)
        # Rows that no further way may pair.
        self._taken = Masks(~a.is_tensor, ~b.is_tensor)
        # Rows whose names tell where in the step they ran, and nothing more.
        self._named_by_position = Masks(np.zeros(a.n, np.bool_), np.zeros(b.n, np.bool_))
        self.notes: list[str] = []
        columns = []
        for name in ("rank", "step"):
            numbers = a.integers(name), b.integers(name)
            keys, note = aligned(name, *numbers, may_be_untold=name == "step")
            columns.append(keys)
            self.notes += [note] if note else []
        models = a.texts("model"), b.texts("model")
        if _same_values(*models):
            columns.append(alike(*models))
        threads = a.integers("thread_id"), b.integers("thread_id")
        if all((thread != NULL).any() for thread in threads):
            columns.append(Keys(*threads))
        self._where = combined(*columns)
        self._tensor = combined(alike(a.io, b.io), Keys(a.index, b.index))

    def pairs(self) -> Pairs:
        a = np.flatnonzero(self._partner.a >= 0)
        return Pairs(a, self._partner.a[a], self._how[a], self._b.execution, self.notes)

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

        def wanted(tensor: tuple[Any, ...]) -> tuple[Any, ...] | None:
            name, io, index = tensor
            known = in_file_name(name)
            if (known, io, index) in tensors:
                return tensors[known, io, index]
            return (operators[known], io, index) if known in operators else None

        mapped_b = {*operators.values(), *(target[0] for target in tensors.values())}

        def source(tensor: tuple[Any, ...]) -> tuple[Any, ...] | None:
            known = in_file_name(tensor[0])
            return (known, *tensor[1:]) if known in mapped_b else None

        targets, sources = a.tensors.rewritten(wanted), b.tensors.rewritten(source)
        keys = combined(self._where, alike(targets, sources))
        among = Masks(~targets.is_null, ~sources.is_null)
        for side, rows in among._asdict().items():
            if not rows.any():
                raise ValueError(f"map: no operator of {side} has a name that is in it")
        self._join(keys, "map", among)
        # Operators that the user has paired are not paired in any other way.
        partners = set(operators.values())
        self._taken.a[a.op_name.where(lambda name: in_file_name(name) in operators)] = True
        self._taken.b[b.op_name.where(lambda name: in_file_name(name) in partners)] = True

    def by_sequence(self) -> None:
        """Pair operators by what runs around them where the counters in their names differ."""
        found = self._counted_apart()
        if not found.both():
            return
        # What only one side dumps does not tell operators apart.
        ios = {*filter(None, self._a.io.values)} & {*filter(None, self._b.io.values)}
        of_a, of_b = (
            side.executions(rows, [where], ios)
            for side, rows, where in zip((self._a, self._b), found, self._where, strict=True)
        )
        for where, executions in of_a.items():
            partners = of_b.get(where, [])
            for i, j in in_sequence(executions, partners, self._read_alike):
                self._set_execution(executions[i], partners[j])
        # What has no partner now could have one of its name only by chance.
        self._named_by_position.a[found.a] = True
        self._named_by_position.b[found.b] = True

    def _read_alike(self, a: Execution, b: Execution) -> bool:
        """Tell whether the largest and smallest elements and the norms of all inputs are alike."""
        inputs_a, inputs_b = (
            [row for row in op.rows if side.io[row] == "input"]
            for op, side in ((a, self._a), (b, self._b))
        )
        if not inputs_a or len(inputs_a) != len(inputs_b):
            return False
        return all(
            are_alike(self._a.extents.of(row_a), self._b.extents.of(row_b))
            for row_a, row_b in zip(inputs_a, inputs_b, strict=True)
        )

    def _set_execution(self, a: Execution, b: Execution) -> None:
        how = "name" if a.op_name == b.op_name else "sequence"
        rows_b = {self._b.tensor(row): row for row in b.rows}
        for row in a.rows:
            partner = rows_b.get(self._a.tensor(row))
            if partner is not None:
                self._set(row, partner, how)

    def _counted_apart(self) -> Masks:
        """Return the rows, of whole ranks and steps, whose names carry different counters.

        Names carry counters if their numbers increase in the order of execution. They are the same
        if all rows of one side are in the other, under the same name and with the same shape.
        """
        left = self._left_named()
        found = Masks(np.zeros_like(left.a), np.zeros_like(left.b))
        if not left.both():
            return found
        if self._are_equal("op_name") and self._are_equal("op_type"):
            return found
        counted_a = self._a.where_counters_run(left.a, self._where.a)
        counted_b = self._b.where_counters_run(left.b, self._where.b)
        candidates = np.intersect1d(counted_a, counted_b)
        if not len(candidates):
            return found
        keys = self._name_keys(None, with_type=True)
        keys = combined(keys, self._shapes)
        for where in candidates.tolist():
            a, b = left.a & (self._where.a == where), left.b & (self._where.b == where)
            lacks = np.isin(keys.a[a], keys.b[b], invert=True).any()
            if lacks and np.isin(keys.b[b], keys.a[a], invert=True).any():
                found.a[a] = found.b[b] = True
        return found

    def _are_equal(self, name: str) -> bool:
        """Tell whether both sides have the same texts in the same rows."""
        keys = alike(getattr(self._a, name), getattr(self._b, name))
        return np.array_equal(keys.a, keys.b)

    @cached_property
    def _shapes(self) -> Keys:
        return alike(self._a.logical_shape, self._b.logical_shape)

    def by_name(self) -> None:
        for rewrite in (None, in_file_name):
            self._join_names(rewrite, "name", with_type=True)

    def by_file_name(self) -> None:
        """Pair tensors of one dump file with those of a file that was converted from it.

        Where an operator's name was too long for a file, digits stand for it, from which a
        converted file cannot tell the operator.
        """
        left = self._left_without_positions()
        if left.both():
            chosen = tuple(map(np.flatnonzero, left))
            stems = alike(
                *(
                    side.texts_of("path", rows).rewritten(dump_file_name)
                    for side, rows in zip((self._a, self._b), chosen, strict=True)
                )
            )
            keys = Keys(np.full(self._a.n, NULL_CODE), np.full(self._b.n, NULL_CODE))
            for key, rows, stem in zip(keys, chosen, stems, strict=True):
                key[rows] = stem
            self._join(combined(self._where, self._tensor, keys), "name", left)

    def by_normalised_name(self) -> None:
        self._join_names(normalised, "normalised", with_type=False)
        # Counters in names differ between runs. Without them, both sides must have as many left.
        left = self._left_named()
        if not left.both():
            return
        keys = self._name_keys(without_counter, with_type=True)
        keys = combined(keys, self._shapes)
        n = max(keys.a.max(initial=0), keys.b.max(initial=0)) + 1
        n_a = np.bincount(keys.a[left.a], minlength=n)
        n_b = np.bincount(keys.b[left.b], minlength=n)
        same = n_a == n_b
        self._join(keys, "normalised", Masks(left.a & same[keys.a], left.b & same[keys.b]))

    def by_original(self) -> None:
        if not self._left_named().both():
            return
        for swapped in (False, True):
            self._by_parts(swapped=swapped)
        if self._a.side.is_dump:
            for swapped in (False, True):
                self._by_header(swapped=swapped)

    def _by_parts(self, *, swapped: bool) -> None:
        """Pair the tensors of fused operators with those of their first and their last part."""
        fused, other = self._sides(swapped)
        left_fused, left_other = self._left_named()[:: -1 if swapped else 1]
        names, others = fused.op_name.codes[left_fused], other.op_name.codes[left_other]
        parts = parts_of(_texts(fused.op_name, names), _texts(other.op_name, others))
        if not parts:
            return

        def part_of(tensor: tuple[Any, ...]) -> str | None:
            name, io, _ = tensor
            part = parts.get(name or "")
            return None if part is None else part[0] if io == "input" else part[1]

        targets = fused.tensors.rewritten(part_of)
        self._join_original(targets, other.op_name, self._tensor, self._shapes, swapped=swapped)

    def _by_header(self, *, swapped: bool) -> None:
        """Pair outputs with those of the operators from which their headers say they stem."""
        fused, other = self._sides(swapped)
        left_fused, left_other = self._left_named()[:: -1 if swapped else 1]
        rows = np.flatnonzero(left_fused & fused.io.where(lambda io: io == "output"))
        if not len(rows) or not left_other.any():
            return
        root, paths = fused.side.table.root or "", fused.texts_of("path", rows)
        files = paths.rewritten(lambda path: file_of(root, path))
        outputs = {
            row: (files[i] or "", int(fused.index[row])) for i, row in enumerate(rows.tolist())
        }
        numbers: dict[tuple[str, str, int], int] = {}
        codes = np.full(fused.n, NULL_CODE)
        for row, name, index in original_outputs(outputs):
            codes[row] = numbers.setdefault((name, "output", index), len(numbers))
        sources = other.tensors.rewritten(lambda tensor: (in_file_name(tensor[0]), *tensor[1:]))
        self._join_original(Coded(codes, list(numbers)), sources, swapped=swapped)

    def _sides(self, swapped: bool) -> tuple[_Columns, _Columns]:
        return (self._b, self._a) if swapped else (self._a, self._b)

    def _join_original(
        self,
        targets: Coded[Any],
        sources: Coded[Any],
        *columns: Keys,
        swapped: bool,
    ) -> None:
        """Pair the fused rows that have a target with the rows of the other side that it names."""
        order = -1 if swapped else 1
        keys = combined(self._where, *columns, alike(*(targets, sources)[::order]))
        left_fused, left_other = self._left_named()[::order]
        among = (left_fused & ~targets.is_null, left_other)
        self._join(keys, "original", Masks(*among[::order]))

    def by_order(self) -> None:
        """Pair operators of one type with tensors of the same shapes, in the order of execution.

        Only operators with the same neighbour are paired: the last paired one that ran before them.
        """
        if not self._left.both():
            return
        if all(side.side.is_file for side in (self._a, self._b)):
            self._by_place()
            return
        left = self._left_without_positions()
        groups_a, groups_b = self._unpaired(self._a, left.a), self._unpaired(self._b, left.b)
        for key, of_a in groups_a.items():
            of_b = groups_b.get(key, [])
            tokens_a, tokens_b = ([(op.op_type, op.tensors) for op in ops] for ops in (of_a, of_b))
            for i, j in in_order(tokens_a, tokens_b):
                self._set(of_a[i].rows, of_b[j].rows, "order")

    def _by_place(self) -> None:
        """Pair the tensors of two files by input or output and index, then by shape."""
        for keys in (self._tensor, self._shapes):
            self._join(keys, "order", self._left)

    def by_replacement(self) -> None:
        """Pair what goes into, and comes out of, operators that stand in each other's place.

        They are of other kinds, run between the same two paired operators, and have an input and an
        output of the same shapes. Several may stand in place of one: a function and its parts.
        """
        left = self._left
        if not left.both() or any(side.side.is_file for side in (self._a, self._b)):
            return
        groups_a, groups_b = (
            self._unpaired(side, rows, is_next=True)
            for side, rows in ((self._a, left.a), (self._b, left.b))
        )
        for key, of_a in groups_a.items():
            if key[1] >= 0 and key[2] >= 0 and key in groups_b:
                for row_a, row_b in ends_of_replaced(of_a, groups_b[key]):
                    self._set(row_a, row_b, "replaced")

    def _unpaired(
        self, side: _Columns, left: NDArray[np.bool_], *, is_next: bool = False
    ) -> dict[tuple[int, ...], list[Execution]]:
        """Return the operators without any paired tensor, by rank, step and neighbour.

        The neighbour is the last paired operator before them, and with `is_next` also the next one
        after them, numbered as in `a`; -1 if there is none.
        """
        is_a = side is self._a
        where = self._where.a if is_a else self._where.b
        partner = self._partner.a if is_a else self._partner.b

        def numbered(neighbour: NDArray[np.int64]) -> NDArray[np.int64]:
            in_a = neighbour if is_a else partner[neighbour]
            has_one = (neighbour >= 0) & (where[neighbour] == where)
            return np.where(has_one, self._a.execution[in_a], -1)

        rows = np.arange(side.n)
        # For each row, the last paired row before it, and the next one after it.
        keys = [where, numbered(np.maximum.accumulate(np.where(partner >= 0, rows, -1)))]
        if is_next:
            after = np.minimum.accumulate(np.where(partner >= 0, rows, side.n)[::-1])[::-1]
            keys.append(numbered(np.where(after < side.n, after, -1)))
        has_partner = np.zeros(side.execution.max(initial=0) + 1, np.bool_)
        has_partner[side.execution[partner >= 0]] = True
        return side.executions(left & ~has_partner[side.execution], keys)

    # Steps that the ways share

    @property
    def _left(self) -> Masks:
        return Masks((self._partner.a < 0) & ~self._taken.a, (self._partner.b < 0) & ~self._taken.b)

    def _left_without_positions(self) -> Masks:
        left, positions = self._left, self._named_by_position
        return Masks(left.a & ~positions.a, left.b & ~positions.b)

    def _left_named(self) -> Masks:
        left = self._left_without_positions()
        return Masks(left.a & self._a.is_named, left.b & self._b.is_named)

    def _name_keys(self, rewrite: Callable[[str], str | None] | None, *, with_type: bool) -> Keys:
        columns = []
        for name in ("op_name", "op_type") if with_type else ("op_name",):
            sides = [getattr(side, name) for side in (self._a, self._b)]
            if rewrite is not None and not (name == "op_type" and rewrite is without_counter):
                sides = [texts.rewritten(rewrite) for texts in sides]
            columns.append(alike(*sides))
        return combined(self._where, self._tensor, *columns)

    def _join_names(
        self,
        rewrite: Callable[[str], str | None] | None,
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


def _texts(column: Coded[str], codes: NDArray[np.int32]) -> list[str]:
    """Return the texts of some codes, sorted, without the empty one."""
    found = np.unique(codes[codes != NULL_CODE]).tolist()
    return sorted(filter(None, map(column.values.__getitem__, found)))


def _same_values(a: Coded[str], b: Coded[str]) -> bool:
    """Tell whether two columns have the same distinct values, None among them or not."""
    return set(a.values) == set(b.values) and a.is_null.any() == b.is_null.any()
