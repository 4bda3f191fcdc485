"""Messages for an empty selection: which condition no tensor meets, and what is there instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
            return absent(selection, name, _known(files, positions, name))
    by_names = selection.without(("io", "index", "dtype", "status"))
    found, _ = files.select(positions, by_names)
    if not len(found) and (reason := _absence_together(files, positions, by_names)):
        return reason
    scan = TableScan(files.paths, by_names, files=(files.index, found), level="header")
    scan.run()
    return absence_text(selection, scan.table().batch)


def _absence_together(files: IndexedFiles, positions: Positions, selection: Selection) -> str:
    """Return which condition nothing meets that meets the others, '' if it is not one alone.

    >>> _absence_together(...)  # doctest: +SKIP
    'with device 0, no rank 1 (ranks present: 0)'
    """
    for name in selection.conditions():
        others = selection.without([name])
        there, _ = files.select(positions, others)
        if name in Record._fields and len(there):
            texts = ", ".join(others.text_of(other) for other in others.conditions())
            return f"with {texts}, {absent(selection, name, _known(files, there, name))}"
    return ""


def _known(files: IndexedFiles, positions: Positions, name: str) -> list[Any]:
    """Return what the names of some files tell of one property, sorted."""
    records = (Record(*files.index.record(position)) for position in positions.tolist())
    return sorted({getattr(record, name) for record in records} - {None})


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
