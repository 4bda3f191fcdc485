"""Chains: from an origin along the links to everything that followed."""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

from fastdump._triage.evidence import Evidence
from fastdump._triage.infection import Infection
from fastdump._triage.links import ADDRESS, COLLECTIVE, CONTENT, ORDER, STATISTICS
from fastdump._triage.rows import NONE

_MAX_ROUNDS = 8


class Step(NamedTuple):
    """How an execution was infected.

    Attributes
    ----------
    parent : int
        The execution that its bad values came from; NONE for an origin.
    output, read : int
        The rows of what was made and of what was read; NONE if not known.
    known_by : tuple of str
        How the link is known, best first.
    """

    parent: int
    output: int
    read: int
    known_by: tuple[str, ...]


Edges = Mapping[int, list[Step]]
"""Links by the execution at their end."""


class Graph:
    """The links between executions of one infection.

    Parameters
    ----------
    infection
        What is bad.
    edges
        Links that are known from elsewhere: through collective operators, or by names. More may be
        added until they are asked for.
    """

    def __init__(self, infection: Infection, edges: Edges) -> None:
        self.infection = infection
        self.edges = edges

    @functools.cached_property
    def guesses(self) -> dict[int, list[tuple[int, Step]]]:
        """The executions that each one infected by order, if nothing better is known, and how."""
        infection, evidence = self.infection, self.infection.evidence
        executions, nbytes = evidence.executions, evidence.rows.nbytes
        unexplained = executions.inputs_in(infection.bad & ~infection.explained)
        without_inputs = infection.makes_bad & ~infection.reads_bad
        without_inputs &= (executions.n_inputs == 0) | infection.reads_unknown
        children = np.flatnonzero(unexplained | without_inputs)
        parents = infection.presumed_parents[children]
        by_parent: dict[int, list[tuple[int, Step]]] = defaultdict(list)
        for child, parent in zip(children.tolist(), parents.tolist(), strict=True):
            if parent != NONE:
                read = infection.unexplained_inputs(child) if unexplained[child] else []
                made = infection.bad_outputs(parent)
                same = [row for row in made if read and nbytes[row] == nbytes[read[0]]]
                output = (same or made)[0]
                step = Step(parent, output, read[0] if read else NONE, (ORDER,))
                by_parent[parent].append((child, step))
        return by_parent


class Spread:
    """The executions that an infection reaches from some others, each by the fewest links.

    Parameters
    ----------
    graph
        The links.
    starts
        The executions to begin with.
    banned
        Pairs of rows that are known not to be linked.
    guess
        Whether to follow links that are known by order only.

    Attributes
    ----------
    steps : dict of int to Step
        How each execution was reached, in the order in which it was.
    """

    def __init__(
        self,
        graph: Graph,
        starts: Iterable[int],
        banned: Set[tuple[int, int]] = frozenset(),
        *,
        guess: bool = True,
    ) -> None:
        self._graph = graph
        self._infection = graph.infection
        self._banned = banned
        self._guess = guess
        self._given = _by_parent(graph.edges)
        # For each content, the reader from which on all were reached, and those passed over.
        self._reached_from: dict[int, int] = {}
        self._passed_over: dict[int, list[int]] = {}
        self.steps: dict[int, Step] = {start: Step(NONE, NONE, NONE, ()) for start in starts}
        self._reach(self.steps)

    def path_to(self, execution: int) -> list[int]:
        """Return the executions from a start to this one."""
        path = [execution]
        while (parent := self.steps[path[-1]].parent) != NONE:
            path.append(parent)
        return path[::-1]

    def last(self) -> int:
        """Return the last execution in time that was reached; at equal times, by most links."""
        reached = np.fromiter(self.steps, np.int64, len(self.steps))
        when = self._infection.evidence.executions.when[reached]
        return int(reached[np.argsort(when, kind="stable")[-1]])

    def received(self) -> list[tuple[int, Step]]:
        """Return the execution by which each other lane was reached first, and how."""
        lane = self._infection.evidence.executions.lane
        first: dict[int, tuple[int, Step]] = {}
        for execution, step in self.steps.items():
            first.setdefault(int(lane[execution]), (execution, step))
        return [(execution, step) for execution, step in first.values() if step.parent != NONE]

    def _reach(self, starts: Iterable[int]) -> None:
        strong, weak = deque(starts), deque[tuple[int, Step]]()
        while strong or weak:
            if not strong:
                # Guesses last: most are reached by better links.
                child, step = weak.popleft()
                if child in self.steps:
                    continue
                self.steps[child] = step
                strong.append(child)
            execution = strong.popleft()
            for child, step in self._infected_by(execution):
                if child not in self.steps:
                    self.steps[child] = step
                    strong.append(child)
            if self._guess:
                weak.extend(self._graph.guesses.get(execution, ()))

    def _infected_by(self, execution: int) -> Iterable[tuple[int, Step]]:
        yield from self._given.get(execution, ())
        infection, evidence = self._infection, self._infection.evidence
        of_row, links = evidence.executions.of_row, evidence.links
        for output in infection.bad_outputs(execution):
            first, end = links.reads_after(output)
            content = int(links.content[output])
            last = self._reached_from.get(content, end)
            places = [*self._passed_over.get(content, ()), *range(first, last)]
            reads = links.reads[places].tolist() if places else ()
            passed_over = []
            for place, read in zip(places, reads, strict=True):
                child = int(of_row[read])
                if place < first or (output, read) in self._banned:
                    passed_over.append(place)
                elif child != execution and infection.bad[read]:
                    yield child, Step(execution, output, read, (STATISTICS,))
            self._reached_from[content] = min(first, last)
            if passed_over or content in self._passed_over:
                self._passed_over[content] = passed_over


