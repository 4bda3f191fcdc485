"""fastdump on another instruction-set tier than this process has, in a process of its own.

The tier is chosen when the package is first used, for good. This file is that process's program
too: it runs what it is asked for, line by line, and answers with a line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import fastdump
from fastdump import _core


def names_of_others() -> list[str]:
    """Return the tiers that this CPU can run and that are worse than the one in use."""
    tiers = _core.simd_tiers()
    active = [is_active for _, _, is_active in tiers].index(True)
    return [name for name, usable, _ in tiers[active + 1 :] if usable]


class OtherTier:
    """A process that computes statistics on one tier, on request."""

    def __init__(self, name: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env={**os.environ, "FASTDUMP_SIMD": name},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def stats(self, path: Path, level: str, threads: int) -> None:
        """Call `fastdump.stats` there and wait until it is done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([str(path), level, threads]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if answer != "done\n":
            raise RuntimeError(f"the process of the other tier ended or answered {answer!r}")

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main() -> None:
    for line in sys.stdin:
        path, level, threads = json.loads(line)
        fastdump.stats(path, level=level, threads=threads)
        print("done", flush=True)


if __name__ == "__main__":
    main()
