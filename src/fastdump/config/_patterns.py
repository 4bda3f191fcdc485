"""Wildcards in names of a configuration, which the vendor's code takes for plain characters."""

from __future__ import annotations

from collections.abc import Iterator

from fastdump.config._json_places import JsonPath
from fastdump.config._keys import BLACKLISTS
from fastdump.config._model import ListEntry

_WILDCARDS = "*?["


def wildcard_in(name: str) -> str | None:
    """Return the first wildcard in a name; None if it has none."""
    return next((character for character in name if character in _WILDCARDS), None)


def names_in(entry: ListEntry) -> Iterator[tuple[JsonPath, str]]:
    """Yield each name in an entry of ``dump_list`` and its path below the entry.

    The vendor's code compares all of them as they are with those of a model.
    """
    if entry.model_name:
        yield ("model_name",), entry.model_name
    for key in ("layer", "watcher_nodes"):
        for i, name in enumerate(getattr(entry, key) or ()):
            yield (key, i), name
    for key in BLACKLISTS:
        for i, item in enumerate(getattr(entry, key) or ()):
            if item.name:
                yield (key, i, "name"), item.name
    for i, span in enumerate(entry.opname_range or ()):
        for end in ("begin", "end"):
            if name := getattr(span, end):
                yield ("opname_range", i, end), name
