"""Parts of a watcher report as text: the counts, the changes, and what was not compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fastdump._watcher.answer import suspected
from fastdump._watcher.records import Change, Suspect, WatcherComparison
from fastdump._words import catalogue as say
from fastdump._words.places import operator_text
from fastdump._words.printable import printable
from fastdump._words.quantities import shape_text
from fastdump._words.sentence import told
from fastdump._words.styles import BAD, DOUBTFUL, GOOD, SUBTLE, number_cell
from fastdump._words.text_table import Cell, Column, TextTable

DEFAULT_ROWS = 20


def counts_line(counts: Mapping[str, int]) -> list[Cell]:
    """Return how many comparisons there are of each status."""
    line: list[Cell] = []
    separator = say.ANOTHER_ITEM(items="", item="").told()
    for status in sorted(counts, key=_ORDER.index):
        n = counts[status]
        text = _WORDS[status](n=n) if status in _WORDS else say.N_OF_STATUS(n=n, status=status)
        line += [Cell(separator if line else ""), Cell(text.told(), _STYLES.get(status, DOUBTFUL))]
    return line


_STYLES = {"same": GOOD, "changed": BAD, "before": SUBTLE, "in_place": SUBTLE, "no_writer": SUBTLE}
_WORDS = {
    "before": say.RECORDED_BEFORE,
    "in_place": say.IN_PLACE,
    "no_writer": say.WITHOUT_WRITER,
    "no_own_file": say.WITHOUT_OWN_FILE,
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
        Cell(told(change.words) or _bytes_text(finding, change)),
    ]


def _bytes_text(finding: WatcherComparison, change: Change) -> str:
    places: dict[str, str | int] = {
        "first": change.first_byte,
        "last": change.last_byte,
        "nbytes": finding.nbytes or 0,
    }
    if finding.note:
        return say.BYTES_CHANGED_WHERE(**places, where=finding.note).told()
    return say.BYTES_CHANGED(**places).told()


def suspect_text(finding: WatcherComparison, suspect: Suspect) -> str:
    """Return who wrote over a tensor, and where."""
    first, last = suspect.overlap
    return say.SUSPECT(
        tensor=f"output.{finding.output}",
        operator=operator_text(finding.op_type, finding.op_name),
        first=first,
        last=last,
        suspect=suspected(suspect),
    ).told()


def unchecked_cell(comparison: WatcherComparison) -> Cell:
    """Return which tensor could not be compared, and why."""
    style = BAD if comparison.status in ("malformed", "unreadable") else DOUBTFUL
    status = comparison.status
    if comparison.seen_as:
        status = say.TENSOR_STATUS(tensor=comparison.seen_as, status=status)
    places = {"path": comparison.seen_path, "status": status}
    if comparison.note:
        return Cell(say.STATUS_OF_FILE_BECAUSE(**places, note=comparison.note).told(), style)
    return Cell(say.STATUS_OF_FILE(**places).told(), style)
