"""Names of files that a dump with ``dump_scene=watcher`` writes: ``{executed}_To_{watched}``.

Both parts may themselves contain ``_To_``: which one separates them is decided by which operators
have a file of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

SEPARATOR: Final = "_To_"


class WatchedName(NamedTuple):
    """The two operators in a name.

    Attributes
    ----------
    executed
        The operator after which the tensors were recorded.
    watched
        The operator whose outputs they are.
    is_ambiguous
        Whether the name can be read in another way too.
    """

    executed: str
    watched: str
    is_ambiguous: bool


def splits(name: str) -> Iterator[tuple[str, str]]:
    """Yield each way to read a name as two, the shortest watched one first."""
    at = len(name)
    while (at := name.rfind(SEPARATOR, 0, at)) >= 0:
        executed, watched = name[:at], name[at + len(SEPARATOR) :]
        if executed and watched:
            yield executed, watched
        # Separators may share an underscore: "A_To_To_B".
        at += len(SEPARATOR) - 1


def read_name(
    name: str, op_type: str | None, own: Mapping[str, Collection[str | None]]
) -> WatchedName | None:
    """Return the operators in a name, None if no part of it is one that has its own file.

    Parameters
    ----------
    name
        Of a file's operator.
    op_type
        The type in the file's name, which is that of the watched operator.
    own
        Types of each operator that has a file of its own, by name.
    """
    fitting = [split for split in splits(name) if split[1] in own]
    same_type = [split for split in fitting if op_type in own[split[1]]]
    chosen = same_type or fitting
    if not chosen:
        return None
    return WatchedName(*chosen[0], len(chosen) > 1)
