"""Starts, places where bad values began, and the state of the search for them."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fastdump._triage.chain import Graph, Step
from fastdump._triage.infection import Infection
from fastdump._triage.links import COLLECTIVE
from fastdump._triage.rows import NONE
from fastdump._triage.senders import Senders

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORIGIN: Final = "origin"
UNKNOWN: Final = "unknown"
MISSING: Final = "missing"
DATA: Final = "data"
OVERWRITTEN: Final = "overwritten"

_MAX_STEPS = 16
"""At most this many other steps are searched for an operator that a step lacks."""


class Start(NamedTuple):
    """Where bad values began.

    Attributes
    ----------
    execution : int
        The execution that made them, or read them if their maker is not known.
    op : int
        The operator of this execution; with the verdict "missing", the operator that made them.
    row : int
        A row that shows them.
    verdict : str
        One of the constants above; `origins` says what each means.
    reason : str
        Why this is the verdict, in words.
    last_clean : int
        If the inputs are not known, the last execution before with clean outputs, or NONE.
    """

    execution: int
    op: int
    row: int
    verdict: str
    reason: str
    last_clean: int = NONE


class Search:
    """What was found about one infection, and the questions that every part of the search asks.

    Attributes
    ----------
    infection : Infection
        What is bad.
    evidence, rows, executions
        The infection's evidence, and its parts that are asked most.
    senders : Senders
        Where bad values of other ranks came from.
    starts : list of Start
        Where the infection began.
    edges : dict of int to list of Step
        Links that only this search can find, by the execution at their end.
    absorbed : list of int
        Bad inputs that no operator made, and that had no effect.
    """

    def __init__(self, infection: Infection) -> None:
        self.infection = infection
        self.evidence = infection.evidence
        self.rows = infection.evidence.rows
        self.executions = infection.evidence.executions
        self.senders = Senders(infection)
        self.starts: list[Start] = []
        self.edges: dict[int, list[Step]] = defaultdict(list)
        self.absorbed: list[int] = []

    def start(
        self, execution: int, row: int, verdict: str, reason: str, last_clean: int = NONE
    ) -> Start:
        """Return a start in an operator of the dump, whose fields are those of `Start`."""
        op = int(self.executions.op[execution])
        return Start(execution, op, row, verdict, reason, last_clean)

    @functools.cached_property
    def graph(self) -> Graph:
        """The links between executions, those of the search included; final when that has ended."""
        return Graph(self.infection, self.edges)

    def is_start(self, execution: int) -> bool:
        """Tell whether bad values began in an execution."""
        return any(start.execution == execution for start in self.starts)

    def last_clean(self, execution: int) -> int:
        """Return the last execution before this one in its lane that is clean, or NONE."""
        lane = self.executions.lane
        before = np.flatnonzero(self._clean[:execution])
        if len(before) == 0 or lane[before[-1]] != lane[execution]:
            return NONE
        return int(before[-1])

    @functools.cached_property
    def _clean(self) -> NDArray[np.bool_]:
        """Which executions have outputs, all of them known and clean."""
        executions, infection = self.executions, self.infection
        clean = (executions.n_outputs > 0) & ~infection.makes_bad
        clean &= ~executions.outputs_in(~self.rows.known)
        # Without outputs in the dump, operators are known by their inputs alone.
        reads_clean = (executions.n_inputs > 0) & ~infection.reads_bad & ~infection.reads_unknown
        return np.where(self.evidence.dumps_outputs[executions.lane], clean, reads_clean)

    def missing_between(self, first: int, last: int) -> int:
        """Return the last operator that another step has between two and their own step lacks."""
        executions = self.executions
        # A step that lacks an operator may have taken another branch.
        if first == NONE or self.rows.counters_shift:
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

    def received(self, reader: int, row: int, op: int = NONE) -> bool:
        """Tell whether an input may have come through a collective operator missing on its lane.

        If so, edges are added. `op` is the collective operator, if it is known.
        """
        senders = self.senders.absent(reader)
        if not senders and op != NONE:
            senders = self.senders.bad_elsewhere(reader)
        self.add_senders(reader, senders, row)
        return bool(senders)

    def add_senders(self, execution: int, senders: list[int], row: int = NONE) -> None:
        """Add edges from executions of other ranks; `row` is the row read, if it is known."""
        if senders:
            steps = [Step(sender, NONE, row, (COLLECTIVE,)) for sender in senders]
            self.edges[execution] += steps
