"""Which dump file the names of converted files are made of, where several may get one name."""

from __future__ import annotations

import threading
from pathlib import Path


class Stems:
    """Gives the beginning of names to the first dump file that asks for it; threads may share it.

    Parameters
    ----------
    may_meet
        Whether several dump files may get one name; if not, nothing is noted.
    """

    def __init__(self, *, may_meet: bool) -> None:
        self._lock = threading.Lock()
        self._owners: dict[Path, str] | None = {} if may_meet else None

    def owner(self, directory: Path, stem: str, path: str) -> str:
        """Return the dump file that has a stem in a directory; `path` if no other has."""
        if self._owners is None:
            return path
        with self._lock:
            return self._owners.setdefault(directory / stem, path)
