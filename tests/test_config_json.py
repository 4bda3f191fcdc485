"""The strict reader of JSON below `fastdump.config`, against Python's own decoder."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdump.config._json_text import Json, JsonArray, JsonObject, JsonSyntaxError, read_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(TEXTS, values, max_size=4),
    max_leaves=30,
)


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_it_reads_what_python_writes(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found, duplicates = read_json(text)
    assert found == value
    assert duplicates == []


def starts(value: Json) -> list[tuple[int, Any, Any]]:
    """Return, of every member below `value`, where it starts, its key, if any, and itself."""
    if isinstance(value, JsonObject):
        members = [(value.starts[key], key, member) for key, member in value.items()]
    elif isinstance(value, JsonArray):
        members = [(start, None, item) for start, item in zip(value.starts, value, strict=True)]
    else:
        return []
    return members + [found for _, _, member in members for found in starts(member)]


@given(VALUES, st.sampled_from([None, 1]))
def test_every_place_is_where_its_key_or_value_starts(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    decoder = json.JSONDecoder()
    for start, key, member in starts(read_json(text)[0]):
        assert decoder.raw_decode(text, start)[0] == (member if key is None else key)


MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.sampled_from(['"', ",", "}", "]", "{", "[", ":", "\\", "0", "-", "."]),
    )
)


@given(st.data())
def test_it_refuses_what_python_refuses(data: st.DataObject) -> None:
    text = json.dumps(data.draw(VALUES), ensure_ascii=False)
    for index, character in data.draw(MUTATIONS):
        text = text[:index] + character + text[index:]
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(JsonSyntaxError) as raised:
            read_json(text)
        assert 0 <= raised.value.index <= len(text)
        return
    if "\\ud" in text.lower() or has_infinity(expected):
        return  # Python takes half a surrogate pair, and numbers that no float64 holds
    found, _ = read_json(text)
    assert found == expected


def has_infinity(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_infinity, value.values()))
    if isinstance(value, list):
        return any(map(has_infinity, value))
    return isinstance(value, (int, float)) and not math.isfinite(float(value))


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("", 0),
        (" \n ", 3),
        ("NaN", 0),
        ("[Infinity]", 1),
        ("[-Infinity]", 1),
        ("1e999", 0),
        ("[0, -1e999]", 4),
        ("9" * 400, 0),
        ('"\\ud800"', 0),
        ('{"a": "\\udc00\\ud800"}', 6),
        ('{"\\ud800": 1}', 1),
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
    assert read_json(text)[0] == json.loads(text)


def test_of_a_key_that_is_repeated_the_last_value_counts_and_both_places_are_known() -> None:
    text = '{"a": 1, "b": [{"c": 1, "c": 2, "c": 3}], "a": {"x": 0}}'
    value, duplicates = read_json(text)
    assert value == json.loads(text)
    assert [(path, text[index : index + 3]) for path, index in duplicates] == [
        (("b", 0, "c"), '"c"'),
        (("b", 0, "c"), '"c"'),
        (("a",), '"a"'),
    ]
    assert len({index for _, index in duplicates}) == 3


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_nesting_has_no_limit(brackets: str) -> None:
    opening, closing = ("[", "]") if brackets == "[]" else ('{"a":', "}")
    depth = 200_000
    value, _ = read_json(opening * depth + "0" + closing * depth)
    for _ in range(10):
        assert isinstance(value, (JsonArray, JsonObject))
        value = value[0] if isinstance(value, JsonArray) else value["a"]
    with pytest.raises(JsonSyntaxError):
        read_json(opening * depth + "0" + closing * (depth - 1))
    with pytest.raises(JsonSyntaxError):
        read_json(opening * depth + "0" + closing * (depth - 1) + "?")
