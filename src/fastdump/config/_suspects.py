"""The operators to look at next: where triage found that bad values began, and what is around."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pydantic.dataclasses
from pydantic import TypeAdapter, ValidationError

from fastdump.config._findings import ConfigError, path_text
from fastdump.config._selection import is_kernel

# {time}/{device}/{file}: no model, which operators that are run one by one do not have.
_ONE_BY_ONE = re.compile(r"(^|/)[0-9]{13,14}/[0-9]+/[^/]+$")
# Of a chain of infected operators: those next to its origin.
_N_INFECTED = 3


# What is read of the report; the rest of it does not matter.
@pydantic.dataclasses.dataclass(frozen=True)
class _Operator:
    op_name: str | None
    op_type: str | None
    rank: int | None
    step: int | None
    paths: tuple[str, ...] = ()


@pydantic.dataclasses.dataclass(frozen=True)
class _Infected:
    operator: _Operator


@pydantic.dataclasses.dataclass(frozen=True)
class _Origin:
    operator: _Operator
    last_clean: _Operator | None = None


@pydantic.dataclasses.dataclass(frozen=True)
class _Finding:
    severity: Literal["error", "warning"]
    origin: _Origin | None
    also: tuple[_Operator, ...] = ()
    chain: tuple[_Infected, ...] = ()


@pydantic.dataclasses.dataclass(frozen=True)
class _Report:
    findings: tuple[_Finding, ...]


_REPORT = TypeAdapter(_Report)


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
    text = json.dumps(report) if isinstance(report, Mapping) else report
    try:
        found = _REPORT.validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = f"{path_text(first['loc'])}: " if first["loc"] else ""
        # It names our class, which means nothing to a reader.
        is_type = first["type"] == "dataclass_type"
        reason = "expected an object" if is_type else first["msg"][:1].lower() + first["msg"][1:]
        raise ConfigError(f"not what 'fastdump triage --json' prints: {place}{reason}") from error
    findings = [finding for finding in found.findings if finding.origin is not None]
    findings = [f for f in findings if f.severity == "error"] or findings
    return _suspects(findings[:n])


def _suspects(findings: list[_Finding]) -> Suspects:
    around = [operator for finding in findings for operator in _around(finding)]
    named = {op.op_name: op for op in reversed(around) if op.op_name}
    order = dict.fromkeys(op.op_name for op in around if op.op_name)
    layer = [name for name in order if _is_selectable(named[name])]
    origins = [operator for finding in findings for operator in _runs(finding)]
    return Suspects(
        layer=tuple(layer),
        steps=tuple(sorted({op.step for op in origins if op.step is not None})),
        ranks=tuple(sorted({op.rank for op in origins if op.rank is not None})),
        unselectable=tuple(name for name in order if not _is_selectable(named[name])),
        file_names=any(path.endswith(".csv") for name in layer for path in named[name].paths),
    )


def _around(finding: _Finding) -> Iterator[_Operator]:
    assert finding.origin is not None
    if finding.origin.last_clean is not None:
        yield finding.origin.last_clean
    yield finding.origin.operator
    for infected in finding.chain[:_N_INFECTED]:
        yield infected.operator


def _runs(finding: _Finding) -> Iterator[_Operator]:
    assert finding.origin is not None
    yield finding.origin.operator
    yield from finding.also


def _is_selectable(operator: _Operator) -> bool:
    return not is_kernel(operator.op_type) and not any(map(_ONE_BY_ONE.search, operator.paths))
