"""Files that a run no longer needs: which they are, and how they are deleted.

A file may go if nothing was found in it, and nothing that is still to come can need it:

- all its tensors were read whole and are in the table that was written; none has a NaN, an Inf, or
  what triage takes for suspicious;
- it belongs to a step that is complete on every rank, as each has begun enough later ones;
- no file of that step is damaged, on any rank; and none of it or of the steps beside it is unread,
  has a NaN or +Inf, or is named by a finding;
- it is a regular file, and in the very state that was read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from fastdump._table.arrow_column import codes_of, is_in, is_null
from fastdump._tensor.shown_path import file_of
from fastdump._triage import kinds
from fastdump._triage.order import numbered
from fastdump._triage.rows import NONE, Rows, mixed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._table.stats_table import StatsTable
    from fastdump._triage.report import TriageReport

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def clean_files(
    table: StatsTable,
    *,
    is_kept: NDArray[np.bool_],
    unread_steps: frozenset[int | None],
    report: TriageReport | None,
    keep_steps: int,
) -> list[str]:
    """Return the files that are not needed, as the table shows their paths.

    Parameters
    ----------
    table
        All that was read.
    is_kept
        Of each row, whether its file is there in the state that was read.
    unread_steps
        Steps of files that were not read yet; None stands for one that nobody knows.
    report
        The last report on the table, if there was a reason for one.
    keep_steps
        How many of the last steps of each rank are kept.
    """
    unread = {step for step in unread_steps if step is not None}
    if not len(table) or len(unread) < len(unread_steps):
        return []
    rows = Rows(table)
    wanted = is_kept & _is_clean(rows, table) & (rows.step < _first_kept_step(rows, keep_steps))
    wanted &= rows.step != NONE
    needed = _needed_steps(rows, table, report, unread)
    wanted &= ~np.isin(rows.step, np.array(sorted(needed), np.int64))
    codes, paths = codes_of(table.batch.column("path"))
    others = np.bincount(codes[~wanted], minlength=len(paths))
    return [path for path, n_others in zip(paths, others.tolist(), strict=True) if not n_others]


def _is_clean(rows: Rows, table: StatsTable) -> NDArray[np.bool_]:
    batch = table.batch
    bad = table.bad_values
    is_clean = is_in(batch.column("status"), ("ok",)) & is_in(batch.column("source"), ("tensor",))
    is_clean &= is_null(batch.column("note")) & ~bad.any & ~bad.uncounted & (rows.n_saturated == 0)
    for suspicious in (*kinds.saturated(rows), kinds.all_zero(rows), *kinds.near_overflow(rows)):
        is_clean &= ~suspicious
    ratios, _ = kinds.jumps(rows, bad.any)
    is_clean &= ~kinds.jumped(ratios)
    return np.asarray(is_clean)


def _needed_steps(
    rows: Rows, table: StatsTable, report: TriageReport | None, unread: set[int]
) -> set[int]:
    bad = table.bad_values
    damaged = set(np.unique(rows.step[bad.incomplete]).tolist())
    around = unread | set(np.unique(rows.step[bad.nan_or_pos_inf]).tolist())
    if report is not None:
        for found in report.findings:
            runs = () if found.origin is None else (found.origin.operator, *found.also)
            around |= {run.step for run in runs if run.step is not None}
    return damaged | {step + beside for step in around for beside in (-1, 0, 1)}


def _first_kept_step(rows: Rows, keep_steps: int) -> NDArray[np.int64]:
    """Return of each row the first step that is kept, on its rank and on all others.

    A rank that begins anew, in a directory of another time, keeps the steps of the others until it
    has come as far.
    """
    time, _ = codes_of(rows.table.batch.column("time"))
    model, _ = codes_of(rows.table.batch.column("model"))
    first, run = numbered(mixed(rows.lane, time, model))
    kept = np.full(len(first), NONE, np.int64)
    pairs = np.unique(np.stack((run, rows.step)), axis=1)
    pairs = pairs[:, pairs[1] != NONE]
    # From the last step of each run on; the pairs are in order.
    ends = np.searchsorted(pairs[0], np.arange(len(first)), side="right")
    begins = np.searchsorted(pairs[0], np.arange(len(first)), side="left")
    enough = ends - begins >= keep_steps
    kept[enough] = pairs[1][ends[enough] - keep_steps]
    # Runs that a rank has left for a later one, and what has no steps, hold nothing back.
    latest = np.full(len(rows.lanes), -1, np.int64)
    order = np.array(_order_of_times(rows), np.int64)[time[first]]
    np.maximum.at(latest, rows.lane[first], order)
    is_latest = (order == latest[rows.lane[first]]) & (ends > begins)
    on_all_ranks = kept[is_latest].min(initial=np.iinfo(np.int64).max)
    return np.asarray(np.minimum(kept, on_all_ranks)[run])


def _order_of_times(rows: Rows) -> list[int]:
    """Return of each time its place among all in their order; the last is for null."""
    _, times = codes_of(rows.table.batch.column("time"))
    place = {time: i for i, time in enumerate(sorted(times))}
    return [*(place[time] for time in times), -1]


def delete(root: str, paths: Iterable[str], are_unchanged: Callable[[], set[str]]) -> list[str]:
    """Delete files, each only in the state that was read; return those that are gone.

    Parameters
    ----------
    root
        The directory that paths are relative to.
    paths
        The files, as a table shows their paths.
    are_unchanged
        Function that asks which of them are in the state that was read. It is called once, after
        the files that are there have been looked at and before they are deleted: a file that looks
        the same before and after that is the one that was read.
    """
    directories: dict[str, int | None] = {}
    before = {}
    try:
        for path in paths:
            directory, name = os.path.split(file_of(root, path))
            if directory not in directories:
                directories[directory] = _opened(directory)
            descriptor = directories[directory]
            if descriptor is not None and (state := _state(descriptor, name)) is not None:
                before[path] = descriptor, name, state
        unchanged = are_unchanged()
        deleted = []
        for path, (descriptor, name, state) in before.items():
            if path in unchanged and _state(descriptor, name) == state:
                with suppress(OSError):
                    os.unlink(name, dir_fd=descriptor)
                    deleted.append(path)
        return deleted
    finally:
        for descriptor in directories.values():
            if descriptor is not None:
                os.close(descriptor)


def _opened(directory: str) -> int | None:
    try:
        return os.open(directory, _DIRECTORY)
    except OSError:
        return None


def _state(directory: int, name: str) -> tuple[int, ...] | None:
    """Return what tells a regular file from all others; None if it is none."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    times = found.st_mtime_ns, found.st_ctime_ns
    return found.st_dev, found.st_ino, found.st_size, *times
