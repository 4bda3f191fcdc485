"""`fastdump overflow`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import testing
from fastdump._cli import main
from fastdump.demo import write_overflow_demo

START = 1_700_000_000_000_000


def write_pair(directory: Path, *, at: int = 0, status: int = 0x20, name: str = "net/Add") -> None:
    core = {"model_id": 1, "task_id": 7, "stream_id": 3, "status": status}
    record = testing.op_debug_name(task_id=59, stream_id=3, timestamp=START + at)
    testing.write_op_debug(directory / record, testing.op_debug_payload(ai_core=core))
    array = np.array([1, np.inf], np.float16)
    file = testing.dump_name("Add", name, task_id=7, stream_id=3, timestamp=START + at)
    testing.write_dump(directory / file, inputs=[array[:1]], outputs=[array], op_name=name)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["overflow", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def document(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    _, out, _ = run(capsys, *arguments, "--json")
    parsed: dict[str, Any] = json.loads(out)
    return parsed


def test_the_answer_comes_first_then_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = write_overflow_demo(tmp_path)
    code, answer, err = run(capsys, tmp_path)
    assert (code, err) == (1, "")
    headline, *facts = answer.splitlines()
    assert len(facts) < 8
    assert headline == "rank 1, step 1: layer 2, self_attn/BatchMatMul_qk overflowed on AI Core"
    assert "  reach     2 overflows of 1 operator: rank 1, steps 1, 3" in facts
    code, out, err = run(capsys, tmp_path, "-v")
    assert (code, err) == (1, "")
    again, table, tensors = out.rstrip().split("\n\n")
    assert f"{again}\n" == answer
    header, *rows = table.splitlines()
    assert header.split()[:6] == ["rank", "step", "unit", "task", "stream", "op_type"]
    assert [row.split()[:2] for row in rows] == [["1", "1"], ["1", "3"]]
    assert str(demo.operators[0].relative_to(tmp_path)) in tensors
    assert "output.0" in tensors


def test_no_overflow_is_exit_code_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path, status=0)
    code, out, _ = run(capsys, tmp_path)
    assert (code, out) == (0, "no overflow in 1 record\n")
    code, out, _ = run(capsys, tmp_path, "-v")
    assert code == 0
    assert out.splitlines()[2:] == [
        "1 record in which no unit overflowed",
    ]


def test_a_record_that_cannot_be_read_is_exit_code_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = testing.op_debug_name(task_id=1, stream_id=1, timestamp=START + 1)
    (tmp_path / name).write_bytes(b"broken")
    code, out, _ = run(capsys, tmp_path)
    assert code == 3
    assert "1 record could not be read" in out
    assert f"{name}: malformed: " in run(capsys, tmp_path, "-v")[1]
    write_pair(tmp_path)
    assert run(capsys, tmp_path)[0] == 1


def test_nothing_to_read_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("fastdump: error: no dump file in ")
    text = tmp_path / "notes.txt"
    text.write_text("no dump")
    code, out, err = run(capsys, text)
    assert (code, out) == (2, "")
    assert "no dump file in " in err
    assert err.endswith("1 file skipped (1 not a dump file)\n")


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pair(tmp_path, status=0x120)
    found = document(capsys, tmp_path)
    assert list(found) == [
        *("fastdump", "question", "sentence", "clean", "findings", "notes", "records", "skipped"),
        "pattern",
    ]
    returned = json.dumps(fastdump.overflow(tmp_path).to_dict())
    assert found == {"fastdump": fastdump.__version__, **json.loads(returned)}
    assert len(found["findings"]) == 1
    (record,) = found["records"]
    assert list(record) == [
        *("rank", "time", "device", "model", "model_id", "step", "timestamp", "path", "appended"),
        *("layout", "version", "status", "note", "units", "document"),
    ]
    assert record["document"]["AI Core"]["status"] == 0x120  # as the vendor's converter writes it
    core = record["units"][2]
    assert list(core) == [
        *("unit", "fields", "statuses", "bits", "meaning", "overflowed"),
        *("join", "join_note", "operator"),
    ]
    assert [bit["mask"] for bit in core["bits"]] == [0x20, 0x100]
    assert core["fields"]["task_id"] == 7
    assert core["operator"]["op_name"] == "net/Add"
    assert core["operator"]["tensors"][1]["pos_inf"] == 1
    assert [unit["overflowed"] for unit in record["units"]] == [False, False, True]
    assert record["units"][0]["operator"] is None


def test_json_of_extreme_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    core = {"task_id": 7, "stream_id": 3, "status": 2**64 - 1}
    record = testing.op_debug_name(task_id=59, stream_id=3, timestamp=START)
    testing.write_op_debug(tmp_path / record, testing.op_debug_payload(ai_core=core))
    file = testing.dump_name("Add", "a", task_id=7, stream_id=3, timestamp=START)
    testing.write_dump(tmp_path / file, outputs=[np.array([1.7e308] * 4)])
    unit = document(capsys, tmp_path)["records"][0]["units"][2]
    assert unit["statuses"] == [2**64 - 1]
    assert len(unit["bits"]) == 64
    assert unit["operator"]["tensors"][0]["l2norm"] == "inf"


def test_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for i in range(25):
        write_pair(tmp_path, at=i)
    for options, n_rows in ((("-v",), 20), (("-n", 3), 3), (("-n", 0), 25)):
        _, out, _ = run(capsys, tmp_path, *options)
        assert len(out.split("\n\n")[1].splitlines()) == n_rows + 1
        assert (f"{n_rows:,} of 25 overflows" in out) == (n_rows < 25)


def test_the_statistics_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "dump"
    write_pair(dump)
    out = tmp_path / "tensors.csv"
    assert run(capsys, dump, "-o", out)[0] == 1
    assert list(fastdump.read_stats(out)["io"]) == ["input", "output"]
    code, _, err = run(capsys, dump, "-o", tmp_path / "tensors.txt")
    assert code == 2
    assert "tensors.txt" in err
    # Before anything is read.
    code, printed, err = run(capsys, dump, "-o", tmp_path / "missing" / "tensors.csv")
    assert (code, printed) == (2, "")
    assert "missing: No such file or directory" in err
    lonely = tmp_path / "lonely"
    write_pair(lonely, status=0)
    code, printed, err = run(capsys, lonely, "-o", tmp_path / "none.csv")
    assert (code, printed.splitlines()[0]) == (2, "no overflow in 1 record")
    assert "none.csv was not written" in err


def test_names_are_printed_with_control_characters_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pair(tmp_path, name="net\x1b[2J\u202e")
    _, out, _ = run(capsys, tmp_path)
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert "net\\x1b[2J\\u202e" in out
    _, out, _ = run(capsys, tmp_path, "--json")
    assert out.isascii()
