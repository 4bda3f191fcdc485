"""Configurations and dumps explained by the commands: lines of text around the explanations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fastdump._words.printable import printable
from fastdump._words.quantities import counted, numbered, ranges_text
from fastdump._words.styles import DOUBTFUL, GOOD, SUBTLE
from fastdump._words.text_table import Cell
from fastdump.config._dump_contents import DumpContents
from fastdump.config._dump_step import MAX_ITEMS, step_text
from fastdump.config._expansion import Expansion, Match, layer_span
from fastdump.config._explanation import Explanation
from fastdump.config._findings import Finding
from fastdump.config._model import ListEntry
from fastdump.config._patterns import names_in, wildcard_in
from fastdump.config._report import finding_lines
from fastdump.config._suspects import Suspects
from fastdump.config._wording import listed, quoted

_FILE_NAMES = "in which _ may stand for / . \\ or a blank"


def explanation_lines(
    explanation: Explanation, warnings: tuple[Finding, ...], width: int | None
) -> Iterator[list[Cell]]:
    """Yield the explanation of a configuration, then what is surprising in it."""
    for line in explanation.wrapped(width).split("\n"):
        yield [Cell(printable(line), "" if line.startswith(" ") else "bold")]
    if warnings:
        yield []
        yield from finding_lines(warnings)


def dump_lines(
    contents: DumpContents, skipped: Mapping[str, int], missing: list[str] | None
) -> Iterator[list[Cell]]:
    """Yield what a dump is, which files were skipped, and what is missing.

    `missing` is None if there is no configuration that could promise anything.
    """
    yield from contents.lines()
    if skipped:
        reasons = ", ".join(f"{n_files:,} {reason}" for reason, n_files in skipped.items())
        yield [Cell("skipped  ", SUBTLE), Cell(printable(reasons))]
    for line in missing or ():
        yield [Cell("missing  ", DOUBTFUL), Cell(printable(line))]
    if missing == []:
        yield [Cell("missing  "), Cell("nothing", GOOD)]


def suspects_text(suspects: Suspects) -> str:
    """Return how much there is to dump: ``3 operators, step 1, ranks 0-1``."""
    where = [counted(len(suspects.layer), "operator")]
    for noun, numbers in (("step", suspects.steps), ("rank", suspects.ranks)):
        if numbers:
            where.append(numbered(noun, numbers))
    return ", ".join(where)


def pattern_text(entry: ListEntry) -> str | None:
    """Return why a pattern in an entry is refused and what to do; None if there is no pattern."""
    for _, name in names_in(entry):
        if character := wildcard_in(name):
            return (
                f"{character} in {quoted(name)} is no wildcard for the vendor's code, which would"
                " find no operator; have it replaced by the names that an earlier dump has"
            )
    return None


def number_warnings(entry: ListEntry) -> Iterator[str]:
    """Yield a warning for each operator whose name looks like the number of a layer."""
    for name in (*(entry.layer or ()), *(entry.watcher_nodes or ())):
        if layer_span(name) is not None:
            yield f"{quoted(name)} is taken for the name of an operator; with --like for a layer"


def expansion_lines(expansion: Expansion) -> Iterator[str]:
    """Yield what each pattern stands for, then what limits the answer."""
    for match in expansion.matches:
        if match.names != (match.pattern,):
            yield f"{match.key} {quoted(match.pattern)}: {_match_text(match)}"
    if expansion.absent_steps:
        absent = f"dump_step {ranges_text(expansion.absent_steps)} is not in the example"
        yield f"note: {absent}, which has {numbered('step', expansion.steps)}"
    if expansion.file_names:
        names = listed(map(quoted, expansion.file_names))
        yield f"warning: names of files, {_FILE_NAMES}; look them up in the model: {names}"


def _match_text(match: Match) -> str:
    if match.key in ("model_name", "op_type", "optype_blacklist"):
        return listed(map(quoted, match.names))
    text = counted(len(match.names), "operator")
    return f"{text} of {numbered('layer', match.layers)}" if match.layers else text


def why_no_suspects(suspects: Suspects) -> str:
    """Return why a report names no operator that can be selected."""
    if suspects.unselectable:
        return (
            "the report has only operators that are run one by one, which cannot be selected; see"
            " 'fastdump config new single-op'"
        )
    return "the report names no operator at which bad values began"


def suspects_warnings(suspects: Suspects) -> Iterator[str]:
    """Yield what may keep the next dump from having all suspects."""
    if suspects.unselectable:
        yield f"run one by one, so not selected: {', '.join(suspects.unselectable)}"
    if suspects.file_names:
        yield f"names come from statistics files, {_FILE_NAMES}"


def first_steps(steps: tuple[int, ...]) -> tuple[str | None, str]:
    """Return a ``dump_step`` with as many of the steps as are allowed, and a warning or ''."""
    items = (step_text(steps) or "").split("|")
    allowed = "|".join(items[:MAX_ITEMS]) or None
    if len(items) <= MAX_ITEMS:
        return allowed, ""
    return allowed, f"only the first {MAX_ITEMS} of {len(items):,} ranges of steps"
