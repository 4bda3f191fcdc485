"""What `watcher` found, as one object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastdump._json import document
from fastdump._report import Report
from fastdump._watcher.answer import answer_of
from fastdump._watcher.records import WatcherComparison
from fastdump._watcher.text import (
    DEFAULT_ROWS,
    changes_table,
    counts_line,
    suspect_text,
    unchecked_cell,
)
from fastdump._words import catalogue as say
from fastdump._words.answer import Answer, show_command
from fastdump._words.printable import printable
from fastdump._words.sentence import told
from fastdump._words.styles import SUBTLE
from fastdump._words.text_table import Cell


@dataclass(frozen=True, slots=True, repr=False)
class WatcherReport(Report):
    """What was compared in a dump, and what had changed. Printing it gives the command's text.

    Attributes
    ----------
    sentence
        The first change in one sentence, or that there is none.
    findings
        The first change of each tensor.
    notes
        What else there is to know of the check, a sentence each.
    check
        Which check was made: "watcher" (files of ``dump_scene=watcher``) or "addresses".
    comparisons
        All comparisons in the order of execution of each rank and device. A check by addresses
        leaves out those that are "same".
    counts
        How many comparisons there are of each status, "same" included; in a check by addresses
        also how many inputs were left out: "in_place" (the operator writes where it reads) and
        "no_writer" (no output was dumped that lay exactly there).
    skipped
        How many files were not read because they are no dumps, by reason.
    pattern
        A shell pattern that selects the name of the operator whose output changed first, and no
        other: ``*layers.2*qk``. None if nothing changed, or the operator has no name.
    """

    question: ClassVar = "watcher"

    sentence: str
    findings: tuple[WatcherComparison, ...]
    notes: tuple[str, ...]
    check: str
    comparisons: tuple[WatcherComparison, ...]
    counts: Mapping[str, int]
    skipped: Mapping[str, int]
    pattern: str | None = None

    @property
    def clean(self) -> bool:
        """Whether something was compared and nothing had changed."""
        return not self.findings and bool(self.counts.get("same"))

    @property
    def unchecked(self) -> tuple[WatcherComparison, ...]:
        """What could not be compared although it should have been."""
        done = ("same", "changed", "before")
        return tuple(one for one in self.comparisons if one.status not in done)

    def _details(self) -> dict[str, Any]:
        return {
            "check": self.check,
            "counts": dict(sorted(self.counts.items())),
            "comparisons": document(self.comparisons),
            "skipped": dict(self.skipped),
            "pattern": self.pattern,
        }

    def answer(self) -> Answer:
        """Return which tensor changed first, when, and who may have done it; or that none did."""
        _, *limits = self.notes  # the first says which check was made
        return answer_of(
            self.check, self.findings, self.unchecked, self.counts, limits, self._next_command()
        )

    def _next_command(self) -> str:
        if self.pattern is None:
            return ""
        first = self.findings[0]
        if first._root is None:
            return ""
        return show_command([first._root], self.pattern, rank=first.rank, step=first.step)

    def in_full(
        self,
        *,
        width: int | None = None,
        ellipsis: str = "...",
        rows: int | None = DEFAULT_ROWS,
    ) -> Iterator[list[Cell]]:
        """Yield all changes with who may have made them, and what was not compared.

        Parameters
        ----------
        width, ellipsis
            As in `lines`.
        rows
            How many changes, and how many tensors that could not be compared, are shown; None for
            all.
        """
        for note in self.notes:
            yield [Cell(printable(told(note)), SUBTLE)]
        yield counts_line(self.counts)
        shown = self.findings[:rows]
        if shown:
            yield []
            yield from changes_table(shown, width).lines(ellipsis=ellipsis)
        suspects = [(finding, suspect) for finding in shown for suspect in finding.suspects]
        if suspects:
            yield []
        for finding, suspect in suspects:
            yield [Cell(suspect_text(finding, suspect))]
        unchecked = self.unchecked
        if unchecked:
            yield []
        for comparison in unchecked[:rows]:
            yield [unchecked_cell(comparison)]
        for things, number in (
            (say.CHANGES, len(self.findings)),
            (say.TENSORS_UNCHECKED, len(unchecked)),
        ):
            if rows is not None and number > rows:
                yield []
                yield [Cell(say.SHOWN_OF(shown=rows, things=things(number)).told(), SUBTLE)]
