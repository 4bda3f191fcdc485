"""Rounds over a dump that grows: look, read what is complete, judge, write, delete, wait."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastdump._follow.arrivals import Arrivals, Arrived
from fastdump._follow.clean_files import clean_files, delete
from fastdump._follow.events import FollowEvent, FollowProgress, What
from fastdump._follow.findings import Findings, Told
from fastdump._table.arrow_column import codes_of
from fastdump._words import catalogue as say

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump._follow.clock import Clock
    from fastdump._follow.rows import GrowingRows, Looked
    from fastdump._follow.table_file import TableFile
    from fastdump._follow.table_parts import TableParts
    from fastdump._table.stats_table import StatsTable

_FIRST_FILES = 1024
"""So many files are read first, and then twice as many each time: the first findings come early,
and rows are joined only a few times."""

_SHARE = 0.05
"""Looking takes at most this share of the time; reading takes what it takes."""
_MAX_WAIT_S = 60.0


class Deletion(NamedTuple):
    """What is deleted.

    Attributes
    ----------
    keep_steps
        How many of the last steps of each rank are kept.
    is_dry
        Whether files are only named.
    """

    keep_steps: int
    is_dry: bool


class Pace(NamedTuple):
    """When the next round begins, and when none does.

    Attributes
    ----------
    every_s
        How long to wait between two rounds, at least.
    until_idle_s
        How long nothing new may come until following ends; None for as long as you like.
    """

    every_s: float
    until_idle_s: float | None

    def wait_s(self, looking_s: float) -> float:
        """Return how long to wait after a round in which looking took so long."""
        longest = max(self.every_s, _MAX_WAIT_S)
        return min(max(self.every_s, looking_s * (1 / _SHARE - 1)), longest)


class Follower:
    """Follows one run; iterate over `events` once.

    Parameters
    ----------
    rows
        The table that grows.
    arrivals
        Which files are read.
    clock, pace
        When.
    output
        Where the table is written.
    deletion
        What is deleted; None for nothing.
    """

    def __init__(
        self,
        rows: GrowingRows,
        arrivals: Arrivals,
        clock: Clock,
        pace: Pace,
        *,
        output: TableFile | TableParts | None = None,
        deletion: Deletion | None = None,
    ) -> None:
        self._rows, self._arrivals = rows, arrivals
        self._clock, self._pace = clock, pace
        self._output, self._deletion = output, deletion
        self._findings = Findings()
        self._progress = FollowProgress.of(rows.table, 0)
        self._told: StatsTable | None = None
        self._trouble = ""
        self._named: set[str] = set()
        self._working_s = 0.0
        self._last_news_s = clock.steady_s()
        self._has_news = False
        self._cleaned: tuple[object, ...] = ()

    def events(self) -> Generator[FollowEvent, None, None]:
        """Yield what happens; whatever ends it, the table is written."""
        try:
            yield from self._tell_what_is_known()
            is_first = True
            while True:
                begin_s, self._working_s = self._clock.steady_s(), 0.0
                yield from self.round(is_first=is_first)
                is_first = False
                end_s = self._clock.steady_s()
                if self._is_idle(end_s):
                    return
                self._clock.wait(self._pace.wait_s(end_s - begin_s - self._working_s))
        finally:
            if self._output is not None:
                with closing(self._output):
                    self._output.write(self._rows, self._progress.waiting, is_last=True)

    def _is_idle(self, now_s: float) -> bool:
        until_idle_s = self._pace.until_idle_s
        if until_idle_s is None or self._progress.waiting:
            return False
        is_written = self._may_delete or not len(self._rows.table)
        if self._deletion is not None and (self._has_news or not is_written):
            return False
        return now_s - self._last_news_s >= until_idle_s

    # A round

    def _tell_what_is_known(self) -> Iterator[FollowEvent]:
        table = self._rows.table
        if self._findings.concerns(table):
            for told in self._findings.judge(table, is_known=True):
                yield self._event_of(told)

    def round(self, *, is_first: bool = False) -> Iterator[FollowEvent]:
        """Look once, read what is complete, and yield what happens; the first one may fail."""
        try:
            looked = self._rows.look()
        except OSError as error:
            if is_first:
                raise
            yield from self._tell_trouble(str(error))
            return
        arrived = self._arrivals.look(looked.tree, looked.unknown)
        if self._deletion is not None:
            yield from self._delete(self._deletion, looked, arrived)
        yield from self._read(looked, arrived)
        is_other = self._rows.say_skipped(looked.tree)
        yield from self._tell_progress(arrived.n_waiting)
        self._has_news = is_other or arrived.is_news
        if self._has_news:
            self._last_news_s = self._clock.steady_s()
        if self._output is not None:
            try:
                with self._at_work():
                    self._output.write(self._rows, arrived.n_waiting)
            except OSError as error:
                yield from self._tell_trouble(str(error))
                return
        self._trouble = ""

    def _read(self, looked: Looked, arrived: Arrived) -> Iterator[FollowEvent]:
        rows, index, positions = self._rows, looked.tree, arrived.positions
        if arrived.is_recount:
            rows.forget_skipped()
        replaced = rows.replaced(looked.is_kept, arrived.shown)
        n_waiting = arrived.n_waiting + len(positions)
        for part in _cut(positions):
            with self._at_work():
                reading = rows.read(index, part, replaced)
            self._arrivals.were_read(
                reading.paths,
                with_rows=reading.with_rows,
                damaged=reading.damaged,
                unread=reading.unread,
            )
            n_waiting -= len(part)
            yield from self._tell_progress(n_waiting)
            is_doubtful = reading.has_replaced and self._findings.any
            if is_doubtful or self._findings.concerns(reading.table):
                yield from map(self._event_of, self._findings.judge(rows.table))

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Do not count what is done as looking: reading takes its time, and writing has a share."""
        begin_s = self._clock.steady_s()
        try:
            yield
        finally:
            self._working_s += self._clock.steady_s() - begin_s

    # What is told

    def _tell_progress(self, n_waiting: int) -> Iterator[FollowEvent]:
        before, table = self._progress, self._rows.table
        if table is self._told:
            self._progress = replace(before, waiting=n_waiting)
        else:
            self._progress = FollowProgress.of(table, n_waiting)
        if self._progress != before or table is not self._told:
            self._told = table
            yield self._event("progress", str(self._progress))

    def _tell_trouble(self, text: str) -> Iterator[FollowEvent]:
        if text != self._trouble:
            self._trouble = text
            yield self._event("trouble", say.TRIED_AGAIN(trouble=text))

    def _event_of(self, told: Told) -> FollowEvent:
        return self._event(
            told.what, told.finding.sentence, finding=told.finding, report=told.report
        )

    def _event(self, what: What, sentence: str, **more: object) -> FollowEvent:
        return FollowEvent(what, sentence, self._progress, self._rows.table, **more)  # type: ignore[arg-type]

    # Deleting

    @property
    def _may_delete(self) -> bool:
        """Whether the output has all rows: what is deleted must be there first."""
        if self._deletion is None or self._deletion.is_dry:
            return True
        return self._output is not None and self._output.has(self._rows.table)

    def _delete(
        self, deletion: Deletion, looked: Looked, arrived: Arrived
    ) -> Iterator[FollowEvent]:
        rows, state = self._rows, (self._rows.table, arrived.unread_steps)
        if not self._may_delete or state == self._cleaned:
            return
        self._cleaned = state
        paths = clean_files(
            rows.table,
            is_kept=looked.is_kept,
            unread_steps=arrived.unread_steps,
            report=self._findings.report,
            keep_steps=deletion.keep_steps,
        )
        if deletion.is_dry:
            paths = [path for path in paths if path not in self._named]
            self._named.update(paths)
        elif paths:
            paths = delete(rows.place.root, paths, lambda: self._unchanged(looked))
        if paths:
            what: What = "would delete" if deletion.is_dry else "deleted"
            sentence = (say.WOULD_DELETE if deletion.is_dry else say.DELETED)(len(paths))
            yield self._event(what, sentence, paths=tuple(paths))

    def _unchanged(self, looked: Looked) -> set[str]:
        _, is_kept = self._rows.look_again(looked.tree)
        codes, paths = codes_of(self._rows.table.batch.column("path"))
        return {paths[code] for code in np.unique(codes[is_kept]).tolist()}


def _cut(positions: NDArray[np.uint32]) -> Iterator[NDArray[np.uint32]]:
    first, n = 0, _FIRST_FILES
    while first < len(positions):
        yield positions[first : first + n]
        first += n
        n *= 2
