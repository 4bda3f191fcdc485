"""What a person has to know first of an acl.json: the verdict and the first problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from fastdump._words import catalogue as say
from fastdump._words.answer import Answer, command_text
from fastdump._words.elision import elide_end
from fastdump._words.sentence import Sentence, told
from fastdump._words.styles import BAD, DOUBTFUL, GOOD
from fastdump._words.wrapping import line_spans
from fastdump.config._explanation import explain
from fastdump.config._findings import Finding, Verdict
from fastdump.config._model import DumpConfig

# What follows the labels, in a terminal of 80 columns.
_WIDTH = 69
_MAX_LINES = 3
# The warnings for which little or nothing is dumped come first, and last what only the machine with
# the device can tell.
_FIRST = ("graph-engine", "nothing", "pattern")
_LAST = "path-exists"


def answer_of(
    name: str,
    verdict: Verdict,
    config: DumpConfig | None,
    findings: Sequence[Finding],
    *,
    is_text: bool,
) -> Answer:
    """Return the answer to what the vendor's code does with an acl.json.

    Parameters
    ----------
    name, verdict, config, findings
        As in `ConfigReport`.
    is_text
        Whether a text was checked, for which there is no command.
    """
    findings = sorted(findings, key=_order)
    rule = findings[0].rule if findings else ""
    facts: list[tuple[str, str]] = [(say.ABOUT_CALL(), _call(verdict, findings))]
    if findings:
        label = say.ABOUT_ERROR if findings[0].severity == "error" else say.ABOUT_WARNING
        facts += _wrapped(label(), findings[0].message)
        if place := findings[0].place.shown():
            facts.append((say.ABOUT_PLACE(), place))
    elif config is not None and config.is_on:
        facts += _wrapped(say.ABOUT_DUMPS(), explain(config).what[0])
    if more := _more(findings[1:]):
        facts.append((say.ABOUT_MORE(), more))
    headline, style = _headline(verdict, rule)
    command = "" if is_text else _next_command(name, verdict, findings)
    return Answer(headline(name=name), style, tuple(facts), command)


def _order(finding: Finding) -> int:
    # Sorting is stable, so errors stay in the order of the vendor's checks.
    if finding.severity == "error":
        return -1
    if finding.rule in _FIRST:
        return _FIRST.index(finding.rule)
    return len(_FIRST) + (finding.rule == _LAST)


def _headline(verdict: Verdict, rule: str) -> tuple[Sentence, str]:
    if verdict == "reject":
        return say.REFUSED, BAD
    if verdict == "off":
        return say.ACCEPTED_BUT_OFF, DOUBTFUL
    if rule == "graph-engine":
        return say.ACCEPTED_WITHOUT_GRAPHS, DOUBTFUL
    if rule == "pattern":
        return say.ACCEPTED_WITH_PATTERNS, DOUBTFUL
    return say.ACCEPTED, GOOD


def _call(verdict: Verdict, findings: Sequence[Finding]) -> str:
    if verdict == "reject":
        return say.CALL_FAILS(code=findings[0].code or "")
    if findings and findings[0].rule == "graph-engine":
        return say.CALL_IS_LOGGED()
    return say.CALL_SUCCEEDS()


def _wrapped(label: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield a text as facts of one line each, of which the first has the label."""
    text = told(text).rstrip(".\u3002")
    for i, (begin, end) in enumerate(islice(line_spans(text, _WIDTH, _WIDTH), _MAX_LINES)):
        is_last = i == _MAX_LINES - 1
        line = elide_end(text[begin:], _WIDTH, " ...") if is_last else text[begin:end]
        yield "" if i else label, line


def _more(findings: Sequence[Finding]) -> str:
    n_errors = sum(finding.severity == "error" for finding in findings)
    errors, warnings = say.MORE_ERRORS(n_errors), say.MORE_WARNINGS(len(findings) - n_errors)
    if n_errors and n_errors < len(findings):
        return say.ERRORS_AND_WARNINGS(errors=errors, warnings=warnings)
    return errors if n_errors else warnings if findings else ""


def _next_command(name: str, verdict: Verdict, findings: Sequence[Finding]) -> str:
    if len(findings) > 1:
        return command_text("config", (), "check", "-v", name)
    if verdict != "accept":
        return ""  # there is no more to be told
    like = ("--like", "DUMP") if findings and findings[0].rule == "pattern" else ()
    return command_text("config", (), "explain", name, *like)
