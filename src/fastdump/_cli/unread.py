"""What of an input was not read whole, as exit codes count it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fastdump._cli.messages import say
from fastdump._table.manifest import NOT_FINISHED
from fastdump._words.quantities import skipped_text

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
        "mapping.csv that cannot be read: its names are unknown",
        "mapping.csv of more than 64 MiB: its names are unknown",
        "damaged file, which may hold what was asked for",
        NOT_FINISHED,
    }
)


def say_skipped(skipped: Mapping[str, int]) -> None:
    """Print on standard error what was skipped although it may hold dumps, if there is any."""
    unread = {reason: n for reason, n in skipped.items() if reason in SKIPPED_UNREAD}
    if unread:
        say(f"not everything could be read: {skipped_text(unread)}")


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
