"""Operators and tensors by name: in Python, and by `fastdump show`."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_dumps import SmallDump

import fastdump
from fastdump import NoTensorError, OperatorNotFoundError, testing
from fastdump._cli import main
from fastdump._op_name.near_names import near_names

ONES = np.ones((2, 3), np.float16)
OPERATORS = (
    "SoftmaxV2 model.layers.{layer}.attn/SoftmaxV2",
    "BatchMatMulV2 model.layers.{layer}.attn/BatchMatMul_qk",
    "Add model.layers.{layer}/Add",
)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Return a dump of 2 ranks, 2 steps and 12 layers of three operators, and one at the end."""
    small = SmallDump(tmp_path / "dump", n_ranks=2)
    for rank in range(2):
        for step in range(2):
            for layer in range(12):
                for name in OPERATORS:
                    values = np.full_like(ONES, 10 * layer + 100 * rank + 1000 * step)
                    where = {"rank": rank, "step": step}
                    small.op(name.format(layer=layer), [ONES], [values], **where)
            small.op("MatMulV2 lm_head/MatMul", [ONES], [ONES], rank=rank, step=step)
    return small.root


def shown(arguments: list[Any], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["show", *map(str, arguments), "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def refused(arguments: list[Any], capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fastdump: error: ")
    return err.removeprefix("fastdump: error: ").rstrip("\n")


@pytest.mark.parametrize(
    "name",
    [
        "model.layers.2.attn/SoftmaxV2",
        "model_layers_2_attn_SoftmaxV2",
        "*layers.2.*SoftmaxV2",
        "layers.2.*SoftmaxV2",
        "SoftmaxV2 model.layers.2.*",
        "Soft* layers.2.*",
        "*layers_2_*S[no]ftmax??",
    ],
)
def test_a_name_or_pattern_finds_one_operator(
    name: str, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = shown([dump, name, "--rank", 1, "--step", 1], capsys)
    assert document["op_name"] == "model.layers.2.attn/SoftmaxV2"
    assert [tensor["io"] for tensor in document["tensors"]] == ["input", "output"]
    assert document["tensors"][1]["statistics"]["max"] == 1120

    opened = fastdump.open(dump).select(rank=1, step=1)
    assert opened[name].path == document["path"]
    tensor = opened.tensor(f"{name}:output.0")
    assert np.asarray(tensor).max() == 1120


def test_a_tensor_is_shown_as_that_of_its_file(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fastdump.open(dump).select(rank=0, step=1)["*layers.11*qk"].path
    assert main(["show", f"{path}:output.0"]) == 0
    by_path = capsys.readouterr().out
    place = ["--rank", "0", "--step", "1"]
    assert main(["show", str(dump), "layers.11*qk:output.0", *place]) == 0
    assert capsys.readouterr().out == by_path
    assert "max 1110" in by_path


def test_a_type_finds_its_operator(dump: Path) -> None:
    opened = fastdump.open(dump).select(rank=0, step=0)
    assert opened["MatMulV2"].header["op_name"] == "lm_head/MatMul"


def test_a_whole_name_comes_before_what_ends_with_it(tmp_path: Path) -> None:
    small = SmallDump(tmp_path / "dump")
    small.op("Relu Add", [ONES], [ONES])
    small.op("Add x/Add", [ONES], [ONES])
    small.op("Add Mul", [ONES], [ONES])
    opened = fastdump.open(small.root)
    assert opened["Add"].op_name == "Add"
    assert opened["x/Add"].op_name == "x_Add"
    with pytest.raises(OperatorNotFoundError, match="matches 2 operators: 'Mul', 'x_Add'; give"):
        opened["A* [xM]*"]


def test_the_first_reading_that_finds_something_counts(tmp_path: Path) -> None:
    small = SmallDump(tmp_path / "dump")
    small.op("Relu layers.1/Add", [ONES], [ONES])
    small.op("Relu x.layers.1/Add", [ONES], [ONES])
    small.op("Mul y", [ONES], [ONES])
    small.op("Relu z/Mul", [ONES], [ONES])
    small.op("Mul layers.7/Cast", [ONES], [ONES])
    small.op("Mul x.layers.7/Cast", [ONES], [ONES])
    opened = fastdump.open(small.root)
    assert opened["layers.1*Add"].op_name == "layers_1_Add"
    assert opened["*.layers.1*Add"].op_name == "x_layers_1_Add"
    assert [opened["z*"].op_name, opened["/Mul"].op_name] == ["z_Mul", "z_Mul"]
    assert opened["Mul layers.7*"].op_name == "layers_7_Cast"
    with pytest.raises(OperatorNotFoundError, match="'Mul' matches 3 operators: 'layers_7_Cast'"):
        opened["Mul"]  # the type of three, and the end of another's name


def test_special_characters_of_a_real_name(tmp_path: Path) -> None:
    small = SmallDump(tmp_path / "dump")
    for name in ("Add a[0]", "Add a0", "Add b*c", "Add bxc"):
        small.op(name, [ONES], [ONES])
    opened = fastdump.open(small.root)
    assert opened["a[0]"].op_name == "a[0]"
    assert opened["b*c"].op_name == "b*c"


def test_several_are_listed_with_a_command_that_shows_one(
    dump: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(dump.parent)
    assert main(["show", "dump", "layers.3*qk:output.0"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "4 operator files found; one is shown at a time"
    rows = [line.split() for line in lines[3:7]]
    assert [row[:2] for row in rows] == [["0", "0"], ["0", "1"], ["1", "0"], ["1", "1"]]
    assert {tuple(row[2:4]) for row in rows} == {
        ("BatchMatMulV2", "model.layers.3.attn/BatchMatMul_qk")
    }
    assert [Path(row[4]).is_file() for row in rows] == [True] * 4
    command = lines[-1].strip()
    assert command == "fastdump show dump '*layers.3*qk:output.0' --rank 0 --step 0"
    assert main([*shlex.split(command)[1:], "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["path"] == rows[0][4]
    assert [tensor["io"] for tensor in document["tensors"]] == ["output"]


def test_the_tensor_tells_parts_of_one_execution_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A collective operator has one file for its inputs, and one for its outputs."""
    small = SmallDump(tmp_path / "dump")
    small.op("HcomAllReduce loss/AllReduce", [ONES], [])
    small.op("HcomAllReduce loss/AllReduce", [], [ONES * 2])
    document = shown([small.root, "AllReduce:output.0"], capsys)
    assert document["tensors"][0]["statistics"]["max"] == 2
    assert main(["show", str(small.root), "AllReduce"]) == 2
    assert "2 operator files found" in capsys.readouterr().out
    assert main(["show", str(small.root), "AllReduce:output.7"]) == 2
    assert "2 operator files found" in capsys.readouterr().out


def test_of_many_only_some_are_listed(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(dump), "*", "--step", "0"]) == 2
    out = capsys.readouterr().out
    assert out.startswith("74 operator files found")
    assert out.count(" 0     0  ") == 20
    assert "... and 54 more\n" in out
    assert main(["show", str(dump), "*", "--step", "0", "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert (len(document["matches"]), document["left_out"]) == (20, 54)
    first = document["matches"][0]
    assert (first["rank"], first["step"], first["op_type"]) == (0, 0, "SoftmaxV2")


def test_executions_that_no_option_tells_apart_are_shown_by_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = SmallDump(tmp_path / "a dump")
    small.op("Add a/Add", [ONES], [ONES])
    small.op("Add a/Add", [ONES], [ONES])
    assert main(["show", str(small.root), "a/Add"]) == 2
    command = shlex.split(capsys.readouterr().out.splitlines()[-1])
    assert Path(command[2]).is_file()
    assert main(command[1:]) == 0


def test_conditions_alone_find_operators(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--rank", 0, "--step", 0, "--io", "output"]
    document = shown([dump, "--op-name", "lm_head*", *place], capsys)
    assert document["op_name"] == "lm_head/MatMul"
    assert [tensor["io"] for tensor in document["tensors"]] == ["output"]


def test_several_paths_and_a_file_with_a_name(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = sorted(dump.iterdir())
    assert len(ranks) == 2
    document = shown([*ranks, "lm_head/MatMul", "--rank", 1, "--step", 0], capsys)
    assert "rank1" in document["path"]
    assert shown([document["path"], "lm_head*"], capsys)["op_name"] == "lm_head/MatMul"
    assert "no operator is called 'zzz'" in refused(["show", document["path"], "zzz"], capsys)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_leads_to_its_dump(
    suffix: str, dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = fastdump.open(dump).select(rank=1, step=1)["layers.5*SoftmaxV2"].path
    content = bytearray(Path(bad).read_bytes())
    content[-2:] = np.float16(np.nan).tobytes()
    Path(bad).write_bytes(content)
    file = tmp_path / f"stats.{suffix}"
    fastdump.stats(dump).write(file)
    moved = dump.rename(tmp_path / "moved")
    if suffix == "csv":
        assert refused(["show", file, "layers.5*SoftmaxV2"], capsys) == (
            "the table does not tell where its dump is: --root DIR does"
        )
    else:
        assert "--root DIR says where it is now" in refused(["show", file, "lm_head*"], capsys)
    assert main(["show", str(file), "layers.5*SoftmaxV2", "--root", str(moved)]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert ["1 NaN" in line for line in lines[3:7]] == [False, False, False, True]
    assert main(shlex.split(lines[-1])[1:]) == 0
    assert f"--root {moved}" in lines[-1]


def test_a_table_of_some_rows_finds_no_others(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "stats.parquet"
    fastdump.stats(dump, rank=1, step=0, io="output").write(file)
    document = shown([file, "lm_head*"], capsys)
    assert [tensor["io"] for tensor in document["tensors"]] == ["output"]


# Statistics of many operators in one file


@pytest.fixture
def statistics(tmp_path: Path) -> Path:
    """Return a dump of 2 steps with the statistics of 3 operators in a file each."""
    root = tmp_path / "statistics"
    for step in (5, 6):
        where = testing.mindspore_dump_dir(root, rank=1, net="Net", graph_id=0, iteration=step)
        operators = [("Sub", "net/Sub-op0"), ("Sub", "net/Sub-op1"), ("Cast", "net/Cast-op0")]
        tensors = [
            testing.MindSporeTensor(op_type, op_name, io, 0, np.float32([10 * step + number]))  # type: ignore[arg-type]
            for number, (op_type, op_name) in enumerate(operators)
            for io in ("input", "output")
        ]
        testing.write_mindspore_csv(where, tensors)
    return root


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["net/Sub-op1"], [("Sub-op1", "input"), ("Sub-op1", "output")]),
        (["*op1:output.0"], [("Sub-op1", "output")]),
        (["Sub:output.0"], [("Sub-op0", "output"), ("Sub-op1", "output")]),
        (["Cast *op0"], [("Cast-op0", "input"), ("Cast-op0", "output")]),
        (["--op-type", "Cast", "--io", "input"], [("Cast-op0", "input")]),
        (["net/*", "--op-type", "Cast", "--io", "input"], [("Cast-op0", "input")]),
    ],
)
def test_rows_of_an_operator_among_others(
    arguments: list[str],
    found: list[tuple[str, str]],
    statistics: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = shown([statistics, *arguments, "--step", 6], capsys)["rows"]
    assert [(row["op_name"], row["io"]) for row in rows] == [(f"net/{a}", b) for a, b in found]
    numbers = {"Sub-op0": 60, "Sub-op1": 61, "Cast-op0": 62}
    assert [row["max"] for row in rows] == [numbers[name] for name, _ in found]


def test_a_list_says_which_operators_files_are_about(
    statistics: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, said in (("*op1", ["Sub", "net/Sub-op1"]), ("Sub", ["2", "operators"])):
        assert main(["show", str(statistics), name]) == 2
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[2:4] for line in lines[3:5]] == [said, said]
        capsys.readouterr()
        command = shlex.split(lines[-1])
        assert command[-2:] == ["--step", "5"]
        assert main(command[1:]) == 0
        assert "Cast" not in capsys.readouterr().out


def test_names_in_statistics_are_suggested(
    statistics: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(["show", statistics, "net/Sbu-op1"], capsys)
    assert "near it are 'net/Sub-op1'" in said
    with pytest.raises(OperatorNotFoundError, match="near it are 'Cast'"):
        fastdump.open(statistics)["Csat"]


def test_a_dump_of_a_name_has_the_rows_of_it(statistics: Path) -> None:
    dump = fastdump.open(statistics).select(step=5)
    assert dump["net/Sub-op1"].relative.endswith("statistic.csv")
    assert set(dump.select(op_name="*op1").stats()["op_name"]) == {"net/Sub-op1"}


# What is not there


def test_near_names_are_suggested(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = refused(["show", dump, "layers.2.*Sofmax"], capsys)
    assert error.endswith("; near it are 'model_layers_2_attn_SoftmaxV2'")
    with pytest.raises(OperatorNotFoundError, match="near it are 'MatMulV2'"):
        fastdump.open(dump)["MatMuIV2"]
    error = refused(["stats", dump, "--op-name", "layers.7*SoftmaxV"], capsys)
    assert error.endswith("(near it: 'model_layers_7_attn_SoftmaxV2')")
    error = refused(["ls", dump, "--op-type", "softmax"], capsys)
    assert error.endswith("(near it: 'SoftmaxV2')")


def test_a_tensor_that_is_not_there(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--rank", 0, "--step", 0]
    error = refused(["show", dump, "lm_head*:output.3", *place], capsys)
    assert error.endswith(" has no output.3; its tensors: input.0, output.0")
    opened = fastdump.open(dump).select(rank=0, step=0)
    with pytest.raises(NoTensorError, match=r"has no 'output.3'; it has input.0, output.0"):
        opened.tensor("lm_head*:output.3")
    with pytest.raises(NoTensorError, match="'lm_head\\*' does not end with a tensor's name"):
        opened.tensor("lm_head*")


@pytest.mark.parametrize("command", ["show", "stats", "ls", "triage"])
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--step", "99"], "no step 99 (steps present: 0-1)"),
        (["--rank", "9"], "no rank 9 (ranks present: 0-1)"),
        (["--device", "7"], "no device 7 (devices present: 0-1)"),
        (["--rank", "0", "--device", "1"], "with device 1, no rank 0 (ranks present: 1)"),
    ],
)
def test_places_that_are_not_there(
    command: str, options: list[str], told: str, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [command, dump, *(["lm_head*"] if command == "show" else []), *options]
    assert refused(arguments, capsys) == f"{str(dump)!r}: {told}"


def test_an_operator_that_is_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = SmallDump(tmp_path / "dump")
    small.op("Add a/Add", [ONES], [ONES], step=0)
    small.op("Mul a/Mul", [ONES], [ONES], step=1)
    assert refused(["show", small.root, "a/Add", "--step", "1"], capsys) == (
        "no operator is called 'a/Add' with step 1; 1 file elsewhere: step 0"
    )


def test_paths_without_a_name_are_refused(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is a directory: try 'fastdump ls'" in refused(["show", dump], capsys)
    assert "No such file" in refused(["show", dump / "none"], capsys)
    assert "--root is for a table" in refused(["show", dump, "x", "--root", dump], capsys)


def test_hostile_names_are_shown_without_their_codes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = SmallDump(tmp_path / "dump")
    for step in range(2):
        small.op("Add a\x1b[31mred", [ONES], [ONES], step=step)
    assert main(["show", str(small.root), "*red"]) == 2
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert main(shlex.split(out.splitlines()[-1])[1:]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("text", ["\udcff", "a\udcff*", "[", "", ":output.0", "x" * 9000])
def test_texts_that_name_nothing(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = SmallDump(tmp_path / "dump")
    small.op("Add a", [ONES], [ONES])
    assert "no operator is called" in refused(["show", small.root, text], capsys)
    assert "no op_name" in refused(["stats", small.root, "--op-name", text], capsys)
    with pytest.raises(OperatorNotFoundError, match="no operator is called"):
        fastdump.open(small.root)[text]
    table = fastdump.stats(small.root)
    assert len(table.filter(op_name=text)) == 0


def test_no_payload_is_read_to_find_an_operator(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the headers of what was found may be read: others cannot even be opened."""
    wanted = fastdump.open(dump).select(rank=1, step=0)["lm_head/MatMul"].path
    for path in dump.rglob("*"):
        if path.is_file() and str(path) != wanted:
            os.truncate(path, 0)
    assert fastdump.open(dump).select(rank=1, step=0)["lm*"].outputs[0].shape == (2, 3)


# Names that are near


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("layers.3*donw_proj*MatMull", ["a.layers.3.mlp.down_proj/MatMul"]),
        ("LAYERS.3.MLP.DOWN_PROJ", ["a.layers.3.mlp.down_proj/MatMul"]),
        ("Add_up", ["a.layers.3/Add_up"]),
        ("zzz", []),
        ("", []),
        ("***", []),
        ("layers.99.qqq.www", []),
    ],
)
def test_near_names(text: str, near: list[str]) -> None:
    names = [f"a.layers.{layer}.mlp.down_proj/MatMul" for layer in range(12)]
    assert near_names(text, [*names, "a.layers.3/Add_up", "a.layers.3/Muls"]) == near


def test_chinese_names_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = SmallDump(tmp_path / "dump")
    for layer in range(3):
        small.op(f"Add 模型.层.{layer}/注意力", [ONES], [ONES])
    assert shown([small.root, "层.1*注意力"], capsys)["op_name"] == "模型.层.1/注意力"
    assert "模型_层_1_注意力" in refused(["show", small.root, "层.1/注意刀"], capsys)
