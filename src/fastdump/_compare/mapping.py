"""Maps of names, from a user or a file: operators of one dump and their partners in the other."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from fastdump.errors import DumpFormatError

_TENSOR = re.compile(r"(.+):(input|output|buffer|space)\.(\d{1,9})", re.DOTALL)


def read_map(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read a map of names: a JSON object, or CSV with two columns, the name in `a` first.

    Raises
    ------
    DumpFormatError
        If the file is something else, or gives one name two partners.
    OSError
        If it cannot be read.
    """
    content = Path(path).read_bytes()
    try:
        text = content.decode("utf-8-sig")
        is_json = Path(path).suffix.lower() == ".json"
        return _checked(_json_pairs(text) if is_json else _csv_pairs(text))
    except (ValueError, RecursionError, csv.Error) as error:
        raise DumpFormatError(f"{os.fspath(path)!r}: {error}") from error


def checked_map(names: Mapping[str, str]) -> dict[str, str]:
    """Return `names` if it maps text to text; raise ValueError or TypeError otherwise."""
    for item in names.items():
        if not all(isinstance(name, str) for name in item):
            raise TypeError(f"map has {item!r}, expected names")
    return _checked(names.items())


def tensor_of(name: str) -> tuple[str, tuple[str, int] | None]:
    """Split ``name:output.0`` into the operator's name and its tensor; None stands for all."""
    match = _TENSOR.fullmatch(name)
    return (name, None) if match is None else (match[1], (match[2], int(match[3])))


def _json_pairs(text: str) -> Iterable[tuple[str, str]]:
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError("not an object of names")
    for name, partner in document.items():
        if not isinstance(partner, str):
            raise ValueError(f"{name!r:.80} has the partner {partner!r:.80}, expected a name")
        yield name, partner


def _csv_pairs(text: str) -> Iterable[tuple[str, str]]:
    for number, row in enumerate(csv.reader(text.splitlines(), strict=True), start=1):
        if not row or row[0].startswith("#"):
            continue
        if len(row) != 2:
            raise ValueError(f"row {number} has {len(row)} fields, expected two names")
        yield row[0], row[1]


def _checked(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    names: dict[str, str] = {}
    sources: dict[str, str] = {}
    for name, partner in pairs:
        if names.setdefault(name, partner) != partner:
            raise ValueError(
                f"{name!r:.80} has two partners, {names[name]!r:.80} and {partner!r:.80}"
            )
        if sources.setdefault(partner, name) != name:
            raise ValueError(
                f"{partner!r:.80} is the partner of {sources[partner]!r:.80} and {name!r:.80}"
            )
        if (tensor_of(name)[1] is None) != (tensor_of(partner)[1] is None):
            raise ValueError(f"{name!r:.80} and {partner!r:.80}: only one of them is a tensor")
    if not names:
        raise ValueError("there is no name in it")
    return names
