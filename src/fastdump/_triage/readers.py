"""Starts behind bad inputs that nothing bad before them in the dump explains."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from fastdump._arguments import INT64_MAX
from fastdump._triage.chain import Graph, Spread, Step
from fastdump._triage.evidence import Evidence
from fastdump._triage.links import NAME, ORDER
from fastdump._triage.rows import NONE, OUTPUT
from fastdump._triage.starts import DATA, MISSING, ORIGIN, OVERWRITTEN, UNKNOWN, Search, Start
from fastdump._words import catalogue as say

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_READERS = 256
"""At most this many unexplained bad reads are examined per lane."""

_MAX_HEADERS = 2000
"""At most this many headers are read to find an output by its device address."""


def add_readers(search: Search, *, only_referenced: bool) -> None:
    """Add the starts of bad inputs that nothing explains.

    Parameters
    ----------
    search
        The search that they are added to.
    only_referenced
        Whether to look only at inputs whose maker is known from another step or rank.
    """
    infection, evidence, executions = search.infection, search.evidence, search.executions
    unexplained = executions.inputs_in(infection.bad & ~infection.explained)
    candidates = np.flatnonzero(unexplained)
    if len(candidates) == 0:
        return
    if not only_referenced:
        candidates = candidates[~_is_preceded(search, candidates)]
    n_seen: dict[int, int] = defaultdict(int)
    graph = Graph(infection, search.edges)
    infects_others = infection.makes_bad | executions.outputs_in(~search.rows.known)
    starts = [start.execution for start in search.starts]
    reached = set(Spread(graph, starts, guess=not only_referenced).steps)
    for execution in candidates.tolist():
        lane = int(executions.lane[execution])
        row = infection.unexplained_inputs(execution)[0]
        if execution in reached or (only_referenced and evidence.other_runs.maker_of(row) is None):
            continue
        n_seen[lane] += 1
        if n_seen[lane] > MAX_READERS:
            continue
        spread = Spread(graph, [execution], guess=False).steps
        infects = any(infects_others[other] for other in spread)
        if not only_referenced and not infects and evidence.dumps_outputs[lane]:
            search.absorbed += infection.unexplained_inputs(execution)
            continue
        start = start_before(search, execution, row, only_referenced=only_referenced)
        if start is not None:
            search.starts.append(start)
            reached |= spread.keys()


def _is_preceded(search: Search, candidates: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the executions before which something in their lane was bad already."""
    infection, executions, n_lanes = search.infection, search.executions, len(search.rows.lanes)
    first_made = np.full(n_lanes, INT64_MAX)
    dumps_outputs = search.evidence.dumps_outputs[executions.lane]
    makers = np.flatnonzero(infection.makes_bad | (infection.reads_bad & ~dumps_outputs))
    np.minimum.at(first_made, executions.lane[makers], executions.when[makers])
    # Starts have clean inputs: unlike other makers, they do not follow from a candidate.
    first_start = np.full(n_lanes, INT64_MAX)
    roots = np.array([*(start.execution for start in search.starts), *search.edges], np.int64)
    np.minimum.at(first_start, executions.lane[roots], executions.when[roots])
    lane, when = executions.lane[candidates], executions.when[candidates]
    return (first_made[lane] < when) | (first_start[lane] <= when)


def start_before(
    search: Search, reader: int, row: int, *, only_referenced: bool = False
) -> Start | None:
    """Return where a bad input began; if it was inherited, add an edge and return None."""
    evidence, rows, executions = search.evidence, search.rows, search.executions
    maker = evidence.other_runs.maker_of(row)
    if maker is None:
        return None if only_referenced else _start_without_reference(search, reader, row)
    op, index = maker
    lane, step = int(executions.lane[reader]), int(executions.step[reader])
    of_op = (executions.op == op) & (executions.lane == lane) & (executions.step == step)
    of_op &= executions.when <= executions.when[reader]
    of_op[reader] = False
    found = np.flatnonzero(of_op)
    if len(found):
        return _start_at_maker(search, int(found[-1]), index, reader, row)
    if evidence.collectives.is_collective[op] and search.received(reader, row, op):
        return None
    if rows.counters_shift:
        # The step may have taken another branch.
        return None if only_referenced else _start_without_reference(search, reader, row)
    others_missing = _missing_before(search, op, reader, row)
    if others_missing is None:
        return None
    made = {"tensor": f"input.{rows.index[row]}", "operator": executions.name(reader)}
    reason = say.MADE_INPUT(**made)
    if others_missing:
        names = ", ".join(" ".join(rows.ops[other]) for other in others_missing)
        reason = say.MADE_INPUT_NOR(**made, others=names)
    return Start(reader, op, row, MISSING, reason, search.last_clean(reader))


