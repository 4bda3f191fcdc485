"""A list of tasks for several threads; a task may add further tasks."""

from __future__ import annotations

import _thread
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeAlias

from fastdump import _core
from fastdump._convert.source_file import BUFFER_NBYTES
from fastdump._progress import INTERVAL_S

# A disk that answers takes a piece of a file in less time.
_PATIENCE_S = 2.0

Task: TypeAlias = "Callable[[memoryview], None]"
"""A function that gets memory of its thread to read into."""


class WorkList:
    """Hands out tasks until none is left and none is running that could add some.

    Ctrl-C may interrupt the main thread in the middle of `Condition.__enter__` or `Event.wait`,
    whose lock then stays taken for ever. So only the threads of the list wait for its condition.
    `start`, `wait` and `stop`, which the main thread calls, read flags and a count, and wait for
    a queue, which is written in C and has no such moment.
    """

    def __init__(self, tasks: Iterable[Task], n_threads: int) -> None:
        self._tasks = iter(tasks)
        self._added: deque[Task] = deque()
        self._n_busy = 0
        self._changed = threading.Condition()
        self._stopped = False
        self._finished = False
        self._error: BaseException | None = None
        self._has_buffer = False  # any thread
        self._n_threads = n_threads
        self._n_working = 0  # threads that have begun and not ended
        self._ended: SimpleQueue[None] = SimpleQueue()  # when that became 0

    @property
    def stopped(self) -> bool:
        """Whether tasks are to end early."""
        return self._stopped

    def start(self) -> None:
        """Start the threads; with none at all the tasks are done before this returns."""
        n_started = 0
        for _ in range(self._n_threads):
            try:
                if not _core.has_room_for_thread():
                    raise MemoryError
                # Not threading.Thread, whose start waits for an Event. The process does not wait
                # for these to end: a disk that does not answer must not keep it.
                _thread.start_new_thread(self._work, ())
            except (RuntimeError, MemoryError):  # the system starts no more
                break
            n_started += 1
        if n_started == 0:
            self._do_tasks()
            self._ended.put(None)

    def wait(self, timeout_s: float) -> bool:
        """Wait until all tasks have ended; return whether they have.

        An exception of a task ends all others and is raised here.
        """
        with suppress(Empty):
            self._ended.get(timeout=timeout_s)
        if self._n_working > 0 or not (self._finished or self._stopped):
            return False
        if self._error is not None:
            raise self._error
        return True

    def stop(self) -> None:
        """End the work early, and wait for the tasks that are being done.

        The tasks remove what they have half written. Ctrl-C pressed again does not keep them from
        that, unless it is pressed for long.
        """
        self._stopped = True
        patience_ends = time.monotonic() + _PATIENCE_S
        while True:
            try:
                # A thread that has not begun yet takes no task any more. Ctrl-C that comes just
                # before a wait begins is not seen until that wait ends, so none is long.
                while self._n_working > 0:
                    with suppress(Empty):
                        self._ended.get(timeout=INTERVAL_S)
            except KeyboardInterrupt:
                if time.monotonic() > patience_ends:
                    raise
            else:
                return

    def add(self, tasks: Iterable[Task]) -> None:
        """Add tasks; they are done before those that were there from the beginning."""
        with self._changed:
            self._added.extend(tasks)
            self._changed.notify_all()

    def _work(self) -> None:
        with self._changed:
            if self._finished or self._stopped:
                return
            self._n_working += 1
        try:
            self._do_tasks()
        finally:
            with self._changed:
                self._changed.notify_all()  # in case this ended the others too
                self._n_working -= 1
                if self._n_working == 0:
                    self._ended.put(None)

    def _do_tasks(self) -> None:
        try:
            buffer = self._buffer()
            while buffer is not None and (task := self._take()) is not None:
                try:
                    task(buffer)
                finally:
                    self._done()
        except BaseException as error:
            self._error = error
            self._stopped = True

    def _buffer(self) -> memoryview | None:
        """Return memory to read into; None if there is none, but another thread has some."""
        try:
            buffer = memoryview(bytearray(BUFFER_NBYTES))
        except MemoryError:
            if not self._has_buffer:
                raise
            return None
        self._has_buffer = True
        return buffer

    def _take(self) -> Task | None:
        with self._changed:
            while not self.stopped:
                task = self._added.popleft() if self._added else next(self._tasks, None)
                if task is not None:
                    self._n_busy += 1
                    return task
                if self._n_busy == 0:
                    self._finished = True
                    return None
                self._changed.wait(INTERVAL_S)  # `stop` notifies nobody
        return None

    def _done(self) -> None:
        with self._changed:
            self._n_busy -= 1
            if self._n_busy == 0:
                self._changed.notify_all()
