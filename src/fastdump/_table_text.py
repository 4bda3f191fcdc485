"""A table as a few lines of text or HTML: what there is, then the worst rows."""

from __future__ import annotations

import html
import shutil

from fastdump._printable import printable
from fastdump._quantities import counted, size_text, skipped_text
from fastdump._row_text import row_table
from fastdump._table import StatsTable
from fastdump._text_table import plain

_WORST_ROWS = 8


def plain_text(table: StatsTable) -> str:
    """Return ``repr(table)``: fitted to the terminal, without control characters."""
    width = shutil.get_terminal_size((100, 24)).columns
    worst = row_table(table.worst(_WORST_ROWS), width=width)
    # ASCII: a repr is printed under every encoding.
    return "\n".join([*_facts(table), *map(plain, worst.lines(ellipsis="..."))])


def html_text(table: StatsTable) -> str:
    """Return ``table._repr_html_()``: texts from files are escaped."""
    facts = "<br>".join(map(html.escape, _facts(table)))
    lines = [f"<div><p>{facts}</p>"]
    titles, *rows = row_table(table.worst(_WORST_ROWS), width=None).texts()
    if rows:
        lines += ["<table><thead>", _html_row("th", titles), "</thead><tbody>"]
        lines += [_html_row("td", row) for row in rows]
        lines.append("</tbody></table>")
    return "\n".join([*lines, "</div>"])


def _html_row(tag: str, texts: list[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(text)}</{tag}>' for text in texts)}</tr>"


def _facts(table: StatsTable) -> list[str]:
    summary = table.summary()
    facts = [
        f"StatsTable: {counted(summary['rows'], 'row')} ({summary['bad']:,} bad), "
        f"{counted(summary['files'], 'file')}, {size_text(summary['bytes'])}, level {table.level}"
    ]
    if set(summary["status"]) - {"ok"}:
        by_status = summary["status"].items()
        facts.append(f"status: {', '.join(f'{n:,} {printable(s)}' for s, n in by_status)}")
    if table.skipped:
        facts.append(f"skipped: {skipped_text(table.skipped)}")
    return facts
