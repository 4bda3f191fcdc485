"""What a run saved with ``--benchmark-json``: the machine and the rows of the table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Row


@dataclass(frozen=True)
class SavedRun:
    """Lines on the machine, by what they are about, and all rows, in the order of the run."""

    machine: dict[str, str]
    rows: list[Row]


def read_saved_run(path: Path) -> SavedRun:
    """Read what ``make bench-full`` saved."""
    saved = json.loads(path.read_text())
    rows = [
        Row.from_saved(row)
        for benchmark in saved["benchmarks"]
        for row in benchmark["extra_info"].get("rows", ())
    ]
    return SavedRun(saved["machine_info"]["fastdump"], rows)
