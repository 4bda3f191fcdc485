"""The operators to dump next: those around the places where triage found that bad values began."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fastdump._report import Report
from fastdump.config._findings import ConfigError
from fastdump.config._json_places import JsonPath
from fastdump.config._json_text import half_surrogate, type_text
from fastdump.config._selection import ONE_BY_ONE, is_kernel
from fastdump.config._wording import path_text, quoted

# The number of infected operators of a finding to dump: those next to its origin.
_N_INFECTED = 3
_TYPES = {dict: "an object", list: "an array", str: "a string", int: "an integer"}


@dataclass(frozen=True)
class Suspects:
    r"""What to dump next, as tensors, after a triage.

    Attributes
    ----------
    layer
        Names of operators of graphs, for a `ListEntry`: for each finding, the last operator before
        it that is known to be clean, its origin, and the first operators that the origin infected.
    steps
        The steps in which the origins are bad, sorted; none if the report has no steps.
    ranks
        The ranks on which the origins are bad, sorted. Only the processes of these ranks need the
        acl.json.
    unselectable
        Names of suspicious operators that ``layer`` cannot select, because they are not operators
        of a graph.
    file_names
        Whether some names in `layer` come from statistics files, which have ``_`` where the model
        may have ``/``, ``.``, ``\`` or a blank.
    """

    layer: tuple[str, ...]
    steps: tuple[int, ...]
    ranks: tuple[int, ...]
    unselectable: tuple[str, ...]
    file_names: bool


def suspects(report: Report | Mapping[str, Any] | str | bytes, n: int | None = None) -> Suspects:
    """Return what a triage found suspicious, for the configuration of the next dump.

    A dump of statistics is quick and small. It shows which operators are suspicious, so that only
    their tensors need to be dumped next.

    Parameters
    ----------
    report
        A `TriageReport`, what its ``to_dict`` returns, or what ``fastdump triage --json`` prints.
    n
        Number of findings to use, counting those that have an origin; None for all. Warnings are
        used only if there is no error.

    Returns
    -------
    Suspects
        Names of operators, steps and ranks.

    Raises
    ------
    ConfigError
        If `report` is something else.
    """
    content = report.to_dict() if isinstance(report, Report) else report
    findings = _read_findings(_Node(_decoded(content), ()))
    findings = [f for f in findings if f.severity == "error"] or findings
    around = [operator for finding in findings[:n] for operator in finding.around]
    runs = [operator for finding in findings[:n] for operator in finding.runs]
    first: dict[str, _Operator] = {}
    for operator in around:
        if operator.op_name:
            first.setdefault(operator.op_name, operator)
    layer = [name for name, operator in first.items() if operator.is_selectable]
    return Suspects(
        layer=tuple(layer),
        steps=tuple(sorted({op.step for op in runs if op.step is not None})),
        ranks=tuple(sorted({op.rank for op in runs if op.rank is not None})),
        unselectable=tuple(name for name, op in first.items() if not op.is_selectable),
        file_names=any(path.endswith(".csv") for name in layer for path in first[name].paths),
    )


class _Operator(NamedTuple):
    op_name: str | None
    op_type: str | None
    rank: int | None
    step: int | None
    paths: list[str]

    @property
    def is_selectable(self) -> bool:
        return not is_kernel(self.op_type) and not any(map(ONE_BY_ONE.search, self.paths))


class _Finding(NamedTuple):
    """A finding that has an origin."""

    severity: str
    around: list[_Operator]  # the last clean operator, the origin, those that it infected
    runs: list[_Operator]  # the origin, in each step and on each rank


class _Node(NamedTuple):
    """A value in the report, and its path."""

    value: Any
    path: JsonPath

    def of(self, expected: type) -> Any:
        """Return the value, which must have a type."""
        # isinstance would take true for an integer.
        if type(self.value) is not expected:
            raise self.refusal(f"is {type_text(self.value)}, expected {_TYPES[expected]}")
        return self.value

    def optional(self, expected: type) -> Any:
        """Return the value, which must be null or have a type."""
        return None if self.value is None else self.of(expected)

    def elements(self) -> list[_Node]:
        """Return the elements of the value, which must be an array."""
        return [_Node(element, (*self.path, i)) for i, element in enumerate(self.of(list))]

    def member(self, name: str, *default: Any) -> _Node:
        """Return a member of the value, which must be an object."""
        members, path = self.of(dict), (*self.path, name)
        if name not in members and not default:
            raise _Node(None, path).refusal("is missing")
        return _Node(members.get(name, *default), path)

    def refusal(self, reason: str) -> ConfigError:
        return _refusal(f"{path_text(self.path) or 'the report'} {reason}")


def _refusal(reason: str) -> ConfigError:
    return ConfigError(f"not what 'fastdump triage --json' prints: {reason}")


def _decoded(report: Mapping[str, Any] | str | bytes) -> Any:
    try:
        text = json.dumps(report) if isinstance(report, Mapping) else report
        text = text.decode() if isinstance(text, bytes) else text
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refusal(f"invalid JSON: {error}") from error
    if half_surrogate(text) is not None:
        raise _refusal("invalid JSON: half of a surrogate pair")
    return value


def _read_findings(report: _Node) -> list[_Finding]:
    findings = []
    for node in report.member("findings").elements():
        severity = node.member("severity")
        if severity.of(str) not in ("error", "warning"):
            found = quoted(severity.value)
            raise severity.refusal(f'is {found}, expected "error" or "warning"')
        origin = node.member("origin")
        if origin.optional(dict) is None:
            continue
        first = _read_operator(origin.member("operator"))
        also = map(_read_operator, node.member("also", []).elements())
        clean = origin.member("last_clean", None)
        before = [] if clean.value is None else [_read_operator(clean)]
        chain = [
            _read_operator(link.member("operator")) for link in node.member("chain", []).elements()
        ]
        around = [*before, first, *chain[:_N_INFECTED]]
        findings.append(_Finding(severity.value, around, [first, *also]))
    return findings


def _read_operator(node: _Node) -> _Operator:
    return _Operator(
        node.member("op_name").optional(str),
        node.member("op_type").optional(str),
        node.member("rank").optional(int),
        node.member("step").optional(int),
        [path.of(str) for path in node.member("paths", []).elements()],
    )
