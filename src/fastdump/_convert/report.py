"""What a conversion did, and how far one is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConvertFailure:
    """Something that was not converted.

    Attributes
    ----------
    path
        The dump file.
    tensor
        "output.0"; None if it is the whole file.
    reason
        Why.
    """

    path: str
    tensor: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class ConvertNote:
    """Something that was converted, but is not what the header makes one expect.

    Attributes
    ----------
    path
        The dump file.
    tensor
        "output.0"; None if it is about the whole file.
    status
        "truncated", "size_mismatch", "unsupported", "absent", as in `StatsRow`; "noted" if it is
        about the whole file.
    note
        What is odd, in words.
    """

    path: str
    tensor: str | None
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class ConvertReport:
    """What a conversion did.

    Attributes
    ----------
    files
        How many dump files were read.
    written
        How many files were written.
    kept
        How many were there already, complete.
    nbytes
        Bytes that were written.
    failed
        What was not converted, in the order of execution.
    noted
        What was converted as far as it was there: truncated and absent tensors, sizes that
        disagree, elements of unknown encoding.
    skipped
        Files that hold no tensors to convert, by reason.
    renamed
        Files whose names are digits, by their path below the output directory, and the names that
        these stand for. ``mapping.csv`` beside them says the same.
    """

    files: int
    written: int
    kept: int
    nbytes: int
    failed: tuple[ConvertFailure, ...]
    noted: tuple[ConvertNote, ...]
    skipped: Mapping[str, int]
    renamed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ConvertProgress:
    """How far a conversion is.

    Attributes
    ----------
    files_found, files_done
        Dump files.
    bytes_done
        Bytes that were written.
    bad
        How many things were not converted.
    """

    files_found: int
    files_done: int
    bytes_done: int
    bad: int

    @property
    def walking(self) -> bool:
        """Whether dump files are still looked for; never while they are converted."""
        return False
