"""Commands over a directory in which other processes truncate, rewrite, replace, grow, remove, lock
and restore files all the time: ``make torture MINUTES=10``.

What each file holds tells which file it is and which of its generations: all elements are one
number, and how many there are follows from it. So any mixture of two files, or of two generations
of one, shows. The tally at the end says how often each command was run, and what it did wrong.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from faulty_commands import Case, Ended, FaultyCommands

from fastdump import testing

N_FILES = 16
N_CHANGERS = 2
SIZES = (96, 4_096, 70_000, 300_000)  # elements
GENERATIONS = 1000  # numbers of a file; float32 has all of them exactly
TIME = 1_700_000_000_000_000
ENDED_WELL = {0, 1, 2, 3}


def file_name(i: int) -> str:
    return testing.dump_name("Add", f"op{i}", task_id=i, stream_id=1, timestamp=TIME + i)


def value_of(i: int, generation: int) -> float:
    return float((i + 1) * GENERATIONS + generation % GENERATIONS)


def size_of(value: float) -> int:
    i, generation = divmod(int(value), GENERATIONS)
    return SIZES[(i - 1 + generation) % len(SIZES)]


def write(path: Path, i: int, generation: int) -> None:
    """One file of the directory; the header's length changes from one generation to the next."""
    value = value_of(i, generation)
    array = np.full((2, size_of(value) // 2), value, np.float32)
    testing.write_dump(path, op_name="y" * (1 + generation % 7), outputs=[array])


class Changer:
    """Changes some of the files, forever."""

    def __init__(self, directory: Path, number: int, seed: int) -> None:
        self._directory = directory
        self._scratch = directory.parent / f"scratch{number}"
        self._files = range(number, N_FILES, N_CHANGERS)
        self._generation = 0
        self._random = random.Random(seed * 100 + number)
        self._actions = (
            *[self._replace] * 6,
            *[self._rewrite] * 4,
            *[self._truncate] * 4,
            *[self._grow] * 2,
            self._remove,
            self._lock,
            self._swap_for_a_fifo,
        )

    def run(self) -> None:
        while True:
            i = self._random.choice(self._files)
            self._generation += 1
            with suppress(OSError):
                self._random.choice(self._actions)(i, self._directory / file_name(i))
            # Commands must see some files whole, too.
            time.sleep(self._random.random() * 0.01)

    def _replace(self, i: int, path: Path) -> None:
        write(self._scratch, i, self._generation)
        self._scratch.replace(path)

    def _rewrite(self, i: int, path: Path) -> None:
        write(self._scratch, i, self._generation)
        content = self._scratch.read_bytes()
        with path.open("r+b") as file:  # never empty meanwhile
            file.write(content)
            file.truncate()

    def _truncate(self, i: int, path: Path) -> None:
        os.truncate(path, self._random.randrange(path.stat().st_size + 1))

    def _grow(self, i: int, path: Path) -> None:
        # A file that was cut would become a mixture on the disk, for ever.
        self._replace(i, path)
        with path.open("ab") as file:
            file.write(b"\1" * self._random.randrange(1, 10_000))

    def _remove(self, i: int, path: Path) -> None:
        path.unlink()
        self._replace(i, path)

    def _lock(self, i: int, path: Path) -> None:
        path.chmod(0)
        time.sleep(0.002)
        path.chmod(0o644)

    def _swap_for_a_fifo(self, i: int, path: Path) -> None:
        self._scratch.unlink(missing_ok=True)
        os.mkfifo(self._scratch)
        self._scratch.replace(path)
        time.sleep(0.002)
        self._replace(i, path)


def why_wrong(path: str, count: int, largest: float, smallest: float) -> str | None:
    """What is wrong with the numbers of one tensor."""
    if largest != smallest:
        return "a mixture of numbers"
    if f".op{int(largest) // GENERATIONS - 1}." not in path:
        return "numbers of another file"
    if count != size_of(largest):
        return "a number of elements of another generation"
    return None


def wrong_in_stats(document: dict[str, Any]) -> Iterator[str]:
    for row in document["rows"]:
        if row["status"] == "ok" and row["max"] is not None:
            if why := why_wrong(row["path"], row["count"], row["max"], row["min"]):
                yield why
        elif row["status"] != "ok" and not row["note"]:
            yield "a status without a note"


def wrong_in_show(document: dict[str, Any]) -> Iterator[str]:
    for tensor in document["tensors"]:
        found = tensor["statistics"]
        if tensor["status"] != "ok" or found is None or found["max"] is None:
            continue
        if why := why_wrong(document["path"], found["count"], found["max"], found["min"]):
            yield why
        values = tensor["elements"]["values"] if tensor["elements"] else []
        if any(value not in (found["max"], None) for value in values):
            yield "elements of another generation than the statistics"


def wrong_in_compare(document: dict[str, Any]) -> Iterator[str]:
    for row in document["rows"]:
        if row["status"] != "ok" or row["max_a"] is None:
            continue
        for side in ("a", "b"):
            if row[f"max_{side}"] != row[f"min_{side}"]:
                yield "a mixture of numbers"
            elif why := why_wrong(
                row[f"path_{side}"], row["count"], row[f"max_{side}"], row[f"min_{side}"]
            ):
                yield why


def wrong_in_arrays(directory: Path) -> Iterator[str]:
    for path in directory.rglob("*"):
        if path.name.endswith(".part"):
            yield "a file left behind"
        elif path.suffix == ".npy":
            array = np.load(path)
            # What there is of a tensor that was cut is of one dimension.
            if array.ndim == 2 and (
                why := why_wrong(path.name, array.size, float(array.max()), float(array.min()))
            ):
                yield why


class Bench:
    """Runs one command after another, and counts what each did wrong."""

    def __init__(self, root: Path, commands: FaultyCommands, seed: int) -> None:
        self._live = root / "live"
        self._still = root / "still"
        self._out = root / "out"
        self._commands = commands
        self._random = random.Random(seed)
        self.runs: Counter[str] = Counter()
        self.wrong: Counter[tuple[str, str]] = Counter()

    def run_one(self) -> None:
        live, still, out = str(self._live), str(self._still), str(self._out)
        file = str(self._live / file_name(self._random.randrange(N_FILES)))
        name, *arguments = self._random.choice(
            (
                ("stats", live, "--json", "-n", "0"),
                ("stats --engine read", live, "--json", "-n", "0", "--engine", "read"),
                ("stats --engine mmap", live, "--json", "-n", "0", "--engine", "mmap"),
                ("stats -o", live, "-o", f"{out}/table.csv"),
                ("ls", live),
                ("show", file, "--json"),
                ("show of a tensor", f"{file}:output.0", "--json"),
                ("triage", live),
                ("compare", live, still, "--json", "-n", "0"),
                ("compare with itself", live, live, "--json", "-n", "0"),
                ("overflow", live),
                ("watcher", live),
                ("convert", live, out),
            )
        )
        shutil.rmtree(self._out, ignore_errors=True)
        self._out.mkdir()
        ended = self._commands.run(Case((name.split()[0], *arguments)))
        self.runs[name] += 1
        for why in set(self._problems(name, ended)):
            self.wrong[name, why] += 1

    def _problems(self, name: str, ended: Ended) -> Iterator[str]:
        if ended.code == -signal.SIGALRM:
            yield "hangs"
        elif ended.code < 0:
            yield f"ended by {signal.Signals(-ended.code).name}"
        elif ended.code not in ENDED_WELL:
            yield f"exit code {ended.code}"
        if "Traceback" in ended.stderr:
            yield "a traceback: " + ended.stderr.strip().splitlines()[-1][:80]
        elif ended.code == 2 and len(ended.stderr.strip().splitlines()) != 1:
            yield "not one line on stderr"
        if ended.code in ENDED_WELL and ended.stdout.startswith("{"):
            check = {"stats": wrong_in_stats, "show": wrong_in_show, "compare": wrong_in_compare}
            yield from check[name.split()[0]](json.loads(ended.stdout))
        if name == "convert":
            yield from wrong_in_arrays(self._out)


def report(bench: Bench) -> int:
    for name, n in sorted(bench.runs.items()):
        print(f"{name:24} {n:6} runs")
        for (of, why), n_wrong in sorted(bench.wrong.items()):
            if of == name:
                print(f"    {n_wrong:6} {why}")
    return 1 if bench.wrong else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make torture")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for place in ("live", "still"):
            (root / place).mkdir()
            for i in range(N_FILES):
                write(root / place / file_name(i), i, 0)
        changers = [
            multiprocessing.Process(
                target=Changer(root / "live", number, options.seed).run, daemon=True
            )
            for number in range(N_CHANGERS)
        ]
        for changer in changers:
            changer.start()
        end = time.monotonic() + options.minutes * 60
        with FaultyCommands(root) as commands:
            bench = Bench(root, commands, options.seed)
            while time.monotonic() < end:
                bench.run_one()
        for changer in changers:
            changer.terminate()
            changer.join()
        return report(bench)


if __name__ == "__main__":
    sys.exit(main())
