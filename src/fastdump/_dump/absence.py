"""Messages for an empty selection: which condition no tensor meets, and what is there instead."""

from __future__ import annotations

from collections.abc import Mapping

from fastdump._dump.indexed_files import IndexedFiles, Positions
from fastdump._dump.operator import Record
from fastdump._scan import TableScan
from fastdump._selection import Selection
from fastdump._table.selected import absence_text, absent
from fastdump._words.quantities import counted
from fastdump.errors import NoDumpError


def absence(files: IndexedFiles, positions: Positions, selection: Selection) -> str:
    """Return why no tensor of some files meets a selection; read headers only if names do not tell.

    >>> absence(...)  # doctest: +SKIP
    'no step 9 (steps present: 0-1)'
    """
    for name, alone in selection.conditions().items():
        if name in Record._fields and not len(files.select(positions, alone)[0]):
            records = (Record(*files.index.record(position)) for position in positions.tolist())
            known = {getattr(record, name) for record in records} - {None}
            return absent(selection, name, sorted(known))
    by_names = selection.without(("io", "index", "dtype", "status"))
    found, _ = files.select(positions, by_names)
    scan = TableScan(files.paths, by_names, files=(files.index, found), level="header")
    scan.run()
    return absence_text(selection, scan.table().batch)


def no_dump_error(name: str, skipped: Mapping[str, int], reason: str = "") -> NoDumpError:
    """Return the error for paths without a single tensor.

    Parameters
    ----------
    name
        The paths.
    skipped
        Number of files that are no dumps, by reason.
    reason
        Why no tensor was selected, if a selection is the cause.
    """
    if reason:
        return NoDumpError(f"{name}: {reason}")
    n_skipped = sum(skipped.values())
    if not n_skipped:
        return NoDumpError(f"no dump file in {name}")
    reasons = ", ".join(f"{n_files} {why}" for why, n_files in skipped.items())
    return NoDumpError(f"no dump file in {name}: {counted(n_skipped, 'file')} skipped ({reasons})")
