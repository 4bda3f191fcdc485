"""What of an input was not read whole, as exit codes count it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

NOT_FINISHED = "not finished when interrupted"
"""Why a table of an interrupted scan lacks files."""

# The header promises bytes that the file lacks, or nothing can be said of the file. An `absent`
# tensor was left out by the device; `size_mismatch` and `unsupported` hide nothing that is there.
_STATUSES = frozenset({"truncated", "malformed", "unreadable", "changed"})

# Files that are skipped for other reasons are no dump files, or links that were not to be followed.
SKIPPED_UNREAD = frozenset(
    {
        "directory that cannot be read",
        "file that cannot be read",
        "vanished while it was listed",
        "changed while it was read",
        "damaged file, which may hold what was asked for",
        NOT_FINISHED,
    }
)


def is_unread(statuses: Iterable[str], skipped: Mapping[str, int]) -> bool:
    """Tell whether something was not read whole.

    Parameters
    ----------
    statuses
        Of rows, files or tensors.
    skipped
        Number of skipped files, by reason.
    """
    return not (_STATUSES.isdisjoint(statuses) and SKIPPED_UNREAD.isdisjoint(skipped))
