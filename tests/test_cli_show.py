"""`fastdump show`: one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
        "std": pytest.approx(finite.std(), rel=1e-11),
        "min_abs": 2.0**-24,
        "dynamic_range": pytest.approx(np.log2(65504) + 24, rel=1e-15),
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
    assert "  op type       MatMul" in lines
    assert "  op name       layers.0/qkv" in lines
    assert "device 4, model net, model_id 1, step 3, task_id 12, stream_id 5" in facts
    assert "  attribute     user_tag = a=b" in lines
    assert "  dfx message   first line" in lines
    assert "  dfx message   second line" in lines
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
    assert main(["show", str(path)]) == 3
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


# One tensor


def shown(target: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["show", target, *options]) == 0
    return capsys.readouterr().out


def test_one_tensor(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(f"{path}:input.0", capsys)
    assert out.startswith(f"{path}:input.0\n")
    assert "float16 (number 2)" in out
    assert "0x12c0" in out
    assert "[0, :8] [ 1.5, -2. ,  0. ]" in out
    assert "op type" not in out
    assert "output.0" not in out


def test_where_the_bad_values_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.zeros((9, 5), np.float32)
    x[2] = np.nan
    x[3] = np.nan
    x[5, 1:3] = np.inf
    x[7, 0] = -np.inf
    path = testing.write_dump(tmp_path / "Add.a.1.1.1700000000000000", outputs=[x, x[:1]])
    out = shown(str(path), capsys)
    assert "first_bad 10 [2, 0]" in out
    assert "bad at 4 of 9 indices of the first dimension" in out
    # Rows that are bad in the same way are told as one; output.1 is clean.
    assert [line.strip() for line in out.splitlines() if line.startswith(" " * 12)] == [
        "[2..3] 5 NaN",
        "[5] 2 +Inf",
        "[7] 1 -Inf",
    ]
    (tensor, clean) = json.loads(shown(str(path), capsys, "--json"))["tensors"]
    assert tensor["bad_rows"] == [
        {"first": 2, "last": 3, "nan": 5, "pos_inf": 0, "neg_inf": 0},
        {"first": 5, "last": 5, "nan": 0, "pos_inf": 2, "neg_inf": 0},
        {"first": 7, "last": 7, "nan": 0, "pos_inf": 0, "neg_inf": 1},
    ]
    assert clean["bad_rows"] == []


@pytest.mark.parametrize(
    ("index", "words", "place"),
    [
        (np.s_[1:3], "10 of 20 elements, 2 whole rows (1:3): one run from [1, 0] on", "[1:3, :]"),
        (np.s_[:, 2], "4 of 20 elements: 1 whole column (2)", "[:, 2]"),
        (np.s_[2:, 1:3], "4 of 20 elements: the block [2:4, 1:3]", "[2:4, 1:3]"),
    ],
)
def test_the_shape_of_the_damage(
    index: Any, words: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.zeros((4, 5), np.float16)
    x[index] = np.nan
    path = testing.write_dump(tmp_path / "Add.a.1.1.1700000000000000", outputs=[x, x[:1, :1]])
    lines = [line.strip() for line in shown(f"{path}:output.0", capsys).splitlines()]
    assert f"bad: {words}" in lines
    (tensor, clean) = json.loads(shown(str(path), capsys, "--json"))["tensors"]
    assert tensor["damage"] == {
        "bad": int(words.split()[0]),
        "size": 20,
        "words": words,
        "place": place,
    }
    assert clean["damage"] is None


def test_the_damage_in_one_dimension(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.zeros(100, np.float32)
    x[3::16] = np.inf
    path = testing.write_dump(tmp_path / "Add.a.1.1.1700000000000000", outputs=[x])
    assert "bad: 7 of 100 elements: every 16th from [3] on" in shown(str(path), capsys)


def test_bad_values_of_a_tensor_of_many_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.zeros((10_000, 2), np.float16)
    x[[17, 9_999], 1] = np.nan
    path = testing.write_dump(tmp_path / "Add.a.1.1.1700000000000000", outputs=[x])
    (tensor,) = json.loads(shown(str(path), capsys, "--json"))["tensors"]
    groups = [(rows["first"], rows["last"], rows["nan"]) for rows in tensor["bad_rows"]]
    assert [
        (first <= row <= last, nan)
        for (first, last, nan), row in zip(groups, (17, 9_999), strict=True)
    ] == [(True, 1), (True, 1)]
    assert all(last - first <= 2 for first, last, _ in groups)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("1", "[inf, 6.55e+04, 5.96e-08]"),
        ("..., -1", "[0.e+00, 6.e-08]"),
        ("[0, ::-2]", "[0. , 1.5]"),
        ("0, 1", "-2."),
        (":0", "[]"),
    ],
)
def test_slice(index: str, expected: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(f"{path}:input.0", capsys, "--slice", index, "--bins", "0")
    assert expected.replace(" ", "") in out.replace(" ", "")


def test_slice_as_json(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = shown(f"{path}:input.0", capsys, "--slice", "1, :2", "--json")
    (tensor,) = json.loads(out)["tensors"]
    assert tensor["elements"] == {"index": "[1, :2]", "values": ["inf", 65504.0]}


@pytest.mark.parametrize("index", ["9", "0, 0, 0", "1:2:3:4", "x", "..., ...", "1.5"])
def test_slice_that_cannot_be(index: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{path}:input.0", "--slice", index]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fastdump: error: input.0: --slice ")


def test_a_tensor_that_there_is_not(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{path}:output.7"]) == 2
    assert capsys.readouterr().err.endswith(
        "has no output.7; its tensors: input.0, output.0, buffer.0\n"
    )


def test_a_file_may_have_a_colon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = testing.write_dump(tmp_path / "x:output.0", outputs=[Y])
    assert "max 7" in shown(str(path), capsys)


def test_histogram(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.array([0, 0.1, 0.2, 1, 3.9, 4, np.nan, np.inf], np.float32)
    path = testing.write_dump(tmp_path / "Add.a.1.1.1700000000000000", outputs=[x])
    out = shown(f"{path}:output.0", capsys, "--bins", "4")
    bars = [line.split() for line in out.splitlines() if ".." in line]
    assert [bar[:4] for bar in bars] == [
        ["0", "..", "1", "3"],
        ["1", "..", "2", "1"],
        ["2", "..", "3", "0"],
        ["3", "..", "4", "2"],
    ]
    assert [len(bar[4]) if len(bar) > 4 else 0 for bar in bars] == [40, 14, 0, 27]
    (tensor,) = json.loads(shown(f"{path}:output.0", capsys, "--json", "--bins", "4"))["tensors"]
    assert tensor["histogram"] == {
        "counts": [3, 1, 0, 2],
        "edges": pytest.approx([0, 1, 2, 3, 4]),
        "sampled": 8,
    }


@pytest.mark.parametrize(
    "data",
    [
        np.full(5, np.nan, np.float32),
        np.zeros((0, 3), np.float32),
        np.array([1.7e308, -1.7e308]),
        np.array(True),
        np.array([1 + 2j, np.nan], np.complex64),
        np.array([2**63], np.uint64),
        np.array([1, 1 + 2**-52]),
        testing.TensorSpec(np.arange(8, dtype=np.uint8), dtype="hifloat8"),
        testing.TensorSpec(b"123456", dtype="FLOAT6_E3M2", shape=(8,)),
        testing.TensorSpec(b"text", dtype="STRING"),
    ],
)
def test_any_tensor_can_be_shown(
    data: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = testing.write_dump(tmp_path / "Add.a.1.1.1700000000000000", outputs=[data])
    assert "output.0" in shown(f"{path}:output.0", capsys)
    json.loads(shown(f"{path}:output.0", capsys, "--json"))


# Other kinds of file


def test_other_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nano = testing.write_nano(tmp_path / "Add.a.1.1.1700000000000000", outputs=[Y])
    assert "nano" in shown(str(nano), capsys)
    inline = testing.write_version_1(tmp_path / "Add.b.1.1.1700000000000000", outputs=[Y])
    assert "version_1" in shown(str(inline), capsys)
    array = tmp_path / "Add.a.1.1.1700000000000000.output.2.npy"
    np.save(array, Y)
    assert "output.2  int64" in shown(str(array), capsys)


def test_a_table_of_statistics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = testing.write_statistics_csv(
        tmp_path / "Add.a.1.1.1700000000000000.csv", inputs=[X], outputs=[Y]
    )
    out = shown(str(path), capsys)
    assert "statistics" in out
    assert [line.split()[2:4] for line in out.splitlines()[-2:]] == [
        ["input.0", "float16"],
        ["output.0", "int64"],
    ]
    rows = json.loads(shown(str(path), capsys, "--json"))["rows"]
    assert [(row["io"], row["max"], row["pos_inf"]) for row in rows] == [
        ("input", "inf", 1),
        ("output", 7, 0),
    ]


def test_what_few_tensors_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argument = testing.kernel_argument(np.arange(4, dtype=np.uint8), 3, kind=7)
    path = testing.write_dump(
        tmp_path / testing.exception_name(stream_id=1, task_id=2, timestamp=20240101120000123),
        inputs=[argument],
        outputs=[testing.TensorSpec(Y, original_op=testing.OriginalOp("conv/1", 2))],
    )
    out = shown(str(path), capsys)
    assert "input.0   argument 3, tiling data" in out
    assert "output.0  stems from output 2 of conv/1 (NCHW)" in out


def test_an_appended_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "Add.a.1.1.1700000000000000"
    testing.write_dump(path, outputs=[Y])
    testing.write_dump(path, outputs=[Y + 100], append=True)
    out = shown(str(path), capsys)
    assert "1 more dump in this file" in out
    assert "max 7 " in out
    assert "max 107 " in out
