"""A list of tasks for several threads; a task may add further tasks."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeAlias

from fastdump import _core
from fastdump._convert.source_file import BUFFER_NBYTES
from fastdump._progress import INTERVAL_S

# A disk that answers takes a piece of a file in less time.
_PATIENCE_S = 2.0

Task: TypeAlias = "Callable[[memoryview], None]"
"""A function that gets memory of its thread to read into."""


class WorkList:
    """Hands out tasks until none is left and none is running that could add some."""

    def __init__(self, tasks: Iterable[Task], n_threads: int) -> None:
        self._tasks = iter(tasks)
        self._added: deque[Task] = deque()
        self._n_busy = 0
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._finished = threading.Event()  # apart: `wait` must not wake up at every change
        self._error: BaseException | None = None
        self._has_buffer = False  # any thread
        self._n_threads = n_threads
        self._n_working = 1  # whoever starts the threads, until that is done
        self._threads: list[tuple[threading.Thread, threading.Event]] = []  # and whether it ended

    @property
    def stopped(self) -> bool:
        """Whether tasks are to end early."""
        return self._stopped.is_set()

    def start(self) -> None:
        """Start the threads; with none at all the tasks are done before this returns."""
        for _ in range(self._n_threads):
            ended = threading.Event()
            # Daemons: a disk that does not answer must not keep the process from ending.
            thread = threading.Thread(target=self._work, args=(ended,), daemon=True)
            with self._changed:
                self._n_working += 1
            # Before it starts: an interruption may come while it does.
            self._threads.append((thread, ended))
            try:
                if not _core.has_room_for_thread():
                    raise MemoryError
                thread.start()
            except (RuntimeError, MemoryError):  # the system starts no more
                self._threads.pop()
                self._leave()
                break
        if self._threads:
            self._leave()
        else:
            self._work(threading.Event())

    def wait(self, timeout_s: float) -> bool:
        """Wait until all tasks have ended; return whether they have.

        An exception of a task ends all others and is raised here.
        """
        finished = self._finished.wait(timeout_s)
        if finished and self._error is not None:
            raise self._error
        return finished

    def stop(self) -> None:
        """End the work early, and wait for the tasks that are being done.

        The tasks remove what they have half written. Ctrl-C pressed again does not keep them from
        that, unless it is pressed for long.
        """
        patience_ends = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self._stopped.set()
                with self._changed:
                    self._changed.notify_all()
                for thread, ended in self._threads:
                    # One that has not begun will find nothing to do. Thread.join() is no help:
                    # interrupted, it takes the thread for ended (before Python 3.13).
                    # Ctrl-C that comes just before a wait begins is not seen until that wait
                    # ends, so none is long.
                    while thread.ident is not None and not ended.wait(INTERVAL_S):
                        pass
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

    def _work(self, ended: threading.Event) -> None:
        try:
            buffer = self._buffer()
            while buffer is not None and (task := self._take()) is not None:
                try:
                    task(buffer)
                finally:
                    self._done()
        except BaseException as error:
            self._error = error
            self._stopped.set()
        finally:
            self._leave()
            ended.set()

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

    def _leave(self) -> None:
        with self._changed:
            self._changed.notify_all()  # in case this ends the others too
            self._n_working -= 1
            if self._n_working == 0:
                self._finished.set()

    def _take(self) -> Task | None:
        with self._changed:
            while not self.stopped:
                task = self._added.popleft() if self._added else next(self._tasks, None)
                if task is not None:
                    self._n_busy += 1
                    return task
                if self._n_busy == 0:
                    return None
                self._changed.wait()
        return None

    def _done(self) -> None:
        with self._changed:
            self._n_busy -= 1
            if self._n_busy == 0:
                self._changed.notify_all()
