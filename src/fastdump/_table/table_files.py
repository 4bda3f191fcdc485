"""Files of tables where a question takes them: one, several, a pattern, a directory of parts."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, cast
from urllib.parse import unquote

from fastdump._arguments import PathLike, is_regular_file, paths_of
from fastdump._names import names_in
from fastdump._table.concat import concat
from fastdump._table.file_format import SUFFIXES, format_suffix
from fastdump._table.manifest import NAME, NOT_FINISHED, Manifest
from fastdump._table.schema import COLUMN
from fastdump._table.stats_table import StatsTable, place
from fastdump.errors import DumpFormatError

_PART_SUFFIXES = (".parquet", ".arrow")
"""The files of a directory that are parts of a table. Of others, dumps have some too."""

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

Paths: TypeAlias = "PathLike | Iterable[PathLike]"


def read_stats(path: Paths, *, root: PathLike | None = None) -> StatsTable:
    """Read a table that `StatsTable.write` has written, or the parts of one.

    CSV, JSON and Parquet files of other programs can be read too if their columns are named and
    typed as in `StatsRow`, in any order. Of those, ``status``, ``path`` and ``source`` must be
    there; others that are missing become null.

    Parameters
    ----------
    path
        A file, whose suffix says the format: ``.csv``, ``.json``, ``.arrow`` or ``.parquet``. Or
        several, a pattern like ``"parts/*.parquet"``, or a directory: all ``.parquet`` and
        ``.arrow`` files below it, which `concat` joins. Directories like ``rank=3/step=0`` tell
        what the columns of these names do not.
    root
        The directory that paths in the table are relative to, if the dump was moved since the table
        was made, or if the format does not keep it (CSV). Default: from the file.

    Raises
    ------
    ValueError
        If the suffix is another one, or parts cannot be joined.
    DumpFormatError
        If a file is not such a table, or a directory has none. The message names the file, the
        place and what is wrong.
    MissingDependencyError
        If arro3-io is not installed, for ``.arrow`` and ``.parquet``.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> fastdump.read_stats("run1.csv").worst(10)  # doctest: +SKIP
    >>> fastdump.read_stats("parts/*.parquet")  # doctest: +SKIP
    """
    given = _expanded(paths_of(path))
    # One part at a time is in memory beside the whole.
    table = concat(_read_part(file, root) for one in given for file in _files_at(one))
    n_left = sum(map(_n_left_at, given))
    if not n_left:
        return table
    # A table of a scan that was ended must not pass for a whole one.
    skipped = Counter(table.skipped) + Counter({NOT_FINISHED: n_left})
    return table.saying(skipped=dict(sorted(skipped.items())))


def table_or_paths(
    what: PathLike | StatsTable | Iterable[PathLike | StatsTable],
) -> StatsTable | list[PathLike]:
    """Return the table that was given, itself, in files or in parts; or the paths of a dump.

    Raises
    ------
    ValueError
        If some of several are tables, and others are not, or they cannot be joined.
    DumpFormatError
        If the file of a table is damaged.
    MissingDependencyError, OSError
        If it cannot be read.
    """
    if isinstance(what, StatsTable):
        return what
    given = _expanded(paths_of(cast("Paths", what)))
    # Only the first says whether to look into directories: it takes a call to the system for each.
    first = _table_of(given[0], may_be_parts=True)
    if first is not None and len(given) == 1:
        return first
    if first is not None:
        tables = _and_others(first, given)
        del first  # only the iterator has it, and lets go of it
        return concat(tables)
    for path in given[1:]:
        if _table_of(path, may_be_parts=False) is not None:
            raise _mixed(path, given[0])
    return given


def _and_others(first: StatsTable, given: Sequence[PathLike | StatsTable]) -> Iterator[StatsTable]:
    """Yield the table that is given first, and those that are read of the other paths."""
    yield first
    del first
    for path in given[1:]:
        table = _table_of(path, may_be_parts=True)
        if table is None:
            raise _mixed(given[0], path)
        yield table
        del table


def _mixed(table: PathLike | StatsTable, dump: PathLike | StatsTable) -> ValueError:
    return ValueError(
        f"{_shown(table)} is a table and {_shown(dump)} is none: give tables or dumps"
    )


def _table_of(given: PathLike | StatsTable, *, may_be_parts: bool) -> StatsTable | None:
    if isinstance(given, StatsTable):
        return given
    if may_be_parts and _has_only_parts(os.fsdecode(given)):
        return read_stats(given)
    return written_table(given)


def written_table(path: PathLike) -> StatsTable | None:
    """Return the table in a file that `StatsTable.write` wrote; None for any other file.

    Raises
    ------
    DumpFormatError
        If the file has a suffix that only tables have, but is not a table.
    MissingDependencyError, OSError
        As `read_stats`.
    """
    name = os.fsdecode(path)
    try:
        suffix = format_suffix(name)
    except ValueError:
        return None
    if not is_regular_file(name):
        return None
    try:
        return _read_part(name, None)
    except DumpFormatError:
        if suffix == ".csv":
            return None  # the vendor's statistics of a dump are CSV too
        raise


def _expanded(given: Sequence[PathLike]) -> list[PathLike]:
    """Return paths with those that match a pattern in its place, if no file has its name."""
    paths: list[PathLike] = []
    for path in given:
        found: list[str] = []
        if not isinstance(path, StatsTable):
            name = os.fsdecode(path)
            if glob.has_magic(name) and not os.path.lexists(name):
                found = sorted(glob.glob(name, recursive=True))  # noqa: PTH207
        paths += found or [path]
    return paths


def _files_at(path: PathLike) -> list[PathLike]:
    """Return the parts in a directory, or the path of a file."""
    name = os.fsdecode(path)
    if name.endswith(SUFFIXES) or not os.path.isdir(name):  # noqa: PTH112
        return [path]
    found = list(_parts_in(name))
    if not found:
        raise DumpFormatError(f"{name!r} has no file in {' or '.join(_PART_SUFFIXES)}")
    return cast("list[PathLike]", found)


def _n_left_at(path: PathLike) -> int:
    """Return how many files the scan has left that wrote parts to a directory."""
    name = os.fsdecode(path)
    if name.endswith(SUFFIXES) or not os.path.isdir(name):  # noqa: PTH112
        return 0
    manifests = (Manifest.read(above) for above, _ in _walked(name))
    return sum(
        max(manifest.n_left, 1) for manifest in manifests if manifest and not manifest.is_complete
    )


def _parts_in(directory: str) -> Iterator[str]:
    for above, names in _walked(directory):
        if (manifest := Manifest.read(above)) is not None:
            yield from manifest.files(above)
            continue
        for name in names:
            if name.endswith(_PART_SUFFIXES) and not _is_hidden(name):
                yield os.path.join(above, name)  # noqa: PTH118


def _walked(directory: str) -> Iterator[tuple[str, list[str]]]:
    """Yield a directory and those below it in order, each with the names of the files in it.

    What cannot be listed is an error, and so is a link to a directory, which could lead round in
    circles: `os.walk` would leave their parts out without a word.
    """
    left = [directory]
    while left:
        above = left.pop()
        directories, names = names_in(above)
        for name in names:
            if name.endswith(_PART_SUFFIXES) or _is_hidden(name):
                continue
            path = os.path.join(above, name)  # noqa: PTH118
            if os.path.isdir(path):  # noqa: PTH112
                raise ValueError(
                    f"{path!r} is a link to a directory, which is not followed among parts of a "
                    "table: give the directories themselves"
                )
        yield above, names
        below = [name for name in reversed(directories) if not _is_hidden(name)]
        left += [os.path.join(above, name) for name in below]  # noqa: PTH118


def _is_hidden(name: str) -> bool:
    # As Spark, DuckDB and others have it: marks of what is complete, and files being written.
    return name.startswith((".", "_"))


def _has_only_parts(directory: str) -> bool:
    """Tell whether a directory has parts of a table and nothing else, unlike that of a dump."""
    n_parts = 0
    if os.path.lexists(os.path.join(directory, NAME)):  # noqa: PTH118
        return True
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if _is_hidden(entry.name):
                    continue
                if not _may_be_part(entry):
                    return False  # without a look at the rest, of which there may be a million
                n_parts += 1
    except (OSError, ValueError):  # ValueError: a null byte in the name
        return False
    return n_parts > 0


def _may_be_part(entry: os.DirEntry[str]) -> bool:
    return "=" in entry.name if entry.is_dir() else entry.name.endswith(_PART_SUFFIXES)


def _read_part(path: PathLike, root: PathLike | None) -> StatsTable:
    name = os.fsdecode(path)
    table = StatsTable._read(name, **place(root))
    for directory in os.path.dirname(name).split("/"):  # noqa: PTH120
        key, equals, text = directory.partition("=")
        column = COLUMN.get(key) if equals and text != _NO_VALUE else None
        if column is not None and column.type in ("integer", "text"):
            table = table.filled(key, _value(unquote(text), column.type, name))
    return table


def _value(text: str, type: str, name: str) -> int | str:
    if type == "text":
        return text
    if not (text.isdecimal() and text.isascii() and len(text) < 19):
        raise DumpFormatError(f"{name!r}: its directory has {text!r}, expected a number")
    return int(text)


def _shown(given: PathLike | StatsTable) -> str:
    return "a StatsTable" if isinstance(given, StatsTable) else repr(os.fspath(given))
