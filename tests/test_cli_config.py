"""`fastdump config`: check, explain, new."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from fastdump import config, testing
from fastdump._cli import main
from fastdump._words.text_table import plain

GOOD = '{"dump": {"dump_path": ".", "dump_list": [{"layer": ["conv1"]}]}}'
SURPRISING = '{"dump": {"dump_path": ".", "dump_list": []}}'
BAD = '{\n  "dump": {"dump_path": ".", "dump_mode": "out", "dump_step": "5-3"}\n}\n'


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("good", GOOD), ("surprising", SURPRISING), ("bad", BAD)):
        (tmp_path / f"{name}.json").write_text(text)
    return tmp_path


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Operators a and b; b has a NaN."""
    root = tmp_path / "dump"
    directory = testing.model_dump_dir(
        root, time="20261120101112", device=0, model="net", model_id=1, step=0
    )
    for i, (name, value) in enumerate((("a", 1.0), ("x/b", np.nan))):
        file = testing.dump_name("Add", name, task_id=i, stream_id=1, timestamp=10**15 + i)
        tensor = np.full(4, value, np.float32)
        testing.write_dump(directory / file, op_name=name, outputs=[tensor])
    return root


def test_check_is_printed_for_people(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "good.json", "surprising.json", "bad.json"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert [block.splitlines() for block in out.split("\n\n")] == [
        [
            "good.json: accepted",
            "  call   succeeds",
            '  dumps  Outputs of operators "conv1" of all models',
            "  next   fastdump config explain good.json",
        ],
        [
            "surprising.json: accepted, but nothing is dumped",
            "  call     succeeds",
            "  warning  nothing is dumped: dump_list is empty; [{}] would select all",
            "           operators of all models",
            "  place    dump (line 1, column 2)",
        ],
        [
            "bad.json: refused",
            "  call   fails with EP0002; nothing is dumped",
            '  error  "out" is not one of input, output, all',
            "  place  dump.dump_mode (line 2, column 30)",
            "  more   1 more error",
            "  next   fastdump config check -v bad.json",
        ],
    ]


def test_check_verbosely_lists_all(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "bad.json"]) == 1
    answer = capsys.readouterr().out
    assert main(["config", "check", "-v", "bad.json"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(answer + "\n")
    assert out.removeprefix(answer).splitlines() == [
        "",
        "bad.json: refused (2 errors)",
        '  error: dump.dump_mode (line 2, column 30): "out" is not one of input, output, all'
        " [value, EP0002]",
        '  error: dump.dump_step (line 2, column 50): item 0, "5-3", is a range that ends before'
        " it begins [step, EP0003]",
    ]


def checked(capsys: pytest.CaptureFixture[str], dump: dict[str, Any]) -> list[str]:
    Path("it.json").write_text(json.dumps({"dump": dump}))
    main(["config", "check", "it.json"])
    return capsys.readouterr().out.splitlines()


def test_the_answer_begins_with_what_keeps_most_from_being_dumped(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pattern = {"dump_path": "no/where", "dump_list": [{"modelname": "x", "layer": ["*layers.3*"]}]}
    lines = checked(capsys, pattern)
    assert lines[0] == "it.json: accepted, but wildcards in names are taken literally"
    assert lines[2].startswith('  warning  * in "*layers.3*" is no wildcard;')
    assert lines[-2:] == [
        "  more     2 more warnings",
        "  next     fastdump config check -v it.json",
    ]
    lines = checked(capsys, {**pattern, "dump_path": "."} | {"dump_list": [{"layer": ["*"]}]})
    assert lines[-1] == "  next     fastdump config explain it.json --like DUMP"
    lines = checked(capsys, {"dump_debug": "on", "dump_path": ".", "dump_list": [{}]})
    assert lines[:2] == [
        "it.json: accepted, but no operator of a graph is dumped",
        "  call     succeeds; only the log has what the graph engine says",
    ]
    lines = checked(capsys, {"dump_path": "no/where", "dump_list": [{}, {}]})
    assert lines[0] == "it.json: accepted"
    assert lines[2].startswith("  warning  this entry does not count")
    lines = checked(capsys, {"dump_path": "no/where", "dump_list": [{}]})
    assert lines[2].startswith('  warning  "no/where" does not exist')
    assert lines[-1] == "  next     fastdump config explain it.json"


@pytest.mark.parametrize(
    "dump",
    [
        {"dump_path": "a" * 600, "dump_mode": "x", "dump_list": 3},
        {"dump_path": "/" + "\u5c42" * 90, "dump_list": [{"layer": ["\u5c42*" * 50, "x"]}]},
        {"dump_path": "\x1b[2J", "dump_list": [{"layer": [f"n{i}/{'y' * 50}" for i in range(99)]}]},
        {"dump_list": [{"optype_blacklist": [{"name": "a " * 99, "pos": ["x" * 200]}]}]},
        {"dump_path": ".", "dump_list": [{"layer": ["z" * 59]}]},
        {"dump_path": ".", "dump_list": [{"layer": [f"n{i}/{'y' * 50}" for i in range(99)]}]},
    ],
)
def test_the_answer_fits_eight_lines_of_80_columns(dump: dict[str, Any]) -> None:
    report = config.check_text(json.dumps({"dump": dump}))
    lines = [plain(line) for line in report.lines(width=80)]
    assert 2 <= len(lines) <= 8
    assert max(map(cell_len, lines)) <= 80
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["good.json"], 0),
        (["surprising.json"], 0),
        (["bad.json"], 1),
        (["good.json", "bad.json"], 1),
        (["nowhere.json"], 2),
        (["."], 2),
        (["good.json", "nowhere.json"], 3),
        (["bad.json", "nowhere.json"], 1),
    ],
)
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_exit_codes_of_check(
    files: Path, names: list[str], code: int, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "check", *names, *options]) == code
    err = capsys.readouterr().err
    unread = {"nowhere.json": "No such file or directory", ".": "Is a directory"}
    assert err == "".join(
        f"fastdump: error: {name}: {unread[name]}\n" for name in names if name in unread
    )


