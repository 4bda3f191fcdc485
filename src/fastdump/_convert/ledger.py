"""What happened so far in a conversion, as its threads note it."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TypeAlias

from fastdump._convert.report import ConvertFailure, ConvertNote, ConvertProgress, ConvertReport

Place: TypeAlias = "tuple[int, int]"
"""Of a dump file in the order of execution, and of something in that file."""


class Ledger:
    """Counts and lists; any thread may add to them.

    Parameters
    ----------
    files_found
        How many dump files there are.
    skipped
        How many files were passed over before, by reason.
    """

    def __init__(self, files_found: int, skipped: Counter[str]) -> None:
        self._lock = threading.Lock()
        self._files_found = files_found
        self._files_done = 0
        self._bytes_done = 0
        self._files = 0
        self._written = 0
        self._kept = 0
        self._nbytes = 0
        self._skipped = Counter(skipped)
        self._renamed: dict[str, str] = {}
        # With their places: threads finish in any order.
        self._failed: list[tuple[Place, ConvertFailure]] = []
        self._noted: list[tuple[Place, ConvertNote]] = []

    def file_begun(self) -> None:
        """Note a dump file that is to be converted."""
        with self._lock:
            self._files += 1

    def file_skipped(self, reason: str) -> None:
        """Note a file that holds nothing to convert."""
        with self._lock:
            self._skipped[reason] += 1

    def file_done(self) -> None:
        """Note that a file needs no more attention."""
        with self._lock:
            self._files_done += 1

    def bytes_done(self, nbytes: int) -> None:
        """Note that bytes were written, of a file that may not get finished."""
        with self._lock:
            self._bytes_done += nbytes

    def written(self, nbytes: int) -> None:
        """Note a file of so many bytes that got its name."""
        with self._lock:
            self._written += 1
            self._nbytes += nbytes

    def kept(self) -> None:
        """Note a file that was there already."""
        with self._lock:
            self._kept += 1

    def renamed(self, path: str, name: str) -> None:
        """Note which name the digits stand for in that of an output file."""
        with self._lock:
            self._renamed[path] = name

    def failed(self, place: Place, failure: ConvertFailure) -> None:
        """Note something that was not converted."""
        with self._lock:
            self._failed.append((place, failure))

    def noted(self, place: Place, note: ConvertNote) -> None:
        """Note something odd."""
        with self._lock:
            self._noted.append((place, note))

    def progress(self) -> ConvertProgress:
        """Return how far the conversion is."""
        with self._lock:
            return ConvertProgress(
                files_found=self._files_found,
                files_done=self._files_done,
                bytes_done=self._bytes_done,
                bad=len(self._failed),
            )

    def report(self) -> ConvertReport:
        """Return what was done, before the end of the conversion up to now."""
        with self._lock:
            return ConvertReport(
                files=self._files,
                written=self._written,
                kept=self._kept,
                nbytes=self._nbytes,
                failed=tuple(failure for _, failure in sorted(self._failed, key=_place)),
                noted=tuple(note for _, note in sorted(self._noted, key=_place)),
                skipped=dict(self._skipped),
                renamed=dict(sorted(self._renamed.items())),
            )


def _place(entry: tuple[Place, object]) -> Place:
    return entry[0]
