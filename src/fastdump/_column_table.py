"""Tables of typed columns: rows selected, taken out, written, and handed to other libraries."""

from __future__ import annotations

import copy
import fnmatch
import itertools
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

import numpy as np
from arro3.core import RecordBatch, Schema, Table

from fastdump._arrow_column import (
    boolean_array,
    integer_array,
    is_null,
    real_array,
    shape_list,
    text_list,
)
from fastdump._chunks import chunks
from fastdump._column import INT64_MAX, INT64_MIN, TableKind
from fastdump._conform import check_names, check_types, conform
from fastdump.errors import MissingDependencyError

if TYPE_CHECKING:
    import os

    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    from arro3.core.types import ArrowArrayExportable, ArrowStreamExportable
    from numpy.typing import NDArray
    from typing_extensions import Self

Row = TypeVar("Row")
AnyTable = TypeVar("AnyTable", bound="ColumnTable[Any]")


class ColumnTable(Generic[Row]):
    """Rows with typed columns, as one Arrow record batch. Immutable.

    A subclass says in `kind` which columns there are, in `row_type` what a row is, and in
    `schema_for` and `head` what a file of it says beside the rows.
    """

    __slots__ = ("_batch", "_schema")

    kind: ClassVar[TableKind]
    row_type: ClassVar[type[Any]]

    _batch: RecordBatch
    _schema: Schema  # not that of the batch: some operations of arro3 lose metadata

    def __init__(self, data: ArrowArrayExportable | ArrowStreamExportable) -> None:
        raise NotImplementedError

    @classmethod
    def schema_for(cls, names: Sequence[str], head: Mapping[str, object]) -> Schema:
        """Return the schema of a table in a file: its columns, and what else the file says.

        Raises
        ------
        ValueError
            If the file says something that no table of this type does.
        """
        raise NotImplementedError

    @property
    def head(self) -> dict[str, object]:
        """What a file says beside the rows."""
        raise NotImplementedError

    def is_csv_column(self, name: str) -> bool:
        """Tell whether a column of this table says anything."""
        return True

    @classmethod
    def _checked(cls, data: ArrowArrayExportable | ArrowStreamExportable) -> Table:
        """Return `data` with columns that a table of this type can have."""
        table = Table(data)
        check_names(table.column_names, cls.kind)
        check_types(table.schema, cls.kind)
        return table

    def _fill(self, table: Table, schema: Schema) -> None:
        self._schema = schema
        [batch] = table.combine_chunks().to_batches()
        columns = dict(zip(batch.column_names, batch.columns, strict=True))
        self._batch = conform(columns, batch.num_rows, schema, self.kind)

    def _with_rows(self, batch: RecordBatch) -> Self:
        table = copy.copy(self)
        table._batch = batch
        return table

    def _take(self, indices: NDArray[np.int64]) -> Self:
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
    def arrow(self) -> Table:
        """The table as an `arro3.core.Table` of one batch; shares memory."""
        return Table.from_batches([self._batch], schema=self._schema)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.arrow.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> Row: ...
    @overload
    def __getitem__(
        self, key: slice | NDArray[np.bool_] | NDArray[np.integer[Any]] | Sequence[int]
    ) -> Self: ...
    def __getitem__(self, key: Any) -> NDArray[Any] | Row | Self:
        """Return a column, a row, or a table of some rows.

        Parameters
        ----------
        key
            A column's name; a row's index; or a slice, a mask of shape (rows,) or indices.

        Returns
        -------
        numpy.ndarray, a row or a table
            For a name, a new array of shape (rows,): float64 with NaN for null; int64 or bool,
            masked if there are nulls; an object array of str, or of tuples of int, with None for
            null. A number that is NaN is NaN as well; `arrow` tells it from null.

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
            hint = self.kind.level_only.get(name, "is not a column")
            raise KeyError(f"{name!r} {hint}; this table has {', '.join(self.column_names)}")
        column = self._batch.column(name)
        kind = self.kind.columns[name].kind
        if kind == "real":
            return real_array(column)
        if kind in ("integer", "boolean"):
            values = integer_array(column) if kind == "integer" else boolean_array(column)
            return np.ma.masked_array(values, is_null(column)) if column.null_count else values
        # Not np.array, which would make a two-dimensional array of shapes of equal length.
        objects = text_list(column) if kind == "text" else shape_list(column)
        return np.fromiter(objects, object, len(objects))

    def _slice(self, key: slice) -> Self:
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

    def __iter__(self) -> Iterator[Row]:
        absent = itertools.repeat(None)
        for lists in chunks(self._batch):
            columns: list[Iterable[Any]] = [lists.get(name, absent) for name in self.kind.columns]
            yield from itertools.starmap(self.row_type, zip(*columns, strict=False))

    def _matching(self, name: str, patterns: str | Iterable[str]) -> NDArray[np.bool_]:
        given = [patterns] if isinstance(patterns, str) else patterns
        match = [re.compile(fnmatch.translate(pattern)).match for pattern in given]
        texts = text_list(self._batch.column(name))
        matching = {text for text in set(texts) if text is not None and any(m(text) for m in match)}
        return np.array([text in matching for text in texts], np.bool_)

    def _one_of(self, name: str, numbers: int | Iterable[int]) -> NDArray[np.bool_]:
        given = numbers if isinstance(numbers, Iterable) else [numbers]
        wanted = [i for i in map(operator.index, given) if INT64_MIN <= i <= INT64_MAX]
        column = self._batch.column(name)
        return np.isin(integer_array(column), np.array(wanted, np.int64)) & ~is_null(column)

    def _distinct(self, name: str) -> list[int]:
        column = self._batch.column(name)
        distinct: list[int] = np.unique(integer_array(column)[~is_null(column)]).tolist()
        return distinct

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas DataFrame; a copy.

        Returns
        -------
        pandas.DataFrame
            Dtypes do not depend on the values: "Int64", "float64", "string", "boolean", and object
            columns of tuples for shapes. A null and a NaN are both NaN in "float64". pyarrow is
            not needed.

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
            kind = self.kind.columns[name].kind
            if kind == "integer":
                column = self._batch.column(name)
                columns[name] = pd.arrays.IntegerArray(integer_array(column), is_null(column))
            elif kind == "boolean":
                column = self._batch.column(name)
                columns[name] = pd.arrays.BooleanArray(boolean_array(column), is_null(column))
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
                many digits as it takes to read them back exactly. What the table says beside its
                rows is lost. Names are written as they are: a spreadsheet takes one that begins
                with ``=`` for a formula.
            ``.json``
                One object: ``fastdump`` (version), what the table says beside its rows, and
                ``rows``, one object a line. Floats that JSON does not have are the texts "inf",
                "-inf" and "nan".
            ``.arrow``, ``.parquet``
                With all that the table says as metadata. Needs ``fastdump[parquet]``.

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
