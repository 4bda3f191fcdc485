"""A progress bar for scans, drawn on stderr if that is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

INTERVAL_S = 0.1
"""How often a scan should report."""


class Progress(Protocol):
    """How far something is that goes through files: a scan, or a conversion."""

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


class ProgressBar:
    """Shows files, bytes, GB/s and how many are bad; call it with what a scan reports.

    Draws nothing where there is nothing to draw on: stderr is not a terminal, or rich is missing.
    It is erased when the scan ends, so that only results and messages remain.

    Parameters
    ----------
    bad
        What to call those that `Progress.bad` counts.
    noun
        What to call those that `Progress.files_done` counts.

    Examples
    --------
    >>> with ProgressBar() as bar:  # doctest: +SKIP
    ...     scan.run(bar, INTERVAL_S)
    """

    def __init__(self, bad: str = "bad", noun: str = "files") -> None:
        self._bad = bad
        self._noun = noun
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._start_s = 0.0

    def __enter__(self) -> ProgressBar:
        self._start_s = time.monotonic()
        if sys.stderr.isatty():
            self._bar = _new_bar()
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=None, facts="")
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __call__(self, progress: Progress) -> None:
        """Show `progress`."""
        if self._bar is None or self._task is None:
            return
        elapsed_s = max(time.monotonic() - self._start_s, 1e-3)
        self._bar.update(
            self._task,
            completed=progress.files_done,
            # While directories are still listed the end is not known: the bar only moves.
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
    # Refreshed by the scan's reports, so that no further thread runs.
    return RichProgress(
        SpinnerColumn(),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[facts]}", markup=False),
        console=Console(stderr=True),
        auto_refresh=False,
        transient=True,
    )
