"""Findings of a check: errors and warnings, each with its rule, its place and the vendor's code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from fastdump._words.config_catalogue import LINE_AND_COLUMN, PATH_AND_LINE
from fastdump._words.printable import printable
from fastdump._words.shown import Shown
from fastdump._words.styles import BAD, DOUBTFUL
from fastdump._words.text_table import Cell
from fastdump.config._json_places import JsonPath
from fastdump.config._rules import RULES
from fastdump.config._wording import path_text
from fastdump.errors import FastdumpError

Severity: TypeAlias = Literal["error", "warning"]
Verdict: TypeAlias = Literal["accept", "off", "reject"]

_STYLES = {"error": BAD, "warning": DOUBTFUL}
# A hostile file may break one rule a million times.
_MAX_OF_A_RULE = 20


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a finding in the file.

    Attributes
    ----------
    path
        Path of the value, such as ``dump.dump_list[0].layer``; empty for the file as a whole.
    line, column
        Line and column, both counted from 1, in characters; None if there is no text to point to.
    offset
        Offset in bytes from the beginning of the file; None if `line` is None.
    """

    path: str
    line: int | None = None
    column: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        return str(self.shown())

    def shown(self) -> str:
        """Return path, line and column as a sentence."""
        if self.line is None:
            return self.path
        line = LINE_AND_COLUMN(line=str(self.line), column=str(self.column))
        return PATH_AND_LINE(path=self.path, line=line) if self.path else line


@dataclass(frozen=True, slots=True)
class Finding(Shown):
    """One thing that is wrong or surprising.

    Attributes
    ----------
    severity
        "error" if the vendor's code refuses the file because of it; "warning" if the vendor's code
        accepts it, but does not do what one would expect.
    rule
        Name of the rule in `RULES`.
    message
        What was found and what was expected.
    place
        Where it was found.
    code
        The vendor's code for an error: an error message ("EP0003"), or a return value if there is
        no message ("100003"). None for a warning.
    """

    severity: Severity
    rule: str
    message: str
    place: Place
    code: str | None = None

    def lines(self, **_options: Any) -> Iterator[list[Cell]]:
        """Yield severity, place, message, rule and code in one line of styled text."""
        severity, _, text = printable(str(self)).partition(": ")
        yield [Cell(severity, _STYLES[severity]), Cell(f": {text}")]

    def __str__(self) -> str:
        place = str(self.place)
        code = f", {self.code}" if self.code else ""
        return f"{self.severity}: {f'{place}: ' if place else ''}{self.message} [{self.rule}{code}]"


class ConfigError(FastdumpError, ValueError):
    """A configuration that the vendor's code refuses, or that cannot be expressed.

    Attributes
    ----------
    findings
        The errors that the check found; empty if the configuration is valid, but cannot be
        expressed in the form that was asked for.
    """

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding whose place in the text is at `index`, or at `path` if that is None."""

    finding: Finding
    path: JsonPath
    index: int | None


class Findings:
    """Findings in the order in which they are added, with a limit for each rule."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self._n_findings: Counter[str] = Counter()

    def is_full(self, rule: str) -> bool:
        """Tell whether the limit of a rule is exceeded, so that further findings change nothing."""
        return self._n_findings[rule] > _MAX_OF_A_RULE

    def _add(self, finding: Finding, path: JsonPath, index: int | None) -> None:
        self._n_findings[finding.rule] += 1
        if not self.is_full(finding.rule):
            self.drafts.append(Draft(finding, path, index))

    def error(
        self,
        rule: str,
        path: JsonPath,
        message: str,
        *,
        code: str | None = None,
        index: int | None = None,
    ) -> None:
        """Add something that the vendor's code refuses; `code` replaces the code of the rule."""
        place = Place(path_text(path))
        code = code or RULES[rule].code
        self._add(Finding("error", rule, message, place, code), path, index)

    def warning(self, rule: str, path: JsonPath, message: str, *, index: int | None = None) -> None:
        """Add something that is accepted, but surprising."""
        self._add(Finding("warning", rule, message, Place(path_text(path))), path, index)

    @property
    def refused(self) -> bool:
        """Whether there is an error."""
        return any(draft.finding.severity == "error" for draft in self.drafts)

    def full_rules(self) -> list[str]:
        """Return the rules of which some findings were left out."""
        return [rule for rule in self._n_findings if self.is_full(rule)]
