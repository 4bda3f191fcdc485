"""Files of a dump that conditions, slices and names leave: which they are, and scans of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fastdump._arguments import is_directory
from fastdump._dump.absence import absence, no_dump_error
from fastdump._dump.indexed_files import IndexedFiles, Positions
from fastdump._dump.operator import Operator, Record
from fastdump._dump.part import DumpPart
from fastdump._scan import TableScan
from fastdump._selection import Selection
from fastdump._table.named_tensors import NamedTensors
from fastdump._tensor.tensor import Tensor
from fastdump._workers import costs_of_files
from fastdump.errors import NoDumpError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NONE: Positions = np.empty(0, np.uint32)
_ALL = Selection()

Step: TypeAlias = "Selection | NamedTensors | tuple[int | None, int | None, int | None] | bytes"
"""What makes a dump smaller: a selection, the rows of a table, a slice, or numbers (int64)."""


class Chosen:
    """Files in the order of execution, and the steps that have chosen them.

    Parameters
    ----------
    files
        All files.
    positions
        The files that are chosen.
    steps
        The steps that chose them, in order.
    undecided
        The files among `positions` that are chosen only if their headers agree, which are unread.

    Attributes
    ----------
    files, steps
        As given.
    """

    __slots__ = ("_positions", "_undecided", "files", "steps")

    def __init__(
        self,
        files: IndexedFiles,
        positions: Positions,
        steps: tuple[Step, ...] = (),
        undecided: Positions = _NONE,
    ) -> None:
        self.files = files
        self.steps = steps
        self._positions = positions
        self._undecided = undecided

    @classmethod
    def all_of(cls, files: IndexedFiles) -> Chosen:
        """Return all files."""
        return cls(files, files.all())

    @classmethod
    def of_part(cls, part: DumpPart) -> Chosen:
        """Return the files that `part` took, in that order."""
        files = part.files()
        return cls(files, files.all(), part.narrowing)

    # Which files

    @property
    def n_at_most(self) -> int | None:
        """How many files there are at most while headers have yet to decide, None afterwards."""
        return len(self._positions) if len(self._undecided) else None

    def positions(self) -> Positions:
        """Return the files that are chosen; read headers if they have to decide."""
        if len(self._undecided):
            self.files.files.check()
            scan = self._scan_of(self._undecided, level="header")
            scan.run()
            kept = self.files.with_paths(self._undecided, set(scan.table()["path"]))
            left_out = np.setdiff1d(self._undecided, kept)
            self._positions = self._positions[~np.isin(self._positions, left_out)]
            self._undecided = _NONE
        return self._positions

    def after(self, step: Step) -> Chosen:
        """Return the files that one more step leaves."""
        steps = (*self.steps, step)
        if isinstance(step, tuple):
            positions = np.ascontiguousarray(self.positions()[slice(*step)])
            return Chosen(self.files, positions, steps)
        if isinstance(step, bytes):
            return Chosen(self.files, self.positions()[np.frombuffer(step, np.int64)], steps)
        if isinstance(step, NamedTensors):
            positions = self.files.with_paths(self.positions(), step.paths)
            return Chosen(self.files, positions, steps)
        positions, undecided = self.files.select(self._positions, step)
        undecided = np.union1d(np.intersect1d(self._undecided, positions), undecided)
        return Chosen(self.files, positions, steps, undecided)

    def numbered(self, numbers: NDArray[np.int64]) -> Chosen:
        """Return the files with some numbers among those that are left."""
        return self.after(numbers.astype(np.int64).tobytes())

    def why_none(self, selection: Selection = _ALL) -> str:
        """Return which of the steps and a further selection leaves no file, and what is there."""
        whole = Chosen.all_of(self.files)
        steps = (*self.steps, *([selection] if selection else []))
        for step in steps:
            smaller = whole.after(step)
            if isinstance(step, Selection) and not len(smaller.positions()):
                return absence(self.files, whole.positions(), step)
            whole = smaller
        return "no tensor is left after all selections" if steps else ""

    def no_tensor_error(self, selection: Selection = _ALL) -> NoDumpError:
        """Return the error for a selection without a tensor; it says what is there instead."""
        return no_dump_error(self.files.name, self.files.skipped, self.why_none(selection))

    # What their names tell

    def op_names(self) -> list[str]:
        """Return the names of operators that file names tell, each once."""
        names: list[str] = self.files.index.op_names(self.positions().data)
        return names

    def records(self) -> Iterator[Record]:
        """Yield what the names of files tell, without the cost of an `Operator` for each."""
        index = self.files.index
        for position in self.positions().tolist():
            yield Record(*index.record(position))

    def shown_root(self) -> str:
        """Return the directory that paths in tables are relative to, as it was given."""
        paths = [os.fsdecode(path) for path in self.files.paths]
        if len(paths) > 1:
            return ""  # paths begin with one of them
        return paths[0] if is_directory(paths[0]) else os.path.dirname(paths[0])  # noqa: PTH120

    # What is in them

    def tensors(self, operator: Operator) -> list[Tensor]:
        """Return the selected tensors of one of the files, appended dumps included."""
        narrowing = self._narrowing()
        return [
            tensor
            for tensors in (operator.tensors, *operator.appended)
            for tensor in tensors
            if all(
                step.has(operator.relative, tensor.io, tensor.index, tensor.offset)
                if isinstance(step, NamedTensors)
                else step.has_tensor(tensor.io, tensor.index, tensor.dtype_name, tensor.status)
                for step in narrowing
            )
        ]

    def scan(self, selection: Selection = _ALL, **options: Any) -> TableScan:
        """Return a scan of the tensors that a further selection selects.

        Options are those of `TableScan`.
        """
        self.files.files.check()
        selected = self.after(selection) if selection else self
        return selected._scan_of(selected._positions, **options)

    def header_scan(self, kinds: Set[str]) -> tuple[TableScan, int]:
        """Return a scan of the headers of all files of some kinds, and how many files there are.

        Of each file all tensors are described, those of small files with their digests.
        """
        index = self.files.index
        positions = np.frombuffer(index.of_kinds(self.positions().data, kinds), np.uint32)
        files = (index, positions)
        scan = TableScan(self.files.paths, _ALL, files=files, level="header", digests=True)
        return scan, len(positions)

    def names_in_statistics(self) -> dict[str, list[tuple[str | None, str | None]]]:
        """Return types and names of operators that files with statistics of many have rows of.

        Keys are paths as tables show them. Files whose names tell the operator are left out.
        """
        index = self.files.index
        files = np.frombuffer(index.of_kinds(self.positions().data, {"statistics"}), np.uint32)
        is_nameless = [
            Record(*index.record(position)).op_name is None for position in files.tolist()
        ]
        if not any(is_nameless):
            return {}
        nameless = np.ascontiguousarray(files[np.array(is_nameless)])
        scan = self._scan_of(nameless, level="header")
        scan.run()
        table = scan.table()
        names: dict[str, list[tuple[str | None, str | None]]] = {}
        rows = zip(table["path"], table["op_type"], table["op_name"], strict=True)
        for path, op_type, op_name in dict.fromkeys(rows):
            if op_type or op_name:
                names.setdefault(path, []).append((op_type, op_name))
        return names

    # Work for others

    def costs(self) -> NDArray[np.int64]:
        """Return what reading each of the files takes, as `cut` asks for it."""
        return costs_of_files(self.files.index, self.positions())

    def part(self, numbers: NDArray[np.int64]) -> DumpPart:
        """Return some of the files, by their numbers among those that are left, for a worker."""
        return DumpPart.of(self.files, self.positions()[numbers], self._narrowing())

    def _narrowing(self) -> list[Selection | NamedTensors]:
        return [step for step in self.steps if isinstance(step, (Selection, NamedTensors))]

    def _scan_of(self, positions: Positions, **options: Any) -> TableScan:
        """Return a scan of the selected tensors in some of the files."""
        native, others = Selection(), []
        for step in self._narrowing():
            # One native selection does the work of several, unless two have the same condition.
            if isinstance(step, Selection) and not native.conditions().keys() & step.conditions():
                native = native.narrowed(
                    **{name: getattr(step, name) for name in step.conditions()}
                )
            else:
                others.append(step)
        files = (self.files.index, positions)
        return TableScan(self.files.paths, native, files=files, also=others, **options)
