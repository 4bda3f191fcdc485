"""Where bad values began: operators with clean inputs and bad outputs, and what comes near that.

| verdict | meaning |
|---|---|
| origin | all inputs are clean, an output is bad |
| unknown | an output is bad; what it read was not dumped, or was cut off |
| missing | what the operator made is bad in the one that reads it; it is itself not in the dump |
| data | bad when it was first read, and no operator of the dump made it: weights, or input data |
| overwritten | clean when it was made, bad when it was read |

Everything else that is bad was inherited.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from fastdump._triage import harmless
from fastdump._triage.chain import Graph, Spread, Step
from fastdump._triage.evidence import Evidence
from fastdump._triage.infection import Infection
from fastdump._triage.links import COLLECTIVE, NAME, ORDER
from fastdump._triage.rows import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORIGIN: Final = "origin"
UNKNOWN: Final = "unknown"
MISSING: Final = "missing"
DATA: Final = "data"
OVERWRITTEN: Final = "overwritten"

_MAX_STEPS = 16
"""So many other steps are asked what one lacks."""
_MAX_READERS = 256
"""Of a lane, so many operators are looked at that read something bad without an explanation."""


class Start(NamedTuple):
    """Where bad values began.

    Attributes
    ----------
    execution : int
        That made them; that read them, if it is not known what made them.
    op : int
        The operator that made them; that read them, if it is not known what did.
    row : int
        A row that shows them.
    verdict : str
        See above.
    reason : str
        What makes it this verdict, in words.
    last_clean : int
        Unless inputs are known: the last execution before it with clean outputs, or NONE.
    """

    execution: int
    op: int
    row: int
    verdict: str
    reason: str
    last_clean: int = NONE


class Origins:
    """Finds where an infection began.

    Parameters
    ----------
    evidence
        The table.
    infection
        What is bad.
    readers
        Which operators to look at that read something bad that nothing before them explains:
        "referenced" are those of which another step, or rank, tells what they read.

    Attributes
    ----------
    infection : Infection
        What is bad.
    starts : list of Start
        By time.
    edges : dict of int to list of Step
        Links that only this search could find, by the execution at their end.
    absorbed : list of int
        Bad inputs that no operator made, and that had no effect.
    """

    def __init__(
        self,
        evidence: Evidence,
        infection: Infection,
        *,
        readers: Literal["referenced", "all"],
    ) -> None:
        self._rows = rows = evidence.rows
        self._executions = executions = evidence.executions
        self._links = evidence.links
        self._collectives = evidence.collectives
        self._is_source = harmless.is_source(rows)
        self.infection = infection
        self.starts: list[Start] = []
        self.edges: dict[int, list[Step]] = defaultdict(list)
        self.absorbed: list[int] = []

        n_lanes = len(rows.lanes)
        lane = executions.lane
        self._dumps_inputs = np.bincount(lane, executions.n_inputs, n_lanes) > 0
        self._dumps_outputs = np.bincount(lane, executions.n_outputs, n_lanes) > 0
        made_here = self._made_here()
        sure = self._sure(made_here)
        for execution in np.flatnonzero(sure).tolist():
            self._start_at(execution)
        self._add_unsure(made_here & ~sure)
        self._readers = readers
        self._add_readers()
        if readers == "all":
            self._add_unexplained()
        self.starts.sort(key=lambda start: (executions.when[start.execution], start.execution))

    @functools.cached_property
    def graph(self) -> Graph:
        """The links between executions, with all that the search found."""
        return Graph(self.infection, self.edges)

    def _made_here(self) -> NDArray[np.bool_]:
        """Return which executions have a bad output and no bad input, on this rank or another."""
        infection = self.infection
        made_here = infection.makes_bad & ~infection.reads_bad
        for execution in np.flatnonzero(made_here).tolist():
            if not self._collectives.is_collective(int(self._executions.op[execution])):
                continue
            if senders := self._collectives.senders(execution, infection):
                made_here[execution] = False
                steps = [Step(sender, NONE, NONE, (COLLECTIVE,)) for sender in senders]
                self.edges[execution] += steps
        return made_here

    def _sure(self, made_here: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of these executions made bad values of clean ones, or of none."""
        executions, infection = self._executions, self.infection
        has_inputs = executions.n_inputs > 0
        ops_with_inputs = np.zeros(len(self._rows.ops), np.bool_)
        ops_with_inputs[executions.op[has_inputs]] = True
        types_with_inputs = {
            self._rows.ops[op][0] for op in np.flatnonzero(ops_with_inputs).tolist()
        }
        needs_none = np.array(
            [op_type not in types_with_inputs for op_type, _ in self._rows.ops], np.bool_
        )
        needs_none = needs_none[executions.op] & self._dumps_inputs[executions.lane]
        is_collective = [self._collectives.is_collective(op) for op in range(len(self._rows.ops))]
        needs_none &= ~np.array(is_collective, np.bool_)[executions.op]
        needs_none |= self._is_source[executions.op]
        return made_here & np.where(has_inputs, ~infection.reads_unknown, needs_none)

    def _start_at(self, execution: int) -> None:
        op = int(self._executions.op[execution])
        row = self.infection.bad_outputs(execution)[0]
        if self._is_source[op]:
            start = Start(execution, op, row, DATA, "it brings data in")
        elif self._collectives.is_collective(op) and not self._collectives.peers(execution):
            reason = "its inputs are clean, and those of other ranks are not in the dump"
            start = Start(execution, op, row, UNKNOWN, reason)
        elif self._executions.n_inputs[execution]:
            start = Start(execution, op, row, ORIGIN, "its inputs are clean")
        else:
            start = Start(execution, op, row, ORIGIN, "it has no inputs")
        self.starts.append(start)

    def _add_unsure(self, unsure: NDArray[np.bool_]) -> None:
        """Add executions of which it is not known what they read, unless it may have been bad."""
        executions, infection = self._executions, self.infection
        candidates = np.flatnonzero(unsure)
        parents = infection.presumed_parents[candidates]
        after_bad = self._steps_after_bad()
        for execution, parent in zip(candidates.tolist(), parents.tolist(), strict=True):
            lane, step = int(executions.lane[execution]), int(executions.step[execution])
            if parent != NONE:
                # The first of a step, without inputs: infected by the step before, or not at all.
                is_first = executions.step[parent] != step and not executions.n_inputs[execution]
                if not is_first or (lane, step) in after_bad:
                    continue
            if executions.n_inputs[execution] == 0:
                between = self._missing_between(self._last_clean(execution), execution)
                is_collective = between != NONE and self._collectives.is_collective(between)
                if self._received(execution, NONE, between if is_collective else NONE):
                    continue
            self._start_unsure(execution)

    def _steps_after_bad(self) -> set[tuple[int, int]]:
        """Return lane and step of the steps before which there is one with a bad output."""
        executions, after_bad = self._executions, set()
        for lane in range(len(self._rows.lanes)):
            in_lane = executions.lane == lane
            steps = np.unique(executions.step[in_lane])
            bad = np.isin(steps, executions.step[in_lane & self.infection.makes_bad])
            after_bad |= {(lane, step) for step in steps[1:][bad[:-1]].tolist()}
        return after_bad

    def _start_unsure(self, execution: int) -> None:
        executions = self._executions
        op = int(executions.op[execution])
        unknown = [
            f"input.{self._rows.index[row]}"
            for row in executions.inputs_of(execution).tolist()
            if not self._rows.known[row]
        ]
        if unknown:
            reason = f"{', '.join(unknown)} is not wholly in the dump"
        elif self._collectives.is_collective(op):
            reason = "it may have got them from a rank that is not in the dump"
        else:
            reason = "its inputs were not dumped"
        row = self.infection.bad_outputs(execution)[0]
        clean = self._last_clean(execution)
        if (between := self._missing_between(clean, execution)) != NONE:
            name = " ".join(self._rows.ops[between])
            reason += f", nor was {name}, which runs before it in other steps"
        self.starts.append(Start(execution, op, row, UNKNOWN, reason, clean))

    @functools.cached_property
    def _clean(self) -> NDArray[np.bool_]:
        """Which executions have outputs, all of them known and clean."""
        executions, infection = self._executions, self.infection
        clean = (executions.n_outputs > 0) & ~infection.makes_bad
        clean &= ~executions.outputs_in(~self._rows.known)
        # Where no outputs were dumped, what it read is all that is known of any operator.
        reads_clean = (executions.n_inputs > 0) & ~infection.reads_bad & ~infection.reads_unknown
        return np.where(self._dumps_outputs[executions.lane], clean, reads_clean)

    def _last_clean(self, execution: int) -> int:
        """Return the last execution before this one in its lane that is clean."""
        lane = self._executions.lane
        before = np.flatnonzero(self._clean[:execution])
        if len(before) == 0 or lane[before[-1]] != lane[execution]:
            return NONE
        return int(before[-1])

    def _missing_between(self, first: int, last: int) -> int:
        """Return the last operator that another step has between two and this one has not."""
        executions = self._executions
        if first == NONE:
            return NONE
        lane, step = executions.lane[last], executions.step[last]
        alike = (executions.lane == lane) & (executions.op == executions.op[last])
        others = np.flatnonzero(alike & (executions.step != step))
        others = others[np.argsort(np.abs(others - last), kind="stable")]
        for other in others[:_MAX_STEPS].tolist():
            before = np.flatnonzero(executions.op[:other] == executions.op[first])
            if len(before) == 0 or executions.step[before[-1]] != executions.step[other]:
                continue
            between = executions.op[before[-1] + 1 : other]
            here = executions.op[(executions.lane == lane) & (executions.step == step)]
            missing = between[~np.isin(between, here)]
            return int(missing[-1]) if len(missing) else NONE
        return NONE

    # Inputs that are bad although nothing before them is

    def _add_readers(self) -> None:
        executions, infection = self._executions, self.infection
        unexplained = executions.inputs_in(infection.bad & ~infection.explained)
        candidates = np.flatnonzero(unexplained)
        if len(candidates) == 0:
            return
        if self._readers == "all":
            candidates = candidates[~self._is_preceded(candidates)]
        n_seen: dict[int, int] = defaultdict(int)
        graph = Graph(infection, self.edges)
        infects_others = infection.makes_bad | executions.outputs_in(~self._rows.known)
        guess = self._readers == "all"
        reached = set(Spread(graph, self._executions_of_starts(), guess=guess).steps)
        for execution in candidates.tolist():
            lane = int(executions.lane[execution])
            row = infection.unexplained_inputs(execution)[0]
            if execution in reached or (
                self._readers == "referenced" and self._links.producer_elsewhere(row) is None
            ):
                continue
            n_seen[lane] += 1
            if n_seen[lane] > _MAX_READERS:
                continue
            spread = Spread(graph, [execution], guess=False).steps
            infects = any(infects_others[other] for other in spread)
            if self._readers == "all" and not infects and self._dumps_outputs[lane]:
                self.absorbed += infection.unexplained_inputs(execution)
                continue
            start = self._start_before(execution, row)
            if start is not None:
                self.starts.append(start)
                reached |= spread.keys()

    def _add_unexplained(self) -> None:
        """Add one beginning for each lane that is bad although nothing tells why yet.

        At equal times, operators can seem to explain each other.
        """
        executions, infection = self._executions, self.infection
        explained = {int(executions.lane[start.execution]) for start in self.starts}
        explained |= {int(executions.lane[execution]) for execution in self.edges}
        lanes = np.unique(executions.lane[infection.makes_bad | infection.reads_bad])
        for lane in set(lanes.tolist()) - explained:
            makers = np.flatnonzero(infection.makes_bad & (executions.lane == lane))
            if len(makers) and not self._is_resolved_by_name(lane):
                execution = int(makers[0])
                op, row = int(executions.op[execution]), infection.bad_outputs(execution)[0]
                reason = "what it read is bad, and nothing before it tells why"
                self.starts.append(Start(execution, op, row, UNKNOWN, reason))
        if not self.starts:
            self._add_first_bad()

    def _add_first_bad(self) -> None:
        """Add the first that is bad, if there is any that has an effect: links can form circles."""
        executions, infection = self._executions, self.infection
        absorbed = executions.inputs_in(np.isin(np.arange(self._rows.n), self.absorbed))
        bad = np.flatnonzero(infection.makes_bad | (infection.reads_bad & ~absorbed))
        if len(bad) == 0:
            return
        execution = int(bad[np.argmin(executions.when[bad])])
        rows = infection.bad_outputs(execution) or infection.bad_inputs(execution)
        reason = "all that is bad seems to come from something else that is"
        op = int(executions.op[execution])
        self.starts.append(Start(execution, op, rows[0], UNKNOWN, reason))

    def _is_resolved_by_name(self, lane: int) -> bool:
        """Tell whether other steps tell where it began in a lane; then that is added."""
        executions = self._executions
        readers = np.flatnonzero(self.infection.reads_bad & (executions.lane == lane))
        for reader in readers[:_MAX_READERS].tolist():
            for row in self.infection.bad_inputs(reader):
                if self._links.producer_elsewhere(row) is None:
                    continue
                start = self._start_before(reader, row)
                if start is not None:
                    self.starts.append(start)
                    return True
                if self._has_received(lane):
                    return True
        return False

    def _has_received(self, lane: int) -> bool:
        """Tell whether there is an edge from another lane to this one."""
        lanes = self._executions.lane
        return any(
            lanes[execution] == lane and lanes[step.parent] != lane
            for execution, steps in self.edges.items()
            for step in steps
        )

    def _executions_of_starts(self) -> list[int]:
        return [start.execution for start in self.starts]

    def _is_preceded(self, candidates: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return before which executions something in their lane was bad already."""
        executions, infection = self._executions, self.infection
        never = np.iinfo(np.int64).max
        first_made = np.full(len(self._rows.lanes), never)
        dumps_outputs = self._dumps_outputs[executions.lane]
        makers = np.flatnonzero(infection.makes_bad | (infection.reads_bad & ~dumps_outputs))
        np.minimum.at(first_made, executions.lane[makers], executions.when[makers])
        # What was made of clean inputs does not follow from what happened at the same time.
        first_start = np.full(len(self._rows.lanes), never)
        roots = np.array([*self._executions_of_starts(), *self.edges], np.int64)
        np.minimum.at(first_start, executions.lane[roots], executions.when[roots])
        lane, when = executions.lane[candidates], executions.when[candidates]
        return (first_made[lane] < when) | (first_start[lane] <= when)

    def _start_before(self, reader: int, row: int) -> Start | None:
        """Return where a bad input began, or None if it was inherited (then there is an edge)."""
        executions, rows = self._executions, self._rows
        producer = self._links.producer_elsewhere(row)
        if producer is None:
            return self._start_without_reference(reader, row) if self._readers == "all" else None
        op, index = producer
        lane, step = int(executions.lane[reader]), int(executions.step[reader])
        of_op = (executions.op == op) & (executions.lane == lane) & (executions.step == step)
        of_op &= executions.when <= executions.when[reader]
        of_op[reader] = False
        found = np.flatnonzero(of_op)
        if len(found):
            return self._start_at_producer(int(found[-1]), index, reader, row)
        if self._collectives.is_collective(op) and self._received(reader, row, op):
            return None
        others_missing = self._missing_before(op, reader, row)
        if others_missing is None:
            return None
        reason = f"it made input.{rows.index[row]} of {executions.name(reader)}, by other steps"
        if others_missing:
            names = ", ".join(" ".join(rows.ops[other]) for other in others_missing)
            reason += f" (nor is {names}, from which that may come)"
        return Start(reader, op, row, MISSING, reason, self._last_clean(reader))

    def _start_at_producer(self, maker: int, index: int, reader: int, row: int) -> Start | None:
        """Return where an input began of which the maker is known by its name."""
        infection, rows = self.infection, self._rows
        outputs = self._executions.outputs_of(maker)
        outputs = outputs[rows.index[outputs] == index]
        known = [output for output in outputs.tolist() if rows.known[output]]
        read = f"input.{rows.index[row]} of {self._executions.name(reader)}"
        if known and not infection.bad[known].any():
            reason = f"output.{index} of {self._executions.name(maker)} was clean"
            op = int(self._executions.op[reader])
            return Start(reader, op, row, OVERWRITTEN, reason, maker)
        step = Step(maker, int(outputs[0]) if len(outputs) else NONE, row, (NAME,))
        self.edges[reader].append(step)
        if senders := self._collectives.senders(maker, infection):
            self.edges[maker] += [Step(s, NONE, NONE, (COLLECTIVE,)) for s in senders]
            return None
        if known or infection.reads_bad[maker] or self._is_start(maker):
            return None
        op = int(self._executions.op[maker])
        if self._missing_before(op, maker, NONE) is None:
            return None
        if self._executions.n_inputs[maker] and not infection.reads_unknown[maker]:
            reason = f"its inputs are clean, its output is cut off; {read} shows it"
            return Start(maker, op, row, ORIGIN, reason)
        reason = f"little of it is in the dump; {read} shows it"
        return Start(maker, op, row, UNKNOWN, reason, self._last_clean(maker))

    def _missing_before(self, op: int, reader: int, row: int) -> list[int] | None:
        """Return operators before one that is not (wholly) in the dump that are not there either.

        None if something before these is bad: then there is an edge from that to `reader`.
        """
        executions, infection = self._executions, self.infection
        in_step = executions.lane == executions.lane[reader]
        in_step &= executions.step == executions.step[reader]
        in_step &= executions.when <= executions.when[reader]
        asked, seen, missing = [op], {op}, list[int]()
        while asked:
            for maker_op in sorted(self._links.makers_elsewhere(asked.pop())):
                if maker_op in seen:
                    continue
                seen.add(maker_op)
                found = np.flatnonzero(in_step & (executions.op == maker_op))
                found = found[found != reader]
                if self._collectives.is_collective(maker_op):
                    is_whole = len(found) and executions.n_outputs[found[-1]]
                    if not is_whole and self._received(reader, row, maker_op):
                        return None
                if len(found) == 0:
                    asked.append(maker_op)
                    missing.append(maker_op)
                elif infection.makes_bad[found[-1]]:
                    output = infection.bad_outputs(int(found[-1]))[0]
                    self.edges[reader].append(Step(int(found[-1]), output, row, (NAME,)))
                    return None
        return missing

    def _is_start(self, execution: int) -> bool:
        return any(start.execution == execution for start in self.starts)

    def _start_without_reference(self, reader: int, row: int) -> Start | None:
        """Return where an input began that no other step tells about."""
        executions, rows = self._executions, self._rows
        if self._received(reader, row):
            return None
        op = int(executions.op[reader])
        clean = self._last_clean(reader)
        if not self._dumps_outputs[executions.lane[reader]]:
            if clean != NONE and (senders := self._collectives.senders(clean, self.infection)):
                self.edges[reader] += [Step(s, NONE, row, (COLLECTIVE,)) for s in senders]
                return None
            reason = "only inputs were dumped"
            if clean != NONE:
                reason += f"; {executions.name(clean)} ran before it and read clean values"
            return Start(reader, op, row, UNKNOWN, reason, clean)
        written = self._links.producer_at_address(row)
        if written is None:
            written = self._links.unknown_producer(row)
        if written is None:
            return Start(reader, op, row, DATA, "no operator in the dump made it")
        maker = int(executions.of_row[written])
        if self.infection.bad[written]:
            self.edges[reader].append(Step(maker, written, row, (ORDER,)))
            return None
        if not rows.known[written] and not self._is_start(maker):
            return self._start_at_producer(maker, int(rows.index[written]), reader, row)
        reason = f"{executions.name(maker)} wrote clean values to its address"
        return Start(reader, op, row, UNKNOWN, reason, maker)

    def _received(self, reader: int, row: int, op: int = NONE) -> bool:
        """Tell whether an input may have come through a collective operator missing on its lane.

        Then there is an edge. `op` is the operator, if it is known that it was one.
        """
        senders = self._collectives.absent(reader, self.infection)
        if not senders and op != NONE:
            senders = self._collectives.bad_elsewhere(reader, self.infection)
        steps = [Step(sender, NONE, row, (COLLECTIVE,)) for sender in senders]
        self.edges[reader] += steps
        return bool(steps)
