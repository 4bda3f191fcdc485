"""Compares what the kernels and each file of a scan cost in instructions with committed figures.

A busy machine takes longer, but not more instructions: a jump is the code's doing, or the
compiler's. From the repository's root:

    python -m benchmarks.instruction_counts [--update] callgrind|qemu PROGRAM

where PROGRAM is counted_runs of tests/native. Exits with 1 if a figure has risen by more than 10 %,
or has none to be compared with, or if a committed one is not there any more.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.counted_runs import CountedRun, count_with_callgrind, count_with_qemu

_COMMITTED = Path(__file__).with_suffix(".json")
_TOLERATED = 0.1
# One in so many elements or files, or fewer: what a loop over vectors ends with, or what a scan of
# any files does.
_RARE = 10


@dataclass(frozen=True)
class Figure:
    """Instructions for an element, pair, tensor or file, and for a byte (None: nobody counts)."""

    each: float
    byte: float | None = None


def figures_of(runs: list[CountedRun]) -> dict[str, Figure]:
    """Return figures by name; of two runs that of their difference, which has no fixed costs.

    What else was counted is a figure of its own unless it is rare.
    """
    by_name: dict[str, list[CountedRun]] = {}
    for run in (run for run in runs if run.n != 0):
        by_name.setdefault(run.name, []).append(run)
    figures = {}
    for name, (run, *longer) in by_name.items():
        if not longer:
            figures[name] = Figure(_rounded(run.instructions / run.n))
            continue
        n = longer[0].n - run.n
        nbytes = longer[0].nbytes - run.nbytes
        instructions = longer[0].instructions - run.instructions
        byte = _rounded(instructions / nbytes) if nbytes else None
        figures[name] = Figure(_rounded(instructions / n), byte)
        for what, count in longer[0].others.items():
            more = count - run.others[what]
            if more * _RARE > n:
                figures[f"{name}: {what}"] = Figure(_rounded(more / n))
    return figures


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def compare(committed: Mapping[str, float], figures: Mapping[str, Figure]) -> bool:
    """Print a table and what is to be said of it. Return whether nothing became worse."""
    worse: list[str] = []
    better: list[str] = []
    width = max(map(len, (*committed, *figures)))
    print(f"{'instructions':{width}} {'committed':>10} {'now':>10} {'change':>8} {'a byte':>8}")
    for name in {**committed, **figures}:
        before = committed.get(name)
        figure = figures.get(name)
        columns = [name.ljust(width), _cell(before, 10), _cell(figure.each if figure else None, 10)]
        if before is None:
            worse.append(f"{name}: {columns[2].strip()}, and no figure is committed")
        elif figure is None and name.split(": ")[0] in figures:
            better.append(f"{name}: {before:g} -> next to none")
        elif figure is None:
            worse.append(f"{name}: did not run here")
        else:
            change = figure.each / before - 1
            columns += [f"{change:+8.1%}", _cell(figure.byte, 8)]
            if abs(change) > _TOLERATED:
                (worse if change > 0 else better).append(
                    f"{name}: {before:g} -> {figure.each:g}, {change:+.1%}"
                )
        print(" ".join(columns).rstrip())
    if better:
        _print_list("\nLess than before by more than 10 %; renew the figures:", better)
    if worse:
        _print_list("\nNot as good as the committed figures:", worse)
    return not worse


def _cell(value: float | None, width: int) -> str:
    return ("-" if value is None else f"{value:.5g}").rjust(width)


def _print_list(title: str, lines: list[str]) -> None:
    print(title)
    for line in lines:
        print(f"  {line}")


def _flags_of_tiers(program: Path) -> dict[str, str]:
    """Return the options of code generation with which the tiers of this build were compiled."""
    build = program.resolve().parents[2]
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = Path(entry["file"])
        if source.parent.name == "kernels" and source.stem.startswith("tier_"):
            options = [word for word in shlex.split(entry["command"]) if re.match("-[Ofm]", word)]
            flags[source.stem] = " ".join(options)
    return flags


def _major(compiler: str) -> str:
    return compiler.split(".", 1)[0]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.instruction_counts",
        description="Compare instructions with the committed figures.",
    )
    parser.add_argument("--update", action="store_true", help="commit to what is found instead")
    parser.add_argument("tool", choices=("callgrind", "qemu"), help="what counts")
    parser.add_argument("program", type=Path, help="counted_runs of a build")
    arguments = parser.parse_args()
    if arguments.tool == "callgrind" and platform.machine() != "x86_64":
        print(f"The figures of callgrind are for x86_64, and this is {platform.machine()}.")
        return 0

    count = count_with_callgrind if arguments.tool == "callgrind" else count_with_qemu
    compiler, runs = count(arguments.program)
    figures = figures_of(runs)
    flags = _flags_of_tiers(arguments.program)
    all_committed: dict[str, Any] = (
        json.loads(_COMMITTED.read_text()) if _COMMITTED.exists() else {}
    )
    if arguments.update:
        all_committed[arguments.tool] = {
            "compiler": compiler,
            "flags": flags,
            "figures": {name: figure.each for name, figure in figures.items()},
        }
        _COMMITTED.write_text(json.dumps(all_committed, indent=2) + "\n")
        print(f"{len(figures)} figures of {arguments.tool} written to {_COMMITTED.name}")
        return 0

    committed = all_committed[arguments.tool]
    is_as_good = compare(committed["figures"], figures)
    if flags != committed["flags"]:
        print("\nThe committed figures are of a build with other options of the compiler.")
    if _major(compiler) != _major(committed["compiler"]):
        print(
            f"\nThe committed figures are of {committed['compiler']}, these of {compiler}, and no "
            "two compilers make the same code: that figures differ is no failure here."
        )
        return 0
    if not is_as_good:
        target = "instructions" if arguments.tool == "callgrind" else "neon"
        print(f"\nIf that is as it has to be, renew the figures: make {target} ARGS=--update")
    return 0 if is_as_good else 1


if __name__ == "__main__":
    sys.exit(main())
