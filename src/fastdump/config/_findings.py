"""What a check says: findings, each with its rule, its place and the vendor's own error code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fastdump._printable import printable
from fastdump.config._json_places import JsonPath
from fastdump.config._rules import RULES
from fastdump.errors import FastdumpError

Severity: TypeAlias = Literal["error", "warning"]
Verdict: TypeAlias = Literal["accept", "off", "reject"]

# Enough to see what is wrong; a hostile file may break one rule a million times.
_MAX_OF_A_RULE = 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the file a finding is.

    Attributes
    ----------
    path
        Of the value, such as ``dump.dump_list[0].layer``; empty for the file as a whole.
    line, column
        Both from 1, in characters; None where there is no text to point to.
    offset
        In bytes from the beginning of the file; None as for `line`.
    """

    path: str
    line: int | None = None
    column: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}, column {self.column}"
        return f"{self.path} ({line})" if self.path and line else self.path or line


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or surprising.

    Attributes
    ----------
    severity
        "error": the vendor's code refuses the file. "warning": it takes it, but does not do what
        one would expect.
    rule
        One of `RULES`.
    message
        What was found and what was expected.
    place
        Where.
    code
        What the vendor's code reports: an error message ("EP0003"), or a return value where there
        is no message ("100003"); None for a warning.
    """

    severity: Severity
    rule: str
    message: str
    place: Place
    code: str | None = None

    def __str__(self) -> str:
        place = str(self.place)
        code = f", {self.code}" if self.code else ""
        return f"{self.severity}: {f'{place}: ' if place else ''}{self.message} [{self.rule}{code}]"


class ConfigError(FastdumpError, ValueError):
    """A configuration that the vendor's code refuses, or that cannot be expressed.

    Attributes
    ----------
    findings
        The errors among the findings; none if the configuration is valid but cannot be expressed
        in the form that was asked for.
    """

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding before its place is looked up."""

    severity: Severity
    rule: str
    message: str
    path: JsonPath
    index: int | None
    code: str | None


class Findings:
    """Collects findings in the order in which they are made, at most so many of a rule."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self._number: Counter[str] = Counter()

    def is_listed(self, rule: str) -> bool:
        """Tell whether a further finding of `rule` would be listed, not only counted."""
        return self._number[rule] < _MAX_OF_A_RULE

    def _add(self, draft: Draft) -> None:
        if self.is_listed(draft.rule):
            self.drafts.append(draft)
        self._number[draft.rule] += 1

    def error(
        self,
        rule: str,
        path: JsonPath,
        message: str,
        *,
        code: str | None = None,
        index: int | None = None,
    ) -> None:
        """Add what the vendor's code refuses; `code` if it is not that of the rule."""
        self._add(Draft("error", rule, message, path, index, code or RULES[rule].code))

    def warning(self, rule: str, path: JsonPath, message: str, *, index: int | None = None) -> None:
        """Add what is legal but surprising."""
        self._add(Draft("warning", rule, message, path, index, None))

    @property
    def refused(self) -> bool:
        """Whether there is an error."""
        return any(draft.severity == "error" for draft in self.drafts)

    def full_rules(self) -> list[str]:
        """Return the rules of which not all findings were listed."""
        return [rule for rule, number in self._number.items() if number > _MAX_OF_A_RULE]


def path_text(path: JsonPath) -> str:
    """Return ``dump.dump_list[0].layer``; keys that are no words are quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier() and step.isascii() and len(step) <= 40:
            text += f".{step}" if text else step
        else:
            text += f"[{shown(step)}]"
    return text


def shown(text: str) -> str:
    """Return a value of the file for a message: quoted, without its middle if it is long."""
    if len(text) > 60:
        text = f"{text[:40]}...{text[-10:]}"
    return f'"{printable(text)}"'