def _by_parent(edges: Edges) -> dict[int, list[tuple[int, Step]]]:
    by_parent: dict[int, list[tuple[int, Step]]] = defaultdict(list)
    for child, steps in edges.items():
        for step in steps:
            by_parent[step.parent].append((child, step))
    return by_parent


class Chain(NamedTuple):
    """What followed from one origin.

    Attributes
    ----------
    executions : list of int
        From the origin to the last that was reached in time.
    steps : list of Step
        How each of them but the first was infected.
    received : list of (int, Step)
        The execution by which each other lane was reached first, and how.
    """

    executions: list[int]
    steps: list[Step]
    received: list[tuple[int, Step]]


def follow(graph: Graph, start: int) -> Chain:
    """Return the chain from an execution, after its links were checked by content and address.

    If the bytes refute a link, it is left out and the chain is searched anew.
    """
    return _chain(graph, [start], Spread.last)


def follow_to(graph: Graph, starts: Sequence[int], end: int) -> Chain | None:
    """Return the chain from one of some executions to another; None if nothing leads there."""

    def last(spread: Spread) -> int:
        return end if end in spread.steps else NONE

    chain = _chain(graph, starts, last)
    return chain if chain.executions else None


def _chain(graph: Graph, starts: Sequence[int], last: Callable[[Spread], int]) -> Chain:
    """Return the chain to the execution that `last` names, an empty one if that is NONE."""
    banned: set[tuple[int, int]] = set()
    for _ in range(_MAX_ROUNDS):
        spread = Spread(graph, starts, banned)
        end = last(spread)
        path = [] if end == NONE else spread.path_to(end)
        steps = [spread.steps[execution] for execution in path[1:]]
        checked = [_checked(graph.infection, step) for step in steps]
        refuted = {(s.output, s.read) for s, c in zip(steps, checked, strict=True) if c is None}
        if not refuted:
            break
        banned |= refuted
    known = [c or s._replace(known_by=(ORDER,)) for s, c in zip(steps, checked, strict=True)]
    return Chain(path, known, spread.received())


def _checked(infection: Infection, step: Step) -> Step | None:
    """Return a link with how the files show it to be known, None if they refute it."""
    if step.known_by == (COLLECTIVE,) or NONE in (step.output, step.read):
        return step
    known_by = _known_by(infection.evidence, step.output, step.read)
    if step.known_by == (STATISTICS,):
        return step._replace(known_by=known_by) if known_by else None
    return step._replace(known_by=(*known_by, *step.known_by))


def _known_by(evidence: Evidence, output: int, read: int) -> tuple[str, ...]:
    """Return how it is known that an output becomes an input, best first; () if it does not."""
    rows, files, found = evidence.rows, evidence.files, []
    if rows.content[output] == rows.content[read]:
        hashes = files.digest(output), files.digest(read)
        if None in hashes:
            found.append(STATISTICS)
        elif hashes[0] == hashes[1]:
            found.append(CONTENT)
        else:
            return ()  # equal statistics alone: a transposed tensor has them too
    addresses = files.address(output), files.address(read)
    same_size = rows.nbytes[output] == rows.nbytes[read]
    if same_size and None not in addresses and addresses[0] == addresses[1]:
        found.insert(0 if found == [STATISTICS] else len(found), ADDRESS)
    return tuple(found)
