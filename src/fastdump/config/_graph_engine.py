"""The second reading of an acl.json, by the graph engine, which checks the text in its own way.

The graph engine reads the text only if the first reading found something to do. Its answer does not
reach the caller: if it refuses, the call succeeds and operators of graphs are not dumped. It checks
fewer keys than the first reading, in another order, and never the disk.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from fastdump._words import config_catalogue as say
from fastdump.config._dump_path import MAX_PATH_BYTES, forbidden_characters, split_remote
from fastdump.config._dump_step import MAX_ITEMS
from fastdump.config._findings import Verdict
from fastdump.config._json_text import Json, JsonObject, type_text
from fastdump.config._keys import BLACKLISTS, DUMP
from fastdump.config._wording import missing_or_empty, quoted

_STRINGS = (
    *("dump_path", "dump_mode", "dump_op_switch", "dump_level", "dump_scene"),
    *("dump_data", "dump_debug", "dump_step"),
    "dump_status",  # not documented; the graph engine reads it and overwrites it
)
_STEP = re.compile(r"[0-9]*(-[0-9]*)?-?")


class GraphEngineVerdict(NamedTuple):
    """What the graph engine does with a text, and the reason if it refuses the text."""

    verdict: Verdict
    reason: str = ""


class _Refusal(Exception):
    """Raised with the reason of a refusal."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def graph_engine_verdict(document: Json) -> GraphEngineVerdict:
    """Return what the graph engine does with the value of a whole acl.json."""
    if document is None or (isinstance(document, dict) and "dump" not in document):
        return GraphEngineVerdict("off")
    try:
        if not isinstance(document, dict):
            _refuse(say.OUTERMOST_IS(found=type_text(document)))
        dump = _object(document["dump"], "dump")
        _validate(dump)
        n_entries = _read(dump)
    except _Refusal as refusal:
        return GraphEngineVerdict("reject", refusal.reason)
    is_switched_on = "on" in (dump.get("dump_op_switch"), dump.get("dump_debug"))
    is_on = n_entries or dump.get("dump_scene") or is_switched_on
    return GraphEngineVerdict("accept" if is_on else "off")


def _refuse(reason: str) -> NoReturn:
    raise _Refusal(reason)


def _object(value: Json, name: str) -> JsonObject:
    if not isinstance(value, dict):
        _refuse(say.VALUE_IS(name=name, found=type_text(value)))
    return value


def _text(members: JsonObject, name: str, default: str = "") -> str:
    """Return a value that must be a string if it is there."""
    value = members.get(name, default)
    if not isinstance(value, str):
        _refuse(say.VALUE_IS(name=name, found=type_text(value)))
    return value


def _elements(members: JsonObject, name: str) -> list[Json]:
    """Return the elements of an array; none if the value is not an array."""
    value = members.get(name)
    return value if isinstance(value, list) else []


def _objects(members: JsonObject, name: str) -> list[JsonObject]:
    """Return the objects in an array; other elements are ignored."""
    return [element for element in _elements(members, name) if isinstance(element, dict)]


def _check_strings(array: Json, name: str) -> None:
    if not isinstance(array, list):
        _refuse(say.VALUE_IS(name=name, found=type_text(array)))
    for element in array:
        if not isinstance(element, str):
            _refuse(say.ARRAY_HOLDS(name=name, found=type_text(element)))


def _validate(dump: JsonObject) -> None:
    if "dump_scene" in dump:
        _validate_scene(dump)
        return
    is_overflow = _text(dump, "dump_debug") == "on"
    _validate_path(dump)
    if is_overflow:
        if dump.get("dump_list", []) != []:
            _refuse(say.DEBUG_AND_LIST())
        return
    _validate_value(dump, "dump_mode", "output")
    _validate_value(dump, "dump_level", "all")
    _validate_step(_text(dump, "dump_step"))
    _validate_list(dump)
    _validate_stats(dump)


def _validate_value(dump: JsonObject, name: str, default: str) -> None:
    value = _text(dump, name, default)
    if value not in DUMP[name]:
        _refuse(say.VALUE_IS(name=name, found=quoted(value)))


