"""The ledger of a conversion, in which its threads, or its workers, note what they have done."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from fastdump._convert.records import ConvertFailure, ConvertNote, ConvertProgress
from fastdump._convert.report import ConvertReport

Place: TypeAlias = "tuple[int, int]"
"""Position of a dump file in the order of execution, and of something in that file."""


class Ledger:
    """Counts and lists, to be changed only within ``with ledger:``. It can be pickled.

    `progress` and `report` take no lock: the main thread calls them, and an interruption at the
    wrong moment would leave it taken for ever.

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

    def __getstate__(self) -> dict[str, Any]:
        with self:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= {**state, "_lock": threading.Lock()}

    def add(self, part: Ledger, numbers: Sequence[int], paths: Sequence[str]) -> None:
        """Add what the ledger of a part of the conversion has.

        Parameters
        ----------
        part
            The other ledger.
        numbers, paths
            Of each dump file of the part, its position in the order of execution of all, and its
            path as it was given.
        """
        with self:
            for name in ("files_done", "bytes_done", "files", "written", "kept", "nbytes"):
                setattr(self, name, getattr(self, name) + getattr(part, name))
            self.skipped += part.skipped
            self.renamed |= part.renamed
            for (file, at), failure in part.findings:
                self.findings.append(((numbers[file], at), replace(failure, path=paths[file])))
            for (file, at), note in part.noted:
                self.noted.append(((numbers[file], at), replace(note, path=paths[file])))

    def progress(self) -> ConvertProgress:
        """Return how far the conversion has come."""
        return ConvertProgress(
            files_found=self._files_found,
            files_done=self.files_done,
            bytes_done=self.bytes_done,
            bad=len(self.findings),
        )

    def report(self, out: str) -> ConvertReport:
        """Return what was done up to now; `out` is the output directory."""
        return ConvertReport(
            findings=tuple(failure for _, failure in sorted(self.findings, key=_place)),
            out=out,
            files=self.files,
            written=self.written,
            kept=self.kept,
            nbytes=self.nbytes,
            noted=tuple(note for _, note in sorted(self.noted, key=_place)),
            skipped=dict(self.skipped),
            # A copy, as a thread that was not waited for may still add to it.
            renamed=dict(sorted(self.renamed.copy().items())),
        )


def _place(entry: tuple[Place, object]) -> Place:
    return entry[0]
