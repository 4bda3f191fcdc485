"""The exit code of a comparison, for the commands that compare."""

from __future__ import annotations

from fastdump import ComparisonTable
from fastdump._cli import exit_codes
from fastdump._cli.messages import say
from fastdump._cli.unread import is_unread

_UNPAIRED = frozenset({"only_in_a", "only_in_b"})


def exit_code_of(
    table: ComparisonTable, failed: ComparisonTable | None = None, *, allow_unpaired: bool = False
) -> int:
    """Return the exit code of a comparison that was not interrupted.

    Parameters
    ----------
    table
        The comparison.
    failed
        Pairs beyond limits that were given; None if what diverges counts.
    allow_unpaired
        Whether a tensor without a partner is no reason for another code than that of success.
    """
    if not table.summary()["compared"]:
        say("error: nothing was compared")
        return exit_codes.NOTHING_READ
    if len(failed) if failed is not None else table.diverges.any():
        return exit_codes.FINDINGS
    is_whole = _is_whole(table, allow_unpaired=allow_unpaired)
    return exit_codes.SUCCESS if is_whole else exit_codes.INCOMPLETE


def _is_whole(table: ComparisonTable, *, allow_unpaired: bool) -> bool:
    """Tell whether all that there is on either side was compared, and as a whole."""
    about = table.about
    if is_unread((), {**about["skipped_a"], **about["skipped_b"]}):
        return False
    whole = {"ok"} | (_UNPAIRED if allow_unpaired else set())
    # A run in another precision casts where this one need not.
    return whole.issuperset(table[~table.unpaired_casts].summary()["status"])
