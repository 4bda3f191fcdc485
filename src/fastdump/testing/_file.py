"""Writes a file of a dump: makes its directory, and replaces a name that is too long by digits."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

_NAME_MAX = 255  # bytes; Linux file systems


def write_file(
    path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview], *, append: bool = False
) -> Path:
    """Write `chunks` to a file, or to its end; return the path under which it is kept.

    A name that is too long for file systems becomes digits, and ``mapping.csv`` beside the file
    gets a row. As in the vendor's table, names are not quoted, and a dump that is written again
    gets another row.
    """
    wanted = Path(path)
    name = os.fsencode(wanted.name)
    stored = wanted
    if len(name) > _NAME_MAX:
        # The vendor's number is a hash too; readers need not know which one.
        key = int.from_bytes(blake2b(name, digest_size=8).digest(), "little")
        stored = wanted.with_name(str(key))
    stored.parent.mkdir(parents=True, exist_ok=True)
    with stored.open("ab" if append else "wb") as file:
        for chunk in chunks:
            file.write(chunk)
    if stored != wanted:
        with stored.with_name("mapping.csv").open("ab") as table:
            table.write(b"%s,%s\n" % (stored.name.encode(), name))
    return stored
