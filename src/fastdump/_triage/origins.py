"""Where an infection began: operators with clean inputs and bad outputs, or the nearest to that.

| verdict | meaning |
|---|---|
| origin | all inputs are clean, an output is bad |
| unknown | an output is bad; what it read was not dumped, or was cut off |
| missing | not in the dump, but what it made is bad in the operator that reads it |
| data | bad when it was first read, and made by no operator of the dump: weights, or input data |
| overwritten | clean when it was made, bad when it was read |

Everything else that is bad was inherited.
"""

from __future__ import annotations

import numpy as np

from fastdump._triage.infection import Infection
from fastdump._triage.makers import add_makers
from fastdump._triage.readers import MAX_READERS, add_readers, start_before
from fastdump._triage.starts import UNKNOWN, Search
from fastdump._words import catalogue as say


def find_origins(infection: Infection, *, only_referenced: bool) -> Search:
    """Return where an infection began, by time.

    Parameters
    ----------
    infection
        What is bad.
    only_referenced
        Whether to look only at unexplained inputs whose maker is known from another step or rank.
        Otherwise every bad lane gets a start.
    """
    search = Search(infection)
    add_makers(search)
    add_readers(search, only_referenced=only_referenced)
    if not only_referenced:
        _add_unexplained(search)
    when = search.executions.when
    search.starts.sort(key=lambda start: (when[start.execution], start.execution))
    return search


def _add_unexplained(search: Search) -> None:
    """Add one start for each lane that is bad although nothing tells why yet.

    At equal times, operators can seem to explain each other.
    """
    executions, infection = search.executions, search.infection
    explained = {int(executions.lane[start.execution]) for start in search.starts}
    explained |= {int(executions.lane[execution]) for execution in search.edges}
    lanes = np.unique(executions.lane[infection.makes_bad | infection.reads_bad])
    for lane in set(lanes.tolist()) - explained:
        makers = np.flatnonzero(infection.makes_bad & (executions.lane == lane))
        if len(makers) and not _is_resolved_by_name(search, lane):
            execution = int(makers[0])
            row = infection.bad_outputs(execution)[0]
            search.starts.append(search.start(execution, row, UNKNOWN, say.UNEXPLAINED()))
    if not search.starts:
        _add_first_bad(search)


def _add_first_bad(search: Search) -> None:
    """Add the first bad execution that has an effect, if there is any: links can form circles."""
    executions, infection = search.executions, search.infection
    absorbed = executions.inputs_in(np.isin(np.arange(search.rows.n), search.absorbed))
    bad = np.flatnonzero(infection.makes_bad | (infection.reads_bad & ~absorbed))
    if len(bad) == 0:
        return
    execution = int(bad[np.argmin(executions.when[bad])])
    rows = infection.bad_outputs(execution) or infection.bad_inputs(execution)
    search.starts.append(search.start(execution, rows[0], UNKNOWN, say.IN_A_CIRCLE()))


def _is_resolved_by_name(search: Search, lane: int) -> bool:
    """Tell whether other steps tell where a lane's infection began; if so, that start is added."""
    reads_bad = search.infection.reads_bad & (search.executions.lane == lane)
    for reader in np.flatnonzero(reads_bad)[:MAX_READERS].tolist():
        for row in search.infection.bad_inputs(reader):
            if search.evidence.other_runs.maker_of(row) is None:
                continue
            start = start_before(search, reader, row)
            if start is not None:
                search.starts.append(start)
                return True
            if _has_received(search, lane):
                return True
    return False


def _has_received(search: Search, lane: int) -> bool:
    """Tell whether there is an edge from another lane to this one."""
    lanes = search.executions.lane
    return any(
        lanes[execution] == lane and lanes[step.parent] != lane
        for execution, steps in search.edges.items()
        for step in steps
    )
