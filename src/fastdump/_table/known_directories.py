"""What a scan has found of directories, so that a later one need not list them again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fastdump._table.arrow_column import is_in
from fastdump._table.directories import directories_of

if TYPE_CHECKING:
    from arro3.core import RecordBatch
    from numpy.typing import NDArray

_MOST_IN_FILES: Final = 1000
_ROWS_OF_ONE: Final = 10
"""More directories than so many are told in a file only if they have so many rows each."""

_WHOLE: Final = ("ok", "unsupported")
"""Statuses of tensors whose files were written to their end, as far as content tells."""


class KnownDirectory(NamedTuple):
    """A directory as it was listed.

    Attributes
    ----------
    shown
        What rows of the scan show of it, before another base; "" for the only root.
    state
        A number that is another one when its names have changed; 0 where it is not known.
    has_damage
        Whether a file in it may not have been written to its end.
    skipped
        How many files in it gave no row, by reason.
    """

    shown: str
    state: int
    has_damage: bool
    skipped: dict[str, int]


def to_trust(
    directories: Iterable[KnownDirectory],
) -> list[tuple[str, int, dict[str, int]]]:
    """Return what a walk takes for known; state 0 makes it list a directory."""
    trusted: dict[str, tuple[int, dict[str, int]]] = {}
    nameless = set()
    for shown, state, has_damage, skipped in directories:
        name = shown.rstrip("/")
        if "\\" in name:
            # Perhaps not its name, but bytes that are no text: only the one above can tell.
            nameless.add(name)
        else:
            trusted[name] = (0 if has_damage else state, skipped)
    for name in nameless:
        above = name
        while above:
            above = above.rpartition("/")[0]
            if above in trusted:
                trusted[above] = (0, {})
    return [(name, *told) for name, told in trusted.items()]


def with_damage(
    directories: Sequence[KnownDirectory],
    shown_in_rows: Sequence[str],
    batch: RecordBatch,
    states: NDArray[np.int64],
) -> list[KnownDirectory]:
    """Return directories of which rows say, too, whether files may not have been written.

    Parameters
    ----------
    directories
        The directories.
    shown_in_rows
        What the rows show of each.
    batch, states
        The rows, and of each the state of its file, 0 if that is not known.
    """
    damaged = np.flatnonzero(~is_in(batch.column("status"), _WHOLE) | (states == 0))
    if not len(damaged):
        return list(directories)
    _, found = directories_of(batch.column("path").take(damaged))
    names = {name.rstrip("/") for name in found}
    return [
        one._replace(has_damage=one.has_damage or shown.rstrip("/") in names)
        for one, shown in zip(directories, shown_in_rows, strict=True)
    ]


def to_json(directories: Sequence[KnownDirectory], n_rows: int) -> list[list[Any]] | None:
    """Return what a file says of directories; None if that would be more than its rows."""
    if len(directories) > max(_MOST_IN_FILES, n_rows // _ROWS_OF_ONE):
        return None
    return [list(one) for one in directories]


def from_json(told: object) -> list[KnownDirectory] | None:
    """Return what `to_json` has taken apart.

    Raises
    ------
    ValueError
        If it is something else.
    """
    if told is None:
        return None
    if not isinstance(told, list) or not all(map(_is_directory, told)):
        raise ValueError(f"directories are {told!r:.80}, expected what fastdump writes")
    return [KnownDirectory(*one) for one in told]


def _is_directory(told: object) -> bool:
    if not isinstance(told, list) or len(told) != len(KnownDirectory._fields):
        return False
    shown, state, has_damage, skipped = told
    return (
        isinstance(shown, str)
        and _is_integer(state)
        and isinstance(has_damage, bool)
        and isinstance(skipped, dict)
        and all(_is_integer(n) and n >= 0 for n in skipped.values())
    )


def _is_integer(number: object) -> bool:
    return type(number) is int and -(2**63) <= number < 2**63
