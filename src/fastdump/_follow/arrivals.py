"""Which files of a tree are complete, and were not read yet in the state that they are in.

A file is read when nobody has written to it for some seconds. Its own time of change says so; or
what this process has seen, as the clock of a file server may be another one. One that lacks what
its header promises is looked at again when it changes, and is then waited for longer each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastdump import _core
    from fastdump._follow.clock import Clock

_MAX_DOUBLINGS = 5
"""A file that was damaged so often is waited for no longer."""


class _State(NamedTuple):
    """What tells that a file is another one, or was written to."""

    device: int
    inode: int
    nbytes: int
    modified_ns: int
    changed_ns: int
    record: tuple[object, ...]
    """What its path says, which a mapping.csv may change."""


@dataclass(slots=True)
class _Seen:
    """A file that the table does not tell of, or not for sure."""

    state: _State
    since_s: float
    n_damaged: int = 0
    is_read: bool = False
    has_rows: bool = False
    not_before_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Arrived:
    """What there is to do.

    Attributes
    ----------
    positions
        Files to read, in the order of their steps and times.
    is_news
        Whether there are others among them than such as could not be read before.
    shown
        The paths of all files that are there and that the table may not tell of.
    n_waiting
        How many files are not complete yet.
    unread_steps
        Steps of these, and of the files to read; None stands for a file whose path tells none.
    is_recount
        Whether all files without rows are to be read, and what was skipped counted anew.
    """

    positions: NDArray[np.uint32]
    is_news: bool = False
    shown: frozenset[str] = frozenset()
    n_waiting: int = 0
    unread_steps: frozenset[int | None] = frozenset()
    is_recount: bool = False


class Arrivals:
    """Remembers the files that a table does not tell of.

    Parameters
    ----------
    settle_s
        How many seconds after the last write a file is taken to be complete.
    clock
        The time.
    """

    def __init__(self, settle_s: float, clock: Clock) -> None:
        self._settle_s, self._clock = settle_s, clock
        self._seen: dict[str, _Seen] = {}

    def look(self, index: _core.Index, positions: NDArray[np.uint32]) -> Arrived:
        """Look at files that are new, may have changed, or gave no row."""
        now_s, steady_s = self._clock.now_s(), self._clock.steady_s()
        earlier, self._seen = self._seen, {k: s for k, s in self._seen.items() if s.n_damaged}
        here = []
        for position in positions.tolist():
            record = index.record(position)
            state = _state_of(record)
            if state is not None:
                here.append((position, record, self._see(record[1], state, earlier, steady_s)))
        is_recount = self._is_recount(earlier)
        to_read, waiting, is_news = [], [], False
        for position, record, seen in here:
            if is_recount and seen.is_read and not seen.has_rows:
                seen.is_read = False
            if seen.is_read or steady_s < seen.not_before_s:
                continue
            if self._is_settled(seen, now_s, steady_s):
                # In this order no operator is read long before what it read.
                key = (-1 if record[8] is None else record[8], record[13] or 0, record[1])
                to_read.append((key, position))
                is_news |= seen.not_before_s == 0
            else:
                waiting.append(record[8])
        to_read.sort()
        return Arrived(
            np.array([position for _, position in to_read], np.uint32),
            is_news,
            frozenset(record[1] for _, record, _ in here),
            len(waiting),
            frozenset(waiting) | {index.record(position)[8] for _, position in to_read},
            is_recount,
        )

    def were_read(
        self, paths: Iterable[str], *, with_rows: set[str], damaged: set[str], unread: set[str]
    ) -> None:
        """Remember files that were read, by their paths in rows.

        Parameters
        ----------
        paths
            All of them.
        with_rows
            Those that gave rows.
        damaged
            Those that lack something, or make no sense.
        unread
            Those that could not be read, or changed meanwhile: they are read again, later.
        """
        steady_s = self._clock.steady_s()
        for path in paths:
            seen = self._seen[path]
            seen.is_read = path not in unread
            seen.has_rows = path in with_rows
            seen.n_damaged = seen.n_damaged + 1 if path in damaged or path in unread else 0
            if path in unread:
                seen.not_before_s = steady_s + self._patience_s(seen)

    def _see(self, path: str, state: _State, earlier: dict[str, _Seen], steady_s: float) -> _Seen:
        seen = earlier.get(path)
        if seen is None or seen.state != state:
            seen = _Seen(state, steady_s, seen.n_damaged if seen else 0)
        self._seen[path] = seen
        return seen

    def _is_recount(self, earlier: dict[str, _Seen]) -> bool:
        """Tell whether a file that was counted as skipped is another one now, or gone."""
        return any(
            seen.is_read and not seen.has_rows and self._seen.get(path) is not seen
            for path, seen in earlier.items()
        )

    def _is_settled(self, seen: _Seen, now_s: float, steady_s: float) -> bool:
        patience_s = self._patience_s(seen)
        by_file = now_s - seen.state.modified_ns / 1e9 >= patience_s
        return by_file or steady_s - seen.since_s >= patience_s

    def _patience_s(self, seen: _Seen) -> float:
        return float(self._settle_s * 2 ** min(seen.n_damaged, _MAX_DOUBLINGS))


def _state_of(record: tuple[Any, ...]) -> _State | None:
    """Return the state of a file of an index; None if it is gone."""
    try:
        status = os.stat(record[0])  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _State(0, 0, 0, 0, 0, record)  # reading it gives a row that says why
    return _State(
        *(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns),
        record,
    )
