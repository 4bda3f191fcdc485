"""The dump files that are to be converted, and where below the output directory each belongs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from fastdump._dump import open as open_dump
from fastdump._operator import Operator
from fastdump._stats import PathLike, no_dump_error
from fastdump.errors import NoDumpError


class Conditions(TypedDict, total=False):
    """Names that select operators, as `Dump.select` takes them; what is not there selects all."""

    op_type: str | Iterable[str]
    op_name: str | Iterable[str]
    step: int | Iterable[int]
    rank: int | Iterable[int]


@dataclass(frozen=True, slots=True)
class Source:
    """One of the paths that were given.

    Attributes
    ----------
    operators
        What is to be converted, in the order of execution.
    root
        The directory whose structure is kept.
    below
        Where that goes, below the output directory.
    """

    operators: Sequence[Operator]
    root: str
    below: Path

    def directory_of(self, op: Operator) -> Path:
        """Return the directory of an operator's files, below the output directory."""
        parent = os.path.dirname(op.path)  # noqa: PTH120
        return self.below / os.path.relpath(parent or ".", self.root or ".")


def find_sources(
    paths: Sequence[PathLike],
    conditions: Conditions,
    *,
    follow_links: bool,
    flat: bool,
) -> tuple[list[Source], Counter[str]]:
    """Return the dump files below some paths, and how many files were skipped for what reason.

    The structure of a single directory is kept as it is. Several keep theirs each in a directory of
    its own, which has its name. Files go to the top.

    Parameters
    ----------
    paths
        Files and directories.
    conditions
        Select operators.
    follow_links
        Whether to follow symbolic links below `paths`.
    flat
        Whether to take only files directly in `paths`, and put all at the top.

    Raises
    ------
    ValueError
        If two directories have one name.
    NoDumpError
        If there is nothing to convert.
    OSError
        If a path does not exist or is not readable.
    """
    sources = []
    skipped: Counter[str] = Counter()
    taken: set[str] = set()
    for path in paths:
        text = os.fsdecode(path)
        is_directory = Path(text).is_dir()
        name = ""
        if is_directory and len(paths) > 1 and not flat:
            name = Path(os.path.abspath(text)).name  # noqa: PTH100 (".." has a name)
            if name in taken:
                raise ValueError(
                    f"two of the directories are called {name!r}: convert one at a time"
                )
            taken.add(name)
        try:
            dump = open_dump(path, follow_links=follow_links)
        except NoDumpError:
            if len(paths) == 1:
                raise
            continue
        skipped.update(dump.skipped)
        selected: Sequence[Operator] = dump.select(**conditions) if conditions else dump
        source = Source(selected, text if is_directory else os.path.dirname(text), Path(name))  # noqa: PTH120
        if flat:
            top = [op for op in selected if source.directory_of(op) == Path()]
            source = Source(top, source.root, source.below)
        sources.append(source)
    if not any(len(source.operators) for source in sources):
        raise no_dump_error(paths, skipped, selected=bool(conditions))
    return sources, skipped
