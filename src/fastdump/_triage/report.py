"""What triage found, as one object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastdump._json import document
from fastdump._page.parts import Section, made_text
from fastdump._report import Report
from fastdump._table.stats_table import StatsTable
from fastdump._triage.answer import answer_of
from fastdump._triage.page import chain_curve, sections_of
from fastdump._triage.records import Finding, Origin, Suppressed
from fastdump._triage.text import (
    DEFAULT_ROWS,
    chain_lines,
    facts_lines,
    other_findings,
    suppressed_lines,
    table_lines,
)
from fastdump._words.answer import Answer, show_command
from fastdump._words.printable import printable
from fastdump._words.quantities import integers_text
from fastdump._words.sentence import told
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, repr=False)
class TriageReport(Report):
    """What `triage` found. Printing it gives the same text as the command.

    Attributes
    ----------
    sentence
        The first finding, or that there is none.
    findings
        Errors first, then by time.
    notes
        What limits the answer: no files at hand, truncated tensors, statistics of the device.
    suppressed
        Tensors that look bad and are meant to be so.
    table
        The rows of the first finding: those of its origin, then those of its chain.
    summary
        ``tensors``, ``operators`` (executions), ``ranks``, ``steps``, ``status``, the number of
        tensors by status, and ``not_read``, how many files an interrupted scan did not read.
    pattern
        A shell pattern that selects the name of the operator where the first finding began, and no
        other: ``*layers.2*qk``. None if the files are not at hand.
    """

    question: ClassVar = "triage"

    sentence: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    suppressed: tuple[Suppressed, ...]
    table: StatsTable
    summary: dict[str, Any]
    pattern: str | None = None

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Where each finding began."""
        return tuple(found.origin for found in self.findings if found.origin is not None)

    def _details(self) -> dict[str, Any]:
        return {
            "suppressed": document(self.suppressed),
            "summary": document(self.summary),
            "pattern": self.pattern,
        }

    def answer(self) -> Answer:
        """Return the first finding: who, what, why, how far; or that there is none."""
        return answer_of(
            self.findings,
            self.suppressed,
            self.notes,
            n_tensors=self.summary["tensors"],
            is_whole=not self.summary["not_read"],
            next_command=self._next_command(),
        )

    def _next_command(self) -> str:
        origin = self.findings[0].origin if self.findings else None
        if origin is None or self.pattern is None:
            return ""
        rank, step = origin.operator.rank, origin.operator.step
        return show_command(self.table.roots, self.pattern, rank=rank, step=step)

    def sections(self, about: tuple[tuple[str, str], ...] = ()) -> tuple[Section, ...]:
        """Return the answer with the graph around the first finding, and all findings.

        `about` is label and text of what was looked at; by default what the report knows of it.
        """
        return sections_of(self.answer(), about or self._about(), self.findings, self.suppressed)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of bad elements from the first origin along its chain.

        Parameters
        ----------
        ax
            The axes of matplotlib to draw on. Default: those of a new figure.

        Raises
        ------
        ValueError
            If there is no finding with an origin.
        MissingDependencyError
            If matplotlib is not installed: ``pip install 'fastdump[plot]'``.
        """
        from fastdump._figures.on_axes import drawn

        if not self.origins:
            raise ValueError("there is nothing to plot: no finding has an origin")
        return drawn(chain_curve(next(one for one in self.findings if one.origin)), ax)

    def _about(self) -> tuple[tuple[str, str], ...]:
        numbers = (
            ("dump", ", ".join(self.table.roots)),
            ("ranks", integers_text(self.summary["ranks"])),
            ("steps", integers_text(self.summary["steps"])),
            ("tensors", f"{self.summary['tensors']:,}"),
            ("operators", f"{self.summary['operators']:,}"),
            ("made", made_text()),
        )
        return tuple((label, text) for label, text in numbers if text)

    def in_full(
        self,
        *,
        width: int | None = None,
        ellipsis: str = "...",
        rows: int | None = DEFAULT_ROWS,
        show_suppressed: bool = False,
    ) -> Iterator[list[Cell]]:
        """Yield what else there is to the first finding, then the other findings.

        Parameters
        ----------
        width, ellipsis
            As in `lines`.
        rows
            How many lines of each list are shown; None for all.
        show_suppressed
            Whether to list what is bad on purpose, and not only to count it.
        """
        first = self.findings[0] if self.findings else None
        if first is not None:
            yield from facts_lines(first)
            yield from chain_lines(first, width, rows, ellipsis)
            yield from table_lines(self.table, width, rows, ellipsis)
        yield from other_findings(self.findings[1:], rows)
        yield from suppressed_lines(self.suppressed, width, ellipsis, in_full=show_suppressed)
        if self.notes:
            yield []
        for note in self.notes:
            yield [Cell(printable(told(note)), SUBTLE)]
