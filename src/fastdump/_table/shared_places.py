"""Dumps of several nodes that look like one device, because nothing tells their ranks apart."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._table.arrow_column import is_null
from fastdump._table.directories import as_shown, directories_of, root_above

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

_PLACE = ("time", "device", "model", "model_id", "step")


def note_of_shared_roots(batch: RecordBatch, root: str | None, roots: Sequence[str]) -> list[str]:
    """Return a note if a scan of several roots has them at one place, without a rank.

    Parameters
    ----------
    batch
        Rows of a table.
    root
        The directory that paths are relative to.
    roots
        What was scanned.
    """
    if len(roots) < 2 or not batch.column("rank").null_count:
        return []
    numbers = {as_shown(path): i for i, path in enumerate(roots)}
    codes, directories = directories_of(batch.column("path"))
    above = as_shown(root or "")
    found = [
        root_above(os.path.normpath(os.path.join(above, directory)), numbers)  # noqa: PTH118
        for directory in directories
    ]
    # Files that were given themselves are below no root: they count as of one.
    return note_of_shared_places(batch, np.array(found, np.int64)[codes], [*roots, ""])


def note_of_shared_places(
    batch: RecordBatch, origin_of: NDArray[np.integer[Any]], origins: Sequence[str]
) -> list[str]:
    """Return a note if directories of different origins are at one place, without a rank.

    Parameters
    ----------
    batch
        Rows of a table.
    origin_of
        What each row comes from, an index into `origins`, shape (rows,).
    origins
        Names of what was scanned, for the note.

    Returns
    -------
    list of str
        One note, or none.
    """
    # Without a device, directories may be anything, and halves of one dump.
    is_nowhere = is_null(batch.column("rank")) & ~is_null(batch.column("device"))
    rows = np.flatnonzero(is_nowhere)
    if len(origins) < 2 or not len(rows):
        return []
    codes, directories = directories_of(batch.column("path").take(rows))
    firsts = rows[np.unique(codes, return_index=True)[1]]
    found: dict[tuple[object, ...], tuple[int, str]] = {}
    columns = [batch.column(name).take(firsts).to_pylist() for name in _PLACE]
    for origin, directory, *place in zip(
        origin_of[firsts].tolist(), directories, *columns, strict=True
    ):
        other, other_directory = found.setdefault(tuple(place), (origin, directory))
        if other != origin and other_directory != directory:
            return [
                f"{origins[other]} and {origins[origin]} have tensors of one device, time and "
                "step, and nothing tells their ranks: they count as one device; scan each with "
                "as_rank= (--as-rank), and join the tables with concat (fastdump merge)"
            ]
    return []
