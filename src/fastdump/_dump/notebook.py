"""A dump as notebooks show it."""

from __future__ import annotations

from collections.abc import Iterable

from fastdump._dump.operator import Operator
from fastdump._words.html import fragment
from fastdump._words.printable import printable
from fastdump._words.styles import SUBTLE, number_cell
from fastdump._words.text_table import Cell, Column, TextTable

MAX_OPERATORS = 10

_OPERATORS = (
    Column("rank", right=True),
    Column("step", right=True),
    Column("op_type"),
    Column("op_name", names=True),
    Column("file", names=True),
)


def operators_html(facts: Iterable[str], operators: Iterable[Operator]) -> str:
    """Return facts about a dump, and some of its operators."""
    rows = [
        [
            number_cell(operator.rank),
            number_cell(operator.step),
            Cell(printable(operator.op_type or "")),
            Cell(printable(operator.op_name or "")),
            Cell(printable(operator.relative), SUBTLE),
        ]
        for operator in operators
    ]
    return fragment(facts, TextTable(_OPERATORS, rows, width=None))
