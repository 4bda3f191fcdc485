"""A program: prints the largest private memory of a process that computes statistics of a dump.

Private is what no other process shares: pages of its own, and pages of mapped files that only this
process has mapped, clean or dirty.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import fastdump


def private_nbytes() -> int:
    """Return the private memory of this process; Linux only."""
    fields = (line.split() for line in Path("/proc/self/smaps_rollup").read_text().splitlines())
    private = ("Private_Clean:", "Private_Dirty:", "Private_Hugetlb:")
    return 1024 * sum(int(words[1]) for words in fields if words[0] in private)


def main() -> None:
    directory, io, threads = sys.argv[1:]
    sizes = [private_nbytes()]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.001):
            sizes.append(private_nbytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    table = fastdump.stats(directory, io=io, threads=int(threads))  # type: ignore[arg-type]
    sizes.append(private_nbytes())
    ended.set()
    watcher.join()
    n_elements = int(table["count"].sum())
    print(max(sizes), n_elements, len(sizes))


if __name__ == "__main__":
    main()
