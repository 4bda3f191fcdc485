"""The first two things that the vendor's code checks: the types of all keys, then their values.

Both look at every key that is known, also where it has no effect, and never at others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from fastdump.config._findings import Findings, shown
from fastdump.config._json_places import JsonPath
from fastdump.config._json_text import JsonObject, type_text
from fastdump.config._model import ADAPTER, MAX_ARRAY_ERRORS, NULL, RECORDS, VALUES, DumpConfig

_EXPECTED = {"string_type": "a string", "literal_error": "a string", "dataclass_type": "an object"}
_VALUE_ORDER = list(VALUES)


def validate(
    dump: JsonObject, root: JsonPath, findings: Findings
) -> tuple[DumpConfig, frozenset[JsonPath]]:
    """Check the types and values of all known keys of the "dump" object at `root`.

    Returns
    -------
    DumpConfig
        Without what is broken; an element of an array of objects that is none is empty.
    frozenset of paths
        Below `root`, of what is broken.
    """
    try:
        return ADAPTER.validate_python(dump), frozenset()
    except ValidationError as raised:
        errors = raised.errors(include_url=False, include_context=False)
    places = [_place(error["loc"]) for error in errors]
    wrong_values = []
    for error, place in zip(errors, places, strict=True):
        if error["type"] == "literal_error" and isinstance(error["input"], str):
            wrong_values.append((place, error["input"]))
        else:
            findings.error("type", (*root, *place), _type_message(error, place))
    for place, text in sorted(wrong_values, key=lambda wrong: _VALUE_ORDER.index(str(wrong[0][0]))):
        _add_value(text, place, root, findings)
    broken = _broken(places)
    return ADAPTER.validate_python(_without(dump, broken)), broken


def _place(loc: JsonPath) -> JsonPath:
    # The items of this key are parts of one string.
    return loc[:1] if loc[0] == "dump_kernel_data" else loc


def _type_message(error: ErrorDetails, place: JsonPath) -> str:
    expected = _EXPECTED.get(error["type"])
    if place[-1] == "dump_kernel_data":
        expected = "a string"
    elif expected is None:
        expected = f"an array of {'objects' if place[-1] in RECORDS else 'strings'}"
    value = None if error["input"] is NULL else error["input"]
    return f"{type_text(value)} where {expected} is expected"


def _add_value(text: str, place: JsonPath, root: JsonPath, findings: Findings) -> None:
    name = str(place[0])
    if not text:
        item = "item" if name == "dump_kernel_data" else "value"
        findings.error("value", (*root, *place), f"the {item} is empty", code="EP0001")
        return
    values = VALUES[name]
    near = next((value for value in values if value.lower() == text.strip().lower()), None)
    expected = shown(near) if near else f"one of {', '.join(values)}"
    findings.error("value", (*root, *place), f"{shown(text)} is not {expected}")


def _broken(places: Iterable[JsonPath]) -> frozenset[JsonPath]:
    """Return the paths of the keys, and of the elements of arrays of objects, that do not hold."""
    broken = set()
    n_errors: Counter[JsonPath] = Counter()
    for place in places:
        is_string = isinstance(place[-1], int) and place[-2] not in RECORDS
        broken.add(place[:-1] if is_string else place)
        n_errors.update(place[:i] for i, step in enumerate(place) if isinstance(step, int))
    # What follows so many errors in an array has not been looked at.
    broken.update(array for array, n in n_errors.items() if n >= MAX_ARRAY_ERRORS)
    return frozenset(broken)


def _without(dump: JsonObject, broken: Iterable[JsonPath]) -> dict[str, Any]:
    """Return a copy without what is broken; what is not on the way to that is shared."""
    root: dict[str, Any] = dict(dump)
    copies: dict[JsonPath, Any] = {(): root}
    for path in sorted(broken, key=len):
        if any(path[:i] in broken for i in range(1, len(path))):
            continue
        container = root
        for i, step in enumerate(path[:-1], 1):
            if path[:i] not in copies:
                child = container[step]  # type: ignore[index]
                copies[path[:i]] = dict(child) if isinstance(child, dict) else list(child)
                container[step] = copies[path[:i]]  # type: ignore[index]
            container = copies[path[:i]]
        if isinstance(path[-1], int):
            container[path[-1]] = {}  # type: ignore[index]
        else:
            del container[path[-1]]
    return root
