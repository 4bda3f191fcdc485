"""The ledger of a conversion, in which its threads note what they have done."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TypeAlias

from fastdump._convert.records import ConvertFailure, ConvertNote, ConvertProgress
from fastdump._convert.report import ConvertReport

Place: TypeAlias = "tuple[int, int]"
"""Position of a dump file in the order of execution, and of something in that file."""


class Ledger:
    """Counts and lists, to be changed only within ``with ledger:``.

    Attributes
    ----------
    files_done, bytes_done
        Files that are finished, in whatever way; bytes written, also of unfinished files.
    files, written, kept, nbytes, skipped, renamed
        As in `ConvertReport`.
    findings, noted
        As in `ConvertReport`, each with its place, because threads finish in any order.
    """

    def __init__(self, files_found: int, skipped: Counter[str]) -> None:
        self._lock = threading.Lock()
        self._files_found = files_found
        self.files_done = self.bytes_done = 0
        self.files = self.written = self.kept = self.nbytes = 0
        self.skipped = Counter(skipped)
        self.renamed: dict[str, str] = {}
        self.findings: list[tuple[Place, ConvertFailure]] = []
        self.noted: list[tuple[Place, ConvertNote]] = []

    def __enter__(self) -> Ledger:
        self._lock.acquire()
        return self

    def __exit__(self, *exception: object) -> None:
        self._lock.release()

    def progress(self) -> ConvertProgress:
        """Return how far the conversion has come."""
        with self:
            return ConvertProgress(
                files_found=self._files_found,
                files_done=self.files_done,
                bytes_done=self.bytes_done,
                bad=len(self.findings),
            )

    def report(self, out: str) -> ConvertReport:
        """Return what was done up to now; `out` is the output directory."""
        with self:
            return ConvertReport(
                findings=tuple(failure for _, failure in sorted(self.findings, key=_place)),
                out=out,
                files=self.files,
                written=self.written,
                kept=self.kept,
                nbytes=self.nbytes,
                noted=tuple(note for _, note in sorted(self.noted, key=_place)),
                skipped=dict(self.skipped),
                renamed=dict(sorted(self.renamed.items())),
            )


def _place(entry: tuple[Place, object]) -> Place:
    return entry[0]
