"""What a page is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from fastdump._core import __version__
from fastdump._figures.figures import Figure
from fastdump._words.answer import Answer
from fastdump._words.page_catalogue import MADE_AT
from fastdump._words.text_table import Cell, TextTable


@dataclass(frozen=True, eq=False)
class Verdict:
    """The answer to a question, and what it is an answer about.

    Attributes
    ----------
    answer
        The answer.
    about
        Label and text of what was looked at: directories, ranks, steps.
    """

    answer: Answer
    about: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure, and what to see in it, in a sentence or two."""

    figure: Figure
    text: str


@dataclass(frozen=True, eq=False)
class Rows:
    """A table that can be sorted and filtered.

    Attributes
    ----------
    caption
        What its rows are.
    table
        The rows, laid out in full.
    commands
        For each row the command that shows it, "" where there is none; () for no commands.
    remark
        Which rows are not here, "" if all are.
    """

    caption: str
    table: TextTable
    commands: Sequence[str] = ()
    remark: str = ""


@dataclass(frozen=True, eq=False)
class Box:
    """One operator of a graph.

    Attributes
    ----------
    place, title, name
        Where it ran, its type and its name.
    state
        What the operator is: the origin, or infected.
    arrows
        What leads into it, one text for each tensor, and whether that is bad.
    """

    place: str
    title: str
    name: str
    state: str
    arrows: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, eq=False)
class Graph:
    """Operators in the order of execution, and the tensors that lead from each to the next."""

    caption: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of styled text."""

    lines: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Words:
    """Paragraphs of text."""

    paragraphs: tuple[str, ...]


Part: TypeAlias = Verdict | Drawing | Rows | Graph | Lines | Words


def made_text() -> str:
    """Return when a page is made, and by which version."""
    time = f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"
    return MADE_AT(time=time, version=__version__)


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a page that has a heading and can be folded."""

    heading: str
    parts: tuple[Part, ...]
