"""Damaged files that may not be damaged: somebody was writing to them when they were read."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

import numpy as np

from fastdump._table.arrow_column import coded_column, codes_of, is_in
from fastdump._tensor.shown_path import file_of
from fastdump._words.quantities import counted

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

TEXT: Final = "perhaps still being written"
"""What the note of a row says."""

_STATUSES = ("truncated", "malformed", "changed")


class Unsettled:
    """Rows of files that end early, or make no sense, and that were written to a moment ago.

    Parameters
    ----------
    batch
        Rows of a table.
    root
        The directory that paths are relative to.
    settle_s
        How many seconds after the last write a file is taken to be complete.

    Attributes
    ----------
    rows
        Which rows, shape (rows,).
    n_files
        Of how many files.
    """

    def __init__(self, batch: RecordBatch, root: str | None, settle_s: float) -> None:
        self._batch = batch
        self.rows = np.zeros(batch.num_rows, np.bool_)
        self.n_files = 0
        damaged = np.flatnonzero(is_in(batch.column("status"), _STATUSES))
        if not len(damaged):
            return
        codes, paths = codes_of(batch.column("path").take(damaged))
        oldest = time.time() - settle_s
        is_young = [_modified_s(file_of(root or "", path)) > oldest for path in paths]
        self.n_files = sum(is_young)
        self.rows[damaged] = np.array(is_young, np.bool_)[codes]

    def noted(self) -> RecordBatch:
        """Return all rows, with notes that say it."""
        codes, texts = codes_of(self._batch.column("note"))
        others = [text if TEXT in text else f"{text}; {TEXT}" for text in texts]
        # The last one stands for rows without a note.
        notes = [*texts, *others, TEXT]
        changed = np.where(codes < 0, len(notes) - 1, codes + len(texts))
        column = coded_column(np.where(self.rows, changed, codes), notes, "text")
        i = self._batch.column_names.index("note")
        return self._batch.set_column(i, self._batch.schema.field(i), column)

    def asked_again(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return states of which a later scan knows that these files have to be read again."""
        return np.where(self.rows, 0, states)

    def note(self, settle_s: float) -> str:
        """Return what the table says of them."""
        files = counted(self.n_files, "damaged file")
        return f"{files} changed less than {settle_s:g} s before: {TEXT}"


def _modified_s(path: str) -> float:
    try:
        return os.stat(path).st_mtime  # noqa: PTH116
    except (OSError, ValueError):
        return float("-inf")
