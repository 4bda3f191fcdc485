"""The first two things that the vendor's code checks: the types of all keys, then their values.

Both checks look at every known key, even where it has no effect, and never at an unknown one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from fastdump.config._findings import Findings, shown
from fastdump.config._json_places import JsonPath
from fastdump.config._json_text import JsonObject, type_text
from fastdump.config._keys import DUMP, ROOT, VALUES, Array, Kind, Names, Object, Text
from fastdump.config._model import RECORDS, DumpConfig

# The rest of an array with so many problems is not looked at: they would fill the memory.
_MAX_PROBLEMS = 100


class Problem(NamedTuple):
    """A value of the wrong type, or one that is not allowed."""

    path: JsonPath
    value: Any
    kind: Kind


def validate(dump: JsonObject, findings: Findings) -> tuple[DumpConfig, frozenset[JsonPath]]:
    """Check the types and values of all known keys of the "dump" object.

    Parameters
    ----------
    dump
        The object.
    findings
        Receives the errors, all types first.

    Returns
    -------
    DumpConfig
        The keys that are right; in an array of objects, an element that is not an object is an
        empty record.
    frozenset of paths
        The keys and elements that are left out, by their paths below the object.
    """
    found = list(problems(dump, DUMP))
    types = [problem for problem in found if not _has_type(problem.value, problem.kind)]
    values = [problem for problem in found if _has_type(problem.value, problem.kind)]
    order = list(VALUES)
    for problem in types:
        message = f"{type_text(problem.value)} where {problem.kind.expected} is expected"
        findings.error("type", (*ROOT, *problem.path), message)
    for problem in sorted(values, key=lambda problem: order.index(str(problem.path[0]))):
        message = _value_message(problem.value, VALUES[str(problem.path[0])])
        code = None if problem.value else "EP0001"
        findings.error("value", (*ROOT, *problem.path), message, code=code)
    broken = _broken(found)
    config: DumpConfig = _read(dump, DUMP, (), broken)
    return config, broken


def problems(value: Any, kind: Kind, path: JsonPath = ()) -> Iterator[Problem]:
    """Yield what is wrong in a value, in the order of the table of keys."""
    if not _has_type(value, kind):
        yield Problem(path, value, kind)
    elif isinstance(kind, Object):
        for name, member in kind.keys.items():
            if name in value:
                yield from problems(value[name], member, (*path, name))
    elif isinstance(kind, Array):
        elements = (problems(element, kind.of, (*path, i)) for i, element in enumerate(value))
        yield from islice(chain.from_iterable(elements), _MAX_PROBLEMS)
    elif isinstance(kind, Names):
        names = (problems(name, kind.of, path) for name in value.split(","))
        yield from islice(chain.from_iterable(names), _MAX_PROBLEMS)
    elif kind.values and value not in kind.values:
        yield Problem(path, value, kind)


def _has_type(value: Any, kind: Kind) -> bool:
    return isinstance(value, kind.json_type)


def _value_message(text: str, values: Collection[str]) -> str:
    near = next((value for value in values if value.lower() == text.strip().lower()), None)
    expected = shown(near) if near else f"one of {', '.join(values)}"
    return f"{shown(text)} is not {expected}"


def _broken(found: Iterable[Problem]) -> frozenset[JsonPath]:
    broken = set()
    n_problems: Counter[JsonPath] = Counter()
    for path, _, kind in found:
        # An array with a wrong string is broken as a whole, one with a wrong object is not.
        is_string = isinstance(path[-1], int) and isinstance(kind, Text)
        broken.add(path[:-1] if is_string else path)
        n_problems.update(path[:i] for i, step in enumerate(path) if isinstance(step, int))
    broken.update(array for array, n in n_problems.items() if n >= _MAX_PROBLEMS)
    return frozenset(broken)


def _read(value: Any, kind: Kind, path: JsonPath, broken: Collection[JsonPath]) -> Any:
    """Return a value as a record holds it, without what is broken."""
    if isinstance(kind, Object):
        places = {name: (*path, name) for name in kind.keys if name in value}
        return RECORDS[kind](
            **{
                name: _read(value[name], kind.keys[name], place, broken)
                for name, place in places.items()
                if place not in broken
            }
        )
    if isinstance(kind, Array) and isinstance(kind.of, Object):
        elements = [{} if (*path, i) in broken else element for i, element in enumerate(value)]
        return [_read(element, kind.of, (*path, i), broken) for i, element in enumerate(elements)]
    return value.split(",") if isinstance(kind, Names) else value
