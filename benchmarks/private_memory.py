"""Private memory of a process that computes statistics of a dump; this file is its program too.

Private is what no other process shares: pages of its own, and pages of mapped files that only this
process has mapped, clean or dirty. What the process had after its imports does not count.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from fastdump import StatsTable, stats

_SMAPS = Path("/proc/self/smaps_rollup")
# Only Linux does.
TELLS_PRIVATE_MEMORY = _SMAPS.exists()


@dataclass(frozen=True)
class MemoryOfStats:
    """The most that a call of `fastdump.stats` added to its process, and what it returned."""

    nbytes: int
    n_rows: int
    n_elements: int
    table_nbytes: int


def memory_of_stats(path: Path, engine: str, threads: int) -> MemoryOfStats:
    """Compute statistics in a process of its own."""
    command = [sys.executable, __file__, str(path), engine, str(threads)]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return MemoryOfStats(*map(int, run.stdout.split()))


def _private_nbytes() -> int:
    fields = (line.split() for line in _SMAPS.read_text().splitlines())
    private = ("Private_Clean:", "Private_Dirty:", "Private_Hugetlb:")
    return 1024 * sum(int(words[1]) for words in fields if words[0] in private)


def main() -> None:
    path, engine, threads = sys.argv[1:]
    before = _private_nbytes()
    sizes = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.001):
            sizes.append(_private_nbytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    table: StatsTable = stats(path, engine=engine, threads=int(threads))  # type: ignore[arg-type]
    sizes.append(_private_nbytes())
    ended.set()
    watcher.join()
    table_nbytes = sum(table.batch.column(name).nbytes for name in table.columns)
    print(max(sizes) - before, len(table), int(table["count"].sum()), table_nbytes)


if __name__ == "__main__":
    main()
