"""Starts in operators that have a bad output and no bad input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastdump._triage import harmless
from fastdump._triage.rows import NONE
from fastdump._triage.starts import DATA, ORIGIN, UNKNOWN, Search, Start
from fastdump._words import catalogue as say

if TYPE_CHECKING:
    from numpy.typing import NDArray


def add_makers(search: Search) -> None:
    """Add each operator that made bad values from clean inputs, or from unknown ones."""
    made_here = _made_here(search)
    sure = made_here & _knows_inputs(search)
    is_source = search.rows.typed(harmless.SOURCE_TYPES)
    for execution in np.flatnonzero(sure).tolist():
        search.starts.append(_sure_start(search, execution, is_source))
    _add_unsure(search, np.flatnonzero(made_here & ~sure))


def _made_here(search: Search) -> NDArray[np.bool_]:
    """Return which executions have a bad output and no bad input, on this rank or another."""
    made_here = search.infection.makes_bad & ~search.infection.reads_bad
    is_collective = search.evidence.collectives.is_collective[search.executions.op]
    for execution in np.flatnonzero(made_here & is_collective).tolist():
        if senders := search.senders.of(execution):
            made_here[execution] = False
            search.add_senders(execution, senders)
    return made_here


def _knows_inputs(search: Search) -> NDArray[np.bool_]:
    """Return the executions whose inputs are all in the dump, or that have none."""
    evidence, rows, executions = search.evidence, search.rows, search.executions
    has_inputs = executions.n_inputs > 0
    type_has_inputs = np.zeros(len(rows.op_types), np.bool_)
    type_has_inputs[rows.op_type[executions.op[has_inputs]]] = True
    needs_none = ~type_has_inputs[rows.op_type]
    needs_none &= ~evidence.collectives.is_collective
    has_none = needs_none[executions.op] & evidence.dumps_inputs[executions.lane]
    has_none |= rows.typed(harmless.SOURCE_TYPES)[executions.op]
    return np.where(has_inputs, ~search.infection.reads_unknown, has_none)


def _sure_start(search: Search, execution: int, is_source: NDArray[np.bool_]) -> Start:
    op, collectives = search.executions.op[execution], search.evidence.collectives
    verdict = ORIGIN
    if is_source[op]:
        verdict, reason = DATA, say.BRINGS_DATA()
    elif collectives.is_collective[op] and not collectives.peers(execution):
        verdict = UNKNOWN
        reason = say.CLEAN_INPUTS_HERE()
    elif search.executions.n_inputs[execution]:
        reason = say.CLEAN_INPUTS()
    else:
        reason = say.NO_INPUTS()
    return search.start(execution, search.infection.bad_outputs(execution)[0], verdict, reason)


def _add_unsure(search: Search, candidates: NDArray[np.int64]) -> None:
    """Add executions whose inputs are not known, unless these may have been bad."""
    if not len(candidates):
        return
    executions, is_collective = search.executions, search.evidence.collectives.is_collective
    parents = search.infection.presumed_parents[candidates]
    after_bad = _steps_after_bad(search)
    for execution, parent in zip(candidates.tolist(), parents.tolist(), strict=True):
        lane, step = int(executions.lane[execution]), int(executions.step[execution])
        if parent != NONE:
            # The first execution of a step without inputs may be infected by the step before.
            is_first = executions.step[parent] != step and not executions.n_inputs[execution]
            if not is_first or (lane, step) in after_bad:
                continue
        if executions.n_inputs[execution] == 0:
            between = search.missing_between(search.last_clean(execution), execution)
            was_collective = between != NONE and is_collective[between]
            if search.received(execution, NONE, between if was_collective else NONE):
                continue
        search.starts.append(_unsure_start(search, execution))


def _steps_after_bad(search: Search) -> set[tuple[int, int]]:
    """Return lane and step of each step that follows one with a bad output."""
    executions, after_bad = search.executions, set()
    for lane in np.unique(executions.lane).tolist():
        in_lane = executions.lane == lane
        steps = np.unique(executions.step[in_lane])
        bad = np.isin(steps, executions.step[in_lane & search.infection.makes_bad])
        after_bad |= {(lane, step) for step in steps[1:][bad[:-1]].tolist()}
    return after_bad


def _unsure_start(search: Search, execution: int) -> Start:
    rows, executions = search.rows, search.executions
    unknown = [
        f"input.{rows.index[row]}"
        for row in executions.inputs_of(execution).tolist()
        if not rows.known[row]
    ]
    places = {}
    if unknown:
        reason, reason_nor = say.INPUTS_INCOMPLETE, say.INPUTS_INCOMPLETE_NOR
        places["tensors"] = ", ".join(unknown)
    elif search.evidence.collectives.is_collective[executions.op[execution]]:
        reason, reason_nor = say.FROM_MISSING_RANK, say.FROM_MISSING_RANK_NOR
    else:
        reason, reason_nor = say.INPUTS_NOT_DUMPED, say.INPUTS_NOT_DUMPED_NOR
    clean = search.last_clean(execution)
    if (between := search.missing_between(clean, execution)) != NONE:
        reason = reason_nor
        places["operator"] = " ".join(rows.ops[between])
    row = search.infection.bad_outputs(execution)[0]
    return search.start(execution, row, UNKNOWN, reason(**places), clean)
