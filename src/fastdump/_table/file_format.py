"""Formats of the files of tables, by the suffix of the file's name."""

from __future__ import annotations

import os

SUFFIXES = (".csv", ".json", ".arrow", ".parquet")


def format_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of `path` if it is that of a table; raise ValueError otherwise."""
    suffix = os.path.splitext(path)[1].lower()  # noqa: PTH122 (pathlib is slow to import)
    if suffix not in SUFFIXES:
        raise ValueError(f"{os.fspath(path)!r} does not end in one of {', '.join(SUFFIXES)}")
    return suffix
