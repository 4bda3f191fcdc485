"""Parts of a triage report as text: facts, chain, table, other findings, suppressed tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fastdump._table.row import StatsRow
from fastdump._table.row_text import row_table
from fastdump._table.stats_table import StatsTable
from fastdump._triage.answer import SEVERITY_STYLES
from fastdump._triage.harmless import PATTERNS
from fastdump._triage.records import Finding, Infected, Suppressed
from fastdump._triage.sentence import also_text, bad_words, operator_words, place_text
from fastdump._words.printable import printable
from fastdump._words.quantities import counted
from fastdump._words.styles import BAD, SUBTLE, number_cell
from fastdump._words.text_table import Cell, Column, TextTable

DEFAULT_ROWS = 20


def facts_lines(finding: Finding) -> Iterator[list[Cell]]:
    """Yield what is known of a finding, one fact a line."""
    origin = finding.origin
    facts = []
    if origin is not None:
        facts.append(("verdict", f"{origin.verdict}: {printable(origin.reason)}"))
        if origin.damage is not None:
            facts.append(("damage", origin.damage.words))
    if finding.also:
        facts.append(("also", also_text(finding.also)))
    if _n_infected(finding) > 1:
        numbers = [
            counted(number, "operator") + ("" if rank is None else f" of rank {rank}")
            for rank, number in finding.infected
        ]
        facts.append(("infected", ", ".join(numbers)))
    for infected in finding.received:
        by = f"{place_text(infected.operator)}: {operator_words(infected.operator)}"
        facts.append(("received", f"{by} ({_known_by(infected)})"))
    for name, text in facts:
        yield [Cell(f"{name:<9} ", SUBTLE), Cell(text)]


_CHAIN_COLUMNS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type", drop_order=2),
    Column("op_name", min_width=18, names=True),
    Column("read", drop_order=1),
    Column("made"),
    Column("bad", min_width=8),
    Column("known by", drop_order=0),
)


def chain_lines(
    finding: Finding, width: int | None, rows: int | None, ellipsis: str
) -> Iterator[list[Cell]]:
    """Yield the chain of a finding, without its middle if it is longer than `rows`."""
    chain = finding.chain
    if not chain:
        return
    yield []
    n_shown = len(chain) if rows is None else min(rows, len(chain))
    title = f"chain to the last of {counted(_n_infected(finding), 'operator')}"
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
        number_cell(operator.rank),
        number_cell(operator.step),
        Cell(printable(operator.op_type or "")),
        Cell(printable(operator.op_name or "")),
        Cell(_name(infected.read)),
        Cell(_name(infected.made)),
        Cell("" if worst is None else _bad(worst), style),
        Cell(_known_by(infected), SUBTLE),
    ]


def _bad(row: StatsRow) -> str:
    is_bad = any((row.nan, row.pos_inf, row.neg_inf))
    return bad_words(row) if is_bad or row.nan is None else ""


def _name(row: StatsRow | None) -> str:
    return "" if row is None else row.tensor_name


def _n_infected(finding: Finding) -> int:
    return sum(on_rank.operators for on_rank in finding.infected)


def _known_by(infected: Infected) -> str:
    return f"{', '.join(infected.known_by)}: {infected.certainty}"


def table_lines(
    table: StatsTable, width: int | None, rows: int | None, ellipsis: str
) -> Iterator[list[Cell]]:
    """Yield the statistics of the first rows of a table."""
    if not len(table):
        return
    yield []
    shown = table[:rows]
    yield from row_table(shown, width=width).lines(ellipsis=ellipsis)
    if len(shown) < len(table):
        yield [Cell(f"{len(shown):,} of {counted(len(table), 'row')}", SUBTLE)]


def other_findings(found: Sequence[Finding], rows: int | None) -> Iterator[list[Cell]]:
    """Yield the findings after the first one, one a line."""
    if not found:
        return
    yield []
    yield [Cell(counted(len(found), "more finding"), SUBTLE)]
    for finding in found[:rows]:
        also = f"; {also_text(finding.also)}" if finding.also else ""
        yield [
            Cell(f"{finding.severity} {finding.kind}: ", SEVERITY_STYLES[finding.severity]),
            Cell(finding.sentence + also),
        ]
    if rows is not None and len(found) > rows:
        yield [Cell(f"... and {len(found) - rows:,} more", SUBTLE)]


_SUPPRESSED_COLUMNS = (
    Column("tensors", right=True),
    Column("looks like"),
    Column("because"),
    Column("op_type", drop_order=1),
    Column("first op_name", min_width=18, names=True),
    Column("tensor"),
    Column("file", min_width=12, drop_order=0, names=True),
)


def suppressed_lines(
    suppressed: Sequence[Suppressed], width: int | None, ellipsis: str, *, in_full: bool
) -> Iterator[list[Cell]]:
    """Yield how many tensors are bad on purpose, and which they are if that is wanted."""
    if not suppressed:
        return
    yield []
    number: Counter[str] = Counter()
    for one in suppressed:
        number[one.pattern] += one.tensors
    for pattern, n_tensors in number.items():
        hint = "" if in_full else "; --all lists them"
        text = f"suppressed: {counted(n_tensors, 'tensor')}, {PATTERNS[pattern]}{hint}"
        yield [Cell(text, SUBTLE)]
    if in_full:
        yield from suppressed_table(suppressed, width).lines(ellipsis=ellipsis)


def suppressed_table(suppressed: Sequence[Suppressed], width: int | None) -> TextTable:
    """Lay out what is bad on purpose in `width` cells, or in full if `width` is None."""
    return TextTable(_SUPPRESSED_COLUMNS, map(_suppressed_cells, suppressed), width=width)


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
