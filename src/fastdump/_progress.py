"""Progress of work on files: the reports, and a bar on stderr that shows them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

INTERVAL_S = 0.1
"""Seconds between two reports of a scan."""


NAN_INF_OR_DAMAGED = "NaN/Inf/damaged"
"""What a scan counts as bad; many of these may be masks."""

_FIRST = "reading names"


class Progress(Protocol):
    """A report of how far some work on files has come."""

    @property
    def files_found(self) -> int: ...
    @property
    def files_done(self) -> int: ...
    @property
    def bytes_done(self) -> int: ...
    @property
    def bad(self) -> int: ...
    @property
    def walking(self) -> bool: ...


Reported = TypeVar("Reported")


def check_progress(progress: object) -> None:
    """Raise TypeError unless `progress` is True, False, None or a function."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is {progress!r}, expected True, None or a function")


@contextmanager
def reporting(
    progress: bool | Callable[[Reported], object] | None, *, bad: str = NAN_INF_OR_DAMAGED
) -> Iterator[Callable[[Reported], object] | None]:
    """Provide the function to call with each report: a bar, the caller's function, or None.

    Parameters
    ----------
    progress
        True for a bar on stderr, or a function, or None.
    bad
        What the bar calls the files that `Progress.bad` counts.
    """
    check_progress(progress)
    if progress is True:
        with ProgressBar(bad) as bar:
            yield bar
    else:
        yield progress or None


@contextmanager
def working(on: str = _FIRST) -> Iterator[None]:
    """Show what is being done while no bar shows how far it is, where a bar would be drawn."""
    with ProgressBar(first=on):
        yield


class ProgressBar:
    """A bar that shows files, bytes, GB/s and the number of bad ones; call it with each report.

    Nothing is drawn if stderr is not a terminal that can erase a line, or rich is not installed.
    The bar is erased when the work ends, so that only results and messages remain. A bar within
    another one takes its place.

    Parameters
    ----------
    bad
        What to call the things that `Progress.bad` counts.
    noun
        What to call the things that `Progress.files_done` counts.
    first
        What is done before the first report.
    """

    _drawn: ClassVar[list[RichProgress]] = []

    def __init__(
        self, bad: str = NAN_INF_OR_DAMAGED, noun: str = "files", first: str = _FIRST
    ) -> None:
        self._bad = bad
        self._noun = noun
        self._first = first
        self._bar: RichProgress | None = None
        self._start_s = 0.0
        self._next_s = 0.0

    def __enter__(self) -> ProgressBar:
        self._start_s = time.monotonic()
        # While a bar is drawn, stderr is rich's, which before rich 15 is no terminal.
        if self._drawn or (
            sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
        ):
            self._bar = _new_bar()
        if self._bar is not None:
            self._bar.add_task("", total=None, facts=self._first)
            for around in self._drawn[-1:]:
                around.stop()
            self._drawn.append(self._bar)
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._drawn.remove(self._bar)
            self._bar = None
            for around in self._drawn[-1:]:
                around.start()

    def __call__(self, progress: Any) -> None:
        """Show a `Progress`."""
        now_s = time.monotonic()
        # Drawing takes longer than much of the work that is reported.
        if self._bar is None or now_s < self._next_s:
            return
        self._next_s = now_s + INTERVAL_S / 2
        elapsed_s = max(now_s - self._start_s, 1e-3)
        self._bar.update(
            self._bar.task_ids[0],
            completed=progress.files_done,
            # The end is not known while directories are still being listed: the bar only moves.
            total=None if progress.walking else progress.files_found,
            facts=self._facts(progress, elapsed_s),
        )
        self._bar.refresh()

    def _facts(self, progress: Progress, elapsed_s: float) -> str:
        found = f"{progress.files_found:,}{'+' if progress.walking else ''}"
        gigabytes = progress.bytes_done / 1e9
        bad = f", {progress.bad:,} {self._bad}" if progress.bad else ""
        return (
            f"{progress.files_done:,}/{found} {self._noun}, {gigabytes:,.2f} GB, "
            f"{gigabytes / elapsed_s:.1f} GB/s{bad}"
        )


def _new_bar() -> RichProgress | None:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as RichProgress
    except ImportError:
        return None
    # Reports refresh the bar, so no further thread runs.
    return RichProgress(
        SpinnerColumn(),
        BarColumn(bar_width=12),
        TextColumn("{task.fields[facts]}", markup=False),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
    )
