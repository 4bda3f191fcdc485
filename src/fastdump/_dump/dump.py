"""`Dump`: a sequence of operators, found by walking names; and `open`, which returns it."""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, cast, overload

import numpy as np

from fastdump import _core
from fastdump._arguments import Engine, Level, PathLike, check_level, is_directory
from fastdump._dump.absence import absence, no_dump_error
from fastdump._dump.indexed_files import IndexedFiles, Positions
from fastdump._dump.named import (
    absent_text,
    name_and_tensor,
    operator_among,
    positions_of,
    readings,
)
from fastdump._dump.operator import Operator, Record
from fastdump._dump.part import DumpPart
from fastdump._scan import TableScan
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._table.named_tensors import NamedTensors
from fastdump._table.row import StatsRow
from fastdump._table.stats_table import StatsTable
from fastdump._table.table_files import table_or_paths
from fastdump._tensor.tensor import Tensor
from fastdump._words.printable import printable
from fastdump._words.quantities import counted, numbered
from fastdump._workers import costs_of_files
from fastdump.errors import NoDumpError, NoTensorError, OperatorNotFoundError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack

_NONE: Positions = np.empty(0, np.uint32)

_ALL = Selection()

_Step: TypeAlias = "Selection | NamedTensors | tuple[int | None, int | None, int | None] | bytes"
"""A step that made a dump smaller: a selection, the rows of a table, a slice, or numbers."""


class DumpSummary(TypedDict):
    """What `Dump.summary` returns."""

    files: int
    operators: int
    ranks: list[int]
    times: list[str]
    devices: list[int]
    models: list[str]
    steps: list[int]
    op_types: dict[str, int]
    kinds: dict[str, int]
    first_timestamp: int | None
    last_timestamp: int | None


def open(
    what: PathLike | Dump | StatsTable | Iterable[PathLike | StatsTable],
    *,
    follow_links: bool = False,
    safe: bool = False,
) -> Dump:
    """Open a dump: find its operators by walking names.

    No file is opened but ``mapping.csv``, which tells names that were too long for a file. Headers
    are read when they are asked for, one operator at a time.

    Parameters
    ----------
    what
        A directory of any depth, a dump file, or several of them; a `Dump`, which is returned
        unchanged; or a `StatsTable`, its file or its parts, as of `read_stats`: the operators and
        tensors of its rows.
    follow_links
        Whether to follow symbolic links below a directory. Those that are not followed are counted
        as skipped.
    safe
        Whether the arrays of tensors are always copies, which nothing that happens to a file can
        change. Default: views of mapped files where possible, which must not be used any more once
        a file was cut. docs/arrays.md tells what copies cost.

    Returns
    -------
    Dump
        All files with the name of a dump, of statistics (``.csv``) or of an array converted from a
        dump (``.npy``), in the order of execution. A file that was given itself is always among
        them, whatever its name. `Dump.skipped` counts the other files.

    Raises
    ------
    NoDumpError
        If there is no such file.
    ValueError
        If a table does not tell where its dump is, or if a `Dump` is not as `safe` as asked for.
    OSError
        If a path does not exist or is not readable.

    Examples
    --------
    >>> dump = fastdump.open("dump_dir")  # doctest: +SKIP
    >>> for op in dump.select(op_type="MatMul*", step=3):  # doctest: +SKIP
    ...     print(op.op_name, [t.shape for t in op.outputs])
    """
    if isinstance(what, Dump):
        if safe and not what._files.files.safe:
            raise ValueError("the dump is open already: open it with safe=True")
        return what
    found = table_or_paths(what)
    paths = found.roots if isinstance(found, StatsTable) else found
    if not paths:
        raise ValueError("the table does not tell where its dump is: read it with root=")
    files = IndexedFiles(paths, follow_links=follow_links, safe=safe)
    if len(files.index) == 0:
        raise no_dump_error(files.name, files.skipped)
    dump = Dump(files, files.all())
    if not isinstance(found, StatsTable):
        return dump
    # Paths below several roots begin with the roots, which are absolute here and may not be there.
    if len(found.roots) > 1:
        return dump._after(NamedTensors.of(found.batch, found.root or ""))
    return dump._after(NamedTensors.of(found.seen_from(files.root).batch))


