"""The table of statistics that commands write, read, sort, filter and compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, TypedDict

import numpy as np
from arro3.core import Schema

from fastdump import _severity
from fastdump._arrow_column import integer_array, text_list
from fastdump._column_table import ColumnTable
from fastdump._schema import (
    COLUMN,
    IO,
    KIND,
    LEVELS,
    StatsRow,
    checked_level,
    checked_skipped,
    level_and_skipped,
    level_of,
    schema_of,
)

if TYPE_CHECKING:
    from arro3.core.types import ArrowArrayExportable, ArrowStreamExportable
    from numpy.typing import NDArray


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

    Returned by `stats` and `read_stats`. Rows are in the order of execution. `StatsRow` lists the
    columns; a table of level "full" has four more than the others: ``zero``, ``subnormal``,
    ``saturated`` and ``first_bad``.

    A table speaks the Arrow C stream protocol, so pandas, polars, DuckDB and pyarrow take it as it
    is: ``pyarrow.table(t)``, ``polars.DataFrame(t)``, ``duckdb.sql("from t")``.

    Parameters
    ----------
    data
        Any table of pyarrow, polars, pandas, DuckDB or arro3 with columns named and typed as in
        `StatsRow`: a way back from those libraries. ``status``, ``path`` and ``source`` must be
        there and without nulls; other missing columns become null.
    level
        What was computed. Default: what the metadata of `data` says, else the lowest level that
        has all columns of `data`.
    skipped
        How many files were not read, by reason. Default: what the metadata of `data` says.

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
    >>> t.filter(op_type="MatMul*", step=[0, 1]).worst(5)  # doctest: +SKIP
    """

    __slots__ = ("_level", "_skipped")

    kind: ClassVar = KIND
    row_type: ClassVar = StatsRow

    _level: str
    _skipped: dict[str, int]

    def __init__(
        self,
        data: ArrowArrayExportable | ArrowStreamExportable,
        *,
        level: str | None = None,
        skipped: Mapping[str, int] | None = None,
    ) -> None:
        table = self._checked(data)
        known_level, known_skipped = level_and_skipped(table.schema)
        self._level = checked_level(level) or known_level or level_of(table.column_names)
        self._skipped = known_skipped if skipped is None else checked_skipped(dict(skipped))
        self._fill(table, schema_of(self._level, self._skipped))

    @classmethod
    def schema_for(cls, names: Sequence[str], head: Mapping[str, object]) -> Schema:
        """Return the schema of a table in a file: its columns, and what else the file says."""
        level = checked_level(head.get("level")) or level_of(names)
        return schema_of(level, checked_skipped(head.get("skipped", {})))

    @property
    def head(self) -> dict[str, object]:
        """What a file says beside the rows."""
        return {"level": self.level, "skipped": self.skipped}

    def is_csv_column(self, name: str) -> bool:
        """Tell whether a column says anything at this level."""
        if LEVELS.index(COLUMN[name].level) <= LEVELS.index(self._level):
            return True
        # Rows of the vendor's statistics have values that no level of ours computed.
        return bool(self._batch.column(name).null_count < len(self))

    @property
    def level(self) -> str:
        """What was computed: "header" (nothing), "health", "basic" or "full"."""
        return self._level

    @property
    def skipped(self) -> dict[str, int]:
        """How many files were not read because they are no dumps, by reason."""
        return dict(self._skipped)

    @property
    def bad(self) -> NDArray[np.bool_]:
        """Which rows have a NaN, an Inf or a tensor that is not wholly there, shape (rows,).

        The last means every status but "ok" and "unsupported". NaN and Inf are known by their
        counts; of the vendor's statistics, where these were not reported, by a moment that is NaN
        or infinite.
        """
        return _severity.bad_rows(self._batch)

    def filter(
        self,
        *,
        op_type: str | Iterable[str] | None = None,
        op_name: str | Iterable[str] | None = None,
        step: int | Iterable[int] | None = None,
        rank: int | Iterable[int] | None = None,
        tensor: str | Iterable[str] | None = None,
        dtype: str | Iterable[str] | None = None,
        bad: bool | None = None,
    ) -> StatsTable:
        """Return the rows that meet all conditions, in the same order.

        Parameters
        ----------
        op_type, op_name, dtype
            Shell patterns (``*``, ``?``, ``[abc]``), matched case-sensitively against the whole
            name; any of several may match. A null never matches.
        step, rank
            Numbers; any of several may match. A null never matches.
        tensor
            Some of "input", "output", "buffer", "space".
        bad
            True for the rows of `StatsTable.bad`, False for the others.

        Returns
        -------
        StatsTable
            `skipped` and `level` are those of this table.

        Raises
        ------
        ValueError
            If `tensor` is something else.
        """
        keep = self.matches(
            op_type=op_type, op_name=op_name, step=step, rank=rank, tensor=tensor, dtype=dtype
        )
        if bad is not None:
            keep &= self.bad == bad
        return self._take(np.flatnonzero(keep))

    def matches(
        self,
        *,
        op_type: str | Iterable[str] | None = None,
        op_name: str | Iterable[str] | None = None,
        step: int | Iterable[int] | None = None,
        rank: int | Iterable[int] | None = None,
        tensor: str | Iterable[str] | None = None,
        dtype: str | Iterable[str] | None = None,
    ) -> NDArray[np.bool_]:
        """Return which rows meet all conditions, shape (rows,); arguments as of `filter`."""
        keep = np.ones(len(self), np.bool_)
        for name, patterns in (("op_type", op_type), ("op_name", op_name), ("dtype", dtype)):
            if patterns is not None:
                keep &= self._matching(name, patterns)
        for name, numbers in (("step", step), ("rank", rank)):
            if numbers is not None:
                keep &= self._one_of(name, numbers)
        if tensor is not None:
            chosen = {tensor} if isinstance(tensor, str) else set(tensor)
            if not chosen.issubset(IO):
                raise ValueError(f"tensor is {tensor!r}, expected some of {', '.join(IO)}")
            keep &= np.array([io in chosen for io in text_list(self._batch.column("io"))], np.bool_)
        return keep

    def worst(self, n: int | None = None) -> StatsTable:
        """Return the rows sorted by how urgently they need a look.

        First those with NaN or +Inf, then those whose tensor is not wholly there (truncated,
        absent, size_mismatch, malformed, unreadable), then those whose only bad value is -Inf
        (attention masks), each by timestamp: the first to go wrong comes first. Then floating-point
        tensors by largest magnitude relative to the largest finite value of their type, descending;
        then the rest (integers cannot overflow to Inf); unsupported types last. Ties keep their
        order.

        Parameters
        ----------
        n
            How many rows to return; default all.

        Returns
        -------
        StatsTable
        """
        if n is not None and n < 0:
            raise ValueError(f"n is {n}, expected 0 or more")
        return self._take(_severity.worst_first(self._batch)[:n])

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
        op_types, op_names, paths, statuses, sources = (
            text_list(self._batch.column(name))
            for name in ("op_type", "op_name", "path", "status", "source")
        )
        nbytes = integer_array(self._batch.column("nbytes"))
        nbytes = nbytes[np.array([source == "tensor" for source in sources], np.bool_)]
        return {
            "rows": len(self),
            "files": len(set(paths)),
            "bytes": _exact_sum(nbytes),
            "ranks": self._distinct("rank"),
            "steps": self._distinct("step"),
            "ops": len(set(zip(op_types, op_names, strict=True)) - {(None, None)}),
            "status": dict(Counter(status for status in statuses if status is not None)),
            "bad": int(self.bad.sum()),
        }

    def __repr__(self) -> str:
        from fastdump._table_text import plain_text

        return plain_text(self)

    def _repr_html_(self) -> str:
        from fastdump._table_text import html_text

        return html_text(self)


def _exact_sum(integers: NDArray[np.int64]) -> int:
    # Sizes come from headers: a sum of hostile ones would wrap around in an int64.
    high = int((integers >> 32).sum())
    low = int((integers & 0xFFFFFFFF).sum())
    return (high << 32) + low
