"""Where in a JSON text its keys and elements start, which Python's decoder does not say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

JsonPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices, from the outermost value down."""

# By key or index: the members to find below it.
_Wanted: TypeAlias = "dict[str | int, _Wanted]"

_SEPARATOR = re.compile(r"[ \t\n\r]*[,:]?[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def find_places(text: str, value: Any, paths: Iterable[JsonPath]) -> dict[JsonPath, int]:
    """Return the index in a text at which the key or element with each path starts.

    A path that does not exist has the place of the nearest member above it, and none if there is
    no such member.

    Parameters
    ----------
    text, value
        A JSON text and its value.
    paths
        Paths in the value.
    """
    nearest = {path: _existing(value, path) for path in paths}
    wanted: _Wanted = {}
    for path in nearest.values():
        below = wanted
        for step in path:
            below = below.setdefault(step, {})
    places: dict[JsonPath, int] = {}
    if wanted:
        _find(text, _skip(text, 0), (), wanted, places)
    return {path: places[existing] for path, existing in nearest.items() if existing}


def _existing(value: Any, path: JsonPath) -> JsonPath:
    """Return as much of a path as there is in a value."""
    for depth, step in enumerate(path):
        if not _has(value, step):
            return path[:depth]
        value = value[step]
    return path


def _has(value: Any, step: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and 0 <= step < len(value)
    return isinstance(value, dict) and step in value


def _find(
    text: str, start: int, path: JsonPath, wanted: _Wanted, places: dict[JsonPath, int]
) -> int:
    """Find members of the object or array that starts at an index; return where it ends."""
    is_object = text[start] == "{"
    last = max((step for step in wanted if isinstance(step, int)), default=-1)
    index = _skip(text, start + 1)
    n_members = 0
    while text[index] not in "}]":
        step: str | int = n_members
        member = index
        if is_object:
            step, index = _DECODER.raw_decode(text, index)
            index = _skip(text, index)
        if step in wanted:
            # A later value of a repeated key takes the place of an earlier one.
            places[(*path, step)] = member
        if wanted.get(step) and text[index] in "{[":
            index = _find(text, index, (*path, step), wanted[step], places)
        else:
            _, index = _DECODER.raw_decode(text, index)
        index = _skip(text, index)
        n_members += 1
        if not is_object and n_members > last:
            return _DECODER.raw_decode(text, start)[1]
    return index + 1


def _skip(text: str, index: int) -> int:
    """Return the index behind blanks and one comma or colon."""
    separator = _SEPARATOR.match(text, index)
    assert separator is not None
    return separator.end()