class Dump(Sequence[Operator]):
    """The operators of a dump, or a selection of them, in the order of execution.

    `open` returns it. It is a sequence: ``len(dump)``, ``dump[3]``, ``dump[-1]``, iteration. Slices
    and `select` give a `Dump` of fewer operators, which shares the files with this one: closing any
    of them closes all.

    The names of files decide what a dump holds when it is opened. If a file vanishes later, asking
    for its header raises FileNotFoundError.

    The order is rank, time, device, model, step, then timestamp, stream, task; unknown values come
    last.

    A dump can be pickled; unpickling it finds the files again.
    """

    __slots__ = ("_files", "_positions", "_steps", "_undecided")

    def __init__(
        self,
        files: IndexedFiles,
        positions: Positions,
        steps: tuple[_Step, ...] = (),
        undecided: Positions = _NONE,
    ) -> None:
        self._files = files
        self._positions = positions
        self._steps = steps
        # Files whose headers have yet to decide whether they are selected.
        self._undecided = undecided

    def __len__(self) -> int:
        return len(self._decided())

    @overload
    def __getitem__(self, key: int | np.integer[Any] | str) -> Operator: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[np.integer[Any]]) -> Dump: ...
    def __getitem__(self, key: Any) -> Operator | Dump:
        """Return an operator by number or by name, or a dump of some operators.

        Parameters
        ----------
        key
            A number; a slice, several numbers or a mask; or what names one operator: its name, the
            real one (``"layers.3/Add"``) or as file names have it (``"layers_3_Add"``); a shell
            pattern of its name (``"*layers.3*Add"``), of its type (``"SoftmaxV2"``) or of both
            (``"Add *layers.3*"``); or, if none of these finds an operator, the end of its name
            (``"layers.3*Add"``). Several files of one execution are joined. Headers are read only
            if several files have the name, and those of files without a name if no other file has
            it.

        Raises
        ------
        IndexError
            If there is no such number, or a mask does not have one element for each operator.
        OperatorNotFoundError
            If there is no such name, or several operators have it; the message names some of them
            and says how to choose, or names what is near.
        ClosedDumpError
            If the dump was closed.
        """
        self._files.files.check()
        positions = self._decided()
        if isinstance(key, str):
            found = matching(self, key)
            if not len(found):
                raise OperatorNotFoundError(no_match_text(self, key))
            return operator_among(key, self._files, found._decided())
        if isinstance(key, slice):
            steps = (*self._steps, (key.start, key.stop, key.step))
            return Dump(self._files, np.ascontiguousarray(positions[key]), steps)
        if isinstance(key, (Sequence, np.ndarray)):
            numbers = _numbers(np.asarray(key), len(positions))
            return Dump(self._files, positions[numbers], (*self._steps, numbers.tobytes()))
        number = operator.index(key)
        if not -len(positions) <= number < len(positions):
            raise IndexError(f"there is no operator {number}: the dump has {len(positions)}")
        return self._files.operator(int(positions[number]))

    def __iter__(self) -> Iterator[Operator]:
        self._files.files.check()
        for position in self._decided().tolist():
            self._files.files.check()
            yield self._files.operator(position)

    def __contains__(self, value: object) -> bool:
        """Tell whether `value` is one of the operators, or the name of at least one."""
        if isinstance(value, str):
            self._files.files.check()
            return len(positions_of(value, self._files, self._decided())) != 0
        return isinstance(value, Operator) and any(found == value for found in self)

    def __repr__(self) -> str:
        name = self._files.name
        if self.closed:
            return f"Dump({name}, closed)"
        if len(self._undecided):
            return f"Dump({name}, up to {counted(len(self._positions), 'file')}: headers unread)"
        summary = self.summary()
        facts = [counted(summary["files"], "file"), counted(summary["operators"], "operator")]
        for what, numbers in (("rank", summary["ranks"]), ("step", summary["steps"])):
            facts += [numbered(what, numbers)] if numbers else []
        facts += [] if len(self) else [why_empty(self)]
        return f"Dump({name}, {', '.join(facts)})"

    def _repr_html_(self) -> str:
        from fastdump._dump.notebook import MAX_OPERATORS, operators_html

        facts = [printable(repr(self))]
        operators = [] if self.closed else list(itertools.islice(self, MAX_OPERATORS))
        if not self.closed and len(self) > len(operators):
            facts.append(f"the first {len(operators)} of its files")
        return operators_html(facts, operators)

    @property
    def roots(self) -> list[str]:
        """Absolute paths of what was opened."""
        return list(self._files.roots)

    @property
    def root(self) -> str:
        """Absolute directory that `Operator.relative` is relative to."""
        return self._files.root

    @property
    def skipped(self) -> dict[str, int]:
        """How many files below the path are not in the dump, by reason."""
        return dict(self._files.skipped)

    @property
    def closed(self) -> bool:
        """Whether the dump was closed."""
        return self._files.files.closed

    @takes_conditions
    def select(self, **conditions: Unpack[Conditions]) -> Dump:
        """Return the operators that have a tensor which meets all conditions, in the same order.

        The names of files decide as far as they can. Conditions that only headers can decide, such
        as `io` and `dtype`, are decided when the selection is first used, by reading the headers of
        all remaining files in parallel.

        `tensors` and `stats` of the selection cover only the selected tensors; its operators keep
        all their tensors.

        Parameters
        ----------
        **conditions
            Which tensors; `Selection` says what each condition means.

        Raises
        ------
        TypeError, ValueError
            If a condition has a value that it cannot have.
        ClosedDumpError
            If the dump was closed.
        """
        return self.selected(Selection.of(conditions))

    def selected(self, selection: Selection) -> Dump:
        """Return what `select` does, for conditions that were checked."""
        self._files.files.check()
        return self._after(selection) if selection else self

    def _after(self, step: _Step) -> Dump:
        """Return the smaller dump that one more step gives."""
        if isinstance(step, tuple):
            return self[slice(*step)]
        if isinstance(step, bytes):
            return self[np.frombuffer(step, np.int64)]
        steps = (*self._steps, step)
        if isinstance(step, NamedTensors):
            return Dump(self._files, self._files.with_paths(self._decided(), step.paths), steps)
        positions, undecided = self._files.select(self._positions, step)
        undecided = np.union1d(np.intersect1d(self._undecided, positions), undecided)
        return Dump(self._files, positions, steps, undecided)

    def _decided(self) -> Positions:
        """Return the files after all selections; read headers if they have to decide."""
        if len(self._undecided):
            self._files.files.check()
            scan = _scan(self, self._undecided, level="header")
            scan.run()
            chosen = self._files.with_paths(self._undecided, set(scan.table()["path"]))
            left_out = np.setdiff1d(self._undecided, chosen)
            self._positions = self._positions[~np.isin(self._positions, left_out)]
            self._undecided = _NONE
        return self._positions

    def _narrowing(self) -> list[Selection | NamedTensors]:
        return [step for step in self._steps if isinstance(step, (Selection, NamedTensors))]

    def tensors(self) -> Iterator[Tensor]:
        """Yield the tensors, file by file, appended dumps included; after `select`, the selected.

        Raises
        ------
        DumpFormatError, OSError, ClosedDumpError
            As `Operator.header` does.
        """
        for found in self:
            yield from tensors_of(self, found)

    def stats(
        self,
        *,
        level: Level = "basic",
        logical: bool = False,
        threads: int | None = None,
        io_depth: int | None = None,
        engine: Engine = "auto",
        progress: bool | Callable[[_core.Progress], object] | None = None,
    ) -> StatsTable:
        """Compute statistics of the tensors; after `select`, of the selected ones.

        Parameters
        ----------
        level, logical, threads, io_depth, engine, progress
            As of `fastdump.stats`.

        Returns
        -------
        StatsTable
            One row a tensor, in the order of execution.

        Raises
        ------
        NoDumpError
            If there is not a single row. The message says what is there instead.
        ValueError
            If an argument has a value that it cannot have.
        OSError, ClosedDumpError
            If the files cannot be read any more.
        """
        check_level(level)
        scan = scan_of(
            self,
            _ALL,
            level=level,
            logical=logical,
            threads=threads,
            io_depth=io_depth,
            engine=engine,
        )
        scan.run(progress)
        table = scan.table()
        if len(table) == 0:
            raise empty_error(self)
        return table

    def tensor(self, row: StatsRow | str) -> Tensor:
        """Return the tensor of a row of a table, even if the dump has moved since then; or by name.

        Parameters
        ----------
        row
            A row; or what ``dump[name]`` takes with the tensor's name behind it:
            ``"layers.2*SoftmaxV2:output.0"``.

        Raises
        ------
        NoTensorError
            If the row or the text names no tensor, or the dump does not have the row's file, or the
            operator no such tensor.
        OperatorNotFoundError
            If no operator has the name, or several have.
        DumpFormatError, OSError, ClosedDumpError
            As `Operator.header` does.
        """
        self._files.files.check()
        if isinstance(row, str):
            name, tensor_name = name_and_tensor(row)
            if tensor_name is None:
                raise NoTensorError(f"{row!r} does not end with a tensor's name, as ':output.0'")
            return self[name][tensor_name]
        if row.io is None or row.source != "tensor":
            return row.tensor()  # says why there is none
        position = self._files.position_of(row.path)
        if position is None:
            raise NoTensorError(f"{row.path!r} is not a file of {self!r}")
        found = self._files.operator(position)
        for tensor in (t for tensors in (found.tensors, *found.appended) for t in tensors):
            if (tensor.io, tensor.index, tensor.offset) == (row.io, row.index, row.offset):
                return tensor
        raise NoTensorError(f"{found.path!r} does not have {row.tensor_name}, as the row tells")

    def summary(self) -> DumpSummary:
        """Return what the names of files tell about the dump, in a few numbers.

        Returns
        -------
        dict
            ``files``; ``operators`` (distinct pairs of op_type and op_name); ``ranks``,
            ``times``, ``devices``, ``models`` and ``steps`` (sorted lists of the distinct ones);
            ``op_types`` and ``kinds`` (number of files of each); ``first_timestamp`` and
            ``last_timestamp`` (as written, None if there is none; if some are in microseconds, only
            those count).

        Raises
        ------
        ClosedDumpError
            If the dump was closed.
        """
        self._files.files.check()
        positions = self._decided()
        found = self._files.index.summary(positions.data)
        return cast("DumpSummary", {"files": len(positions), **found})

    def close(self) -> None:
        """Close the dump and all selections of it.

        Operators keep what their names tell; their headers and tensors raise ClosedDumpError from
        now on. Arrays that were made from tensors stay valid.
        """
        self._files.files.close()

    def __enter__(self) -> Dump:
        self._files.files.check()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __copy__(self) -> Dump:
        return Dump(self._files, self._positions, self._steps, self._undecided)

    def __reduce__(self) -> tuple[object, ...]:
        given = [os.fsdecode(path) for path in self._files.paths]
        files = self._files
        return _reopened, (self.roots, given, files.follow_links, files.files.safe, self._steps)


