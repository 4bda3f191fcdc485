"""The report of what was found: findings in order, with their chains, and what else to say."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastdump._array.damage import Damage, describe_damage, is_not_finite
from fastdump._op_name.shortest_pattern import shortest_pattern
from fastdump._table.arrow_column import count_by
from fastdump._table.distinct_codes import n_distinct_codes
from fastdump._table.manifest import NOT_FINISHED
from fastdump._triage import kinds
from fastdump._triage.answer import operator_words, origin_sentence, report_sentence
from fastdump._triage.beginnings import Beginnings, Begun
from fastdump._triage.causes import describe_cause
from fastdump._triage.chain import Chain, Spread, Step, follow
from fastdump._triage.evidence import Evidence
from fastdump._triage.kinds import Kind
from fastdump._triage.links import ADDRESS, CONTENT, NAME, STATISTICS
from fastdump._triage.records import (
    Finding,
    Infected,
    InfectedRank,
    OperatorRun,
    Origin,
    Suppressed,
)
from fastdump._triage.replicas import different_replicas, missing_operators, missing_steps
from fastdump._triage.report import TriageReport
from fastdump._triage.rows import NONE
from fastdump._triage.starts import MISSING, ORIGIN, Start
from fastdump._words import catalogue as say
from fastdump._words.places import where_text
from fastdump._words.quantities import integers_text
from fastdump.errors import FastdumpError, FileChangedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.stats_table import StatsTable

MAX_FINDINGS = 1000
"""Further findings, each of another operator, are only counted."""
MAX_FOLLOWED = 16
"""At most this many findings have a chain and a damage."""
MAX_CHAIN = 1000
"""Longer chains lose their middle."""

_SEVERITIES = ("error", "warning")
_INFINITE_OR_NAN = (kinds.INF, kinds.NAN)
_NEAR_LIMIT = (kinds.SATURATED, kinds.HEADROOM)


def tell(table: StatsTable) -> TriageReport:
    """Return the report on a table of any level but "header"; level "full" tells most."""
    return _Story(Evidence(table)).report()


class _Story:
    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._table = evidence.table
        self._rows = evidence.rows
        self._executions = evidence.executions
        self._beginnings = Beginnings(evidence)
        self._shown = self._table[:0]
        self._n_left_out = 0

    def report(self) -> TriageReport:
        found = self._grouped(self._beginnings.begun)
        found += self._different_replicas()
        found += self._missing()
        suppressed = self._suppressed()
        n_tensors = int(self._evidence.tensors.sum())
        of_row = self._executions.of_row[self._evidence.tensors]
        n_operators = n_distinct_codes(of_row + 1, self._executions.n + 1)
        rows = self._rows
        return TriageReport(
            sentence=report_sentence(found, n_tensors),
            findings=tuple(found),
            notes=tuple(self._notes(found)),
            suppressed=tuple(suppressed),
            table=self._shown,
            summary={
                "tensors": n_tensors,
                "operators": n_operators,
                "ranks": sorted({rank for rank, _ in rows.lanes if rank is not None}),
                "steps": np.unique(rows.step[rows.step != NONE]).tolist(),
                "status": count_by(self._table.batch.column("status")),
                "not_read": self._table.skipped.get(NOT_FINISHED, 0),
            },
            pattern=self._pattern(found),
        )

    def _pattern(self, found: list[Finding]) -> str | None:
        """Return what selects the operator of the first finding alone, None without its file."""
        origin = found[0].origin if found else None
        name = None if origin is None else origin.operator.op_name
        if name is None or not self._evidence.files.are_at_hand:
            return None
        return shortest_pattern(name, [op_name for _, op_name in self._rows.ops if op_name])

    # Findings that began somewhere

    def _grouped(self, begun: list[Begun]) -> list[Finding]:
        """Return a finding for each operator with beginnings, errors first, then by time."""
        when = self._rows.when
        groups: dict[tuple[object, ...], list[Begun]] = defaultdict(list)
        for one in sorted(begun, key=lambda one: (when[one.start.row], one.start.execution)):
            groups[one.kind, one.start.op, one.start.verdict].append(one)
        # A dict keeps the order of insertion, and so of time.
        ordered = sorted(
            groups.values(), key=lambda group: _SEVERITIES.index(group[0].kind.severity)
        )
        self._n_left_out = max(0, len(ordered) - MAX_FINDINGS)
        return [self._finding(group, number) for number, group in enumerate(ordered[:MAX_FINDINGS])]

    def _finding(self, group: list[Begun], number: int) -> Finding:
        first, *others = group
        kind, start = first.kind, first.start
        is_followed = number < MAX_FOLLOWED
        origin = self._origin(first, is_followed=is_followed)
        sentence = origin_sentence(kind.name, origin)
        also = tuple(self._run_of(other.start) for other in others)
        finding = Finding(*kind, sentence, origin, also)
        if not is_followed:
            return finding
        chain = follow(first.search.graph, start.execution)
        shown = links = _links(start, chain)
        if len(links) > MAX_CHAIN:
            shown = [*links[: MAX_CHAIN // 2], *links[-(MAX_CHAIN // 2) :]]
        if number == 0:
            self._shown = self._rows_of(start, shown)
        return replace(
            finding,
            chain=tuple(self._infected(first, *link) for link in shown),
            chain_length=len(links),
            received=tuple(self._infected(first, *link) for link in chain.received),
            infected=self._by_rank(group),
        )

    def _origin(self, begun: Begun, *, is_followed: bool) -> Origin:
        start, files = begun.start, self._evidence.files
        inputs: list[int] = []
        if start.row in self._executions.outputs_of(start.execution):
            inputs = self._executions.inputs_of(start.execution).tolist()
        row, records = self._table[start.row], tuple(self._table[read] for read in inputs)
        cause = None
        if start.verdict == ORIGIN and begun.kind in _INFINITE_OR_NAN and inputs:
            describe = functools.partial(
                describe_cause,
                *(row.op_type or "", row, records),
                reads_uninitialised=bool(self._evidence.uninitialised[inputs].any()),
            )
            tensors = [files.tensor(read) if is_followed else None for read in inputs]
            try:
                cause = describe(tensors)
            except (FileChangedError, OSError):
                files.unread.update(tensor.path for tensor in tensors if tensor is not None)
                cause = describe([None] * len(inputs))
        return Origin(
            verdict=start.verdict,
            reason=start.reason,
            operator=self._run_of(start),
            tensor=row,
            inputs=records,
            cause=cause,
            damage=self._damage(begun.kind, start.row) if is_followed else None,
            last_clean=None if start.last_clean == NONE else self._evidence.run(start.last_clean),
            jump=begun.jump,
        )

    def _damage(self, kind: Kind, row: int) -> Damage | None:
        tensor = self._evidence.files.tensor(row)
        if tensor is None or kind not in (*_INFINITE_OR_NAN, *_NEAR_LIMIT):
            return None
        share = kinds.HEADROOM_SHARE if kind is kinds.HEADROOM else 1.0
        limit = share * float(self._rows.largest(row))

        def is_at_limit(elements: NDArray[Any]) -> NDArray[np.bool_]:
            return np.asarray(np.abs(elements).astype(np.float64) >= limit)

        is_bad = is_not_finite if kind in _INFINITE_OR_NAN else is_at_limit
        try:
            itemsize = tensor.stored_nbytes // max(tensor.size, 1)
            with tensor.guarded() as elements:
                return describe_damage(elements, is_bad, itemsize=itemsize)
        except (FileChangedError, OSError):
            self._evidence.files.unread.add(tensor.path)
            return None
        except (FastdumpError, ValueError, TypeError):
            return None

    def _infected(self, begun: Begun, execution: int, step: Step) -> Infected:
        outputs = begun.search.infection.bad_outputs(execution)
        worst = max(outputs, key=lambda row: int(self._rows.n_bad(row)), default=None)
        return Infected(
            operator=self._evidence.run(execution),
            read=None if step.read == NONE else self._table[step.read],
            made=None if worst is None else self._table[worst],
            known_by=step.known_by,
        )

    def _by_rank(self, group: list[Begun]) -> tuple[InfectedRank, ...]:
        starts = {one.start.execution for one in group}
        reached = Spread(group[0].search.graph, starts).steps
        lanes = self._executions.lane[np.fromiter(reached, np.int64, len(reached))]
        ranks = Counter(self._rows.lanes[lane][0] for lane in lanes.tolist())
        ordered = sorted(ranks.items(), key=lambda item: (item[0] is None, item[0]))
        return tuple(InfectedRank(rank, n_operators) for rank, n_operators in ordered)

    def _rows_of(self, start: Start, links: Sequence[tuple[int, Step]]) -> StatsTable:
        rows = self._executions.rows_of(start.execution).tolist()
        for execution, step in links:
            if execution == start.execution:
                continue
            outputs = self._executions.outputs_of(execution).tolist()
            # What was read is usually the output before it, which is shown.
            is_shown = step.known_by[0] in (CONTENT, STATISTICS, ADDRESS)
            if step.read != NONE and not (is_shown and outputs):
                rows.append(step.read)
            rows += outputs
        return self._table[np.array(rows, np.int64)]

    def _run_of(self, start: Start) -> OperatorRun:
        run = self._evidence.run(start.execution)
        if start.verdict != MISSING:
            return run
        op_type, op_name = self._rows.ops[start.op]
        return replace(
            run, op_type=op_type or None, op_name=op_name or None, timestamp=None, paths=()
        )

    # Findings that compare ranks

    def _different_replicas(self) -> list[Finding]:
        different = different_replicas(self._evidence)
        if not different:
            return []
        first, *others = different
        other = self._lane_text(self._rows.lane[first.other])
        reason = say.SAME_ON_ALL_RANKS if first.is_collective else say.REPLICATED
        origin = Origin(
            ORIGIN,
            reason(other=other),
            self._evidence.run_of_row(first.row),
            self._table[first.row],
        )
        sentence = origin_sentence(kinds.REPLICAS_DIFFER.name, origin)
        also = tuple(self._evidence.run_of_row(one.row) for one in others)
        return [Finding(*kinds.REPLICAS_DIFFER, sentence, origin, also)]

    def _missing(self) -> list[Finding]:
        steps_of = missing_steps(self._evidence)
        found = []
        for lane, steps in steps_of.items():
            in_steps = say.IN_STEP if len(steps) == 1 else say.IN_STEPS
            lacks = say.LACKS_STEP(
                place=self._lane_text(lane), steps=in_steps(numbers=integers_text(steps))
            )
            found.append(Finding(*kinds.MISSING_STEP, lacks))
        by_lane = defaultdict(list)
        for one in missing_operators(self._evidence, steps_of):
            by_lane[one.lane].append(one)
        for lane, missing in by_lane.items():
            other = self._evidence.run(missing[0].elsewhere)
            first = operator_words(other)
            if other.step is not None:
                first = say.OF_STEP(operator=first, step=str(other.step))
            lacks = say.LACKS_OPERATORS(
                place=self._lane_text(lane), operators=say.OPERATORS(len(missing)), first=first
            )
            found.append(Finding(*kinds.MISSING_OPERATOR, lacks))
        return found

    def _lane_text(self, lane: int) -> str:
        rank, device = self._rows.lanes[lane]
        return where_text(rank=rank, device=device if rank is None else None) or say.NO_RANK()

    # What else there is to say

    def _suppressed(self) -> list[Suppressed]:
        rows, suppressed = self._rows, []
        for pattern, kind, members in self._beginnings.suppressed:
            by_type: dict[str, list[int]] = defaultdict(list)
            for row in members.tolist():
                by_type[rows.ops[int(rows.op[row])][0]].append(row)
            for op_type, alike in by_type.items():
                first = min(alike, key=lambda row: int(rows.when[row]))
                example = self._table[first]
                one = Suppressed(pattern, kind.name, op_type or None, len(alike), example)
                suppressed.append(one)
        return sorted(suppressed, key=lambda one: -one.tensors)

    def _notes(self, found: list[Finding]) -> list[str]:
        rows, executions = self._rows, self._executions
        notes = self._table.notes
        if found and not self._evidence.files.are_at_hand:
            notes.append(say.NOT_AT_HAND())
        if found and not self._evidence.dumps_inputs.all():
            notes.append(say.KNOWN_BY_TIME())
        n_reported = int((rows.is_reported & self._evidence.tensors).sum())
        if n_reported:
            notes.append(say.REPORTED(tensors=say.TENSORS(n_reported)))
        is_saturated = any(one.kind == kinds.SATURATED.name for one in found)
        if is_saturated and not self._beginnings.hard.bad.any():
            notes.append(say.SATURATION_MODE())
        if self._table.level == "health":
            notes.append(say.HEALTH_ONLY())
        if self._n_left_out:
            notes.append(say.OTHER_FINDINGS(self._n_left_out))
        if executions.n_repeated:
            notes.append(say.REPEATED(tensors=say.TENSORS(executions.n_repeated)))
        for status, number in count_by(self._table.batch.column("status")).items():
            if status not in ("ok", "unsupported"):
                notes.append(say.OF_STATUS(tensors=say.TENSORS(number), status=status))
        if n_unread := len(self._evidence.files.unread):
            notes.append(say.FILES_UNREAD(n_unread))
        return notes


def _links(start: Start, chain: Chain) -> list[tuple[int, Step]]:
    """Return the executions that follow from a start, and how each was infected."""
    links = list(zip(chain.executions[1:], chain.steps, strict=True))
    if start.verdict == MISSING:
        # The operator is not in the dump: the chain begins with the one that read its output.
        links.insert(0, (chain.executions[0], Step(NONE, NONE, start.row, (NAME,))))
    return links
