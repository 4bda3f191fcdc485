"""Text tables as HTML; every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from fastdump._words.text_table import TextTable

_STYLE = (
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;font:12px monospace}"
    "td,th{padding:2px 8px;text-align:left;border-bottom:1px solid #ddd}"
)


def fragment(paragraphs: Iterable[str], table: TextTable) -> str:
    """Return lines of text above a table, to be embedded in a page."""
    text = "<br>".join(map(html.escape, paragraphs))
    return "\n".join(["<div>", f"<p>{text}</p>", table_html(table), "</div>"])


def page(title: str, head: str, facts: str, sections: Iterable[tuple[str, str, TextTable]]) -> str:
    """Return a whole page: a heading, facts, and titled tables, each with a remark (or '')."""
    lines = [
        "<!DOCTYPE html>",
        f"<html><head><meta charset='utf-8'><title>{html.escape(title)}</title>",
        f"<style>{_STYLE}</style></head>",
        f"<body><h1>{html.escape(head)}</h1>",
        f"<p>{html.escape(facts)}</p>",
    ]
    for heading, remark, table in sections:
        lines.append(f"<h2>{html.escape(heading)}</h2>")
        if remark:
            lines.append(f"<p>{html.escape(remark)}</p>")
        lines.append(table_html(table))
    return "\n".join([*lines, "</body></html>", ""])


def table_html(table: TextTable) -> str:
    """Return a table as HTML, '' if it has no row."""
    titles, *rows = table.texts()
    if not rows:
        return ""
    body = "\n".join(_row("td", row) for row in rows)
    return f"<table><thead>{_row('th', titles)}</thead><tbody>\n{body}\n</tbody></table>"


def _row(tag: str, texts: list[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(text)}</{tag}>' for text in texts)}</tr>"
