"""JSON read strictly, with the place of every value, and without a limit to its nesting.

Python's own decoder tells no places, accepts NaN and lone surrogates, and recurses.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from typing import NoReturn, TypeAlias

Json: TypeAlias = "JsonObject | JsonArray | str | float | bool | None"

JsonPath: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the outermost value down."""

# Nobody reads more of them, and a hostile file repeats a key a million times.
_MAX_DUPLICATES = 100

# Deeper values are checked and dropped: nothing that anybody reads lies there, and millions of
# nested containers would fill the memory.
_KEPT_DEPTH = 32

_BLANKS = re.compile(r"[ \t\n\r]*")


class JsonSyntaxError(ValueError):
    """The text is no JSON.

    Attributes
    ----------
    index
        Of the character at which that shows.
    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


class JsonObject(dict[str, "Json"]):
    """An object; of a repeated key the last value counts.

    Attributes
    ----------
    starts
        Index in the text of each key.
    """

    __slots__ = ("starts",)

    def __init__(self) -> None:
        super().__init__()
        self.starts: dict[str, int] = {}


class JsonArray(list["Json"]):
    """An array.

    Attributes
    ----------
    starts
        Index in the text of each element.
    """

    __slots__ = ("starts",)

    def __init__(self) -> None:
        super().__init__()
        self.starts = array("q")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("the number is too large")
    return number


# Only ever asked for a string, a number or a word, so that it cannot recurse.
_SCALARS = json.JSONDecoder(
    parse_float=_finite, parse_int=_finite, parse_constant=_refuse_constant, strict=True
)
_SCALAR_STARTS = frozenset('"-0123456789tfn')


class _Reader:
    """One pass over `text`; `duplicates` gets path and index of keys that are repeated."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.duplicates: list[tuple[JsonPath, int]] = []
        # Of each open container: itself (None below the kept depth) and what closes it.
        self._open: list[tuple[JsonObject | JsonArray | None, str]] = []
        # Of each open container: the key, or the index, of the value that is read in it.
        self._steps: list[str | int] = []
        self.root: Json = None

    def read(self) -> None:
        index = self._skip(0)
        while True:
            index = self._value(index)
            # What has just been read may end any number of containers.
            while self._open:
                index = self._skip(index)
                character = self._text[index : index + 1]
                _, closing = self._open[-1]
                if character == ",":
                    index = self._next(self._skip(index + 1))
                    break
                if character != closing:
                    self._fail(f"expected ',' or '{closing}'", index)
                self._close()
                index += 1
            else:
                break
        index = self._skip(index)
        if index < len(self._text):
            self._fail("expected nothing after the value", index)

    def _value(self, index: int) -> int:
        """Read the beginning of a value down to its first scalar; return where that ends."""
        while True:
            character = self._text[index : index + 1]
            if character not in ("{", "["):
                value, end = self._scalar(index)
                self._add(value, index)
                return end
            container = None
            if len(self._open) < _KEPT_DEPTH:
                container = JsonObject() if character == "{" else JsonArray()
            self._add(container, index)
            closing = "}" if character == "{" else "]"
            inside = self._skip(index + 1)
            if self._text[inside : inside + 1] == closing:
                return inside + 1
            self._open.append((container, closing))
            self._steps.append(-1)
            index = self._next(inside)

    def _next(self, index: int) -> int:
        """Begin a member of the innermost container; return where its value starts."""
        container, closing = self._open[-1]
        step = self._steps[-1]
        if closing == "]":
            # Indices count up from -1; the type of a step is that of its container.
            self._steps[-1] = int(step) + 1
            return index
        if self._text[index : index + 1] != '"':
            self._fail("expected a key in double quotes", index)
        key, end = self._scalar(index)
        assert isinstance(key, str)
        self._steps[-1] = key
        if isinstance(container, JsonObject):
            if key in container.starts and len(self.duplicates) < _MAX_DUPLICATES:
                self.duplicates.append((tuple(self._steps), index))
            container.starts[key] = index
        end = self._skip(end)
        if self._text[end : end + 1] != ":":
            self._fail("expected ':'", end)
        return self._skip(end + 1)

    def _add(self, value: Json, index: int) -> None:
        if not self._open:
            self.root = value
            return
        container, _ = self._open[-1]
        if isinstance(container, JsonObject):
            container[str(self._steps[-1])] = value
        elif isinstance(container, JsonArray):
            container.append(value)
            container.starts.append(index)

    def _close(self) -> None:
        self._open.pop()
        self._steps.pop()

    def _scalar(self, index: int) -> tuple[str | float | bool | None, int]:
        if self._text[index : index + 1] not in _SCALAR_STARTS:
            self._fail("expected a value", index)
        try:
            value, end = _SCALARS.raw_decode(self._text, index)
        except json.JSONDecodeError as error:
            message = error.msg.removesuffix(": ").removesuffix(" at")
            raise JsonSyntaxError(message[:1].lower() + message[1:], error.pos) from error
        except ValueError as error:
            raise JsonSyntaxError(str(error), index) from error
        if isinstance(value, str) and not value.isascii() and "\\" in self._text[index:end]:
            # An escaped half of a surrogate pair stands for no character.
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise JsonSyntaxError("the string has half a surrogate pair", index) from error
        return value, end

    def _skip(self, index: int) -> int:
        blanks = _BLANKS.match(self._text, index)
        assert blanks is not None
        return blanks.end()

    def _fail(self, expected: str, index: int) -> NoReturn:
        found = self._text[index : index + 1]
        raise JsonSyntaxError(f"{expected}, found {found!r}" if found else "the text ends", index)


def type_text(value: Json) -> str:
    """Return what a value is in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, float):
        return "a number"
    return "an object" if isinstance(value, JsonObject) else "an array"


def read_json(text: str) -> tuple[Json, list[tuple[JsonPath, int]]]:
    """Return the value of a JSON text, and path and index of the first keys that are repeated.

    Raises
    ------
    JsonSyntaxError
        If the text is no JSON by RFC 8259, which excludes NaN, comments, trailing commas, lone
        surrogates, and numbers that no float64 can hold.
    """
    reader = _Reader(text)
    reader.read()
    return reader.root, reader.duplicates
