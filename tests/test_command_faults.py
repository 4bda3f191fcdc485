"""Calls to the system that fail while a command runs: each command ends with an exit code that says
so, in a line, leaves nothing half written behind, and prints no number that it could not read.

`FASTDUMP_ALL_FAULTS=1` tries every call of every command with every error: `make torture`.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from faulty_commands import Case, Ended, FaultyCommands, build_shim, c_compiler, faults
from small_dumps import SmallDump

from fastdump import demo

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the shim replaces functions of glibc"),
    pytest.mark.skipif(c_compiler() is None, reason="no C compiler for the shim"),
]

ALL = os.environ.get("FASTDUMP_ALL_FAULTS") == "1"
SAMPLES = 6  # of each command
ERRORS = {
    "open": ("EIO", "ESTALE", "EMFILE", "ENOMEM", "EINTR"),
    "read": ("EIO", "ESTALE", "EINTR", "short"),
    "stat": ("EIO", "ESTALE", "ENOMEM"),
    "map": ("ENOMEM",),
    "list": ("EIO", "ESTALE"),
    "write": ("EIO", "ENOSPC", "EINTR", "short"),
    "sync": ("EIO",),
    "close": ("EIO", "ENOSPC"),
    "rename": ("EIO", "ENOSPC"),
    "mkdir": ("EIO", "ENOSPC"),
}
# What the caller does again, or goes on with.
HARMLESS = ("EINTR", "short")
ENDED_WELL = {0, 1, 2, 3}
PARTS, PARTS_LOCK = "_fastdump.json", "_fastdump.lock"
TOLD = re.compile(
    "unreadable|cannot be read|could not be read|Input/output error|Stale file handle|"
    "Too many open files|Cannot allocate memory"
)
TIME = 1_700_000_000_000_000_000  # ns, years ago
TIMES = re.compile(r"in [0-9.]+ m?s( \([^)]*\))?|[0-9.]+ m?s")

# {a} and {b} are two runs, {tensor} a file of the first, {table} its statistics, {parts} those of
# two ranks, {acl} a configuration, {out} what commands write to.
COMMANDS = (
    "ls {a}",
    "ls {a} --json",
    "stats {a} --json",
    "stats {a} --engine mmap --level full --logical --json",
    "stats {a} -o {out}/table.csv",
    "stats {a} -o {out}/table.arrow",
    "stats {a} -o {out}/parts/",
    "stats {a} --since {table} --json",
    "stats {table} --json",
    "show {tensor}",
    "show {tensor}:output.0 --json",
    "triage {a}",
    "triage {table}",
    "follow {a} --settle 0 --until-idle 0 -o {out}/run.arrow",
    "compare {a} {b} --json",
    "compare {a} {b} -o {out}/pairs.csv",
    "overflow {overflow}",
    "watcher {watcher}",
    "convert {a} {out}/npy",
    "convert {a} {out}/tensors --type safetensors",
    "merge {out}/all.arrow {parts}",
    "export openmetrics {a} -o {out}/run.prom",
    "report {a} -o {out}/page.html",
    "config check {acl}",
)


@dataclass(frozen=True)
class Bench:
    """Where commands run, and how they end if nothing fails."""

    commands: FaultyCommands
    places: dict[str, str]

    @property
    def out(self) -> Path:
        return Path(self.places["out"])

    def run(self, command: str, fault: str = "") -> tuple[Ended, dict[str, bytes]]:
        """Run a command with an empty `out`; also returns what it has left there."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        arguments = tuple(word.format(**self.places) for word in command.split())
        ended = self.commands.run(Case(arguments, fault))
        files = {
            str(path.relative_to(self.out)): path.read_bytes()
            for path in sorted(self.out.rglob("*"))
            if path.is_file()
        }
        return ended, files


