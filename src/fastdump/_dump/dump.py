"""`Dump`: a sequence of operators, found by walking names; and `open`, which returns it."""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, cast, overload

import numpy as np

from fastdump import _core
from fastdump._arguments import Engine, Level, PathLike, check_level
from fastdump._dump.absence import no_dump_error
from fastdump._dump.chosen import Chosen, Step
from fastdump._dump.indexed_files import IndexedFiles
from fastdump._dump.named import (
    matching,
    name_and_tensor,
    no_match_text,
    operator_among,
    positions_of,
)
from fastdump._dump.operator import Operator
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._table.named_tensors import NamedTensors
from fastdump._table.row import StatsRow
from fastdump._table.stats_table import StatsTable
from fastdump._table.table_files import table_or_paths
from fastdump._tensor.tensor import Tensor
from fastdump._words.printable import printable
from fastdump._words.quantities import counted, numbered
from fastdump.errors import NoTensorError, OperatorNotFoundError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack


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
        if safe and not what._chosen.files.files.safe:
            raise ValueError("the dump is open already: open it with safe=True")
        return what
    found = table_or_paths(what)
    paths = found.roots if isinstance(found, StatsTable) else found
    if not paths:
        raise ValueError("the table does not tell where its dump is: read it with root=")
    files = IndexedFiles(paths, follow_links=follow_links, safe=safe)
    if len(files.index) == 0:
        raise no_dump_error(files.name, files.skipped)
    every = Chosen.all_of(files)
    if not isinstance(found, StatsTable):
        return Dump(every)
    # Paths below several roots begin with the roots, which are absolute here and may not be there.
    if len(found.roots) > 1:
        return Dump(every.after(NamedTensors.of(found.batch, found.root or "")))
    return Dump(every.after(NamedTensors.of(found.seen_from(files.root).batch)))


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

    __slots__ = ("_chosen",)

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen

    @property
    def _files(self) -> IndexedFiles:
        return self._chosen.files

    def __len__(self) -> int:
        return len(self._chosen.positions())

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
        positions = self._chosen.positions()
        if isinstance(key, str):
            found = matching(self._chosen, key).positions()
            if not len(found):
                raise OperatorNotFoundError(no_match_text(self._chosen, key, self))
            return operator_among(key, self._files, found)
        if isinstance(key, slice):
            return Dump(self._chosen.after((key.start, key.stop, key.step)))
        if isinstance(key, (Sequence, np.ndarray)):
            return Dump(self._chosen.numbered(_numbers(np.asarray(key), len(positions))))
        number = operator.index(key)
        if not -len(positions) <= number < len(positions):
            raise IndexError(f"there is no operator {number}: the dump has {len(positions)}")
        return self._files.operator(int(positions[number]))

    def __iter__(self) -> Iterator[Operator]:
        self._files.files.check()
        for position in self._chosen.positions().tolist():
            self._files.files.check()
            yield self._files.operator(position)

    def __contains__(self, value: object) -> bool:
        """Tell whether `value` is one of the operators, or the name of at least one."""
        if isinstance(value, str):
            self._files.files.check()
            return len(positions_of(value, self._files, self._chosen.positions())) != 0
        return isinstance(value, Operator) and any(found == value for found in self)

    def __repr__(self) -> str:
        name = self._files.name
        if self.closed:
            return f"Dump({name}, closed)"
        if (n := self._chosen.n_at_most) is not None:
            return f"Dump({name}, up to {counted(n, 'file')}: headers unread)"
        summary = self.summary()
        facts = [counted(summary["files"], "file"), counted(summary["operators"], "operator")]
        for what, numbers in (("rank", summary["ranks"]), ("step", summary["steps"])):
            facts += [numbered(what, numbers)] if numbers else []
        facts += [] if len(self) else [self._chosen.why_none()]
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
        return Dump(self._chosen.after(selection)) if selection else self

    def tensors(self) -> Iterator[Tensor]:
        """Yield the tensors, file by file, appended dumps included; after `select`, the selected.

        Raises
        ------
        DumpFormatError, OSError, ClosedDumpError
            As `Operator.header` does.
        """
        for found in self:
            yield from self._chosen.tensors(found)

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
        scan = self._chosen.scan(
            level=level,
            logical=logical,
            threads=threads,
            io_depth=io_depth,
            engine=engine,
        )
        scan.run(progress)
        table = scan.table()
        if len(table) == 0:
            raise self._chosen.no_tensor_error()
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
        positions = self._chosen.positions()
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
        return Dump(self._chosen)

    def __reduce__(self) -> tuple[object, ...]:
        given = [os.fsdecode(path) for path in self._files.paths]
        files = self._files
        steps = self._chosen.steps
        return _reopened, (self.roots, given, files.follow_links, files.files.safe, steps)


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
    steps: tuple[Step, ...],
) -> Dump:
    # Tables show paths below several roots as the roots were given, which may lead nowhere here.
    is_same = [os.path.abspath(path) for path in given] == roots  # noqa: PTH100
    files = IndexedFiles(given if is_same else roots, follow_links=follow_links, safe=safe)
    reopened = Chosen.all_of(files)
    for step in steps:
        reopened = reopened.after(step)
    return Dump(reopened)


def chosen(dump: Dump) -> Chosen:
    """Return the files of a dump, for the rooms that ask about them; users do not need it."""
    return dump._chosen
