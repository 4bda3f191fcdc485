"""`concat`: tables of parts of a dump become the table of the whole."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from arro3.core import RecordBatch

from fastdump._table.arrow_column import is_same_memory
from fastdump._table.column import ARROW_TYPE
from fastdump._table.directories import in_directories, seen_from
from fastdump._table.execution_order import JoinedRows
from fastdump._table.file_states import FileStates
from fastdump._table.joined_columns import GrowingBatch, GrowingColumn, joined, taken
from fastdump._table.provenance import Provenance
from fastdump._table.shared_places import note_of_shared_places
from fastdump._table.stats_table import StatsTable
from fastdump._words.places import tensor_name

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray


def concat(tables: Iterable[StatsTable]) -> StatsTable:
    """Join tables of parts of a dump into the table that one scan would have given.

    The parts may be ranks, steps, directories, files or shards, scanned anywhere. Rows are in the
    order of execution; ``skipped`` and ``notes`` add up. If the parts are relative to different
    directories, paths become relative to the nearest directory above all of them.

    Parameters
    ----------
    tables
        Tables of one level. Their order does not matter, except where nothing but the order of
        roots tells which rows come first. Of an iterator, one after the other is read and let go
        of, so that the whole and one of them are in memory at a time.

    Returns
    -------
    StatsTable
        All rows; ``roots`` has the roots of all tables. A row still finds its file.

    Raises
    ------
    ValueError
        If there is no table; if levels differ; if two tables have a row about the same tensor; or
        if some tables tell where their dump is and others do not.
    TypeError
        If something is not a `StatsTable`.

    Examples
    --------
    >>> parts = [fastdump.stats(f"dump/rank_{rank}") for rank in range(8)]  # doctest: +SKIP
    >>> fastdump.triage(fastdump.concat(parts))  # doctest: +SKIP
    """
    parts: list[_Part] = []
    rows, states = GrowingBatch(), GrowingColumn(ARROW_TYPE["integer"])
    only: StatsTable | None = None
    for table in tables:
        if not isinstance(table, StatsTable):
            raise TypeError(f"tables has a {type(table).__name__}, expected StatsTable")
        parts.append(_Part.of(table))
        _check_level(parts)
        if table.provenance is not None:
            states.extend([table.provenance.states])
        # The tables of a list stay in memory anyway.
        (rows.wait if isinstance(tables, Sequence) else rows.append)(table.batch)
        only = table if len(parts) == 1 else None
        del table
    if not parts:
        raise ValueError("tables is empty, expected at least one table")
    if only is not None:
        return only.with_provenance(only.provenance)
    return _joined(parts, rows, states)


class _Part(NamedTuple):
    """What a table says beside its rows, and how many these are.

    Attributes
    ----------
    tops
        Directories that all of its files are below.
    asked
        What its provenance was asked for, if it has one.
    states, are_provenance
        The states of its files, if they are one for each row; whether its provenance has the same.
    other_states
        The states of its files, if they are others.
    """

    n_rows: int
    level: str
    root: str | None
    roots: list[str]
    tops: list[str]
    skipped: Mapping[str, int]
    notes: list[str]
    asked: Mapping[str, Any] | None
    states: Array | None
    are_provenance: bool
    other_states: FileStates

    @classmethod
    def of(cls, table: StatsTable) -> _Part:
        known = table.provenance
        states = table.file_states.beside(table.batch.column("path"))
        return cls(
            len(table),
            table.level,
            table.root,
            table.roots,
            table.tops(),
            table.skipped,
            table.notes,
            None if known is None else known.asked,
            states,
            known is not None and states is not None and is_same_memory(states, known.states),
            table.file_states if states is None else FileStates(),
        )


def _joined(parts: Sequence[_Part], rows: GrowingBatch, known: GrowingColumn) -> StatsTable:
    """Return the table of all rows, of which `known` has the states as provenances tell them."""
    root = _root_above(parts)
    batch = rows.finish()
    if any(part.root != root for part in parts):
        batch = _seen_from(root, parts, batch)
    roots = list(dict.fromkeys(path for part in parts for path in part.roots))
    table_of = np.repeat(np.arange(len(parts), dtype=np.int32), [part.n_rows for part in parts])
    order = _order(parts, batch, table_of, root, roots)
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    notes = [note for part in parts for note in part.notes]
    origins = {roots: i for i, roots in enumerate({tuple(part.roots): None for part in parts})}
    origin_of = np.array([origins[tuple(part.roots)] for part in parts], np.int32)[table_of]
    notes += note_of_shared_places(batch, origin_of, [", ".join(roots) for roots in origins])
    provenance, states = _states(parts, known)
    others = FileStates() if states is not None else _other_states(parts, batch, root)
    if order is not None:
        # Each column is let go of when its rows are taken.
        schema, columns = batch.schema, batch.columns
        del batch
        batch = RecordBatch.from_arrays(taken(columns, order), schema=schema)
        is_one = provenance is not None and states is provenance.states
        provenance = provenance and provenance.in_order(order)
        if states is not None:
            states = provenance.states if provenance and is_one else taken([states], order)[0]
    return StatsTable.scanned(
        batch,
        states=others if states is None else FileStates(batch.column("path"), states),
        level=parts[0].level,
        skipped=dict(sorted(skipped.items())),
        roots=roots,
        root=root,
        notes=list(dict.fromkeys(notes)),
        provenance=provenance,
    )


def _order(
    parts: Sequence[_Part],
    batch: RecordBatch,
    table_of: NDArray[np.int32],
    root: str | None,
    roots: Sequence[str],
) -> NDArray[np.int64] | None:
    """Return the order of execution; None if rows are in it. Raise ValueError if rows collide."""
    rows = JoinedRows(batch, table_of, root, roots)
    if rows.collision is not None:
        raise ValueError(_collision_text(parts, batch, table_of, rows.collision))
    return None if np.array_equal(rows.order, np.arange(len(rows.order))) else rows.order


def _states(parts: Sequence[_Part], known: GrowingColumn) -> tuple[Provenance | None, Array | None]:
    """Return the provenance of all rows, and the states of their files, where they are known."""
    provenance = None
    if parts[0].asked is not None and all(part.asked == parts[0].asked for part in parts):
        provenance = Provenance(parts[0].asked, known.finish())
    if provenance is not None and all(part.are_provenance for part in parts):
        return provenance, provenance.states
    states = [part.states for part in parts if part.states is not None]
    return provenance, joined(states) if len(states) == len(parts) else None


def _other_states(parts: Sequence[_Part], batch: RecordBatch, root: str | None) -> FileStates:
    """Return the states of files of several tables, some of which do not tell them by row."""
    found, first = [], 0
    for part in parts:
        if part.states is None:
            found.append(part.other_states.renamed(_renamed(part, root)))
        else:
            found.append(FileStates(batch.column("path").slice(first, part.n_rows), part.states))
        first += part.n_rows
    return FileStates.joined(found)


def _seen_from(root: str | None, parts: Sequence[_Part], batch: RecordBatch) -> RecordBatch:
    """Return rows of tables with paths relative to one directory."""
    i = batch.column_names.index("path")
    paths, first = [], 0
    for part in parts:
        paths.append(_renamed(part, root)(batch.column(i).slice(first, part.n_rows)))
        first += part.n_rows
    path = joined(paths)
    return batch.set_column(i, batch.schema.field(i).with_type(path.type), path)


def _renamed(part: _Part, root: str | None) -> Callable[[Array], Array]:
    """Return what makes paths of a table relative to a directory above all of its files."""
    if root is None or part.root is None or part.root == root:
        return lambda paths: paths
    return partial(in_directories, changed=seen_from(root, part.root))


def _check_level(parts: Sequence[_Part]) -> None:
    """Check that the last table has the level of the first."""
    first, last = parts[0], parts[-1]
    if last.level != first.level:
        raise ValueError(
            f"{_name(parts, 0)} has level {first.level!r}, {_name(parts, len(parts) - 1)} level "
            f"{last.level!r}: tables of one level can be joined"
        )


def _root_above(parts: Sequence[_Part]) -> str | None:
    """Return the directory that paths of all tables can be relative to; None if none tells one."""
    roots = [part.root for part in parts]
    if len(set(roots)) == 1:
        return roots[0]
    unknown = next((i for i, root in enumerate(roots) if root is None), None)
    if unknown is not None:
        raise ValueError(
            f"{_name(parts, unknown)} does not tell where its dump is, and others do: read it "
            "with root="
        )
    return os.path.commonpath([directory for part in parts for directory in part.tops])


def _name(parts: Sequence[_Part], i: int) -> str:
    roots = parts[i].roots
    return f"table {i + 1}" + (f" ({', '.join(map(repr, roots[:2]))})" if roots else "")


def _collision_text(
    parts: Sequence[_Part],
    batch: RecordBatch,
    table_of: NDArray[np.int32],
    collision: tuple[int, int],
) -> str:
    row = {name: batch.column(name)[collision[0]].as_py() for name in ("path", "io", "index")}
    what = f"{row['path']!r}" + (f" {tensor_name(row['io'], row['index'])}" if row["io"] else "")
    first, second = sorted(int(table_of[i]) for i in collision)
    return (
        f"{what} is in {_name(parts, first)} and in {_name(parts, second)}: leave out what was "
        "scanned twice; if they are dumps of different ranks, scan each with as_rank= (--as-rank), "
        "and if of different directories, with base= (--base), a directory above all of them"
    )