def _validate_scene(dump: JsonObject) -> None:
    _validate_value(dump, "dump_scene", "")
    for name in ("dump_debug", "dump_op_switch"):
        if _text(dump, name) == "on":
            _refuse(say.ON_WITH_SCENE(name=name))
    if dump["dump_scene"] == "watcher" and _text(dump, "dump_mode", "output") != "output":
        _refuse(say.WATCHER_WITHOUT_OUTPUT())


def _validate_path(dump: JsonObject) -> None:
    path = _text(dump, "dump_path")
    if not path:
        _refuse(missing_or_empty("dump_path", dump.get("dump_path")))
    if len(path.encode()) > MAX_PATH_BYTES:
        _refuse(say.ENGINE_PATH_TOO_LONG())
    # The first reading leaves the characters of a local path to the file system.
    remote = split_remote(path)
    if forbidden := forbidden_characters(remote[1] if remote else path):
        _refuse(say.ENGINE_CHARACTERS(characters=quoted(forbidden)))


def _validate_step(steps: str) -> None:
    # The vendor splits the text with C++'s getline, which ignores a separator at the end.
    items = steps.removesuffix("|").split("|")
    if len(items) > MAX_ITEMS:
        _refuse(say.ENGINE_STEP_ITEMS(most=MAX_ITEMS))
    for item in items:
        if not _STEP.fullmatch(item):
            _refuse(say.ENGINE_STEP(item=quoted(item)))


def _validate_list(dump: JsonObject) -> None:
    entries = _objects(dump, "dump_list")
    if isinstance(dump.get("dump_list"), list) and not any(entries):
        return
    for entry in entries:
        _read_entry(entry, strict=True)
    _validate_value(dump, "dump_op_switch", "off")
    for entry in entries:
        _validate_ranges(entry, dump)


def _validate_ranges(entry: JsonObject, dump: JsonObject) -> None:
    ranges = _ranges(entry)
    if not ranges:
        return
    if _text(dump, "dump_level", "all") != "op":
        _refuse(say.RANGE_WITHOUT_LEVEL())
    if not _text(entry, "model_name"):
        _refuse(say.RANGE_WITHOUT_MODEL())
    if not all(begin and end for begin, end in ranges):
        _refuse(say.RANGE_WITHOUT_ENDS())


def _ranges(entry: JsonObject) -> list[tuple[str, str]]:
    """Return the begin and the end of the ranges that have both; the others are ignored."""
    return [
        (_text(span, "begin"), _text(span, "end"))
        for span in _objects(entry, "opname_range")
        if "begin" in span and "end" in span
    ]


def _validate_stats(dump: JsonObject) -> None:
    if "dump_stats" not in dump:
        return
    _check_strings(dump["dump_stats"], "dump_stats")
    if not dump["dump_stats"]:
        _refuse(say.IS_EMPTY(name="dump_stats"))
    if _text(dump, "dump_data", "tensor") != "stats":
        _refuse(say.STATS_WITHOUT_DATA())


def _read(dump: JsonObject) -> int:
    """Read the validated object; return how many entries of dump_list are left."""
    for name in _STRINGS:
        _text(dump, name)
    _check_strings(_elements(dump, "dump_stats"), "dump_stats")
    if dump.get("dump_list") == []:
        return 1  # an empty array stands for an entry that selects everything
    return sum(map(_is_kept, _elements(dump, "dump_list")))


def _is_kept(entry: Json) -> bool:
    if not isinstance(entry, dict):
        return True
    if entry.get("model_name") == "":
        return False
    if entry.get("layer") == []:
        _text(entry, "model_name")
        return False
    _read_entry(entry, strict=False)
    return True


def _read_entry(entry: JsonObject, *, strict: bool) -> None:
    """Check the types in one entry; with `strict`, a "pos" must be an array."""
    _text(entry, "model_name")
    for name in ("layer", "watcher_nodes"):
        _check_strings(_elements(entry, name), name)
    for name in BLACKLISTS:
        for item in _objects(entry, name):
            _text(item, "name")
            if "pos" in item:
                _check_strings(item["pos"] if strict else _elements(item, "pos"), "pos")
    _ranges(entry)
