"""The table of a comparison, which is also the report of one."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastdump._arguments import is_directory
from fastdump._atomic import replacing
from fastdump._compare.answer import answer_of
from fastdump._compare.coded import coded_text
from fastdump._compare.error_growth import unit_roundoff
from fastdump._compare.errors_of_rows import row_errors
from fastdump._compare.limits import (
    NO_PARTNER,
    ComparisonSummary,
    Explained,
    RetypedOperators,
)
from fastdump._compare.operator_kinds import passes_values_on
from fastdump._compare.operators import DivergentOperator, added_errors, divergent_operators
from fastdump._compare.retyped import retyped_outputs
from fastdump._compare.schema import KIND, METRICS, ComparisonRow
from fastdump._compare.text import (
    DEFAULT_ROWS,
    facts,
    operator_table,
    page_table,
    pair_table,
    report_lines,
)
from fastdump._op_name.shortest_pattern import shortest_pattern
from fastdump._page.parts import Rows, Section, Verdict
from fastdump._report import Report
from fastdump._selection import Conditions, Selection, takes_conditions
from fastdump._table.arrow_column import codes_of, count_by, is_in, is_null, text_list
from fastdump._table.column_table import ColumnTable
from fastdump._table.selected import absence_text, matching_rows, selected_rows
from fastdump._words import page_catalogue as say
from fastdump._words.answer import Answer, command_text, show_command
from fastdump._words.printable import printable
from fastdump._words.text_table import Cell, TextTable

if TYPE_CHECKING:
    from arro3.core.types import ArrowArrayExportable, ArrowStreamExportable
    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from typing_extensions import Unpack

FAIL_METRICS = tuple(
    column
    for column in METRICS
    if not column.endswith(("_a", "_b", "_index", "bit_equal", "count", "first_mismatch"))
)
"""Metrics that a limit can be set for."""

_DAMAGED = ("truncated", "absent", "size_mismatch", "malformed", "unreadable", "changed")
_PAGE_ROWS = 500
_COLUMN_OF = {"dtype": "dtype_a"}


class ComparisonTable(ColumnTable[ComparisonRow], Report):
    """Two dumps compared, a row for each pair of tensors and for each that has no partner.

    `compare` returns it; it is immutable. Rows are in the order of execution of `a`; tensors that
    only `b` has come last. `ComparisonRow` lists the columns. Each row knows the way to its
    tensors: `ComparisonRow.tensor_a` and `ComparisonRow.tensor_b`.

    A table speaks the Arrow C stream protocol, so pandas, polars, DuckDB and pyarrow take it as it
    is. `write` stores it, also as ``.html``; `read_comparison` reads it back.

    Parameters
    ----------
    data
        Any table of pyarrow, polars, pandas, DuckDB or arro3 with columns named and typed as in
        `ComparisonRow`. ``status`` must be there and without nulls; other missing columns become
        null.

    Raises
    ------
    ValueError
        If `data` has a column that the schema does not have, or one of another type.
    TypeError
        If `data` is not an Arrow table.

    Examples
    --------
    >>> t = fastdump.compare("run1", "run2")  # doctest: +SKIP
    >>> print(t.sentence)  # doctest: +SKIP
    >>> t.filter(verdict="diverges").worst(5)  # doctest: +SKIP
    """

    question: ClassVar = "compare"

    _kind: ClassVar = KIND

    def __init__(self, data: ArrowArrayExportable | ArrowStreamExportable) -> None:
        self._fill(data)

    @classmethod
    def compared(cls, data: ArrowArrayExportable, head: Mapping[str, Any]) -> ComparisonTable:
        """Return the table of a comparison.

        Parameters
        ----------
        data
            Its rows.
        head
            What `about` returns.
        """
        table = cls.__new__(cls)
        table._fill(data, head)
        return table

    def _row_maker(self) -> Callable[..., ComparisonRow]:
        roots = (self._head.get("root_a"), self._head.get("root_b"))
        return functools.partial(ComparisonRow, _root_a=roots[0], _root_b=roots[1])

    @property
    def about(self) -> dict[str, Any]:
        """What was compared and how: names of both sides, tolerances, notes, roots."""
        return dict(self._head)

    @property
    def sentence(self) -> str:
        """The result in one sentence that a person can act on."""
        return self.answer().sentence

    def answer(self) -> Answer:
        """Return where the runs part and how far they are apart; or that they agree."""
        return answer_of(
            *self._first_and_all(), **self._limits(), next_command=self._next_command()
        )

    def _first_and_all(
        self,
    ) -> tuple[
        ComparisonSummary, tuple[DivergentOperator, ...], ComparisonRow | None, tuple[str, ...]
    ]:
        first = self.first_divergence
        row = None if first is None else self[first.row]
        return self.summary(), self.findings, row, self.notes

    def _limits(self) -> dict[str, Any]:
        return {
            "explained": self._most_explained(),
            "retyped": self._retyped_operators(),
            "casts": self[self.unpaired_casts].summary()["status"],
        }

    def _next_command(self) -> str:
        """Return the command that shows in `a` where the runs part, "" if none does."""
        first, path = self.first_divergence, str(self._head.get("a", ""))
        if first is None or first.op_name is None or self._head.get("compared") != "elements":
            return ""
        try:
            if not is_directory(path):
                return ""
        except OSError:
            pass  # the command will say what is the matter with it
        _, names = codes_of(self._batch.column("op_name"))
        pattern = shortest_pattern(first.op_name, names)
        return show_command([path], pattern, rank=first.rank, step=first.step)

    def _retyped_operators(self) -> RetypedOperators | None:
        """Return those that compute in another type in the other run, None if there are none."""
        rows = retyped_outputs(self._batch)
        if not rows:
            return None
        columns = (self._batch.column(name) for name in ("op_type", "op_name"))
        op_types, op_names = (column.take(np.array(rows)) for column in columns)
        names = set(zip(text_list(op_types), text_list(op_names), strict=True))
        return RetypedOperators(self[rows[0]], len(names))

    def _most_explained(self) -> Explained | None:
        """Return what precision explains, None if there is nothing."""
        rows = np.flatnonzero(self._is("verdict", "explained"))
        if not len(rows):
            return None
        dtypes = {
            dtype for side in "ab" for dtype in codes_of(self._batch.column(f"dtype_{side}"))[1]
        }
        coarsest = max(dtypes, key=lambda dtype: (unit_roundoff(dtype), dtype))
        added = added_errors(self._batch)
        row = int(np.argmax(np.where(np.isnan(added), -np.inf, added)))
        return Explained(coarsest, self[row], float(added[row]))

    @functools.cached_property
    def findings(self) -> tuple[DivergentOperator, ...]:
        """The operators with a diverging tensor, in the order of execution.

        `DivergentOperator.cause` tells where divergence began and where it was only passed on.
        Inputs and outputs of one operator are found by its name; a table without inputs says less.
        """
        return tuple(divergent_operators(self._batch))

    @property
    def clean(self) -> bool:
        """Whether something was compared and nothing diverges."""
        return not self.findings and bool(self.summary()["compared"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What limits the answer: ranks or steps that had to be guessed."""
        notes = self._head.get("notes")
        return tuple(map(str, notes)) if isinstance(notes, list) else ()

    def _details(self) -> dict[str, Any]:
        head = {name: value for name, value in self._head.items() if name != "notes"}
        return {**head, "summary": self.summary()}

    @property
    def diverges(self) -> NDArray[np.bool_]:
        """Which rows diverge, shape (rows,)."""
        return self._is("verdict", "diverges")

    @property
    def unpaired(self) -> NDArray[np.bool_]:
        """Which rows have no partner, files that gave no tensor among them, shape (rows,)."""
        return is_null(self._batch.column("paired_by"))

    @functools.cached_property
    def unpaired_casts(self) -> NDArray[np.bool_]:
        """Which rows are tensors of casts and copies that one side does without, shape (rows,)."""
        is_alone = self.unpaired & self._is("status", *NO_PARTNER)
        return is_alone & coded_text(self._batch.column("op_type")).where(passes_values_on)

    @property
    def first_divergence(self) -> DivergentOperator | None:
        """The first operator, in the order of execution, with a diverging tensor."""
        return next(iter(self.findings), None)

    def by_added_error(self) -> list[DivergentOperator]:
        """Return `findings`, those that add most to the error of their inputs first."""
        return sorted(
            self.findings,
            key=lambda op: -math.inf if op.added_error is None else op.added_error,
            reverse=True,
        )

    def failures(self, limits: Mapping[str, float]) -> NDArray[np.bool_]:
        """Return which rows are beyond a limit, shape (rows,).

        Parameters
        ----------
        limits
            The largest value of each metric, by name, that is no failure; for
            ``cosine_similarity`` the smallest. ``mismatched_share`` is ``mismatched`` divided by
            ``count``.

        Raises
        ------
        ValueError
            If there is no such metric.

        Notes
        -----
        A metric that could not be computed, because no pair of elements is finite, is a failure if
        the pair diverges.
        """
        failed = np.zeros(len(self), np.bool_)
        for name, limit in limits.items():
            numbers = self._metric(name)
            failed |= numbers < limit if name == "cosine_similarity" else numbers > limit
            failed |= np.isnan(numbers) & self.diverges & (name != "kl_divergence")
        return failed

    def _metric(self, name: str) -> NDArray[np.float64]:
        if name == "mismatched_share":
            share: NDArray[np.float64] = self._reals("mismatched") / np.maximum(
                self._reals("count"), 1
            )
            return share
        if name not in FAIL_METRICS:
            known = ", ".join((*FAIL_METRICS, "mismatched_share"))
            raise ValueError(f"{name!r} is none of {known}")
        return self._reals(name)

    def _reals(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers as floats, NaN for null."""
        reals: NDArray[np.float64] = np.ma.filled(self[name].astype(np.float64), np.nan)
        return reals

    @takes_conditions
    def filter(
        self,
        *,
        verdict: str | Iterable[str] | None = None,
        paired_by: str | Iterable[str] | None = None,
        **conditions: Unpack[Conditions],
    ) -> ComparisonTable:
        """Return the rows that meet all conditions, in the same order.

        Parameters
        ----------
        verdict, paired_by
            Shell patterns (``*``, ``?``, ``[abc]``) for the whole text, case-sensitive; any of
            several may match. Null never matches.
        **conditions
            Which tensors of `a`; `Selection` says what each condition means. `dtype` is that of
            `a`, and `status` takes patterns for the statuses that a comparison has.

        Returns
        -------
        ComparisonTable
            If no row is left, `remark` says which condition no row meets and what there is.

        Raises
        ------
        TypeError, ValueError
            If a condition has a value that it cannot have.
        """
        patterns = {"verdict": verdict, "paired_by": paired_by}
        # Statuses are others than those of a dump's tensors.
        patterns["status"] = conditions.pop("status", None)
        selection = Selection.of(conditions)
        keep = selected_rows(selection, self._batch, _COLUMN_OF)
        remark = "" if keep.any() else absence_text(selection, self._batch, _COLUMN_OF)
        for name, pattern in patterns.items():
            if pattern is not None:
                keep &= matching_rows(self._batch.column(name), pattern)
        table = self[keep]
        table._remark = remark
        return table

    def worst(self, n: int | None = None) -> ComparisonTable:
        """Return the rows sorted by how urgently they need a look.

        Diverging pairs come first, beginning with those in which only one tensor has NaN or Inf,
        then by error, largest first. Incomplete tensors follow, then tensors without a partner,
        pairs whose error is explained, pairs that agree, by error, bit-equal pairs, and pairs that
        cannot be compared.
        `DivergentOperator` defines the error. Ties keep their order.

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
        error = row_errors(self._batch)
        severity = np.full(len(self), 6.0)
        severity[~np.isnan(error)] = 4
        severity[self._is("verdict", "explained")] = 3.5
        severity[self._is("verdict", "equal")] = 5
        severity[self._is("status", "only_in_a", "only_in_b")] = 3
        severity[self._is("status", *_DAMAGED)] = 2
        severity[self.diverges] = 1
        largest = np.where(np.isnan(error), 0.0, error)
        return self._take(np.lexsort((-largest, severity))[:n])

    def summary(self) -> ComparisonSummary:
        """Return the table in a few numbers.

        Returns
        -------
        dict
            ``rows``; ``pairs`` (rows with both sides); ``compared`` (pairs with a verdict); and the
            numbers of rows by ``verdict``, ``paired_by`` and ``status``.
        """
        verdict, paired_by, status = (
            count_by(self._batch.column(name)) for name in ("verdict", "paired_by", "status")
        )
        return {
            "rows": len(self),
            "pairs": sum(paired_by.values()),
            "compared": sum(verdict.values()),
            "verdict": verdict,
            "paired_by": paired_by,
            "status": status,
        }

    def _is(self, name: str, *values: str) -> NDArray[np.bool_]:
        return is_in(self._batch.column(name), values)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, as `StatsTable.write` does, or a page for people.

        Parameters
        ----------
        path
            The file. Its suffix says the format: ``.csv``, ``.json``, ``.arrow``, ``.parquet``, or
            ``.html`` for the sentence, the operators by the error that they add, the worst pairs,
            and what has no partner.
        """
        if Path(path).suffix.lower() != ".html":
            super().write(path)
            return
        with replacing(Path(path)) as file:
            file.write(self.to_html().encode())

    def sections(self) -> tuple[Section, ...]:
        """Return the answer, errors along the execution, operators, and the worst pairs."""
        from fastdump._compare.page import about, drawings

        operators, pairs = self.by_added_error(), self[~self.unpaired]
        unpaired = self[self.unpaired]
        added, worst = operator_table(operators[:_PAGE_ROWS], width=None), pairs.worst(_PAGE_ROWS)
        lists = (
            (say.BY_ADDED_ERROR(), operators, added, ()),
            (say.WORST_PAIRS(), pairs, page_table(worst), [_show(row) for row in worst]),
            (say.WITHOUT_PARTNER(), unpaired, page_table(unpaired[:_PAGE_ROWS]), ()),
        )
        rows = (
            Rows(
                title,
                table,
                commands,
                say.FIRST_OF_ROWS(n=_PAGE_ROWS, all=len(of)) if len(of) > _PAGE_ROWS else "",
            )
            for title, of, table, commands in lists
            if len(of)
        )
        what = about(self._head, self.summary()["paired_by"])
        return (
            Section(say.ANSWER(), (Verdict(self.answer(), what),)),
            Section(say.WHERE_THEY_PART(), tuple(drawings(self._batch, self.findings, self))),
            Section(say.OPERATORS_AND_PAIRS(), tuple(rows)),
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the error of all pairs along the execution, by verdict.

        Parameters
        ----------
        ax
            The axes of matplotlib to draw on. Default: those of a new figure.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed: ``pip install 'fastdump[plot]'``.
        """
        from fastdump._compare.page import along_the_execution
        from fastdump._figures.on_axes import drawn

        return drawn(along_the_execution(self._batch, self.findings, self), ax)

    def in_full(
        self,
        *,
        width: int | None = None,
        ellipsis: str = "...",
        rows: int | None = DEFAULT_ROWS,
        failed: ComparisonTable | None = None,
    ) -> Iterator[list[Cell]]:
        """Yield the operators that diverge, and pairs, in tables.

        Parameters
        ----------
        width, ellipsis
            As in `lines`.
        rows
            How many lines of each list are shown; None for all.
        failed
            Pairs beyond a limit, to be shown in place of the worst ones.
        """
        title = say.WORST_PAIRS() if failed is None else say.BEYOND_A_LIMIT()
        titles = (say.BY_ADDED_ERROR(), title, say.WITHOUT_PARTNER())
        lists = self._lists(titles, self._shown_pairs(failed), rows, width)
        return report_lines(self.summary(), self.notes, lists, rows=rows, ellipsis=ellipsis)

    def longest_list(self, failed: ComparisonTable | None = None) -> int:
        """Return how many rows the longest list of `lines` has, for the same `failed`."""
        n_unpaired = int(self.unpaired.sum())
        return max(len(self.findings), len(self._shown_pairs(failed)), n_unpaired)

    def _shown_pairs(self, failed: ComparisonTable | None) -> ComparisonTable:
        if failed is not None:
            return failed
        return self[~self.unpaired & ~(self._is("verdict", "equal") & self._is("status", "ok"))]

    def _lists(
        self, titles: Iterable[str], pairs: ComparisonTable, rows: int | None, width: int | None
    ) -> list[tuple[str, int, TextTable]]:
        """Return title, length and first rows of: operators, `pairs`, rows without a partner."""
        operators, unpaired = self.by_added_error(), self[self.unpaired]
        tables = (
            operator_table(operators[:rows], width=width),
            pair_table(pairs.worst(rows), width=width),
            pair_table(unpaired[:rows], width=width),
        )
        lengths = (len(operators), len(pairs), len(unpaired))
        return list(zip(titles, lengths, tables, strict=True))

    def _laid_out(self, n_worst: int | None, width: int | None) -> TextTable:
        return pair_table(self if n_worst is None else self.worst(n_worst), width=width)

    def _facts(self) -> list[str]:
        remark = [self.remark] if self.remark else []
        return [facts(self.summary()), printable(self.sentence), *remark]


def _show(row: ComparisonRow) -> str:
    """Return the command that shows the tensor of `a`, "" if it cannot be shown."""
    if row.path_a is None or row.offset_a is None or not row.tensor_name:
        return ""
    try:
        return command_text("show", [f"{row.file_a()}:{row.tensor_name}"])
    except ValueError:  # nothing tells where the file is
        return ""


def read_comparison(path: str | os.PathLike[str]) -> ComparisonTable:
    """Read a table that `ComparisonTable.write` has written.

    Parameters
    ----------
    path
        The file. Its suffix says the format: ``.csv``, ``.json``, ``.arrow`` or ``.parquet``.

    Raises
    ------
    ValueError
        If the suffix is another one.
    DumpFormatError
        If the file is not such a table.
    MissingDependencyError
        If arro3-io is not installed, for ``.arrow`` and ``.parquet``.
    OSError
        If the file cannot be read.
    """
    return ComparisonTable._read(path)
