"""`concat`: tables of parts of a dump become the table of the whole."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from arro3.core import RecordBatch

from fastdump._table.arrow_column import joined_rows
from fastdump._table.execution_order import JoinedRows
from fastdump._table.file_states import FileStates
from fastdump._table.provenance import Provenance
from fastdump._table.shared_places import note_of_shared_places
from fastdump._table.stats_table import StatsTable
from fastdump._words.places import tensor_name


def concat(tables: Iterable[StatsTable]) -> StatsTable:
    """Join tables of parts of a dump into the table that one scan would have given.

    The parts may be ranks, steps, directories, files or shards, scanned anywhere. Rows are in the
    order of execution; ``skipped`` and ``notes`` add up. If the parts are relative to different
    directories, paths become relative to the nearest directory above all of them.

    Parameters
    ----------
    tables
        Tables of one level. Their order does not matter, except where nothing but the order of
        roots tells which rows come first.

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
    several = list(tables)
    for table in several:
        if not isinstance(table, StatsTable):
            raise TypeError(f"tables has a {type(table).__name__}, expected StatsTable")
    if not several:
        raise ValueError("tables is empty, expected at least one table")
    _check_levels(several)
    if len(several) == 1:
        return several[0].with_provenance(several[0].provenance)
    root = _root_above(several)
    if root is not None:
        several = [table.seen_from(root) for table in several]
    return _joined(several, root)


def _joined(several: Sequence[StatsTable], root: str | None) -> StatsTable:
    """Return all rows of tables whose paths are relative to one directory."""
    batch = joined_rows([table.batch for table in several])
    table_of = np.repeat(np.arange(len(several)), [len(table) for table in several])
    roots = list(dict.fromkeys(path for table in several for path in table.roots))
    rows = JoinedRows(batch, table_of, root, roots)
    if rows.collision is not None:
        raise ValueError(_collision_text(several, batch, table_of, rows.collision))
    skipped: Counter[str] = Counter()
    for table in several:
        skipped.update(table.skipped)
    notes = [note for table in several for note in table.notes]
    origins = {roots: i for i, roots in enumerate({tuple(table.roots): None for table in several})}
    origin_of = np.array([origins[tuple(table.roots)] for table in several], np.int64)[table_of]
    notes += note_of_shared_places(batch, origin_of, [", ".join(roots) for roots in origins])
    provenance = Provenance.joined([table.provenance for table in several])
    if not np.array_equal(rows.order, np.arange(batch.num_rows)):
        batch = batch.take(rows.order)
        provenance = provenance and provenance.in_order(rows.order)
    return StatsTable.scanned(
        batch,
        states=FileStates.joined(table.file_states for table in several),
        level=several[0].level,
        skipped=dict(sorted(skipped.items())),
        roots=roots,
        root=root,
        notes=list(dict.fromkeys(notes)),
        provenance=provenance,
    )


def _check_levels(tables: Sequence[StatsTable]) -> None:
    first = tables[0]
    for number, table in enumerate(tables[1:], 2):
        if table.level != first.level:
            raise ValueError(
                f"{_name(tables, 0)} has level {first.level!r}, {_name(tables, number - 1)} level "
                f"{table.level!r}: tables of one level can be joined"
            )


def _root_above(tables: Sequence[StatsTable]) -> str | None:
    """Return the directory that paths of all tables can be relative to; None if none tells one."""
    roots = [table.root for table in tables]
    if len(set(roots)) == 1:
        return roots[0]
    unknown = next((i for i, root in enumerate(roots) if root is None), None)
    if unknown is not None:
        raise ValueError(
            f"{_name(tables, unknown)} does not tell where its dump is, and others do: read it "
            "with root="
        )
    return os.path.commonpath([directory for table in tables for directory in table.tops()])


def _name(tables: Sequence[StatsTable], i: int) -> str:
    roots = tables[i].roots
    return f"table {i + 1}" + (f" ({', '.join(map(repr, roots[:2]))})" if roots else "")


def _collision_text(
    tables: Sequence[StatsTable],
    batch: RecordBatch,
    table_of: np.typing.NDArray[np.int64],
    collision: tuple[int, int],
) -> str:
    row = {name: batch.column(name)[collision[0]].as_py() for name in ("path", "io", "index")}
    what = f"{row['path']!r}" + (f" {tensor_name(row['io'], row['index'])}" if row["io"] else "")
    first, second = sorted(int(table_of[i]) for i in collision)
    return (
        f"{what} is in {_name(tables, first)} and in {_name(tables, second)}: leave out what was "
        "scanned twice; if they are dumps of different ranks, scan each with as_rank= (--as-rank), "
        "and if of different directories, with base= (--base), a directory above all of them"
    )
