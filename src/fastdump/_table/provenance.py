"""What a table was made of: what the scan was asked for, and the state of each file then.

A later scan takes over the rows of files that are in the same state still. A table loses its
provenance with the first row that is left out: of some rows of a file nobody can tell that they are
not all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from arro3.core import ChunkedArray, Field, Table

from fastdump import _core
from fastdump._selection import Selection
from fastdump._table.arrow_column import column_of, integer_array, rows_of
from fastdump._table.buffers import column_with_nulls
from fastdump._table.column import ARROW_TYPE
from fastdump._table.joined_columns import joined
from fastdump._table.known_directories import KnownDirectory, from_json, to_json

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray

STATE = "state"
"""The column of a file that has the state of each row's file."""

_KEY = "fastdump.provenance"


class Provenance(NamedTuple):
    """What a table was made of.

    Attributes
    ----------
    asked
        What decides rows beside the files, as JSON has it: see `asked_for`.
    states
        Of each row the state of its file, a number; null or 0 where it was not read as a whole.
    directories
        All directories that the rows, and the files that were skipped, lie in; None where that is
        not known.
    """

    asked: Mapping[str, Any]
    states: Array
    directories: Sequence[KnownDirectory] | None = None

    def states_of_rows(self) -> NDArray[Any]:
        """Return the state of each row's file, 0 where it is not known."""
        return integer_array(self.states)

    def in_order(self, order: NDArray[np.int64]) -> Provenance:
        """Return the provenance of a table whose rows are in another order."""
        return self._replace(states=rows_of(self.states, order))

    def some(self, kept: NDArray[np.bool_]) -> Provenance:
        """Return the provenance of some of the rows."""
        return self if kept.all() else self.in_order(np.flatnonzero(kept))

    def of_states(self, states: NDArray[np.int64]) -> Provenance:
        """Return the provenance of other rows, of the same that was asked for."""
        return self._replace(states=column_with_nulls(states, states != 0))

    def added_to(self, table: Table) -> Table:
        """Return a table that is to be written, with its provenance."""
        n_rows = len(self.states)
        told = None if self.directories is None else to_json(self.directories, n_rows)
        asked = json.dumps({**self.asked, "rows": n_rows, "directories": told})
        metadata = {**table.schema.metadata_str, _KEY: asked}
        field = Field(STATE, ARROW_TYPE["integer"], nullable=True)
        added = table.append_column(field, ChunkedArray([self.states]))
        return added.with_schema(added.schema.with_metadata(metadata))

    @classmethod
    def of_file(cls, table: Table) -> Provenance | None:
        """Return what `added_to` has added; None if there is nothing, or not of these rows.

        Raises
        ------
        ValueError
            If what says what was asked is damaged.
        """
        text = table.schema.metadata_str.get(_KEY)
        if text is None or STATE not in table.column_names:
            return None
        try:
            asked = json.loads(text)
        except RecursionError as error:
            raise ValueError(f"metadata {_KEY!r} is nested too deeply") from error
        if not isinstance(asked, dict):
            raise ValueError(f"metadata {_KEY!r} is {asked!r:.80}, expected an object")
        directories = from_json(asked.pop("directories", None))
        if asked.pop("rows", None) != table.num_rows:
            return None  # another program has left out some
        chunks = [chunk.cast(ARROW_TYPE["integer"]) for chunk in table.column(STATE).chunks]
        return cls(asked, joined(chunks or [column_of([], "integer")]), directories)

    @staticmethod
    def joined(several: Sequence[Provenance | None]) -> Provenance | None:
        """Return the provenance of tables one after the other, if all were asked for the same."""
        known = [one for one in several if one is not None]
        if not known or len(known) < len(several) or any(k.asked != known[0].asked for k in known):
            return None
        return Provenance(known[0].asked, joined([one.states for one in known]))


def asked_for(selection: Selection, *, logical: bool, as_rank: int | None) -> dict[str, Any]:
    """Return what decides the rows of a file beside its content, its path and the level."""
    conditions = {name: getattr(one, name) for name, one in selection.conditions().items()}
    asked = {
        "version": _core.__version__,
        "logical": logical,
        "as_rank": as_rank,
        "selection": conditions,
    }
    loaded: dict[str, Any] = json.loads(json.dumps(asked))  # tuples are lists in JSON
    return loaded
