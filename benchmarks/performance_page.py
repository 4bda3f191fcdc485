"""A program: puts the table that a run saved into a page, between two comments.

It leaves the rest of the page alone: ``python -m benchmarks.performance_page RESULT.json PAGE.md``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.report import Report
from benchmarks.saved_run import read_saved_run

_BEGIN, _END = "<!-- table: begin -->", "<!-- table: end -->"


def main() -> None:
    result, page = map(Path, sys.argv[1:])
    run = read_saved_run(result)
    machine = [f"{key:<10} {value}" for key, value in run.machine.items()]
    table = "\n".join(["```text", *machine, "", *Report(run.rows).lines(), "```"])
    head, begin, rest = page.read_text().partition(_BEGIN)
    _, end, tail = rest.partition(_END)
    if not (begin and end):
        sys.exit(f"{page} has no lines {_BEGIN} and {_END}, between which the table belongs")
    page.write_text(f"{head}{_BEGIN}\n{table}\n{_END}{tail}")


if __name__ == "__main__":
    main()
