"""A page put together: one file of HTML, with all its styles, scripts and figures."""

from __future__ import annotations

import functools
import html
import json
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files

from fastdump._figures.on_page import scripts
from fastdump._page.parts import Box, Drawing, Graph, Lines, Part, Rows, Section, Verdict, Words
from fastdump._words import page_catalogue as say
from fastdump._words.catalogue import ABOUT_NEXT
from fastdump._words.html import CLASSES, cell_html, line_html
from fastdump._words.language import language_in_use
from fastdump._words.printable import printable
from fastdump._words.sentence import told
from fastdump._words.text_table import Column

_HTML_LANGUAGES = {"en": "en", "zh": "zh-CN"}
# Nothing is fetched and nothing is sent, whatever a name in a dump contains.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)


def page_html(title: str, sections: Sequence[Section]) -> str:
    """Return a whole page.

    Parameters
    ----------
    title
        Its title, also for the window.
    sections
        What it consists of; those without a part are left out.

    Raises
    ------
    MissingDependencyError
        If Bokeh is not installed, and there is a figure.
    """
    sections = [section for section in sections if section.parts]
    drawings = [part for one in sections for part in one.parts if isinstance(part, Drawing)]
    drawn, places = scripts([drawing.figure for drawing in drawings])
    place_of = dict(zip(map(id, drawings), places, strict=True))
    contents = "".join(
        f'<li><a href="#section-{i}">{_text(section.heading)}</a></li>'
        for i, section in enumerate(sections)
    )
    body = [
        f"<header><h1>{_text(title)}</h1>",
        f'<nav aria-label="{_text(say.CONTENTS())}"><ul>{contents}</ul></nav></header>',
        "<main>",
    ]
    for i, section in enumerate(sections):
        body.append(f'<section id="section-{i}"><details open><summary>')
        body.append(f"<h2>{_text(section.heading)}</h2></summary>")
        for part in section.parts:
            body += _part_html(part, place_of.get(id(part), ""))
        body.append("</details></section>")
    head = [
        f'<!DOCTYPE html>\n<html lang="{_HTML_LANGUAGES[language_in_use()]}"><head>',
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{_text(title)}</title>",
        f"<style>\n{_own('page.css')}</style>",
        drawn,
        "</head><body>",
    ]
    script = f"<script>\n{_texts()}{_own('page.js')}</script>"
    return "\n".join([*head, *body, f"</main>{script}</body></html>\n"])


@functools.cache
def _own(name: str) -> str:
    return files("fastdump._page").joinpath(name).read_text("utf-8")


def _texts() -> str:
    """Return what page.js says, in the language in use."""
    texts = {
        "command": say.COMMAND(),
        "copy": say.COPY(),
        "copied": say.COPIED(),
        "selected": say.SELECTED(),
        "filter": say.FILTER_HINT(),
        "filterOf": say.FILTER_OF(table="{table}"),
        "some": say.SOME_OF_ROWS(n="{n}", rows="{rows}"),
    }
    return f"const TEXTS = {json.dumps({name: told(text) for name, text in texts.items()})};\n"


def _text(text: str) -> str:
    return html.escape(printable(told(text)))


def _part_html(part: Part, place: str) -> Iterator[str]:
    if isinstance(part, Verdict):
        yield from _verdict_html(part)
    elif isinstance(part, Drawing):
        title = _text(part.figure.title)
        yield f'<figure aria-label="{title}"><figcaption><h3>{title}</h3>'
        yield f"<p>{_text(part.text)}</p></figcaption>{place}</figure>"
    elif isinstance(part, Rows):
        yield from _rows_html(part)
    elif isinstance(part, Graph):
        boxes = "\n".join(map(_box_html, part.boxes))
        yield f'<h3>{_text(part.caption)}</h3><ol class="graph">{boxes}</ol>'
    elif isinstance(part, Words):
        paragraphs = "".join(f"<p>{_text(text)}</p>" for text in part.paragraphs)
        yield f"<div class=words>{paragraphs}</div>"
    elif isinstance(part, Lines):
        text = "\n".join(map(line_html, part.lines))
        yield f'<pre tabindex="0">{text}</pre>'


def _verdict_html(verdict: Verdict) -> Iterator[str]:
    answer = verdict.answer
    yield f'<div class="verdict {CLASSES.get(answer.style, "")}">'
    yield f"<p class=headline>{_text(answer.headline)}</p>"
    yield _pairs_html(answer.facts)
    if answer.command:
        label = _text(ABOUT_NEXT())
        yield f"<div class=next><span>{label}</span> {_command_html(answer.command)}</div>"
    if answer.remarks:
        items = "".join(f"<li>{_text(remark)}</li>" for remark in answer.remarks)
        yield f"<ul class=remarks>{items}</ul>"
    yield f"</div><div class=about>{_pairs_html(verdict.about)}</div>"


def _pairs_html(pairs: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<dt>{_text(label)}</dt><dd>{_text(text)}</dd>" for label, text in pairs)
    return f"<dl>{items}</dl>" if items else ""


def _command_html(command: str) -> str:
    """Return a command, which page.js gives a button that copies it."""
    return f"<code class=command>{html.escape(command)}</code>"


def _rows_html(rows: Rows) -> Iterator[str]:
    columns, cells = rows.table.shown()
    if not cells:
        return
    commands = list(rows.commands) if any(rows.commands) else []
    said = _text(say.ROWS(len(cells)))
    yield f"<div class=rows><h3>{_text(rows.caption)}</h3>"
    yield f"<p class=count role=status>{said}</p>"
    if rows.remark:
        yield f"<p>{_text(rows.remark)}</p>"
    yield f'<div class=scroll tabindex=0 role=region aria-label="{_text(rows.caption)}"><table>'
    titles = "".join(map(_title_html, columns))
    if commands:
        titles += f"<th>{_text(say.COMMAND())}</th>"
    yield f"<thead><tr>{titles}</tr></thead><tbody>"
    for i, row in enumerate(cells):
        shown = "".join(map(cell_html, columns, row))
        if commands:
            summary = f"<summary>{_text(say.SHOW())}</summary>"
            folded = f"<details>{summary}{_command_html(commands[i])}</details>"
            shown += f"<td>{folded if commands[i] else ''}</td>"
        yield f"<tr>{shown}</tr>"
    yield "</tbody></table></div></div>"


def _title_html(column: Column) -> str:
    number = " class=number" if column.right else ""
    return f"<th scope=col{number}>{_text(column.title)}</th>"


def _box_html(box: Box) -> str:
    arrows = "".join(
        f'<li class="{"bad" if is_bad else "subtle"}">{_text(text)}</li>'
        for text, is_bad in box.arrows
    )
    into = f"<ul class=arrows>{arrows}</ul>" if arrows else ""
    return (
        f'<li class="{box.state}">{into}<div class=box><span class=place>{_text(box.place)}</span>'
        f"<strong>{_text(box.title)}</strong><span class=name>{_text(box.name)}</span>"
        f"<span class=state>{_text(box.state)}</span></div></li>"
    )
