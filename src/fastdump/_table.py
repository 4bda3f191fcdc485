"""The table that every command writes, reads, sorts, filters and compares."""

from __future__ import annotations

import fnmatch
import itertools
import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, overload

import numpy as np
from arro3.core import RecordBatch, Schema, Table

from fastdump import _severity
from fastdump._arrow_column import integer_array, is_null, real_array, shape_list, text_list
from fastdump._chunks import chunks
from fastdump._conform import check_names, check_types, conform, level_of
from fastdump._schema import (
    COLUMN,
    COLUMNS,
    FULL_ONLY,
    INT64_MAX,
    INT64_MIN,
    IO,
    StatsRow,
    checked_level,
    checked_skipped,
    level_and_skipped,
    schema_of,
)
from fastdump.errors import MissingDependencyError

if TYPE_CHECKING:
    import os

    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
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


class StatsTable:
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

    __slots__ = ("_batch", "_level", "_schema", "_skipped")

    _batch: RecordBatch
    _level: str
    _schema: Schema  # not that of the batch: some operations of arro3 lose metadata
    _skipped: dict[str, int]

    def __init__(
        self,
        data: ArrowArrayExportable | ArrowStreamExportable,
        *,
        level: str | None = None,
        skipped: Mapping[str, int] | None = None,
    ) -> None:
        table = Table(data)
        check_names(table.column_names)
        check_types(table.schema)
        known_level, known_skipped = level_and_skipped(table.schema)
        self._level = checked_level(level) or known_level or level_of(table.column_names)
        self._skipped = known_skipped if skipped is None else checked_skipped(dict(skipped))
        self._schema = schema_of(self._level, self._skipped)
        [batch] = table.combine_chunks().to_batches()
        columns = dict(zip(batch.column_names, batch.columns, strict=True))
        self._batch = conform(columns, batch.num_rows, self._schema)

    def _with_rows(self, batch: RecordBatch) -> StatsTable:
        table = object.__new__(StatsTable)
        table._level = self._level
        table._skipped = self._skipped
        table._schema = self._schema
        table._batch = batch
        return table

    def _take(self, indices: NDArray[np.int64]) -> StatsTable:
        # Older arro3 takes no numpy array without elements.
        rows = self._batch.take(indices) if len(indices) else self._batch.slice(0, 0)
        return self._with_rows(rows)

    def __len__(self) -> int:
        return self._batch.num_rows

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return self._batch.column_names

    @property
    def schema(self) -> Schema:
        """Arrow schema; `level` and `skipped` are in its metadata."""
        return self._schema

    @property
    def level(self) -> str:
        """What was computed: "header" (nothing), "health", "basic" or "full"."""
        return self._level

    @property
    def skipped(self) -> dict[str, int]:
        """How many files were not read because they are no dumps, by reason."""
        return dict(self._skipped)

    @property
    def arrow(self) -> Table:
        """The table as an `arro3.core.Table` of one batch; shares memory."""
        return Table.from_batches([self._batch], schema=self._schema)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.arrow.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    @property
    def bad(self) -> NDArray[np.bool_]:
        """Which rows have a NaN, an Inf or a tensor that is not wholly there, shape (rows,).

        The last means every status but "ok" and "unsupported". NaN and Inf are known by their
        counts; of the vendor's statistics, where these were not reported, by a moment that is NaN
        or infinite.
        """
        return _severity.bad_rows(self._batch)

    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> StatsRow: ...
    @overload
    def __getitem__(
        self, key: slice | NDArray[np.bool_] | NDArray[np.integer[Any]] | Sequence[int]
    ) -> StatsTable: ...
    def __getitem__(self, key: Any) -> NDArray[Any] | StatsRow | StatsTable:
        """Return a column, a row, or a table of some rows.

        Parameters
        ----------
        key
            A column's name; a row's index; or a slice, a mask of shape (rows,) or indices.

        Returns
        -------
        numpy.ndarray, StatsRow or StatsTable
            For a name, a new array of shape (rows,): float64 with NaN for null; int64, masked if
            there are nulls; an object array of str, or of tuples of int, with None for null. A
            moment that the vendor reports as NaN is NaN as well; `arrow` tells it from null.

        Raises
        ------
        KeyError
            If there is no such column.
        IndexError
            If there is no such row, or a mask does not have one element a row.
        """
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, slice):
            return self._slice(key)
        if isinstance(key, (int, np.integer)):
            index = range(len(self))[int(key)]
            return next(iter(self._with_rows(self._batch.slice(index, 1))))
        return self._take(self._indices(np.asanyarray(key)))

    def _column(self, name: str) -> NDArray[Any]:
        if name not in self._batch.column_names:
            hint = "is computed at level 'full'" if name in FULL_ONLY else "is not a column"
            raise KeyError(f"{name!r} {hint}; this table has {', '.join(self.column_names)}")
        column = self._batch.column(name)
        kind = COLUMN[name].kind
        if kind == "real":
            return real_array(column)
        if kind == "integer":
            integers = integer_array(column)
            return np.ma.masked_array(integers, is_null(column)) if column.null_count else integers
        # Not np.array, which would make a two-dimensional array of shapes of equal length.
        objects = text_list(column) if kind == "text" else shape_list(column)
        return np.fromiter(objects, object, len(objects))

    def _slice(self, key: slice) -> StatsTable:
        rows = range(len(self))[key]
        if rows.step == 1:
            return self._with_rows(self._batch.slice(rows.start, len(rows)))
        return self._take(np.arange(rows.start, rows.stop, rows.step))

    def _indices(self, key: NDArray[Any]) -> NDArray[np.int64]:
        if key.size == 0 and key.ndim == 1 and key.dtype != np.bool_:
            return np.empty(0, np.int64)  # numpy makes a list without elements a float array
        if key.ndim != 1 or key.dtype.kind not in "bui":
            raise IndexError("rows are selected by a mask or by indices of one dimension")
        if isinstance(key, np.ma.MaskedArray):
            if key.dtype != np.bool_:
                raise IndexError("rows cannot be selected by masked indices")
            key = key.filled(False)  # t["step"] == 3 is masked where step is null
        if key.dtype == np.bool_:
            if len(key) != len(self):
                raise IndexError(f"the mask has {len(key)} elements, the table {len(self)} rows")
            return np.flatnonzero(key)
        if key.min() < -len(self) or key.max() >= len(self):
            raise IndexError(f"an index is out of range: the table has {len(self)} rows")
        indices = key.astype(np.int64)
        return np.where(indices < 0, indices + len(self), indices)

    def __iter__(self) -> Iterator[StatsRow]:
        absent = itertools.repeat(None)
        for lists in chunks(self._batch):
            columns: list[Iterable[Any]] = [lists.get(column.name, absent) for column in COLUMNS]
            yield from itertools.starmap(StatsRow, zip(*columns, strict=False))

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
        keep = np.ones(len(self), np.bool_)
        for name, patterns in (("op_type", op_type), ("op_name", op_name), ("dtype", dtype)):
            if patterns is not None:
                keep &= self._matches(name, patterns)
        for name, numbers in (("step", step), ("rank", rank)):
            if numbers is not None:
                keep &= self._is_one_of(name, numbers)
        if tensor is not None:
            chosen = {tensor} if isinstance(tensor, str) else set(tensor)
            if not chosen.issubset(IO):
                raise ValueError(f"tensor is {tensor!r}, expected some of {', '.join(IO)}")
            keep &= np.array([io in chosen for io in text_list(self._batch.column("io"))], np.bool_)
        if bad is not None:
            keep &= self.bad == bad
        return self._take(np.flatnonzero(keep))

    def _matches(self, name: str, patterns: str | Iterable[str]) -> NDArray[np.bool_]:
        given = [patterns] if isinstance(patterns, str) else patterns
        match = [re.compile(fnmatch.translate(pattern)).match for pattern in given]
        texts = text_list(self._batch.column(name))
        matching = {text for text in set(texts) if text is not None and any(m(text) for m in match)}
        return np.array([text in matching for text in texts], np.bool_)

    def _is_one_of(self, name: str, numbers: int | Iterable[int]) -> NDArray[np.bool_]:
        given = numbers if isinstance(numbers, Iterable) else [numbers]
        wanted = [i for i in map(operator.index, given) if INT64_MIN <= i <= INT64_MAX]
        column = self._batch.column(name)
        return np.isin(integer_array(column), np.array(wanted, np.int64)) & ~is_null(column)

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

    def _distinct(self, name: str) -> list[int]:
        column = self._batch.column(name)
        distinct: list[int] = np.unique(integer_array(column)[~is_null(column)]).tolist()
        return distinct

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas DataFrame; a copy.

        Returns
        -------
        pandas.DataFrame
            Dtypes do not depend on the values: "Int64", "float64", "string", and object columns of
            tuples for shapes. A null and a NaN are both NaN in "float64". pyarrow is not needed.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingDependencyError(
                "to_pandas needs pandas: pip install pandas", name="pandas"
            ) from error
        columns: dict[str, Any] = {}
        for name in self.column_names:
            kind = COLUMN[name].kind
            if kind == "integer":
                column = self._batch.column(name)
                columns[name] = pd.arrays.IntegerArray(integer_array(column), is_null(column))
            elif kind == "text":
                columns[name] = pd.array(self._column(name), dtype="string")
            else:
                columns[name] = self._column(name)
        return pd.DataFrame(columns)

    def to_polars(self) -> pl.DataFrame:
        """Return a polars DataFrame.

        Raises
        ------
        MissingDependencyError
            If polars is not installed.
        """
        try:
            import polars as pl
        except ImportError as error:
            raise MissingDependencyError(
                "to_polars needs polars: pip install polars", name="polars"
            ) from error
        return pl.DataFrame(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, which replaces one of the same name only when it is complete.

        Parameters
        ----------
        path
            Its suffix says the format:

            ``.csv``
                UTF-8 with a header row. A null is an empty cell, and an empty text cannot be told
                from one. Shapes are written as ``2x8``, that of a scalar as ``()``; floats with as
                many digits as it takes to read them back exactly. `skipped` is lost; `level` shows
                in the columns, of which those that a lower level does not compute are left out.
                Names are written as they are: a spreadsheet takes one that begins with ``=`` for a
                formula.
            ``.json``
                One object: ``fastdump`` (version), ``level``, ``skipped`` and ``rows``, one object
                a line. Floats that JSON does not have are the texts "inf", "-inf" and "nan".
            ``.arrow``, ``.parquet``
                With `level` and `skipped` as metadata. Needs ``fastdump[parquet]``.

        Raises
        ------
        ValueError
            If the suffix is another one.
        MissingDependencyError
            If arro3-io is not installed, for ``.arrow`` and ``.parquet``.
        OSError
            If the file cannot be written.
        """
        from fastdump._table_files import write_table

        write_table(self, path)

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
