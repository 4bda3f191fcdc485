"""Signals that end a command in order: what was done is kept, and nothing half done stays."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any

from fastdump._cli import exit_codes

# SIGHUP: the terminal is gone. A signal that is ignored, as under nohup, stays ignored.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)
# As long a signal that comes again does not disturb the cleaning up after the first one.
_PATIENCE_S = 2.0


class EndingSignals:
    """While this context lasts, signals that end a process raise KeyboardInterrupt.

    Only where the process has not set handlers of its own, and only in its main thread.
    """

    def __init__(self) -> None:
        self._first: int | None = None
        self._patience_ends = 0.0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> EndingSignals:
        if threading.current_thread() is threading.main_thread():
            for one in _SIGNALS:
                if (handler := signal.getsignal(one)) in _DEFAULTS:
                    self._before[one] = handler
                    signal.signal(one, self._interrupt)
        return self

    def __exit__(self, *exception: object) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)

    def exit_code(self, code: int) -> int:
        """Return the exit code of a command: an interrupted one tells the signal, as in shells."""
        if code != exit_codes.INTERRUPTED or self._first is None:
            return code
        return exit_codes.SIGNALLED + self._first

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = number
        elif now < self._patience_ends:
            return
        self._patience_ends = now + _PATIENCE_S
        raise KeyboardInterrupt