def write_run(root: Path, factor: float) -> Path:
    run = SmallDump(root)
    x = np.arange(1, 41, dtype=np.float32)
    y = x * factor
    run.op("MatMul layer1/matmul", [x, x.astype(np.float16)], [y])
    path = run.op("Add layer1/add", [y, x], [np.where(x == 7, np.nan, y)])
    run.op("Softmax layer1/softmax", [y], [np.zeros((1, 2, 16, 16), np.float32)])
    run.op("Add layer2/add", [y], [y], csv=True)
    # More than the first read takes.
    run.op("Cast layer2/cast", [np.full(70_000, factor, np.float32)], [y.astype(np.int8)])
    (path.parent / "notes.txt").write_text("not a dump")
    return path


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    root = tmp_path_factory.mktemp("faults")
    places = {name: str(root / name) for name in ("a", "b", "overflow", "watcher", "out")}
    tensor = write_run(root / "a", 2.0)
    write_run(root / "b", 2.5)
    places["tensor"] = str(tensor)
    demo.write_overflow_demo(root / "overflow")
    demo.write_watcher_demo(root / "watcher")
    places["acl"] = str(root / "tables" / "acl.json")
    places["table"] = str(root / "tables" / "a.arrow")
    places["parts"] = str(root / "tables" / "parts")
    for rank in range(2):
        (root / "tables" / "parts" / f"rank={rank}").mkdir(parents=True)
    Path(places["acl"]).write_text('{"dump": {"dump_path": "/tmp", "dump_mode": "all"}}')
    # Tables tell the states of directories whose names have not changed for a minute; in the first
    # minute of a long run they would tell none.
    for directory, _, _ in os.walk(root):
        os.utime(directory, ns=(TIME, TIME))
    under = [root / name for name in ("a", "b", "overflow", "watcher", "tables", "out", "mapped")]
    with FaultyCommands(root, build_shim(root), under) as commands:
        commands.run(Case(("stats", places["a"], "-o", places["table"])))
        for rank in range(2):
            part = f"{places['parts']}/rank={rank}/part.arrow"
            commands.run(Case(("stats", places["a"], "--as-rank", str(rank), "-o", part)))
        yield Bench(commands, places)


def comparable(text: str) -> str:
    return TIMES.sub("TOOK", text)


def without_provenance(files: dict[str, bytes]) -> dict[str, object]:
    """The files, of tables their rows and notes; the parts of one scan as one table.

    Provenance only saves work later: a directory whose state is not known is listed again then.
    Parts have names by chance, and a page of HTML has times and numbers by chance.
    """
    found: dict[str, object] = {}
    parts = []
    for name, content in files.items():
        if name.endswith(".arrow"):
            table = pa.ipc.open_file(content).read_all()
            notes = dict(table.schema.metadata)
            for key in (b"fastdump.provenance", b"fastdump.checksum"):
                notes.pop(key, None)
            found[name] = (table.replace_schema_metadata(notes).to_pylist(), notes)
        elif name.endswith(".parquet"):
            parts += pq.read_table(pa.BufferReader(content)).to_pylist()
        elif name.endswith(".html"):
            found[name] = content.rstrip().endswith(b"</html>")
        elif not name.endswith((PARTS, PARTS_LOCK)):
            found[name] = content
    if parts:
        found["parts"] = sorted(parts, key=repr)
    return found


