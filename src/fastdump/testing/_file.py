"""A file of a dump on disk: its directory is made, and a name that is too long becomes a number."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import blake2b
from io import BufferedWriter
from pathlib import Path

_NAME_MAX = 255  # bytes; Linux file systems


def write_file(
    path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview], *, append: bool = False
) -> Path:
    """Write `chunks` to a file, or to its end; return the path under which it is kept.

    A name longer than file systems allow becomes digits, and ``mapping.csv`` beside the file gets
    a row. As in the vendor's table a name is not quoted, and a dump that is written again is noted
    again.
    """
    wanted = Path(path)
    name = os.fsencode(wanted.name)
    stored = wanted
    if len(name) > _NAME_MAX:
        # The vendor's number is a hash too; which one, no reader can tell.
        key = int.from_bytes(blake2b(name, digest_size=8).digest(), "little")
        stored = wanted.with_name(str(key))
    with _opened(stored, "ab" if append else "wb") as file:
        for chunk in chunks:
            file.write(chunk)
    if stored != wanted:
        with stored.with_name("mapping.csv").open("ab") as table:
            table.write(b"%s,%s\n" % (stored.name.encode(), name))
    return stored


def _opened(path: Path, mode: str) -> BufferedWriter:
    try:
        return path.open(mode)  # type: ignore[return-value]
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open(mode)  # type: ignore[return-value]
