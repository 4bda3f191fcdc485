"""`ConfigReport`: the result of checking one acl.json."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from fastdump._report import Report
from fastdump._words.answer import Answer
from fastdump._words.printable import printable
from fastdump._words.quantities import counted
from fastdump._words.styles import BAD, DOUBTFUL, GOOD
from fastdump._words.text_table import Cell
from fastdump.config._answer import answer_of
from fastdump.config._findings import Finding, Verdict
from fastdump.config._model import DumpConfig

_VERDICTS = {
    "accept": ("accepted", GOOD),
    "off": ("accepted, but nothing is dumped", DOUBTFUL),
    "reject": ("refused", BAD),
}
NAME_OF_TEXT = "the text"
"""Stands for the name of a file if there is none."""


@dataclass(frozen=True, slots=True, repr=False)
class ConfigReport(Report):
    """The result of checking one acl.json. Printing it gives the same text as the command.

    Attributes
    ----------
    findings
        The errors in the order of the vendor's checks (types, values, conflicts), then the
        warnings.
    name
        The file, as it was given.
    verdict
        The answer of the call that takes the file: "accept"; "reject" if there is an error; "off"
        if the call succeeds and nothing is dumped.
    graph_engine
        The verdict of the graph engine, which reads the text a second time if `verdict` is
        "accept". None if the file is refused before it is parsed.
    config
        The configuration; None if the file is refused.
    """

    question: ClassVar = "config"

    findings: tuple[Finding, ...]
    name: str
    verdict: Verdict
    graph_engine: Verdict | None
    config: DumpConfig | None

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings for which the vendor's code refuses the file."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that the vendor's code accepts, but that surprise."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def sentence(self) -> str:
        """What the vendor's code does with the file, and how much is wrong with it."""
        verdict, _ = _VERDICTS[self.verdict]
        return f"{self.name}: {verdict}{self._counts()}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Always empty: nothing limits the answer."""
        return ()

    def _counts(self) -> str:
        counts = [
            counted(len(findings), noun)
            for findings, noun in ((self.errors, "error"), (self.warnings, "warning"))
            if findings
        ]
        return f" ({', '.join(counts)})" if counts else ""

    def _details(self) -> dict[str, Any]:
        return {"name": self.name, "verdict": self.verdict, "graph_engine": self.graph_engine}

    def answer(self) -> Answer:
        """Return the verdict, the first problem with its place, and what to type next."""
        is_text = self.name == NAME_OF_TEXT
        return answer_of(self.name, self.verdict, self.config, self.findings, is_text=is_text)

    def in_full(self, *_: Any, **__: Any) -> Iterator[list[Cell]]:
        """Yield the verdict and all findings, one a line; none depends on the width."""
        verdict, style = _VERDICTS[self.verdict]
        yield [Cell(f"{printable(self.name)}: "), Cell(verdict, style), Cell(self._counts())]
        yield from finding_lines(self.findings)


def finding_lines(findings: tuple[Finding, ...]) -> Iterator[list[Cell]]:
    """Yield findings, one a line."""
    for finding in findings:
        for line in finding.lines():
            yield [Cell("  "), *line]