def rows_of(text: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of a document that has some, by the tensor that each is of.

    Without what other files give, which may not have been read: `expected_error`, and the number of
    an execution among those of the other run.
    """
    rows = json.loads(text).get("rows")
    if not isinstance(rows, list):
        return {}
    for row in rows:
        for name in ("expected_error", "execution_b"):
            row.pop(name, None)
    names = ("path", "path_a", "path_b", "io", "io_b", "index", "index_b")
    return {tuple(row.get(name) for name in names): row for row in rows}


def problems(
    fault: str, clean: Ended, kept: dict[str, bytes], ended: Ended, files: dict[str, bytes]
) -> Iterator[str]:
    """What a command should not have done."""
    if ended.code not in ENDED_WELL:
        yield f"exit code {ended.code}"
        return
    if "Traceback" in ended.stderr:
        yield "a traceback"
    if ended.code == 2 and len(ended.stderr.strip().splitlines()) != 1:
        yield "not one line on stderr"
    for name in files:
        if ".part" in name or ".tmp" in name or name.startswith("."):
            yield f"left behind: {name}"
        # What is written whole is what it would have been, or lacks what could not be read.
        elif name.endswith(".npy") and files[name] != kept.get(name):
            yield f"another file: {name}"
    same_text = comparable(ended.stdout) == comparable(clean.stdout)
    same_files = without_provenance(files) == without_provenance(kept)
    if fault.endswith(HARMLESS):
        if ended.code != clean.code or not (same_text and same_files):
            yield "not the same as without an interruption"
    # Findings go before what could not be read, and what is no dump is no failure: then words tell.
    elif (
        ended.code < 2
        and not (same_text and same_files)
        and not TOLD.search(ended.stdout + ended.stderr)
    ):
        yield "something is missing, and nothing tells"
    if ended.code != 2 and clean.stdout.startswith("{"):
        expected = rows_of(clean.stdout)
        for key, row in rows_of(ended.stdout).items():
            if row != expected.get(key) and row.get("status", "ok") == "ok":
                yield f"another row: {row}"


def chosen(all_faults: list[str]) -> list[str]:
    """All, or some of every call from its first to its last."""
    if ALL:
        return all_faults
    step = max(1, len(all_faults) // SAMPLES)
    return list(itertools.islice(all_faults, step // 2, None, step))


@pytest.mark.parametrize("command", COMMANDS)
def test_calls_that_fail(bench: Bench, command: str) -> None:
    clean, kept = bench.run(command)
    assert clean.code in (0, 1), clean.stderr
    found = {}
    for fault in chosen(list(faults(clean.counts, ERRORS))):
        ended, files = bench.run(command, fault)
        if why := list(problems(fault, clean, kept, ended, files)):
            found[fault] = (why, ended.code, ended.stderr[-500:])
    assert not found


def test_calls_that_are_interrupted_again_and_again(bench: Bench) -> None:
    for command in COMMANDS:
        clean, kept = bench.run(command)
        for call in ("open", "read", "write"):
            for error in HARMLESS:
                if error not in ERRORS[call] or clean.counts[call] < 2:
                    continue
                fault = f"{call}:every:2:{error}"
                ended, files = bench.run(command, fault)
                assert not list(problems(fault, clean, kept, ended, files)), (command, fault)


def test_the_shim_fails_what_it_is_told_to(bench: Bench) -> None:
    ended, _ = bench.run("stats {a} --json", "read:1:EIO")
    assert ended.code == 3
    assert "Input/output error" in ended.stdout


@pytest.mark.parametrize("command", ["ls {a}", "stats {a}", "triage {b}", "convert {b} {out}"])
def test_a_directory_that_cannot_be_listed_is_not_a_success(bench: Bench, command: str) -> None:
    clean, _ = bench.run(command)
    ended, _ = bench.run(command, f"list:{clean.counts['list'] - 2}:EIO")
    # The file system decides which directory that is: what triage finds may be in another one,
    # and a finding outweighs what could not be read.
    assert ended.code == 3 or (command.startswith("triage") and ended.code == clean.code == 1)
    assert "directory that cannot be read: 1" in ended.stdout + ended.stderr


def test_a_mapping_that_cannot_be_read_is_told(bench: Bench) -> None:
    path = write_run(bench.out.parent / "mapped", 2.0)
    path.rename(path.parent / "9134657216587341217")
    (path.parent / "mapping.csv").write_text(f"9134657216587341217,{path.name}\n")
    ended = bench.commands.run(Case(("stats", str(path.parent)), "read:1:EIO"))
    assert ended.code == 3 or TOLD.search(ended.stdout + ended.stderr)
