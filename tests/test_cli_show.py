"""`fastdump show`: one file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fastdump import testing
from fastdump._cli import main

X = np.array([[1.5, -2, 0], [np.inf, 65504, 6e-8]], np.float16)
Y = np.array([7, -9], np.int64)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    directory = testing.model_dump_dir(
        tmp_path, time="20261120101112", device=4, model="net", model_id=1, step=3
    )
    return testing.write_dump(
        directory / "MatMul.layers_0_qkv.12.5.1700000000000000",
        op_name="layers.0/qkv",
        inputs=[testing.TensorSpec(X, format="NCHW", origin_shape=(6,), address=0x12C0)],
        outputs=[testing.TensorSpec(Y, address=0x1300)],
        buffers=[b"0123456789"],
        dump_time=1_700_000_000_000_000,
        attrs=[("user_tag", "a=b")],
        dfx_message="first line\nsecond line",
    )


def test_header_tensors_and_statistics(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    nbytes = path.stat().st_size
    header_nbytes = int.from_bytes(path.read_bytes()[:8], "little")
    assert document["path"] == str(path)
    assert document["version"] == "2.0"
    assert document["dump_time"] == 1_700_000_000_000_000
    assert document["op_name"] == "layers.0/qkv"
    assert document["attrs"] == [{"name": "user_tag", "value": "a=b"}]
    assert document["dfx_message"] == "first line\nsecond line"
    assert document["file_nbytes"] == nbytes
    assert document["header_nbytes"] == header_nbytes

    x, y, buffer = document["tensors"]
    assert (x["io"], x["index"], x["dtype"], x["format"]) == ("input", 0, "float16", "NCHW")
    assert (x["shape"], x["origin_shape"], x["nbytes"]) == ([2, 3], [6], 12)
    assert (x["offset"], x["address"]) == (8 + header_nbytes, 0x12C0)
    assert (y["io"], y["dtype"], y["offset"]) == ("output", "int64", x["offset"] + 12)
    assert (buffer["io"], buffer["nbytes"], buffer["offset"]) == ("buffer", 10, y["offset"] + 16)

    finite = X[np.isfinite(X)].astype(np.float64)
    assert x["statistics"] == {
        "count": 6,
        "max": 65504,
        "min": -2,
        "mean": pytest.approx(finite.mean(), rel=1e-12),
        "l2norm": pytest.approx(np.sqrt((finite**2).sum()), rel=1e-12),
        "nan": 0,
        "pos_inf": 1,
        "neg_inf": 0,
        "zero": 1,
        "subnormal": 1,
        "saturated": 1,
        "first_bad": 3,
    }
    assert (y["statistics"]["max"], y["statistics"]["mean"]) == (7, -1)
    assert buffer["statistics"]["max"] is None


def test_it_is_printed_for_people(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(path)]) == 0
    facts, tensors, statistics = capsys.readouterr().out.split("\n\n")
    first, *lines = facts.splitlines()
    assert first == str(path)
    shown = [tuple(line.split(maxsplit=1)) for line in lines]
    assert ("version", "2.0") in shown
    assert "2023-11-14 22:13:20 UTC (1700000000000000)" in facts
    assert "  op type     MatMul" in lines
    assert "  op name     layers.0/qkv" in lines
    assert "device 4, model net, model_id 1, step 3, task_id 12, stream_id 5" in facts
    assert "  attribute   user_tag = a=b" in lines
    assert "  dfx message first line" in lines
    assert "  dfx message second line" in lines
    assert [line.split()[:4] for line in tensors.splitlines()[1:3]] == [
        ["input.0", "float16", "NCHW", "2x3"],
        ["output.0", "int64", "ND", "2"],
    ]
    assert "0x12c0" in tensors
    assert "max 65504  min -2" in statistics
    assert "first_bad 3 [1, 0]" in statistics
    assert "max 7  min -9  mean -1" in statistics


def test_a_norm_that_overflows_is_still_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = testing.write_dump(
        tmp_path / "Add.big.1.1.1700000000000000", outputs=[np.full(4, 1.7e308)]
    )
    assert main(["show", str(path), "--json"]) == 0
    (tensor,) = json.loads(capsys.readouterr().out)["tensors"]
    assert tensor["statistics"]["l2norm"] == "inf"
    assert tensor["statistics"]["max"] == 1.7e308


def test_a_truncated_file_is_shown_with_what_is_there(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.write_bytes(path.read_bytes()[:-18])
    assert main(["show", str(path)]) == 0
    _, tensors, statistics = capsys.readouterr().out.split("\n\n")
    assert [line.count("truncated: ") for line in tensors.splitlines()] == [0, 0, 1, 1]
    assert "output.0  count 1  max 7  min 7" in statistics


def test_a_file_that_is_no_dump_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes\x1b[2J.txt"
    path.write_text("not a dump, and long enough to have a header\n")
    assert main(["show", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fastdump: error: ")
    assert "notes\\x1b[2J.txt" in err
    assert err.count("\n") == 1


def test_a_directory_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert "is a directory: try 'fastdump ls'" in capsys.readouterr().err


def test_a_missing_file_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path / "nothing")]) == 2
    assert capsys.readouterr().err.endswith("nothing: No such file or directory\n")
