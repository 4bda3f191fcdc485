"""What `watcher` returns: comparisons of bytes, and what they add up to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastdump._printable import printable


@dataclass(frozen=True, slots=True)
class Suspect:
    """An operator that wrote to the memory of a tensor before it was seen to have changed.

    Attributes
    ----------
    op_type, op_name, path, timestamp
        The operator, and its file relative to the dump.
    output
        Which of its outputs lies there.
    address, nbytes
        Where on the device.
    overlap
        First and last byte of the tensor, inclusive, that this output overlaps.
    wrote_it
        Whether the bytes that were found there are those of this output. None if it was not
        found out.
    """

    op_type: str | None
    op_name: str | None
    path: str
    timestamp: int | None
    output: int
    address: int
    nbytes: int
    overlap: tuple[int, int]
    wrote_it: bool | None


@dataclass(frozen=True, slots=True)
class Change:
    """Where two recordings of a tensor differ.

    Attributes
    ----------
    n_bytes
        How many bytes differ.
    first_byte, last_byte
        The first and the last of them, counted from the beginning of the tensor.
    n_elements
        How many elements differ; None if elements are not of whole bytes, and if this is not the
        first change of the tensor.
    first_element, last_element
        The first and the last of them as flat indices; None as above.
    words
        Which they are, in words: rows, columns, a run, ...; "" as above.
    place
        The same as an index, "[0, 4:7, :]", where they make a rectangle.
    """

    n_bytes: int
    first_byte: int
    last_byte: int
    n_elements: int | None = None
    first_element: int | None = None
    last_element: int | None = None
    words: str = ""
    place: str | None = None


@dataclass(frozen=True, slots=True)
class WatcherComparison:
    """One tensor as its operator wrote it, and as it was seen later.

    Attributes
    ----------
    rank, time, device, model, model_id, step
        Where it was seen later.
    op_type, op_name
        The operator whose output it is.
    output
        Which of its outputs.
    dtype, shape, nbytes, address
        Of the later recording.
    path
        The operator's own file, relative to the dump; None if there is none.
    seen_by
        Name of the operator after which it was recorded again; of a check by addresses the
        operator that read it.
    seen_as
        "output.0" of the later file, or "input.2".
    seen_path, seen_timestamp, seen_task_id, seen_stream_id
        The later file.
    status
        "same"; "changed"; "before" (recorded before its operator ran in this place: not compared);
        "no_own_file"; "missing" (one of the files lacks this output); "size_mismatch" (they
        declare different sizes); "truncated", "absent" (not all bytes are there, and those that
        are do not differ); "malformed", "unreadable".
    note
        Why it is not "same", where that needs words; what is odd.
    is_first
        Whether this is the first recording in which the tensor has changed: a finding.
    same_until
        Name of the last operator after which the tensor still was the same, or None.
    change
        Where they differ, if they do.
    suspects
        Operators whose outputs overlap its memory, and that ran in between; of a first change.
    """

    rank: int | None
    time: str | None
    device: int | None
    model: str | None
    model_id: int | None
    step: int | None
    op_type: str | None
    op_name: str | None
    output: int
    dtype: str | None
    shape: tuple[int, ...] | None
    nbytes: int | None
    address: int | None
    path: str | None
    seen_by: str
    seen_as: str
    seen_path: str
    seen_timestamp: int | None
    seen_task_id: int | None
    seen_stream_id: int | None
    status: str
    note: str = ""
    is_first: bool = False
    same_until: str | None = None
    change: Change | None = None
    suspects: tuple[Suspect, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class WatcherReport:
    """What was compared in a dump, and what had changed.

    Attributes
    ----------
    check
        Which check was made: "watcher" (files of ``dump_scene=watcher``) or "addresses".
    comparisons
        In the order of execution of each rank and device. Of a check by addresses only those that
        are not "same".
    counts
        How many comparisons there are of each status, "same" included; of a check by addresses
        also how many inputs were left out: "in_place" (the operator writes where it reads) and
        "no_writer" (no output was dumped that lay exactly there).
    notes
        What else there is to know of the check, a sentence each.
    sentence
        The first change in one sentence, or that there is none.
    skipped
        How many files were not read because they are no dumps, by reason.
    """

    check: str
    comparisons: tuple[WatcherComparison, ...]
    counts: Mapping[str, int]
    notes: tuple[str, ...]
    sentence: str
    skipped: Mapping[str, int]

    @property
    def findings(self) -> list[WatcherComparison]:
        """The first change of each tensor."""
        return [comparison for comparison in self.comparisons if comparison.is_first]

    @property
    def unchecked(self) -> list[WatcherComparison]:
        """What could not be compared although it should have been."""
        done = ("same", "changed", "before")
        return [comparison for comparison in self.comparisons if comparison.status not in done]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``fastdump watcher --json`` prints, but for the version.

        docs/watcher.md describes it.
        """
        return {
            "sentence": self.sentence,
            "check": self.check,
            "notes": list(self.notes),
            "n_findings": len(self.findings),
            "counts": dict(sorted(self.counts.items())),
            "comparisons": [dataclasses.asdict(comparison) for comparison in self.comparisons],
            "skipped": dict(self.skipped),
        }

    def __repr__(self) -> str:
        return f"<WatcherReport: check {self.check!r}; {printable(self.sentence)}>"
