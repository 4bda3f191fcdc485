"""Ways back: from any bad row of a table to where its values began."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastdump._triage.beginnings import Beginnings, Begun
from fastdump._triage.chain import Chain, follow_to
from fastdump._triage.evidence import Evidence
from fastdump._triage.harmless import PATTERNS
from fastdump._triage.records import OperatorRun
from fastdump._triage.rows import NONE

if TYPE_CHECKING:
    from fastdump._table.stats_table import StatsTable
    from fastdump._triage.starts import Search


@dataclass(frozen=True, slots=True)
class WayStep:
    """One operator on the way from an origin.

    Attributes
    ----------
    operator
        The operator.
    read, made
        Indices of the rows of the bad input that it read and of the bad output that it made; None
        if there is none, or it is not known.
    known_by
        How it is known that `read` is what the operator before it made, as in `Infected`; () for
        the first one.
    """

    operator: OperatorRun
    read: int | None
    made: int | None
    known_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """The way of bad values to one operator.

    Attributes
    ----------
    kind, verdict, reason
        As of a finding of `triage` and of its origin.
    steps
        The operators from the origin on.
    """

    kind: str
    verdict: str
    reason: str
    steps: tuple[WayStep, ...]


class Ways:
    """Finds the ways of all bad values of one table, which is looked through once.

    Parameters
    ----------
    table
        A table of any level but "header".
    """

    def __init__(self, table: StatsTable) -> None:
        self._evidence = Evidence(table)
        self._beginnings = Beginnings(self._evidence)

    def to(self, row: int) -> Way | None:
        """Return the way to the operator of a row; None if nothing bad is known to lead there."""
        execution = int(self._evidence.executions.of_row[row])
        if execution == NONE:
            return None
        for begun_at in self._searches():
            search = next(iter(begun_at.values())).search
            chain = follow_to(search.graph, list(begun_at), execution)
            if chain is not None:
                begun = begun_at[chain.executions[0]]
                steps = tuple(self._steps(begun, chain))
                return Way(begun.kind.name, begun.start.verdict, begun.start.reason, steps)
        return None

    def why_harmless(self, row: int) -> str:
        """Return what a row is that looks bad on purpose, '' for any other."""
        for pattern, _, members in self._beginnings.suppressed:
            if row in members:
                return PATTERNS[pattern]
        return ""

    def _searches(self) -> Iterable[dict[int, Begun]]:
        """Return what began in each search, by the execution where it did."""
        searches: dict[int, dict[int, Begun]] = defaultdict(dict)
        for begun in self._beginnings.begun:
            searches[id(begun.search)][begun.start.execution] = begun
        return searches.values()

    def _steps(self, begun: Begun, chain: Chain) -> Iterator[WayStep]:
        first, *others = chain.executions
        start, search = begun.start, begun.search
        makes = start.row in self._evidence.executions.outputs_of(first)
        yield WayStep(
            self._evidence.run(first),
            None if makes else start.row,
            start.row if makes else self._worst_output(search, first),
            (),
        )
        for execution, step in zip(others, chain.steps, strict=True):
            read = None if step.read == NONE else step.read
            made = self._worst_output(search, execution)
            yield WayStep(self._evidence.run(execution), read, made, step.known_by)

    def _worst_output(self, search: Search, execution: int) -> int | None:
        outputs = search.infection.bad_outputs(execution)
        rows = self._evidence.rows
        return max(outputs, key=lambda row: int(rows.n_bad(row)), default=None)
