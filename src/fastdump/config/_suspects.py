"""The operators to dump next: where triage found that bad values began, and what is around."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from fastdump.config._findings import ConfigError, path_text, shown
from fastdump.config._json_places import JsonPath
from fastdump.config._json_text import half_surrogate, type_text
from fastdump.config._selection import is_kernel

# {time}/{device}/{file}: no model, which operators that are run one by one do not have.
_ONE_BY_ONE = re.compile(r"(^|/)[0-9]{13,14}/[0-9]+/[^/]+$")
# Of a chain of infected operators: those next to its origin.
_N_INFECTED = 3
_TYPES = {dict: "an object", list: "an array", str: "a string", int: "an integer"}


@dataclass(frozen=True)
class Suspects:
    r"""What to dump next, as tensors, after a triage.

    Attributes
    ----------
    layer
        Names of operators of graphs, for a `ListEntry`: of each finding the last operator before
        it that is known to be clean, its origin, and the first that it infected.
    steps
        In which the origins are bad, sorted; none if the report knows of no steps.
    ranks
        On which they are, sorted. An acl.json is for one process: the others need none.
    unselectable
        Names of suspicious operators that ``layer`` cannot select: they are not of a graph.
    file_names
        Whether some names of `layer` are those of statistics files, which have ``_`` where the
        model may have ``/``, ``.``, ``\`` or a blank.
    """

    layer: tuple[str, ...]
    steps: tuple[int, ...]
    ranks: tuple[int, ...]
    unselectable: tuple[str, ...]
    file_names: bool


class _Operator(NamedTuple):
    op_name: str | None
    op_type: str | None
    rank: int | None
    step: int | None
    paths: list[str]

    @property
    def is_selectable(self) -> bool:
        return not is_kernel(self.op_type) and not any(map(_ONE_BY_ONE.search, self.paths))


class _Finding(NamedTuple):
    severity: str
    around: list[_Operator]  # the last clean operator, the origin, what it infected
    runs: list[_Operator]  # the origin in each step and rank


def suspects(report: Mapping[str, Any] | str | bytes, n: int | None = None) -> Suspects:
    """Return what a triage found suspicious, for the configuration of the next dump.

    First dump statistics, which is quick; then only the tensors of what these show to be
    suspicious.

    Parameters
    ----------
    report
        What ``fastdump triage --json`` prints, or `TriageReport.to_dict` returns.
    n
        Of the first so many findings that have an origin; None: of all. Warnings count only if
        there is no error.

    Returns
    -------
    Suspects

    Raises
    ------
    ConfigError
        If `report` is something else.
    """
    findings = _read_findings(_Node(_decoded(report), ()))
    findings = [f for f in findings if f.severity == "error"] or findings
    around = [operator for finding in findings[:n] for operator in finding.around]
    named = {op.op_name: op for op in reversed(around) if op.op_name}
    order = dict.fromkeys(op.op_name for op in around if op.op_name)
    layer = [name for name in order if named[name].is_selectable]
    runs = [operator for finding in findings[:n] for operator in finding.runs]
    return Suspects(
        layer=tuple(layer),
        steps=tuple(sorted({op.step for op in runs if op.step is not None})),
        ranks=tuple(sorted({op.rank for op in runs if op.rank is not None})),
        unselectable=tuple(name for name in order if not named[name].is_selectable),
        file_names=any(path.endswith(".csv") for name in layer for path in named[name].paths),
    )


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


def _refusal(reason: str) -> ConfigError:
    return ConfigError(f"not what 'fastdump triage --json' prints: {reason}")


class _Node(NamedTuple):
    """A value in the report, and its path."""

    value: Any
    path: JsonPath

    def of(self, expected: type) -> Any:
        """Return the value, which must have a type."""
        # Not isinstance, for which True is an integer.
        if type(self.value) is not expected:
            found = f"{type_text(self.value)}, expected {_TYPES[expected]}"
            raise _refusal(f"{path_text(self.path) or 'the report'} is {found}")
        return self.value

    def optional(self, expected: type) -> Any:
        """Return the value, which must be null or have a type."""
        return None if self.value is None else self.of(expected)

    def elements(self) -> list[_Node]:
        return [_Node(element, (*self.path, i)) for i, element in enumerate(self.of(list))]

    def member(self, name: str) -> _Node:
        if name not in self.of(dict):
            raise _refusal(f"{path_text((*self.path, name))} is missing")
        return _Node(self.value[name], (*self.path, name))

    def get(self, name: str, default: Any) -> _Node:
        return self.member(name) if name in self.of(dict) else _Node(default, (*self.path, name))


def _read_findings(report: _Node) -> list[_Finding]:
    """Return the findings that have an origin."""
    findings = []
    for node in report.member("findings").elements():
        severity = node.member("severity")
        if severity.of(str) not in ("error", "warning"):
            found = f'{shown(severity.value)}, expected "error" or "warning"'
            raise _refusal(f"{path_text(severity.path)} is {found}")
        origin = node.member("origin")
        also = [_read_operator(operator) for operator in node.get("also", []).elements()]
        chain = [
            _read_operator(link.member("operator")) for link in node.get("chain", []).elements()
        ]
        if origin.optional(dict) is None:
            continue
        first = _read_operator(origin.member("operator"))
        last_clean = origin.get("last_clean", None)
        before = [] if last_clean.value is None else [_read_operator(last_clean)]
        findings.append(
            _Finding(severity.value, [*before, first, *chain[:_N_INFECTED]], [first, *also])
        )
    return findings


def _read_operator(node: _Node) -> _Operator:
    return _Operator(
        node.member("op_name").optional(str),
        node.member("op_type").optional(str),
        node.member("rank").optional(int),
        node.member("step").optional(int),
        [path.of(str) for path in node.get("paths", []).elements()],
    )