def _numbers(key: NDArray[Any], n_operators: int) -> NDArray[np.int64]:
    """Return several numbers as such; of a mask, where it is true."""
    if key.dtype == np.bool_ and key.shape == (n_operators,):
        return np.flatnonzero(key)
    if key.ndim != 1 or (key.size and key.dtype.kind not in "iu"):
        raise IndexError("operators are chosen by integers of one dimension, or by a mask of all")
    return key.astype(np.int64)


def _reopened(
    roots: list[str],
    given: list[str],
    follow_links: bool,
    safe: bool,
    steps: tuple[_Step, ...],
) -> Dump:
    # Tables show paths below several roots as the roots were given, which may lead nowhere here.
    is_same = [os.path.abspath(path) for path in given] == roots  # noqa: PTH100
    files = IndexedFiles(given if is_same else roots, follow_links=follow_links, safe=safe)
    dump = Dump(files, files.all())
    for step in steps:
        dump = dump._after(step)
    return dump


# Functions for the rooms of questions; users do not need them.


def tensors_of(dump: Dump, found: Operator) -> list[Tensor]:
    """Return the selected tensors of one of the operators, appended dumps included."""
    narrowing = dump._narrowing()
    return [
        tensor
        for tensors in (found.tensors, *found.appended)
        for tensor in tensors
        if all(
            step.has(found.relative, tensor.io, tensor.index, tensor.offset)
            if isinstance(step, NamedTensors)
            else step.has_tensor(tensor.io, tensor.index, tensor.dtype_name, tensor.status)
            for step in narrowing
        )
    ]


