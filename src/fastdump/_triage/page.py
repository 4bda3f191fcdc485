"""What triage found as sections of a page: the answer, the graph around it, all findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fastdump._figures.figures import Curve, Curves
from fastdump._op_name import in_layer
from fastdump._page.parts import Box, Graph, Part, Rows, Section, Verdict
from fastdump._table.row import StatsRow
from fastdump._triage.answer import SEVERITY_STYLES, summary_of
from fastdump._triage.records import Finding, Infected, Origin, Suppressed
from fastdump._triage.text import suppressed_table
from fastdump._words import page_catalogue as say
from fastdump._words.answer import Answer
from fastdump._words.catalogue import NOT_DUMPED, OPERATORS
from fastdump._words.places import bad_text, where_text
from fastdump._words.printable import printable
from fastdump._words.quantities import is_integer, shape_text, value_text
from fastdump._words.styles import number_cell
from fastdump._words.text_table import Cell, Column, TextTable

_MAX_BOXES = 12
_MAX_FINDINGS = 200


def sections_of(
    answer: Answer,
    about: tuple[tuple[str, str], ...],
    findings: Sequence[Finding],
    suppressed: Sequence[Suppressed],
) -> tuple[Section, ...]:
    """Return the sections of a report; parameters are what it has."""
    first = findings[0] if findings else None
    origin = None if first is None else first.origin
    graph = () if first is None or origin is None else (_graph(first, origin),)
    return (
        Section(say.ANSWER(), (Verdict(answer, about),)),
        Section(say.HOW_IT_SPREAD(), graph),
        Section(say.FINDINGS(), tuple(_lists(findings, suppressed))),
    )


def _lists(findings: Sequence[Finding], suppressed: Sequence[Suppressed]) -> Iterator[Part]:
    if findings:
        shown = findings[:_MAX_FINDINGS]
        left = len(findings) - len(shown)
        yield Rows(
            say.MOST_URGENT_FIRST(),
            TextTable(_COLUMNS, map(_finding_cells, shown), width=None),
            remark=say.MORE_FINDINGS(left) if left else "",
        )
    if suppressed:
        yield Rows(say.BAD_ON_PURPOSE(), suppressed_table(suppressed, None))


_COLUMNS = (
    Column("severity"),
    Column("kind"),
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type"),
    Column("op_name", names=True),
    Column("tensor"),
    Column("verdict"),
    Column("also", right=True),
    Column("finding"),
)


def _finding_cells(finding: Finding) -> list[Cell]:
    origin = finding.origin
    severity = Cell(finding.severity, SEVERITY_STYLES[finding.severity])
    if origin is None:
        place = [Cell("")] * 6
    else:
        operator = origin.operator
        place = [
            number_cell(operator.rank),
            number_cell(operator.step),
            Cell(printable(operator.op_type or "")),
            Cell(printable(operator.op_name or ", ".join(operator.paths))),
            Cell(origin.tensor.tensor_name),
            Cell(origin.verdict),
        ]
    also = number_cell(len(finding.also) or None)
    return [severity, Cell(finding.kind), *place, also, Cell(summary_of(finding))]


def _graph(finding: Finding, origin: Origin) -> Graph:
    """Return the origin, what it read, and the first operators that it infected."""
    shown = finding.chain[: _MAX_BOXES - 1]
    left = finding.chain_length - len(shown)
    caption = say.FROM_THE_ORIGIN()
    if left > 0:
        caption = say.FROM_THE_ORIGIN_MORE(operators=OPERATORS(left))
    return Graph(caption, (_origin_box(origin), *map(_infected_box, shown)))


def _origin_box(origin: Origin) -> Box:
    operator = origin.operator
    return Box(
        where_text(rank=operator.rank, step=operator.step),
        operator.op_type or "",
        operator.op_name or ", ".join(operator.paths),
        say.THE_ORIGIN(),
        tuple((_tensor_text(row), bool(_bad(row))) for row in origin.inputs),
    )


def _infected_box(infected: Infected) -> Box:
    operator = infected.operator
    read = infected.read
    known = NOT_DUMPED() if read is None else _tensor_text(read)
    if infected.known_by:
        known = say.LINK_KNOWN_BY(tensor=known, ways=", ".join(infected.known_by))
    return Box(
        where_text(rank=operator.rank, step=operator.step),
        operator.op_type or "",
        operator.op_name or ", ".join(operator.paths),
        say.INFECTED(),
        ((known, True),),
    )


def _tensor_text(row: StatsRow) -> str:
    what = f"{row.tensor_name} {row.dtype or ''} {shape_text(row.shape)}"
    if bad := _bad(row):
        return say.TENSOR_IS_BAD(tensor=what, counts=bad)
    low, high = (value_text(v, integer=is_integer(row.dtype)) for v in (row.min, row.max))
    return say.TENSOR_BETWEEN(tensor=what, low=low, high=high) if low else what


def _bad(row: StatsRow) -> str:
    return bad_text(row.nan, row.pos_inf, row.neg_inf)


def chain_curve(finding: Finding) -> Curves:
    """Return which share of the elements is bad in each operator of a chain, its origin first."""
    origin = finding.origin
    assert origin is not None
    runs = [(origin.operator, origin.tensor)]
    runs += [(one.operator, row) for one in finding.chain if (row := one.made or one.read)]
    names = [in_layer(run.op_name) if run.op_name else run.op_type or "" for run, _ in runs]
    return Curves(
        say.BAD_FROM_ORIGIN(),
        say.OPERATORS_IN_ORDER(),
        say.SHARE_OF_BAD(),
        [printable(name) for name in names],
        (Curve(say.BAD(), np.array([_bad_share(row) for _, row in runs])),),
    )


def _bad_share(row: StatsRow) -> float:
    if not row.count or row.nan is None:
        return float("nan")
    return sum(n or 0 for n in (row.nan, row.pos_inf, row.neg_inf)) / row.count
