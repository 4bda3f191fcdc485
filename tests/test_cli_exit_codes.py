"""Exit codes: what each command returns for each state of what it reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import _core, testing
from fastdump._cli import main
from fastdump._cli.unread import SKIPPED_UNREAD
from fastdump.testing import TensorSpec

START = 1_700_000_000_000_000
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
THERE = TensorSpec(X, address=0x1000)

STATES: dict[str, list[Any]] = {
    "ok": [THERE],
    "absent": [THERE, TensorSpec(b"", dtype="FLOAT", shape=X.shape, size=X.nbytes)],
    "size_mismatch": [TensorSpec(np.append(X, X), shape=X.shape)],
    "unsupported": [TensorSpec(b"words", dtype="STRING", shape=(1,))],
    "truncated": [THERE],
    "malformed": [THERE],
}


def write(directory: Path, op_name: str, outputs: list[Any], *, at: int) -> Path:
    name = testing.dump_name("Add", op_name, task_id=1, stream_id=3, timestamp=START + at)
    return testing.write_dump(directory / name, op_name=op_name, outputs=outputs)


def write_state(directory: Path, op_name: str, state: str, *, at: int) -> Path:
    """Write an operator of which a tensor, or the file, has a status."""
    path = write(directory, op_name, STATES[state], at=at)
    if state == "truncated":
        path.write_bytes(path.read_bytes()[:-8])
    elif state == "malformed":
        path.write_bytes(b"\xff" * 64)
    return path


def dump_of(root: Path, state: str) -> Path:
    """Return a dump of two operators, of which the second has a tensor, or a file, in a state."""
    write(root, "first", [THERE], at=1)
    return write_state(root, "second", state, at=2).parent


def of_dump(*command: str) -> Callable[[Path, str], list[str]]:
    return lambda root, state: [*command, str(dump_of(root / "dump", state))]


def of_show(root: Path, state: str) -> list[str]:
    return ["show", str(write_state(root, "second", state, at=2))]


def of_compare(root: Path, state: str) -> list[str]:
    return ["compare", str(dump_of(root / "a", state)), str(dump_of(root / "b", state))]


def of_tables(root: Path, state: str) -> list[str]:
    table = root / "stats.json"
    fastdump.stats(dump_of(root / "dump", state)).write(table)
    return ["compare", str(table), str(table)]


def of_watcher(root: Path, state: str) -> list[str]:
    write(root, "C", STATES[state], at=1)
    write(root, "D", [THERE], at=1)
    write_state(root, "X_To_C", state, at=2)
    write(root, "X_To_D", [THERE], at=2)
    return ["watcher", str(root)]


def of_convert(root: Path, state: str) -> list[str]:
    return ["convert", str(dump_of(root / "dump", state)), str(root / "out")]


CODES = {
    #                    ok  absent  size_mismatch  unsupported  truncated  malformed
    "ls": (of_dump("ls"), 0, 0, 0, 0, 3, 3),
    "stats": (of_dump("stats"), 0, 0, 0, 0, 3, 3),
    "show": (of_show, 0, 0, 0, 0, 3, 2),
    "triage": (of_dump("triage"), 0, 0, 0, 0, 3, 3),
    "compare": (of_compare, 0, 3, 3, 3, 3, 3),
    "compare of tables": (of_tables, 0, 3, 3, 3, 3, 3),
    "watcher": (of_watcher, 0, 3, 0, 0, 3, 3),
    "overflow": (of_dump("overflow"), 0, 0, 0, 0, 0, 0),  # reads records alone
    "convert": (of_convert, 0, 0, 0, 0, 3, 3),
    "config explain": (of_dump("config", "explain"), 0, 0, 0, 0, 3, 3),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", CODES)
def test_the_exit_code_tells_whether_all_was_read(
    name: str, state: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, *codes = CODES[name]
    expected = dict(zip(STATES, codes, strict=True))[state]
    assert main(arguments(tmp_path, state)) == expected, capsys.readouterr()


def table_of(root: Path, **head: Any) -> Path:
    """Return the file of a table of two rows, with this in its head."""
    file = root / "stats.json"
    fastdump.stats(dump_of(root / "dump", "ok"), level="full").write(file)
    file.write_text(json.dumps({**json.loads(file.read_text()), **head}))
    return file


ON_TABLES = (["ls"], ["stats"], ["triage"], ["compare", "{}"])


@pytest.mark.parametrize("command", ON_TABLES, ids=" ".join)
@pytest.mark.parametrize("status", ["ok", "unreadable", "malformed", "truncated", "changed"])
def test_a_table_tells_what_was_not_read(command: list[str], status: str, tmp_path: Path) -> None:
    file = table_of(tmp_path)
    document = json.loads(file.read_text())
    document["rows"][1]["status"] = status
    file.write_text(json.dumps(document))
    arguments = [word.format(file) for word in command]
    assert main([*arguments, str(file)]) == (0 if status == "ok" else 3)


@pytest.mark.parametrize("command", ON_TABLES, ids=" ".join)
@pytest.mark.parametrize("reason", [*sorted(SKIPPED_UNREAD), "text", "symbolic link"])
def test_a_skipped_file_that_may_be_a_dump_was_not_read(
    command: list[str], reason: str, tmp_path: Path
) -> None:
    file = table_of(tmp_path, skipped={reason: 1})
    arguments = [word.format(file) for word in command]
    assert main([*arguments, str(file)]) == (3 if reason in SKIPPED_UNREAD else 0)


def test_the_reasons_are_those_of_the_core() -> None:
    core = Path(_core.__file__).read_bytes()
    of_core = SKIPPED_UNREAD - {"not finished when interrupted"}
    assert [reason for reason in of_core if reason.encode() not in core] == []


@pytest.mark.parametrize("name", ["ls", "stats", "triage"])
def test_a_damaged_file_that_a_selection_may_have_missed(name: str, tmp_path: Path) -> None:
    dump = dump_of(tmp_path, "malformed")
    assert main([name, str(dump), "--dtype", "float32"]) == 3


def test_what_is_not_shown_does_not_matter(tmp_path: Path) -> None:
    path = write(tmp_path, "a", [THERE, TensorSpec(X, address=0x2000)], at=1)
    path.write_bytes(path.read_bytes()[:-8])
    assert main(["show", str(path)]) == 3
    assert main(["show", f"{path}:output.0"]) == 0
    assert main(["show", f"{path}:output.1"]) == 3


@pytest.mark.parametrize("nbytes", [0, 8, 64, -4])
def test_an_overflow_record_that_is_cut(nbytes: int, tmp_path: Path) -> None:
    name = testing.op_debug_name(task_id=1, stream_id=1, timestamp=START)
    path = testing.write_op_debug(tmp_path / name, testing.op_debug_payload())
    assert main(["overflow", str(tmp_path)]) == 0
    path.write_bytes(path.read_bytes()[:nbytes])
    assert main(["overflow", str(tmp_path)]) == 3


@pytest.mark.parametrize("limits", [[], ["--fail-over", "rmse=1"]])
def test_compare_without_a_partner(limits: list[str], tmp_path: Path) -> None:
    for side in ("a", "b"):
        write(tmp_path / side, "both", [X], at=1)
    sides = [str(tmp_path / side) for side in ("a", "b")]
    assert main(["compare", *sides, *limits]) == 0
    write(tmp_path / "b", "alone", [X], at=2)
    for one, other in (sides, sides[::-1]):
        assert main(["compare", one, other, *limits]) == 3
        assert main(["compare", one, other, *limits, "--allow-unpaired"]) == 0
    write_state(tmp_path / "a", "alone", "truncated", at=2)
    assert main(["compare", *sides, *limits, "--allow-unpaired"]) == 3


@pytest.mark.parametrize("state", ["truncated", "malformed"])
def test_a_finding_outweighs_what_was_not_read(state: str, tmp_path: Path) -> None:
    for side in ("a", "b"):
        dump_of(tmp_path / side, state)
    write(tmp_path / "a", "third", [X], at=3)
    write(tmp_path / "b", "third", [np.full_like(X, np.nan)], at=3)
    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 1
    assert main(["triage", str(tmp_path / "b")]) == 1
    assert main(["stats", str(tmp_path / "b")]) == 3
    # What the configuration promises is not there.
    config = tmp_path / "acl.json"
    new = ["config", "new", "model", "/data", "--mode", "all", "--layer", "missing"]
    assert main([*new, "-o", str(config)]) == 0
    explain = ["config", "explain", str(tmp_path / "b"), "--config", str(config)]
    assert main(explain) == 1


def test_sizes_of_a_damaged_dump(tmp_path: Path) -> None:
    config = tmp_path / "acl.json"
    assert main(["config", "new", "model", "/data", "-o", str(config)]) == 0
    like = ["config", "explain", str(config), "--like"]
    assert main([*like, str(dump_of(tmp_path / "ok", "ok"))]) == 0
    assert main([*like, str(dump_of(tmp_path / "malformed", "malformed"))]) == 3


def test_commands_that_read_no_tensor(tmp_path: Path) -> None:
    assert main(["info"]) == 0
    assert main(["demo", str(tmp_path / "demo"), "--kind", "overflow"]) == 0
    assert main(["demo", str(tmp_path / "demo")]) == 2, "it is not empty"
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    assert main(["config", "new", "overflow", "/data", "-o", str(good)]) == 0
    bad.write_text("{")
    missing = str(tmp_path / "missing.json")
    assert main(["config", "check", str(good)]) == 0
    assert main(["config", "check", str(good), missing]) == 3
    assert main(["config", "check", str(bad), missing]) == 1
    assert main(["config", "check", missing]) == 2
    assert main(["config", "explain", str(bad)]) == 1
    assert main(["config", "new", "watcher", "/data"]) == 2
