"""What tests read of pages of HTML: tables, texts, scripts, and what would be fetched."""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

_VOID = {"meta", "br", "img", "input", "link", "hr", "rect", "path"}
_FETCHING = {"src", "href", "data", "poster", "action"}


class Page(HTMLParser):
    """A page that was read.

    Attributes
    ----------
    tables
        The texts of each table: rows of cells, the titles first.
    texts
        All texts outside scripts and styles.
    scripts
        How many scripts there are.
    fetched
        Addresses that a browser would ask for, but for those within the page.
    handlers
        Attributes that run scripts.
    open_elements
        Elements that were opened and not closed.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.texts: list[str] = []
        self.scripts = 0
        self.fetched: list[str] = []
        self.handlers: list[str] = []
        self.open_elements: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open_elements.append(tag)
        self.scripts += tag == "script"
        for name, value in attrs:
            if name in _FETCHING and not (value or "").startswith("#"):
                self.fetched.append(str(value))
            if name.startswith("on"):
                self.handlers.append(name)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        opened = self.open_elements.pop()
        assert opened == tag, f"</{tag}> ends <{opened}>"

    def handle_data(self, data: str) -> None:
        if self.open_elements and self.open_elements[-1] in ("script", "style"):
            return
        self.texts.append(data)
        if {"td", "th"} & set(self.open_elements[-4:]):
            self.tables[-1][-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())
