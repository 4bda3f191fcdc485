"""A report as lines of text: the sentence, the chain, the table, and then the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fastdump._printable import printable
from fastdump._quantities import counted
from fastdump._row_text import row_table
from fastdump._schema import StatsRow
from fastdump._styles import BAD, DOUBTFUL, GOOD, SUBTLE
from fastdump._text_table import Cell, Column, TextTable
from fastdump._triage.harmless import PATTERNS
from fastdump._triage.report import Finding, Infected, Suppressed, TriageReport
from fastdump._triage.sentence import also_text, bad_text, operator_text, place_text

DEFAULT_ROWS = 20

_STYLES = {"error": BAD, "warning": DOUBTFUL}


def report_lines(
    report: TriageReport,
    *,
    width: int | None = None,
    rows: int | None = DEFAULT_ROWS,
    ellipsis: str = "...",
    show_suppressed: bool = False,
) -> Iterator[list[Cell]]:
    """Yield the lines of a report.

    Parameters
    ----------
    report
        What to tell.
    width
        Of the terminal, in cells; None lays tables out in full.
    rows
        How many lines of each list are told; None for all.
    ellipsis
        For names that are too long.
    show_suppressed
        Whether to list what is bad on purpose, and not only to count it.
    """
    first = report.findings[0] if report.findings else None
    yield [Cell(report.sentence, _STYLES[first.severity] if first else GOOD)]
    if first is not None:
        yield from _facts(first)
        yield from _chain_lines(first, width, rows, ellipsis)
        yield from _table_lines(report, width, rows, ellipsis)
    yield from _other_findings(report.findings[1:], rows)
    yield from _suppressed_lines(report.suppressed, width, ellipsis, in_full=show_suppressed)
    if report.notes:
        yield []
    for note in report.notes:
        yield [Cell(printable(note), SUBTLE)]


def _facts(finding: Finding) -> Iterator[list[Cell]]:
    origin = finding.origin
    facts = []
    if origin is not None:
        facts.append(("verdict", f"{origin.verdict}: {printable(origin.reason)}"))
        if origin.damage is not None:
            facts.append(("damage", origin.damage.words))
    if finding.also:
        facts.append(("also", also_text(finding.also)))
    if sum(finding.infected.values()) > 1:
        numbers = [
            counted(number, "operator") + ("" if rank is None else f" of rank {rank}")
            for rank, number in finding.infected.items()
        ]
        facts.append(("infected", ", ".join(numbers)))
    for infected in finding.received:
        by = f"{place_text(infected.operator)}: {operator_text(infected.operator)}"
        facts.append(("received", f"{by} ({_known_by(infected)})"))
    for name, text in facts:
        yield [Cell(f"{name:<9} ", SUBTLE), Cell(text)]


_CHAIN_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type", min_width=8, drop_order=2),
    Column("op_name", min_width=18),
    Column("read", drop_order=1),
    Column("made"),
    Column("bad", min_width=8),
    Column("known by", drop_order=0),
)


def _chain_lines(
    finding: Finding, width: int | None, rows: int | None, ellipsis: str
) -> Iterator[list[Cell]]:
    chain = finding.chain
    if not chain:
        return
    yield []
    n_shown = len(chain) if rows is None else min(rows, len(chain))
    title = f"chain to the last of {counted(sum(finding.infected.values()), 'operator')}"
    if n_shown < finding.chain_length:
        title += f"; {finding.chain_length - n_shown:,} in the middle left out"
    yield [Cell(title, SUBTLE)]
    shown = [*chain[: -(-n_shown // 2)], *chain[len(chain) - n_shown // 2 :]]
    table = TextTable(_CHAIN_COLUMNS, map(_chain_cells, shown), width=width)
    yield from table.lines(ellipsis=ellipsis)


def _chain_cells(infected: Infected) -> list[Cell]:
    operator = infected.operator
    worst = infected.made or infected.read
    style = BAD if infected.made else SUBTLE
    return [
        Cell("" if operator.rank is None else str(operator.rank)),
        Cell("" if operator.step is None else str(operator.step)),
        Cell(printable(operator.op_type or "")),
        Cell(printable(operator.op_name or "")),
        Cell(_name(infected.read)),
        Cell(_name(infected.made)),
        Cell("" if worst is None else _bad(worst), style),
        Cell(_known_by(infected), SUBTLE),
    ]


def _bad(row: StatsRow) -> str:
    is_bad = any((row.nan, row.pos_inf, row.neg_inf))
    return bad_text(row) if is_bad or row.nan is None else ""


def _name(row: StatsRow | None) -> str:
    return "" if row is None else f"{row.io}.{row.index}"


def _known_by(infected: Infected) -> str:
    return f"{', '.join(infected.known_by)}: {infected.certainty}"


def _table_lines(
    report: TriageReport, width: int | None, rows: int | None, ellipsis: str
) -> Iterator[list[Cell]]:
    if not len(report.table):
        return
    yield []
    shown = report.table[: len(report.table) if rows is None else rows]
    yield from row_table(shown, width=width).lines(ellipsis=ellipsis)
    if len(shown) < len(report.table):
        yield [Cell(f"{len(shown):,} of {counted(len(report.table), 'row')}", SUBTLE)]


def _other_findings(found: Sequence[Finding], rows: int | None) -> Iterator[list[Cell]]:
    if not found:
        return
    yield []
    yield [Cell(f"{counted(len(found), 'more finding')}", SUBTLE)]
    for finding in found[:rows]:
        also = f"; {also_text(finding.also)}" if finding.also else ""
        yield [
            Cell(f"{finding.severity} {finding.kind}: ", _STYLES[finding.severity]),
            Cell(finding.sentence + also),
        ]
    if rows is not None and len(found) > rows:
        yield [Cell(f"... and {len(found) - rows:,} more", SUBTLE)]


_SUPPRESSED_COLUMNS = (
    Column("tensors", right=True),
    Column("looks like"),
    Column("because"),
    Column("op_type", min_width=8),
    Column("first op_name", min_width=18),
    Column("tensor"),
    Column("file", min_width=12, drop_order=0),
)


def _suppressed_lines(
    suppressed: Sequence[Suppressed], width: int | None, ellipsis: str, *, in_full: bool
) -> Iterator[list[Cell]]:
    if not suppressed:
        return
    yield []
    number: dict[str, int] = {}
    for one in suppressed:
        number[one.pattern] = number.get(one.pattern, 0) + one.tensors
    for pattern, n_tensors in number.items():
        hint = "" if in_full else "; --all lists them"
        text = f"suppressed: {counted(n_tensors, 'tensor')}, {PATTERNS[pattern]}{hint}"
        yield [Cell(text, SUBTLE)]
    if in_full:
        cells = map(_suppressed_cells, suppressed)
        yield from TextTable(_SUPPRESSED_COLUMNS, cells, width=width).lines(ellipsis=ellipsis)


def _suppressed_cells(one: Suppressed) -> list[Cell]:
    example = one.example
    return [
        Cell(f"{one.tensors:,}"),
        Cell(one.kind),
        Cell(one.pattern),
        Cell(printable(one.op_type or "")),
        Cell(printable(example.op_name or "")),
        Cell(_name(example)),
        Cell(printable(example.path), SUBTLE),
    ]
