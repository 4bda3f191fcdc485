"""Rows that are odd: of a status that is not ok, with a note, or appended to another dump."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._inventory.rows import Rows
from fastdump._table.arrow_column import codes_of, is_in, is_null

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

# These are enough to see what is wrong; `fastdump stats --bad` lists all.
_MAX_EXAMPLES = 3

# Kinds of oddity beside the statuses: whole tensors that carry a note, and tensors of a dump that
# was appended to another one in its file.
NOTED = "noted"
APPENDED = "appended"


@dataclass(frozen=True)
class Oddity:
    """Rows that are odd in the same way.

    Attributes
    ----------
    rows, files
        How many there are of each.
    examples
        Notes of the first few files, by path.
    """

    rows: int
    files: int
    examples: dict[str, str | None]

    def document(self) -> dict[str, Any]:
        """Return the counts for JSON."""
        examples = [{"path": path, "note": note} for path, note in self.examples.items()]
        return {"rows": self.rows, "files": self.files, "examples": examples}


def oddities(rows: Rows, batch: RecordBatch) -> dict[str, Oddity]:
    """Return the odd rows by status, or by `NOTED` or `APPENDED`: what comes first, first."""
    status, statuses = codes_of(batch.column("status"))
    is_ok = is_in(batch.column("status"), ("ok",))
    has_note = ~is_null(batch.column("note")) & ~is_in(batch.column("note"), ("",))
    kinds = [(APPENDED, rows.is_appended), (NOTED, is_ok & has_note & ~rows.is_appended)]
    kinds += [(name, status == code) for code, name in enumerate(statuses) if name != "ok"]
    found = [(kind, np.flatnonzero(is_odd)) for kind, is_odd in kinds if is_odd.any()]
    found.sort(key=lambda item: int(item[1][0]))
    return {kind: _oddity(odd, rows, batch) for kind, odd in found}


def _oddity(odd: NDArray[np.int64], rows: Rows, batch: RecordBatch) -> Oddity:
    paths, first = np.unique(rows.path[odd], return_index=True)
    examples = {}
    for row in odd[np.sort(first)[:_MAX_EXAMPLES]].tolist():
        path, note = (batch.column(name).slice(row, 1).to_pylist()[0] for name in ("path", "note"))
        examples[path] = note
    return Oddity(len(odd), len(paths), examples)
