"""Tables of typed columns: rows taken out, written to files, and handed to other libraries."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, overload

import numpy as np
from arro3.core import Array, RecordBatch, Schema, Table

from fastdump._table.arrow_column import (
    boolean_array,
    codes_of,
    integer_array,
    is_null,
    real_array,
    shape_list,
    text_list,
)
from fastdump._table.buffers import StoredColumn, of_buffers, to_buffers
from fastdump._table.chunks import chunks
from fastdump._table.column import ColumnType, Head, TableKind, head_in, long_types
from fastdump._table.conform import check_schema, conform
from fastdump.errors import DumpFormatError, MissingDependencyError

if TYPE_CHECKING:
    import os

    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    from arro3.core.types import ArrowArrayExportable, ArrowStreamExportable
    from numpy.typing import NDArray
    from typing_extensions import Self

    from fastdump._words.text_table import TextTable

Row = TypeVar("Row")

# Arrays of the columns that are numbers; NaN, 0 or False in the place of null.
_TO_NUMBERS: dict[ColumnType, Callable[[Array], NDArray[Any]]] = {
    "integer": integer_array,
    "real": real_array,
    "boolean": boolean_array,
}


class ColumnTable(Generic[Row]):
    """Rows with typed columns, as one Arrow record batch. Immutable.

    A subclass says in `_kind` which columns there are, and in `_row_maker` how a row is made from
    its values.
    """

    __slots__ = ("_batch", "_head", "_remark")

    _kind: ClassVar[TableKind]

    _batch: RecordBatch
    _head: Head
    _remark: str

    def _fill(
        self,
        data: ArrowArrayExportable | ArrowStreamExportable,
        said: Mapping[str, Any] | None = None,
        **known: Any,
    ) -> None:
        """Take the columns of `data`.

        Parameters
        ----------
        data
            Any Arrow table.
        said
            Content of a file beside the rows. Default: the metadata of `data`.
        known
            Parts of the head that the caller knows; None where it does not.
        """
        table = Table(data)
        kind = self._kind
        check_schema(table.schema, kind)
        said = dict(head_in(table.schema) if said is None else said)
        said |= {name: value for name, value in known.items() if value is not None}
        names = [name for name in table.column_names if name not in kind.beside]
        self._head = kind.checked_head(said, names)
        self._batch = conform(table, kind, self._head)
        self._remark = ""

    @classmethod
    def _read(cls, path: str | os.PathLike[str], **known: Any) -> Self:
        """Return the table in a file."""
        from fastdump._table.files import read_rows

        table, said = read_rows(path, cls._kind)
        read = cls.__new__(cls)
        try:
            read._fill(table, said, **known)
            if not known:  # a dump that was moved has other files
                read._add_beside(table)
        except ValueError as error:
            raise DumpFormatError(f"{str(path)!r}: {error}") from error
        return read

    def _add_beside(self, table: Table) -> None:
        """Take from a file what no table shows; raise ValueError if it is damaged."""

    def __reduce__(self) -> tuple[object, ...]:
        names = self._kind.names(self._head)
        columns = [self._kind.columns[name] for name in names]
        buffers = to_buffers(self._batch, columns)
        return _restored, (type(self), len(self), buffers, self._head, self._remark)

    def _with_rows(self, batch: RecordBatch) -> Self:
        table = self.__class__.__new__(self.__class__)
        table._batch = batch
        table._head = self._head
        table._remark = ""
        return table

    def __copy__(self) -> Self:
        table = self._with_rows(self._batch)
        table._remark = self._remark
        return table

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()  # nothing that it holds ever changes

    def _take(self, indices: NDArray[np.int64]) -> Self:
        # Older arro3 takes no numpy array without elements.
        rows = self._batch.take(indices) if len(indices) else self._batch.slice(0, 0)
        return self._with_rows(rows)

    def __len__(self) -> int:
        return self._batch.num_rows

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return self._batch.column_names

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return len(self), self._batch.num_columns

    @property
    def remark(self) -> str:
        """Why a selection has no row, and what there was instead; else ''."""
        return self._remark

    @property
    def schema(self) -> Schema:
        """Arrow schema; the metadata hold all that the table says beside its rows."""
        return self._kind.schema(self._head, long_types(self._batch.schema))

    @property
    def arrow(self) -> Table:
        """The table as an `arro3.core.Table` of one batch, which shares its memory."""
        # Some operations of arro3 lose the metadata of a batch.
        return Table.from_batches([self._batch], schema=self.schema)

    @property
    def batch(self) -> RecordBatch:
        """The rows as an `arro3.core.RecordBatch`, which shares their memory."""
        return self._batch

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.arrow.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

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
            The name of a column; the index of a row; or a slice, a mask of shape (rows,) or an
            array of indices.

        Returns
        -------
        numpy.ndarray, a row or a table
            A column is a new array of shape (rows,): float64 with NaN for null; int64 or bool,
            masked if there are nulls; or objects (str or tuples of int) with None for null. In
            float64, NaN may also be a value; `arrow` tells it from null.

        Raises
        ------
        KeyError
            If there is no such column.
        IndexError
            If there is no such row, or a mask does not have one element for each row.
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
        self._require_column(name)
        column = self._batch.column(name)
        type = self._kind.columns[name].type
        if type in _TO_NUMBERS:
            values = _TO_NUMBERS[type](column)
            masks = type != "real" and column.null_count > 0
            return np.ma.masked_array(values, is_null(column)) if masks else values
        # np.array would make a two-dimensional array of shapes of equal length.
        objects = text_list(column) if type == "text" else shape_list(column)
        return np.fromiter(objects, object, len(objects))

    def _require_column(self, name: str) -> None:
        if name not in self._batch.column_names:
            hint = self._kind.level_only.get(name, "is not a column")
            raise KeyError(f"{name!r} {hint}; this table has {', '.join(self.columns)}")

    def _slice(self, key: slice) -> Self:
        rows = range(len(self))[key]
        if rows.step == 1:
            return self._with_rows(self._batch.slice(rows.start, len(rows)))
        return self._take(np.arange(rows.start, rows.stop, rows.step))

    def _indices(self, key: NDArray[Any]) -> NDArray[np.int64]:
        if key.size == 0 and key.ndim == 1 and key.dtype != np.bool_:
            return np.empty(0, np.int64)  # numpy makes float64 of an empty list
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

    def head(self, n: int = 5) -> Self:
        """Return the first `n` rows; all but the last ``-n`` for a negative number."""
        return self[:n]

    def tail(self, n: int = 5) -> Self:
        """Return the last `n` rows; all but the first ``-n`` for a negative number."""
        return self[max(len(self) - n, 0) :] if n >= 0 else self[-n:]

    def sort(self, by: str | Sequence[str], *, descending: bool = False) -> Self:
        """Return the rows sorted by a column, or by several, the first of which decides first.

        Parameters
        ----------
        by
            Names of columns of numbers, texts or booleans.
        descending
            Whether to begin with the largest. Nulls and NaN come last either way, and equal rows
            keep their order.

        Raises
        ------
        KeyError
            If there is no such column.
        TypeError
            If a column holds shapes, which have no order.
        """
        names = [by] if isinstance(by, str) else list(by)
        # The last key of lexsort is the primary one.
        keys = [key for name in reversed(names) for key in self._sort_keys(name, descending)]
        return self._take(np.lexsort(keys)) if keys else self[:]

    def _sort_keys(self, name: str, descending: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        self._require_column(name)
        column, type = self._batch.column(name), self._kind.columns[name].type
        unknown = is_null(column)
        if type == "shape":
            raise TypeError(f"column {name!r} has shapes, which have no order")
        if type == "text":
            codes, texts = codes_of(column)
            ranks = np.empty(len(texts) + 1, np.int64)
            ranks[np.argsort(np.array(texts, object), kind="stable")] = np.arange(len(texts))
            values: NDArray[Any] = ranks[codes]
        else:
            values = _TO_NUMBERS[type](column)
        if type == "real":
            unknown = np.isnan(values)
        if descending:
            # The smallest integer has no negative, but a complement.
            values = -values if values.dtype == np.float64 else ~values
        return np.where(unknown, values.dtype.type(0), values), unknown

    def __iter__(self) -> Iterator[Row]:
        absent = itertools.repeat(None)
        make = self._row_maker()
        for lists in chunks(self._batch):
            columns: list[Iterable[Any]] = [lists.get(name, absent) for name in self._kind.columns]
            yield from itertools.starmap(make, zip(*columns, strict=False))

    def _row_maker(self) -> Callable[..., Row]:
        """Return a function that makes a row from the values of all columns of the kind."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame, a copy.

        Returns
        -------
        pandas.DataFrame
            Dtypes do not depend on the values: "Int64", "float64", "string", "boolean", and objects
            (tuples) for shapes. Both null and NaN are NaN in "float64". pyarrow is not needed.

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
        for name in self.columns:
            type = self._kind.columns[name].type
            column = self._batch.column(name)
            if type == "integer":
                columns[name] = pd.arrays.IntegerArray(integer_array(column), is_null(column))
            elif type == "boolean":
                columns[name] = pd.arrays.BooleanArray(boolean_array(column), is_null(column))
            elif type == "text":
                columns[name] = pd.array(self._column(name), dtype="string")
            else:
                columns[name] = self._column(name)
        return pd.DataFrame(columns)

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a polars DataFrame.

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
        """Write the table to a file, which replaces one of the same name when it is complete.

        Parameters
        ----------
        path
            The suffix decides the format:

            ``.csv``
                UTF-8 with a header row. Null and empty text are both empty cells. Shapes are
                written as ``2x8``, that of a scalar as ``()``; floats with as many digits as it
                takes to read them back exactly. Everything beside the rows is lost. Names are not
                changed: a spreadsheet takes one that begins with ``=`` for a formula.
            ``.json``
                One object: ``fastdump`` (version), everything that the table says beside its rows,
                and ``rows``, one object a line. Floats that JSON does not have are the texts "inf",
                "-inf" and "nan".
            ``.arrow``, ``.parquet``
                The metadata hold everything that the table says beside its rows. Needs
                ``fastdump[parquet]``.

        Raises
        ------
        ValueError
            If the suffix is another one.
        MissingDependencyError
            If arro3-io is not installed, for ``.arrow`` and ``.parquet``.
        OSError
            If the file cannot be written.
        """
        from fastdump._table.files import write_rows

        names = [name for name in self.columns if self._is_in_csv(name)]
        write_rows(path, self._batch, self._kind, self._head, names, self._saved)

    def _saved(self) -> Table:
        """Return what Arrow and Parquet files hold."""
        return self.arrow

    def _is_in_csv(self, name: str) -> bool:
        """Tell whether a column says anything, so that a CSV file has it."""
        return True

    # What lays out text takes longer to import than most tables take to compute.

    def __repr__(self) -> str:
        from fastdump._table.table_text import shown_text

        return shown_text(self._facts(), len(self), self._laid_out)

    def _repr_html_(self) -> str:
        from fastdump._table.table_text import shown_html

        return shown_html(self._facts(), len(self), self._laid_out)

    def _facts(self) -> list[str]:
        """Return the lines that stand above the rows where a table is shown."""
        raise NotImplementedError

    def _laid_out(self, n_worst: int | None, width: int | None) -> TextTable:
        """Return the `n_worst` worst rows, or all in order for None, laid out in `width` cells."""
        raise NotImplementedError

    def to_json_lines(self) -> Iterator[str]:
        """Yield the pieces of the JSON text that `write` makes, in ASCII."""
        from fastdump._table.json_file import json_text

        return json_text(self._batch, self._kind, self._head, ensure_ascii=True)


AnyTable = TypeVar("AnyTable", bound=ColumnTable[Any])


def _restored(
    cls: type[AnyTable],
    n_rows: int,
    columns: list[tuple[str, bool, StoredColumn]],
    head: Head,
    remark: str,
) -> AnyTable:
    empty = cls.__new__(cls)
    empty._head = head
    table = empty._with_rows(of_buffers(n_rows, columns))
    table._remark = remark
    return table
