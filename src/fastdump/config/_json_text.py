"""Strict JSON: the value of a text, and where in the text its keys and elements are.

Python's decoder makes the value. It does not say where a value stands, and it accepts NaN, Infinity
and halves of surrogate pairs, so places and refusals are added here.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import NoReturn, TypeAlias

Json: TypeAlias = "JsonObject | list[Json] | str | float | bool | None"
JsonObject: TypeAlias = dict[str, Json]

JsonPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices, from the outermost value down."""

# Nobody reads more of them, and a hostile file may repeat a million keys.
_MAX_REPEATED_KEYS = 100

_SEPARATOR = re.compile(r"[ \t\n\r]*[,:]?[ \t\n\r]*")
# A surrogate pair, or half of one (group 1), or any other escape.
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.")
_TYPES = {str: "a string", float: "a number", list: "an array"}


class JsonSyntaxError(ValueError):
    """The text is not JSON.

    Attributes
    ----------
    index
        Index of the character at which the text stops being JSON.
    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


class _RepeatingObject(JsonObject):
    """An object some of whose keys are repeated in the text."""

    def __init__(self, pairs: list[tuple[str, Json]]) -> None:
        super().__init__(pairs)
        counts = Counter(name for name, _ in pairs)
        self.repeated = [name for name, count in counts.items() if count > 1]


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("the number is too large")
    return number


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _make_object(pairs: list[tuple[str, Json]]) -> JsonObject:
    members = dict(pairs)
    return members if len(members) == len(pairs) else _RepeatingObject(pairs)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_make_object, parse_float=_finite, parse_int=_finite, parse_constant=_refuse
)


def read_json(text: str) -> Json:
    """Return the value of a JSON text. A repeated key has its last value.

    The decoder recurses, so how deep the text nests must have been bounded before.

    Raises
    ------
    JsonSyntaxError
        If the text is not JSON by RFC 8259, or holds half of a surrogate pair or a number that no
        float64 can hold.
    """
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_error(text, error) from error
    except ValueError:
        for _ in _members(text):
            pass  # comes to the same value, and raises with its place
        raise
    for escape in _ESCAPE.finditer(text):
        if escape[1]:
            raise JsonSyntaxError("half of a surrogate pair", escape.start())
    return value


def _syntax_error(text: str, error: json.JSONDecodeError) -> JsonSyntaxError:
    # Python 3.13 points at a trailing comma, other versions at what follows it.
    index = _skip(text, error.pos) if "trailing comma" in error.msg else error.pos
    message = re.sub(r"( starting)? at$|: $", "", error.msg[:1].lower() + error.msg[1:])
    if message.startswith("expecting"):
        found = repr(text[index]) if index < len(text) else "the end of the text"
        message = f"{message.replace('expecting', 'expected')}, found {found}"
    return JsonSyntaxError(message, index)


def repeated_keys(value: Json) -> list[JsonPath]:
    """Return the paths of the first repeated keys in a value that `read_json` returned."""
    return list(islice(_repeated_keys(value, ()), _MAX_REPEATED_KEYS))


def _repeated_keys(value: Json, path: JsonPath) -> Iterator[JsonPath]:
    if isinstance(value, _RepeatingObject):
        yield from ((*path, name) for name in value.repeated)
    if isinstance(value, (dict, list)):
        for step, member in value.items() if isinstance(value, dict) else enumerate(value):
            if member and isinstance(member, (dict, list)):
                yield from _repeated_keys(member, (*path, step))


def find_places(
    text: str, value: Json, paths: Collection[JsonPath], *, is_repeating: bool
) -> dict[JsonPath, int]:
    """Return the indices in a text at which the keys and elements with some paths start.

    A path that does not exist gets the place of the nearest member above it, and none if there is
    no such member.

    Parameters
    ----------
    text, value
        A JSON text and its value.
    paths
        Paths in the value.
    is_repeating
        Whether the text repeats a key. If it does not, the search ends with the last path.
    """
    nearest = {path: _existing(value, path) for path in paths}
    wanted = {path for path in nearest.values() if path}
    above = {path[:depth] for path in wanted for depth in range(len(path))}
    found: dict[JsonPath, int] = {}
    for path, index in _members(text, above.__contains__) if wanted else ():
        if path in wanted:
            found[path] = index  # again if a key is repeated: the last one counts
            if len(found) == len(wanted) and not is_repeating:
                break
    return {path: found[existing] for path, existing in nearest.items() if existing}


def _existing(value: Json, path: JsonPath) -> JsonPath:
    for depth, step in enumerate(path):
        if isinstance(value, dict) and step in value:
            value = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
            value = value[step]
        else:
            return path[:depth]
    return path


def _members(
    text: str, is_wanted: Callable[[JsonPath], bool] = lambda path: True
) -> Iterator[tuple[JsonPath, int]]:
    """Yield path and place of each member of the containers whose paths are wanted.

    The text must be JSON as far as the first value that is refused.
    """
    steps: list[str | int] = []
    closings: list[str] = []
    index = _skip(text, 0)
    while True:
        # A value starts at index.
        if text[index] in "{[" and is_wanted(tuple(steps)):
            steps.append(-1)
            closings.append("}" if text[index] == "{" else "]")
            index += 1
        else:
            try:
                index = _DECODER.raw_decode(text, index)[1]
            except ValueError as error:
                raise JsonSyntaxError(str(error), index) from error
        index = _skip(text, index)
        while closings and text[index] == closings[-1]:
            steps.pop()
            closings.pop()
            index = _skip(text, index + 1)
        if not closings:
            return
        start = index
        if closings[-1] == "}":
            steps[-1], index = _DECODER.raw_decode(text, index)
            index = _skip(text, index)
        else:
            steps[-1] = int(steps[-1]) + 1
        yield tuple(steps), start


def _skip(text: str, index: int) -> int:
    """Return the index behind blanks and one comma or colon."""
    separator = _SEPARATOR.match(text, index)
    assert separator is not None
    return separator.end()


def type_text(value: Json) -> str:
    """Return what a value is in JSON's words."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return _TYPES.get(type(value), "an object")
