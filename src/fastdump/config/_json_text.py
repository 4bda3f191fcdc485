"""Strict JSON: the value of a text, or the place where the text is not JSON.

Python's decoder makes the value, and this module refuses what the decoder wrongly accepts.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn, TypeAlias

from fastdump._words import config_catalogue as say
from fastdump.config._json_places import JsonPath

Json: TypeAlias = "JsonObject | list[Json] | str | float | bool | None"
JsonObject: TypeAlias = dict[str, Json]

# A surrogate pair, or half of one (group 1), or any other escape.
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.")
# A quotation mark, an escape, a number, or a word that the decoder takes for a number.
_TOKEN = re.compile(r'"|\\.|-?(?:[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|Infinity)|NaN', re.DOTALL)
_TYPES = {
    str: say.A_STRING(),
    int: say.A_NUMBER(),
    float: say.A_NUMBER(),
    list: say.AN_ARRAY(),
    dict: say.AN_OBJECT(),
}
# The decoder's words for what it expected, or did not.
_EXPECTED = {
    "value": say.EXPECTED_VALUE,
    "',' delimiter": say.EXPECTED_COMMA,
    "':' delimiter": say.EXPECTED_COLON,
    "property name enclosed in double quotes": say.EXPECTED_NAME,
}
_REASONS = {
    "unterminated string": say.UNTERMINATED_STRING(),
    "invalid control character": say.CONTROL_CHARACTER(),
    "invalid \\escape": say.INVALID_ESCAPE(),
    "invalid \\uxxxx escape": say.INVALID_UNICODE_ESCAPE(),
    "extra data": say.EXTRA_DATA(),
    "illegal trailing comma before end of object": say.TRAILING_COMMA_IN_OBJECT(),
    "illegal trailing comma before end of array": say.TRAILING_COMMA_IN_ARRAY(),
}


class JsonSyntaxError(ValueError):
    """The text is not JSON.

    Attributes
    ----------
    reason
        Why it is not.
    index
        Index of the character at which the text stops being JSON.
    """

    def __init__(self, reason: str, index: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.index = index


class _RepeatingObject(JsonObject):
    """An object with keys that are repeated in the text."""

    def __init__(self, pairs: list[tuple[str, Json]]) -> None:
        super().__init__(pairs)
        counts = Counter(name for name, _ in pairs)
        self.repeated = [name for name, count in counts.items() if count > 1]


class _Refusal(ValueError):
    """Raised with a reason, and with the word or number that the decoder would have accepted."""


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        raise _Refusal(say.NUMBER_TOO_LARGE(), number)
    return value


def _refuse(word: str) -> NoReturn:
    raise _Refusal(say.NOT_A_VALUE(word=word), word)


def _make_object(pairs: list[tuple[str, Json]]) -> JsonObject:
    unique = dict(pairs)
    return unique if len(unique) == len(pairs) else _RepeatingObject(pairs)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_make_object, parse_float=_finite, parse_int=_finite, parse_constant=_refuse
)


def read_json(text: str) -> Json:
    """Return the value of a JSON text. A repeated key has its last value.

    The decoder recurses, so the caller must bound the depth of the text.

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
    except _Refusal as refusal:
        reason, token = refusal.args
        raise JsonSyntaxError(reason, _index_of(token, text)) from refusal
    index = half_surrogate(text)
    if index is not None:
        raise JsonSyntaxError(say.HALF_SURROGATE(), index)
    return value


def half_surrogate(text: str) -> int | None:
    """Return the index of the first escape that is half of a surrogate pair; None without one."""
    return next((escape.start() for escape in _ESCAPE.finditer(text) if escape[1]), None)


def _syntax_error(text: str, error: json.JSONDecodeError) -> JsonSyntaxError:
    index = error.pos
    if "trailing comma" in error.msg:
        # Python 3.13 points at the comma, other versions at what follows it.
        index = len(text) - len(text[index + 1 :].lstrip())
    said = re.sub(r"( starting)? at$|: $", "", error.msg[:1].lower() + error.msg[1:])
    expected = _EXPECTED.get(said.removeprefix("expecting "))
    if expected is None:
        return JsonSyntaxError(_REASONS.get(said.lower(), said), index)
    found = repr(text[index]) if index < len(text) else say.END_OF_TEXT()
    return JsonSyntaxError(expected(found=found), index)


def _index_of(token: str, text: str) -> int:
    """Return the index at which a token first stands outside strings."""
    is_outside = True
    for found in _TOKEN.finditer(text):
        if found[0] == '"':
            is_outside = not is_outside
        elif is_outside and found[0] == token:
            return found.start()
    raise AssertionError(f"there is no {token}")


def repeated_keys(value: Json, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the paths of repeated keys in a value that `read_json` returned."""
    if isinstance(value, _RepeatingObject):
        yield from ((*path, name) for name in value.repeated)
    if isinstance(value, (dict, list)):
        for step, member in value.items() if isinstance(value, dict) else enumerate(value):
            if member and isinstance(member, (dict, list)):
                yield from repeated_keys(member, (*path, step))


def type_text(value: Json) -> str:
    """Return the name of a value's JSON type, or the value itself if it is null, true or false."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return next(text for type_, text in _TYPES.items() if isinstance(value, type_))
