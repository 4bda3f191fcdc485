"""`fastdump watcher`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import testing
from fastdump._cli import main
from fastdump.demo import write_watcher_demo

START = 1_700_000_000_000_000
A = np.arange(8, dtype=np.float32)


def write(directory: Path, op_name: str, array: Any, *, at: int = 0, io: str = "outputs") -> Path:
    name = testing.dump_name("Add", op_name, task_id=1, stream_id=3, timestamp=START + at)
    tensors: dict[str, Any] = {io: [array]}
    return testing.write_dump(directory / name, op_name=op_name, **tensors)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["watcher", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def test_what_is_said_of_the_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo = write_watcher_demo(tmp_path)
    code, answer, err = run(capsys, tmp_path)
    assert (code, err) == (1, "")
    headline, *facts = answer.splitlines()
    assert len(facts) < 8
    where = f"rank {demo.rank}, step {demo.step}"
    assert headline == f"{where}: output.0 of layer 1, Add_mlp was overwritten"
    assert f"  changed after  {demo.culprit}" in facts
    code, out, err = run(capsys, tmp_path, "-v")
    assert (code, err) == (1, "")
    again, checked, table = out.rstrip().split("\n\n")
    assert f"{again}\n" == answer
    note, counts = checked.splitlines()
    assert "dump_scene=watcher" in note
    assert " same, " in counts
    header, row = table.splitlines()
    assert header.split()[:3] == ["rank", "step", "op_name"]
    assert demo.culprit in row
    assert "16 whole rows (16:32)" in row


def test_no_change_is_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "C", A)
    write(tmp_path, "X_To_C", A, at=1)
    code, out, _ = run(capsys, tmp_path)
    assert code == 0
    assert out == "no change: 1 recording equal, byte for byte, to what was written\n"
    assert run(capsys, tmp_path, "-v")[1].endswith("\n1 same\n")


def test_what_cannot_be_compared_is_exit_code_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "C", A)
    write(tmp_path, "X_To_C", A, at=1)
    path = write(tmp_path, "Y_To_C", A, at=2)
    path.write_bytes(path.read_bytes()[:-1])
    code, out, _ = run(capsys, tmp_path)
    assert code == 3
    assert out.splitlines()[1] == "1 tensor not compared: truncated"
    code, out, _ = run(capsys, tmp_path, "-v")
    assert code == 3
    assert f"{path.name}: output.0 is truncated: what was seen: the file ends after" in out
    write(tmp_path, "Z_To_C", A + 1, at=3)
    assert run(capsys, tmp_path)[0] == 1


def test_nothing_to_read_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("fastdump: error: no dump file in ")


def test_the_check_by_addresses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def placed(array: Any, address: int) -> testing.TensorSpec:
        return testing.TensorSpec(array, address=address)

    write(tmp_path, "W", placed(A, 0x100))
    write(tmp_path, "S", placed(A[:1] + 9, 0x10C), at=1)
    damaged = A.copy()
    damaged[3] = 9
    write(tmp_path, "R", placed(damaged, 0x100), at=2, io="inputs")
    code, out, _ = run(capsys, tmp_path)
    assert code == 1
    assert out.startswith("output.0 of W may have been overwritten\n")
    assert "\n  who       Add S, whose output.0 has the bytes found there\n" in out
    _, out, _ = run(capsys, tmp_path, "-v")
    assert "output.0 of Add W: bytes 12 to 15 by Add S, whose output.0 has the bytes" in out
    # What is no watcher dump has nothing for the other check.
    code, out, err = run(capsys, tmp_path, "--check", "watcher")
    assert (code, out.splitlines()[0]) == (
        2,
        "nothing could be compared: no recording has an output to compare with",
    )
    assert err == "fastdump: error: nothing was compared\n"


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "C", A)
    write(tmp_path, "X_To_C", A + 1, at=1)
    _, out, _ = run(capsys, tmp_path, "--json")
    found = json.loads(out)
    assert list(found) == [
        *("fastdump", "question", "sentence", "clean", "findings", "notes"),
        *("check", "counts", "comparisons", "skipped", "pattern"),
    ]
    document = json.dumps(fastdump.watcher(tmp_path).to_dict())
    assert found == {"fastdump": fastdump.__version__, **json.loads(document)}
    assert (found["fastdump"], found["check"]) == (fastdump.__version__, "watcher")
    assert found["counts"] == {"changed": 1}
    (comparison,) = found["comparisons"]
    assert found["findings"] == [comparison]
    assert list(comparison) == [
        *("rank", "time", "device", "model", "model_id", "step", "op_type", "op_name", "output"),
        *("dtype", "shape", "nbytes", "address", "path", "seen_by", "seen_as", "seen_path"),
        *("seen_timestamp", "seen_task_id", "seen_stream_id", "status", "note", "is_first"),
        *("same_until", "change", "suspects"),
    ]
    assert comparison["shape"] == [8]
    assert comparison["change"] == {
        "n_bytes": int((A.view(np.uint8) != (A + 1).view(np.uint8)).sum()),
        "first_byte": int(np.flatnonzero(A.view(np.uint8) != (A + 1).view(np.uint8))[0]),
        "last_byte": int(np.flatnonzero(A.view(np.uint8) != (A + 1).view(np.uint8))[-1]),
        "n_elements": 8,
        "first_element": 0,
        "last_element": 7,
        "words": "all elements",
        "place": "[:]",
    }


def test_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(25):
        write(tmp_path, f"C{i}", A, at=i)
        write(tmp_path, f"X_To_C{i}", A + 1, at=100 + i)
        write(tmp_path, f"X_To_D{i}", A + 1, at=100 + i)
    for options, n_rows in ((("-v",), 20), (("-n", 3), 3), (("-n", 0), 25)):
        _, out, _ = run(capsys, tmp_path, *options)
        assert sum("X " in line and "all elements" in line for line in out.splitlines()[1:]) == (
            n_rows
        )
        assert out.count("is no_own_file: ") == n_rows
        assert (f"{n_rows:,} of 25 changes" in out) == (n_rows < 25)


def test_names_are_printed_with_control_characters_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "C\x1b[2J", testing.TensorSpec(A, address=0x100))
    write(tmp_path, "W\x1b[2J", testing.TensorSpec(A + 1, address=0x100), at=1)
    seen = testing.TensorSpec(A + 1, address=0x100)
    write(tmp_path, "X\u202e_To_C\x1b[2J", seen, at=1)
    write(tmp_path, "X\u202e_To_D\x1b[2J", A + 1, at=1)
    _, out, _ = run(capsys, tmp_path, "-v")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "C\\x1b[2J" in out
    assert "by Add W\\x1b[2J, whose output.0" in out
    _, out, _ = run(capsys, tmp_path, "--json")
    assert out.isascii()
