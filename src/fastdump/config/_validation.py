"""The vendor's first two checks: the types of all keys, then their values.

Both checks examine every known key, even if it has no effect, and ignore unknown keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from fastdump._words import config_catalogue as say
from fastdump.config._findings import Findings
from fastdump.config._json_places import JsonPath
from fastdump.config._json_text import JsonObject, type_text
from fastdump.config._keys import DUMP, ROOT, VALUE_ORDER, Kind, Names
from fastdump.config._model import DumpConfig, record_of
from fastdump.config._wording import quoted

# The rest of an array with this many problems is ignored: more would fill the memory.
_MAX_PROBLEMS = 100


class Problem(NamedTuple):
    """A value of the wrong kind."""

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
        Receives the errors.

    Returns
    -------
    DumpConfig
        The keys that are right. A wrong element of an array of objects becomes an empty record.
    frozenset of paths
        Paths, below the object, of what is left out.
    """
    found = list(problems(dump, DUMP))
    for path, value, kind in found:
        if not _has_type(value, kind):
            wrong_type = say.WRONG_TYPE(found=type_text(value), expected=_expected(kind))
            findings.error("type", (*ROOT, *path), wrong_type)
    wrong = [problem for problem in found if _has_type(problem.value, problem.kind)]
    for path, value, kind in sorted(wrong, key=lambda p: VALUE_ORDER.index(str(p.path[0]))):
        message = _not_one(value, kind)
        findings.error("value", (*ROOT, *path), message, code=None if value else "EP0001")
    broken = _broken(found)
    config: DumpConfig = _read(dump, DUMP, (), broken)
    return config, broken


def problems(value: Any, kind: Kind, path: JsonPath = ()) -> Iterator[Problem]:
    """Yield what is wrong in a value, in the order of the tables of keys."""
    if not _has_type(value, kind):
        yield Problem(path, value, kind)
    elif isinstance(kind, dict):
        for name, member in kind.items():
            if name in value:
                yield from problems(value[name], member, (*path, name))
    elif isinstance(kind, list):
        elements = (problems(element, kind[0], (*path, i)) for i, element in enumerate(value))
        yield from islice(chain.from_iterable(elements), _MAX_PROBLEMS)
    elif isinstance(kind, Names):
        names = (problems(name, tuple(kind), path) for name in value.split(","))
        yield from islice(chain.from_iterable(names), _MAX_PROBLEMS)
    elif kind and value not in kind:
        yield Problem(path, value, kind)


def _has_type(value: Any, kind: Kind) -> bool:
    return isinstance(value, str if isinstance(kind, tuple) else type(kind))


def _expected(kind: Kind) -> str:
    if isinstance(kind, list):
        return (say.ARRAY_OF_STRINGS if isinstance(kind[0], tuple) else say.ARRAY_OF_OBJECTS)()
    return say.AN_OBJECT() if isinstance(kind, dict) else say.A_STRING()


def _not_one(text: str, values: Iterable[Any]) -> str:
    """Tell which value differs in case and blanks only, or which there are."""
    near = next((value for value in values if value.lower() == text.strip().lower()), None)
    if near:
        return say.NOT_NEAR_VALUE(value=quoted(text), near=quoted(near))
    return say.NOT_ONE_OF(value=quoted(text), values=", ".join(values))


def _broken(found: Iterable[Problem]) -> frozenset[JsonPath]:
    broken = set()
    n_problems: Counter[JsonPath] = Counter()
    for path, _, kind in found:
        # An array with a wrong string is broken as a whole, one with a wrong object is not.
        is_string = isinstance(path[-1], int) and isinstance(kind, tuple)
        broken.add(path[:-1] if is_string else path)
        n_problems.update(path[:i] for i, step in enumerate(path) if isinstance(step, int))
    broken.update(array for array, n in n_problems.items() if n >= _MAX_PROBLEMS)
    return frozenset(broken)


def _read(value: Any, kind: Kind, path: JsonPath, broken: Collection[JsonPath]) -> Any:
    """Return a value as a record holds it, without what is broken below it."""
    if isinstance(kind, dict):
        places = {name: (*path, name) for name in kind if name in value}
        return record_of(kind)(
            **{
                name: _read(value[name], kind[name], place, broken)
                for name, place in places.items()
                if place not in broken
            }
        )
    if isinstance(kind, list) and isinstance(kind[0], dict):
        objects = ({} if (*path, i) in broken else element for i, element in enumerate(value))
        return [_read(element, kind[0], (*path, i), broken) for i, element in enumerate(objects)]
    return value.split(",") if isinstance(kind, Names) else value
