"""A dump as a sequence of its operators, found by walking names."""

from __future__ import annotations

import difflib
import operator
import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias, TypedDict, cast, overload

import numpy as np
from numpy.typing import NDArray

from fastdump import _core
from fastdump._file_name import in_file_name
from fastdump._opened_files import OpenedFiles
from fastdump._operator import Operator, Record
from fastdump._progress import INTERVAL_S
from fastdump._quantities import counted, ranges_text
from fastdump._row_path import unescaped
from fastdump._stats import (
    PathLike,
    integers_of,
    io_of,
    n_threads,
    no_dump_error,
    path_bytes,
    paths_of,
    table_of,
    texts_of,
)
from fastdump.errors import DumpFormatError, OperatorNotFoundError

_Positions: TypeAlias = "NDArray[np.uint32]"

_WHERE = ("rank", "time", "device", "model", "model_id", "step")

_N_NEAR = 3
_MAX_NAMES_COMPARED = 5_000
"""Comparing a misspelt name with another takes some ten microseconds."""


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


class _Tensors(NamedTuple):
    """A condition that only headers can decide; an empty list restricts nothing."""

    io: list[str]
    dtype: list[str]


class _Opened:
    """What the selections of one dump share."""

    __slots__ = ("_operators", "files", "index", "name", "skipped")

    def __init__(self, name: str, index: _core.Index) -> None:
        self.name = name
        self.index = index
        self.skipped = index.skipped()
        self.files = OpenedFiles(name)
        # While somebody has an operator, he gets the same one again, with its header.
        self._operators: weakref.WeakValueDictionary[int, Operator] = weakref.WeakValueDictionary()

    def operator(self, position: int) -> Operator:
        found = self._operators.get(position)
        if found is None:
            found = Operator(Record(*self.index.record(position)), self.files)
            self._operators[position] = found
        return found


def open(path: PathLike | Iterable[PathLike], *, follow_links: bool = False) -> Dump:
    """Open a dump: find its operators by walking names.

    No file is opened but ``mapping.csv``, which tells names that were too long for a file. Headers
    are read when they are asked for, one operator at a time.

    Parameters
    ----------
    path
        A directory of any depth, a dump file, or several of them.
    follow_links
        Whether to follow symbolic links below `path`. Those that are not followed are counted as
        skipped.

    Returns
    -------
    Dump
        All files with the name of a dump, of statistics (``.csv``) or of an array converted from a
        dump (``.npy``), in the order of execution. A `path` that is a file is always among them,
        whatever it is called. How many others there are is in `Dump.skipped`.

    Raises
    ------
    NoDumpError
        If there is no such file.
    OSError
        If `path` does not exist or is not readable.

    Examples
    --------
    >>> dump = fastdump.open("dump_dir")  # doctest: +SKIP
    >>> for op in dump.select(op_type="MatMul*", step=3):  # doctest: +SKIP
    ...     print(op.op_name, [t.shape for t in op.outputs])
    """
    paths = paths_of(path)  # once: it may be an iterator
    index = _core.Index([path_bytes(item) for item in paths], follow_links=follow_links)
    opened = _Opened(", ".join(repr(os.fspath(item)) for item in paths), index)
    if len(index) == 0:
        raise no_dump_error(paths, opened.skipped, selected=False)
    return Dump(opened, np.arange(len(index), dtype=np.uint32))


