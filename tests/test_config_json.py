"""The strict reader of JSON below `fastdump.config`: values and places."""

from __future__ import annotations

import json
import math
import re
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdump.config._json_places import JsonPath, find_places
from fastdump.config._json_text import JsonSyntaxError, read_json, repeated_keys

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(TEXTS, values, max_size=4),
    max_leaves=30,
)


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_it_reads_what_python_writes(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = read_json(text)
    assert found == value
    assert list(repeated_keys(found)) == []


class Writer:
    """Writes JSON with blanks at random, and notes where it writes each key and element.

    A tuple of pairs is an object, so that keys can be repeated.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.text = ""
        self.places: dict[JsonPath, int] = {}
        self.repeated: set[JsonPath] = set()

    def add(self, token: str) -> None:
        self.text += token + "".join(self.random.choices(" \t\r\n", k=self.random.randrange(3)))

    def write(self, value: Any, path: JsonPath = ()) -> None:
        if not isinstance(value, (list, tuple)):
            self.add(json.dumps(value, ensure_ascii=self.random.random() < 0.5))
            return
        is_object = isinstance(value, tuple)
        self.add("{" if is_object else "[")
        for i, member in enumerate(value):
            if i:
                self.add(",")
            step, content = member if is_object else (i, member)
            self.note((*path, step))
            if is_object:
                self.add(json.dumps(step))
                self.add(":")
            self.write(content, (*path, step))
        self.add("}" if is_object else "]")

    def note(self, path: JsonPath) -> None:
        if path in self.places:
            # What only the earlier value of a repeated key has is not in the value of the text.
            self.places = {p: i for p, i in self.places.items() if p[: len(path)] != path}
            self.repeated = {p for p in self.repeated if p[: len(path)] != path} | {path}
        self.places[path] = len(self.text)


KEYS = st.sampled_from(["", "a", "{", '"]', "\u5c42"])
PAIRS = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda values: (
        st.lists(values, max_size=4) | st.lists(st.tuples(KEYS, values), max_size=4).map(tuple)
    ),
    max_leaves=20,
)


@given(PAIRS, st.randoms(use_true_random=False))
def test_every_place_is_where_its_key_or_element_was_written(value: Any, random: Random) -> None:
    writer = Writer(random)
    writer.write(value)
    found = read_json(writer.text)
    assert found == json.loads(writer.text)
    assert set(repeated_keys(found)) == writer.repeated
    places = find_places(writer.text, list(writer.places))
    assert places == writer.places
    for path, index in writer.places.items():
        assert find_places(writer.text, [path]) == {path: index}


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), None),
        (("x",), None),
        ((0,), None),
        (("a", "x", 0), '"a"'),
        (("a", 0), '"a"'),
        (("a", "b", 2), '"b"'),
        (("a", "b", -1), '"b"'),
        (("a", "b", "0"), '"b"'),
        (("a", "b", 1, "x"), '"c"]'),
        (("a", "b", 1, 0), '"c"]'),
    ],
)
def test_what_is_missing_has_the_place_of_what_is_nearest(
    path: JsonPath, place: str | None
) -> None:
    text = '{"a": {"b": [0, "c"]}}'
    found = find_places(text, [path])
    assert found == {path: None if place is None else text.index(place)}


def test_what_only_the_first_value_of_a_repeated_key_has_is_missing() -> None:
    text = '{"a": {"b": 1}, "a": {"c": 1}}'
    path = ("a", "b")
    found = find_places(text, [path])
    assert found == {path: text.rindex('"a"')}


MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.sampled_from([*'",}]{[:\\0-.', "NaN", "-Infinity", "1e999", "9" * 400, "\\ud800"]),
    )
)


@given(st.data())
def test_it_refuses_what_python_refuses(data: st.DataObject) -> None:
    text = json.dumps(data.draw(VALUES), ensure_ascii=False)
    for index, character in data.draw(MUTATIONS):
        text = text[:index] + character + text[index:]
    try:
        everything = json.loads(text, parse_int=float, object_pairs_hook=list)
    except ValueError:
        with pytest.raises(JsonSyntaxError) as raised:
            read_json(text)
        assert 0 <= raised.value.index <= len(text)
        return
    if is_json(everything):
        assert read_json(text) == json.loads(text)
        return
    with pytest.raises(JsonSyntaxError) as raised:
        read_json(text)
    assert re.match(r"-?[0-9IN]|\\u[dD]", text[raised.value.index :])


def is_json(value: Any) -> bool:
    """Return whether JSON can hold what Python's decoder returned; objects are lists of pairs."""
    if isinstance(value, (list, tuple)):
        return all(map(is_json, value))
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    return not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("", 0),
        (" \n ", 3),
        ("NaN", 0),
        ("[NaNx]", 1),
        ('["NaN \\" NaN, \\\\", NaN, NaN]', 19),
        ("[Infinity]", 1),
        ("[-Infinity]", 1),
        ("1e999", 0),
        ("[0, -1e999]", 4),
        ("9" * 400, 0),
        (f"[{'9' * 400}e-300, {'9' * 400}]", 408),
        ("1e999x", 0),
        ('"\\ud800"', 1),
        ('{"a": "\\udc00\\ud800"}', 7),
        ('{"\\ud800": 1}', 2),
        ('"\\ud83d\\ude00 \\\\ud800 \\uD83D."', 22),
        ('"a\tb"', 2),
        ('"\\x"', 1),
        ('"open', 0),
        ("{'a': 1}", 1),
        ("{a: 1}", 1),
        ('{"a" 1}', 5),
        ('{"a": 1,}', 8),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("[1}", 2),
        ("// c\n{}", 0),
        ("{} x", 3),
        ("{}{}", 2),
        ("[01]", 2),
        ("[1.]", 2),
        ("[+1]", 1),
        ("nul", 0),
        ("\ufeff{}", 0),
        ("[\u0661]", 1),
        ("[\u00a01]", 1),
        ("[\x0c1]", 1),
        ("{}\0", 2),
    ],
)
def test_what_is_no_json_is_refused_at_its_place(text: str, index: int) -> None:
    with pytest.raises(JsonSyntaxError) as raised:
        read_json(text)
    assert raised.value.index == index


@pytest.mark.parametrize(
    "text", ['"\\ud83d\\ude00"', "1e-999", "-0", '"\x7f"', '"\\/"', "\r\n\t 0 "]
)
def test_what_looks_odd_but_is_json_is_read(text: str) -> None:
    assert read_json(text) == json.loads(text)


def test_of_a_key_that_is_repeated_the_last_value_counts() -> None:
    text = '{"a": [{"d": 1, "d": 2}], "b": [{"c": 1, "c": 2, "c": 3}], "a": {"x": 0}}'
    value = read_json(text)
    assert value == json.loads(text)
    assert list(repeated_keys(value)) == [("a",), ("b", 0, "c")]
