"""How much memory a table may take that is read from a file: a small file may hold a huge table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from arro3.core import Array, DataType, dictionary_dictionary, dictionary_indices

from fastdump._table.arrow_column import (
    buffer_bytes,
    exported,
    integer_array,
    is_null,
    n_parts,
    part_ends,
)
from fastdump.errors import TableTooLargeError

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

    from fastdump._table.column import TableKind

VARIABLE = "FASTDUMP_TABLE_MIB"
"""The environment variable that sets the limit."""

_DEFAULT_MIB = 4096
_MIB = 1 << 20
_VALUE_NBYTES = 8  # of a number, or of what Arrow keeps for a text beside its bytes
_VIEW_NBYTES = 16


class TableLimit:
    """The memory that is left for the table in one file.

    Parameters
    ----------
    path
        The file, for messages.
    kind
        The kind of table, whose columns every row has, whether the file has them or not.

    Raises
    ------
    ValueError
        If the environment variable is not a number of MiB.
    """

    def __init__(self, path: str, kind: TableKind) -> None:
        self._path = path
        self._row_nbytes = _VALUE_NBYTES * len(kind.columns)
        self._nbytes = _limit_mib() * _MIB
        self._left = self._nbytes

    def count_rows(self, n_rows: int) -> None:
        """Count rows, without their texts and shapes; raise TableTooLargeError if too many."""
        self.count_nbytes(n_rows * self._row_nbytes)

    def count_nbytes(self, nbytes: int) -> None:
        """Count memory of any kind; raise TableTooLargeError if it is too much."""
        self._left -= nbytes
        if self._left < 0:
            raise TableTooLargeError(
                f"{self._path!r}: the table takes more than {self._nbytes // _MIB} MiB of memory, "
                f"the limit for files; set {VARIABLE} to a larger number of MiB to read it"
            )

    def count_batch(self, batch: RecordBatch) -> None:
        """Count some rows; raise TableTooLargeError if they are too many."""
        self.count_rows(batch.num_rows)
        for name in batch.column_names:
            self.count_nbytes(_variable_nbytes(batch.column(name)))


def _limit_mib() -> int:
    text = os.environ.get(VARIABLE)
    if text is None:
        return _DEFAULT_MIB
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= 12):
        raise ValueError(f"{VARIABLE} is {text!r:.80}, expected a number of MiB")
    return int(text)


def _variable_nbytes(column: Array) -> int:
    """Return how many bytes the texts or shapes of a column take once each row has its own."""
    type = column.type
    if DataType.is_list(type) or DataType.is_large_list(type):
        return n_parts(column) * _VALUE_NBYTES
    if DataType.is_dictionary(type):
        texts: Any = dictionary_dictionary(column)
        indices: Any = dictionary_indices(column)
        codes = integer_array(indices.cast(DataType.int64()), null=-1)
        lengths = _text_lengths(texts)
        # A null has the last length.
        return int(np.append(lengths, 0)[codes].sum())
    return int(_text_lengths(column).sum()) if _has_texts(type) else 0


def _has_texts(type: DataType) -> bool:
    return (
        DataType.is_string(type) or DataType.is_large_string(type) or DataType.is_string_view(type)
    )


def _text_lengths(column: Array) -> NDArray[np.int64]:
    """Return how many bytes each text has; shape (rows,)."""
    if len(column) == 0 or not _has_texts(column.type):
        return np.zeros(len(column), np.int64)
    array, _capsule = exported(column)
    if not DataType.is_string_view(column.type):
        return np.diff(part_ends(array, column.type).astype(np.int64))
    # A view begins with the length of its text.
    first, nbytes = (_VIEW_NBYTES * n for n in (array.offset, array.length))
    lengths = buffer_bytes(array.buffers[1], first, nbytes).view(np.int32)[:: _VIEW_NBYTES // 4]
    return np.where(is_null(column), 0, lengths.astype(np.int64))
