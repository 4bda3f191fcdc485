"""`fastdump.config.check`: each rule by hand, places, warnings, hostile files."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdump import FastdumpError, config
from fastdump.config._json_text import JsonObject
from fastdump.config._keys import (
    BLACKLIST_ITEM,
    DUMP,
    LIST_ENTRY,
    OPNAME_RANGE,
    Keys,
    Kind,
    Names,
)
from fastdump.config._validation import problems

ALL = {"dump_path": ".", "dump_list": [{}]}


def text_of(**keys: Any) -> str:
    return json.dumps({"dump": keys})


def entry(**keys: Any) -> str:
    """Return a dump of operators with one entry; keys of the "dump" object begin with dump_."""
    outer = {name: keys.pop(name) for name in list(keys) if name.startswith("dump_")}
    return text_of(dump_path=".", **outer, dump_list=[keys])


def errors(text: str | bytes, *, here: bool = False) -> list[tuple[str, str, str | None]]:
    """Return rule, place and code of each error."""
    report = config.check_text(text, here=here)
    assert (report.verdict == "reject") == bool(report.errors) == (report.config is None)
    return [(error.rule, error.place.path, error.code) for error in report.errors]


def warnings(text: str | bytes) -> list[tuple[str, str]]:
    report = config.check_text(text)
    return [(w.rule, w.place.path) for w in report.warnings if w.rule != "path-exists"]


def refuses(text: str | bytes, rule: str, path: str, code: str) -> None:
    assert errors(text) == [(rule, path, code)]


def accepts(text: str | bytes) -> config.Report:
    report = config.check_text(text)
    assert [str(error) for error in report.errors] == []
    assert report.verdict == "accept"
    return report


# The file and its syntax


def test_an_empty_file_is_accepted_and_a_blank_one_is_not() -> None:
    assert config.check_text(b"").verdict == "off"
    refuses(b" \n", "syntax", "", "EP0004")


def test_ten_mebibytes_are_the_limit(tmp_path: Path) -> None:
    text = text_of(**ALL).encode()
    file = tmp_path / "acl.json"
    file.write_bytes(text + b" " * (10 * 1024 * 1024 - len(text)))
    assert config.check(file).verdict == "accept"
    with file.open("ab") as more:
        more.write(b" ")
    assert [(error.rule, error.code) for error in config.check(file).errors] == [
        ("file-size", "100003")
    ]


@pytest.mark.parametrize(("bracket", "around"), [("{", 2), ("[", 0)])
def test_brackets_nest_ten_deep_by_their_characters(bracket: str, around: int) -> None:
    accepts(text_of(**ALL, extra=bracket * (10 - around)))
    refuses(text_of(**ALL, extra=bracket * (11 - around)), "nesting", "", "100006")


def test_brackets_that_close_nothing_do_not_count() -> None:
    closing = "}" * 5 + "]" * 5
    accepts(text_of(**ALL, extra=closing + "{" * 10 + "[" * 10))
    refuses(text_of(**ALL, extra=closing + "{" * 11), "nesting", "", "100006")
    refuses(text_of(**ALL, extra=closing + "[" * 11), "nesting", "", "100006")


def test_real_nesting_that_the_count_does_not_see_is_accepted() -> None:
    deep = '["]",' * 50 + "0" + "]" * 50
    accepts(text_of(**ALL).replace('{"dump": {', f'{{"dump": {{"extra": {deep}, '))


def test_nesting_that_strings_hide_from_the_count_is_bounded_too() -> None:
    def nested(depth: int) -> str:
        return '{"dump": ' + '["]\\\\", "\\"]",' * (depth - 1) + "0" + "]" * (depth - 1) + "}"

    refuses(nested(100), "type", "dump", "EP0001")
    for depth in (101, 200_000):
        refuses(nested(depth), "syntax", "", "EP0004")


def test_a_byte_order_mark_is_accepted_once() -> None:
    text = text_of(**ALL).encode()
    accepts(b"\xef\xbb\xbf" + text)
    refuses(b"\xef\xbb\xbf" * 2 + text, "syntax", "", "EP0004")


@pytest.mark.parametrize(
    "bad", [b"\xff", b"\xc3", b"\xe9", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
)
def test_bytes_that_are_not_utf_8_are_refused_at_their_place(bad: bytes) -> None:
    text = text_of(dump_path=".", dump_list=[{"model_name": "\u5c42?"}]).encode()
    text = json.dumps(json.loads(text), ensure_ascii=False, indent=1).encode().replace(b"?", bad)
    (error,) = config.check_text(text).errors
    assert (error.rule, error.code) == ("encoding", "EP0004")
    assert error.place.offset == text.index(bad)
    lines = text[: text.index(bad)].decode().split("\n")
    assert (error.place.line, error.place.column) == (len(lines), len(lines[-1]) + 1)


@pytest.mark.parametrize(
    "text",
    [
        "{'dump': {}}",
        '// comment\n{"dump": {}}',
        '{"dump": {},}',
        '{"dump": {}} x',
        '{"dump": {"dump_path": NaN}}',
        '{"dump": {"extra": 1e999}}',
        '{"dump": {"extra": "\\ud800"}}',
        '{"dump": {"dump_path": "/\0"}}',
    ],
)
def test_json_is_strict(text: str) -> None:
    refuses(text, "syntax", "", "EP0004")


def test_a_syntax_error_says_what_was_expected_and_what_was_found() -> None:
    (error,) = config.check_text('{"dump": {},\n "x": yes}').errors
    assert str(error) == "error: line 2, column 7: expected value, found 'y' [syntax, EP0004]"
    (error,) = config.check_text('{"dump": {}').errors
    assert "found the end of the text" in error.message


def test_a_nul_byte_ends_the_text() -> None:
    text = text_of(**ALL)
    report = accepts(text + "\0\0 {{[")
    assert [(w.rule, w.message.rpartition(";")[2]) for w in report.warnings] == [
        ("nul", " 5 bytes after it are not read")
    ]
    refuses("\0" + text, "syntax", "", "EP0004")


# The "dump" object


@pytest.mark.parametrize("text", ["{}", "[]", '[{"dump": {}}]', "null", "3", '"dump"'])
def test_without_a_dump_nothing_is_dumped(text: str) -> None:
    report = config.check_text(text)
    assert report.verdict == "off"
    assert report.config == config.DumpConfig()
    assert [warning.rule for warning in report.warnings] == ["nothing"]


@pytest.mark.parametrize("value", ["null", "[]", "3", "true", '"x"'])
def test_the_dump_is_an_object(value: str) -> None:
    refuses(f'{{"dump": {value}}}', "type", "dump", "EP0001")


def test_an_empty_dump_is_accepted_by_the_current_release_only() -> None:
    assert config.check_text('{"dump": {}}').verdict == "off"
    assert warnings('{"dump": {}}') == [("nothing", "dump"), ("older-release", "dump")]


# Types and values

STRINGS = [
    *("dump_path", "dump_mode", "dump_op_switch", "dump_level", "dump_scene"),
    *("dump_data", "dump_debug", "dump_step", "dump_kernel_data"),
]


@pytest.mark.parametrize("value", [None, 3, 1.5, True, [], {}])
@pytest.mark.parametrize("key", STRINGS)
def test_a_string_is_no_other_type(key: str, value: object) -> None:
    assert ("type", f"dump.{key}", "EP0001") in errors(text_of(**ALL | {key: value}))


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"dump_list": None}, "dump_list"),
        ({"dump_list": {}}, "dump_list"),
        ({"dump_list": [{}, 1]}, "dump_list[1]"),
        ({"dump_list": [{"model_name": 1}]}, "dump_list[0].model_name"),
        ({"dump_list": [{"layer": "a"}]}, "dump_list[0].layer"),
        ({"dump_list": [{"layer": ["a", None]}]}, "dump_list[0].layer[1]"),
        ({"dump_list": [{"watcher_nodes": {}}]}, "dump_list[0].watcher_nodes"),
        ({"dump_list": [{"optype_blacklist": {}}]}, "dump_list[0].optype_blacklist"),
        ({"dump_list": [{"opname_blacklist": ["a"]}]}, "dump_list[0].opname_blacklist[0]"),
        (
            {"dump_list": [{"opname_blacklist": [{"name": 1}]}], "dump_level": "op"},
            "dump_list[0].opname_blacklist[0].name",
        ),
        (
            {"dump_list": [{"opname_blacklist": [{"pos": "input0"}]}], "dump_level": "op"},
            "dump_list[0].opname_blacklist[0].pos",
        ),
        ({"dump_list": [{"opname_range": [[]]}]}, "dump_list[0].opname_range[0]"),
        (
            {
                "dump_list": [{"model_name": "m", "opname_range": [{"begin": 1, "end": "b"}]}],
                "dump_level": "op",
            },
            "dump_list[0].opname_range[0].begin",
        ),
        ({"dump_stats": "Max", "dump_data": "stats"}, "dump_stats"),
        ({"dump_stats": [1], "dump_data": "stats"}, "dump_stats[0]"),
    ],
)
def test_arrays_hold_what_they_must(keys: dict[str, Any], path: str) -> None:
    assert ("type", f"dump.{path}", "EP0001") in errors(text_of(**ALL | keys))


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("dump_mode", "input output all"),
        ("dump_level", "op kernel all"),
        ("dump_data", "tensor stats"),
        ("dump_op_switch", "on off"),
        ("dump_debug", "on off"),
        ("dump_kernel_data", "all printf tensor assert timestamp all,all printf,assert"),
    ],
)
def test_keys_have_fixed_values(key: str, values: str) -> None:
    for value in values.split():
        accepts(text_of(**ALL | {key: value}))
    good = values.split()[0]
    for value in (good.upper(), f" {good}", f"{good} ", f"{good}\0", "x"):
        refuses(text_of(**ALL | {key: value}), "value", f"dump.{key}", "EP0002")
    refuses(text_of(**ALL | {key: ""}), "value", f"dump.{key}", "EP0001")


def test_items_of_dump_kernel_data_are_neither_empty_nor_padded() -> None:
    for value, code in (("all,", "EP0001"), (",all", "EP0001"), ("all, printf", "EP0002")):
        refuses(text_of(**ALL, dump_kernel_data=value), "value", "dump.dump_kernel_data", code)


def test_statistics_have_fixed_names() -> None:
    names = ["Max", "Min", "Avg", "Nan", "Negative Inf", "Positive Inf", "L2norm", "Max"]
    accepts(text_of(**ALL, dump_data="stats", dump_stats=names))
    for name, code in (("max", "EP0002"), ("Inf", "EP0002"), (" Max", "EP0002"), ("", "EP0001")):
        text = text_of(**ALL, dump_data="stats", dump_stats=["Min", name])
        refuses(text, "value", "dump.dump_stats[1]", code)


def test_what_has_a_wrong_type_breaks_no_other_rule() -> None:
    first = "dump.dump_list[0]"
    text = text_of(dump_path=".", dump_scene="watcher", dump_list=[1])
    refuses(text, "type", first, "EP0001")
    text = text_of(dump_path=".", dump_scene="watcher", dump_list=[{"watcher_nodes": [1]}])
    refuses(text, "type", f"{first}.watcher_nodes[0]", "EP0001")
    span = {"begin": 1, "end": "b"}
    text = entry(dump_level="op", model_name="m", opname_range=[span])
    refuses(text, "type", f"{first}.opname_range[0].begin", "EP0001")
    text = entry(dump_level="op", model_name=3, opname_range=[{"begin": "a", "end": "b"}])
    refuses(text, "type", f"{first}.model_name", "EP0001")
    text = text_of(**ALL, dump_data=3, dump_stats=["Max"])
    refuses(text, "type", "dump.dump_data", "EP0001")
    text = entry(dump_level="x", opname_blacklist=[{}])
    refuses(text, "value", "dump.dump_level", "EP0002")
    refuses(text_of(dump_scene="x", dump_step="x"), "value", "dump.dump_scene", "EP0002")
    text = text_of(dump_path=".", dump_debug="x", dump_step="x")
    refuses(text, "value", "dump.dump_debug", "EP0002")


def test_types_and_values_are_checked_where_they_have_no_effect() -> None:
    assert errors(text_of(dump_scene="lite_exception", dump_mode="x", dump_stats=["x"])) == [
        ("value", "dump.dump_mode", "EP0002"),
        ("value", "dump.dump_stats[0]", "EP0002"),
    ]
    refuses(text_of(dump_scene="lite_exception", dump_path=3), "type", "dump.dump_path", "EP0001")
    text = text_of(dump_path=".", dump_debug="on", dump_list=[1])
    refuses(text, "type", "dump.dump_list[0]", "EP0001")


@pytest.mark.parametrize(
    ("keys", "path", "message"),
    [
        ({"dump_mode": None}, "dump_mode", "null where a string is expected"),
        ({"dump_kernel_data": ["all"]}, "dump_kernel_data", "an array where a string is expected"),
        ({"dump_stats": "Max"}, "dump_stats", "a string where an array of strings is expected"),
        ({"dump_stats": [True]}, "dump_stats[0]", "true where a string is expected"),
        ({"dump_list": {}}, "dump_list", "an object where an array of objects is expected"),
        ({"dump_list": [None]}, "dump_list[0]", "null where an object is expected"),
        (
            {"dump_list": [{"opname_range": None}]},
            "dump_list[0].opname_range",
            "null where an array of objects is expected",
        ),
        (
            {"dump_list": [{"layer": 1.5}]},
            "dump_list[0].layer",
            "a number where an array of strings is expected",
        ),
    ],
)
def test_a_wrong_type_is_told_in_words(keys: dict[str, Any], path: str, message: str) -> None:
    report = config.check_text(text_of(**ALL | keys))
    found = [(e.place.path, e.message) for e in report.errors if e.rule == "type"]
    assert found == [(f"dump.{path}", message)]


def test_types_then_values_are_found_in_the_order_of_the_vendors_checks() -> None:
    wrong = {name: "x" for name in STRINGS if name not in ("dump_path", "dump_step")}
    text = text_of(dump_stats=["x"], **dict(reversed(wrong.items())), dump_step=1, dump_path=2)
    assert [(rule, path.removeprefix("dump.dump_")) for rule, path, _ in errors(text)] == [
        ("type", "path"),
        ("type", "step"),
        ("value", "mode"),
        ("value", "data"),
        ("value", "op_switch"),
        ("value", "level"),
        ("value", "debug"),
        ("value", "scene"),
        ("value", "kernel_data"),
        ("value", "stats[0]"),
    ]


def test_a_value_that_is_nearly_right_is_named() -> None:
    (error,) = config.check_text(text_of(**ALL, dump_mode="Output")).errors
    assert error.message == '"Output" is not "output"'


# dump_path


@pytest.mark.parametrize(
    "keys",
    [
        {"dump_list": [{}]},
        {"dump_op_switch": "on"},
        {"dump_debug": "on"},
        {"dump_scene": "watcher"},
        {"dump_kernel_data": "all"},
        {"dump_mode": "all"},
    ],
)
def test_dump_path_is_needed_except_in_exception_scenes(keys: dict[str, Any]) -> None:
    refuses(text_of(**keys), "path", "dump.dump_path", "EP0001")
    refuses(text_of(dump_path="", **keys), "path", "dump.dump_path", "EP0001")


@pytest.mark.parametrize(
    "scene", ["lite_exception", "aic_err_brief_dump", "aic_err_norm_dump", "aic_err_detail_dump"]
)
def test_exception_scenes_need_no_dump_path(scene: str) -> None:
    for path in ({}, {"dump_path": ""}, {"dump_path": "/no\0where" * 100}):
        assert config.check_text(text_of(dump_scene=scene, **path), here=True).verdict == "accept"


def test_dump_path_has_at_most_512_bytes() -> None:
    for path in ("x" * 512, "\u00e9" * 256, "1.2.3.4:" + "x" * 504):
        accepts(text_of(**ALL | {"dump_path": path}))
        longer = text_of(**ALL | {"dump_path": path + "x"})
        refuses(longer, "path-length", "dump.dump_path", "EP0003")


REMOTE = [
    "1.2.3.4:x",
    "255.0.255.0:/a",
    "1.2.3.4:a:b",
    "1.2.3.4x:p",
    "1.2.3.4.:p",
    " 1.2.3.4:p",
    "+1.2.3.4:p",
    "-0.2.3.4:p",
    "00001.2.3.255:p",
    "1.2.3.4 :p",
    "1.2.3.0x4:p",
]
LOCAL = [
    "1.2.3.256:x",
    "1.2.3:x",
    "1.2.3.4.5:x",
    "1..3.4:x",
    "a.b.c.d:x",
    "f1.2.3.4:x",
    "-1.2.3.4:p",
    "1.2.3.99999999999:p",
    "1.2.3.4:",
    ":x",
    "1 .2.x.4:p",
    "\u0661.2.3.4:p",
]


@pytest.mark.parametrize("path", REMOTE)
def test_what_is_taken_for_a_remote_path(path: str) -> None:
    assert config.check_text(text_of(**ALL | {"dump_path": path}), here=True).verdict == "accept"


@pytest.mark.parametrize("path", LOCAL)
def test_what_is_taken_for_a_local_path(path: str) -> None:
    text = text_of(**ALL | {"dump_path": path})
    assert errors(text, here=True) == [("path-exists", "dump.dump_path", "EP0003")]
    assert ("path-host", "dump.dump_path") in warnings(text)


def test_a_remote_path_has_few_characters() -> None:
    accepts(text_of(**ALL | {"dump_path": r"1.2.3.4:-=[];\,./!@#$%^&*()_+{}:?"}))
    for character in " ~'\"<>|`\n\0\u00e9\u2018":
        text = text_of(**ALL | {"dump_path": f"1.2.3.4:a{character}b"})
        refuses(text, "path-characters", "dump.dump_path", "EP0003")


def test_a_local_path_is_looked_at_only_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b~").mkdir()
    (tmp_path / "file").touch()
    for path in ("a b~", "./a b~/", "a b~/../a b~", str(tmp_path), "a b~\0anything"):
        assert errors(text_of(**ALL | {"dump_path": path}), here=True) == []
    for path in ("file", "nowhere", "$HOME", "~", "a b~/nowhere", "\0", "x" * 300):
        text = text_of(**ALL | {"dump_path": path})
        assert errors(text, here=True) == [("path-exists", "dump.dump_path", "EP0003")]
        report = config.check_text(text)
        assert report.verdict == "accept"
        assert "path-exists" in [warning.rule for warning in report.warnings]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_path_that_may_not_be_written_cannot_be_used(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    text = text_of(**ALL | {"dump_path": str(tmp_path)})
    assert errors(text, here=True) == [("path-exists", "dump.dump_path", "EP0003")]


# Scenes and switches


@pytest.mark.parametrize("scene", ["watcher", "lite_exception", "aic_err_norm_dump"])
def test_a_scene_excludes_the_switches(scene: str) -> None:
    keys = {"dump_path": ".", "dump_scene": scene}
    accepts(text_of(**keys, dump_debug="off", dump_op_switch="off"))
    refuses(text_of(**keys, dump_debug="on"), "scene", "dump.dump_debug", "EP0005")
    refuses(text_of(**keys, dump_op_switch="on"), "scene", "dump.dump_op_switch", "EP0005")
    assert errors(text_of(**keys, dump_op_switch="on", dump_debug="on")) == [
        ("scene", "dump.dump_debug", "EP0005"),
        ("scene", "dump.dump_op_switch", "EP0005"),
    ]


def test_a_watcher_dumps_outputs() -> None:
    watched = {"dump_path": ".", "dump_scene": "watcher", "dump_list": [{"watcher_nodes": ["a"]}]}
    accepts(text_of(**watched))
    accepts(text_of(**watched, dump_mode="output"))
    for mode in ("input", "all"):
        refuses(text_of(**watched, dump_mode=mode), "scene", "dump.dump_mode", "EP0005")


def test_debug_excludes_the_operator_switch() -> None:
    text = text_of(dump_path=".", dump_debug="on", dump_op_switch="on")
    refuses(text, "debug", "dump.dump_op_switch", "EP0005")


@pytest.mark.parametrize("keys", [{"dump_scene": "lite_exception"}, {"dump_debug": "on"}])
def test_scenes_of_exceptions_and_debug_look_at_nothing_else(keys: dict[str, Any]) -> None:
    bad = {
        "dump_step": "x",
        "dump_stats": ["Max"],
        "dump_list": [
            {"model_name": "", "layer": [], "watcher_nodes": ["a"], "opname_range": [{}]},
            {"optype_blacklist": [{}] * 101},
        ],
    }
    accepts(text_of(dump_path=".", **keys, **bad))
    assert len(errors(text_of(dump_path=".", **bad))) > 5


# dump_step


@pytest.mark.parametrize(
    "steps",
    [
        "",
        "0",
        "0|3-5|10",
        "3-3",
        "007|0-00",
        "5|5|1-9|2-3",
        "9" * 5000,
        f"{2**63}-{2**63 - 1}",  # equal, as far as 64 bits go
        "|".join(map(str, range(100))),
    ],
)
def test_steps_that_are_accepted(steps: str) -> None:
    accepts(text_of(**ALL, dump_step=steps))


@pytest.mark.parametrize(
    "steps",
    [
        *("5|", "|5", "5||10", "-", "-1", "3-", "5-3", "1-2-3", "--3", "two", "0x1", "1.5"),
        *(" 1", "1 ", "1 - 2", "1,2", "5-\n10", "+1", "\u0663", "\u00b2", "1\0"),
        "|".join(map(str, range(101))),
        "1" * 19 + "-" + "1" * 18,
    ],
)
def test_steps_that_are_refused(steps: str) -> None:
    refuses(text_of(**ALL, dump_step=steps), "step", "dump.dump_step", "EP0003")


def test_all_items_of_the_steps_are_looked_at() -> None:
    report = config.check_text(text_of(**ALL, dump_step="1|x|5-3|2-3-4"))
    assert [error.message.split(",")[0] for error in report.errors] == [
        "item 1",
        "item 2",
        "item 3",
    ]


# dump_list


def test_names_in_an_entry_are_not_empty_unless_the_operator_switch_is_on() -> None:
    refuses(entry(model_name=""), "entry", "dump.dump_list[0].model_name", "EP0001")
    refuses(entry(layer=[]), "entry", "dump.dump_list[0].layer", "EP0001")
    for keys in ({"model_name": ""}, {"layer": []}):
        accepts(entry(**keys, dump_op_switch="on"))
        # Every entry counts, not one of them.
        text = text_of(dump_path=".", dump_list=[{"model_name": "m"}, keys])
        assert [rule for rule, _, _ in errors(text)] == ["entry"]
    accepts(entry(layer=[""]))
    accepts(entry(layer=["a"]))


def test_entries_of_a_watcher() -> None:
    def watcher(*entries: dict[str, Any]) -> str:
        return text_of(dump_path=".", dump_scene="watcher", dump_list=list(entries))

    first = "dump.dump_list[0]"
    accepts(watcher({"watcher_nodes": ["a"]}))
    accepts(watcher({"watcher_nodes": ["a"], "layer": ["b"]}))
    accepts(watcher())
    refuses(watcher({}), "watched", f"{first}.watcher_nodes", "EP0001")
    refuses(watcher({"watcher_nodes": []}), "watched", f"{first}.watcher_nodes", "EP0001")
    text = watcher({"watcher_nodes": ["a"], "model_name": "m"})
    refuses(text, "watched", f"{first}.model_name", "EP0005")
    text = watcher({"watcher_nodes": ["a"], "model_name": ""})
    assert [rule for rule, _, _ in errors(text)] == ["entry", "watched"]
    refuses(watcher({"watcher_nodes": ["a"], "layer": []}), "entry", f"{first}.layer", "EP0001")
    text = watcher({"watcher_nodes": ["a"]}, {"layer": ["b"]})
    refuses(text, "watched", "dump.dump_list[1].watcher_nodes", "EP0001")


def test_watcher_nodes_are_for_watchers() -> None:
    text = entry(watcher_nodes=["a"])
    refuses(text, "watcher-nodes", "dump.dump_list[0].watcher_nodes", "EP0005")
    accepts(entry(watcher_nodes=[]))


@pytest.mark.parametrize("name", ["optype_blacklist", "opname_blacklist"])
def test_blacklists(name: str) -> None:
    place = f"dump.dump_list[0].{name}"
    item = {"name": "a", "pos": ["output0"]}
    accepts(entry(dump_level="op", **{name: [item] * 100}))
    refuses(entry(dump_level="op", **{name: [item] * 101}), "blacklist-size", place, "EP0003")
    for level in ({}, {"dump_level": "all"}, {"dump_level": "kernel"}):
        refuses(entry(**level, **{name: [item]}), "blacklist-level", place, "EP0005")
        accepts(entry(**level, **{name: []}))
    for odd in ({}, {"name": ""}, {"name": "a", "pos": []}, {"name": "a", "pos": ["foo"]}):
        accepts(entry(dump_level="op", **{name: [odd]}))


def test_ranges() -> None:
    place = "dump.dump_list[0]"
    span = {"begin": "a", "end": "b"}
    accepts(entry(dump_level="op", model_name="m", opname_range=[span] * 101, layer=["x"]))
    accepts(entry(opname_range=[]))
    text = entry(model_name="m", opname_range=[span])
    refuses(text, "range-level", f"{place}.opname_range", "EP0005")
    text = entry(dump_level="op", opname_range=[span])
    refuses(text, "range-model", f"{place}.model_name", "EP0001")
    for odd in ({"begin": "a"}, {"end": "a"}, {"begin": "", "end": "b"}, {"begin": "a", "end": ""}):
        text = entry(dump_level="op", model_name="m", opname_range=[span, odd])
        refuses(text, "range", f"{place}.opname_range[1]", "EP0003")


# dump_stats


def test_statistics_need_dump_data() -> None:
    refuses(text_of(**ALL, dump_stats=["Max"]), "stats-data", "dump.dump_stats", "EP0005")
    text = text_of(**ALL, dump_stats=["Max"], dump_data="tensor")
    refuses(text, "stats-data", "dump.dump_stats", "EP0005")
    refuses(text_of(**ALL, dump_stats=[], dump_data="stats"), "stats", "dump.dump_stats", "EP0001")
    report = accepts(text_of(**ALL, dump_data="stats"))
    assert report.config is not None
    assert report.config.stats == ("Max", "Min", "Avg", "Nan", "Negative Inf", "Positive Inf")


# Whether anything is dumped


@pytest.mark.parametrize(
    "keys",
    [
        {"dump_list": [{}]},
        {"dump_list": [{}, {}]},
        {"dump_op_switch": "on"},
        {"dump_op_switch": "on", "dump_list": []},
        {"dump_debug": "on"},
        {"dump_scene": "watcher"},
        {"dump_scene": "watcher", "dump_list": []},
        {"dump_scene": "aic_err_norm_dump"},
    ],
)
def test_something_is_dumped(keys: dict[str, Any]) -> None:
    report = accepts(text_of(dump_path=".", **keys))
    assert report.config is not None
    assert report.config.is_on
    assert not {"nothing", "kernel-data"} & {warning.rule for warning in report.warnings}


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        ({}, "nothing"),
        ({"dump_list": []}, "nothing"),
        ({"dump_debug": "off", "dump_op_switch": "off"}, "nothing"),
        ({"dump_data": "stats", "dump_stats": ["Max"]}, "nothing"),
        ({"dump_kernel_data": "printf"}, "kernel-data"),
    ],
)
def test_nothing_is_dumped(keys: dict[str, Any], rule: str) -> None:
    # The graph engine would refuse this path, but is not asked.
    for path in (".", "a b"):
        text = text_of(dump_path=path, **keys)
        assert config.check_text(text).verdict == "off"
        assert [found for found, _ in warnings(text)] == [rule]


# Warnings


def test_unknown_keys_are_ignored_and_named_at_every_level() -> None:
    item = {"name": "a", "pos": ["output0"], "position": 1}
    text = text_of(
        dump_path=".",
        dumpmode="all",
        dump_level="op",
        dump_list=[{"modelname": "m", "optype_blacklist": [item], "layers": []}],
    )
    report = accepts(text)
    found = {w.place.path: w.message for w in report.warnings if w.rule == "unknown-key"}
    first = "dump.dump_list[0]"
    assert found == {
        "dump.dumpmode": 'unknown key "dumpmode"; did you mean "dump_mode"?',
        f"{first}.modelname": 'unknown key "modelname"; did you mean "model_name"?',
        f"{first}.layers": 'unknown key "layers"; did you mean "layer"?',
        f"{first}.optype_blacklist[0].position": 'unknown key "position"',
    }
    assert warnings('{"Dump": {}, "other": 1}') == [("nothing", "")]


def test_of_a_key_that_is_repeated_the_last_value_counts() -> None:
    text = '{"dump": {"dump_path": "",\n "dump_path": ".", "dump_list": [{}]}}'
    report = accepts(text)
    (warning,) = report.warnings
    assert (warning.rule, warning.place.line, warning.place.column) == ("duplicate-key", 2, 2)
    text = '{"dump": {"dump_path": ".",\n "dump_path": "", "dump_list": [{}]}}'
    refuses(text, "path", "dump.dump_path", "EP0001")
    assert config.check_text(text).errors[0].place.line == 2


def test_of_many_keys_that_are_repeated_the_first_are_named() -> None:
    twice = ",\n".join(f'"{i}": 0, "{i}": [{{"a": 1, "a": 2}}]' for i in range(1000))
    report = config.check_text(f'{{"dump": {{{twice}}}}}')
    found = [w.place for w in report.warnings if w.rule == "duplicate-key"]
    assert [place.path for place in found] == [f'dump["{i}"]' for i in range(20)]
    assert [place.line for place in found] == list(range(1, 21))


def test_keys_beside_an_exception_scene_are_unused() -> None:
    keys = {"dump_mode": "all", "dump_level": "op", "dump_step": "x", "dump_data": "stats"}
    text = text_of(dump_scene="lite_exception", **keys, dump_list=[{}], dump_kernel_data="all")
    assert sorted(warnings(text)) == sorted(
        ("unused", f"dump.{key}") for key in (*keys, "dump_list", "dump_kernel_data")
    )
    assert (
        warnings(text_of(dump_scene="lite_exception", dump_path="x", dump_kernel_data="all")) == []
    )


def test_keys_beside_debug_are_unused() -> None:
    text = text_of(dump_path=".", dump_debug="on", dump_mode="output", dump_data="stats")
    assert warnings(text) == [("unused", "dump.dump_mode"), ("unused", "dump.dump_data")]
    text = text_of(dump_path=".", dump_debug="on", dump_mode="all", dump_data="tensor")
    assert warnings(text) == []


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"layer": ["a", "*layers.3*"]}, "layer[1]"),
        ({"layer": ["a?"]}, "layer[0]"),
        ({"layer": ["a[0]"]}, "layer[0]"),
        ({"model_name": "m*"}, "model_name"),
        (
            {"dump_scene": "watcher", "dump_mode": "output", "watcher_nodes": ["*"]},
            "watcher_nodes[0]",
        ),
        (
            {"dump_level": "op", "optype_blacklist": [{"name": "*", "pos": ["output0"]}]},
            "optype_blacklist[0].name",
        ),
        (
            {"dump_level": "op", "opname_blacklist": [{"name": "?", "pos": ["output0"]}]},
            "opname_blacklist[0].name",
        ),
        (
            {"dump_level": "op", "model_name": "m", "opname_range": [{"begin": "a", "end": "b*"}]},
            "opname_range[0].end",
        ),
    ],
)
def test_a_pattern_is_taken_for_a_name(keys: dict[str, Any], path: str) -> None:
    report = accepts(entry(**keys))
    assert warnings(entry(**keys)) == [("pattern", f"dump.dump_list[0].{path}")]
    assert report.verdict == "accept"
    (warning,) = (w for w in report.warnings if w.rule == "pattern")
    assert "is no wildcard; 'fastdump config new' with --like DUMP" in warning.message


def test_names_without_wildcards_are_no_patterns() -> None:
    assert warnings(entry(layer=["a.b/c_0", "{x}", "a]b", "\u5c42"])) == []


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"dump_debug": "on", "dump_list": [{}]}, "dump_list"),
        ({"dump_list": [{}], "dump_path": "/a b"}, "characters"),
        ({"dump_list": [{}], "dump_status": 5}, "dump_status is a number"),
    ],
)
def test_what_only_the_graph_engine_refuses(keys: dict[str, Any], reason: str) -> None:
    report = accepts(text_of(**{"dump_path": "."} | keys))
    assert report.graph_engine == "reject"
    (warning,) = (w for w in report.warnings if w.rule == "graph-engine")
    assert reason in warning.message


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ({"dump_list": [{}], "dump_step": "5||3-1|3-|--"}, "accept"),
        ({"dump_list": [{}], "dump_step": "|".join(["1"] * 100) + "|"}, "accept"),
        ({"dump_list": [{}], "dump_step": "|".join(["1"] * 101)}, "reject"),
        ({"dump_list": [{}], "dump_step": "---"}, "reject"),
        ({"dump_list": [{}], "dump_op_switch": "x"}, "accept"),
        ({"dump_list": [{"layer": ["a"]}], "dump_op_switch": "x"}, "reject"),
        ({"dump_list": 3, "dump_op_switch": "on"}, "accept"),
        ({"dump_list": [3]}, "accept"),
        ({"dump_list": [{"layer": "a"}]}, "accept"),
        ({"dump_list": [{"layer": [1]}]}, "reject"),
        ({"dump_list": [{"layer": []}]}, "off"),
        ({"dump_list": [{"model_name": ""}, {}]}, "accept"),
        ({"dump_list": [{"optype_blacklist": [{"pos": "x"}]}]}, "reject"),
        ({"dump_list": []}, "accept"),
        ({"dump_debug": "x"}, "off"),
        ({"dump_debug": "on", "dump_list": []}, "accept"),
        ({"dump_debug": "on", "dump_list": {}}, "reject"),
        ({"dump_debug": "on", "dump_list": None}, "reject"),
        ({"dump_scene": "watcher", "dump_list": [{"opname_blacklist": [{"pos": 1}]}]}, "accept"),
        ({"dump_scene": "watcher", "dump_list": [{"opname_blacklist": [{"pos": [1]}]}]}, "reject"),
        ({"dump_scene": "watcher", "dump_path": ""}, "accept"),
        ({"dump_scene": ""}, "reject"),
        ({"dump_list": [{}], "dump_path": "/nowhere"}, "accept"),
        ({"dump_list": [{}], "dump_path": "~"}, "reject"),
        ({"dump_list": [{}], "dump_stats": ["x"], "dump_data": "stats"}, "accept"),
        ({"dump_list": [{}], "dump_stats": ["x"], "dump_data": "x"}, "reject"),
    ],
)
def test_the_graph_engine_judges_by_itself(keys: dict[str, Any], verdict: str) -> None:
    assert config.check_text(text_of(**{"dump_path": "."} | keys)).graph_engine == verdict


def test_entries_that_are_lost() -> None:
    def lost(*entries: dict[str, Any]) -> list[str]:
        found = warnings(text_of(dump_path=".", dump_list=list(entries)))
        return [path for rule, path in found if rule == "entry-lost"]

    assert lost({"model_name": "a"}, {"model_name": "b"}) == []
    assert lost({"model_name": "a"}, {"model_name": "a"}) == ["dump.dump_list[0]"]
    assert lost({"layer": ["x"]}, {"layer": ["y"]}) == ["dump.dump_list[0]"]
    assert lost({"model_name": "a"}, {"layer": ["y"]}) == ["dump.dump_list[0]"]


def test_entries_that_are_dropped() -> None:
    text = text_of(
        dump_path=".", dump_op_switch="on", dump_list=[{"model_name": ""}, {"layer": []}]
    )
    assert warnings(text) == [
        ("entry-dropped", "dump.dump_list[0]"),
        ("entry-dropped", "dump.dump_list[1]"),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (entry(dump_level="kernel"), ("level-kernel", "dump.dump_level")),
        (
            entry(dump_level="op", opname_blacklist=[{"name": "a", "pos": ["foo"]}]),
            ("position", "dump.dump_list[0].opname_blacklist[0].pos[0]"),
        ),
        (
            entry(dump_level="op", opname_blacklist=[{"name": "a", "pos": ["output0", "input0"]}]),
            ("position", "dump.dump_list[0].opname_blacklist[0].pos[1]"),
        ),
        (
            entry(dump_level="op", optype_blacklist=[{"name": "a"}]),
            ("blacklist-item", "dump.dump_list[0].optype_blacklist[0]"),
        ),
        (
            text_of(
                dump_path=".",
                dump_scene="watcher",
                dump_mode="output",
                dump_list=[{"layer": ["a", "b"], "watcher_nodes": ["b"]}],
            ),
            ("watched-layer", "dump.dump_list[0].layer"),
        ),
        (
            text_of(dump_path=".", dump_scene="watcher", dump_mode="output"),
            ("watcher-list", "dump.dump_scene"),
        ),
        (
            text_of(dump_path=".", dump_scene="watcher", dump_list=[{"watcher_nodes": ["b"]}]),
            ("older-release", "dump.dump_scene"),
        ),
        (text_of(dump_scene="aic_err_detail_dump"), ("detail", "dump.dump_scene")),
        (text_of(**ALL | {"dump_path": "$HOME/x"}), ("path-expansion", "dump.dump_path")),
        (
            text_of(dump_scene="lite_exception", dump_path="~/x"),
            ("path-expansion", "dump.dump_path"),
        ),
        (text_of(**ALL | {"dump_path": "host:x"}), ("path-host", "dump.dump_path")),
    ],
)
def test_what_is_legal_but_surprising(text: str, found: tuple[str, str]) -> None:
    accepts(text)
    assert warnings(text) == [found]


def test_an_ordinary_configuration_has_no_warning(tmp_path: Path) -> None:
    text = text_of(
        dump_path=str(tmp_path),
        dump_list=[{"model_name": "a", "layer": ["x", "y"]}, {"model_name": "b"}],
        dump_mode="all",
        dump_step="0|3-5",
        dump_data="stats",
    )
    assert config.check_text(text, here=True).findings == ()


def test_a_refused_configuration_has_no_advice_but_unknown_keys() -> None:
    text = text_of(dump_path=".", dump_mode="x", dump_debug="on", dump_list=[{}], dump_modes=1)
    assert warnings(text) == [("unknown-key", "dump.dump_modes")]


# All at once, and where


def test_all_problems_are_reported_at_once_with_their_places() -> None:
    text = """{
  "dump": {
    "dump_mode": "out",
    "dump_step": "5-3",
    "dump_list": [
      {"model_name": ""}, {"layer": "conv"}
    ]
  }
}
"""
    report = config.check_text(text)
    places = [(e.rule, e.place.line, e.place.column) for e in report.errors]
    assert places == [
        ("type", 6, 28),
        ("value", 3, 5),
        ("path", 2, 3),
        ("step", 4, 5),
        ("entry", 6, 8),
    ]
    for error in report.errors:
        assert error.place.offset is not None
        assert text.encode()[error.place.offset :].startswith(b'"')
        assert str(error).startswith(f"error: {error.place.path} (line {error.place.line}, ")


def test_offsets_are_in_bytes_and_columns_in_characters() -> None:
    text = "\ufeff" + '{"dump": {"\u5c42": 1, "dump_path": 3}}'
    (error,) = (e for e in config.check_text(text).errors if e.rule == "type")
    assert error.place.column == text.index('"dump_path"')  # the mark takes none
    assert error.place.offset == text.encode().index(b'"dump_path"')


@given(st.lists(st.text("ab\u5c42\U0001f600 \n", max_size=9), min_size=3, max_size=25))
def test_every_finding_is_where_its_key_is_written(blanks: list[str]) -> None:
    members = (f'"{i}\u5c42": [{json.dumps(blank)}]' for i, blank in enumerate(blanks))
    separators = ("".join(filter(str.isspace, blank)) for blank in blanks)
    text = '{"dump": {' + ",".join(map("".join, zip(separators, members, strict=True))) + "}}"
    report = config.check_text(text)
    places = {w.place.path: w.place for w in report.warnings if w.rule == "unknown-key"}
    assert len(places) == min(len(blanks), 20)
    for i in range(len(places)):
        before = text[: text.index(f'"{i}\u5c42":')]
        place = places[f'dump["{i}\u5c42"]']
        assert place.offset == len(before.encode())
        assert (place.line, place.column) == (
            before.count("\n") + 1,
            len(before.rpartition("\n")[2]) + 1,
        )


def test_errors_come_before_warnings() -> None:
    text = '{"dump": {"dump_modes": 1, "dump_path": 3, "dump_path": ".", "dump_mode": "x"}}'
    severities = [finding.severity for finding in config.check_text(text).findings]
    assert severities == ["error", "warning", "warning"]


def test_the_documentation_has_every_rule_with_its_text_and_code() -> None:
    text = (Path(__file__).resolve().parents[1] / "docs" / "config.md").read_text()
    rows = {line.split(" | ")[0]: line for line in text.splitlines() if line.startswith("| `")}
    for name, rule in config.RULES.items():
        code = f"{rule.code} | " if rule.code else ""
        sentence = rule.text.replace("\\", "\\\\").replace("|", "\\|")  # as in Markdown
        assert rows[f"| `{name}`"] == f"| `{name}` | {code}{sentence} |", name


def test_every_finding_names_a_rule_and_errors_a_code() -> None:
    text = text_of(dump_path=3, dump_mode="x", dump_list=[{"layer": []}], foo=1)
    for finding in config.check_text(text).findings:
        assert finding.rule in config.RULES
        assert (finding.code is None) == (finding.severity == "warning")
        assert f"[{finding.rule}" in str(finding)


def test_many_findings_of_one_rule_are_cut_short() -> None:
    report = config.check_text(text_of(dump_path=".", dump_list=[{"layer": [1] * 1000}]))
    assert len(report.errors) == 20
    assert [warning.rule for warning in report.warnings] == ["more"]


# Hostile files

KEYS = st.sampled_from(
    [
        *STRINGS,
        *("dump_stats", "dump_list", "dump", "model_name", "layer", "watcher_nodes"),
        *("optype_blacklist", "opname_blacklist", "opname_range", "name", "pos", "begin", "end"),
    ]
)
WORDS = st.sampled_from(
    ["", "on", "off", "all", "op", "watcher", "lite_exception", "stats", "Max", "5|", "1.2.3.4:x"]
) | st.text("ab01|-.:/{[\0\u5c42", max_size=5)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(KEYS, values, max_size=6),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, ANYTHING, max_size=8), st.booleans())
def test_no_types_anywhere_are_a_problem(dump: dict[str, Any], here: bool) -> None:
    report = config.check_text(text_of(**dump), here=here)
    assert report.verdict == "reject" or report.config is not None
    if report.config is not None:
        str(config.explain(report.config))
        assert config.parse(report.config.to_json()) == report.config


@given(st.binary(max_size=200))
def test_no_bytes_are_a_problem(data: bytes) -> None:
    config.check_text(data)
    config.check_text(b'{"dump": {"dump_path": "' + data + b'", "dump_list": [{}]}}')


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"[" * 10_000_000, "nesting"),
        (b'{"dump":' * 1_000_000, "nesting"),
        (b'["]",' * 200_000, "syntax"),
        (b'{"dump": {"dump_path": ' + b"9" * 1_000_000 + b"}}", "syntax"),
        (b'{"dump": {"dump_path": "' + b"x" * 1_000_000 + b'"}}', "path-length"),
        (b'{"dump": {"dump_path": ".", "dump_step": "' + b"1|" * 100_000 + b'"}}', "step"),
        (b'{"dump": {' + b'"a": 1, ' * 100_000 + b'"b": 1}}', "path"),
        (b"\0" * 1000, "syntax"),
        (b"{" + b" " * 20_000_000 + b"}", "file-size"),
    ],
)
def test_large_and_deep_files_are_findings(data: bytes, rule: str) -> None:
    report = config.check_text(data)
    assert report.verdict == "reject"
    assert report.errors[0].rule == rule
    assert all(len(str(finding)) < 500 for finding in report.findings)


@pytest.mark.parametrize(
    "keys",
    [
        {"dump_list": [{"layer": [1] * 1000}] * 1000},
        {"dump_list": [{"optype_blacklist": [{"pos": [1] * 10}] * 100}] * 100},
        {"dump_list": [{"opname_range": [1] * 1000}] * 1000},
        {"dump_list": [1] * 1_000_000},
        {"dump_stats": ["x"] * 1_000_000},
        {"dump_stats": [1, "x"] * 1_000_000},
        {"dump_kernel_data": "x," * 1_000_000},
    ],
)
def test_a_multitude_of_problems_is_not_collected(keys: JsonObject) -> None:
    assert sum(1 for _ in problems(keys, DUMP)) == 100


@pytest.mark.parametrize(("n_wrong", "rules"), [(99, {"type", "entry"}), (100, {"type"})])
def test_what_follows_a_hundred_errors_in_an_array_is_not_looked_at(
    n_wrong: int, rules: set[str]
) -> None:
    wrong: list[Any] = [{"layer": [1] * (n_wrong - 1)}, 3]
    text = text_of(dump_path=".", dump_list=[*wrong, {"layer": []}])
    assert {rule for rule, _, _ in errors(text)} == rules


def test_an_error_far_down_an_array_is_found() -> None:
    layer: list[Any] = ["a"] * 1000
    layer[777] = 3
    entries: list[dict[str, Any]] = [{}] * 500 + [{"layer": layer}] + [{}] * 500 + [{"layer": []}]
    text = text_of(dump_path=".", dump_list=entries)
    assert errors(text) == [
        ("type", "dump.dump_list[500].layer[777]", "EP0001"),
        ("entry", "dump.dump_list[1001].layer", "EP0001"),
    ]


def test_names_from_a_file_are_safe_to_print() -> None:
    text = text_of(**ALL | {"dump_path": "/\x1b[2J\u202e"}, **{"\x1b]0;": 1}, dump_mode="\x07")
    for finding in config.check_text(text).findings:
        assert str(finding).isprintable()


def test_what_is_no_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        config.check(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        config.check(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        config.check(tmp_path / "pipe")
    with pytest.raises(OSError, match="Not a regular file"):
        config.load("/dev/zero")


# load and parse


def test_a_configuration_is_a_frozen_record_of_what_is_written() -> None:
    loaded = config.parse(
        text_of(
            dump_path="/data",
            dump_list=[
                {"model_name": "m", "opname_range": [{"begin": "a", "end": "b"}]},
                {"optype_blacklist": [{"name": "T", "pos": ["input0"]}]},
            ],
            dump_level="op",
            dump_step="0|3-5",
            dump_kernel_data="printf,assert",
        )
    )
    assert loaded == config.DumpConfig(
        dump_path="/data",
        dump_list=(
            config.ListEntry(
                model_name="m", opname_range=(config.OpnameRange(begin="a", end="b"),)
            ),
            config.ListEntry(optype_blacklist=(config.BlacklistItem(name="T", pos=("input0",)),)),
        ),
        dump_level="op",
        dump_step="0|3-5",
        dump_kernel_data=("printf", "assert"),
    )
    assert (loaded.mode, loaded.level, loaded.data, loaded.stats) == ("output", "op", "tensor", ())
    with pytest.raises(AttributeError):
        loaded.dump_path = "/elsewhere"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("record", "keys", "message"),
    [
        (
            config.DumpConfig,
            {"dump_mode": "both"},
            'dump_mode must be one of input, output, all, not "both"',
        ),
        (config.DumpConfig, {"dump_mode": ""}, 'dump_mode must be one of .*, not ""'),
        (config.DumpConfig, {"dump_mode": ["all"]}, "dump_mode must be of type str, not tuple"),
        (config.DumpConfig, {"dump_path": 3}, "dump_path must be of type str, not int"),
        (config.DumpConfig, {"dump_path": Path("/d")}, "dump_path must be of type str, not .*Path"),
        (config.DumpConfig, {"dump_step": [1, 2]}, "dump_step must be of type str, not tuple"),
        (
            config.DumpConfig,
            {"dump_kernel_data": ("all", "x")},
            r'dump_kernel_data\[1\] must be one of all, printf, .*, not "x"',
        ),
        (
            config.DumpConfig,
            {"dump_kernel_data": "all"},
            "dump_kernel_data must be of type tuple, not str",
        ),
        (config.DumpConfig, {"dump_kernel_data": ("all,printf",)}, r"dump_kernel_data\[0\]"),
        (config.DumpConfig, {"dump_stats": ("Max", "max")}, r'dump_stats\[1\] .*, not "max"'),
        (
            config.DumpConfig,
            {"dump_list": [3]},
            r"dump_list\[0\] must be of type ListEntry, not int",
        ),
        (
            config.DumpConfig,
            {"dump_list": [{}]},
            r"dump_list\[0\] must be of type ListEntry, not dict",
        ),
        (
            config.DumpConfig,
            {"dump_list": config.ListEntry()},
            "dump_list must be of type tuple, not ListEntry",
        ),
        (config.ListEntry, {"layer": "conv1"}, "layer must be of type tuple, not str"),
        (config.ListEntry, {"layer": ("a", None)}, r"layer\[1\] must be of type str, not NoneType"),
        (
            config.ListEntry,
            {"opname_range": [config.BlacklistItem()]},
            r"opname_range\[0\] must be of type OpnameRange, not BlacklistItem",
        ),
        (config.BlacklistItem, {"pos": [0]}, r"pos\[0\] must be of type str, not int"),
        (config.OpnameRange, {"begin": b"a"}, "begin must be of type str, not bytes"),
    ],
)
def test_a_record_is_not_made_of_what_it_cannot_hold(
    record: Callable[..., Any], keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        record(**keys)


@pytest.mark.parametrize(
    ("record", "keys"), [(config.DumpConfig, "dump_modes"), (config.ListEntry, "layers")]
)
def test_a_record_has_no_unknown_keys(record: Callable[..., Any], keys: str) -> None:
    with pytest.raises(TypeError, match=keys):
        record(**{keys: "all"})


def test_a_list_in_a_record_becomes_a_tuple() -> None:
    entry = config.ListEntry(layer=["a"])  # type: ignore[arg-type]
    dump = config.DumpConfig(dump_list=[entry], dump_stats=["Max"])  # type: ignore[arg-type]
    assert (entry.layer, dump.dump_list, dump.dump_stats) == (("a",), (entry,), ("Max",))
    assert len({dump, config.DumpConfig(dump_list=(entry,), dump_stats=("Max",))}) == 1


TABLES: list[tuple[Any, Keys]] = [
    (config.DumpConfig, DUMP),
    (config.ListEntry, LIST_ENTRY),
    (config.BlacklistItem, BLACKLIST_ITEM),
    (config.OpnameRange, OPNAME_RANGE),
]


@pytest.mark.parametrize(("record", "table"), TABLES)
def test_a_table_of_keys_says_what_the_annotations_of_its_record_say(
    record: Any, table: Keys
) -> None:
    def annotated(kind: Kind) -> Any:
        if isinstance(kind, dict):
            return next(record for record, table in TABLES if table is kind)
        if isinstance(kind, (Names, list)):
            of = annotated(kind[0] if isinstance(kind, list) else tuple(kind))
            return tuple[of, ...]  # type: ignore[valid-type]
        return Literal[kind] if kind else str

    keys = {name: annotated(kind) | None for name, kind in table.items()}
    hints = {name: hint for name, hint in get_type_hints(record).items() if name in keys}
    assert hints == keys
    assert list(keys) == [field.name for field in dataclasses.fields(record)]


def test_a_refused_configuration_is_an_error_with_all_findings(tmp_path: Path) -> None:
    file = tmp_path / "acl.json"
    file.write_text(text_of(dump_mode="x", dump_step="y"))
    with pytest.raises(config.ConfigError, match=r"acl\.json.*is not one of.*2 more") as raised:
        config.load(file)
    assert isinstance(raised.value, FastdumpError)
    assert isinstance(raised.value, ValueError)
    assert [error.rule for error in raised.value.findings] == ["value", "path", "step"]
