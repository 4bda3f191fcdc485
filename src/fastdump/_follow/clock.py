"""What follows a run asks for the time, and waits; so that tests need not."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """The time, and a way to let it pass."""

    def now_s(self) -> float:
        """Return seconds since 1970, as the times of files are given."""

    def steady_s(self) -> float:
        """Return seconds that nobody sets back."""

    def wait(self, seconds: float) -> None:
        """Return after so many seconds."""


class SystemClock:
    """The clock of the machine."""

    def now_s(self) -> float:
        """Return seconds since 1970."""
        return time.time()

    def steady_s(self) -> float:
        """Return seconds that nobody sets back."""
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)
