"""Scans in a process of their own, for what could take the tests' own process down."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

RunPython = Callable[..., str]

# Scans a path and prints rows, reasons and how much memory that took beyond the imports.
SCAN = """
import dataclasses, json, resource, sys
import fastdump

def peak():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

path, address_space, columns, options = sys.argv[1], *map(json.loads, sys.argv[2:])
fastdump.StatsTable, fastdump.stats  # imported now
if address_space:
    try:
        with open("/proc/self/statm") as sizes:
            address_space += int(sizes.read().split()[0]) * resource.getpagesize()
    except OSError:
        pass  # not Linux
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
before = peak()
try:
    table = fastdump.stats(path, **options)
except fastdump.NoDumpError:
    rows, skipped = [], None
else:
    names = columns or [field.name for field in dataclasses.fields(fastdump.StatsRow)]
    rows = [{name: getattr(row, name) for name in names} for row in table]
    skipped = table.skipped
print(json.dumps([rows, skipped, peak() - before]))
"""


class Scanned:
    """What a scan in another process found."""

    def __init__(self, text: str) -> None:
        rows, self.skipped, self.peak_nbytes = json.loads(text)
        self.rows = [SimpleNamespace(**row) for row in rows]

    def of(self, path: str) -> list[SimpleNamespace]:
        return [row for row in self.rows if row.path == path]


def scan(
    run_python: RunPython,
    path: Path,
    *,
    address_space: int = 0,
    columns: Sequence[str] = (),
    **options: Any,
) -> Scanned:
    """Scan `path`, with so much address space beyond that of the imports, if it is given.

    Rows have all columns unless some are named.
    """
    options = {"level": "full", **options}
    arguments = map(json.dumps, (address_space, columns, options))
    return Scanned(run_python(SCAN, path, *arguments))
