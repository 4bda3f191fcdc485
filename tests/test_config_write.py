"""`fastdump.config.build`, torchair's options, and the operators to dump next."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from fastdump import config


def parse(**keys: Any) -> config.DumpConfig:
    return config.parse(json.dumps({"dump": {"dump_path": "/data", **keys}}))


def test_what_is_built_is_what_was_asked_for() -> None:
    text = config.build(
        dump_path="/data/\u5c42",
        dump_list=[
            config.ListEntry(
                model_name="m",
                layer=("a", "b"),
                optype_blacklist=(config.BlacklistItem(name="T", pos=("input0",)),),
                opname_range=(config.OpnameRange(begin="x", end="y"),),
            ),
            config.ListEntry(model_name="n"),
        ],
        dump_mode="all",
        dump_level="op",
        dump_step=[10, 3, 5, 4, 0, 3],
        dump_data="stats",
        dump_stats=["Max", "Nan"],
        dump_kernel_data=["printf", "assert"],
    )
    assert text.endswith("}\n")
    assert json.loads(text) == {
        "dump": {
            "dump_path": "/data/\u5c42",
            "dump_list": [
                {
                    "model_name": "m",
                    "layer": ["a", "b"],
                    "optype_blacklist": [{"name": "T", "pos": ["input0"]}],
                    "opname_range": [{"begin": "x", "end": "y"}],
                },
                {"model_name": "n"},
            ],
            "dump_mode": "all",
            "dump_level": "op",
            "dump_step": "0|3-5|10",
            "dump_data": "stats",
            "dump_stats": ["Max", "Nan"],
            "dump_kernel_data": "printf,assert",
        }
    }
    assert config.check_text(text).verdict == "accept"


def test_a_record_is_written_as_it_was_read() -> None:
    dump = {
        "dump_path": "/data",
        "dump_kernel_data": "printf,assert",
        "dump_list": [{"layer": [], "opname_range": [{"begin": "x"}]}, {}],
        "dump_op_switch": "on",
    }
    text = config.DumpConfig(
        dump_path="/data",
        dump_kernel_data=("printf", "assert"),
        dump_list=(
            config.ListEntry(layer=(), opname_range=(config.OpnameRange(begin="x"),)),
            config.ListEntry(),
        ),
        dump_op_switch="on",
    ).to_json()
    assert json.loads(text) == {"dump": dump}
    assert config.DumpConfig().to_json() == '{\n    "dump": {}\n}\n'


@pytest.mark.parametrize(
    "keys",
    [
        {"dump_list": [config.ListEntry()]},
        {"dump_path": "/d", "dump_mode": "both"},
        {"dump_path": "/d", "dump_list": [config.ListEntry(layer=())]},
        {"dump_path": "/d", "dump_step": "5-3", "dump_op_switch": "on"},
        {"dump_path": "/d", "dump_stats": ["Max"]},
        {"dump_path": "/d", "dump_scene": "watcher", "dump_debug": "on"},
        {"dump_path": 3, "dump_debug": "on"},
        {"dump_path": "/\ud800", "dump_debug": "on"},
    ],
)
def test_what_would_be_refused_is_not_built(keys: dict[str, Any]) -> None:
    with pytest.raises(config.ConfigError) as raised:
        config.build(**keys)
    assert raised.value.findings
    assert all(finding.severity == "error" for finding in raised.value.findings)


def test_too_many_steps_are_refused() -> None:
    config.build(dump_path="/d", dump_op_switch="on", dump_step=range(0, 200, 2))
    with pytest.raises(config.ConfigError, match="101 items"):
        config.build(dump_path="/d", dump_op_switch="on", dump_step=range(0, 202, 2))


# torchair


def test_options_of_torchair() -> None:
    dumped = parse(
        dump_list=[{"layer": ["Add_1", "conv/2"]}], dump_step="0|003-3|4-5", dump_data="stats"
    )
    assert config.torchair_options(dumped) == {
        "enable_dump": True,
        "dump_path": "/data",
        "dump_mode": "output",
        "dump_data": "stats",
        "dump_step": "0|3|4-5",
        "dump_layer": "Add_1 conv/2",
    }


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({}, "nothing is dumped"),
        ({"dump_debug": "on"}, "overflows"),
        ({"dump_scene": "aic_err_norm_dump"}, "exceptions"),
        ({"dump_scene": "watcher", "dump_list": [{"watcher_nodes": ["a"]}]}, "a watcher"),
        ({"dump_op_switch": "on"}, "operators that are run one by one"),
        ({"dump_list": [{"model_name": "m"}]}, 'only model "m"'),
        ({"dump_list": [{}], "dump_level": "kernel"}, "dump_level kernel"),
        ({"dump_list": [{}], "dump_data": "stats", "dump_stats": ["Max"]}, "dump_stats"),
        ({"dump_list": [{}], "dump_kernel_data": "all"}, "dump_kernel_data"),
        ({"dump_list": [{}], "dump_path": "1.2.3.4:/d"}, "another host"),
        ({"dump_list": [{}], "dump_step": f"1-{2**31}"}, "beyond 32 bits"),
        ({"dump_list": [{"layer": ["a b"]}]}, 'the operator name "a b"'),
        ({"dump_list": [{"layer": ["a-b"]}]}, 'the operator name "a-b"'),
        (
            {
                "dump_list": [{"opname_blacklist": [{"name": "a", "pos": ["input0"]}]}],
                "dump_level": "op",
            },
            "opname_blacklist",
        ),
    ],
)
def test_what_torchairs_options_cannot_express(keys: dict[str, Any], reason: str) -> None:
    with pytest.raises(config.ConfigError, match="cannot express this") as raised:
        config.torchair_options(parse(**keys))
    assert reason in str(raised.value)


def test_the_code_for_torchair_sets_each_option() -> None:
    options = config.torchair_options(parse(dump_list=[{"layer": ['a"b', "c\\d"]}]))
    code = config.torchair_code(options)
    assigned = {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in ast.parse(code).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    assert assigned == {f"config.dump_config.{name}": value for name, value in options.items()}


def test_more_than_a_file_may_have_is_refused() -> None:
    layer = [f"{i:0100}" for i in range(105_000)]
    with pytest.raises(config.ConfigError, match="the text: more than 10,485,760 bytes"):
        config.build(dump_path="/d", dump_list=[config.ListEntry(layer=tuple(layer))])


# What to dump next


def operator(
    op_name: str | None, step: int | None = 0, rank: int | None = 0, **more: Any
) -> dict[str, Any]:
    path = f"20260101120000/0/net/1/{step}/Add.{op_name}.1.1.1700000000000000"
    return {
        **{"rank": rank, "device": 0, "step": step, "op_type": "Add", "op_name": op_name},
        **{"timestamp": 1700000000000000, "paths": [path]},
        **more,
    }


def finding(
    origin: dict[str, Any],
    *,
    severity: str = "error",
    last_clean: dict[str, Any] | None = None,
    also: list[dict[str, Any]] | None = None,
    chain: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    return {
        **{"kind": "nan", "severity": severity, "sentence": "...", "also": also or []},
        "origin": {"verdict": "origin", "operator": origin, "last_clean": last_clean},
        "chain": [{"operator": infected, "known_by": ["content"]} for infected in chain or []],
    }


def report(*findings: dict[str, Any]) -> dict[str, Any]:
    return {"fastdump": "1.0", "clean": not findings, "findings": list(findings), "notes": []}


def test_suspects_are_the_origin_and_what_is_next_to_it() -> None:
    origin = finding(
        operator("b", step=3, rank=1),
        last_clean=operator("a", step=3, rank=1),
        also=[operator("b", step=5, rank=0), operator("b", step=4, rank=1)],
        chain=[operator(name, step=7) for name in ("c", "d", "b", "e", "f")],
    )
    found = config.suspects(report(origin))
    assert found == config.Suspects(
        layer=("a", "b", "c", "d"),
        steps=(3, 4, 5),
        ranks=(0, 1),
        unselectable=(),
        file_names=False,
    )
    assert config.suspects(json.dumps(report(origin))) == found
    assert config.suspects(json.dumps(report(origin)).encode()) == found


def test_warnings_count_only_without_errors_and_findings_only_with_an_origin() -> None:
    lacks_a_step = finding(operator("x")) | {"origin": None}
    suspicious = finding(operator("w", step=1), severity="warning")
    assert config.suspects(report(lacks_a_step, suspicious)).layer == ("w",)
    errors = [finding(operator(f"e{i}", step=i)) for i in range(3)]
    found = config.suspects(report(lacks_a_step, *errors, suspicious))
    assert (found.layer, found.steps) == (("e0", "e1", "e2"), (0, 1, 2))
    found = config.suspects(report(lacks_a_step, *errors, suspicious), 2)
    assert (found.layer, found.steps) == (("e0", "e1"), (0, 1))
    assert config.suspects(report()).layer == ()


def test_what_cannot_be_selected_by_name_is_told() -> None:
    path = "rank0/20260101120000/0/MatMul.mm.1.1.1700000000000000"
    found = config.suspects(
        report(
            finding(operator("k", op_type="aclnnAdd_0_L2")),
            finding(operator("mm", step=None, paths=[path])),
            finding(operator("no_step", step=None, rank=None)),
            finding(operator(None)),
        )
    )
    assert found.unselectable == ("k", "mm")
    assert found.layer == ("no_step",)


def test_names_from_statistics_files_are_told() -> None:
    assert config.suspects(
        report(finding(operator("a_b", paths=["x/Add.a_b.1.1.1.csv"])))
    ).file_names


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "invalid JSON"),
        (b"\xff", "invalid JSON"),
        (b"[" * 100_000, "invalid JSON"),
        (b"[]", "the report is an array, expected an object"),
        (b"{}", "findings is missing"),
        (b'{"findings": {}}', "findings is an object, expected an array"),
        (b'{"findings": [3]}', "findings[0] is a number, expected an object"),
        (
            b'{"findings": [{"severity": "fatal", "origin": null}]}',
            'findings[0].severity is "fatal", expected "error" or "warning"',
        ),
        (b'{"findings": [{"severity": "error"}]}', "findings[0].origin is missing"),
        (
            json.dumps(report(finding(operator("a") | {"step": True}))),
            "origin.operator.step is true, expected an integer",
        ),
        (
            json.dumps(report(finding(operator("a") | {"op_name": 3}))),
            "origin.operator.op_name is a number, expected a string",
        ),
        (
            json.dumps(report(finding(operator("a"), chain=[operator("b") | {"paths": [None]}]))),
            "findings[0].chain[0].operator.paths[0] is null, expected a string",
        ),
        (json.dumps(report(finding(operator("a") | {"op_name": "\ud800"}))), "invalid JSON"),
        (
            json.dumps(report(finding({}))),
            "findings[0].origin.operator.op_name is missing",
        ),
    ],
)
def test_what_is_no_report_is_refused(text: str | bytes, reason: str) -> None:
    with pytest.raises(config.ConfigError) as raised:
        config.suspects(text)
    assert str(raised.value).startswith("not what 'fastdump triage --json' prints: ")
    assert reason in str(raised.value)


def test_names_that_act_on_a_terminal_are_written_as_escapes() -> None:
    name = "\x1b[2J\u202e\U000e0001\u5c42"
    text = config.build(dump_path="/d", dump_list=[config.ListEntry(layer=(name,))])
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert "\u5c42" in text
    entries = config.parse(text).dump_list
    assert entries is not None
    assert entries[0].layer == (name,)