def matching(dump: Dump, text: str) -> Dump:
    """Return the operators that a text names, as ``dump[text]`` reads it, several or none.

    The first reading that finds some counts. Of a file with statistics of many operators, only the
    rows of these are in `Dump.stats` then.
    """
    positions = dump._decided()
    if text:
        found = positions_of(text, dump._files, positions, read=False)
        if len(found):
            return dump[np.flatnonzero(np.isin(positions, found))]
        for selection in readings(text):
            smaller = dump.selected(selection)
            if len(smaller):
                return smaller
    return dump[:0]


def no_match_text(dump: Dump, text: str) -> str:
    """Return that a text names no operator of a dump, and which names are near it."""
    also = {name for names in names_in_statistics(dump).values() for name in names}
    types = {op_type for op_type, _ in also if op_type}
    return absent_text(
        text,
        dump._files,
        dump._decided(),
        dump,
        sorted(types | {op_name for _, op_name in also if op_name}),
    )


def names_in_statistics(dump: Dump) -> dict[str, list[tuple[str | None, str | None]]]:
    """Return the types and names of operators that files with statistics of many have rows of.

    Keys are paths as tables show them. Files whose names tell the operator are left out.
    """
    index = dump._files.index
    files = np.frombuffer(index.of_kinds(dump._decided().data, {"statistics"}), np.uint32)
    is_nameless = [Record(*index.record(position)).op_name is None for position in files.tolist()]
    if not any(is_nameless):
        return {}
    nameless = np.ascontiguousarray(files[np.array(is_nameless)])
    scan = _scan(dump, nameless, level="header")
    scan.run()
    table = scan.table()
    names: dict[str, list[tuple[str | None, str | None]]] = {}
    rows = zip(table["path"], table["op_type"], table["op_name"], strict=True)
    for path, op_type, op_name in dict.fromkeys(rows):
        if op_type or op_name:
            names.setdefault(path, []).append((op_type, op_name))
    return names


