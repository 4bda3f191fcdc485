"""The second reading: what the graph engine makes of the text on its own.

It is asked only where the first reading found something to do, and what it answers does not reach
the caller: if it refuses, the call succeeds and operators of graphs are not dumped. It looks at
fewer keys, in another order, and at no file system.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from fastdump.config._dump_path import MAX_PATH_BYTES, failing_characters, split_remote
from fastdump.config._dump_step import MAX_ITEMS
from fastdump.config._findings import Verdict, shown
from fastdump.config._json_text import Json, JsonObject, type_text
from fastdump.config._keys import VALUES

_READ = (
    *("dump_path", "dump_mode", "dump_op_switch", "dump_level", "dump_scene"),
    *("dump_data", "dump_debug", "dump_step"),
    "dump_status",  # which nobody documents, and which is then overwritten
)


class GraphEngineVerdict(NamedTuple):
    """What the graph engine does with a text, and why if it refuses."""

    verdict: Verdict
    reason: str = ""


class _Refusal(Exception):
    """Raised with the reason."""


def graph_engine_verdict(document: Json) -> GraphEngineVerdict:
    """Return what the graph engine does with a whole acl.json."""
    try:
        dump = _dump_of(document)
        if dump is None:
            return GraphEngineVerdict("off")
        _validate(dump)
        n_entries = _read(dump)
    except _Refusal as refusal:
        return GraphEngineVerdict("reject", str(refusal))
    is_on = (
        n_entries
        or dump.get("dump_scene")
        or "on"
        in (
            dump.get("dump_op_switch"),
            dump.get("dump_debug"),
        )
    )
    return GraphEngineVerdict("accept" if is_on else "off")


def _dump_of(document: Json) -> JsonObject | None:
    if document is None:
        return None
    if not isinstance(document, dict):
        _refuse(f"the outermost value is {type_text(document)}")
    if "dump" not in document:
        return None
    dump = document["dump"]
    if not isinstance(dump, dict):
        _refuse(f"dump is {type_text(dump)}")
    return dump


def _refuse(reason: str) -> NoReturn:
    raise _Refusal(reason)


def _text(members: JsonObject, name: str, default: str = "") -> str:
    value = members.get(name, default)
    if not isinstance(value, str):
        _refuse(f"{name} is {type_text(value)}")
    return value


def _check_strings(array: Json, name: str) -> None:
    if not isinstance(array, list):
        _refuse(f"{name} is {type_text(array)}")
    for element in array:
        if not isinstance(element, str):
            _refuse(f"{name} holds {type_text(element)}")


def _validate(dump: JsonObject) -> None:
    if "dump_scene" in dump:
        _validate_scene(dump)
        return
    if _text(dump, "dump_debug") == "on":
        _validate_path(dump)
        dump_list = dump.get("dump_list", [])
        if not isinstance(dump_list, list) or dump_list:
            _refuse("dump_debug is on and there is a dump_list")
        return
    _validate_path(dump)
    _validate_value(dump, "dump_mode", "output")
    _validate_value(dump, "dump_level", "all")
    _validate_step(_text(dump, "dump_step"))
    _validate_list(dump)
    _validate_stats(dump)


def _validate_value(dump: JsonObject, name: str, default: str) -> None:
    value = _text(dump, name, default)
    if value not in VALUES[name]:
        _refuse(f"{name} is {shown(value)}")


def _validate_scene(dump: JsonObject) -> None:
    _validate_value(dump, "dump_scene", "")
    for name in ("dump_debug", "dump_op_switch"):
        if _text(dump, name) == "on":
            _refuse(f"dump_scene and {name} on")
    if dump["dump_scene"] == "watcher" and _text(dump, "dump_mode", "output") != "output":
        _refuse("dump_mode of a watcher is not output")


def _validate_path(dump: JsonObject) -> None:
    path = _text(dump, "dump_path")
    if not path:
        _refuse("dump_path is missing or empty")
    if len(path.encode()) > MAX_PATH_BYTES:
        _refuse("dump_path is too long")
    # Unlike the first reading, which leaves the characters of a local path to the file system.
    remote = split_remote(path)
    if failing := failing_characters(remote[1] if remote else path):
        _refuse(f"dump_path has {shown(failing)}, which its list of characters lacks")


def _validate_step(steps: str) -> None:
    # Like C++'s getline, by which it splits: a separator at the end separates nothing.
    items = steps.removesuffix("|").split("|")
    if len(items) > MAX_ITEMS:
        _refuse(f"dump_step has more than {MAX_ITEMS} items")
    for item in items:
        if not re.fullmatch(r"[0-9]*(-[0-9]*)?-?", item):
            _refuse(f"dump_step has {shown(item)}")


def _validate_list(dump: JsonObject) -> None:
    dump_list = dump.get("dump_list")
    entries: list[Json] = []
    if isinstance(dump_list, list):
        if not any(isinstance(entry, dict) and entry for entry in dump_list):
            return
        entries = dump_list
    for entry in entries:
        if isinstance(entry, dict):
            _read_entry(entry, strict=True)
    _validate_value(dump, "dump_op_switch", "off")
    for entry in entries:
        if isinstance(entry, dict):
            _validate_ranges(entry, dump)


def _validate_ranges(entry: JsonObject, dump: JsonObject) -> None:
    ranges = _ranges(entry)
    if not ranges:
        return
    if _text(dump, "dump_level", "all") != "op":
        _refuse("opname_range without dump_level op")
    if not _text(entry, "model_name"):
        _refuse("opname_range without model_name")
    if not all(begin and end for begin, end in ranges):
        _refuse("a range without begin or end")


def _ranges(entry: JsonObject) -> list[tuple[str, str]]:
    """Return begin and end of the ranges that have both; the others are passed over."""
    array = entry.get("opname_range")
    return [
        (_text(span, "begin"), _text(span, "end"))
        for span in (array if isinstance(array, list) else ())
        if isinstance(span, dict) and "begin" in span and "end" in span
    ]


def _validate_stats(dump: JsonObject) -> None:
    if "dump_stats" not in dump:
        return
    _check_strings(dump["dump_stats"], "dump_stats")
    if not dump["dump_stats"]:
        _refuse("dump_stats is empty")
    if _text(dump, "dump_data", "tensor") != "stats":
        _refuse("dump_stats without dump_data stats")


def _read(dump: JsonObject) -> int:
    """Read what was validated; return how many entries of dump_list are left."""
    for name in _READ:
        _text(dump, name)
    if isinstance(dump.get("dump_stats"), list):
        _check_strings(dump["dump_stats"], "dump_stats")
    dump_list = dump.get("dump_list")
    if not isinstance(dump_list, list):
        return 0
    # An empty array stands for one entry that takes everything.
    return sum(map(_is_kept, dump_list)) if dump_list else 1


def _is_kept(entry: Json) -> bool:
    if not isinstance(entry, dict):
        return True
    if entry.get("model_name") == "":
        return False
    layer = entry.get("layer")
    if isinstance(layer, list) and not layer:
        _text(entry, "model_name")
        return False
    _read_entry(entry, strict=False)
    return True


def _read_entry(entry: JsonObject, *, strict: bool) -> None:
    """Check the types in one entry; `strict` takes a "pos" that is no array for an error."""
    _text(entry, "model_name")
    for name in ("layer", "watcher_nodes"):
        if isinstance(entry.get(name), list):
            _check_strings(entry[name], name)
    for name in ("optype_blacklist", "opname_blacklist"):
        items = entry.get(name)
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, dict):
                continue
            _text(item, "name")
            if "pos" in item and (strict or isinstance(item["pos"], list)):
                _check_strings(item["pos"], "pos")
    _ranges(entry)
