"""The places in a JSON text where keys and elements start, which Python's decoder does not tell."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import TypeAlias

JsonPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices, from the outermost value down."""

# The members to find, by key or index, and what to find below each of them.
_Wanted: TypeAlias = "dict[str | int, _Wanted]"
# The members that were found, by key or index: where each starts, and what was found below it.
_Found: TypeAlias = "dict[str | int, tuple[int, _Found]]"

_SEPARATOR = re.compile(r"[ \t\n\r]*[,:]?[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def find_places(text: str, paths: Collection[JsonPath]) -> dict[JsonPath, int | None]:
    """Return the index in a JSON text at which the key or element with each path starts.

    A path that does not exist gets the place of the nearest member above it, or None without such a
    member. If a key is repeated, its last value counts.
    """
    wanted: _Wanted = {}
    for path in paths:
        below = wanted
        for step in path:
            below = below.setdefault(step, {})
    start = _skip(text, 0)
    is_container = text[start : start + 1] in ("{", "[")
    found = _find(text, start, wanted)[1] if wanted and is_container else {}
    return {path: _nearest(found, path) for path in paths}


def _nearest(found: _Found, path: JsonPath) -> int | None:
    index = None
    for step in path:
        if step not in found:
            break
        index, found = found[step]
    return index


def _find(text: str, start: int, wanted: _Wanted) -> tuple[int, _Found]:
    """Return where the object or array at an index ends, and the wanted members that it has."""
    is_object = text[start] == "{"
    last = max((step for step in wanted if isinstance(step, int)), default=-1)
    found: _Found = {}
    index = _skip(text, start + 1)
    n_members = 0
    while text[index] not in "}]":
        step: str | int = n_members
        member = index
        if is_object:
            step, index = _DECODER.raw_decode(text, index)
            index = _skip(text, index)
        below: _Found = {}
        if wanted.get(step) and text[index] in "{[":
            index, below = _find(text, index, wanted[step])
        else:
            _, index = _DECODER.raw_decode(text, index)
        if step in wanted:
            found[step] = (member, below)
        index = _skip(text, index)
        n_members += 1
        if not is_object and n_members > last:
            # The decoder skips the rest of a long array much faster.
            return _DECODER.raw_decode(text, start)[1], found
    return index + 1, found


def _skip(text: str, index: int) -> int:
    """Return the index behind blanks and one comma or colon."""
    separator = _SEPARATOR.match(text, index)
    assert separator is not None
    return separator.end()
