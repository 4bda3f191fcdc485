"""Parts of a triage report as text: facts, chain, table, other findings, suppressed tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from fastdump._table.row import StatsRow
from fastdump._table.row_text import row_table
from fastdump._table.stats_table import StatsTable
from fastdump._triage.answer import SEVERITY_STYLES, again_text, operator_words, place_text
from fastdump._triage.harmless import PATTERNS
from fastdump._triage.records import Finding, Infected, Suppressed
from fastdump._words import catalogue as say
from fastdump._words.enumeration import clauses, enumerated
from fastdump._words.page_catalogue import ROWS
from fastdump._words.places import bad_text
from fastdump._words.printable import printable
from fastdump._words.sentence import told
from fastdump._words.styles import BAD, SUBTLE, number_cell
from fastdump._words.text_table import Cell, Column, TextTable

DEFAULT_ROWS = 20


def facts_lines(finding: Finding) -> Iterator[list[Cell]]:
    """Yield what the answer does not tell of a finding, one fact a line."""
    origin = finding.origin
    facts: list[tuple[str, str]] = []
    if origin is not None:
        verdict = say.LABELLED(label=origin.verdict, text=origin.reason)
        facts.append((say.ABOUT_VERDICT(), verdict))
        if origin.damage is not None:
            facts.append((say.ABOUT_DAMAGE(), origin.damage.words))
    if _n_infected(finding) > 1:
        facts.append((say.ABOUT_INFECTED(), enumerated(_of_ranks(finding))))
    for infected in finding.received:
        by: str = say.KNOWN_BY(text=operator_words(infected.operator), evidence=_known_by(infected))
        place = place_text(infected.operator)
        by = say.AT_PLACE(place=place, answer=by) if place else by
        facts.append((say.ABOUT_RECEIVED(), by))
    if origin is not None and origin.operator.paths:
        facts.append((say.ABOUT_FILE(), enumerated(origin.operator.paths)))
    width = max((cell_len(told(label)) for label, _ in facts), default=0)
    for label, text in facts:
        name = told(label)
        yield [Cell(f"{name}{' ' * (width - cell_len(name))}  ", SUBTLE), _cell(text)]


def _of_ranks(finding: Finding) -> Iterator[str]:
    for rank, number in finding.infected:
        operators = say.OPERATORS(number)
        yield operators if rank is None else say.OF_RANK(operators=operators, rank=str(rank))


def _cell(text: str, style: str = "") -> Cell:
    return Cell(printable(told(text)), style)


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
    operators = say.OPERATORS(_n_infected(finding))
    title = say.CHAIN_TO_LAST(operators=operators)
    if n_left_out := finding.chain_length - n_shown:
        title = say.CHAIN_TO_LAST_SHORTENED(operators=operators, n=n_left_out)
    yield [_cell(title, SUBTLE)]
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
    if not is_bad and row.nan is not None:
        return ""
    return bad_text(row.nan, row.pos_inf, row.neg_inf) or told(say.NAN_OR_INF())


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
        yield [_cell(say.SHOWN_OF(shown=len(shown), things=ROWS(len(table))), SUBTLE)]


def other_findings(found: Sequence[Finding], rows: int | None) -> Iterator[list[Cell]]:
    """Yield the findings after the first one, one a line."""
    if not found:
        return
    yield []
    yield [_cell(say.FINDINGS_AFTER(len(found)), SUBTLE)]
    for finding in found[:rows]:
        again = [again_text(finding.also)] if finding.also else []
        yield [
            Cell(f"{finding.severity} {finding.kind}: ", SEVERITY_STYLES[finding.severity]),
            _cell(clauses([finding.sentence, *again])),
        ]
    if rows is not None and len(found) > rows:
        yield [_cell(say.AND_MORE(n=len(found) - rows), SUBTLE)]


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
        said = say.SUPPRESSED_AS if in_full else say.SUPPRESSED_LISTED
        text = said(tensors=say.TENSORS(n_tensors), pattern=PATTERNS[pattern])
        yield [_cell(say.LABELLED(label=say.ABOUT_SUPPRESSED(), text=text), SUBTLE)]
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
