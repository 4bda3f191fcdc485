"""`StatsTable`: statistics with one row for each tensor."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np

from fastdump._arguments import PathLike
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._table.arrow_column import (
    coded_column,
    codes_of,
    count_by,
    integer_array,
    is_in,
    is_null,
    n_distinct,
)
from fastdump._table.buffers import column_with_nulls
from fastdump._table.column_table import ColumnTable
from fastdump._table.directories import directories_of, in_directories, seen_from
from fastdump._table.execution_order import by_execution
from fastdump._table.file_states import FileStates
from fastdump._table.provenance import Provenance
from fastdump._table.row import StatsRow, row_of_table
from fastdump._table.schema import COLUMN, KIND, LEVELS
from fastdump._table.selected import absence_text, selected_rows
from fastdump._table.severity import BadValues, headroom_of, worst_first
from fastdump._table.spread import dynamic_ranges, standard_deviations
from fastdump._table.unsettled import Unsettled
from fastdump._words.quantities import counted, size_text, skipped_text

if TYPE_CHECKING:
    from arro3.core import Array, RecordBatch, Table
    from arro3.core.types import ArrowArrayExportable, ArrowStreamExportable
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack

    from fastdump._words.text_table import Cell, TextTable


class Summary(TypedDict):
    """What `StatsTable.summary` returns."""

    rows: int
    files: int
    bytes: int
    ranks: list[int]
    steps: list[int]
    ops: int
    status: dict[str, int]
    bad: int


class StatsTable(ColumnTable[StatsRow]):
    """Statistics of tensors, one row a tensor. Immutable.

    `stats` and `read_stats` return it. Rows are in the order of execution. `StatsRow` lists the
    columns; a table of level "full" has five more than the others: ``zero``, ``subnormal``,
    ``saturated``, ``min_abs`` and ``first_bad``. `StatsRow.tensor` returns the tensor of a row.

    A table supports the Arrow C stream protocol, so pandas, polars, DuckDB and pyarrow accept it:
    ``pyarrow.table(t)``, ``polars.DataFrame(t)``, ``duckdb.sql("from t")``.

    Parameters
    ----------
    data
        Any table of pyarrow, polars, pandas, DuckDB or arro3 with columns named and typed as in
        `StatsRow`. ``status``, ``path`` and ``source`` must be there and without nulls; other
        missing columns become null, and ``layer`` is read from the names of operators.
    level
        The level that was computed. Default: from the metadata of `data`, else the lowest level
        that has all columns of `data`.
    skipped
        Number of files that were not read, by reason. Default: from the metadata of `data`.
    root
        The directory, at present, that paths in the table are relative to. Default: from the
        metadata of `data`.

    Raises
    ------
    ValueError
        If `data` has a column that the schema does not have, or one of another type.
    TypeError
        If `data` is not an Arrow table.

    Examples
    --------
    >>> t = fastdump.read_stats("run1.parquet")  # doctest: +SKIP
    >>> t[t.bad]["op_name"]  # doctest: +SKIP
    >>> t.filter(op_type="MatMul*", step="0-1").worst(5)  # doctest: +SKIP
    >>> t.worst()[0].tensor()[:8]  # doctest: +SKIP
    """

    __slots__ = ("_bad", "_provenance", "_states")

    _kind: ClassVar = KIND
    _bad: BadValues
    _provenance: Provenance | None
    _states: FileStates

    def __init__(
        self,
        data: ArrowArrayExportable | ArrowStreamExportable,
        *,
        level: str | None = None,
        skipped: Mapping[str, int] | None = None,
        root: PathLike | None = None,
    ) -> None:
        self._states = FileStates()
        self._provenance = None
        self._fill(data, level=level, skipped=skipped, **place(root))

    @classmethod
    def scanned(
        cls,
        data: ArrowArrayExportable,
        *,
        states: FileStates,
        level: str,
        skipped: Mapping[str, int],
        roots: list[str],
        root: str | None,
        notes: list[str],
        provenance: Provenance | None = None,
    ) -> StatsTable:
        """Return the table of a scan, or of several.

        Parameters
        ----------
        data
            The rows.
        states
            The states of the files.
        level, skipped, roots, root, notes
            Values of the table's properties of these names.
        provenance
            What it was made of, if rows of it may be taken over later.
        """
        table = cls.__new__(cls)
        table._states = states
        table._provenance = provenance
        table._fill(data, level=level, skipped=skipped, roots=roots, root=root, notes=notes)
        return table

    def _with_rows(self, batch: RecordBatch) -> Self:
        table = super()._with_rows(batch)
        table._states = self.file_states
        # A table that is unpickled has no rows before.
        is_whole = batch is getattr(self, "_batch", None)
        table._provenance = self.provenance if is_whole else None
        return table

    def _saved(self) -> Table:
        return self.arrow if self.provenance is None else self.provenance.added_to(self.arrow)

    def _add_beside(self, table: Table) -> None:
        self._provenance = Provenance.of_file(table)

    def _row_maker(self) -> Callable[..., StatsRow]:
        return functools.partial(row_of_table, self.root, self.file_states)

    def _is_in_csv(self, name: str) -> bool:
        if LEVELS.index(COLUMN[name].level) <= LEVELS.index(self.level):
            return True
        # Statistics of the vendor's software may have values that this level does not compute.
        return bool(self._batch.column(name).null_count < len(self))

    @property
    def level(self) -> str:
        """What was computed: "header" (nothing), "health", "basic" or "full"."""
        return str(self._head["level"])

    @property
    def skipped(self) -> dict[str, int]:
        """Number of files that were not read because they are no dumps, by reason."""
        return dict(self._head["skipped"])

    @property
    def roots(self) -> list[str]:
        """Absolute paths of what was scanned; empty if that is not known."""
        return list(self._head["roots"])

    @property
    def root(self) -> str | None:
        """Absolute directory that the paths of rows are relative to; None if it is not known."""
        root: str | None = self._head["root"]
        return root

    @property
    def notes(self) -> list[str]:
        """What else to know of the table: that ranks cannot be told apart, for example."""
        return list(self._head["notes"])

    @property
    def file_states(self) -> FileStates:
        """The states of the files when the table was made, if that was in this process."""
        # A table that was read from a file has none.
        return getattr(self, "_states", FileStates())

    @property
    def provenance(self) -> Provenance | None:
        """What the table was made of, if that is known and it has all rows still."""
        return getattr(self, "_provenance", None)

    def with_provenance(self, provenance: Provenance | None) -> StatsTable:
        """Return the same table, made of something else."""
        table = self._changed(self._batch)
        table._provenance = provenance
        return table

    def with_states(self, states: FileStates) -> StatsTable:
        """Return the same table, of files that are in these states now."""
        return self._changed(self._batch, states=states)

    def saying(self, **said: Any) -> StatsTable:
        """Return the same rows, beside which something else is said: `skipped`, `notes`."""
        return self._changed(self._batch, **said)

    def moved_to(self, root: PathLike | None) -> StatsTable:
        """Return the table of a dump that is in another directory now; None if it did not move."""
        table = self[:]
        table._head = {**self._head, **place(root)}
        if root is not None:
            table._states = FileStates()  # copies have other states
            table._provenance = None
        return table

    def seen_from(self, base: str) -> StatsTable:
        """Return the table with paths relative to a directory above all files.

        Raises
        ------
        ValueError
            If a file is not below `base`, an absolute path, or the table does not tell its root.
        """
        if self.root is None:
            raise ValueError("the table does not tell where its dump is: read it with root=")
        if self.root == base:
            return self
        rename = functools.partial(in_directories, changed=seen_from(base, self.root))
        table = self._changed(
            _with_column(self._batch, "path", rename(self._batch.column("path"))),
            states=self.file_states.renamed(rename),
            root=base,
        )
        table._provenance = self.provenance
        return table

    def with_rank(self, rank: int) -> StatsTable:
        """Return the table with a rank in all rows that have none; a note counts the others."""
        table = self.filled("rank", rank)
        n_others = int(np.count_nonzero(integer_array(table.batch.column("rank")) != rank))
        if not n_others:
            return table
        kept = f"as_rank is {rank}, but the paths of {counted(n_others, 'row')} tell other ranks"
        return table[by_execution(table.batch, self.root)].with_notes([kept])

    def with_notes(self, notes: list[str]) -> StatsTable:
        """Return the table with some notes more."""
        return self._changed(self._batch, notes=[*self.notes, *notes]) if notes else self

    def with_unsettled(self, settle_s: float) -> StatsTable:
        """Return the table with notes at damaged files that are perhaps still being written."""
        found = Unsettled(self._batch, self.root, settle_s)
        if not found.n_files:
            return self
        table = self._changed(found.noted())
        if self.provenance is not None:
            states = found.asked_again(self.provenance.states_of_rows())
            table = table.with_provenance(self.provenance.of_states(states))
        return table.with_notes([found.note(settle_s)])

    def filled(self, name: str, value: int | str) -> StatsTable:
        """Return the table with a value in all rows where a column of integers or text is null."""
        column = self._batch.column(name)
        unknown = is_null(column)
        if not unknown.any():
            return self
        if isinstance(value, int):
            values = np.where(unknown, value, integer_array(column))
            column = column_with_nulls(values, np.ones_like(unknown))
        else:
            codes, texts = codes_of(column)
            column = coded_column(np.where(unknown, len(texts), codes), [*texts, value], "text")
        return self._changed(_with_column(self._batch, name, column))

    def _changed(
        self, batch: RecordBatch, *, states: FileStates | None = None, **said: Any
    ) -> StatsTable:
        """Return a table of other rows, of which the same is said but for `said`."""
        table = self._with_rows(batch)
        table._head = {**self._head, **said}
        table._remark = self._remark
        if states is not None:
            table._states = states
        return table

    def tops(self) -> list[str]:
        """Return absolute directories that all files are below; [] if they are not known."""
        if self.root is None:
            return []
        above = os.path.join(self.root, "")  # noqa: PTH118
        if len(self.roots) < 2 or all(os.path.join(r, "").startswith(above) for r in self.roots):  # noqa: PTH118
            return [self.root]
        _, directories = directories_of(self._batch.column("path"))
        joined = (os.path.join(self.root, directory) for directory in directories)  # noqa: PTH118
        return sorted(map(os.path.normpath, joined))

    @property
    def bad(self) -> NDArray[np.bool_]:
        """Which rows have a NaN, an Inf or a tensor that is not complete, shape (rows,).

        A tensor is not complete if its status is neither "ok" nor "unsupported". Counts tell of NaN
        and Inf; if the vendor's statistics have no counts, a moment that is NaN or infinite does.
        """
        return self.bad_values.any

    @property
    def headroom(self) -> NDArray[np.float64]:
        """How many times larger values may become before they overflow, shape (rows,).

        The largest finite value of the type, divided by the largest magnitude of a finite element;
        infinite if all are zero, NaN if a row has no such element, or is not of a floating type.
        """
        return headroom_of(self._batch)

    @property
    def std(self) -> NDArray[np.float64]:
        """Standard deviation of the finite elements, shape (rows,).

        NaN if it is not known; `StatsRow.std` says how accurate it is.
        """
        return standard_deviations(self._batch)

    @property
    def dynamic_range(self) -> NDArray[np.float64]:
        """log2 of the largest magnitude divided by the smallest that is not 0, shape (rows,).

        NaN if a row has no such elements, and in tables below level "full".
        """
        return dynamic_ranges(self._batch)

    @property
    def bad_values(self) -> BadValues:
        """What `bad` is made of: computed once for all who ask."""
        # A slot that was not set yet.
        if not hasattr(self, "_bad"):
            self._bad = BadValues.of(self._batch)
        return self._bad

    @takes_conditions
    def filter(self, *, bad: bool | None = None, **conditions: Unpack[Conditions]) -> StatsTable:
        """Return the rows that meet all conditions, in the same order.

        Parameters
        ----------
        bad
            True for the rows of `StatsTable.bad`, False for the others.
        **conditions
            Which tensors; `Selection` says what each condition means.

        Returns
        -------
        StatsTable
            A table with the `skipped`, `level` and `root` of this one. If it has no row, `remark`
            says which condition no row meets, and what exists.

        Raises
        ------
        TypeError, ValueError
            If a condition has a value that it cannot have.
        """
        selected = self.selected(Selection.of(conditions))
        return selected if bad is None or not len(selected) else selected[selected.bad == bad]

    def selected(self, selection: Selection) -> StatsTable:
        """Return what `filter` does, for conditions that were checked."""
        if not selection:
            return self
        keep = selected_rows(selection, self._batch)
        table = self[keep]
        if not keep.any():
            table._remark = absence_text(selection, self._batch)
        return table

    def worst(self, n: int | None = None) -> StatsTable:
        """Return the rows sorted by how urgently they need a look.

        Rows with NaN or +Inf come first, then rows whose tensor is not complete (truncated, absent,
        size_mismatch, malformed, unreadable), then rows whose only bad value is -Inf (attention
        masks); within each group the earliest comes first. Then floating-point tensors follow by
        largest magnitude relative to the largest finite value of their type, descending, then the
        others (integers cannot overflow to Inf), and unsupported types last. Ties keep their order.

        Parameters
        ----------
        n
            How many rows to return; default all.

        Raises
        ------
        ValueError
            If `n` is negative.
        """
        if n is not None and n < 0:
            raise ValueError(f"n is {n}, expected 0 or more")
        return self._take(worst_first(self._batch, self.bad_values)[:n])

    def summary(self) -> Summary:
        """Return the table in a few numbers.

        Returns
        -------
        dict
            ``rows``; ``files`` (distinct paths); ``bytes`` (declared size of all tensors, of rows
            with source "tensor"); ``ranks`` and ``steps`` (sorted lists of the distinct numbers);
            ``ops`` (distinct pairs of op_type and op_name); ``status`` (number of rows by status);
            ``bad`` (number of bad rows).
        """
        column = self._batch.column
        nbytes = integer_array(column("nbytes"))[is_in(column("source"), ("tensor",))]
        return {
            "rows": len(self),
            "files": n_distinct(column("path")),
            "bytes": _exact_sum(nbytes),
            "ranks": _distinct(column("rank")),
            "steps": _distinct(column("step")),
            "ops": _n_pairs(column("op_type"), column("op_name")),
            "status": count_by(column("status")),
            "bad": int(self.bad.sum()),
        }

    def to_html(self) -> str:
        """Return the table as a page of HTML, one file that needs no network.

        It has the health of all ranks, steps and layers, how large values are, and the worst rows.
        `fastdump.report` adds what a triage finds.

        Raises
        ------
        MissingDependencyError
            If Bokeh is not installed: ``pip install 'fastdump[report]'``.
        """
        from fastdump._table.page import table_page

        return table_page(self)

    def plot(
        self,
        statistic: str = "l2norm",
        *,
        over: str = "layer",
        by: str = "rank",
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a statistic over layers, steps, ranks or types of operators.

        The tensors of one group are taken together: ``max`` is their largest value, ``min`` their
        least, ``mean`` and ``l2norm`` those of all their elements, "headroom" the least, and counts
        are added. Statistics that are not of finite numbers are left out.

        Parameters
        ----------
        statistic
            "max", "min", "mean", "l2norm", "headroom", or the name of a column of counts: "nan",
            "pos_inf", "neg_inf", "zero", "subnormal", "saturated", "count", "nbytes".
        over
            What the x axis counts: "layer", "step", "rank" or "op_type". More than 128 values of it
            are joined into ranges.
        by
            What has a curve of its own: "rank", "step", "layer" or "op_type"; of more than 8 groups
            the largest, the median and the least value are drawn.
        ax
            The axes of matplotlib to draw on. Default: those of a new figure.

        Raises
        ------
        ValueError
            If there is no such statistic, or no such column to group by.
        MissingDependencyError
            If matplotlib is not installed: ``pip install 'fastdump[plot]'``.

        Examples
        --------
        >>> ax = table.filter(io="output").plot("l2norm", over="step")  # doctest: +SKIP
        """
        from fastdump._figures.on_axes import drawn
        from fastdump._table.overview import statistic_curves

        return drawn(statistic_curves(self, statistic, over, by), ax)

    def findings(self) -> list[Cell]:
        """Return what is wrong with the table, and how much of it: a styled text for each kind."""
        from fastdump._table.table_text import findings_of

        return findings_of(self._batch, self.bad_values, self.skipped)

    def _laid_out(self, n_worst: int | None, width: int | None) -> TextTable:
        from fastdump._table.row_text import row_table

        return row_table(self if n_worst is None else self.worst(n_worst), width=width)

    def _facts(self) -> list[str]:
        summary = self.summary()
        facts = [
            f"StatsTable: {counted(summary['rows'], 'row')} ({summary['bad']:,} bad), "
            f"{counted(summary['files'], 'file')}, {size_text(summary['bytes'])}, "
            f"level {self.level}"
        ]
        if set(summary["status"]) - {"ok"}:
            by_status = summary["status"].items()
            facts.append(f"status: {', '.join(f'{n:,} {status}' for status, n in by_status)}")
        if self.skipped:
            facts.append(f"skipped: {skipped_text(self.skipped)}")
        facts += [f"note: {note}" for note in self.notes]
        return [*facts, *([self.remark] if self.remark else [])]


def place(root: PathLike | None) -> dict[str, Any]:
    """Return the part of a table's head for a dump at `root`; empty for None."""
    if root is None:
        return {}
    path = os.path.abspath(os.fsdecode(root))  # noqa: PTH100 (links stay as they were given)
    return {"roots": [path], "root": path}


def _with_column(batch: RecordBatch, name: str, column: Array) -> RecordBatch:
    i = batch.column_names.index(name)
    return batch.set_column(i, batch.schema.field(i), column)


def _distinct(column: Array) -> list[int]:
    numbers: list[int] = np.unique(integer_array(column)[~is_null(column)]).tolist()
    return numbers


def _n_pairs(first: Array, second: Array) -> int:
    """Return how many distinct pairs two columns of text have, except null with null."""
    (a, _), (b, names) = codes_of(first), codes_of(second)
    known = (a >= 0) | (b >= 0)
    return len(np.unique((a * (len(names) + 1) + b)[known]))


def _exact_sum(integers: NDArray[np.int64]) -> int:
    # Sizes come from headers, and hostile ones would overflow the sum of an int64.
    high = int((integers >> 32).sum())
    low = int((integers & 0xFFFFFFFF).sum())
    return (high << 32) + low