def operator_names(dump: Dump) -> list[str]:
    """Return the names that file names tell, each once."""
    names: list[str] = dump._files.index.op_names(dump._decided().data)
    return names


def records_of(dump: Dump) -> Iterator[Record]:
    """Yield what the names of files tell, without the cost of an `Operator` for each."""
    index = dump._files.index
    for position in dump._decided().tolist():
        yield Record(*index.record(position))


def file_costs(dump: Dump) -> NDArray[np.int64]:
    """Return what reading each of the files takes, as `cut` asks for it."""
    return costs_of_files(dump._files.index, dump._decided())


def part_of(dump: Dump, numbers: NDArray[np.int64]) -> DumpPart:
    """Return some of the files, by their numbers in the dump, for a worker."""
    return DumpPart.of(dump._files, dump._decided()[numbers], dump._narrowing())


def dump_of(part: DumpPart) -> Dump:
    """Return the files that `part_of` took, in that order."""
    files = part.files()
    return Dump(files, files.all(), part.narrowing)


def header_scan(dump: Dump, kinds: Set[str]) -> tuple[TableScan, int]:
    """Return a scan of the headers of all files of some kinds, and how many files there are.

    The files are those after all selections; of each, all tensors are read.
    """
    index = dump._files.index
    positions = np.frombuffer(index.of_kinds(dump._decided().data, kinds), np.uint32)
    files = (index, positions)
    scan = TableScan(dump._files.paths, Selection(), files=files, level="header")
    return scan, len(positions)


def shown_root(dump: Dump) -> str:
    """Return the directory that paths in tables of a dump are relative to, as it was given."""
    paths = [os.fsdecode(path) for path in dump._files.paths]
    if len(paths) > 1:
        return ""  # paths begin with one of them
    return paths[0] if is_directory(paths[0]) else os.path.dirname(paths[0])  # noqa: PTH120


def scan_of(dump: Dump, selection: Selection, **options: Any) -> TableScan:
    """Return a scan of the tensors that a further selection selects; options as in `TableScan`."""
    dump._files.files.check()
    selected = dump._after(selection) if selection else dump
    return _scan(selected, selected._positions, **options)


def _scan(dump: Dump, positions: Positions, **options: Any) -> TableScan:
    """Return a scan of the selected tensors in some of the files."""
    native, others = Selection(), []
    for step in dump._narrowing():
        # One native selection does the work of several, unless two have the same condition.
        if isinstance(step, Selection) and not native.conditions().keys() & step.conditions():
            native = native.narrowed(**{name: getattr(step, name) for name in step.conditions()})
        else:
            others.append(step)
    files = (dump._files.index, positions)
    return TableScan(dump._files.paths, native, files=files, also=others, **options)


def empty_error(dump: Dump, selection: Selection = _ALL) -> NoDumpError:
    """Return the error for a selection without a tensor; it says what is there instead."""
    return no_dump_error(dump._files.name, dump.skipped, why_empty(dump, selection))


def why_empty(dump: Dump, selection: Selection = _ALL) -> str:
    """Return which condition no tensor of a dump meets, and what is there instead."""
    whole = Dump(dump._files, dump._files.all())
    steps = (*dump._steps, *([selection] if selection else []))
    for step in steps:
        smaller = whole._after(step)
        if isinstance(step, Selection) and not len(smaller):
            return absence(dump._files, whole._decided(), step)
        whole = smaller
    return "no tensor is left after all selections" if steps else ""