def test_check_as_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", "bad.json", "nowhere.json", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["unread"] == {"nowhere.json": "No such file or directory"}
    (report,) = document["files"]
    assert (report["name"], report["verdict"]) == ("bad.json", "reject")
    assert report["graph_engine"] == "reject"
    assert report["findings"][0] == {
        "severity": "error",
        "rule": "value",
        "code": "EP0002",
        "message": '"out" is not one of input, output, all',
        "place": {
            "path": "dump.dump_mode",
            "line": 2,
            "column": 30,
            "offset": BAD.index('"dump_mode"'),
        },
    }
    assert report["findings"][1]["place"]["path"] == "dump.dump_step"


def test_a_missing_dump_path_is_an_error_only_here(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("away.json").write_text(GOOD.replace('"."', '"nowhere"'))
    assert main(["config", "check", "away.json"]) == 0
    assert "\n  place    dump.dump_path (" in capsys.readouterr().out
    assert main(["config", "check", "away.json", "--here"]) == 1
    assert capsys.readouterr().out.startswith("away.json: refused\n")


def test_explain_an_acl_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "explain", "good.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith('What is dumped\n  Outputs of operators "conv1" of all models.\n')
    assert out == str(config.explain(config.load("good.json"))) + "\n"
    assert main(["config", "explain", "good.json", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["what"][0] == 'Outputs of operators "conv1" of all models.'
    assert set(document) == {
        *("fastdump", "path", "what", "where", "size", "calls", "notes", "footprint", "warnings")
    }
    assert document["footprint"] is None


def test_explain_shows_warnings_and_refuses_what_is_refused(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("debug.json").write_text(
        '{"dump": {"dump_path": ".", "dump_debug": "on", "dump_list": [{}]}}'
    )
    assert main(["config", "explain", "debug.json"]) == 0
    assert "the graph engine refuses this" in capsys.readouterr().out.splitlines()[-1]
    assert main(["config", "explain", "bad.json"]) == 1
    assert capsys.readouterr().out.startswith("bad.json: refused\n")
    assert main(["config", "explain", "bad.json", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "reject"


def test_explain_with_an_example(
    files: Path, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", str(dump), "-o", "table.csv"]) == 0
    Path("all.json").write_text(GOOD.replace('{"layer": ["conv1"]}', "{}"))
    capsys.readouterr()
    for example in (str(dump), "table.csv"):
        assert main(["config", "explain", "all.json", "--like", example]) == 0
        assert "Each step of each rank: 2 tensors, about 32 B." in capsys.readouterr().out


def test_explain_tells_what_each_rule_catches(
    files: Path, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("typo.json").write_text(GOOD.replace('"conv1"', '"x/b", "typo"'))
    like = ["--like", str(dump)]
    assert main(["config", "explain", "typo.json", *like]) == 0
    out = capsys.readouterr().out
    assert 'Nothing is caught by layer "typo".' in out
    assert '          1        1   16 B    layer "x/b"\n' in out
    assert main(["config", "explain", "typo.json", *like, *like, "--json"]) == 0
    footprint = json.loads(capsys.readouterr().out)["footprint"]
    assert footprint["rules"][-1] == {
        "place": "dump.dump_list[0].layer[1]",
        "rule": 'layer "typo"',
        "n_operators": 0,
        "n_tensors": 0,
        "nbytes": 0,
        "note": "",
        "is_empty": True,
    }
    assert footprint["n_operators"] == 1
    assert main(["config", "explain", "good.json", *like]) == 1, "it would dump nothing"
    assert "Nothing of the example is dumped." in capsys.readouterr().out


def test_explain_a_dump(files: Path, dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "explain", str(dump)]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert dict(lines) == {
        "kind": "model",
        "data": "tensor",
        "mode": "output",
        "models": "net",
        "devices": "0",
        "steps": "0",
        "times": "20261120101112",
        "files": "2 of 2 operators",
    }


def test_explain_a_table_of_a_dump(
    files: Path, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "explain", str(dump)]) == 0
    expected = capsys.readouterr().out
    assert main(["stats", str(dump), "-o", "table.csv"]) == 0
    capsys.readouterr()
    assert main(["config", "explain", "table.csv"]) == 0
    assert capsys.readouterr().out == expected


def test_files_that_are_no_dumps_are_counted(
    dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = testing.core_name("k", stream_id=1, task_id=2, timestamp=20260101120000000)
    (dump / name).write_bytes(b"\x7fELF")
    assert main(["config", "explain", str(dump)]) == 0
    assert "skipped  1 ELF core\n" in capsys.readouterr().out
    assert main(["config", "explain", str(dump), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == {"ELF core": 1}


def test_explain_what_a_dump_lacks(
    files: Path, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "explain", str(dump), "--config", "good.json"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == 'missing  Operators are missing: "conv1".'
    Path("kept.json").write_text(GOOD.replace("conv1", "x/b"))
    assert main(["config", "explain", str(dump), "--config", "kept.json"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "missing  nothing"
    assert main(["config", "explain", str(dump), "--config", "good.json", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["missing"] == ['Operators are missing: "conv1".']
    assert document["kinds"] == ["model"]
    assert main(["config", "explain", str(dump), "--config", "bad.json"]) == 1


def new(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["config", "new", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert config.check_text(out).verdict == "accept"
    written: dict[str, Any] = json.loads(out)["dump"]
    return written


def test_new_of_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert new(capsys, "model", "/d") == {"dump_path": "/d", "dump_list": [{}]}
    assert new(capsys, "model", "/d", "--stats", "--statistic", "Max", "--mode", "all") == {
        "dump_path": "/d",
        "dump_list": [{}],
        "dump_mode": "all",
        "dump_data": "stats",
        "dump_stats": ["Max"],
    }
    assert new(capsys, "single-op", "/d", "--step", "0|3-5") == {
        "dump_path": "/d",
        "dump_op_switch": "on",
        "dump_step": "0|3-5",
    }
    assert new(capsys, "overflow", "/d") == {"dump_path": "/d", "dump_debug": "on"}
    assert new(capsys, "watcher", "/d", "--watch", "c", "--after", "a", "--after", "b") == {
        "dump_path": "/d",
        "dump_list": [{"layer": ["a", "b"], "watcher_nodes": ["c"]}],
        "dump_mode": "output",
        "dump_scene": "watcher",
    }
    assert main(["config", "new", "exception", "--detail", "detail"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {"dump": {"dump_scene": "aic_err_detail_dump"}}
    assert err.startswith("fastdump: warning: dump.dump_scene")
    assert new(capsys, "exception", "/d") == {
        "dump_path": "/d",
        "dump_scene": "aic_err_norm_dump",
    }


def test_new_with_entries(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--model", "m", "--model", "n", "--layer", "a", "--range", "x", "y"]
    arguments += ["--without-type", "T", "output0,output1", "--without-op", "o", "output2"]
    written = new(capsys, "model", "/d", *arguments)
    assert written["dump_level"] == "op", "the only level with which this is allowed"
    assert [entry.pop("model_name") for entry in written["dump_list"]] == ["m", "n"]
    for entry in written["dump_list"]:
        assert entry == {
            "layer": ["a"],
            "optype_blacklist": [{"name": "T", "pos": ["output0", "output1"]}],
            "opname_blacklist": [{"name": "o", "pos": ["output2"]}],
            "opname_range": [{"begin": "x", "end": "y"}],
        }


def test_new_like_a_dump_writes_its_names(
    files: Path, dump: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["config", "new", "model", "/d", "--layer", "*b", "--step", "0-3"]
    assert main([*arguments, "--like", str(dump)]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["dump"] == {
        "dump_path": "/d",
        "dump_list": [{"layer": ["x/b"]}],
        "dump_level": "op",
        "dump_step": "0-3",
    }
    assert err.splitlines() == [
        'fastdump: layer "*b": 1 operator',
        "fastdump: note: dump_step 1-3 is not in the example, which has step 0",
        "fastdump: Each step of each rank: 1 tensor, about 16 B.",
        "fastdump: 4 steps on 1 rank: about 64 B.",
    ]
    assert main(["stats", str(dump), "-o", "table.csv"]) == 0
    capsys.readouterr()
    assert main([*arguments, "--like", "table.csv", "--for-torchair"]) == 0
    assert "config.dump_config.dump_layer = 'x/b'\n" in capsys.readouterr().out
    watch = ["config", "new", "watcher", "/d", "--watch", "x*", "--after", "a"]
    assert main([*watch, "--like", str(dump)]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["dump"]["dump_list"]
    assert entry == {"layer": ["a"], "watcher_nodes": ["x/b"]}
    assert main(["config", "new", "model", "/d", "--op-type", "A*", "--like", str(dump)]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["dump"]["dump_list"]
    assert entry == {"layer": ["a", "x/b"]}


@pytest.mark.parametrize(
    "arguments",
    [
        ["model", "/d", "--layer", "x*b", "--layer", "a"],
        ["model", "/my dump", "--layer", "x[/_]b", "--step", "0|3-5", "--stats", "-o", "x.json"],
        ["model", "/d", "--without-op", "x?b", "output0"],
        ["model", "/d", "--model", "n*", "--range", "a", "x/b"],
        ["watcher", "/d", "--watch", "*b"],
    ],
)
def test_a_pattern_without_an_example_is_an_error_that_tells_the_command(
    files: Path, dump: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "new", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert not Path("x.json").exists()
    _, command = err.rstrip("\n").split(" has: ")
    assert command.startswith("fastdump config new ")
    assert command.endswith(" --like DUMP")
    words = [*shlex.split(command)[1:-1], str(dump)]
    assert main(words) == 0, "the command does what it promises"
    out, _ = capsys.readouterr()
    text = Path("x.json").read_text() if "-o" in arguments else out
    assert "x/b" in text
    (entry,) = json.loads(text)["dump"]["dump_list"]
    assert not any(wildcard in json.dumps(entry).strip("[]{}") for wildcard in "*?")


def test_the_command_to_type_reads_standard_input_again() -> None:
    arguments = ["config", "new", "model", "/d", "--layer", "x*", "--from-triage", "-"]
    process = subprocess.run(
        [sys.executable, "-m", "fastdump", *arguments], input="", capture_output=True, text=True
    )
    assert process.returncode == 2
    assert process.stderr.endswith("model /d --layer 'x*' --from-triage - --like DUMP\n")


def test_a_number_without_an_example_is_a_name(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "new", "model", "/d", "--layer", "3"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["dump"]["dump_list"] == [{"layer": ["3"]}]
    assert err == (
        'fastdump: warning: "3" is taken for the name of an operator; with --like for a layer\n'
    )


def test_an_operator_of_the_example_may_have_a_wildcard_in_its_name(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = testing.model_dump_dir(
        "d", time="20261120101112", device=0, model="net", model_id=1, step=0
    )
    file = testing.dump_name("Add", "f", task_id=1, stream_id=1, timestamp=10**15)
    testing.write_dump(directory / file, op_name="x[0]", outputs=[np.ones(4, np.float32)])
    assert main(["config", "new", "model", "/d", "--layer", "x[[]0]", "--like", "d"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["dump"]["dump_list"] == [{"layer": ["x[0]"]}]
    assert "no wildcard" not in err
    Path("report.json").write_text(triage_report("x[0]"))
    assert main(["config", "new", "model", "/d", "--from-triage", "report.json"]) == 0
    assert "no wildcard" not in capsys.readouterr().err


def triage_report(op_name: str, **operator: Any) -> str:
    run = {"rank": 0, "device": 0, "step": 3, "op_type": "Add", "op_name": op_name, "paths": []}
    origin = {"verdict": "origin", "operator": run | operator}
    also = [run | operator | {"step": step} for step in operator.pop("also", ())]
    finding = {"kind": "nan", "severity": "error", "origin": origin, "also": also, "chain": []}
    return json.dumps({"clean": False, "findings": [finding]})


def test_new_from_triage(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("report.json").write_text(triage_report("x/b", also=[4, 6]))
    arguments = ["config", "new", "model", "/d", "--from-triage", "report.json"]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["dump"] == {
        "dump_path": "/d",
        "dump_list": [{"layer": ["x/b"]}],
        "dump_mode": "all",
        "dump_level": "op",
        "dump_step": "3-4|6",
    }
    assert config.check_text(out).verdict == "accept"
    assert err == "fastdump: 1 operator, steps 3-4, 6, rank 0\n"
    assert main([*arguments, "--step", "0", "--mode", "output", "--layer", "c"]) == 0
    dump = json.loads(capsys.readouterr().out)["dump"]
    assert (dump["dump_step"], dump["dump_mode"]) == ("0", "output")
    assert dump["dump_list"] == [{"layer": ["c", "x/b"]}]
    assert main([*arguments, "--for-torchair"]) == 0
    assert "config.dump_config.dump_layer = 'x/b'\n" in capsys.readouterr().out


def test_new_from_triage_says_what_it_cannot_select(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = range(0, 300, 2)
    Path("report.json").write_text(triage_report("a_b", paths=["x.csv"], also=list(steps)))
    arguments = ["config", "new", "model", "/d", "--from-triage", "report.json"]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert len(json.loads(out)["dump"]["dump_step"].split("|")) == 100
    assert "names come from statistics files" in err
    assert "only the first 100 of 149 ranges of steps" in err
    Path("report.json").write_text(triage_report("k", op_type="aclnnAdd_0_L2"))
    assert main(arguments) == 2
    assert "see 'fastdump config new single-op'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not what 'fastdump triage --json' prints: invalid JSON"),
        ('{"dump": {}}', "report.json: not what 'fastdump triage --json' prints: findings is"),
        ('{"findings": []}', "the report names no operator"),
        (triage_report("a", step=-1), "dump.dump_step: item 0"),
        (triage_report("\x1b[2J\ud800"), "invalid JSON"),
        (None, "No such file or directory"),
    ],
)
def test_a_wrong_report_is_one_line_and_exit_code_2(
    files: Path, text: str | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if text is not None:
        Path("report.json").write_text(text)
    assert main(["config", "new", "model", "/d", "--from-triage", "report.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    last = err.splitlines()[-1]
    assert last.startswith("fastdump: error: ")
    assert last.isprintable()
    assert message in last


def test_new_into_a_file(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "new", "overflow", "/d", "-o", "acl.json"]) == 0
    assert capsys.readouterr().out == ""
    assert config.load("acl.json") == config.DumpConfig(dump_path="/d", dump_debug="on")
    assert main(["config", "new", "overflow", "/d", "-o", "no/where/acl.json"]) == 2
    assert "No such file or directory" in capsys.readouterr().err


def test_new_for_torchair(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "new", "model", "/d", "--layer", "a", "--for-torchair"]) == 0
    out = capsys.readouterr().out
    compile(out, "code", "exec")
    assert "config.dump_config.dump_layer = 'a'\n" in out
    assert main(["config", "new", "overflow", "/d", "--for-torchair"]) == 2
    assert "cannot express this: overflows; with -o FILE" in capsys.readouterr().err
    assert main(["config", "new", "overflow", "/d", "--for-torchair", "-o", "acl.json"]) == 0
    path = str((files / "acl.json").resolve())
    assert f"config.dump_config.dump_config_path = {path!r}\n" in capsys.readouterr().out
    assert config.load("acl.json").is_overflow


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check"], "Missing argument 'FILE...'"),
        (["explain", "good.json", "--config", "good.json"], "--config is for a dump"),
        (["explain", ".", "--like", "x"], "--like is for a configuration"),
        (["explain", "nowhere.json"], "nowhere.json: No such file or directory"),
        (["explain", "good.json", "--like", "nowhere"], "nowhere: No such file or directory"),
        (["new", "model"], "Missing argument 'DUMP_PATH'"),
        (["new", "watcher", "/d"], "Missing option '--watch'"),
        (["new", "model", ""], "dump.dump_path: dump_path is empty"),
        (["new", "model", "/d", "--step", "5-3"], "dump.dump_step: item 0"),
        (
            ["new", "model", "/d", "--range", "a", "b"],
            "opname_range needs a model_name, which is missing",
        ),
        (["new", "model", "/d", "--statistic", "Max"], "--statistic needs --stats"),
        (["new", "model", "/d", "--mode", "both"], "Invalid value for '--mode'"),
        (["new", "model", "/d", "--op-type", "Add"], "--op-type needs --like"),
        (["new", "model", "/d", "--layer", "a", "--like", "nowhere"], "nowhere: No such file"),
        (["new", "nothing"], "No such command 'nothing'"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    files: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("fastdump: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_names_from_files_are_escaped(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "\x1b[2J.json"
    Path(name).write_text('{"dump": {"dump_path": "/\\u001b[2J", "dump_mode": "\\u202e"}}')
    assert main(["config", "check", name]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert out.startswith("\\x1b[2J.json: refused")


@pytest.mark.parametrize("arguments", [[], ["new"]])
def test_a_group_alone_shows_its_help(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", *arguments]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Usage: fastdump config")
    assert "Examples:\n    fastdump config " in out


@pytest.mark.parametrize(
    "name",
    [
        "check",
        "explain",
        *(f"new {k}" for k in ("model", "single-op", "overflow", "watcher", "exception")),
    ],
)
def test_every_command_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", *name.split(), "--help"]) == 0
    assert f"\n    fastdump config {name} " in capsys.readouterr().out


def test_nothing_else_of_the_package_imports_it() -> None:
    code = (
        "import sys, fastdump, fastdump._cli, fastdump._cli.stats\n"
        "assert fastdump.stats\n"
        "print(any(name.startswith('fastdump.config') for name in sys.modules))\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert process.stdout == "False\n"


def test_it_is_imported_when_it_is_used() -> None:
    code = "import fastdump; print(fastdump.config.check_text('{}').verdict)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout == "off\n"
