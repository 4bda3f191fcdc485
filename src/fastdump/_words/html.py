"""Text tables as HTML; every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from fastdump._words.sentence import told
from fastdump._words.styles import BAD, DOUBTFUL, GOOD, SUBTLE
from fastdump._words.text_table import Cell, Column, TextTable

CLASSES = {BAD: "bad", DOUBTFUL: "doubtful", GOOD: "good", SUBTLE: "subtle"}
"""The CSS class of each style."""

# Notebooks bring their own fonts and their own background: these colours are legible on white and
# on black.
_STYLE = (
    "<style>.fastdump td,.fastdump th{white-space:nowrap;text-align:left}"
    ".fastdump td.number,.fastdump th.number{text-align:right}"
    ".fastdump .folded{max-width:34em;overflow:hidden;text-overflow:ellipsis;direction:rtl}"
    ".fastdump .bad{color:#d1352b;font-weight:bold}.fastdump .doubtful{color:#b06a00}"
    ".fastdump .good{color:#16885a}.fastdump .subtle{opacity:.7}</style>"
)
_LONG_NAME = 40


def fragment(paragraphs: Iterable[str], *tables: TextTable) -> str:
    """Return lines of text above tables, to be embedded in a page."""
    text = "<br>".join(map(html.escape, paragraphs))
    return block([f"<p>{text}</p>", *map(table_html, tables)])


def styled(lines: Iterable[Iterable[Cell]]) -> str:
    """Return lines of styled text, to be embedded in a page, with their blanks and line ends."""
    text = "\n".join(map(line_html, lines))
    return block([f"<pre>{text}</pre>"])


def block(parts: Iterable[str]) -> str:
    """Return pieces of HTML as one that a notebook shows."""
    return "\n".join([f'<div class="fastdump">{_STYLE}', *parts, "</div>"])


def line_html(line: Iterable[Cell]) -> str:
    """Return a line of styled text."""
    return "".join(
        f'<span class="{CLASSES[style]}">{html.escape(text)}</span>'
        if style in CLASSES
        else html.escape(text)
        for text, style in line
    )


def table_html(table: TextTable) -> str:
    """Return a table as HTML, '' if it has no row.

    Numbers are aligned to the right, long names folded to their end, which tells them apart;
    hovering over one shows all of it.
    """
    columns, rows = table.shown()
    if not rows:
        return ""
    head = "".join(map(_title_html, columns))
    body = "\n".join(f"<tr>{''.join(map(cell_html, columns, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def cell_html(column: Column, cell: Cell) -> str:
    """Return one cell of a table."""
    text = html.escape(told(cell.text))
    if column.names and len(cell.text) > _LONG_NAME:
        # Text that runs from the right is cut on the left; within <bdi> it runs as names do.
        return f'<td class="folded" title="{text}"><bdi>{text}</bdi></td>'
    return f"<td{_class_of(column, cell.style)}>{text}</td>"


def _title_html(column: Column) -> str:
    return f"<th{_class_of(column, '')}>{html.escape(column.title)}</th>"


def _class_of(column: Column, style: str) -> str:
    names = [*(["number"] if column.right else []), *([CLASSES[style]] if style in CLASSES else [])]
    return f' class="{" ".join(names)}"' if names else ""
