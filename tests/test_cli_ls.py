"""`fastdump ls`: the inventory of a dump."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fastdump import testing
from fastdump._cli import main
from fastdump.testing import TensorSpec, dump_header

START = 1_700_000_000_000_000
ARRAY = np.ones((8, 4), np.float16)


def write_op(root: Path, op_name: str, *, rank: int, step: int, us: int = 0, **dump: Any) -> Path:
    directory = testing.model_dump_dir(
        testing.rank_dir(root, world_size=2, rank=rank),
        time="20261120101112",
        device=rank,
        model="net",
        model_id=1,
        step=step,
    )
    name = testing.dump_name("Add", op_name, task_id=1, stream_id=1, timestamp=START + us)
    return testing.write_dump(directory / name, op_name=op_name, **dump)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Rank 0 has steps 0 to 2, rank 1 only 0 and 2; nothing else is odd."""
    root = tmp_path / "dump"
    for rank, step in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 2)):
        us = step * 2_000_000
        write_op(root, "a", rank=rank, step=step, us=us, inputs=[ARRAY], outputs=[ARRAY])
        write_op(root, "b", rank=rank, step=step, us=us + 500_000, outputs=[ARRAY.astype("f8")])
    return root


def listed(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert main(["ls", "--json", *map(str, arguments)]) in (0, 3)
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_it_counts_what_is_there(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = listed(capsys, dump)
    assert document["files"] == 10
    assert document["ops"] == 2
    assert document["tensors"] == 15
    assert document["bytes"] == 5 * (2 * ARRAY.nbytes + 4 * ARRAY.nbytes)
    assert document["first_timestamp"] == START
    assert document["last_timestamp"] == START + 4_500_000
    assert [(step["rank"], step["step"]) for step in document["steps"]] == [
        *((0, 0), (0, 1), (0, 2)),
        *((1, 0), (1, 2)),
    ]
    assert document["steps"][1] == {
        "rank": 0,
        "step": 1,
        "files": 2,
        "ops": 2,
        "tensors": 3,
        "reported": 0,
        "bytes": 6 * ARRAY.nbytes,
        "first_timestamp": START + 2_000_000,
        "last_timestamp": START + 2_500_000,
    }
    assert document["dtypes"] == [
        {"dtype": "float64", "tensors": 5, "bytes": 20 * ARRAY.nbytes},
        {"dtype": "float16", "tensors": 10, "bytes": 10 * ARRAY.nbytes},
    ]
    assert document["odd"] == {}
    assert document["empty"] == []
    assert document["skipped"] == {}


def test_a_step_that_one_rank_lacks_is_missing(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed(capsys, dump)["missing"] == [{"rank": 1, "steps": [1]}]
    main(["ls", str(dump)])
    assert "rank 1 lacks step 1" in capsys.readouterr().out.splitlines()


def test_it_is_printed_for_people(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", str(dump), "--rank", "0"]) == 0
    summary, steps, dtypes, odd = capsys.readouterr().out.split("\n\n")
    assert summary.splitlines() == [
        "6 files, 2 operators, 9 tensors, 1.2 kB, 1 rank, 3 steps",
        "2023-11-14 22:13:20 UTC, the last operator 4.5 s later",
    ]
    assert [line.split()[:6] for line in steps.splitlines()[1:]] == [
        ["0", step, "2", "2", "3", "384"] for step in "012"
    ]
    assert [line.split() for line in dtypes.splitlines()[1:]] == [
        ["float64", "3", "768", "B"],
        ["float16", "6", "384", "B"],
    ]
    assert odd == "nothing odd\n"


def test_many_steps_are_one_line_a_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rank in (0, 1):
        for step in (*range(30), 40 + rank):
            write_op(tmp_path, "a", rank=rank, step=step, outputs=[ARRAY])
    assert main(["ls", str(tmp_path)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.split("\n\n")[1].splitlines()]
    assert lines[0][:3] == ["rank", "steps", "files"]
    assert [line[:4] for line in lines[1:]] == [
        ["0", "0-29,", "40", "31"],
        ["1", "0-29,", "41", "31"],
    ]


def test_payloads_are_not_read(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_op(dump, "c", rank=0, step=0, us=9, outputs=[np.full(4, np.nan, np.float32)])
    document = listed(capsys, dump)
    assert document["files"] == 11
    assert document["odd"] == {}, f"nothing looks at the NaN in {path.name}"


def test_what_is_odd_is_named(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = write_op(dump, "cut", rank=0, step=0, inputs=[ARRAY], outputs=[ARRAY])
    cut.write_bytes(cut.read_bytes()[: -ARRAY.nbytes - 10])
    longer = write_op(dump, "longer", rank=0, step=0, outputs=[ARRAY])
    longer.write_bytes(longer.read_bytes() + b"16 bytes or more")
    text = testing.TensorSpec(b"abcd", dtype="STRING", shape=(1,))
    write_op(dump, "text", rank=0, step=0, outputs=[text])
    small = testing.TensorSpec(ARRAY, shape=(64, 64))
    write_op(dump, "small", rank=0, step=0, outputs=[small])
    junk = cut.with_name(testing.dump_name("X", "junk", task_id=1, stream_id=1, timestamp=START))
    junk.write_bytes(b"\xff" * 100)
    (dump / "readme.txt").write_text("not a dump\n")
    (dump / "link").symlink_to(cut)

    document = listed(capsys, dump)
    odd = document["odd"]
    assert set(odd) == {"truncated", "noted", "unsupported", "size_mismatch", "malformed"}
    (example,) = odd["noted"]["examples"]
    assert example["path"] == str(longer.relative_to(dump))
    assert "16 trailing bytes" in example["note"]
    (example,) = odd["malformed"]["examples"]
    assert example["path"] == str(junk.relative_to(dump))
    assert example["note"]
    assert sum(document["skipped"].values()) == 2
    assert document["skipped"]["symbolic link"] == 1

    assert main(["ls", str(dump)]) == 3, "a file could not be read"
    lines = capsys.readouterr().out.split("\n\n")[-1].splitlines()
    for kind in odd:
        assert f"{kind}: 1 file" in lines
    assert any(line.startswith("skipped: ") for line in lines)


def test_a_note_on_a_file_is_counted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for us in range(5):
        path = write_op(tmp_path, f"op{us}", rank=0, step=0, us=us, outputs=[ARRAY] * 3)
        path.write_bytes(path.read_bytes() + b"more")
    noted = listed(capsys, tmp_path)["odd"]["noted"]
    assert (noted["rows"], noted["files"]) == (15, 5)
    assert len({example["path"] for example in noted["examples"]}) == 3
    main(["ls", str(tmp_path)])
    assert "... and 2 more" in capsys.readouterr().out


def test_a_step_without_data_is_empty(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_op(dump, "a", rank=1, step=7, outputs=[np.zeros((0, 4), np.float32)])
    assert listed(capsys, dump)["empty"] == [{"rank": 1, "step": 7}]
    main(["ls", str(dump)])
    assert "rank 1 step 7 holds no data" in capsys.readouterr().out.splitlines()


def test_files_without_a_tree_have_neither_ranks_nor_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = testing.write_dump(tmp_path / "Add.x.1.1.1700000000000000", outputs=[ARRAY])
    (step,) = listed(capsys, path)["steps"]
    assert (step["rank"], step["step"], step["files"]) == (None, None, 1)
    main(["ls", str(path)])
    summary, steps, *_ = capsys.readouterr().out.split("\n\n")
    assert summary.startswith("1 file, 1 operator, 1 tensor, 64 B\n")
    assert steps.split()[0] == "files"


def test_missing_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for rank in (0, 3):
        directory = testing.rank_dir(tmp_path, world_size=6, rank=rank)
        testing.write_dump(
            directory / "20261120101112/0/net/1/0/Add.a.1.1.1700000000000000",
            outputs=[np.ones(2, np.float32)],
        )
    assert main(["ls", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing_ranks"] == [1, 2, 4, 5]
    assert main(["ls", str(tmp_path)]) == 0
    assert "nothing of ranks 1-2, 4-5\n" in capsys.readouterr().out


def test_ranks_between_others_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in (3, 5):
        directory = testing.mindspore_dump_dir(
            tmp_path, rank=rank, net="net", graph_id=0, iteration=1
        )
        testing.write_dump(directory / "Add.a.1.1.1700000000000000", outputs=[np.ones(2)])
    assert main(["ls", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing_ranks"] == [4]


def test_appended_dumps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "Add.a.1.1.1700000000000000"
    for _ in range(2):
        testing.write_dump(path, inputs=[np.ones(2)], outputs=[np.ones(3)], append=True)
    testing.write_dump(tmp_path / "Add.b.1.1.1700000000000001", outputs=[np.ones(3)])
    assert main(["ls", str(tmp_path), "--json"]) == 0
    odd = json.loads(capsys.readouterr().out)["odd"]
    assert {kind: (of["rows"], of["files"]) for kind, of in odd.items()} == {"appended": (2, 1)}
    assert main(["ls", str(tmp_path)]) == 0
    assert "appended: 1 file\n" in capsys.readouterr().out


def test_times_of_exception_dumps_are_no_microseconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    testing.write_dump(tmp_path / "Add.a.1.1.1700000000000000", outputs=[np.ones(2)])
    name = testing.exception_name(stream_id=1, task_id=2, timestamp=20240101120000123)
    testing.write_dump(tmp_path / name, inputs=[np.ones(2)])
    assert main(["ls", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["first_timestamp"] == document["last_timestamp"] == 1_700_000_000_000_000


def test_names_without_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    testing.write_dump(tmp_path / "1234567890", outputs=[ARRAY])
    assert main(["ls", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("1 file, ")


def test_sizes_that_headers_claim_are_added_exactly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = TensorSpec(b"", "INT8", shape=(1 << 62,), size=1 << 62)
    for i in range(5):
        name = testing.dump_name("Add", f"a{i}", task_id=1, stream_id=1, timestamp=START + i)
        (tmp_path / name).write_bytes(dump_header(outputs=[spec]))
    assert main(["ls", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["bytes"] == document["dtypes"][0]["bytes"] == 5 * (1 << 62)
    assert document["odd"]["absent"]["rows"] == 5
    assert len(document["odd"]["absent"]["examples"]) == 3


def test_rows_that_are_printed(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", str(dump), "-n", "1"]) == 0
    _, steps, dtypes, odd = capsys.readouterr().out.split("\n\n")
    assert [line.split()[:2] for line in steps.splitlines()[1:]] == [["0", "0"], ["1", "of"]]
    assert "1 of 5; -n 0 prints all" in steps
    assert "1 of 2; -n 0 prints all" in dtypes
    assert odd == "rank 1 lacks step 1\n"
    assert main(["ls", str(dump), "-n", "0"]) == 0
    every = capsys.readouterr().out
    assert main(["ls", str(dump)]) == 0
    assert capsys.readouterr().out == every
    assert "prints all" not in every
    assert len(listed(capsys, dump, "-n", "1")["steps"]) == 5, "a document is whole"


def test_many_steps_are_listed_if_that_is_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for step in range(41):
        write_op(tmp_path, "a", rank=0, step=step, outputs=[ARRAY])
    assert main(["ls", str(tmp_path)]) in (0, 3)
    folded = capsys.readouterr().out
    assert "0-40" in folded
    assert main(["ls", str(tmp_path), "-n", "0"]) in (0, 3)
    table = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert [line.split()[1] for line in table[1:]] == [str(step) for step in range(41)]