class Dump(Sequence[Operator]):
    """The operators of a dump, or a selection of them, in the order of execution.

    Made by `open`. A sequence: ``len(dump)``, ``dump[3]``, ``dump[-1]``, iteration. Slices and
    `select` give a `Dump` of fewer operators, which shares the files with this one: closing any of
    them closes all.

    What a dump holds is decided by names when it is opened. A file that vanishes later gives
    FileNotFoundError when its header is asked for.

    The order is rank, time, device, model, step, then timestamp, stream, task, unknown ones last.
    """

    __slots__ = ("_conditions", "_opened", "_positions")

    def __init__(
        self, opened: _Opened, positions: _Positions, conditions: Iterable[_Tensors] = ()
    ) -> None:
        self._opened = opened
        self._positions = positions
        self._conditions = tuple(conditions)  # those that headers have yet to decide

    def __len__(self) -> int:
        return len(self._decided())

    @overload
    def __getitem__(self, key: int | np.integer[Any] | str) -> Operator: ...
    @overload
    def __getitem__(self, key: slice) -> Dump: ...
    def __getitem__(self, key: int | np.integer[Any] | str | slice) -> Operator | Dump:
        """Return an operator by number or by name, or a range of operators.

        Parameters
        ----------
        key
            A number; a slice; or an operator's name, the real one (``"layers.3/Add"``) or as file
            names have it (``"layers_3_Add"``). Headers are read only to tell real names apart
            that are one in file names, and those of files without a name if no other file has it.

        Raises
        ------
        IndexError
            If there is no such number.
        OperatorNotFoundError
            If there is no such name, or operators of several ranks, steps, ... have it.
        ClosedDumpError
            If the dump was closed.
        """
        self._opened.files.check()
        if isinstance(key, str):
            return self._named(key)
        positions = self._decided()
        if isinstance(key, slice):
            return Dump(self._opened, np.ascontiguousarray(positions[key]))
        number = operator.index(key)
        if not -len(positions) <= number < len(positions):
            raise IndexError(f"there is no operator {number}: the dump has {len(positions)}")
        return self._opened.operator(int(positions[number]))

    def __iter__(self) -> Iterator[Operator]:
        self._opened.files.check()
        for position in self._decided().tolist():
            self._opened.files.check()
            yield self._opened.operator(position)

    def __contains__(self, value: object) -> bool:
        """Tell whether `value` is one of the operators, or the name of one or several."""
        if isinstance(value, str):
            self._opened.files.check()
            return len(self._find(value)) != 0
        return isinstance(value, Operator) and any(found == value for found in self)

    def __repr__(self) -> str:
        name = self._opened.name
        if self._opened.files.closed:
            return f"Dump({name}, closed)"
        if self._conditions:
            return f"Dump({name}, up to {counted(len(self._positions), 'file')}: headers unread)"
        summary = self.summary()
        facts = [counted(summary["files"], "file"), counted(summary["operators"], "operator")]
        for what, numbers in (("rank", summary["ranks"]), ("step", summary["steps"])):
            if numbers:
                facts.append(f"{what}{'s'[: len(numbers) > 1]} {ranges_text(numbers)}")
        return f"Dump({name}, {', '.join(facts)})"

    @property
    def skipped(self) -> dict[str, int]:
        """How many files below the path are not in the dump, by reason."""
        return dict(self._opened.skipped)

    @property
    def closed(self) -> bool:
        """Whether the dump was closed."""
        return self._opened.files.closed

    def select(
        self,
        *,
        rank: int | Iterable[int] | None = None,
        time: str | Iterable[str] | None = None,
        device: int | Iterable[int] | None = None,
        model: str | Iterable[str] | None = None,
        model_id: int | Iterable[int] | None = None,
        step: int | Iterable[int] | None = None,
        op_type: str | Iterable[str] | None = None,
        op_name: str | Iterable[str] | None = None,
        io: str | Iterable[str] | None = None,
        dtype: str | Iterable[str] | None = None,
    ) -> Dump:
        """Return the operators that meet all conditions, in the same order.

        Names decide, and no file is opened, except for `io` and `dtype`: those are decided by
        reading the headers of all files that meet the other conditions, in parallel, when the
        selection is first used.

        Parameters
        ----------
        rank, device, model_id, step
            One number or several; what tells none is left out.
        time, model, op_type, op_name
            One shell pattern or several (``*``, ``?``, ``[abc]``) of which any may match, with
            case. File names have ``_`` in the place of blanks, dots, slashes and backslashes: a
            pattern for `op_name` that has these also finds operators whose names have ``_`` there.
            What tells none is empty text, which ``*`` matches.
        io
            Some of "input", "output", "buffer", "space": operators with such a tensor.
        dtype
            Patterns for the element type: operators with such a tensor, among those of `io` if
            that is given too.

        Returns
        -------
        Dump

        Raises
        ------
        ValueError, TypeError
            If an argument has a value that it cannot have.
        ClosedDumpError
            If the dump was closed.
        """
        self._opened.files.check()
        selected = self._opened.index.select(
            self._positions.data,
            rank=integers_of("rank", rank),
            device=integers_of("device", device),
            model_id=integers_of("model_id", model_id),
            step=integers_of("step", step),
            time=texts_of("time", time),
            model=texts_of("model", model),
            op_type=texts_of("op_type", op_type),
            op_name=texts_of("op_name", op_name),
        )
        tensors = _Tensors(io_of("io", io), texts_of("dtype", dtype))
        conditions = [*self._conditions, tensors] if any(tensors) else self._conditions
        return Dump(self._opened, np.frombuffer(selected, np.uint32), conditions)

    def summary(self) -> DumpSummary:
        """Return what names tell of the dump in a few numbers.

        Returns
        -------
        dict
            ``files``; ``operators`` (distinct pairs of op_type and op_name); ``ranks``,
            ``times``, ``devices``, ``models`` and ``steps`` (sorted lists of the distinct ones);
            ``op_types`` and ``kinds`` (number of files of each); ``first_timestamp`` and
            ``last_timestamp`` (as written, None if there is none; only those in microseconds count
            if there are any).

        Raises
        ------
        ClosedDumpError
            If the dump was closed.
        """
        self._opened.files.check()
        positions = self._decided()
        found = self._opened.index.summary(positions.data)
        return cast("DumpSummary", {"files": len(positions), **found})

    def close(self) -> None:
        """Close the dump and all selections of it.

        Operators keep what names told; their headers and tensors raise ClosedDumpError from now
        on. Arrays that were made of tensors stay valid.
        """
        self._opened.files.close()

    def __enter__(self) -> Dump:
        self._opened.files.check()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _decided(self) -> _Positions:
        """Return the positions after all conditions."""
        if self._conditions:
            self._opened.files.check()
            for condition in self._conditions:
                self._positions = self._with_tensors(self._positions, condition)
            self._conditions = ()
        return self._positions

    def _with_tensors(self, positions: _Positions, condition: _Tensors) -> _Positions:
        """Return the positions of files with such a tensor, by reading their headers."""
        index = self._opened.index
        scan = _core.Scan(
            index,
            positions.data,
            level="header",
            threads=n_threads(None),
            io="auto",
            tensor=condition.io,
        )
        scan.run(None, INTERVAL_S)
        # Once more the condition on io: a file that gives no tensor is a row all the same.
        table = table_of(scan, "header").filter(
            tensor=condition.io or None, dtype=condition.dtype or None
        )
        paths = set(table["path"])
        holds = [index.shown_path(position) in paths for position in positions.tolist()]
        return positions[np.array(holds, np.bool_)]

    def _named(self, name: str) -> Operator:
        positions = self._find(name)
        if len(positions) == 0:
            raise OperatorNotFoundError(self._not_found(name))
        operators = [self._opened.operator(position) for position in positions.tolist()]
        if len({tuple(getattr(found, what) for what in _WHERE) for found in operators}) > 1:
            raise OperatorNotFoundError(_ambiguous(name, operators))
        # Names that differ only in what file names replace.
        if len(operators) > 1 and in_file_name(name) != name:
            operators = [op for op in operators if _real_name(op) == name] or operators
        return operators[0]

    def _find(self, name: str) -> _Positions:
        """Return the positions of the operators of this name."""
        index, positions = self._opened.index, self._decided()
        if not name:
            return positions[:0]
        encoded = name.encode("utf-8", "surrogatepass")
        for spelling in (encoded, unescaped(encoded)):
            found = np.frombuffer(index.find(positions.data, spelling), np.uint32)
            if len(found):
                return found
        nameless = np.frombuffer(index.nameless(positions.data), np.uint32)
        names = [_real_name(self._opened.operator(position)) for position in nameless.tolist()]
        is_it = [name in (real, in_file_name(real)) for real in names]
        return nameless[np.array(is_it, np.bool_)]

    def _not_found(self, name: str) -> str:
        """Return what to say of a name that no operator has."""
        names = self._opened.index.op_names(self._decided().data)
        as_file = in_file_name(name)
        # A misspelt name is about as long as the right one.
        names.sort(key=lambda other: abs(len(other) - len(name)))
        near = [other for other in names if as_file.lower() in other.lower()][:_N_NEAR]
        near = near or difflib.get_close_matches(as_file, names[:_MAX_NAMES_COMPARED], _N_NEAR)
        hint = f"; near it are {', '.join(map(repr, near))}" if near else ""
        return f"no operator is called {name!r} in {self!r}{hint}"


def _real_name(found: Operator) -> str:
    """Return the name in the header, nothing if that cannot be read."""
    try:
        return str(found.header["op_name"])
    except (OSError, DumpFormatError):
        return ""


def _ambiguous(name: str, operators: Sequence[Operator]) -> str:
    """Return what to say of a name that operators in several places have."""
    first = operators[0]
    differing = [
        f"{what}={getattr(first, what)!r}"
        for what in _WHERE
        if len({getattr(found, what) for found in operators}) > 1
    ]
    return (
        f"{name!r} was dumped {len(operators):,} times, in different places: select one first, "
        f"as in dump.select({', '.join(differing)})[{name!r}]"
    )