def _start_at_maker(search: Search, maker: int, index: int, reader: int, row: int) -> Start | None:
    """Return where a bad input began whose maker is known."""
    infection, rows, executions = search.infection, search.rows, search.executions
    outputs = executions.outputs_of(maker)
    outputs = outputs[rows.index[outputs] == index]
    known = [output for output in outputs.tolist() if rows.known[output]]
    read = {"tensor": f"input.{rows.index[row]}", "operator": executions.name(reader)}
    if known and not infection.bad[known].any():
        reason = say.WAS_CLEAN(tensor=f"output.{index}", operator=executions.name(maker))
        return search.start(reader, row, OVERWRITTEN, reason, maker)
    step = Step(maker, int(outputs[0]) if len(outputs) else NONE, row, (NAME,))
    search.edges[reader].append(step)
    if senders := search.senders.of(maker):
        search.add_senders(maker, senders)
        return None
    if known or infection.reads_bad[maker] or search.is_start(maker):
        return None
    if _missing_before(search, int(executions.op[maker]), maker, NONE) is None:
        return None
    if executions.n_inputs[maker] and not infection.reads_unknown[maker]:
        return search.start(maker, row, ORIGIN, say.OUTPUT_CUT_OFF(**read))
    reason = say.LITTLE_DUMPED(**read)
    return search.start(maker, row, UNKNOWN, reason, search.last_clean(maker))


def _missing_before(search: Search, op: int, reader: int, row: int) -> list[int] | None:
    """Return the operators before a missing or incomplete one that are missing too.

    If something before them is bad, add an edge from it to `reader` and return None.
    """
    infection, evidence, executions = search.infection, search.evidence, search.executions
    in_step = executions.lane == executions.lane[reader]
    in_step &= executions.step == executions.step[reader]
    in_step &= executions.when <= executions.when[reader]
    asked, seen, missing = [op], {op}, list[int]()
    while asked:
        for maker_op in sorted(evidence.other_runs.makers_of(asked.pop())):
            if maker_op in seen:
                continue
            seen.add(maker_op)
            found = np.flatnonzero(in_step & (executions.op == maker_op))
            found = found[found != reader]
            if evidence.collectives.is_collective[maker_op]:
                is_whole = len(found) and executions.n_outputs[found[-1]]
                if not is_whole and search.received(reader, row, maker_op):
                    return None
            if len(found) == 0:
                asked.append(maker_op)
                missing.append(maker_op)
            elif infection.makes_bad[found[-1]]:
                output = infection.bad_outputs(int(found[-1]))[0]
                search.edges[reader].append(Step(int(found[-1]), output, row, (NAME,)))
                return None
    return missing


def _start_without_reference(search: Search, reader: int, row: int) -> Start | None:
    """Return where a bad input began whose maker no other step tells."""
    evidence, executions = search.evidence, search.executions
    if search.received(reader, row):
        return None
    clean = search.last_clean(reader)
    if not evidence.dumps_outputs[executions.lane[reader]]:
        if clean != NONE and (senders := search.senders.of(clean)):
            search.add_senders(reader, senders, row)
            return None
        reason = say.ONLY_INPUTS_DUMPED()
        if clean != NONE:
            reason = say.ONLY_INPUTS_DUMPED_AFTER(operator=executions.name(clean))
        return search.start(reader, row, UNKNOWN, reason, clean)
    written = _written_to_its_address(evidence, row)
    if written is None:
        written = _last_unknown_output(evidence, row)
    if written is None:
        return search.start(reader, row, DATA, say.NO_MAKER())
    maker = int(executions.of_row[written])
    if search.infection.bad[written]:
        search.edges[reader].append(Step(maker, written, row, (ORDER,)))
        return None
    if not search.rows.known[written] and not search.is_start(maker):
        return _start_at_maker(search, maker, int(search.rows.index[written]), reader, row)
    reason = say.CLEAN_AT_ADDRESS(operator=executions.name(maker))
    return search.start(reader, row, UNKNOWN, reason, maker)


def _written_to_its_address(evidence: Evidence, row: int) -> int | None:
    """Return the last output before an input, of its size, that was written to its memory."""
    address = evidence.files.address(row)
    if address is None:
        return None
    candidates = np.flatnonzero(_outputs_before(evidence, row))
    by_time = np.argsort(evidence.rows.when[candidates], kind="stable")
    latest_first = candidates[by_time][::-1].tolist()
    for candidate in latest_first[:_MAX_HEADERS]:
        if evidence.files.address(candidate) == address:
            return int(candidate)
    return None


def _last_unknown_output(evidence: Evidence, row: int) -> int | None:
    """Return the last output before an input, of its size and type, that is not wholly known."""
    rows = evidence.rows
    outputs = _outputs_before(evidence, row) & ~rows.known & (rows.dtype == rows.dtype[row])
    candidates = np.flatnonzero(outputs & (evidence.executions.of_row != NONE))
    return int(candidates[np.argmax(rows.when[candidates])]) if len(candidates) else None


def _outputs_before(evidence: Evidence, row: int) -> NDArray[np.bool_]:
    """Return the outputs of other executions that are of the size of an input and not after it."""
    rows, of_row = evidence.rows, evidence.executions.of_row
    outputs = (rows.io == OUTPUT) & (rows.lane == rows.lane[row]) & (of_row != of_row[row])
    outputs &= (rows.nbytes == rows.nbytes[row]) & (rows.when <= rows.when[row])
    return np.asarray(outputs)
