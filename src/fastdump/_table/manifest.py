"""The manifest of a directory of parts: which files are complete parts of which scan.

Parts get their names when they are complete, and count once the manifest lists them; it is replaced
as a whole. So a scan that was killed at any moment leaves a manifest that is true.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from fastdump._atomic import replacing
from fastdump.errors import DumpFormatError

NAME: Final = "_fastdump.json"
"""The name of the manifest. Programs that read directories of Parquet files pass it over."""

NOT_FINISHED: Final = "not finished when interrupted"
"""Why a table of an interrupted scan lacks files."""

_MAX_NBYTES = 1 << 28
_PART_NAME = re.compile(r"part-[0-9a-f]{16}\.(parquet|arrow)", re.ASCII)


class Manifest(NamedTuple):
    """What a directory of parts holds.

    Attributes
    ----------
    scan
        What was scanned and asked for, as JSON has it.
    parts
        The size in bytes of each part, by name, in the order in which they were written.
    n_left
        How many files were found that no part tells of yet.
    is_complete
        Whether the scan has ended.
    """

    scan: Mapping[str, Any]
    parts: Mapping[str, int]
    n_left: int
    is_complete: bool

    @classmethod
    def read(cls, directory: str) -> Manifest | None:
        """Return the manifest in a directory; None if there is none.

        Raises
        ------
        DumpFormatError
            If it is not one.
        OSError
            If it cannot be read.
        """
        path = os.path.join(directory, NAME)  # noqa: PTH118
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                encoded = file.read(_MAX_NBYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return cls._of(encoded)
        except (ValueError, RecursionError) as error:
            raise DumpFormatError(
                f"{path!r} is no manifest of a scan ({error}): remove the directory to scan anew"
            ) from error

    @classmethod
    def _of(cls, encoded: bytes) -> Manifest:
        if len(encoded) > _MAX_NBYTES:
            raise ValueError("too long")
        said = json.loads(encoded)
        if not isinstance(said, dict):
            raise ValueError("not an object")
        scan, parts = said.get("scan"), said.get("parts")
        n_left, is_complete = said.get("left"), said.get("complete")
        if not isinstance(scan, dict) or not isinstance(parts, dict):
            raise ValueError("scan and parts are missing")
        for name, nbytes in parts.items():
            if not _PART_NAME.fullmatch(name) or type(nbytes) is not int:
                raise ValueError(f"{name!r:.80} is not the name of a part with its size")
        if type(n_left) is not int or n_left < 0 or type(is_complete) is not bool:
            raise ValueError("left and complete are missing")
        return cls(scan, parts, n_left, is_complete)

    def write(self, directory: str) -> None:
        """Put it in the place of the one in a directory."""
        said = {
            "scan": self.scan,
            "parts": self.parts,
            "left": self.n_left,
            "complete": self.is_complete,
        }
        with replacing(Path(directory, NAME)) as file:
            file.write(json.dumps(said, indent=1).encode())

    def files(self, directory: str) -> list[str]:
        """Return the paths of all parts.

        Raises
        ------
        DumpFormatError
            If one is missing or has another size.
        """
        paths = []
        for name, nbytes in self.parts.items():
            path = os.path.join(directory, name)  # noqa: PTH118
            if (why := wrong_size(path, nbytes)) is not None:
                raise DumpFormatError(f"{path!r}: {why}; scan into the directory again to mend it")
            paths.append(path)
        return paths


def wrong_size(path: str, nbytes: int) -> str | None:
    """Return what is wrong with the size of a part; None if nothing is."""
    try:
        found = os.stat(path).st_size  # noqa: PTH116
    except FileNotFoundError:
        return "the part is missing"
    return None if found == nbytes else f"the part has {found:,} bytes, expected {nbytes:,}"


def is_part_name(name: str) -> bool:
    """Tell whether a file has the name of a part of a scan."""
    return _PART_NAME.fullmatch(name) is not None
