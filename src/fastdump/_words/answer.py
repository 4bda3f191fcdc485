"""The answer to a question on one screen: who, what, why, how far, and what to type next."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from fastdump._words.catalogue import ABOUT_NEXT, ANOTHER_CLAUSE, LABELLED, MORE_REMARKS
from fastdump._words.elision import elide_end
from fastdump._words.enumeration import clauses
from fastdump._words.fitted_names import FittedNames
from fastdump._words.printable import printable
from fastdump._words.sentence import told
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell

MAX_LINES = 8
_INDENT = "  "
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person has to know first, in at most `MAX_LINES` lines.

    Attributes
    ----------
    headline
        Where and what, in one sentence.
    style
        Its rich style.
    facts
        Label and text of each, the most important first.
    command
        The command to type next; "" if there is none.
    remarks
        What is no finding, or limits the answer; as many are shown as there is room for.
    """

    headline: str
    style: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    command: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The answer in one line: the headline, and the facts by their labels."""
        facts = (LABELLED(label=label, text=text) for label, text in self.facts)
        return clauses([self.headline, *facts])

    def lines(self, *, width: int | None = None, ellipsis: str = "...") -> Iterator[list[Cell]]:
        """Yield the lines, each within `width` cells but for the command, which has to be whole.

        Parameters
        ----------
        width
            Width of the terminal, in cells; None leaves all whole.
        ellipsis
            What stands for what is left out.
        """
        yield [Cell(fitted(_shown(self.headline), width, ellipsis), self.style)]
        labelled = [(told(label), _shown(text), False) for label, text in self.facts]
        if self.command:
            labelled.append((ABOUT_NEXT().told(), printable(self.command), True))
        label_width = max((cell_len(label) for label, _, _ in labelled), default=0)
        for label, text, is_command in labelled:
            name = f"{_INDENT}{label}{' ' * (label_width - cell_len(label))}{_GAP}"
            room = None if width is None or is_command else width - cell_len(name)
            yield [Cell(name, SUBTLE), Cell(fitted(text, room, ellipsis))]
        remarks = [*map(_shown, self.remarks)]
        for line in _packed(remarks, MAX_LINES - 1 - len(labelled), width):
            yield [Cell(fitted(line, width, ellipsis), SUBTLE)]


def command_text(command: str, paths: Iterable[str], *words: str) -> str:
    """Return a command as a shell takes it: ``fastdump show dump '*layers.2*qk' --rank 1``.

    Paths are written from the working directory on if that is shorter.
    """
    return shlex.join(map(printable, ("fastdump", command, *map(_short_path, paths), *words)))


def show_command(paths: Iterable[str], pattern: str, *, rank: int | None, step: int | None) -> str:
    """Return the command that shows the operator whose name a pattern selects."""
    numbers = (("--rank", rank), ("--step", step))
    options = [word for option, n in numbers if n is not None for word in (option, str(n))]
    return command_text("show", paths, pattern, *options)


def _short_path(path: str) -> str:
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):  # no working directory, or another drive
        return path
    return min(path, relative, key=len)


def _shown(text: str) -> str:
    return printable(told(text))


def fitted(text: str, width: int | None, ellipsis: str) -> str:
    """Return `text` in at most `width` cells: the longest name is shortened, then words go."""
    if width is None or cell_len(text) <= width:
        return text
    words = text.split(" ")
    longest = max(range(len(words)), key=lambda i: cell_len(words[i]))
    names = FittedNames([words[longest]])
    room = cell_len(words[longest]) - (cell_len(text) - width)
    words[longest] = names.fitted(max(room, names.least), ellipsis)[words[longest]]
    return elide_end(" ".join(words), width, ellipsis)


def _packed(remarks: Sequence[str], n_lines: int, width: int | None) -> list[str]:
    """Return remarks in at most `n_lines` lines; the last line tells how many are left out."""
    if not remarks or n_lines < 1:
        return []
    separator = ANOTHER_CLAUSE(clauses="", clause="").told()
    if width is None:
        return [separator.join(remarks)]
    lines = [remarks[0]]
    for n_shown, remark in enumerate(remarks[1:], 1):
        longer = f"{lines[-1]}{separator}{remark}"
        n_left = len(remarks) - n_shown - 1
        more = f"{separator}{MORE_REMARKS(n_left).told()}" if n_left else ""
        is_last = len(lines) == n_lines
        if cell_len(longer + (more if is_last else "")) <= width:
            lines[-1] = longer
        elif not is_last:
            lines.append(remark)
        else:
            lines[-1] += f"{separator}{MORE_REMARKS(n_left + 1).told()}"
            break
    return lines
