"""The table of a comparison, and what it says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import numpy as np
from arro3.core import Schema

from fastdump._arrow_column import integer_array, is_null, real_array, text_list
from fastdump._column_table import ColumnTable
from fastdump._compare.operators import DivergentOperator, divergent_operators, row_errors
from fastdump._compare.schema import KIND, METRICS, ComparisonRow, head_of, schema_of
from fastdump._schema import IO

if TYPE_CHECKING:
    import os

    from arro3.core.types import ArrowArrayExportable, ArrowStreamExportable
    from numpy.typing import NDArray

_SMALLER_IS_WORSE = ("cosine_similarity",)
FAIL_METRICS = tuple(
    column.name
    for column in METRICS
    if not column.name.endswith(("_a", "_b", "_index", "bit_equal", "count", "first_mismatch"))
)
"""Metrics that a limit can be set for."""

_DAMAGED = ("truncated", "absent", "size_mismatch", "malformed", "unreadable")


class ComparisonSummary(TypedDict):
    """What `ComparisonTable.summary` returns."""

    rows: int
    pairs: int
    compared: int
    verdict: dict[str, int]
    paired_by: dict[str, int]
    status: dict[str, int]


class ComparisonTable(ColumnTable[ComparisonRow]):
    """Two dumps compared, a row for each pair of tensors and for each that has no partner.

    Returned by `compare`; immutable. Rows are in the order of execution of `a`; tensors that only
    `b` has come last. `ComparisonRow` lists the columns.

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

    __slots__ = ("_divergences", "_head")

    kind: ClassVar = KIND
    row_type: ClassVar = ComparisonRow

    _head: dict[str, Any]
    _divergences: list[DivergentOperator] | None

    def __init__(self, data: ArrowArrayExportable | ArrowStreamExportable) -> None:
        table = self._checked(data)
        self._head = head_of(table.schema)
        self._divergences = None
        self._fill(table, schema_of(self._head))

    @classmethod
    def schema_for(cls, names: Sequence[str], head: Mapping[str, object]) -> Schema:
        """Return the schema of a table in a file: its columns, and what else the file says."""
        return schema_of({k: v for k, v in head.items() if k not in ("fastdump", "rows")})

    @property
    def head(self) -> dict[str, object]:
        """What was compared and how: names of both sides, tolerances, notes."""
        return dict(self._head)

    def _with_rows(self, batch: Any) -> ComparisonTable:
        table = super()._with_rows(batch)
        table._divergences = None
        return table

    @property
    def sentence(self) -> str:
        """What the comparison says, in one sentence that a person can act on."""
        from fastdump._compare.sentence import sentence

        return sentence(self)

    @property
    def diverges(self) -> NDArray[np.bool_]:
        """Which rows diverge, shape (rows,)."""
        return self._is("verdict", "diverges")

    @property
    def unpaired(self) -> NDArray[np.bool_]:
        """Which rows have no partner, files that gave no tensor among them, shape (rows,)."""
        return is_null(self._batch.column("paired_by"))

    @property
    def first_divergence(self) -> DivergentOperator | None:
        """The first operator, in the order of execution, of which a tensor diverges."""
        return next(iter(self.divergences()), None)

    def divergences(self) -> list[DivergentOperator]:
        """Return the operators of which a tensor diverges, in the order of execution.

        `DivergentOperator` says which of them began and which only pass it on. Inputs and outputs
        of one operator are found by its name, so a table without inputs knows less.
        """
        if self._divergences is None:
            self._divergences = divergent_operators(self._batch)
        return list(self._divergences)

    def by_added_error(self) -> list[DivergentOperator]:
        """Return `divergences`, those first that add most to the error of their inputs."""
        return sorted(
            self.divergences(),
            key=lambda op: -math.inf if op.added_error is None else op.added_error,
            reverse=True,
        )

    def failures(self, limits: Mapping[str, float]) -> NDArray[np.bool_]:
        """Return which rows are beyond a limit, shape (rows,).

        Parameters
        ----------
        limits
            By name of the metric: its largest value that is no failure, of ``cosine_similarity``
            the smallest. ``mismatched_share`` is that of ``mismatched`` in ``count``.

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
            if name in _SMALLER_IS_WORSE:
                failed |= numbers < limit
            else:
                failed |= numbers > limit
            failed |= np.isnan(numbers) & self.diverges & (name != "kl_divergence")
        return failed

    def _metric(self, name: str) -> NDArray[np.float64]:
        if name == "mismatched_share":
            count = np.maximum(self._metric_column("count"), 1)
            share: NDArray[np.float64] = self._metric_column("mismatched") / count
            return share
        if name not in FAIL_METRICS:
            known = ", ".join((*FAIL_METRICS, "mismatched_share"))
            raise ValueError(f"{name!r} is none of {known}")
        return self._metric_column(name)

    def _metric_column(self, name: str) -> NDArray[np.float64]:
        column = self._batch.column(name)
        if KIND.columns[name].kind == "real":
            return real_array(column)
        return np.where(is_null(column), np.nan, integer_array(column).astype(np.float64))

    def filter(
        self,
        *,
        op_type: str | Iterable[str] | None = None,
        op_name: str | Iterable[str] | None = None,
        step: int | Iterable[int] | None = None,
        rank: int | Iterable[int] | None = None,
        tensor: str | Iterable[str] | None = None,
        verdict: str | Iterable[str] | None = None,
        status: str | Iterable[str] | None = None,
        paired_by: str | Iterable[str] | None = None,
    ) -> ComparisonTable:
        """Return the rows that meet all conditions, in the same order.

        Parameters
        ----------
        op_type, op_name, verdict, status, paired_by
            Shell patterns (``*``, ``?``, ``[abc]``), matched case-sensitively against the whole
            text; any of several may match. A null never matches.
        step, rank
            Numbers; any of several may match. A null never matches.
        tensor
            Some of "input", "output", "buffer", "space".

        Raises
        ------
        ValueError
            If `tensor` is something else.
        """
        keep = np.ones(len(self), np.bool_)
        patterns = {
            "op_type": op_type,
            "op_name": op_name,
            "verdict": verdict,
            "status": status,
            "paired_by": paired_by,
        }
        for name, pattern in patterns.items():
            if pattern is not None:
                keep &= self._matching(name, pattern)
        for name, numbers in (("step", step), ("rank", rank)):
            if numbers is not None:
                keep &= self._one_of(name, numbers)
        if tensor is not None:
            chosen = {tensor} if isinstance(tensor, str) else set(tensor)
            if not chosen.issubset(IO):
                raise ValueError(f"tensor is {tensor!r}, expected some of {', '.join(IO)}")
            keep &= self._matching("io", chosen)
        return self._take(np.flatnonzero(keep))

    def worst(self, n: int | None = None) -> ComparisonTable:
        """Return the rows sorted by how urgently they need a look.

        First pairs that diverge, those with NaN or Inf in one of them before the others, then by
        error, largest first; then pairs of which a tensor is not wholly there; tensors without a
        partner; pairs that agree, by error; pairs that are bit-equal; last what cannot be compared.
        `DivergentOperator` defines the error. Ties keep their order.

        Parameters
        ----------
        n
            How many rows to return; default all.
        """
        if n is not None and n < 0:
            raise ValueError(f"n is {n}, expected 0 or more")
        error = row_errors(self._batch)
        severity = np.full(len(self), 6)
        severity[~np.isnan(error)] = 4
        severity[self._is("verdict", "equal")] = 5
        severity[self._is("status", "only_in_a") | self._is("status", "only_in_b")] = 3
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
        counted = {
            name: dict(Counter(t for t in text_list(self._batch.column(name)) if t is not None))
            for name in ("verdict", "paired_by", "status")
        }
        return {
            "rows": len(self),
            "pairs": sum(counted["paired_by"].values()),
            "compared": sum(counted["verdict"].values()),
            "verdict": counted["verdict"],
            "paired_by": counted["paired_by"],
            "status": counted["status"],
        }

    def _is(self, name: str, *values: str) -> NDArray[np.bool_]:
        return np.array([text in values for text in text_list(self._batch.column(name))], np.bool_)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, as `StatsTable.write` does, or a page for people.

        Parameters
        ----------
        path
            Its suffix says the format: ``.csv``, ``.json``, ``.arrow``, ``.parquet``, or ``.html``
            for the sentence, the operators by the error that they add, the worst pairs, and what
            has no partner.
        """
        if Path(path).suffix.lower() != ".html":
            super().write(path)
            return
        from fastdump._compare.html import html_page
        from fastdump._table_files import replacing

        with replacing(Path(path)) as file:
            file.write(html_page(self).encode())

    def __repr__(self) -> str:
        from fastdump._compare.text import plain_text

        return plain_text(self)

    def _repr_html_(self) -> str:
        from fastdump._compare.html import html_text

        return html_text(self)


def read_comparison(path: str | os.PathLike[str]) -> ComparisonTable:
    """Read a table that `ComparisonTable.write` has written.

    Parameters
    ----------
    path
        Its suffix says the format: ``.csv``, ``.json``, ``.arrow`` or ``.parquet``.

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
    from fastdump._table_files import read_table

    return read_table(path, ComparisonTable)
