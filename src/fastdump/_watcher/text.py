"""Parts of a watcher report as text: the counts, the changes, and what was not compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fastdump._watcher.records import Change, WatcherComparison
from fastdump._words.printable import printable
from fastdump._words.quantities import shape_text
from fastdump._words.styles import BAD, DOUBTFUL, GOOD, SUBTLE, number_cell
from fastdump._words.text_table import Cell, Column, TextTable

DEFAULT_ROWS = 20


def counts_line(counts: Mapping[str, int]) -> list[Cell]:
    """Return how many comparisons there are of each status."""
    line: list[Cell] = []
    for status in sorted(counts, key=_ORDER.index):
        text = f"{counts[status]:,} {_WORDS.get(status, status)}"
        line += [Cell(", " if line else ""), Cell(text, _STYLES.get(status, DOUBTFUL))]
    return line


_STYLES = {"same": GOOD, "changed": BAD, "before": SUBTLE, "in_place": SUBTLE, "no_writer": SUBTLE}
_WORDS = {
    "before": "recorded before the watched operator ran",
    "in_place": "written where they are read",
    "no_writer": "without a writer",
    "no_own_file": "without a file of the watched operator",
}
_ORDER = (
    *("same", "changed", "truncated", "absent", "size_mismatch", "missing", "no_own_file"),
    *("malformed", "unreadable", "before", "in_place", "no_writer"),
)

_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_name", min_width=16, names=True),
    Column("tensor"),
    Column("dtype", drop_order=1),
    Column("shape", min_width=7, drop_order=2),
    Column("seen by", min_width=16, names=True),
    Column("as", drop_order=0),
    Column("same until", min_width=10, drop_order=3),
    Column("bytes", right=True),
    Column("where", min_width=14),
)


def changes_table(findings: Iterable[WatcherComparison], width: int | None) -> TextTable:
    """Return a table of changes, one a line, for a terminal of some width."""
    return TextTable(_COLUMNS, map(_cells, findings), width=width)


def _cells(finding: WatcherComparison) -> list[Cell]:
    change = finding.change
    assert change is not None
    return [
        number_cell(finding.rank),
        number_cell(finding.step),
        Cell(printable(finding.op_name or "")),
        Cell(f"output.{finding.output}"),
        Cell(printable(finding.dtype or "")),
        Cell(shape_text(finding.shape), SUBTLE),
        Cell(printable(finding.seen_by), BAD),
        Cell(finding.seen_as),
        Cell(printable(finding.same_until or "")),
        number_cell(change.n_bytes, BAD),
        Cell(change.words or _bytes_text(finding, change)),
    ]


def _bytes_text(finding: WatcherComparison, change: Change) -> str:
    text = f"bytes {change.first_byte:,} to {change.last_byte:,}"
    return printable(f"{text}: {finding.note}" if finding.note else text)


def unchecked_cell(comparison: WatcherComparison) -> Cell:
    """Return which tensor could not be compared, and why."""
    style = BAD if comparison.status in ("malformed", "unreadable") else DOUBTFUL
    note = f": {comparison.note}" if comparison.note else ""
    what = f" {comparison.seen_as}" if comparison.seen_as else ""
    return Cell(printable(f"{comparison.seen_path}:{what} {comparison.status}{note}"), style)
