"""The report of a conversion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastdump._convert.records import ConvertFailure, ConvertNote
from fastdump._json import document
from fastdump._report import Report
from fastdump._words.answer import Answer
from fastdump._words.printable import printable
from fastdump._words.quantities import counted, size_text, skipped_text
from fastdump._words.styles import BAD, GOOD, SUBTLE, status_style
from fastdump._words.text_table import Cell

_MAX_NOTES = 3
"""At most this many oddities of one kind are printed; `ConvertReport.noted` has them all."""


@dataclass(frozen=True, slots=True, repr=False)
class ConvertReport(Report):
    """What a conversion did. Printing it gives the same text as the command.

    Attributes
    ----------
    findings
        Failures, in the order of execution.
    out
        The output directory.
    files
        How many dump files were read.
    written
        How many files were written.
    kept
        How many files were complete already.
    nbytes
        How many bytes were written.
    noted
        Oddities of what was converted: truncated and absent tensors, sizes that disagree, elements
        of unknown encoding.
    skipped
        How many files hold no tensors to convert, by reason.
    renamed
        Files whose names are digits, by their path below the output directory, and the names that
        these stand for. ``mapping.csv`` beside them says the same.
    """

    question: ClassVar = "convert"

    findings: tuple[ConvertFailure, ...]
    out: str
    files: int
    written: int
    kept: int
    nbytes: int
    noted: tuple[ConvertNote, ...]
    skipped: Mapping[str, int]
    renamed: Mapping[str, str]

    @property
    def sentence(self) -> str:
        """What was written where, and how much failed."""
        failed = f"; {counted(len(self.findings), 'failure')}" if self.findings else ""
        return (
            f"{counted(self.files, 'dump file')}: {counted(self.written, 'file')} written to "
            f"{self.out}, {size_text(self.nbytes)}{failed}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """How many files were kept, how many have digits for a name."""
        notes = [f"{counted(self.kept, 'file')} kept: complete already"] if self.kept else []
        if self.renamed:
            renamed = counted(len(self.renamed), "file")
            notes.append(
                f"{renamed} named with digits; mapping.csv beside them says which is which"
            )
        return tuple(notes)

    def _details(self) -> dict[str, Any]:
        names = ("out", "files", "written", "kept", "nbytes", "noted", "skipped", "renamed")
        return {name: document(getattr(self, name)) for name in names}

    def lines(
        self, *, verbose: bool = False, width: int | None = None, ellipsis: str = "...", **_: Any
    ) -> Iterator[list[Cell]]:
        """Yield the lines of the report as styled text; none depends on the arguments."""
        yield [Cell(printable(self.sentence))]
        for note in self.notes:
            yield [Cell(note)]
        yield from self.in_full()

    def answer(self) -> Answer:
        """Return what was written where, and how much failed."""
        return Answer(self.sentence, BAD if self.findings else GOOD, remarks=self.notes)

    def in_full(self, **_: Any) -> Iterator[list[Cell]]:
        """Yield what was odd, what was left out and why, and what failed."""
        yield from self._oddities()
        if self.skipped:
            yield [Cell(f"skipped: {skipped_text(self.skipped)}", SUBTLE)]
        if self.findings:
            yield [Cell(f"failed: {len(self.findings):,}", BAD)]
        for failure in self.findings:
            yield [Cell(printable(f"  {failure.where}: {failure.reason}"))]

    def _oddities(self) -> Iterator[list[Cell]]:
        for status in dict.fromkeys(note.status for note in self.noted):
            notes = [note for note in self.noted if note.status == status]
            style = SUBTLE if status == "noted" else status_style(status)
            yield [Cell(f"{status}: {len(notes):,}", style)]
            for note in notes[:_MAX_NOTES]:
                yield [Cell(printable(f"  {note.where}: {note.note}"))]
            if len(notes) > _MAX_NOTES:
                yield [Cell(f"  ... and {len(notes) - _MAX_NOTES:,} more", SUBTLE)]
