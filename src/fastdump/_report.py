"""`Report`: the base class of all answers to questions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from fastdump._json import document, json_document
from fastdump._page.parts import Lines, Section, Verdict
from fastdump._words import page_catalogue as say
from fastdump._words.answer import Answer
from fastdump._words.printable import printable
from fastdump._words.quantities import counted
from fastdump._words.shown import Shown
from fastdump._words.text_table import Cell


class Report(Shown):
    """An answer to a question about dumps. Printing it gives the same text as the command.

    Attributes
    ----------
    question : str
        The name of the command that asks the question, such as "triage".
    sentence : str
        The answer in one sentence.
    findings : tuple
        What was found, the most urgent first.
    notes : tuple of str
        Sentences that say what limits the answer.
    """

    __slots__ = ()

    question: ClassVar[str]

    if TYPE_CHECKING:  # at run time, a dataclass would take a property for a field's default

        @property
        def sentence(self) -> str: ...
        @property
        def findings(self) -> tuple[Any, ...]: ...
        @property
        def notes(self) -> tuple[str, ...]: ...

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __bool__(self) -> bool:
        """Return True, also for a report without findings; see `clean`."""
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return the report in JSON's form, which docs/json.md describes.

        Floats that JSON does not have are the texts "inf", "-inf" and "nan".
        """
        return {
            "question": self.question,
            "sentence": self.sentence,
            "clean": self.clean,
            "findings": [document(finding) for finding in self.findings],
            "notes": list(self.notes),
            **self._details(),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return `to_dict` as an ASCII text, with the version of fastdump."""
        return json_document(self.to_dict(), indent=indent)

    def _details(self) -> dict[str, Any]:
        """Return the members of `to_dict` that not every report has."""
        return {}

    def answer(self) -> Answer:
        """Return what a person has to know first."""
        raise NotImplementedError

    def lines(
        self, *, verbose: bool = False, width: int | None = None, ellipsis: str = "...", **full: Any
    ) -> Iterator[list[Cell]]:
        """Yield the lines of the report as styled text: the answer, at most eight lines.

        Parameters
        ----------
        verbose
            Whether to go on with all that there is to say.
        width
            Width of the terminal, in cells; None lays tables out in full.
        ellipsis
            What replaces what is left out of names that are too long.
        **full
            What there is to choose of the rest; see `in_full` of each report.
        """
        yield from self.answer().lines(width=width, ellipsis=ellipsis)
        if verbose:
            rest = _without_begin(self.in_full(width=width, ellipsis=ellipsis, **full))
            if rest:
                yield []
                yield from rest

    def in_full(self, *_: Any, **options: Any) -> Iterable[list[Cell]]:
        """Yield what follows the answer if all is to be said, in lines of styled text."""
        raise NotImplementedError

    def to_html(self) -> str:
        """Return the report as a page of HTML, one file that needs no network.

        `sections` tells what is on it.

        Raises
        ------
        MissingDependencyError
            If the page has figures and Bokeh is not installed: ``pip install 'fastdump[report]'``.
        """
        from fastdump._page.page import page_html  # most reports are printed

        return page_html(f"fastdump {self.question}", self.sections())

    def sections(self) -> tuple[Section, ...]:
        """Return what a page about the report has: the answer, then all that there is to say."""
        return (
            Section(say.ANSWER(), (Verdict(self.answer()),)),
            Section(say.IN_FULL(), (Lines(_without_begin(self.in_full())),)),
        )

    def __repr__(self) -> str:
        found = "clean" if self.clean else counted(len(self.findings), "finding")
        lines = [f"{type(self).__name__}: {found}", printable(self.sentence)]
        return "\n".join([*lines, *map(printable, self.notes)])


def _without_begin(lines: Iterable[list[Cell]]) -> list[list[Cell]]:
    """Return lines without empty ones at their begin."""
    return list(itertools.dropwhile(lambda line: not line, lines))
