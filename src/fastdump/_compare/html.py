"""Comparisons as HTML; texts from files are escaped."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fastdump._compare.text import facts, operator_table, pair_table

if TYPE_CHECKING:
    from fastdump._compare.table import ComparisonTable
    from fastdump._text_table import TextTable

_WORST_ROWS = 8
_PAGE_ROWS = 1000
_STYLE = (
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;font:12px monospace}"
    "td,th{padding:2px 8px;text-align:left;border-bottom:1px solid #ddd}"
)


def html_text(table: ComparisonTable) -> str:
    """Return ``table._repr_html_()``: the sentence and the worst rows."""
    lines = [f"<p>{html.escape(facts(table))}<br>{html.escape(table.sentence)}</p>"]
    lines += _table(pair_table(table.worst(_WORST_ROWS), width=None))
    return "\n".join(["<div>", *lines, "</div>"])


def html_page(table: ComparisonTable) -> str:
    """Return a page: the sentence, operators, the worst pairs, and what has no partner."""
    unpaired, pairs = table[table.unpaired], table[~table.unpaired]
    operators = table.by_added_error()
    sections = (
        (
            "Operators by the error that they add",
            len(operators),
            operator_table(operators[:_PAGE_ROWS], width=None),
        ),
        ("Worst pairs", len(pairs), pair_table(pairs.worst(_PAGE_ROWS), width=None)),
        ("Without a partner", len(unpaired), pair_table(unpaired[:_PAGE_ROWS], width=None)),
    )
    lines = [
        "<!DOCTYPE html>",
        f"<html><head><meta charset='utf-8'><title>fastdump compare</title><style>{_STYLE}</style>",
        f"</head><body><h1>{html.escape(table.sentence)}</h1>",
        f"<p>{html.escape(facts(table))}</p>",
    ]
    for title, n_rows, text_table in sections:
        if not n_rows:
            continue
        lines.append(f"<h2>{title}</h2>")
        if n_rows > _PAGE_ROWS:
            lines.append(f"<p>The first {_PAGE_ROWS:,} of {n_rows:,}.</p>")
        lines += _table(text_table)
    return "\n".join([*lines, "</body></html>", ""])


def _table(text_table: TextTable) -> Iterator[str]:
    titles, *rows = text_table.texts()
    if rows:
        yield "<table><thead>" + _row("th", titles) + "</thead><tbody>"
        yield from (_row("td", row) for row in rows)
        yield "</tbody></table>"


def _row(tag: str, texts: list[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(text)}</{tag}>' for text in texts)}</tr>"
