"""Which findings of a run are told: each once, the first origin before all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._follow.events import What
from fastdump._table.arrow_column import integer_array
from fastdump._triage.records import Finding, Origin
from fastdump._triage.report import TriageReport
from fastdump._triage.story import tell

if TYPE_CHECKING:
    from fastdump._table.stats_table import StatsTable

MAX_AT_ONCE = 20
"""Of findings beyond the first origin, so many are told at a time."""


class Told(NamedTuple):
    """A finding that is told now, and what of it is new."""

    what: What
    finding: Finding
    report: TriageReport


class Findings:
    """What was told already.

    Findings that compare ranks or steps, and warnings, are left to `triage`: of a dump that is not
    complete, most of them are about files that are still to come.
    """

    def __init__(self) -> None:
        self.report: TriageReport | None = None
        self._first: Origin | None = None
        self._told: set[tuple[str | None, ...]] = set()

    @property
    def any(self) -> bool:
        """Whether the last report has an error, not only warnings."""
        return self.report is not None and bool(_errors(self.report))

    def concerns(self, new: StatsTable) -> bool:
        """Tell whether new rows may show a finding."""
        bad = new.bad_values
        saturated = integer_array(new.batch.column("saturated")) > 0
        return bool(np.any(bad.nan_or_pos_inf | bad.neg_inf | saturated))

    def judge(self, table: StatsTable, *, is_known: bool = False) -> Iterator[Told]:
        """Yield what is new in the report on a table; `is_known` if it was told by another."""
        report = self.report = tell(table)
        errors = _errors(report)
        if not errors:
            self._first = None
            return
        first, *others = errors
        assert first.origin is not None
        before, self._first = self._first, first.origin
        is_new = _key(first) not in self._told
        self._told.add(_key(first))
        if before is None:
            yield Told("known origin" if is_known else "origin", first, report)
        elif _place(first.origin) != _place(before):
            is_earlier = _when(first.origin) < _when(before)
            yield Told("earlier origin" if is_earlier else "other origin", first, report)
        elif is_new:
            yield Told("finding", first, report)
        new = [one for one in others if _key(one) not in self._told]
        self._told.update(map(_key, new))
        if not is_known:
            yield from (Told("finding", one, report) for one in new[:MAX_AT_ONCE])


def _errors(report: TriageReport) -> list[Finding]:
    return [one for one in report.findings if one.severity == "error" and one.origin is not None]


def _key(finding: Finding) -> tuple[str | None, ...]:
    assert finding.origin is not None
    operator = finding.origin.operator
    return finding.kind, operator.op_type, operator.op_name


def _place(origin: Origin) -> tuple[object, ...]:
    run, tensor = origin.operator, origin.tensor
    return run.rank, run.device, run.step, run.op_type, run.op_name, tensor.tensor_name


def _when(origin: Origin) -> tuple[int, int]:
    run = origin.operator
    timestamp = run.timestamp if run.timestamp is not None else origin.tensor.timestamp
    return run.step if run.step is not None else -1, timestamp or 0
